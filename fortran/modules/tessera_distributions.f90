! SPDX-License-Identifier: BSD-3-Clause
!
! Distributions: which member of a team has which elements of an array; see tessera.f90.
module tessera_distributions
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int64
  use tessera_distribution_bindings
  use tessera_errors
  use tessera_jobs
  implicit none
  private
  public :: tessera_distribution, tessera_patch, tessera_max_dims

  !> The order of each member's memory: the first dimension is the fastest, or the last.
  integer, parameter, public :: tessera_column_major = 0, tessera_row_major = 1

  !> How a member stores several blocks: each contiguous, or all as one dense matrix.
  integer, parameter, public :: tessera_block_by_block = 0, tessera_local_matrix = 1

  !> How blocks are assigned to members: at most one block for each member; cyclically, by a grid of
  !> members; round robin; or by a table, as in restricted distributions.
  integer, parameter, public :: tessera_block_map_grid = 0, tessera_block_map_cyclic_grid = 1, &
      tessera_block_map_round_robin = 2, tessera_block_map_table = 3

  !> Kinds of distributions, with the numbers of C++.
  integer(c_int), parameter :: distribution_regular = 0, distribution_irregular = 1, distribution_block_cyclic = 2, &
      distribution_tiled = 3, distribution_tiled_irregular = 4, distribution_scalapack = 5, distribution_restricted = 6

  !> Which elements of an array are where.
  type :: tessera_distribution
    type(owned_cell) :: own  ! for the library only
  contains
    procedure :: create_regular
    procedure :: create_irregular
    procedure :: create_block_cyclic
    procedure :: create_tiled
    procedure :: create_tiled_irregular
    procedure :: create_scalapack
    procedure :: create_restricted
    procedure :: free => free_distribution
    procedure :: c_handle => distribution_c_handle
    procedure :: extents => extents_of
    procedure :: nranks => nranks_of
    procedure :: locate
    procedure :: block_count
    procedure :: local_elements
    procedure :: block_map => block_map_of
    procedure :: blocks => blocks_of
    procedure :: process_grid => process_grid_of
    procedure :: coordinates
    procedure :: block => block_of
    procedure :: is_same
    procedure :: describe
    procedure :: table
  end type tessera_distribution

