! SPDX-License-Identifier: BSD-3-Clause
program first
  use, intrinsic :: iso_fortran_env, only: real64
  use tessera
  implicit none
  type(tessera_job) :: job
  type(tessera_array) :: a
  real(real64) :: ones(200, 200), element

  call job%start()
  call a%create(job, tessera_real64, [1000, 1000], name="A")
  ones = 1
  call a%accumulate([401, 401], [600, 600], ones, 0.5_real64)  ! rows and columns 401 to 600
  call a%sync()
  call a%get_element([500, 500], element)
  if (job%rank() == 0) print *, job%size(), "ranks, a(500, 500) =", element
  if (nint(2 * element) /= job%size()) error stop "an addition was lost"
  call job%stop()
end program first
