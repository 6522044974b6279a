! SPDX-License-Identifier: BSD-3-Clause
!
! The program that tests/fortran/use_installed builds in all the ways in docs/fortran.md.
program first
  use, intrinsic :: iso_fortran_env, only: real64
  use tessera
  implicit none
  type(tessera_job) :: job
  type(tessera_array) :: a
  real(real64) :: block(10, 10), total
  call job%start()
  call a%create(job, tessera_real64, [50, 50], name="A")
  call a%fill(1.0_real64)
  call a%get([11, 11], [20, 20], block)
  call a%sum(total)
  if (job%rank() == 0) then
    print "(i0, a, i0, a, i0)", job%size(), " ranks: the sum is ", nint(total), ", of a block ", &
        nint(sum(block))
  end if
  call job%stop()
end program first
