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
    call run_case("sparse.entries", entries_of_all, .true.)
    call run_case("sparse.own_rows", own_rows, .true.)
    call run_case("sparse.given_rows", given_rows, .true.)
    call run_case("sparse.asking", asking, .true.)
    call run_case("sparse.sketches", sketches, .true.)
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
    call builder%create(job, tessera_real64, size(x, 1, int64), size(x, 2), name="A", team=team)
    call builder%reserve(size(x))
    do j = 1, size(x, 2)
      if (mod(j, members) == member) then
        call builder%add(pack([(i, i = 1, size(x, 1))], abs(x(:, j)) > 0), &
            spread(j, 1, count(abs(x(:, j)) > 0)), pack(x(:, j), abs(x(:, j)) > 0))
      end if
    end do
    call check(builder%added() == count([((abs(x(i, j)) > 0 .and. mod(j, members) == member, &
        i = 1, size(x, 1)), j = 1, size(x, 2))]), "added")
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
    call c%sync()
    call left_products(a, s)
    call planned_products(a, x, y, s)
  end subroutine products

  !> The dense factor on the left.
  subroutine left_products(a, s)
    type(tessera_sparse), intent(in) :: a
    real(real64), intent(in) :: s(n, m)
    type(tessera_array) :: b, c
    real(real64) :: dense_b(2, n), dense_c(2, m)
    integer :: i
    call make_matrix(b, 2, n, "B")
    call make_matrix(c, 2, m, "C")
    dense_b = reshape([(real(i, real64), i = 1, 2 * n)], [2, n])
    if (member == 0) call b%put([1, 1], [2, n], dense_b)
    call b%sync()
    call a%multiply_dense_left(b, c)
    call c%get([1, 1], [2, m], dense_c)
    call check(all(dense_c == matmul(dense_b, s)), "C = B A")
    call c%sync()
  end subroutine left_products

  !> In each way, with and without shared memory.
  subroutine planned_products(a, x, y, s)
    type(tessera_sparse), intent(in) :: a
    type(tessera_array), intent(in) :: x, y
    real(real64), intent(in) :: s(n, m)
    type(tessera_spmv) :: plan
    real(real64) :: got(n)
    integer(int64) :: others, shared
    integer :: mode, i, without
    call x%enumerate(1.0_real64, 1.0_real64)
    do mode = tessera_spmv_plain, tessera_spmv_push
      call plan%create(a, x, y, mode=mode, through_network=.true., wide_indices=mode == 2)
      call plan%multiply(a, x, y)
      call y%get(1, n, got)
      call check(all(got == matmul(s, [(real(i, real64), i = 1, m)])), "y = A x, in each way")
      call y%sync()
      call plan%reads(others, shared, without)
      call check(others >= 0 .and. others <= m .and. without <= n, "what it reads")
      call check(members > 1 .or. others == 0, "alone it reads nothing of others")
      call check(shared == 0, "through the network nothing is shared")
      call plan%free()
    end do
    call plan%create(a, x, y, mode=7, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "7")
  end subroutine planned_products

  subroutine entries_of_all()
    type(tessera_sparse) :: a
    type(tessera_array) :: v
    real(real64) :: x(n, m), column(n), values(n * m), row(m)
    integer :: row_starts(5), columns(n * m), entries, i, first
    x = dense()
    call build(a, x)
    call a%get([2, 3], [5, m], row_starts, columns, values, entries)
    call check(row_starts(1) == 1 .and. row_starts(5) == entries + 1, "where rows begin")
    call check(entries == count(abs(x(2:5, 3:)) > 0), "how many there are")
    do i = 1, 4
      row = 0
      first = row_starts(i)
      row(columns(first:row_starts(i + 1) - 1)) = values(first:row_starts(i + 1) - 1)
      call check(all(row(:m - 2) == x(1 + i, 3:)), "a row")
    end do
    call a%get([1, 1], [n + 1, m], row_starts, columns, values, stat=code, errmsg=message)
    call check(code == tessera_out_of_range .or. code == tessera_invalid_argument, "beyond it")
    call a%get([1, 1], [4, m], row_starts, columns(:2), values(:2), stat=code, errmsg=message)
    call check(code == tessera_invalid_argument, "too little room")
    call make_vector(v, tessera_real64, n, "v")
    call a%get_column(3_int64, v)
    call v%get(1, n, column)
    call check(all(column == x(:, 3)), "a column")
    call v%sync()
    call a%get_column(m + 1, v, stat=code, errmsg=message)
    call check(code == tessera_out_of_range, "a column that is not there")
  end subroutine entries_of_all

  subroutine own_rows()
    type(tessera_sparse) :: a, copy
    type(tessera_sparse_rows) :: rows
    real(real64), pointer :: values(:)
    integer, pointer :: wrong(:)
    integer(int64), allocatable :: row_starts(:)
    integer, allocatable :: columns(:)
    real(real64) :: x(n, m), row(m)
    integer(int64) :: i
    x = dense()
    call build(a, x)
    call copy%duplicate(a, name="copy")
    call check(copy%name() == "copy" .and. a%name() == "A", "names")
    call rows%begin(copy)
    allocate (row_starts(rows%count() + 1), columns(rows%entries()))
    call rows%pattern(row_starts, columns)
    call rows%pointer(values)
    call check(size(values, kind=int64) == rows%entries(), "a value for each entry")
    do i = 1, rows%count()
      row = 0
      row(columns(row_starts(i):row_starts(i + 1) - 1)) = &
          values(row_starts(i):row_starts(i + 1) - 1)
      call check(all(row == x(rows%first() + i - 1, :)), "an own row")
    end do
    nullify (wrong)
    call rows%pointer(wrong, stat=code, errmsg=message)
    call check(code == tessera_invalid_argument, "values of another type")
    call rows%pattern(row_starts(:0), columns, stat=code, errmsg=message)
    call check(code == tessera_invalid_argument, "another length")
    values = 2 * values
    call rows%end()
    call copy%sync()
    call check_is(copy, 2 * x, "own values were doubled")
    call check_is(a, x, "those of which it is a copy were not")
  end subroutine own_rows

  !> A distribution of rows in which some members have none; each gives its own.
  subroutine given_rows()
    type(tessera_sparse) :: a, cut
    type(tessera_sparse_builder) :: builder
    type(tessera_sparse_rows) :: rows
    real(real64) :: x(n, m)
    integer :: row_starts(n + 1), columns(n * m), first, last, i, j, entries
    real(real64) :: values(n * m)
    x = dense()
    first = member * n / members + 1
    last = (member + 1) * n / members
    entries = 0
    row_starts(1) = 1
    do i = first, last
      do j = 1, m
        if (abs(x(i, j)) > 0) then
          entries = entries + 1
          columns(entries) = j
          values(entries) = x(i, j)
        end if
      end do
      row_starts(i - first + 2) = entries + 1
    end do
    call a%from_rows(job, tessera_real64, int(m, int64), row_starts(:last - first + 2), &
        columns(:entries), values(:entries), name="given", team=team)
    call check_is(a, x, "of given rows")
    call a%free()
    columns(:entries) = columns(:entries) + m
    call a%from_rows(job, tessera_real64, m, row_starts(:last - first + 2), columns(:entries), &
        values(:entries), team=team, stat=code, errmsg=message)
    call check(code == tessera_out_of_range .or. code == tessera_invalid_argument, &
        "columns that are not there")
    call builder%create(job, tessera_real64, n, m, team=team, row_starts=[1])
    call builder%assemble(cut)
    call rows%begin(cut)
    call check(rows%count() == merge(n, 0, member == 0), "all rows are the first member's")
    call rows%end()
  end subroutine given_rows

  subroutine asking()
    type(tessera_sparse) :: a, same
    type(tessera_team) :: its_team
    type(tessera_distribution) :: d
    type(tessera_array) :: v
    type(tessera_sparse_rows) :: rows
    type(tessera_sparse_summary) :: summary
    real(real64) :: x(n, m)
    integer, allocatable :: blocks(:)
    integer(int64) :: lo(1), hi(1)
    x = dense()
    call build(a, x)
    call check(a%element() == tessera_real64, "its type")
    call a%team(its_team)
    call check(its_team%size() == members, "its team")
    call a%row_distribution(d)
    call v%create_distributed(job, tessera_real64, d, name="v", team=team)
    call v%own_box(lo, hi)
    call rows%begin(a)
    call check(rows%count() == 0 .or. (lo(1) == rows%first() .and. &
        hi(1) == rows%first() + rows%count() - 1), "rows lie beside the vector's")
    call rows%end()
    call v%free()
    call d%free()
    call a%column_distribution(d)
    call v%create_distributed(job, tessera_real64, d, name="v", team=team)
    call v%own_box(lo, hi)
    call a%column_blocks(blocks)
    call check(all(blocks >= 0 .and. blocks < members), "blocks are members")
    call check(all(blocks(2:) > blocks(:size(blocks) - 1)), "ascending")
    call check(members > 1 .or. all(blocks == [0]), "alone there is one")
    call a%summarise(summary)
    call check(summary%on_diagonal == m .and. summary%empty_rows == 0, "what it looks like")
    call check(summary%most_in_row == maxval(count(abs(x) > 0, 2)), "its longest row")
    call check_has(a%summary_text(), "sparse matrix 'A'")
    call same%from_c_handle(job, a%c_handle())
    call check_is(same, x, "the same by its handle")
    call same%free()
    call check_is(a, x, "which it is not")
  end subroutine asking

  !> Sums of rows with signs: the remainder of a column's sum is even. The sketch of columns is the
  !> transposed sketch of the transpose.
  subroutine sketches()
    type(tessera_sparse) :: a, t, of_rows, of_columns
    type(tessera_array) :: whole
    real(real64) :: x(n, m), got(4, m)
    x = dense()
    call build(a, x)
    call of_rows%count_sketch(a, 4, 5_int64)
    call make_matrix(whole, 4, m, "whole")
    call of_rows%to_dense(whole)
    call whole%get([1, 1], [4, m], got)
    call check(all(mod(nint(sum(x, 1) - sum(got, 1)), 2) == 0), "sums with signs")
    call whole%sync()
    call t%transpose(a)
    call of_columns%count_sketch(t, 4, 5, of_columns=.true.)
    call check_is(of_columns, transpose(got), "the same of columns")
    call of_rows%free()
    call of_rows%count_sketch(a, 0, 5, stat=code, errmsg=message)
    call check(code == tessera_invalid_argument, "no buckets")
  end subroutine sketches

  subroutine sparse_errors()
    type(tessera_sparse_builder) :: builder
    type(tessera_sparse) :: a
    type(tessera_team) :: empty
    type(tessera_array) :: vector
    call builder%create(job, tessera_real64, n, m, team=empty, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "the team in this call has not been created")
    call builder%create(job, tessera_real64, n, m, team=team)
    call builder%add(10, 1, 1.0_real64, stat=code, errmsg=message)
    call check_error(tessera_out_of_range, "rows has 10; 1 to 9 are possible")
    call builder%add(1, 0, 1.0_real64, stat=code, errmsg=message)
    call check_error(tessera_out_of_range, "columns has 0; 1 to 7 are possible")
    call builder%add(1, 1, 1, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, &
        "values is integer(int32), but the array has real(real64)")
    call builder%add([1, 2], [1], [1.0_real64], stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "2 rows, 1 columns and 1 values")
    call a%scale(1.0_real64, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "the sparse matrix in this call has not been created")
    call builder%assemble(a)
    call builder%add(1, 1, 1.0_real64, stat=code, errmsg=message)
    call check(code == tessera_closed, "after assemble")
    call a%scale(1)
    call a%scale(0.1, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "the number is 0.1 of real(real32)")
    call make_vector(vector, tessera_real64, n + m, "v")
    call a%scale_rows(vector, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "tessera_sparse_scale_rows")
    call check_has(message, "note: rows and columns are Fortran's")
    call a%to_dense(vector, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "tessera_sparse_to_dense")
    call check_has(message, "note: in this message dimensions are in C's order")
  end subroutine sparse_errors

end module sparse_cases
