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
! Rows and columns count from 1. Elements are of int32, int64 or any real or complex type; vectors
! and dense matrices are arrays of that type, on the matrix's team. What is collective is so over
! that team, begins and ends with a synchronisation, and needs the same on all members. Errors of
! all: closed; invalid_argument (types, shapes or teams that don't fit) and out_of_range, before
! anything is changed; no_memory, peer_lost.
module tessera_sparse_matrices
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use tessera_arrays
  use tessera_errors
  use tessera_jobs
  implicit none
  private
  public :: tessera_sparse_builder, tessera_sparse, tessera_spmv

  integer(c_int), parameter :: kind_sparse = 9

  !> Entries on their way into a matrix.
  type :: tessera_sparse_builder
    type(owned_cell) :: own  ! not for programs
    integer(int64) :: extents(2) = 0  ! nor these
    integer(int64) :: element = 0
  contains
    procedure :: create => builder_create
    procedure :: add => builder_add
    procedure :: assemble => builder_assemble
    procedure :: free => builder_free
  end type tessera_sparse_builder

  !> A sparse matrix.
  type :: tessera_sparse
    type(owned_cell) :: own  ! not for programs
  contains
    procedure :: from_dense => sparse_from_dense
    procedure :: transpose => sparse_transpose
    procedure :: multiply => sparse_multiply
    procedure :: free => sparse_free
    procedure :: shape => sparse_shape
    procedure :: describe => sparse_describe
    procedure :: to_dense => sparse_to_dense
    procedure :: multiply_dense => sparse_multiply_dense
    procedure :: scale => sparse_scale
    procedure :: scale_rows => sparse_scale_rows
    procedure :: scale_columns => sparse_scale_columns
    procedure :: get_diagonal => sparse_get_diagonal
    procedure :: shift_diagonal => sparse_shift_diagonal
  end type tessera_sparse

  !> A plan of products with vectors.
  type :: tessera_spmv
    type(owned_cell) :: own  ! not for programs
  contains
    procedure :: create => spmv_create
    procedure :: multiply => spmv_multiply
    procedure :: multiply_transposed => spmv_multiply_transposed
    procedure :: free => spmv_free
  end type tessera_spmv

  interface
    function f_builder_create(place, job, element, rows, columns, name, team) &
        bind(c, name="tessera_f_sparse_builder_create") result(code)
      import
      type(c_ptr), intent(inout) :: place
      type(c_ptr), value :: job
      integer(c_int64_t), value :: element, rows, columns
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), value :: team
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
    function f_builder_assemble(builder, place) &
        bind(c, name="tessera_f_sparse_builder_assemble") result(code)
      import
      type(c_ptr), value :: builder
      type(c_ptr), intent(inout) :: place
      integer(c_int) :: code
    end function
    function f_sparse_from_dense(place, dense, threshold) &
        bind(c, name="tessera_f_sparse_from_dense") result(code)
      import
      type(c_ptr), intent(inout) :: place
      type(c_ptr), value :: dense
      real(c_double), value :: threshold
      integer(c_int) :: code
    end function
    function f_sparse_transpose(place, of) bind(c, name="tessera_f_sparse_transpose") result(code)
      import
      type(c_ptr), intent(inout) :: place
      type(c_ptr), value :: of
      integer(c_int) :: code
    end function
    function f_sparse_multiply(place, a, b) bind(c, name="tessera_f_sparse_multiply") result(code)
      import
      type(c_ptr), intent(inout) :: place
      type(c_ptr), value :: a, b
      integer(c_int) :: code
    end function
    function f_sparse_to_dense(matrix, dense) bind(c, name="tessera_f_sparse_to_dense") result(code)
      import
      type(c_ptr), value :: matrix, dense
      integer(c_int) :: code
    end function
    function f_sparse_multiply_dense(matrix, b, c) &
        bind(c, name="tessera_f_sparse_multiply_dense") result(code)
      import
      type(c_ptr), value :: matrix, b, c
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
    function c_sparse_shape(matrix, rows, columns, entries) &
        bind(c, name="tessera_sparse_shape") result(code)
      import
      type(c_ptr), value :: matrix
      integer(c_int64_t), intent(inout) :: rows, columns, entries
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
    function f_spmv_create(place, matrix, x, y, neighbours_only) &
        bind(c, name="tessera_f_spmv_create") result(code)
      import
      type(c_ptr), intent(inout) :: place
      type(c_ptr), value :: matrix, x, y
      integer(c_int), value :: neighbours_only
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
  end interface

