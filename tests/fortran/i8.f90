! SPDX-License-Identifier: BSD-3-Clause
!
! A program with only default integers, logicals and reals, with the module of tessera_fortran_i8.
! It is built with -fdefault-integer-8, and also with -fdefault-real-8. None of its arguments has an
! explicit kind, except sizes of memory.
program i8
  use tessera
  implicit none
  integer, parameter :: n = 17, m = 11
  type(tessera_job) :: job
  type(tessera_team) :: world, half
  type(tessera_distribution) :: dist
  type(tessera_array) :: a, counts, flags
  type(tessera_locks) :: locks
  type(tessera_counter) :: counter
  type(tessera_transfers) :: transfers
  type(tessera_halo) :: halo
  type(tessera_block) :: block
  real, pointer :: own(:, :)
  real, asynchronous :: x(n, m)
  real :: total
  integer :: task, ranks, me, ierr, lo(2), hi(2), before, places(2, 2), owner, step
  integer, asynchronous :: many(n)
  logical :: is_taken
  character(400) :: message

  call job%start(stat=ierr)
  call expect(ierr == tessera_ok, "the start")
  if (digits(ranks) /= 63) error stop "default integers have 8 bytes here"
  ranks = job%size()
  me = job%rank()
  call expect(job%node(me) < job%node_count() .and. job%shares_node(me), "the node")
  call world%create(job)
  call world%split(mod(me, 2), -me, half)
  call expect(half%world_rank(half%rank()) == me, "a half's ranks")

  call dist%create_block_cyclic(job, ranks, [n, m], [3, 2], order=tessera_column_major)
  call dist%locate([n, m], owner)
  call a%create_distributed(job, tessera_element_like(x), dist, name="A", sparse=.true.)
  call expect(a%owner([n, m]) == owner, "the owner")
  x = 2
  if (me == 0) call a%put_async([1, 1], [n, m], x, transfers)
  call transfers%wait(stat=ierr)
  call a%sync()
  x = 0
  call a%get_periodic([0, 0], [1, 1], [.true., .true.], x(1:2, 1:2))
  call a%get_section([1, 1], [n, m], [2, 2], x(1:n:2, 1:m:2), transfers)
  call transfers%wait()
  call expect(nint(sum(x(1:n:2, 1:m:2))) == 2 * 9 * 6, "a section, and a box over the ends")
  call a%sync()
  call a%accumulate([2, 2], [3, 3], x(1:3:2, 1:3:2), 0.5)
  call a%sum(total, reproducible=.true.)
  call expect(nint(total) == 2 * n * m + 4 * ranks, "what all have added")

  ! Whole numbers are of 8 bytes in arrays, too.
  call counts%create(job, tessera_element_like(n), n, name="counts", access_mode=tessera_access_any)
  call counts%fetch_add(1, 3, before)
  call counts%sync()
  call counts%get(1, n, many)
  call expect(many(1) == 3 * ranks .and. all(many(2:) == 0), "additions")
  call counts%sync()
  places = reshape([1, 1, n, m], [2, 2])
  call a%scatter_accumulate(places, [1.0, 1.0])
  call counts%set_access_mode(tessera_access_read_only, copy_on_each_node=.true.)

  call locks%create(world, 1)
  is_taken = locks%try_lock(me, 1)
  call expect(is_taken, "its own lock")
  call locks%unlock(me, locks%count(me))
  call counter%create(world, owner=ranks - 1)
  call counter%next(task)
  call world%allreduce(task, tessera_max)
  call expect(task == ranks - 1, "the last draw")

  call flags%create(job, tessera_int32, ranks, name="flags")
  step = mod(me + 1, ranks)
  call a%put_with_flag([1, 1], [1, 1], x(1, 1), flags, step + 1, 1)
  call flags%wait_for_flag(me + 1, 1, mod(me + ranks - 1, ranks))
  call job%notify(step)
  call job%wait_for_notifications(mod(me + ranks - 1, ranks), 1)
  call flags%sync()

  call with_ghosts()
  call errors()
  call job%stop()

contains

  subroutine expect(holds, what)
    logical, intent(in) :: holds
    character(*), intent(in) :: what
    if (.not. holds) error stop "not so: " // what
  end subroutine expect

  subroutine with_ghosts()
    type(tessera_array) :: u
    call u%create(job, tessera_element_like(x), [n, m], ghosts=[1, 1], name="u")
    call u%fill(3.0)
    call halo%create(u, periodic=[.true., .false.], faces_only=.true.)
    call halo%update()
    call block%begin(u)
    call block%pointer(own, ghosts=.true.)
    call u%own_box(lo, hi)
    if (.not. block%is_empty()) then
      call expect(nint(own(lo(1) - 1, lo(2))) == 3, "a ghost cell")
    end if
    call block%end()
    call halo%free()
  end subroutine with_ghosts

  !> Also numbers whose lower half would be a valid number.
  subroutine errors()
    integer, parameter :: far = 2**32
    type(tessera_array) :: none
    call a%get([1, 1], [n + 1, m], x, stat=ierr, errmsg=message)
    call expect(ierr == tessera_out_of_range .and. index(message, "array 'A'") > 0, "a get")
    call expect(job%node(far, stat=ierr) == -1, "there is no such rank")
    call expect(ierr == tessera_out_of_range, "which is an error")
    call locks%lock(far, 1, stat=ierr)
    call expect(ierr == tessera_out_of_range, "nor member")
    call none%create(job, tessera_element_like(x), [n], order=far, stat=ierr, errmsg=message)
    call expect(ierr == tessera_invalid_argument .and. index(message, "no memory order") > 0, "order")
    call none%create(job, tessera_element_like(x), [n], access_mode=far, stat=ierr)
    call expect(ierr == tessera_invalid_argument, "access mode")
    call world%allreduce(task, far, stat=ierr, errmsg=message)
    call expect(ierr == tessera_invalid_argument .and. index(message, "no reduction") > 0, "reduce")
    call tessera_cholesky(a, method=far, stat=ierr)
    call expect(ierr == tessera_invalid_argument, "method")
    call expect(tessera_error_name(far) == "unknown", "name of no code")
  end subroutine errors
end program i8
