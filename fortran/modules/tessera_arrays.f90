! SPDX-License-Identifier: BSD-3-Clause
!
! Arrays: making and querying them; see tessera.f90. Access to their elements is in
! tessera_element_access.
module tessera_arrays
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int64
  use tessera_array_bindings
  use tessera_distributions
  use tessera_errors
  use tessera_jobs
  use tessera_parts
  use tessera_element_access
  implicit none
  private
  public :: tessera_array, tessera_element_like
  public :: memory_options, name_text, team_cell  ! for modules that make similar objects

  !> Types of elements. Unsigned integers, which Fortran does not have, are accessed as integers of
  !> the same size. A negative number -n means elements of n bytes that are only moved.
  integer(int64), parameter, public :: tessera_int32 = 0, tessera_int64 = 1, tessera_real32 = 2, &
      tessera_real64 = 3, tessera_complex32 = 4, tessera_complex64 = 5, tessera_int8 = 6, &
      tessera_int16 = 7, tessera_uint8 = 8, tessera_uint16 = 9, tessera_uint32 = 10, &
      tessera_uint64 = 11

  !> Which accumulates and atomic operations on the same words are atomic: only against their own
  !> kind, or all against all, or by the network's device if it can.
  integer, parameter, public :: tessera_atomics_separate = 0, tessera_atomics_strict = 1, &
      tessera_atomics_device = 2

  !> Elements spread over a team. The variable in which it was made frees it.
  type, extends(tessera_reachable) :: tessera_array
  contains
    procedure :: create => array_create
    procedure :: create_distributed => array_create_distributed
    procedure :: attach => array_attach
    procedure :: overlay => array_overlay
    procedure :: duplicate => array_duplicate
    procedure :: free => array_free
    procedure :: c_handle => array_c_handle
    procedure :: from_c_handle => array_from_c_handle
    procedure :: ndims => array_ndims
    procedure :: extents => array_extents
    procedure :: element => array_element
    procedure :: describe => array_describe
    procedure :: name => array_name
    procedure :: distribution => array_distribution
    procedure :: team => array_team
    procedure :: own_box => array_own_box
    procedure :: owner => array_owner
    procedure :: patches => array_patches
    procedure :: count_bins => array_count_bins
    procedure :: bin_offsets => array_bin_offsets
    procedure :: add_to_bins => array_add_to_bins
    procedure :: sort_bins => array_sort_bins
    procedure :: part => array_part
  end type tessera_array

