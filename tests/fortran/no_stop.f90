! SPDX-License-Identifier: BSD-3-Clause
!
! Ends without stopping its job: its profile is still written.
program no_stop
  use tessera
  implicit none
  type(tessera_job) :: job
  type(tessera_array) :: a
  call job%start()
  call a%create(job, tessera_real64, [5, 4], name="rho")
  call a%sync()
  stop
end program no_stop
