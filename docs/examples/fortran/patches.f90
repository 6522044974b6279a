! SPDX-License-Identifier: BSD-3-Clause
!
! Patches: sections of any shape, sections of buffers, elements at listed places, and errors.
!
! Run: tessera-run -n 4 build/docs/examples/fortran_patches
program patches
  use, intrinsic :: iso_fortran_env, only: real64
  use tessera
  implicit none
  type(tessera_job) :: job
  type(tessera_array) :: a
  type(tessera_patch), allocatable :: parts(:)
  real(real64) :: wide(20, 8), row(8), values(3)
  integer :: code
  character(400) :: text

  call job%start()
  call a%create(job, tessera_real64, [10, 8], name="A")

  ! 1. Every second row of a buffer is put directly from its memory, without a copy.
  wide(1::2, :) = 1
  wide(2::2, :) = 2
  if (job%rank() == 0) call a%put([1, 1], [10, 8], wide(2::2, :))
  call a%sync()

  ! 2. All ranks add to the same row; no addition is lost.
  row = 1
  call a%accumulate([5, 1], [5, 8], row, 0.5_real64)
  call a%sync()
  call a%gather(reshape([5, 1, 5, 8, 10, 8], [2, 3]), values)

  ! 3. Which rank owns which part of a section?
  call a%patches([1, 1], [10, 8], parts)

  ! 4. With stat= and errmsg= an error is returned to the program.
  call a%get([1, 1], [11, 8], wide, stat=code, errmsg=text)
  if (job%rank() == 0) then
    print "(a, 2f6.1)", "row 5, and row 10 less: ", values(1), values(3)
    print "(a, l1)", "a part for each rank: ", size(parts) == job%size()
    print "(2a)", "refused: ", tessera_error_name(code)
    print "(a)", trim(text)
  end if
  call job%barrier()  ! all have read
  call job%stop()
end program patches
