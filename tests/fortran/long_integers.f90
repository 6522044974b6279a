! SPDX-License-Identifier: BSD-3-Clause
!
! A program whose default integers and logicals have 8 bytes (-fdefault-integer-8), written as in
! docs/fortran.md: arguments that are not lists of bounds or sizes get their kind.
program long_integers
  use, intrinsic :: iso_c_binding, only: c_int
  use, intrinsic :: iso_fortran_env, only: real64
  use tessera
  implicit none
  integer, parameter :: n = 17, m = 11
  type(tessera_job) :: job
  type(tessera_team) :: world, half
  type(tessera_distribution) :: dist
  type(tessera_array) :: a
  type(tessera_locks) :: locks
  type(tessera_counter) :: counter
  real(real64) :: x(n, m), total
  integer :: task, ranks, me
  integer(c_int) :: code
  character(400) :: message
  call job%start()
  ranks = job%size()
  me = job%rank()
  call world%create(job)
  ! Ranks, numbers of them, and other single numbers.
  call dist%create_block_cyclic(job, int(ranks, c_int), [n, m], [3, 2])
  call a%create_distributed(job, tessera_real64, dist, name="A")
  call a%fill(2.0_real64)
  call world%split(int(mod(me, 2), c_int), int(me, c_int), half)
  call locks%create(world, 1_c_int)
  call locks%lock(0_c_int, 1_c_int)
  call locks%unlock(0_c_int, 1_c_int)
  ! Bounds, and integers of any kind that come back.
  x = 0
  call a%get([1, 1], [n, m], x)
  if (any(x /= 2)) error stop "what was filled"
  call counter%create(world)
  call counter%next(task)
  if (task < 0 .or. task >= ranks) error stop "what was drawn"
  ! Logicals, and the error code.
  call a%get_periodic([0, 0], [1, 1], logical([.true., .true.], 4), x(1:2, 1:2))
  call a%sum(total, reproducible=logical(.true., 4))
  if (nint(total) /= 2 * n * m) error stop "the sum"
  call a%get([1, 1], [n + 1, m], x, stat=code, errmsg=message)
  if (code /= tessera_out_of_range) error stop "the code"
  call world%allreduce(task, tessera_max)
  if (task /= ranks - 1) error stop "the last draw"
  call job%stop()
end program long_integers
