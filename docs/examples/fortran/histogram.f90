! SPDX-License-Identifier: BSD-3-Clause
!
! A distributed histogram: each rank counts the elements that it owns into bins that may lie
! anywhere, by scatter_accumulate; some bins are read by gather.
!
! Run: tessera-run -n 4 build/docs/examples/fortran_histogram
program histogram
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use tessera
  implicit none
  integer, parameter :: samples = 1000000, bins = 64
  integer, parameter :: some(8) = [4, 12, 20, 28, 36, 44, 52, 60]
  type(tessera_job) :: job
  type(tessera_array) :: x, y, counts
  integer(int64) :: own(bins), heights(size(some)), total, highest
  integer :: i, at(1)

  ! The mean of two uniform numbers: a triangle between 0 and 1.
  call job%start()
  call x%create(job, tessera_real64, samples, name="x")
  call y%duplicate(x, name="y")
  call x%fill_random(1, 0d0, 1d0)
  call y%fill_random(2, 0d0, 1d0)
  call x%add(0.5_real64, x, 0.5_real64, y)

  ! Count locally, then add each bin's count at its owner. Adding is atomic for each element.
  call counts%create(job, tessera_int64, bins, name="counts")
  call count_own(own)
  call counts%scatter_accumulate(reshape([(i, i = 1, bins)], [1, bins]), own)
  call counts%sync()

  ! Rank 0 prints every eighth bin.
  call counts%gather(reshape(some, [1, size(some)]), heights)
  call counts%sum(total)
  call counts%select_max(highest, at)
  if (job%rank() == 0) then
    do i = 1, size(some)
      print "(f5.3, 2a)", real(some(i) - 1) / bins, " ", repeat("*", int(heights(i) / 500))
    end do
    print "(2(i0, a))", total, " samples, the highest bin has ", highest, ""
  end if
  if (total /= samples .or. all(at(1) /= [bins / 2, bins / 2 + 1])) error stop 1
  call job%stop()

contains

  subroutine count_own(own)
    integer(int64), intent(out) :: own(bins)
    type(tessera_block) :: block
    real(real64), pointer :: values(:)
    integer :: i, bin
    own = 0
    call block%begin(x)
    call block%pointer(values)
    do i = lbound(values, 1), ubound(values, 1)
      bin = int(values(i) * bins) + 1
      own(bin) = own(bin) + 1
    end do
    call block%end()
  end subroutine count_own

end program histogram
