! SPDX-License-Identifier: BSD-3-Clause
!
! Products of sparse matrices with vectors, planned once for many products; see
! tessera_sparse_matrices.
!
!     type(tessera_spmv) :: plan
!     call plan%create(a, x, y)
!     call plan%multiply(a, x, y)      ! y = A x, as often as needed
module tessera_sparse_products
  use, intrinsic :: iso_c_binding
  use tessera_arrays
  use tessera_errors
  use tessera_sparse_bindings
  use tessera_sparse_matrices
  implicit none
  private
  public :: tessera_spmv

  !> How a product gets elements of x from other nodes. Push: their owners put them, by lists that
  !> are sent when the plan is made. The others read them: plain with a non-blocking get for each
  !> run of consecutive elements, vector with one list for each owner, aggregate with an aggregate
  !> for each owner, single, for comparison, with a blocking get for each element.
  integer, parameter, public :: tessera_spmv_plain = 0, tessera_spmv_vector = 1, &
      tessera_spmv_aggregate = 2, tessera_spmv_single = 3, tessera_spmv_push = 4

  !> A plan for products with vectors.
  type :: tessera_spmv
    type(owned_cell) :: own  ! for the library only
  contains
    procedure :: create => spmv_create
    procedure :: multiply => spmv_multiply
    procedure :: multiply_transposed => spmv_multiply_transposed
    procedure :: reads => spmv_reads
    procedure :: free => spmv_free
    procedure :: c_handle => spmv_c_handle
  end type tessera_spmv

contains

  !> Collective. Makes a plan for products of the matrix, and of its duplicates, with vectors
  !> distributed as x and y; the contents of x and y are not used. Free plans before their matrices.
  !> With `neighbours_only` a product synchronises only neighbours. Own elements of x must be set
  !> before it and not change until the next collective operation of all ranks. Until then other
  !> ranks' elements of y may be incomplete. `mode` is by default tessera_spmv_push. With
  !> `through_network` ranks on this node are also reached through the network. With `wide_indices`
  !> column numbers always take 8 bytes, also if 4 would do.
  subroutine spmv_create(self, matrix, x, y, neighbours_only, mode, through_network, &
      wide_indices, stat, errmsg)
    class(tessera_spmv), intent(inout) :: self
    type(tessera_sparse), intent(in) :: matrix
    type(tessera_array), intent(in) :: x, y
    logical, intent(in), optional :: neighbours_only
    integer, intent(in), optional :: mode
    logical, intent(in), optional :: through_network, wide_indices
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_spmv_options) :: options
    if (present(mode)) options%mode = c_number(mode)
    options%through_network = flag(through_network)
    options%wide_indices = flag(wide_indices)
    options%neighbours_only = flag(neighbours_only)
    call finish(f_spmv_create(self%own%at, matrix%own%at, x%own%at, y%own%at, options), stat, &
        errmsg)
  end subroutine spmv_create

  !> Collective. y = matrix x, with the same bits for any number of ranks.
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

  !> Local. The number of elements of x that a product reads from other ranks, the number of those
  !> that it loads from shared memory, and the number of own rows that need none; in integers of any
  !> kind.
  subroutine spmv_reads(self, from_others, shared, rows_without, stat, errmsg)
    class(tessera_spmv), intent(in) :: self
    type(*), dimension(..), intent(inout), optional :: from_others, shared, rows_without
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_spmv_reads(self%own%at, from_others, shared, rows_without), stat, errmsg)
  end subroutine spmv_reads

  !> Collective. Frees the plan.
  subroutine spmv_free(self, stat, errmsg)
    class(tessera_spmv), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call self%own%free(stat, errmsg)
  end subroutine spmv_free

  !> Local. The handle of tessera/tessera.h; the variable keeps ownership.
  function spmv_c_handle(self, stat, errmsg) result(handle)
    class(tessera_spmv), intent(in) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: handle
    handle = handle_of(self%own, kind_spmv, "c_handle", stat, errmsg)
  end function spmv_c_handle

end module tessera_sparse_products