contains

  !> Local, as the procedures below: every member makes the same distribution. One block for each of
  !> `nranks` members, as even as possible. Errors: invalid_argument, with the argument that does
  !> not fit.
  subroutine create_regular(self, job, nranks, extents, min_block, process_grid, ghosts, &
      ranks_per_node, order, stat, errmsg)
    class(tessera_distribution), intent(inout) :: self
    type(tessera_job), intent(in) :: job
    integer, intent(in) :: nranks
    type(*), dimension(..), intent(in) :: extents
    type(*), dimension(..), intent(in), optional :: min_block, process_grid, ghosts
    integer, intent(in), optional :: ranks_per_node, order
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_distribution_create(self%own%at, job%own%at, distribution_regular, int(nranks, &
        c_int64_t), extents, min_block=min_block, process_grid=process_grid, ghosts=ghosts, &
        ranks_per_node=int(chosen(ranks_per_node, 0), c_int64_t), order=int(chosen(order, &
        tessera_column_major), c_int), storage=0_c_int), stat, errmsg)
  end subroutine create_regular

  !> One block for each member. Dimension d is cut into counts(d) blocks. `starts` lists the first
  !> index of each block: all blocks of dimension 1, then all of dimension 2, and so on; the first
  !> of each dimension is 1.
  subroutine create_irregular(self, job, nranks, extents, counts, starts, ghosts, order, stat, &
      errmsg)
    class(tessera_distribution), intent(inout) :: self
    type(tessera_job), intent(in) :: job
    integer, intent(in) :: nranks
    type(*), dimension(..), intent(in) :: extents, counts, starts
    type(*), dimension(..), intent(in), optional :: ghosts
    integer, intent(in), optional :: order
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_distribution_create(self%own%at, job%own%at, distribution_irregular, int(nranks, &
        c_int64_t), extents, counts=counts, starts=starts, ghosts=ghosts, &
        ranks_per_node=0_c_int64_t, order=c_number(chosen(order, tessera_column_major)), &
        storage=0_c_int), stat, errmsg)
  end subroutine create_irregular

  !> Blocks of `block` elements along each dimension, assigned to members round robin.
  subroutine create_block_cyclic(self, job, nranks, extents, block, ghosts, order, storage, &
      stat, errmsg)
    class(tessera_distribution), intent(inout) :: self
    type(tessera_job), intent(in) :: job
    integer, intent(in) :: nranks
    type(*), dimension(..), intent(in) :: extents, block
    type(*), dimension(..), intent(in), optional :: ghosts
    integer, intent(in), optional :: order, storage
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_distribution_create(self%own%at, job%own%at, distribution_block_cyclic, int(nranks, &
        c_int64_t), extents, block=block, ghosts=ghosts, ranks_per_node=0_c_int64_t, &
        order=c_number(chosen(order, tessera_column_major)), &
        storage=c_number(chosen(storage, tessera_block_by_block))), stat, errmsg)
  end subroutine create_block_cyclic

  !> Tiles, assigned cyclically in each dimension to a grid of members; members are numbered along
  !> the grid's first dimension first.
  subroutine create_tiled(self, job, nranks, extents, block, grid, ghosts, order, storage, stat, &
      errmsg)
    class(tessera_distribution), intent(inout) :: self
    type(tessera_job), intent(in) :: job
    integer, intent(in) :: nranks
    type(*), dimension(..), intent(in) :: extents, block, grid
    type(*), dimension(..), intent(in), optional :: ghosts
    integer, intent(in), optional :: order, storage
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_distribution_create(self%own%at, job%own%at, distribution_tiled, int(nranks, &
        c_int64_t), extents, block=block, grid=grid, ghosts=ghosts, ranks_per_node=0_c_int64_t, &
        order=c_number(chosen(order, tessera_column_major)), &
        storage=c_number(chosen(storage, tessera_block_by_block))), stat, errmsg)
  end subroutine create_tiled

  !> The same with tiles that begin at `starts`, as for irregular distributions.
  subroutine create_tiled_irregular(self, job, nranks, extents, counts, starts, grid, ghosts, &
      order, storage, stat, errmsg)
    class(tessera_distribution), intent(inout) :: self
    type(tessera_job), intent(in) :: job
    integer, intent(in) :: nranks
    type(*), dimension(..), intent(in) :: extents, counts, starts, grid
    type(*), dimension(..), intent(in), optional :: ghosts
    integer, intent(in), optional :: order, storage
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_distribution_create(self%own%at, job%own%at, distribution_tiled_irregular, int(nranks, &
        c_int64_t), extents, counts=counts, starts=starts, grid=grid, ghosts=ghosts, &
        ranks_per_node=0_c_int64_t, order=c_number(chosen(order, tessera_column_major)), &
        storage=c_number(chosen(storage, tessera_block_by_block))), stat, errmsg)
  end subroutine create_tiled_irregular

  !> ScaLAPACK's distribution: blocks on a cyclic grid, and each member's blocks as one dense matrix
  !> in Fortran's order.
  subroutine create_scalapack(self, job, nranks, extents, block, grid, stat, errmsg)
    class(tessera_distribution), intent(inout) :: self
    type(tessera_job), intent(in) :: job
    integer, intent(in) :: nranks
    type(*), dimension(..), intent(in) :: extents, block, grid
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_distribution_create(self%own%at, job%own%at, distribution_scalapack, int(nranks, &
        c_int64_t), extents, block=block, grid=grid, ranks_per_node=0_c_int64_t, order=0_c_int, &
        storage=0_c_int), stat, errmsg)
  end subroutine create_scalapack

  !> One block for each of the members in `holders`; the others own nothing.
  subroutine create_restricted(self, job, nranks, extents, holders, min_block, process_grid, &
      ghosts, ranks_per_node, order, stat, errmsg)
    class(tessera_distribution), intent(inout) :: self
    type(tessera_job), intent(in) :: job
    integer, intent(in) :: nranks
    type(*), dimension(..), intent(in) :: extents, holders
    type(*), dimension(..), intent(in), optional :: min_block, process_grid, ghosts
    integer, intent(in), optional :: ranks_per_node, order
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_distribution_create(self%own%at, job%own%at, distribution_restricted, int(nranks, &
        c_int64_t), extents, holders=holders, min_block=min_block, process_grid=process_grid, &
        ghosts=ghosts, ranks_per_node=int(chosen(ranks_per_node, 0), c_int64_t), &
        order=c_number(chosen(order, tessera_column_major)), storage=0_c_int), stat, errmsg)
  end subroutine create_restricted

  !> Local. Arrays with this distribution stay valid.
  subroutine free_distribution(self, stat, errmsg)
    class(tessera_distribution), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call self%own%free(stat, errmsg)
  end subroutine free_distribution

  !> Local. The handle of tessera/tessera.h, for C and C++, with the dimensions in reverse order; the
  !> variable keeps ownership.
  function distribution_c_handle(self, stat, errmsg) result(handle)
    class(tessera_distribution), intent(in) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: handle
    handle = handle_of(self%own, kind_distribution, "c_handle", stat, errmsg)
  end function distribution_c_handle

  !> Local. The extents, one for each dimension.
  function extents_of(self, stat, errmsg) result(extents)
    class(tessera_distribution), intent(in) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(int64), allocatable :: extents(:)
    integer(c_int) :: code
    integer(c_int64_t) :: ndims, nranks, numbers(tessera_max_dims)
    code = f_distribution_shape("tessera_distribution%extents" // c_null_char, self%own%at, &
        ndims, numbers, nranks)
    if (code /= 0) ndims = 0
    extents = numbers(:ndims)
    call finish(code, stat, errmsg)
  end function extents_of

  !> Local. The number of members.
  function nranks_of(self, stat, errmsg) result(value)
    class(tessera_distribution), intent(in) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer :: value
    integer(c_int) :: code
    integer(c_int64_t) :: ndims, nranks, numbers(tessera_max_dims)
    numbers = 0
    nranks = 0
    code = f_distribution_shape("tessera_distribution%nranks" // c_null_char, self%own%at, &
        ndims, numbers, nranks)
    value = int(nranks)
    call finish(code, stat, errmsg)
  end function nranks_of

  !> Local. The owner of an element, and its offset in elements from the start of the owner's
  !> memory. Errors: out_of_range.
  subroutine locate(self, index, owner, offset, stat, errmsg)
    class(tessera_distribution), intent(in) :: self
    type(*), dimension(..), intent(in) :: index
    integer, intent(out) :: owner
    type(*), dimension(..), intent(inout), optional :: offset
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int) :: code
    integer(c_int64_t) :: member
    member = -1
    code = f_distribution_locate(self%own%at, index, member, offset)
    owner = int(member)
    call finish(code, stat, errmsg)
  end subroutine locate

  !> Local. The number of blocks of a member.
  function block_count(self, member, stat, errmsg) result(value)
    class(tessera_distribution), intent(in) :: self
    integer, intent(in) :: member
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer :: value
    type(c_ptr) :: handle
    integer(c_int) :: code
    integer(c_int64_t) :: number
    number = 0
    if (open_cell(self%own, kind_distribution, "block_count", handle, code)) &
        code = c_distribution_block_count(handle, int(member, c_int64_t), number)
    value = int(number)
    call finish(code, stat, errmsg)
  end function block_count

  !> Local. The number of elements of a member's memory, gaps included.
  function local_elements(self, member, stat, errmsg) result(value)
    class(tessera_distribution), intent(in) :: self
    integer, intent(in) :: member
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: value
    type(c_ptr) :: handle
    integer(c_int) :: code
    integer(c_int64_t) :: number
    number = 0
    if (open_cell(self%own, kind_distribution, "local_elements", handle, code)) &
        code = c_distribution_local_elements(handle, int(member, c_int64_t), number)
    value = number
    call finish(code, stat, errmsg)
  end function local_elements

  !> Local. How blocks are assigned to members: tessera_block_map_grid and so on.
  function block_map_of(self, stat, errmsg) result(value)
    class(tessera_distribution), intent(in) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer :: value
    integer(c_int) :: code, kind
    integer(c_int64_t) :: ndims, blocks(tessera_max_dims), grid(tessera_max_dims)
    kind = -1
    ndims = 0
    code = f_distribution_grid("tessera_distribution%block_map" // c_null_char, self%own%at, &
        kind, ndims, blocks, grid)
    value = int(kind)
    call finish(code, stat, errmsg)
  end function block_map_of

  !> Local. The number of blocks along each dimension.
  function blocks_of(self, stat, errmsg) result(blocks)
    class(tessera_distribution), intent(in) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(int64), allocatable :: blocks(:)
    integer(c_int) :: code, kind
    integer(c_int64_t) :: ndims, numbers(tessera_max_dims), grid(tessera_max_dims)
    ndims = 0
    code = f_distribution_grid("tessera_distribution%blocks" // c_null_char, self%own%at, &
        kind, ndims, numbers, grid)
    blocks = numbers(:ndims)
    call finish(code, stat, errmsg)
  end function blocks_of

  !> Local. The number of members along each dimension of their grid. If members have no grid of
  !> their own, it is the number of blocks.
  function process_grid_of(self, stat, errmsg) result(grid)
    class(tessera_distribution), intent(in) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(int64), allocatable :: grid(:)
    integer(c_int) :: code, kind
    integer(c_int64_t) :: ndims, blocks(tessera_max_dims), numbers(tessera_max_dims)
    ndims = 0
    code = f_distribution_grid("tessera_distribution%process_grid" // c_null_char, self%own%at, &
        kind, ndims, blocks, numbers)
    grid = numbers(:ndims)
    call finish(code, stat, errmsg)
  end function process_grid_of

  !> Local. A member's coordinates in the grid of members, counted from 0 as members are. Errors:
  !> unsupported (members have no grid), out_of_range (a member outside the grid).
  function coordinates(self, member, stat, errmsg) result(place)
    class(tessera_distribution), intent(in) :: self
    integer, intent(in) :: member
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(int64), allocatable :: place(:)
    integer(c_int) :: code
    integer(c_int64_t) :: ndims, numbers(tessera_max_dims)
    ndims = 0
    code = f_distribution_coordinates(self%own%at, int(member, c_int64_t), ndims, numbers)
    place = numbers(:ndims)
    call finish(code, stat, errmsg)
  end function coordinates

  !> Local. One of a member's blocks, counted from 1. Errors: out_of_range.
  subroutine block_of(self, member, number, patch, stat, errmsg)
    class(tessera_distribution), intent(in) :: self
    integer, intent(in) :: member, number
    type(tessera_patch), intent(out) :: patch
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_distribution_block(self%own%at, int(member, c_int64_t), int(number, &
        c_int64_t), patch), stat, errmsg)
  end subroutine block_of

  !> Local. Whether both give every element the same owner and offset.
  function is_same(self, other, stat, errmsg) result(value)
    class(tessera_distribution), intent(in) :: self
    type(tessera_distribution), intent(in) :: other
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    logical :: value
    type(c_ptr) :: handle, others
    integer(c_int) :: code, same
    same = 0
    if (open_cell(self%own, kind_distribution, "is_same", handle, code)) then
      if (open_cell(other%own, kind_distribution, "is_same", others, code)) &
          code = c_distribution_compare(handle, others, same)
    end if
    value = same /= 0
    call finish(code, stat, errmsg)
  end function is_same

  !> Local. One readable line, with dimensions in the order of C.
  function describe(self, stat, errmsg) result(text)
    class(tessera_distribution), intent(in) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    character(:), allocatable :: text
    text = text_from(self%own, kind_distribution, "describe", c_distribution_describe, stat, errmsg)
  end function describe

  !> Local. What each member owns, one line for each block, as one text in the terms of C:
  !> dimensions in its order, indices from 0.
  function table(self, most_lines, stat, errmsg) result(text)
    class(tessera_distribution), intent(in) :: self
    integer, intent(in), optional :: most_lines
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    character(:), allocatable :: text
    type(c_ptr) :: handle
    integer(c_int) :: code
    integer(c_int64_t) :: length
    character(kind=c_char) :: nothing(1)
    character(kind=c_char), allocatable :: characters(:)
    text = ""
    if (open_cell(self%own, kind_distribution, "table", handle, code)) then
      code = c_distribution_print(handle, lines(), nothing, 0_c_int64_t, length)
      if (code == 0) then
        allocate (characters(length + 1))
        code = c_distribution_print(handle, lines(), characters, length + 1, length)
        if (code == 0) text = text_of(characters)
      end if
    end if
    call finish(code, stat, errmsg)
  contains
    function lines() result(number)
      integer(c_int64_t) :: number
      number = chosen(most_lines, 1000)
    end function lines
  end function table

  !> An optional number, or its default.
  pure function chosen(given, otherwise) result(number)
    integer, intent(in), optional :: given
    integer, intent(in) :: otherwise
    integer :: number
    number = otherwise
    if (present(given)) number = given
  end function chosen
end module tessera_distributions
