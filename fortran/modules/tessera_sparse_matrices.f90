! SPDX-License-Identifier: BSD-3-Clause
!
! Sparse matrices, whose rows are spread over the members of a team; see tessera.f90.
!
!     type(tessera_sparse_builder) :: builder
!     type(tessera_sparse) :: a
!     type(tessera_spmv) :: plan
!     call builder%create(job, tessera_real64, n, n)
!     call builder%add(rows, columns, values)           ! any rank, any entries, in any order
!     call builder%assemble(a)
!     call plan%create(a, x, y)
!     call plan%multiply(a, x, y)                       ! y = A x, as often as needed
!
! Plans are in tessera_sparse_products, access to own rows is in tessera_own_rows.
!
! Rows and columns count from 1, in integers of any kind. Each member has a block of consecutive
! rows, in the order of the members. Rows are compressed as usual in Fortran: the entries of row i
! are those from row_starts(i) to row_starts(i + 1) - 1, counted from 1, with increasing columns. A
! zero may be an entry. The pattern of entries never changes; their values may.
!
! Elements are int32, int64 or of any real or complex type. Vectors and dense matrices are arrays of
! that type, on the matrix's team. Collectives are over that team, begin and end with a
! synchronisation, and need the same arguments on all members. Errors of each: closed;
! invalid_argument (types, shapes or teams that do not fit) and out_of_range, before anything is
! changed; no_memory, peer_lost.
module tessera_sparse_matrices
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use tessera_arrays
  use tessera_distributions
  use tessera_errors
  use tessera_jobs
  use tessera_sparse_bindings
  implicit none
  private
  public :: tessera_sparse_builder, tessera_sparse, tessera_sparse_summary

  !> What is balanced over the blocks of rows.
  integer, parameter, public :: tessera_balance_rows = 0, tessera_balance_entries = 1

  !> Entries collected for a matrix.
  type :: tessera_sparse_builder
    type(owned_cell) :: own  ! for the library only
    integer(int64) :: extents(2) = 0  ! for the library only
    integer(int64) :: element = 0
  contains
    procedure :: create => builder_create
    procedure :: add => builder_add
    procedure :: reserve => builder_reserve
    procedure :: added => builder_added
    procedure :: assemble => builder_assemble
    procedure :: free => builder_free
    procedure :: c_handle => builder_c_handle
  end type tessera_sparse_builder

  !> A sparse matrix.
  type :: tessera_sparse
    type(owned_cell) :: own  ! for the library only
  contains
    procedure :: from_rows => sparse_from_rows
    procedure :: from_dense => sparse_from_dense
    procedure :: duplicate => sparse_duplicate
    procedure :: transpose => sparse_transpose
    procedure :: multiply => sparse_multiply
    procedure :: count_sketch => sparse_count_sketch
    procedure :: free => sparse_free
    procedure :: c_handle => sparse_c_handle
    procedure :: from_c_handle => sparse_from_c_handle
    procedure :: shape => sparse_shape
    procedure :: element => sparse_element
    procedure :: describe => sparse_describe
    procedure :: name => sparse_name
    procedure :: team => sparse_team
    procedure :: row_distribution => sparse_row_distribution
    procedure :: column_distribution => sparse_column_distribution
    procedure :: column_blocks => sparse_column_blocks
    procedure :: summarise => sparse_summarise
    procedure :: summary_text => sparse_summary_text
    procedure :: get => sparse_get
    procedure :: sync => sparse_sync
    procedure :: to_dense => sparse_to_dense
    procedure :: multiply_dense => sparse_multiply_dense
    procedure :: multiply_dense_left => sparse_multiply_dense_left
    procedure :: scale => sparse_scale
    procedure :: scale_rows => sparse_scale_rows
    procedure :: scale_columns => sparse_scale_columns
    procedure :: get_diagonal => sparse_get_diagonal
    procedure :: get_column => sparse_get_column
    procedure :: shift_diagonal => sparse_shift_diagonal
  end type tessera_sparse

