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
! A plan is of tessera_sparse_products, own rows in memory are of tessera_own_rows.
!
! Rows and columns count from 1, in integers of any kind. Each member has a block of consecutive
! rows, in the order of the members. Compressed rows are as usual in Fortran: the entries of row i
! are those from row_starts(i) to row_starts(i + 1) - 1, which counts from 1, with columns that go
! up; a zero may be an entry. Which entries there are never changes; values may.
!
! Elements are of int32, int64 or any real or complex type; vectors and dense matrices are arrays of
! that type, on the matrix's team. What is collective is so over that team, begins and ends with a
! synchronisation, and needs the same on all members. Errors of all: closed; invalid_argument
! (types, shapes or teams that don't fit) and out_of_range, before anything is changed; no_memory,
! peer_lost.
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

  !> What blocks of rows have about equally many of.
  integer, parameter, public :: tessera_balance_rows = 0, tessera_balance_entries = 1

  !> Entries on their way into a matrix.
  type :: tessera_sparse_builder
    type(owned_cell) :: own  ! not for programs
    integer(int64) :: extents(2) = 0  ! nor these
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
    type(owned_cell) :: own  ! not for programs
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

  !> Collective over the team, all ranks unless given. The rows are cut where `row_starts` tells, a
  !> number for each member that has rows; or, without it, into blocks of as many rows, or entries
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

  !> Local. Adds values to entries: one of each, or lists of them; all of a list, or none of it.
  !> Errors: out_of_range, closed after assemble.
  subroutine builder_add(self, rows, columns, values, stat, errmsg)
    class(tessera_sparse_builder), intent(in) :: self
    type(*), dimension(..), intent(in) :: rows, columns, values
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_builder_add(self%own%at, self%extents, self%element, rows, columns, values), &
        stat, errmsg)
  end subroutine builder_add

  !> Local. Makes room for so many entries in all that are added here.
  subroutine builder_reserve(self, entries, stat, errmsg)
    class(tessera_sparse_builder), intent(in) :: self
    type(*), dimension(..), intent(in) :: entries
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_builder_reserve(self%own%at, entries), stat, errmsg)
  end subroutine builder_reserve

  !> Local. How many values were added here; the same entry counts as often as it was added.
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

  !> Collective. Makes the matrix of what all members added; nothing can be added after that.
  subroutine builder_assemble(self, matrix, stat, errmsg)
    class(tessera_sparse_builder), intent(in) :: self
    type(tessera_sparse), intent(inout) :: matrix
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_builder_assemble(self%own%at, matrix%own%at), stat, errmsg)
  end subroutine builder_assemble

  !> Local.
  subroutine builder_free(self, stat, errmsg)
    class(tessera_sparse_builder), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call self%own%free(stat, errmsg)
  end subroutine builder_free

  !> Local. The handle of fortran/c_api.h; it stays this variable's.
  function builder_c_handle(self, stat, errmsg) result(handle)
    class(tessera_sparse_builder), intent(in) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: handle
    handle = handle_of(self%own, kind_sparse_builder, "c_handle", stat, errmsg)
  end function builder_c_handle

  !> Collective over the team, all ranks unless given. A matrix with `ncolumns` columns of the rows
  !> that each member gives, its own ones, in the order of the members: one number more in
  !> `row_starts` than rows, which may be none, and a column and a value for each entry. Errors, on
  !> all members: invalid_argument, out_of_range.
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

  !> Collective over the array's team. The elements with an absolute value above `threshold`. Rows
  !> are cut as a builder's. Cost: a transposed copy for the time of the call.
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

  !> Collective. The entries of `matrix` once more, with values of their own.
  subroutine sparse_duplicate(self, matrix, name, stat, errmsg)
    class(tessera_sparse), intent(inout) :: self
    type(tessera_sparse), intent(in) :: matrix
    character(*), intent(in), optional :: name
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_sparse_duplicate(self%own%at, matrix%own%at, name_text(name)), stat, errmsg)
  end subroutine sparse_duplicate

  !> Collective. The transpose of `matrix`, not conjugated. Rows are cut as a builder's.
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

  !> Collective. A count sketch of `matrix`: its rows, or its columns where of_columns is true, are
  !> summed into so many buckets, with signs, both by hashes of the seed. Rows are cut as a
  !> builder's. The same bits for any number of ranks.
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

  !> Collective.
  subroutine sparse_free(self, stat, errmsg)
    class(tessera_sparse), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call self%own%free(stat, errmsg)
  end subroutine sparse_free

  !> Local. The handle of fortran/c_api.h, for C and C++, whose rows and columns are the same ones
  !> but count from 0; it stays this variable's.
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

  !> Local. Its rows, columns, and the entries of all members, in integers of any kind.
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

  !> Local. The name that it was made with.
  function sparse_name(self, stat, errmsg) result(text)
    class(tessera_sparse), intent(in) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    character(:), allocatable :: text
    text = text_from(self%own, kind_sparse, "name", c_sparse_name, stat, errmsg)
  end function sparse_name

  !> Local. The team that it is spread over.
  subroutine sparse_team(self, team, stat, errmsg)
    class(tessera_sparse), intent(in) :: self
    type(tessera_team), intent(inout) :: team
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_sparse_team(self%own%at, team%own%at), stat, errmsg)
  end subroutine sparse_team

  !> Local. Where its rows lie: for vectors y that are to lie beside them.
  subroutine sparse_row_distribution(self, distribution, stat, errmsg)
    class(tessera_sparse), intent(in) :: self
    type(tessera_distribution), intent(inout) :: distribution
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_sparse_distribution(self%own%at, 0_c_int, distribution%own%at), stat, errmsg)
  end subroutine sparse_row_distribution

  !> Local. An even cut of its columns, a block for each member: for vectors x.
  subroutine sparse_column_distribution(self, distribution, stat, errmsg)
    class(tessera_sparse), intent(in) :: self
    type(tessera_distribution), intent(inout) :: distribution
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_sparse_distribution(self%own%at, 1_c_int, distribution%own%at), stat, errmsg)
  end subroutine sparse_column_distribution

  !> Local. The blocks of that cut, by their members, in which own rows have entries; ascending.
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

  !> Collective. What its pattern looks like; the same on all members.
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

  !> One-sided. The entries of rows lo(1) to hi(1) and columns lo(2) to hi(2), compressed, with rows
  !> and columns that count from 1 at lo: row_starts has a number more than there are rows; columns
  !> and values have room for as many entries as there are, or, if `entries` is given, for the first
  !> of them: it tells how many there are. What others changed is here if it was synchronised.
  !> Errors: out_of_range, invalid_argument (too little room). Cost: all entries of the rows are
  !> read.
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

  !> Collective. What members did to values before is seen by all after it.
  subroutine sparse_sync(self, stat, errmsg)
    class(tessera_sparse), intent(in) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call act(self%own, kind_sparse, "sync", c_sparse_sync, stat, errmsg)
  end subroutine sparse_sync

  !> Collective. dense = matrix, with zeros where it has no entries. Cost: a transposed copy for
  !> the time of the call.
  subroutine sparse_to_dense(self, dense, stat, errmsg)
    class(tessera_sparse), intent(in) :: self
    type(tessera_array), intent(in) :: dense
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_sparse_to_dense(self%own%at, dense%own%at), stat, errmsg)
  end subroutine sparse_to_dense

  !> Collective. c = matrix b, of dense matrices b and c. Cost: the same.
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

  !> Collective. All entries times a factor.
  subroutine sparse_scale(self, factor, stat, errmsg)
    class(tessera_sparse), intent(in) :: self
    type(*), dimension(..), intent(in) :: factor
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_sparse_number(self%own%at, 0_c_int, factor), stat, errmsg)
  end subroutine sparse_scale

  !> Collective. matrix(i, i) grows by `shift`. Errors: also invalid_argument for one that is no
  !> entry.
  subroutine sparse_shift_diagonal(self, shift, stat, errmsg)
    class(tessera_sparse), intent(in) :: self
    type(*), dimension(..), intent(in) :: shift
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_sparse_number(self%own%at, 1_c_int, shift), stat, errmsg)
  end subroutine sparse_shift_diagonal

  !> Collective. v(i) = matrix(i, i), 0 where there is no entry.
  subroutine sparse_get_diagonal(self, v, stat, errmsg)
    class(tessera_sparse), intent(in) :: self
    type(tessera_array), intent(in) :: v
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_sparse_vector(self%own%at, 0_c_int, v%own%at), stat, errmsg)
  end subroutine sparse_get_diagonal

  !> Collective. v(i) = matrix(i, column), 0 where there is no entry. Errors, on all members:
  !> out_of_range.
  subroutine sparse_get_column(self, column, v, stat, errmsg)
    class(tessera_sparse), intent(in) :: self
    type(*), dimension(..), intent(in) :: column
    type(tessera_array), intent(in) :: v
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_sparse_get_column(self%own%at, column, v%own%at), stat, errmsg)
  end subroutine sparse_get_column

  !> Collective. The entries of row i times v(i).
  subroutine sparse_scale_rows(self, v, stat, errmsg)
    class(tessera_sparse), intent(in) :: self
    type(tessera_array), intent(in) :: v
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_sparse_vector(self%own%at, 1_c_int, v%own%at), stat, errmsg)
  end subroutine sparse_scale_rows

  !> Collective. The entries of column j times v(j).
  subroutine sparse_scale_columns(self, v, stat, errmsg)
    class(tessera_sparse), intent(in) :: self
    type(tessera_array), intent(in) :: v
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_sparse_vector(self%own%at, 2_c_int, v%own%at), stat, errmsg)
  end subroutine sparse_scale_columns

  !> An optional argument as C has it.
  pure function chosen_balance(given) result(balance)
    integer, intent(in), optional :: given
    integer(c_int) :: balance
    balance = tessera_balance_rows
    if (present(given)) balance = c_number(given)
  end function chosen_balance

end module tessera_sparse_matrices
