! SPDX-License-Identifier: BSD-3-Clause
!
! Arrays that Fortran and C++ share; shared_arrays.cpp is the other half.
module language_cases
  use, intrinsic :: iso_c_binding
  use checks
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use tessera
  implicit none
  private
  public :: run_language_cases

  interface
    function other_sees_rule(array, n, m) bind(c) result(is_so)
      import
      type(c_ptr), value :: array
      integer(c_int), value :: n, m
      integer(c_int) :: is_so
    end function other_sees_rule
    function other_makes(job, team, n, m) bind(c) result(array)
      import
      type(c_ptr), value :: job, team
      integer(c_int), value :: n, m
      type(c_ptr) :: array
    end function other_makes
    function other_frees(array) bind(c) result(code)
      import
      type(c_ptr), value :: array
      integer(c_int) :: code
    end function other_frees
    function other_random_operations(array, seed, count) bind(c) result(code)
      import
      type(c_ptr), value :: array
      integer(c_int64_t), value :: seed
      integer(c_int), value :: count
      integer(c_int) :: code
    end function other_random_operations
    function other_compares(a, b) bind(c) result(is_same)
      import
      type(c_ptr), value :: a, b
      integer(c_int) :: is_same
    end function other_compares
  end interface

contains

  subroutine run_language_cases()
    call run_case("language.made_here", made_here, .true.)
    call run_case("language.made_there", made_there, .true.)
    call run_case("language.same_bytes", same_bytes, .true.)
  end subroutine run_language_cases

  subroutine made_here()
    type(tessera_array) :: a
    type(tessera_block) :: block
    real(real64), pointer :: x(:, :)
    integer :: i, j
    call make_matrix(a, 9, 7, "A")
    call block%begin(a)
    call block%pointer(x)
    do j = lbound(x, 2), ubound(x, 2)
      do i = lbound(x, 1), ubound(x, 1)
        x(i, j) = rule(i, j)
      end do
    end do
    call block%end()
    call a%sync()
    call check(other_sees_rule(a%c_handle(), 9_c_int, 7_c_int) == 1, "C++ sees it turned")
  end subroutine made_here

  subroutine made_there()
    type(tessera_array) :: a, none
    type(c_ptr) :: handle
    real(real64) :: x(9, 7)
    integer :: i, j, status
    handle = other_makes(job%c_handle(), team%c_handle(), 9_c_int, 7_c_int)
    call check(c_associated(handle), "made")
    call a%from_c_handle(job, handle)
    call check(all(a%extents() == [9, 7]) .and. a%name() == "made in C++", "its shape and name")
    call a%get([1, 1], [9, 7], x)
    call check(all(x == reshape([((rule(i, j), i = 1, 9), j = 1, 7)], [9, 7])), "its elements")
    call a%free()
    call team%barrier()
    status = other_frees(handle)
    call check(status == 0, "it was its maker's to free")
    call none%from_c_handle(job, handle, stat=code, errmsg=message)
    call check_error(tessera_closed, "the array 'made in C++' was freed")
    call none%from_c_handle(job, c_null_ptr, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "the array is null")
  end subroutine made_there

  !> The same sequence of operations, made here and in C++.
  subroutine same_bytes()
    type(tessera_array) :: a, b
    integer :: i
    integer(c_int) :: status
    real(real64) :: difference
    call make_matrix(a, 13, 8, "A")
    call make_matrix(b, 13, 8, "B")
    do i = 0, members - 1
      if (i == member) then
        call random_operations(a, 17_int64 + i, 40)
        status = other_random_operations(b%c_handle(), 17_int64 + i, 40_c_int)
        call check(status == 0, "operations in C++")
      end if
      call a%sync()
      call b%sync()
    end do
    call check(other_compares(a%c_handle(), b%c_handle()) == 1, "the same bytes")
    call check(a%norm_max() > 0, "there is something")
    call b%add(1.0_real64, a, -1.0_real64, b)
    difference = b%norm_max()
    call check(difference == 0, "the same elements")
  end subroutine same_bytes

  subroutine random_operations(a, seed, count)
    type(tessera_array), intent(in) :: a
    integer(int64), intent(in) :: seed
    integer, intent(in) :: count
    integer(int64) :: state
    integer :: k, kind, lo(2), hi(2), i, j, n, m
    real(real64), allocatable :: values(:, :)
    integer(int64) :: sizes(2)
    state = seed
    sizes = a%extents()
    n = int(sizes(1))
    m = int(sizes(2))
    do k = 1, count
      kind = below(3)
      lo(1) = below(n) + 1
      lo(2) = below(m) + 1
      hi(1) = lo(1) + below(n - lo(1) + 1)
      hi(2) = lo(2) + below(m - lo(2) + 1)
      allocate (values(hi(1) - lo(1) + 1, hi(2) - lo(2) + 1))
      do j = 1, size(values, 2)
        do i = 1, size(values, 1)
          values(i, j) = below(1000) / 7.0_real64
        end do
      end do
      select case (kind)
      case (0)
        call a%put(lo, hi, values)
      case (1)
        call a%accumulate(lo, hi, values, 0.3_real64)
      case default
        call a%get(lo, hi, values)
        values = values(size(values, 1):1:-1, size(values, 2):1:-1)
        call a%put(lo, hi, values)
      end select
      deallocate (values)
    end do
  contains
    function below(limit) result(number)
      integer, intent(in) :: limit
      integer :: number
      state = mod(state * 1103515245_int64 + 12345_int64, 2147483648_int64)
      number = int(mod(state / 65536_int64, int(limit, int64)))
    end function below
  end subroutine random_operations

end module language_cases
