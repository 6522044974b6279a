! SPDX-License-Identifier: BSD-3-Clause
!
! A simulation that continues where its last run stopped, also on another number of ranks. Each
! step adds random numbers; the result is the same however the steps are divided into runs.
!
! Run: tessera-run -n 4 build/docs/examples/fortran_checkpoint run.h5 10
!      tessera-run -n 3 build/docs/examples/fortran_checkpoint run.h5 20
program checkpoint
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use tessera
  implicit none
  type(tessera_job) :: job
  type(tessera_array) :: a, b, random
  character(200) :: path, number
  integer(int64) :: first, last, step
  real(real64) :: difference
  logical :: is_there

  call get_command_argument(1, path)
  call get_command_argument(2, number)
  if (path == "") path = "run.h5"
  last = 10
  if (number /= "") read (number, *) last
  call job%start()
  call a%create(job, tessera_real64, [200, 300], name="A")
  call random%duplicate(a, name="random")
  call b%duplicate(a, name="B")

  inquire (file=path, exist=is_there)
  call job%broadcast(is_there, 0)  ! rank 0 checks, so that all agree
  first = 0
  if (is_there) call read_state()
  do step = first, last - 1
    call grow(a)
  end do
  call write_state()

  do step = 0, last - 1  ! the same steps in one run
    call grow(b)
  end do
  call b%add(1.0_real64, a, -1.0_real64, b)
  difference = b%norm_max()
  if (job%rank() == 0) print "(2(a, i0), a, es7.1)", "step ", first, " to ", last, &
      "; difference to one run: ", difference
  if (difference > 0) error stop 1
  call job%stop()

contains
  subroutine grow(array)
    type(tessera_array), intent(in) :: array
    call random%fill_random(step, 0.0_real64, 1.0_real64)
    call array%add(1.0_real64, array, 1.0_real64, random)
  end subroutine grow

  !> Reads the array and the step of an earlier run, on any number of ranks.
  subroutine read_state()
    type(tessera_checkpoint) :: file
    call file%open(job, path)
    call file%read_into("A", a)
    call file%get_attribute("step", first)
  end subroutine read_state

  !> The old file stays until the new one is complete.
  subroutine write_state()
    type(tessera_checkpoint_writer) :: writer
    call writer%create(job, path)
    call writer%add(a)
    call writer%put_attribute("step", last)
    call writer%commit()
  end subroutine write_state
end program checkpoint
