! SPDX-License-Identifier: BSD-3-Clause
!
! A computation that goes on where it was stopped: run it twice.
!
! Run: tessera-run -n 4 build/docs/examples/fortran_checkpoint FILE
program checkpoint
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use tessera
  implicit none
  type(tessera_job) :: job
  type(tessera_array) :: a
  type(tessera_checkpoint) :: file
  type(tessera_checkpoint_writer) :: writer
  character(200) :: path
  integer(int64) :: step
  integer :: code
  real(real64) :: total

  call job%start()
  call get_command_argument(1, path)
  if (path == "") path = "fortran_checkpoint.h5"

  ! 1. Begin with the file, if there is one, on however many ranks.
  call file%open(job, path, stat=code)
  if (code == tessera_ok) then
    call file%read("A", a)
    call file%get_attribute("step", step)
    call file%free()
  else
    call a%create(job, tessera_real64, [100, 100], name="A")
    step = 0
  end if

  ! 2. Compute.
  call a%add_constant(1.0_real64)
  step = step + 1
  call a%sum(total)
  if (job%rank() == 0) print "(a, i0, a, i0)", "step ", step, ", sum: ", nint(total)

  ! 3. The new file takes the old one's place when it is complete.
  call writer%create(job, path)
  call writer%add(a)
  call writer%put_attribute("step", step)
  call writer%commit()
  call job%stop()
end program checkpoint
