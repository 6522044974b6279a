! SPDX-License-Identifier: BSD-3-Clause
!
! Scans, packing and bins.
module vector_cases
  use checks
  use, intrinsic :: iso_fortran_env, only: int32, int64, real64
  use tessera
  implicit none
  private
  public :: run_vector_cases

  integer, parameter :: n = 12
  integer, parameter :: mask(n) = [1, 0, 0, 1, 0, 1, 1, 0, 0, 0, 0, 1]

contains

  subroutine run_vector_cases()
    call run_case("scan.segments", segments, .true.)
    call run_case("scan.pack", packs, .true.)
    call run_case("bins.all", bins, .true.)
    call run_case("bins.errors", bin_errors, .true.)
  end subroutine run_vector_cases

  subroutine make_vectors(a, marks, to)
    type(tessera_array), intent(inout) :: a, marks, to
    integer :: i
    call make_vector(a, tessera_real64, n, "a")
    call make_vector(marks, tessera_int32, n, "marks")
    call make_vector(to, tessera_real64, n, "to")
    if (member == 0) then
      call a%put(1, n, [(real(i, real64), i = 1, n)])
      call marks%put(1, n, mask)
    end if
    call a%sync()
    call marks%sync()
  end subroutine make_vectors

  subroutine segments()
    type(tessera_array) :: a, marks, to
    real(real64) :: x(n), copied(n), added(n), before(n)
    integer :: i, first
    call make_vectors(a, marks, to)
    first = 1
    do i = 1, n
      if (mask(i) /= 0) first = i
      copied(i) = first
      before(i) = (i - first) * (first + i - 1) / 2
      added(i) = before(i) + i
    end do
    call to%scan_copy(a, marks)
    call to%get(1, n, x)
    call check(all(x == copied), "scan_copy")
    call to%scan_add(a, marks)
    call to%get(1, n, x)
    call check(all(x == added), "scan_add")
    call to%scan_add(a, marks, exclusive=.true.)
    call to%get(1, n, x)
    call check(all(x == before), "exclusive")
  end subroutine segments

  subroutine packs()
    type(tessera_array) :: a, marks, to
    real(real64) :: x(n)
    integer(int64) :: count
    integer :: i
    call make_vectors(a, marks, to)
    call to%pack(a, marks, count)
    call to%get(1, n, x)
    call check(count == sum(mask), "how many")
    call check(all(x(:count) == pack([(real(i, real64), i = 1, n)], mask /= 0)), "pack")
    call to%sync()
    call to%fill(-1.0_real64)
    call to%unpack(a, marks)
    call to%get(1, n, x)
    call check(all(x == unpack([(real(i, real64), i = 1, n)], mask /= 0, -1.0_real64)), "unpack")
  end subroutine packs

  !> Each member adds its number to the bins 1, 3 and 3.
  subroutine bins()
    type(tessera_array) :: counts, offsets, filled, contents
    integer(int64) :: number(3), first(3)
    real(real64), allocatable :: x(:)
    real(real64) :: mine
    integer :: i
    mine = member + 1
    call make_vector(counts, tessera_int64, 3, "counts")
    call make_vector(offsets, tessera_int64, 3, "offsets")
    call make_vector(filled, tessera_int64, 3, "filled")
    call make_vector(contents, tessera_real64, 3 * members, "contents")
    call counts%count_bins([1, 3, 3])
    call counts%sync()
    call offsets%bin_offsets(counts)
    call counts%get(1, 3, number)
    call offsets%get(1, 3, first)
    call check(all(number == members * [1, 0, 2]) .and. all(first == members * [0, 1, 1]), &
        "offsets")
    call contents%add_to_bins(offsets, filled, [1, 3, 3], [mine, -mine, mine])
    call contents%sync()
    call contents%sort_bins(offsets, counts)
    allocate (x(3 * members))
    call contents%get(1, 3 * members, x)
    call check(all(x(:members) == [(i, i = 1, members)]), "the first bin, sorted")
    call check(all(x(members + 1:) == [(-i, i = members, 1, -1), (i, i = 1, members)]), "the third")
  end subroutine bins

  subroutine bin_errors()
    type(tessera_array) :: counts
    call make_vector(counts, tessera_int64, 3, "counts")
    call counts%count_bins([1, 0], stat=code, errmsg=message)
    call check_error(tessera_out_of_range, "there is no bin 0; 1 to 3 are possible")
    call counts%add_to_bins(counts, counts, [1, 2], [1_int64], stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "values has 1 elements for 2 bins")
  end subroutine bin_errors

end module vector_cases
