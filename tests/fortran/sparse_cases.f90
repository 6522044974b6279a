! SPDX-License-Identifier: BSD-3-Clause
!
! Sparse matrices, compared with the same ones as dense local arrays.
module sparse_cases
  use checks
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use tessera
  implicit none
  private
  public :: run_sparse_cases

  integer, parameter :: n = 9, m = 7

contains

  subroutine run_sparse_cases()
    call run_case("sparse.building", building, .true.)
    call run_case("sparse.products", products, .true.)
    call run_case("sparse.errors", sparse_errors, .true.)
  end subroutine run_sparse_cases

  !> Three entries in each row.
  function dense() result(x)
    real(real64) :: x(n, m)
    integer :: i
    x = 0
    do i = 1, n
      x(i, mod(i, m) + 1) = i
      x(i, mod(3 * i, m) + 1) = -i
    end do
    do i = 1, m
      x(i, i) = 10 + i
    end do
  end function dense

  !> Collective on the team. Each member adds some of the entries.
  subroutine build(a, x)
    type(tessera_sparse), intent(inout) :: a
    real(real64), intent(in) :: x(:, :)
    type(tessera_sparse_builder) :: builder
    integer :: i, j
    call builder%create(job, tessera_real64, size(x, 1), size(x, 2), name="A", team=team)
    do j = 1, size(x, 2)
      if (mod(j, members) == member) then
        call builder%add(pack([(i, i = 1, size(x, 1))], abs(x(:, j)) > 0), &
            spread(j, 1, count(abs(x(:, j)) > 0)), pack(x(:, j), abs(x(:, j)) > 0))
      end if
    end do
    call builder%assemble(a)
    call builder%free()
  end subroutine build

  subroutine check_is(a, x, what)
    type(tessera_sparse), intent(in) :: a
    real(real64), intent(in) :: x(:, :)
    character(*), intent(in) :: what
    type(tessera_array) :: whole
    real(real64), allocatable :: got(:, :)
    call make_matrix(whole, size(x, 1), size(x, 2), "whole")
    call a%to_dense(whole)
    allocate (got, mold=x)
    call whole%get([1, 1], shape(x), got)
    call check(all(got == x), what)
  end subroutine check_is

  subroutine building()
    type(tessera_sparse) :: a, t, again
    type(tessera_array) :: whole, v
    real(real64) :: x(n, m), d(m)
    integer(int64) :: rows, columns, entries
    integer :: i
    x = dense()
    call build(a, x)
    call a%shape(rows, columns, entries)
    call check(rows == n .and. columns == m .and. entries == count(abs(x) > 0), "its shape")
    call check_has(a%describe(), "sparse matrix 'A' (float64, 9 x 7")
    call check_is(a, x, "its entries")
    call t%transpose(a)
    call check_is(t, transpose(x), "transpose")
    call make_matrix(whole, n, m, "whole")
    if (member == 0) call whole%put([1, 1], [n, m], x)
    call whole%sync()
    call again%from_dense(whole, 0.5_real64)
    call check_is(again, x, "from_dense")
    call a%scale(2.0_real64)
    call make_vector(v, tessera_real64, n, "v")
    call v%enumerate(1.0_real64, 1.0_real64)
    call a%scale_rows(v)
    x = 2 * x * spread([(real(i, real64), i = 1, n)], 2, m)
    call check_is(a, x, "scale, and scale_rows")
    call v%free()
    call make_vector(v, tessera_real64, m, "v")
    call v%fill(0.5_real64)
    call a%scale_columns(v)
    call check_is(a, x / 2, "scale_columns")
    call a%get_diagonal(v)
    call v%get(1, m, d)
    call check(all(d == [(x(i, i) / 2, i = 1, m)]), "get_diagonal")
    call v%sync()
    call again%free()
    call build(again, x(:m, :))
    call again%shift_diagonal(1.0_real64)
    do i = 1, m
      x(i, i) = x(i, i) + 1
    end do
    call check_is(again, x(:m, :), "shift_diagonal")
  end subroutine building

  subroutine products()
    type(tessera_sparse) :: a, t, p
    type(tessera_spmv) :: plan
    type(tessera_array) :: x, y, b, c
    real(real64) :: s(n, m), got(n), back(m), dense_b(m, 2), dense_c(n, 2)
    integer :: i
    s = dense()
    call build(a, s)
    call make_vector(x, tessera_real64, m, "x")
    call make_vector(y, tessera_real64, n, "y")
    call x%enumerate(1.0_real64, 1.0_real64)
    call plan%create(a, x, y)
    call plan%multiply(a, x, y)
    call y%get(1, n, got)
    call check(all(got == matmul(s, [(real(i, real64), i = 1, m)])), "y = A x")
    call y%sync()
    call plan%multiply_transposed(a, y, x)
    call x%get(1, m, back)
    call check(all(back == matmul(transpose(s), got)), "x = A^T y")
    call x%sync()
    call plan%free()
    call x%enumerate(2.0_real64, 1.0_real64)
    call plan%create(a, x, y, neighbours_only=.true.)
    call plan%multiply(a, x, y)
    call y%sync()
    call y%get(1, n, got)
    call check(all(got == matmul(s, [(real(i + 1, real64), i = 1, m)])), "y = A x, neighbours only")
    call plan%free()
    call t%transpose(a)
    call p%multiply(a, t)
    call check_is(p, matmul(s, transpose(s)), "A A^T")
    call make_matrix(b, m, 2, "B")
    call make_matrix(c, n, 2, "C")
    dense_b = reshape([(real(i, real64), i = 1, 2 * m)], [m, 2])
    if (member == 0) call b%put([1, 1], [m, 2], dense_b)
    call b%sync()
    call a%multiply_dense(b, c)
    call c%get([1, 1], [n, 2], dense_c)
    call check(all(dense_c == matmul(s, dense_b)), "C = A B")
  end subroutine products

  subroutine sparse_errors()
    type(tessera_sparse_builder) :: builder
    type(tessera_sparse) :: a
    call builder%create(job, tessera_real64, n, m, team=team)
    call builder%add(10, 1, 1.0_real64, stat=code, errmsg=message)
    call check_error(tessera_out_of_range, "rows has 10; there are 1 to 9")
    call builder%add(1, 0, 1.0_real64, stat=code, errmsg=message)
    call check_error(tessera_out_of_range, "columns has 0; there are 1 to 7")
    call builder%add(1, 1, 1, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, &
        "values is integer(int32), but the array has real(real64)")
    call builder%add([1, 2], [1], [1.0_real64], stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "2 rows, 1 columns and 1 values")
    call a%scale(1.0_real64, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "the sparse matrix of this call was not made")
    call builder%assemble(a)
    call builder%add(1, 1, 1.0_real64, stat=code, errmsg=message)
    call check(code == tessera_closed, "after assemble")
    call a%scale(1, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "the number is integer(int32)")
  end subroutine sparse_errors

end module sparse_cases