contains

  !> Collective over the team, all ranks unless given. Makes an array of zeros with `extents`
  !> elements of type `element` (tessera_real64 and so on), with one block for each member. Blocks
  !> are at least `min_block` long. `process_grid` gives the number of blocks of each dimension; 0
  !> lets the library choose. Each dimension has `ghosts` layers of ghost cells at both ends. Only
  !> the members in `holders` own elements. All members succeed, or none. Errors: invalid_argument,
  !> no_memory.
  subroutine array_create(self, job, element, extents, name, team, min_block, process_grid, &
      ghosts, holders, order, sparse, huge_pages, access_mode, atomics, stat, errmsg)
    class(tessera_array), intent(inout) :: self
    type(tessera_job), intent(in) :: job
    integer(int64), intent(in) :: element
    type(*), dimension(..), intent(in) :: extents
    character(*), intent(in), optional :: name
    type(tessera_team), intent(in), optional :: team
    type(*), dimension(..), intent(in), optional :: min_block, process_grid, ghosts, holders
    integer, intent(in), optional :: order
    logical, intent(in), optional :: sparse, huge_pages
    integer, intent(in), optional :: access_mode, atomics
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_array_create(self%own%at, job%own%at, element, extents, name_text(name), &
        team_cell(team), min_block, process_grid, ghosts, holders, memory_options(order, sparse, &
        huge_pages, access_mode, atomics)), stat, errmsg)
  end subroutine array_create

  !> Collective. The same with any distribution.
  subroutine array_create_distributed(self, job, element, distribution, name, team, sparse, &
      huge_pages, access_mode, atomics, stat, errmsg)
    class(tessera_array), intent(inout) :: self
    type(tessera_job), intent(in) :: job
    integer(int64), intent(in) :: element
    type(tessera_distribution), intent(in) :: distribution
    character(*), intent(in), optional :: name
    type(tessera_team), intent(in), optional :: team
    logical, intent(in), optional :: sparse, huge_pages
    integer, intent(in), optional :: access_mode, atomics
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_array_create_distributed(self%own%at, job%own%at, element, &
        distribution%own%at, name_text(name), team_cell(team), &
        memory=memory_options(sparse=sparse, huge_pages=huge_pages, access_mode=access_mode, &
        atomics=atomics)), stat, errmsg)
  end subroutine array_create_distributed

  !> Collective. The same in the caller's memory, which is contiguous, keeps its contents and must
  !> outlive the array: a variable with the TARGET attribute.
  subroutine array_attach(self, job, element, distribution, memory, name, team, access_mode, &
      atomics, stat, errmsg)
    class(tessera_array), intent(inout) :: self
    type(tessera_job), intent(in) :: job
    integer(int64), intent(in) :: element
    type(tessera_distribution), intent(in) :: distribution
    type(*), dimension(..), intent(inout) :: memory
    character(*), intent(in), optional :: name
    type(tessera_team), intent(in), optional :: team
    integer, intent(in), optional :: access_mode, atomics
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_array_create_distributed(self%own%at, job%own%at, element, &
        distribution%own%at, name_text(name), team_cell(team), memory, &
        memory_options(access_mode=access_mode, atomics=atomics)), stat, errmsg)
  end subroutine array_attach

  !> Collective. An array in the memory of `base`, which must outlive it.
  subroutine array_overlay(self, base, element, distribution, name, stat, errmsg)
    class(tessera_array), intent(inout) :: self
    type(tessera_array), intent(in) :: base
    integer(int64), intent(in) :: element
    type(tessera_distribution), intent(in) :: distribution
    character(*), intent(in), optional :: name
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_array_overlay(self%own%at, base%own%at, element, distribution%own%at, &
        name_text(name)), stat, errmsg)
  end subroutine array_overlay

  !> Collective. A new array of zeros with the type, distribution and team of `other`.
  subroutine array_duplicate(self, other, name, stat, errmsg)
    class(tessera_array), intent(inout) :: self
    type(tessera_array), intent(in) :: other
    character(*), intent(in), optional :: name
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_array_duplicate(self%own%at, other%own%at, name_text(name)), stat, errmsg)
  end subroutine array_duplicate

  !> Collective. Frees the memory; operations on the array are complete.
  subroutine array_free(self, stat, errmsg)
    class(tessera_array), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call self%own%free(stat, errmsg)
  end subroutine array_free

  !> Local. The handle of tessera/tessera.h, for C and C++, with the dimensions in reverse order; the
  !> variable keeps ownership.
  function array_c_handle(self, stat, errmsg) result(handle)
    class(tessera_array), intent(in) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: handle
    handle = handle_of(self%own, kind_array, "c_handle", stat, errmsg)
  end function array_c_handle

  !> Local. A variable for an array that C or C++ has made, and frees.
  subroutine array_from_c_handle(self, job, handle, stat, errmsg)
    class(tessera_array), intent(inout) :: self
    type(tessera_job), intent(in) :: job
    type(c_ptr), intent(in) :: handle
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_array_from_handle(self%own%at, job%own%at, handle), stat, errmsg)
  end subroutine array_from_c_handle

  !> Local. The number of dimensions.
  function array_ndims(self, stat, errmsg) result(value)
    class(tessera_array), intent(in) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer :: value
    integer(c_int) :: code
    integer(c_int64_t) :: ndims, of_type, numbers(tessera_max_dims)
    ndims = 0
    of_type = 0
    numbers = 0
    code = f_array_shape("tessera_array%ndims" // c_null_char, self%own%at, &
        ndims, numbers, of_type)
    value = int(ndims)
    call finish(code, stat, errmsg)
  end function array_ndims

  !> Local. The number of elements along each dimension.
  function array_extents(self, stat, errmsg) result(extents)
    class(tessera_array), intent(in) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(int64), allocatable :: extents(:)
    integer(c_int) :: code
    integer(c_int64_t) :: ndims, of_type, numbers(tessera_max_dims)
    ndims = 0
    of_type = 0
    numbers = 0
    code = f_array_shape("tessera_array%extents" // c_null_char, self%own%at, &
        ndims, numbers, of_type)
    extents = numbers(:ndims)
    call finish(code, stat, errmsg)
  end function array_extents

  !> Local. The type of its elements.
  function array_element(self, stat, errmsg) result(element)
    class(tessera_array), intent(in) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: element
    integer(c_int) :: code
    integer(c_int64_t) :: ndims, of_type, numbers(tessera_max_dims)
    ndims = 0
    of_type = 0
    numbers = 0
    code = f_array_shape("tessera_array%element" // c_null_char, self%own%at, &
        ndims, numbers, of_type)
    element = of_type
    call finish(code, stat, errmsg)
  end function array_element

  !> Local. "array 'A' (real(real64), shape (100, 100))".
  function array_describe(self, stat, errmsg) result(text)
    class(tessera_array), intent(in) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    character(:), allocatable :: text
    integer(c_int) :: code
    integer(c_int64_t) :: length
    character(kind=c_char) :: characters(1024)
    characters = c_null_char
    code = f_array_describe(self%own%at, characters, size(characters, kind=c_int64_t), length)
    text = text_of(characters)
    call finish(code, stat, errmsg)
  end function array_describe

  !> Local. The name given when it was made.
  function array_name(self, stat, errmsg) result(text)
    class(tessera_array), intent(in) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    character(:), allocatable :: text
    text = text_from(self%own, kind_array, "name", c_array_name, stat, errmsg)
  end function array_name

  !> Local. The array's distribution.
  subroutine array_distribution(self, distribution, stat, errmsg)
    class(tessera_array), intent(in) :: self
    type(tessera_distribution), intent(inout) :: distribution
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_array_distribution(self%own%at, distribution%own%at), stat, errmsg)
  end subroutine array_distribution

  !> Local. The array's team.
  subroutine array_team(self, team, stat, errmsg)
    class(tessera_array), intent(in) :: self
    type(tessera_team), intent(inout) :: team
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_array_team(self%own%at, team%own%at), stat, errmsg)
  end subroutine array_team

  !> Local. What this rank, or a member, owns without ghost cells, in integers of any kind; 1 to 0
  !> in each dimension if it owns nothing. Errors: unsupported if members own several blocks.
  subroutine array_own_box(self, lo, hi, member, stat, errmsg)
    class(tessera_array), intent(in) :: self
    type(*), dimension(..), intent(inout) :: lo, hi
    integer, intent(in), optional :: member
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int) :: code
    if (present(member)) then
      code = f_array_own_box(self%own%at, int(member, c_int64_t), lo, hi)
    else
      code = f_array_own_box(self%own%at, lo=lo, hi=hi)
    end if
    call finish(code, stat, errmsg)
  end subroutine array_own_box

  !> Local. The member that owns an element. Errors: out_of_range.
  function array_owner(self, index, stat, errmsg) result(value)
    class(tessera_array), intent(in) :: self
    type(*), dimension(..), intent(in) :: index
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer :: value
    integer(c_int) :: code
    integer(c_int64_t) :: member
    member = -1
    code = f_array_owner(self%own%at, index, member)
    value = int(member)
    call finish(code, stat, errmsg)
  end function array_owner

  !> Local. The parts of a box that each lie in one block.
  subroutine array_patches(self, lo, hi, patches, stat, errmsg)
    class(tessera_array), intent(in) :: self
    type(*), dimension(..), intent(in) :: lo, hi
    type(tessera_patch), allocatable, intent(out) :: patches(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int) :: code
    integer(c_int64_t) :: count
    type(tessera_patch) :: nothing(1)
    count = 0
    code = f_array_patches(self%own%at, lo, hi, 0_c_int64_t, nothing, count)
    allocate (patches(count))
    if (code == 0) code = f_array_patches(self%own%at, lo, hi, count, patches, count)
    call finish(code, stat, errmsg)
  end subroutine array_patches

  !> One-sided. For a vector of counts of bins: self(b) grows by the number of times b is in `bins`.
  subroutine array_count_bins(self, bins, stat, errmsg)
    class(tessera_array), intent(in) :: self
    type(*), dimension(..), intent(in) :: bins
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_count_bins(self%own%at, bins), stat, errmsg)
  end subroutine array_count_bins

  !> Collective. self(b) = the sum of the counts before b: bin b has the elements self(b) + 1 to
  !> self(b) + counts(b) of its contents. All these vectors are int64; the contents have any type.
  subroutine array_bin_offsets(self, counts, stat, errmsg)
    class(tessera_array), intent(in) :: self
    type(tessera_array), intent(in) :: counts
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_bin_offsets(counts%own%at, self%own%at), stat, errmsg)
  end subroutine array_bin_offsets

  !> One-sided. Adds values(i) to the bin bins(i) of these contents. filled(b) counts what all ranks
  !> have added, and must begin as 0. Complete: at the next sync. Errors: also limit_exceeded if a
  !> bin is full; then nothing is written.
  subroutine array_add_to_bins(self, offsets, filled, bins, values, stat, errmsg)
    class(tessera_array), intent(in) :: self
    type(tessera_array), intent(in) :: offsets, filled
    type(*), dimension(..), intent(in) :: bins, values
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_add_to_bins(self%own%at, offsets%own%at, filled%own%at, bins, values), stat, &
        errmsg)
  end subroutine array_add_to_bins

  !> Collective. Sorts each bin in ascending order; real elements only.
  subroutine array_sort_bins(self, offsets, counts, stat, errmsg)
    class(tessera_array), intent(in) :: self
    type(tessera_array), intent(in) :: offsets, counts
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_sort_bins(self%own%at, offsets%own%at, counts%own%at), stat, errmsg)
  end subroutine array_sort_bins

  !> A box of the array, as an operand of operations.
  function array_part(self, lo, hi) result(part)
    class(tessera_array), intent(in) :: self
    type(*), dimension(..), intent(in) :: lo, hi
    type(tessera_part) :: part
    part = part_of(self, lo, hi)
  end function array_part

  !> Local. The type of elements that are like `mold`; elements of derived types are only moved.
  function tessera_element_like(mold) result(element)
    type(*), dimension(..), intent(in) :: mold
    integer(int64) :: element
    element = f_element_of(mold)
  end function tessera_element_like

  function name_text(name) result(text)
    character(*), intent(in), optional :: name
    character(:), allocatable :: text
    text = c_text("unnamed")
    if (present(name)) text = c_text(name)
  end function name_text

  function team_cell(team) result(cell)
    type(tessera_team), intent(in), optional :: team
    type(c_ptr) :: cell
    cell = c_null_ptr
    if (present(team)) cell = optional_cell(team%own)
  end function team_cell

  function memory_options(order, sparse, huge_pages, access_mode, atomics) result(memory)
    integer, intent(in), optional :: order, access_mode, atomics
    logical, intent(in), optional :: sparse, huge_pages
    type(c_memory_options) :: memory
    if (present(order)) memory%order = c_number(order)
    if (present(access_mode)) memory%access_mode = c_number(access_mode)
    if (present(atomics)) memory%atomics = c_number(atomics)
    memory%sparse = flag(sparse)
    memory%huge_pages = flag(huge_pages)
  end function memory_options

end module tessera_arrays
