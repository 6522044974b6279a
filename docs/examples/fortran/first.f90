! SPDX-License-Identifier: BSD-3-Clause
program first
  use, intrinsic :: iso_fortran_env, only: real64
  use tessera
  type(tessera_job) :: job
  type(tessera_array) :: a
  real(real64) :: ones(200, 200) = 1, value
  call job%start()
  call a%create(job, tessera_real64, [1000, 1000], name="A")
  call a%accumulate([401, 401], [600, 600], ones, alpha=0.5_real64)
  call a%sync()
  call a%get_element([501, 501], value)
  if (job%rank() == 0) print "(i0, a, f0.1)", job%size(), " ranks, a(501, 501) = ", value
  call job%stop()
end program first
