! SPDX-License-Identifier: BSD-3-Clause
!
! Internal. The C and C++ functions that implement the modules of sparse matrices, and the
! structures shared with them.
module tessera_sparse_bindings
  use, intrinsic :: iso_c_binding
  implicit none
  public

  integer(c_int), parameter :: kind_sparse = 9, kind_sparse_builder = 10, kind_sparse_rows = 11, &
      kind_spmv = 12

  !> Statistics of a pattern.
  type, bind(c) :: tessera_sparse_summary
    integer(c_int64_t) :: empty_rows = 0
    integer(c_int64_t) :: fewest_in_row = 0
    integer(c_int64_t) :: most_in_row = 0
    integer(c_int64_t) :: on_diagonal = 0
    integer(c_int64_t) :: below_diagonal = 0  !< the largest row - column of an entry, or 0
    integer(c_int64_t) :: above_diagonal = 0  !< the largest column - row of an entry, or 0
    integer(c_int64_t) :: fewest_on_rank = 0
    integer(c_int64_t) :: most_on_rank = 0
  end type tessera_sparse_summary

  !> A member's own rows; the lists are counted as in C.
  type, bind(c) :: c_sparse_rows
    integer(c_int64_t) :: first_row = 1
    integer(c_int64_t) :: rows = 0
    integer(c_int64_t) :: entries = 0
    integer(c_int64_t) :: element = 0
    type(c_ptr) :: row_starts = c_null_ptr
    type(c_ptr) :: columns = c_null_ptr
    type(c_ptr) :: values = c_null_ptr
  end type c_sparse_rows

  !> Options of plans for products.
  type, bind(c) :: c_spmv_options
    integer(c_int) :: mode = 4
    integer(c_int) :: through_network = 0
    integer(c_int) :: wide_indices = 0
    integer(c_int) :: neighbours_only = 0
  end type c_spmv_options

  interface
    function f_builder_create(place, job, element, rows, columns, name, team, row_starts, &
        balance, extents) bind(c, name="tessera_f_sparse_builder_create") result(code)
      import
      type(c_ptr), intent(inout) :: place
      type(c_ptr), value :: job
      integer(c_int64_t), value :: element
      type(*), dimension(..), intent(in) :: rows, columns
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), value :: team
      type(*), dimension(..), intent(in), optional :: row_starts
      integer(c_int), value :: balance
      integer(c_int64_t), intent(inout) :: extents(*)
      integer(c_int) :: code
    end function
    function f_builder_add(builder, extents, element, rows, columns, values) &
        bind(c, name="tessera_f_sparse_builder_add") result(code)
      import
      type(c_ptr), value :: builder
      integer(c_int64_t), intent(in) :: extents(*)
      integer(c_int64_t), value :: element
      type(*), dimension(..), intent(in) :: rows, columns, values
      integer(c_int) :: code
    end function
    function f_builder_reserve(builder, entries) &
        bind(c, name="tessera_f_sparse_builder_reserve") result(code)
      import
      type(c_ptr), value :: builder
      type(*), dimension(..), intent(in) :: entries
      integer(c_int) :: code
    end function
    function c_builder_added(builder, entries) &
        bind(c, name="tessera_sparse_builder_added") result(code)
      import
      type(c_ptr), value :: builder
      integer(c_int64_t), intent(inout) :: entries
      integer(c_int) :: code
    end function
    function f_builder_assemble(builder, place) &
        bind(c, name="tessera_f_sparse_builder_assemble") result(code)
      import
      type(c_ptr), value :: builder
      type(c_ptr), intent(inout) :: place
      integer(c_int) :: code
    end function
    function f_sparse_from_rows(place, job, element, ncolumns, row_starts, columns, values, name, &
        team) bind(c, name="tessera_f_sparse_from_rows") result(code)
      import
      type(c_ptr), intent(inout) :: place
      type(c_ptr), value :: job
      integer(c_int64_t), value :: element
      type(*), dimension(..), intent(in) :: ncolumns, row_starts, columns, values
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), value :: team
      integer(c_int) :: code
    end function
    function f_sparse_from_dense(place, dense, threshold, name, row_starts, balance) &
        bind(c, name="tessera_f_sparse_from_dense") result(code)
      import
      type(c_ptr), intent(inout) :: place
      type(c_ptr), value :: dense
      type(*), dimension(..), intent(in) :: threshold
      character(kind=c_char), intent(in) :: name(*)
      type(*), dimension(..), intent(in), optional :: row_starts
      integer(c_int), value :: balance
      integer(c_int) :: code
    end function
    function f_sparse_transpose(place, of, name, row_starts, balance) &
        bind(c, name="tessera_f_sparse_transpose") result(code)
      import
      type(c_ptr), intent(inout) :: place
      type(c_ptr), value :: of
      character(kind=c_char), intent(in) :: name(*)
      type(*), dimension(..), intent(in), optional :: row_starts
      integer(c_int), value :: balance
      integer(c_int) :: code
    end function
    function f_sparse_count_sketch(place, of, buckets, seed, of_columns, name, row_starts, &
        balance) bind(c, name="tessera_f_sparse_count_sketch") result(code)
      import
      type(c_ptr), intent(inout) :: place
      type(c_ptr), value :: of
      type(*), dimension(..), intent(in) :: buckets, seed
      integer(c_int), value :: of_columns
      character(kind=c_char), intent(in) :: name(*)
      type(*), dimension(..), intent(in), optional :: row_starts
      integer(c_int), value :: balance
      integer(c_int) :: code
    end function
    function f_sparse_duplicate(place, of, name) &
        bind(c, name="tessera_f_sparse_duplicate") result(code)
      import
      type(c_ptr), intent(inout) :: place
      type(c_ptr), value :: of
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int) :: code
    end function
    function f_sparse_multiply(place, a, b, name) &
        bind(c, name="tessera_f_sparse_multiply") result(code)
      import
      type(c_ptr), intent(inout) :: place
      type(c_ptr), value :: a, b
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int) :: code
    end function
    function f_sparse_from_handle(place, job, handle) &
        bind(c, name="tessera_f_sparse_from_handle") result(code)
      import
      type(c_ptr), intent(inout) :: place
      type(c_ptr), value :: job, handle
      integer(c_int) :: code
    end function
    function f_sparse_shape(matrix, rows, columns, entries) &
        bind(c, name="tessera_f_sparse_shape") result(code)
      import
      type(c_ptr), value :: matrix
      type(*), dimension(..), intent(inout), optional :: rows, columns, entries
      integer(c_int) :: code
    end function
    function c_sparse_type(matrix, element) bind(c, name="tessera_sparse_type") result(code)
      import
      type(c_ptr), value :: matrix
      integer(c_int64_t), intent(inout) :: element
      integer(c_int) :: code
    end function
    function c_sparse_describe(matrix, text, capacity, length) &
        bind(c, name="tessera_sparse_describe") result(code)
      import
      type(c_ptr), value :: matrix
      character(kind=c_char), intent(inout) :: text(*)
      integer(c_int64_t), value :: capacity
      integer(c_int64_t), intent(inout) :: length
      integer(c_int) :: code
    end function
    function c_sparse_name(matrix, text, capacity, length) &
        bind(c, name="tessera_sparse_name") result(code)
      import
      type(c_ptr), value :: matrix
      character(kind=c_char), intent(inout) :: text(*)
      integer(c_int64_t), value :: capacity
      integer(c_int64_t), intent(inout) :: length
      integer(c_int) :: code
    end function
    function f_sparse_team(matrix, place) bind(c, name="tessera_f_sparse_team") result(code)
      import
      type(c_ptr), value :: matrix
      type(c_ptr), intent(inout) :: place
      integer(c_int) :: code
    end function
    function f_sparse_distribution(matrix, of_columns, place) &
        bind(c, name="tessera_f_sparse_distribution") result(code)
      import
      type(c_ptr), value :: matrix
      integer(c_int), value :: of_columns
      type(c_ptr), intent(inout) :: place
      integer(c_int) :: code
    end function
    function c_sparse_column_blocks(matrix, capacity, members, count) &
        bind(c, name="tessera_sparse_column_blocks") result(code)
      import
      type(c_ptr), value :: matrix
      integer(c_int64_t), value :: capacity
      integer(c_int64_t), intent(inout) :: members(*)
      integer(c_int64_t), intent(inout) :: count
      integer(c_int) :: code
    end function
    function c_sparse_summarise(matrix, summary) &
        bind(c, name="tessera_sparse_summarise") result(code)
      import
      type(c_ptr), value :: matrix
      type(tessera_sparse_summary), intent(inout) :: summary
      integer(c_int) :: code
    end function
    function c_sparse_summary_text(matrix, text, capacity, length) &
        bind(c, name="tessera_sparse_summary_text") result(code)
      import
      type(c_ptr), value :: matrix
      character(kind=c_char), intent(inout) :: text(*)
      integer(c_int64_t), value :: capacity
      integer(c_int64_t), intent(inout) :: length
      integer(c_int) :: code
    end function
    function f_sparse_get(matrix, lo, hi, row_starts, columns, values, entries) &
        bind(c, name="tessera_f_sparse_get") result(code)
      import
      type(c_ptr), value :: matrix
      type(*), dimension(..), intent(in) :: lo, hi
      type(*), dimension(..), intent(inout) :: row_starts, columns, values
      type(*), dimension(..), intent(inout), optional :: entries
      integer(c_int) :: code
    end function
    function f_sparse_rows_begin(place, matrix, memory) &
        bind(c, name="tessera_f_sparse_rows_begin") result(code)
      import
      type(c_ptr), intent(inout) :: place
      type(c_ptr), value :: matrix
      type(c_sparse_rows), intent(inout) :: memory
      integer(c_int) :: code
    end function
    function f_sparse_rows_pattern(rows, memory, row_starts, columns) &
        bind(c, name="tessera_f_sparse_rows_pattern") result(code)
      import
      type(c_ptr), value :: rows
      type(c_sparse_rows), intent(in) :: memory
      type(*), dimension(..), intent(inout) :: row_starts, columns
      integer(c_int) :: code
    end function
    function f_sparse_rows_values(rows, memory, element, values) &
        bind(c, name="tessera_f_sparse_rows_values") result(code)
      import
      type(c_ptr), value :: rows
      type(c_sparse_rows), intent(inout) :: memory
      integer(c_int64_t), value :: element
      type(c_ptr), intent(inout) :: values
      integer(c_int) :: code
    end function
    function c_sparse_sync(matrix) bind(c, name="tessera_sparse_sync") result(code)
      import
      type(c_ptr), value :: matrix
      integer(c_int) :: code
    end function
    function f_sparse_get_column(matrix, column, vector) &
        bind(c, name="tessera_f_sparse_get_column") result(code)
      import
      type(c_ptr), value :: matrix
      type(*), dimension(..), intent(in) :: column
      type(c_ptr), value :: vector
      integer(c_int) :: code
    end function
    function f_sparse_to_dense(matrix, dense) bind(c, name="tessera_f_sparse_to_dense") result(code)
      import
      type(c_ptr), value :: matrix, dense
      integer(c_int) :: code
    end function
    function f_sparse_multiply_dense(matrix, is_left, b, c) &
        bind(c, name="tessera_f_sparse_multiply_dense") result(code)
      import
      type(c_ptr), value :: matrix
      integer(c_int), value :: is_left
      type(c_ptr), value :: b, c
      integer(c_int) :: code
    end function
    function f_sparse_number(matrix, is_shift, number) &
        bind(c, name="tessera_f_sparse_number") result(code)
      import
      type(c_ptr), value :: matrix
      integer(c_int), value :: is_shift
      type(*), dimension(..), intent(in) :: number
      integer(c_int) :: code
    end function
    function f_sparse_vector(matrix, op, vector) &
        bind(c, name="tessera_f_sparse_vector") result(code)
      import
      type(c_ptr), value :: matrix
      integer(c_int), value :: op
      type(c_ptr), value :: vector
      integer(c_int) :: code
    end function
    function f_spmv_create(place, matrix, x, y, options) &
        bind(c, name="tessera_f_spmv_create") result(code)
      import
      type(c_ptr), intent(inout) :: place
      type(c_ptr), value :: matrix, x, y
      type(c_spmv_options), intent(in) :: options
      integer(c_int) :: code
    end function
    function f_spmv_multiply(plan, is_transposed, matrix, from, to) &
        bind(c, name="tessera_f_spmv_multiply") result(code)
      import
      type(c_ptr), value :: plan
      integer(c_int), value :: is_transposed
      type(c_ptr), value :: matrix, from, to
      integer(c_int) :: code
    end function
    function f_spmv_reads(plan, from_others, shared, rows_without) &
        bind(c, name="tessera_f_spmv_reads") result(code)
      import
      type(c_ptr), value :: plan
      type(*), dimension(..), intent(inout), optional :: from_others, shared, rows_without
      integer(c_int) :: code
    end function
  end interface

end module tessera_sparse_bindings
