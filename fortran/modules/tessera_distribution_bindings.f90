! SPDX-License-Identifier: BSD-3-Clause
!
! Internal. The C and C++ functions that implement tessera_distributions, and the structures shared
! with them.
module tessera_distribution_bindings
  use, intrinsic :: iso_c_binding
  implicit none
  public

  !> The largest number of dimensions of an array.
  integer, parameter :: tessera_max_dims = 8

  !> The part of a box that lies in one block: only the first `ndims` numbers of each list are used.
  type, bind(c) :: tessera_patch
    integer(c_int64_t) :: owner = 0   !< the member of the team that owns it
    integer(c_int64_t) :: offset = 0  !< of its first element in the owner's memory, in elements
    integer(c_int64_t) :: ndims = 0
    integer(c_int64_t) :: lo(tessera_max_dims) = 0
    integer(c_int64_t) :: hi(tessera_max_dims) = 0
    integer(c_int64_t) :: strides(tessera_max_dims) = 0  !< in the owner's memory, in elements
  end type tessera_patch

  interface
    function f_distribution_create(place, job, way, nranks, extents, block, counts, starts, &
        grid, holders, min_block, process_grid, ghosts, ranks_per_node, order, storage) &
        bind(c, name="tessera_f_distribution_create") result(code)
      import
      type(c_ptr), intent(inout) :: place
      type(c_ptr), value :: job
      integer(c_int), value :: way
      integer(c_int64_t), value :: nranks
      type(*), dimension(..), intent(in) :: extents
      type(*), dimension(..), intent(in), optional :: block, counts, starts, grid, holders, &
          min_block, process_grid, ghosts
      integer(c_int64_t), value :: ranks_per_node
      integer(c_int), value :: order, storage
      integer(c_int) :: code
    end function
    function f_distribution_shape(called, distribution, ndims, extents, nranks) &
        bind(c, name="tessera_f_distribution_shape") result(code)
      import
      character(kind=c_char), intent(in) :: called(*)
      type(c_ptr), value :: distribution
      integer(c_int64_t), intent(inout) :: ndims
      integer(c_int64_t), intent(inout) :: extents(*)
      integer(c_int64_t), intent(inout) :: nranks
      integer(c_int) :: code
    end function
    function f_distribution_grid(called, distribution, block_map, ndims, blocks, grid) &
        bind(c, name="tessera_f_distribution_grid") result(code)
      import
      character(kind=c_char), intent(in) :: called(*)
      type(c_ptr), value :: distribution
      integer(c_int), intent(inout) :: block_map
      integer(c_int64_t), intent(inout) :: ndims
      integer(c_int64_t), intent(inout) :: blocks(*), grid(*)
      integer(c_int) :: code
    end function
    function f_distribution_coordinates(distribution, member, ndims, coordinates) &
        bind(c, name="tessera_f_distribution_coordinates") result(code)
      import
      type(c_ptr), value :: distribution
      integer(c_int64_t), value :: member
      integer(c_int64_t), intent(inout) :: ndims
      integer(c_int64_t), intent(inout) :: coordinates(*)
      integer(c_int) :: code
    end function
    function f_distribution_locate(distribution, index, owner, offset) &
        bind(c, name="tessera_f_distribution_locate") result(code)
      import
      type(c_ptr), value :: distribution
      type(*), dimension(..), intent(in) :: index
      integer(c_int64_t), intent(inout) :: owner
      type(*), dimension(..), intent(inout), optional :: offset
      integer(c_int) :: code
    end function
    function c_distribution_block_count(distribution, member, count) &
        bind(c, name="tessera_distribution_block_count") result(code)
      import
      type(c_ptr), value :: distribution
      integer(c_int64_t), value :: member
      integer(c_int64_t), intent(inout) :: count
      integer(c_int) :: code
    end function
    function c_distribution_local_elements(distribution, member, elements) &
        bind(c, name="tessera_distribution_local_elements") result(code)
      import
      type(c_ptr), value :: distribution
      integer(c_int64_t), value :: member
      integer(c_int64_t), intent(inout) :: elements
      integer(c_int) :: code
    end function
    function f_distribution_block(distribution, member, number, patch) &
        bind(c, name="tessera_f_distribution_block") result(code)
      import
      type(c_ptr), value :: distribution
      integer(c_int64_t), value :: member, number
      type(tessera_patch), intent(inout) :: patch
      integer(c_int) :: code
    end function
    function c_distribution_compare(a, b, same) &
        bind(c, name="tessera_distribution_compare") result(code)
      import
      type(c_ptr), value :: a, b
      integer(c_int), intent(inout) :: same
      integer(c_int) :: code
    end function
    function c_distribution_describe(distribution, text, capacity, length) &
        bind(c, name="tessera_distribution_describe") result(code)
      import
      type(c_ptr), value :: distribution
      character(kind=c_char), intent(inout) :: text(*)
      integer(c_int64_t), value :: capacity
      integer(c_int64_t), intent(inout) :: length
      integer(c_int) :: code
    end function
    function c_distribution_print(distribution, most_lines, text, capacity, length) &
        bind(c, name="tessera_distribution_print") result(code)
      import
      type(c_ptr), value :: distribution
      integer(c_int64_t), value :: most_lines
      character(kind=c_char), intent(inout) :: text(*)
      integer(c_int64_t), value :: capacity
      integer(c_int64_t), intent(inout) :: length
      integer(c_int) :: code
    end function
  end interface

end module tessera_distribution_bindings