contains

  !> Collective over the team, all ranks unless given. `row_starts` gives the first row of each
  !> member that has rows. Without it, blocks have about the same number of rows, or of entries
  !> (balance=tessera_balance_entries). Errors: invalid_argument, on all members.
  subroutine builder_create(self, job, element, rows, columns, name, team, row_starts, balance, &
      stat, errmsg)
    class(tessera_sparse_builder), intent(inout) :: self
    type(tessera_job), intent(in) :: job
    integer(int64), intent(in) :: element
    type(*), dimension(..), intent(in) :: rows, columns
    character(*), intent(in), optional :: name
    type(tessera_team), intent(in), optional :: team
    type(*), dimension(..), intent(in), optional :: row_starts
    integer, intent(in), optional :: balance
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int) :: code
    code = f_builder_create(self%own%at, job%own%at, element, rows, columns, name_text(name), &
        team_cell(team), row_starts, chosen_balance(balance), self%extents)
    if (code == 0) self%element = element
    call finish(code, stat, errmsg)
  end subroutine builder_create

  !> Local. Adds a value to an entry, or lists of values to entries: all of a list, or none of it if
  !> it fails. Errors: out_of_range, closed after assemble.
  subroutine builder_add(self, rows, columns, values, stat, errmsg)
    class(tessera_sparse_builder), intent(in) :: self
    type(*), dimension(..), intent(in) :: rows, columns, values
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_builder_add(self%own%at, self%extents, self%element, rows, columns, values), &
        stat, errmsg)
  end subroutine builder_add

  !> Local. Reserves memory for a total of `entries` values that are added on this rank.
  subroutine builder_reserve(self, entries, stat, errmsg)
    class(tessera_sparse_builder), intent(in) :: self
    type(*), dimension(..), intent(in) :: entries
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_builder_reserve(self%own%at, entries), stat, errmsg)
  end subroutine builder_reserve

  !> Local. The number of values added on this rank; an entry counts each time that it was added.
  function builder_added(self, stat, errmsg) result(entries)
    class(tessera_sparse_builder), intent(in) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: entries
    type(c_ptr) :: handle
    integer(c_int) :: code
    entries = 0
    if (open_cell(self%own, kind_sparse_builder, "added", handle, code)) &
        code = c_builder_added(handle, entries)
    call finish(code, stat, errmsg)
  end function builder_added

  !> Collective. Makes the matrix from what all members added; nothing can be added after that.
  subroutine builder_assemble(self, matrix, stat, errmsg)
    class(tessera_sparse_builder), intent(in) :: self
    type(tessera_sparse), intent(inout) :: matrix
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_builder_assemble(self%own%at, matrix%own%at), stat, errmsg)
  end subroutine builder_assemble

  !> Local. Frees the builder.
  subroutine builder_free(self, stat, errmsg)
    class(tessera_sparse_builder), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call self%own%free(stat, errmsg)
  end subroutine builder_free

  !> Local. The handle of tessera/tessera.h; the variable keeps ownership.
  function builder_c_handle(self, stat, errmsg) result(handle)
    class(tessera_sparse_builder), intent(in) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: handle
    handle = handle_of(self%own, kind_sparse_builder, "c_handle", stat, errmsg)
  end function builder_c_handle

  !> Collective over the team, all ranks unless given. Makes a matrix with `ncolumns` columns from
  !> the rows that each member gives, its own, in the order of the members: `row_starts` with one
  !> number more than rows, of which there may be none, and a column and a value for each entry.
  !> Errors, on all members: invalid_argument, out_of_range.
  subroutine sparse_from_rows(self, job, element, ncolumns, row_starts, columns, values, name, &
      team, stat, errmsg)
    class(tessera_sparse), intent(inout) :: self
    type(tessera_job), intent(in) :: job
    integer(int64), intent(in) :: element
    type(*), dimension(..), intent(in) :: ncolumns, row_starts, columns, values
    character(*), intent(in), optional :: name
    type(tessera_team), intent(in), optional :: team
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_sparse_from_rows(self%own%at, job%own%at, element, ncolumns, row_starts, &
        columns, values, name_text(name), team_cell(team)), stat, errmsg)
  end subroutine sparse_from_rows

  !> Collective over the array's team. Takes the elements with an absolute value above `threshold`.
  !> Rows are divided as in a builder. Cost: a transposed copy during the call.
  subroutine sparse_from_dense(self, dense, threshold, name, row_starts, balance, stat, errmsg)
    class(tessera_sparse), intent(inout) :: self
    type(tessera_array), intent(in) :: dense
    type(*), dimension(..), intent(in) :: threshold
    character(*), intent(in), optional :: name
    type(*), dimension(..), intent(in), optional :: row_starts
    integer, intent(in), optional :: balance
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_sparse_from_dense(self%own%at, dense%own%at, threshold, name_text(name), &
        row_starts, chosen_balance(balance)), stat, errmsg)
  end subroutine sparse_from_dense

  !> Collective. A copy of `matrix` with its own values.
  subroutine sparse_duplicate(self, matrix, name, stat, errmsg)
    class(tessera_sparse), intent(inout) :: self
    type(tessera_sparse), intent(in) :: matrix
    character(*), intent(in), optional :: name
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_sparse_duplicate(self%own%at, matrix%own%at, name_text(name)), stat, errmsg)
  end subroutine sparse_duplicate

  !> Collective. The transpose of `matrix`, not conjugated. Rows are divided as in a builder.
  subroutine sparse_transpose(self, matrix, name, row_starts, balance, stat, errmsg)
    class(tessera_sparse), intent(inout) :: self
    type(tessera_sparse), intent(in) :: matrix
    character(*), intent(in), optional :: name
    type(*), dimension(..), intent(in), optional :: row_starts
    integer, intent(in), optional :: balance
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_sparse_transpose(self%own%at, matrix%own%at, name_text(name), row_starts, &
        chosen_balance(balance)), stat, errmsg)
  end subroutine sparse_transpose

  !> Collective. The product of two sparse matrices.
  subroutine sparse_multiply(self, a, b, name, stat, errmsg)
    class(tessera_sparse), intent(inout) :: self
    type(tessera_sparse), intent(in) :: a, b
    character(*), intent(in), optional :: name
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_sparse_multiply(self%own%at, a%own%at, b%own%at, name_text(name)), stat, errmsg)
  end subroutine sparse_multiply

  !> Collective. A count sketch of `matrix`: sums its rows, or its columns if of_columns is true,
  !> into `buckets` buckets. Hashes of the seed choose each row's bucket and sign. Rows of the
  !> result are divided as in a builder. The same bits for any number of ranks.
  subroutine sparse_count_sketch(self, matrix, buckets, seed, of_columns, name, row_starts, &
      balance, stat, errmsg)
    class(tessera_sparse), intent(inout) :: self
    type(tessera_sparse), intent(in) :: matrix
    type(*), dimension(..), intent(in) :: buckets, seed
    logical, intent(in), optional :: of_columns
    character(*), intent(in), optional :: name
    type(*), dimension(..), intent(in), optional :: row_starts
    integer, intent(in), optional :: balance
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_sparse_count_sketch(self%own%at, matrix%own%at, buckets, seed, &
        flag(of_columns), name_text(name), row_starts, chosen_balance(balance)), stat, errmsg)
  end subroutine sparse_count_sketch

  !> Collective. Frees the matrix.
  subroutine sparse_free(self, stat, errmsg)
    class(tessera_sparse), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call self%own%free(stat, errmsg)
  end subroutine sparse_free

  !> Local. The handle of tessera/tessera.h, for C and C++, with the same rows and columns, counted
  !> from 0; the variable keeps ownership.
  function sparse_c_handle(self, stat, errmsg) result(handle)
    class(tessera_sparse), intent(in) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: handle
    handle = handle_of(self%own, kind_sparse, "c_handle", stat, errmsg)
  end function sparse_c_handle

  !> Local. A variable for a matrix that C or C++ has made, and frees.
  subroutine sparse_from_c_handle(self, job, handle, stat, errmsg)
    class(tessera_sparse), intent(inout) :: self
    type(tessera_job), intent(in) :: job
    type(c_ptr), intent(in) :: handle
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_sparse_from_handle(self%own%at, job%own%at, handle), stat, errmsg)
  end subroutine sparse_from_c_handle

  !> Local. The rows, the columns, and the entries of all members, in integers of any kind.
  subroutine sparse_shape(self, rows, columns, entries, stat, errmsg)
    class(tessera_sparse), intent(in) :: self
    type(*), dimension(..), intent(inout), optional :: rows, columns, entries
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_sparse_shape(self%own%at, rows, columns, entries), stat, errmsg)
  end subroutine sparse_shape

  !> Local. The type of its elements.
  function sparse_element(self, stat, errmsg) result(element)
    class(tessera_sparse), intent(in) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: element
    type(c_ptr) :: handle
    integer(c_int) :: code
    element = 0
    if (open_cell(self%own, kind_sparse, "element", handle, code)) &
        code = c_sparse_type(handle, element)
    call finish(code, stat, errmsg)
  end function sparse_element

  !> Local. "sparse matrix 'A' (float64, 100 x 100, 298 entries)".
  function sparse_describe(self, stat, errmsg) result(text)
    class(tessera_sparse), intent(in) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    character(:), allocatable :: text
    text = text_from(self%own, kind_sparse, "describe", c_sparse_describe, stat, errmsg)
  end function sparse_describe

  !> Local. The name given when it was made.
  function sparse_name(self, stat, errmsg) result(text)
    class(tessera_sparse), intent(in) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    character(:), allocatable :: text
    text = text_from(self%own, kind_sparse, "name", c_sparse_name, stat, errmsg)
  end function sparse_name

  !> Local. The matrix's team.
  subroutine sparse_team(self, team, stat, errmsg)
    class(tessera_sparse), intent(in) :: self
    type(tessera_team), intent(inout) :: team
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_sparse_team(self%own%at, team%own%at), stat, errmsg)
  end subroutine sparse_team

  !> Local. The distribution of its rows, for vectors y.
  subroutine sparse_row_distribution(self, distribution, stat, errmsg)
    class(tessera_sparse), intent(in) :: self
    type(tessera_distribution), intent(inout) :: distribution
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_sparse_distribution(self%own%at, 0_c_int, distribution%own%at), stat, errmsg)
  end subroutine sparse_row_distribution

  !> Local. An even distribution of its columns, a block for each member, for vectors x.
  subroutine sparse_column_distribution(self, distribution, stat, errmsg)
    class(tessera_sparse), intent(in) :: self
    type(tessera_distribution), intent(inout) :: distribution
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_sparse_distribution(self%own%at, 1_c_int, distribution%own%at), stat, errmsg)
  end subroutine sparse_column_distribution

  !> Local. The blocks of the even distribution of columns in which this rank's rows have entries,
  !> by the members that own them; ascending.
  subroutine sparse_column_blocks(self, members, stat, errmsg)
    class(tessera_sparse), intent(in) :: self
    integer, allocatable, intent(out) :: members(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: handle
    integer(c_int) :: code
    integer(c_int64_t) :: count, nothing(1)
    integer(c_int64_t), allocatable :: found(:)
    count = 0
    if (open_cell(self%own, kind_sparse, "column_blocks", handle, code)) &
        code = c_sparse_column_blocks(handle, 0_c_int64_t, nothing, count)
    allocate (found(count))
    if (code == 0) code = c_sparse_column_blocks(handle, count, found, count)
    members = int(found)
    call finish(code, stat, errmsg)
  end subroutine sparse_column_blocks

  !> Collective. Statistics of the matrix's pattern; the same on all members.
  subroutine sparse_summarise(self, summary, stat, errmsg)
    class(tessera_sparse), intent(in) :: self
    type(tessera_sparse_summary), intent(out) :: summary
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: handle
    integer(c_int) :: code
    if (open_cell(self%own, kind_sparse, "summarise", handle, code)) &
        code = c_sparse_summarise(handle, summary)
    call finish(code, stat, errmsg)
  end subroutine sparse_summarise

  !> Collective. The same as several lines of text.
  function sparse_summary_text(self, stat, errmsg) result(text)
    class(tessera_sparse), intent(in) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    character(:), allocatable :: text
    text = text_from(self%own, kind_sparse, "summary_text", c_sparse_summary_text, stat, errmsg)
  end function sparse_summary_text

  !> One-sided. The entries of rows lo(1) to hi(1) and columns lo(2) to hi(2), in compressed form.
  !> Rows and columns count from 1 at lo. row_starts has one number more than rows. columns and
  !> values have room for all entries. If `entries` is given, they may be shorter and get the first
  !> entries; `entries` becomes the number of all. Changes of other members are seen after a
  !> synchronisation. Errors: out_of_range, invalid_argument (too little room). Cost: all entries of
  !> the rows are read.
  subroutine sparse_get(self, lo, hi, row_starts, columns, values, entries, stat, errmsg)
    class(tessera_sparse), intent(in) :: self
    type(*), dimension(..), intent(in) :: lo, hi
    type(*), dimension(..), intent(inout) :: row_starts, columns, values
    type(*), dimension(..), intent(inout), optional :: entries
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_sparse_get(self%own%at, lo, hi, row_starts, columns, values, entries), stat, &
        errmsg)
  end subroutine sparse_get

  !> Collective. After it, all members see the values that members changed before.
  subroutine sparse_sync(self, stat, errmsg)
    class(tessera_sparse), intent(in) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call act(self%own, kind_sparse, "sync", c_sparse_sync, stat, errmsg)
  end subroutine sparse_sync

  !> Collective. dense = matrix, with zeros for missing entries. Cost: a transposed copy during the
  !> call.
  subroutine sparse_to_dense(self, dense, stat, errmsg)
    class(tessera_sparse), intent(in) :: self
    type(tessera_array), intent(in) :: dense
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_sparse_to_dense(self%own%at, dense%own%at), stat, errmsg)
  end subroutine sparse_to_dense

  !> Collective. c = matrix b, with dense matrices b and c. Cost: the same.
  subroutine sparse_multiply_dense(self, b, c, stat, errmsg)
    class(tessera_sparse), intent(in) :: self
    type(tessera_array), intent(in) :: b, c
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_sparse_multiply_dense(self%own%at, 0_c_int, b%own%at, c%own%at), stat, errmsg)
  end subroutine sparse_multiply_dense

  !> Collective. c = b matrix, the dense factor on the left. Cost: the same.
  subroutine sparse_multiply_dense_left(self, b, c, stat, errmsg)
    class(tessera_sparse), intent(in) :: self
    type(tessera_array), intent(in) :: b, c
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_sparse_multiply_dense(self%own%at, 1_c_int, b%own%at, c%own%at), stat, errmsg)
  end subroutine sparse_multiply_dense_left

  !> Collective. Multiplies all entries by a factor.
  subroutine sparse_scale(self, factor, stat, errmsg)
    class(tessera_sparse), intent(in) :: self
    type(*), dimension(..), intent(in) :: factor
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_sparse_number(self%own%at, 0_c_int, factor), stat, errmsg)
  end subroutine sparse_scale

  !> Collective. matrix(i, i) grows by `shift`. Errors: also invalid_argument if a diagonal entry is
  !> missing.
  subroutine sparse_shift_diagonal(self, shift, stat, errmsg)
    class(tessera_sparse), intent(in) :: self
    type(*), dimension(..), intent(in) :: shift
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_sparse_number(self%own%at, 1_c_int, shift), stat, errmsg)
  end subroutine sparse_shift_diagonal

  !> Collective. v(i) = matrix(i, i), 0 for missing entries.
  subroutine sparse_get_diagonal(self, v, stat, errmsg)
    class(tessera_sparse), intent(in) :: self
    type(tessera_array), intent(in) :: v
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_sparse_vector(self%own%at, 0_c_int, v%own%at), stat, errmsg)
  end subroutine sparse_get_diagonal

  !> Collective. v(i) = matrix(i, column), 0 for missing entries. Errors, on all members:
  !> out_of_range.
  subroutine sparse_get_column(self, column, v, stat, errmsg)
    class(tessera_sparse), intent(in) :: self
    type(*), dimension(..), intent(in) :: column
    type(tessera_array), intent(in) :: v
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_sparse_get_column(self%own%at, column, v%own%at), stat, errmsg)
  end subroutine sparse_get_column

  !> Collective. Multiplies the entries of row i by v(i).
  subroutine sparse_scale_rows(self, v, stat, errmsg)
    class(tessera_sparse), intent(in) :: self
    type(tessera_array), intent(in) :: v
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_sparse_vector(self%own%at, 1_c_int, v%own%at), stat, errmsg)
  end subroutine sparse_scale_rows

  !> Collective. Multiplies the entries of column j by v(j).
  subroutine sparse_scale_columns(self, v, stat, errmsg)
    class(tessera_sparse), intent(in) :: self
    type(tessera_array), intent(in) :: v
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_sparse_vector(self%own%at, 2_c_int, v%own%at), stat, errmsg)
  end subroutine sparse_scale_columns

  !> An optional argument as a C int.
  pure function chosen_balance(given) result(balance)
    integer, intent(in), optional :: given
    integer(c_int) :: balance
    balance = tessera_balance_rows
    if (present(given)) balance = c_number(given)
  end function chosen_balance

end module tessera_sparse_matrices
