! SPDX-License-Identifier: BSD-3-Clause
!
! The last rank ends the job, with the given code, while all others only compute.
program end_of_all
  use tessera
  implicit none
  type(tessera_job) :: job
  character(16) :: text
  integer :: code
  integer, volatile :: step
  call get_command_argument(1, text)
  read (text, *) code
  call job%start()
  call job%barrier()
  if (job%rank() == job%size() - 1) then
    write (*, "(a)", advance="no") "the last words"
    call tessera_end_job(code)
  end if
  step = 0
  do
    step = 1 - step
  end do
end program end_of_all
