! SPDX-License-Identifier: BSD-3-Clause
!
! Statistics whose bits don't depend on the number of ranks: random numbers by seed and index, sums
! that are rounded once; then lists by running sums and packing.
!
! Run: tessera-run -n 4 build/docs/examples/fortran_statistics
program statistics
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use tessera
  implicit none
  integer, parameter :: n = 100000
  type(tessera_job) :: job
  type(tessera_array) :: x, deviation, positive, is_positive, segments, so_far
  real(real64) :: mean, variance, smallest
  integer(int64) :: count, last

  call job%start()
  call x%create(job, tessera_real64, n, name="x")
  call x%fill_random(42, -1d0, 1d0)

  ! Mean and variance, exactly summed: the same bits on 1 rank and on 1000.
  call x%sum(mean, reproducible=.true.)
  mean = mean / n
  call deviation%duplicate(x, name="deviation")
  call deviation%copy(x)
  call deviation%add_constant(-mean)
  call deviation%dot(deviation, variance, reproducible=.true.)
  variance = variance / n

  ! The positive ones, one after the other.
  call is_positive%create(job, tessera_int64, n, name="is positive")
  call mark_positive()
  call positive%duplicate(x, name="positive")
  call positive%pack(x, is_positive, count)
  associate (found => positive%part(1, count))
    call found%select_min(smallest)
  end associate

  ! The number of positive elements up to each element, as running sums. A mask of zeros makes one
  ! segment.
  call segments%duplicate(is_positive, name="segments")
  call so_far%duplicate(is_positive, name="so far")
  call so_far%scan_add(is_positive, segments)
  call so_far%get_element(n, last)

  if (job%rank() == 0) then
    print "(a, es23.16, a, z16.16, a, es23.16)", "mean ", mean, " (", mean, "), variance ", variance
    print "(i0, a, es9.2)", count, " are positive, the smallest of them ", smallest
  end if
  ! The value that one rank computes: any number of ranks gets the same, in any language.
  if (transfer(mean, 0_int64) /= int(z"3f66d7a19441653e", int64)) error stop 1
  if (abs(variance - 1.0_real64 / 3) > 0.005 .or. smallest <= 0 .or. last /= count) error stop 1
  call job%barrier()  ! all have read
  call job%stop()

contains

  subroutine mark_positive()
    type(tessera_block) :: from, to
    real(real64), pointer :: values(:)
    integer(int64), pointer :: marks(:)
    call from%begin(x)
    call to%begin(is_positive)
    call from%pointer(values)
    call to%pointer(marks)
    marks = merge(1, 0, values > 0)
    call from%end()
    call to%end()
    call is_positive%sync()
  end subroutine mark_positive

end program statistics
