! SPDX-License-Identifier: BSD-3-Clause
!
! The first program: an array that all ranks have together.
!
! Run: tessera-run -n 4 build/docs/examples/fortran_first
program first
  use, intrinsic :: iso_fortran_env, only: real64
  use tessera
  implicit none
  type(tessera_job) :: job
  type(tessera_array) :: a
  real(real64) :: block(10, 10), total
  integer :: i

  ! 1. Each rank has a part of the array; together they fill it.
  call job%start()
  call a%create(job, tessera_real64, [1000, 1000], name="A")
  call a%fill(1.0_real64)

  ! 2. Any rank reads and writes any section, whoever has it.
  if (job%rank() == 0) call a%put([1, 1], [1000, 1], [(real(i, real64), i = 1, 1000)])
  call a%sync()
  call a%get([991, 1], [1000, 10], block)

  ! 3. What all of it comes to is known to all ranks.
  call a%sum(total)
  if (job%rank() == 0) then
    print "(a, i0)", "sum: ", nint(total)
    print "(a, i0)", "corner: ", nint(block(10, 1))
  end if
  call job%stop()
end program first
