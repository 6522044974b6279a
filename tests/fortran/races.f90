! SPDX-License-Identifier: BSD-3-Clause
!
! A sync is missing between a put of rank 0 and a get of rank 1; an earlier put and get have one.
! TESSERA_CHECK=races finds only the first.
program races
  use, intrinsic :: iso_fortran_env, only: real64
  use tessera
  implicit none
  type(tessera_job) :: job
  type(tessera_array) :: right, wrong
  real(real64) :: x(4, 3)

  call job%start()
  call right%create(job, tessera_real64, [10, 5], name="right")
  call wrong%create(job, tessera_real64, [10, 5], name="wrong")
  x = 1
  if (job%rank() == 0) call right%put([1, 1], [4, 3], x)
  call right%sync()
  if (job%rank() == 1) call right%get([1, 1], [4, 3], x)
  call right%sync()
  if (job%rank() == 0) call wrong%put([1, 1], [4, 3], x)
  if (job%rank() == 1) call wrong%get([4, 3], [7, 5], x)
  call wrong%sync()
  call wrong%free()
  call right%free()
  call job%stop()
end program races