contains

  !> Collective over the team, all ranks unless given.
  subroutine builder_create(self, job, element, rows, columns, name, team, stat, errmsg)
    class(tessera_sparse_builder), intent(inout) :: self
    type(tessera_job), intent(in) :: job
    integer(int64), intent(in) :: element
    integer, intent(in) :: rows, columns
    character(*), intent(in), optional :: name
    type(tessera_team), intent(in), optional :: team
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: members
    character(:), allocatable :: text
    members = c_null_ptr
    if (present(team)) members = team%own%at
    text = "unnamed"
    if (present(name)) text = name
    self%extents = [rows, columns]
    self%element = element
    call finish(f_builder_create(self%own%at, job%own%at, element, self%extents(1), &
        self%extents(2), c_text(text), members), stat, errmsg)
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

  !> Collective over the array's team. The elements with an absolute value above `threshold`.
  subroutine sparse_from_dense(self, dense, threshold, stat, errmsg)
    class(tessera_sparse), intent(inout) :: self
    type(tessera_array), intent(in) :: dense
    real(real64), intent(in) :: threshold
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_sparse_from_dense(self%own%at, dense%own%at, threshold), stat, errmsg)
  end subroutine sparse_from_dense

  !> Collective. The transpose of `matrix`, not conjugated.
  subroutine sparse_transpose(self, matrix, stat, errmsg)
    class(tessera_sparse), intent(inout) :: self
    type(tessera_sparse), intent(in) :: matrix
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_sparse_transpose(self%own%at, matrix%own%at), stat, errmsg)
  end subroutine sparse_transpose

  !> Collective. The product of two sparse matrices.
  subroutine sparse_multiply(self, a, b, stat, errmsg)
    class(tessera_sparse), intent(inout) :: self
    type(tessera_sparse), intent(in) :: a, b
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_sparse_multiply(self%own%at, a%own%at, b%own%at), stat, errmsg)
  end subroutine sparse_multiply

  !> Collective.
  subroutine sparse_free(self, stat, errmsg)
    class(tessera_sparse), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call self%own%free(stat, errmsg)
  end subroutine sparse_free

  !> Local. Its rows, columns, and the entries of all members.
  subroutine sparse_shape(self, rows, columns, entries, stat, errmsg)
    class(tessera_sparse), intent(in) :: self
    integer(int64), intent(out) :: rows, columns, entries
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: handle
    integer(c_int) :: code
    rows = 0
    columns = 0
    entries = 0
    if (open_cell(self%own, kind_sparse, handle, code)) code = c_sparse_shape(handle, rows, &
        columns, entries)
    call finish(code, stat, errmsg)
  end subroutine sparse_shape

  !> Local. "sparse matrix 'A' (float64, 100 x 100, 298 entries)".
  function sparse_describe(self, stat, errmsg) result(text)
    class(tessera_sparse), intent(in) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    character(:), allocatable :: text
    type(c_ptr) :: handle
    integer(c_int) :: code
    integer(c_int64_t) :: length
    character(kind=c_char) :: characters(1024)
    characters = c_null_char
    if (open_cell(self%own, kind_sparse, handle, code)) &
        code = c_sparse_describe(handle, characters, size(characters, kind=c_int64_t), length)
    text = text_of(characters)
    call finish(code, stat, errmsg)
  end function sparse_describe

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
    call finish(f_sparse_multiply_dense(self%own%at, b%own%at, c%own%at), stat, errmsg)
  end subroutine sparse_multiply_dense

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

  !> Collective. A plan for products of the matrix with vectors distributed as x and y, whose
  !> contents don't count. Plans end before their matrices. With `neighbours_only` only
  !> neighbours meet in a product: own elements of x must be there, and until the ranks have met
  !> again, in any collective operation, they must not be changed, and other ranks' elements of y may
  !> not be there yet.
  subroutine spmv_create(self, matrix, x, y, neighbours_only, stat, errmsg)
    class(tessera_spmv), intent(inout) :: self
    type(tessera_sparse), intent(in) :: matrix
    type(tessera_array), intent(in) :: x, y
    logical, intent(in), optional :: neighbours_only
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_spmv_create(self%own%at, matrix%own%at, x%own%at, y%own%at, &
                              flag(neighbours_only)), stat, errmsg)
  end subroutine spmv_create

  !> Collective. y = matrix x, the same bits for any number of ranks.
  subroutine spmv_multiply(self, matrix, x, y, stat, errmsg)
    class(tessera_spmv), intent(in) :: self
    type(tessera_sparse), intent(in) :: matrix
    type(tessera_array), intent(in) :: x, y
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_spmv_multiply(self%own%at, 0_c_int, matrix%own%at, x%own%at, y%own%at), stat, &
        errmsg)
  end subroutine spmv_multiply

  !> Collective. x = transposed matrix y.
  subroutine spmv_multiply_transposed(self, matrix, y, x, stat, errmsg)
    class(tessera_spmv), intent(in) :: self
    type(tessera_sparse), intent(in) :: matrix
    type(tessera_array), intent(in) :: y, x
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_spmv_multiply(self%own%at, 1_c_int, matrix%own%at, y%own%at, x%own%at), stat, &
        errmsg)
  end subroutine spmv_multiply_transposed

  !> Collective.
  subroutine spmv_free(self, stat, errmsg)
    class(tessera_spmv), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call self%own%free(stat, errmsg)
  end subroutine spmv_free

end module tessera_sparse_matrices
