! SPDX-License-Identifier: BSD-3-Clause
!
! Pi by throwing darts. A shared counter deals out the work: a faster rank gets more of it.
!
! Run: tessera-run -n 4 build/docs/examples/fortran_montecarlo
program montecarlo
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use tessera
  implicit none
  integer(int64), parameter :: batches = 200, darts = 10000
  type(tessera_job) :: job
  type(tessera_counter) :: counter
  integer(int64) :: batch, hits, mine

  call job%start()
  call counter%create(job)
  hits = 0
  mine = 0
  do
    call counter%next(batch)
    if (batch >= batches) exit
    hits = hits + hits_of(batch)
    mine = mine + 1
  end do

  call job%allreduce(hits, tessera_sum)
  call job%allreduce(mine, tessera_sum)
  if (job%rank() == 0) then
    print "(a, f6.3)", "pi: ", 4 * real(hits, real64) / (batches * darts)
    print "(a, i0)", "batches: ", mine
  end if
  call job%stop()

contains

  !> Counts a batch's darts in the quarter circle. It is the same on any rank.
  function hits_of(batch) result(hits)
    integer(int64), intent(in) :: batch
    integer(int64) :: hits, state, i
    real(real64) :: x, y
    state = 1 + 7919 * batch
    hits = 0
    do i = 1, darts
      x = next(state)
      y = next(state)
      if (x * x + y * y < 1) hits = hits + 1
    end do
  end function hits_of

  function next(state) result(number)
    integer(int64), intent(inout) :: state
    real(real64) :: number
    state = mod(48271 * state, 2147483647_int64)
    number = real(state, real64) / 2147483647
  end function next

end program montecarlo
