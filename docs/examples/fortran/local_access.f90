! SPDX-License-Identifier: BSD-3-Clause
!
! Access to own elements without copies: pointers with global indices as bounds, ghost cells.
! Smooths a periodic field with the mean of nine neighbours.
!
! Run: tessera-run -n 4 build/docs/examples/fortran_local_access
program local_access
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use tessera
  implicit none
  type(tessera_job) :: job
  type(tessera_array) :: field, smoothed
  type(tessera_halo) :: halo
  integer(int64) :: lo(2), hi(2)
  real(real64) :: largest, most, before, after

  call job%start()
  call field%create(job, tessera_real64, [90, 120], name="field", ghosts=[1, 1])
  call smoothed%duplicate(field, name="smoothed")
  call field%fill_random(3, 0d0, 1d0)

  call halo%create(field, periodic=[.true., .true.])
  call halo%update()  ! copies the neighbours' elements
  call smooth()
  call smoothed%sync()  ! now others see the stored elements

  most = own_maximum()
  call job%allreduce(most, tessera_max)
  call smoothed%select_max(largest)
  call field%sum(before)
  call smoothed%sum(after)
  if (job%rank() == 0) then
    call field%own_box(lo, hi)
    print "(4(a, i0), 2(a, f0.9))", "rank 0 owns (", lo(1), ":", hi(1), ", ", lo(2), ":", hi(2), &
        "); the sum is ", before, " before and after ", after
  end if
  ! Means keep the sum, and both ways find the same maximum.
  if (abs(after - before) > 1e-9_real64 * before .or. abs(most - largest) > 0) error stop 1
  call job%stop()

contains

  !> smoothed(i, j) = the mean of field(i - 1:i + 1, j - 1:j + 1), for the elements of this rank.
  subroutine smooth()
    type(tessera_block) :: from, to
    real(real64), pointer :: u(:, :), v(:, :)
    integer :: i, j
    call from%begin(field)
    call to%begin(smoothed)
    call from%pointer(u, ghosts=.true.)
    call to%pointer(v, strided=.true.)  ! between its ghost cells
    do j = lbound(v, 2), ubound(v, 2)
      do i = lbound(v, 1), ubound(v, 1)
        v(i, j) = sum(u(i - 1:i + 1, j - 1:j + 1)) / 9
      end do
    end do
    call from%end()
    call to%end()
  end subroutine smooth

  function own_maximum() result(most)
    type(tessera_block) :: block
    real(real64), pointer :: v(:, :)
    real(real64) :: most
    call block%begin(smoothed)
    call block%pointer(v, strided=.true.)
    most = maxval(v)  ! as of any array
    call block%end()
  end function own_maximum

end program local_access
