! SPDX-License-Identifier: BSD-3-Clause
!
! Without stat= an error ends the program, with its text.
program stop
  use, intrinsic :: iso_fortran_env, only: real64
  use tessera
  implicit none
  type(tessera_job) :: job
  type(tessera_array) :: a
  real(real64) :: x
  call job%start()
  call a%create(job, tessera_real64, [5, 4], name="A")
  call a%get_element([6, 1], x)
  print "(a)", "this is not reached"
end program stop
