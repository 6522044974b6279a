! SPDX-License-Identifier: BSD-3-Clause
!
! Adaptive quadrature with a work queue that a lock guards. Both halves of an interval with too
! large an error go back into the queue, and any rank may take them.
!
! Run: tessera-run -n 4 build/docs/examples/fortran_work_queue
program work_queue
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use tessera
  implicit none
  type(tessera_job) :: job
  type(tessera_array) :: stack, counts  ! intervals on the stack, and unfinished intervals
  type(tessera_locks) :: locks          ! one, on rank 0: guards the stack and the first count
  real(real64) :: on(2), middle, both, mine, error
  integer(int64) :: open

  call job%start()
  call stack%create(job, tessera_real64, [2, 10000], name="stack")
  call counts%create(job, tessera_int64, 2, name="counts")
  call locks%create(job, merge(1, 0, job%rank() == 0))
  if (job%rank() == 0) call push([-1.0_real64, 2.0_real64])
  call job%barrier()

  mine = 0
  do
    call counts%get_element(2, open)
    if (open == 0) exit
    if (.not. pop(on)) cycle  ! others may still add intervals
    middle = sum(on) / 2
    both = simpson([on(1), middle]) + simpson([middle, on(2)])
    if (abs(both - simpson(on)) <= 1e-9_real64) then
      mine = mine + both
    else
      call push([on(1), middle])
      call push([middle, on(2)])
    end if
    open = add_to(2, -1)  ! this interval is finished
  end do
  call job%allreduce(mine, tessera_sum)
  error = abs(mine - 100 * (atan(200.0_real64) + atan(100.0_real64)))
  if (job%rank() == 0) print "(a, es8.1)", "integral of 1 / (1e-4 + x**2): error ", error
  if (error > 1e-6_real64) error stop 1
  call job%stop()
contains
  pure function simpson(on) result(area)
    real(real64), intent(in) :: on(2)
    real(real64) :: area, f(3)
    f = 1 / (1e-4_real64 + [on(1), sum(on) / 2, on(2)]**2)
    area = (on(2) - on(1)) / 6 * (f(1) + 4 * f(2) + f(3))
  end function simpson
  function add_to(which, more) result(before)
    integer, intent(in) :: which, more
    integer(int64) :: before
    call counts%fetch_add(which, int(more, int64), before)
  end function add_to
  subroutine push(on)
    real(real64), intent(in) :: on(2)
    integer(int64) :: size
    size = add_to(2, 1)
    call locks%lock(0, 1)
    size = add_to(1, 1) + 1
    call stack%put([1_int64, size], [2_int64, size], on)
    call stack%fence()  ! the interval arrives before others can take the lock
    call locks%unlock(0, 1)
  end subroutine push
  function pop(on) result(is_there)
    real(real64), intent(out) :: on(2)
    logical :: is_there
    integer(int64) :: size
    on = 0
    call locks%lock(0, 1)
    call counts%get_element(1, size)
    is_there = size > 0
    if (is_there) call stack%get([1_int64, size], [2_int64, size], on)
    if (is_there) size = add_to(1, -1)
    call locks%unlock(0, 1)
  end function pop
end program work_queue
