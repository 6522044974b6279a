! SPDX-License-Identifier: BSD-3-Clause
!
! Arrays with a copy on each node, distributed over the members on that node; see tessera.f90.
!
!     type(tessera_mirrored) :: m
!     type(tessera_array) :: here
!     call m%create(job, tessera_real64, [n, n], name="fock")
!     call m%load(density)                       ! every copy has the elements of an array
!     call m%here(here)                          ! this node's copy: an ordinary array
!     call here%accumulate(lo, hi, values)       ! stays on the node
!     call m%merge_into(fock)                    ! the sum of all copies goes to an array
!
! Use them for data that all ranks read or add to often, and that fit in a node's memory. Between
! two merges nothing crosses the network. A merge adds the copies in an order that depends only on
! the number of nodes: all nodes, and all runs with as many nodes, get the same bits.
module tessera_mirrored_arrays
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int64
  use tessera_array_bindings, only: c_memory_options
  use tessera_arrays
  use tessera_errors
  use tessera_jobs
  use tessera_part_bindings, only: c_operand
  use tessera_parts
  implicit none
  private
  public :: tessera_mirrored

  integer(c_int), parameter :: kind_mirrored = 15

  !> An array with a copy on each node.
  type :: tessera_mirrored
    type(owned_cell) :: own  ! for the library only
  contains
    procedure :: create => mirrored_create
    procedure :: free => mirrored_free
    procedure :: here => mirrored_local_copy
    procedure :: merge => mirrored_merge
    procedure :: merge_into => mirrored_merge_into
    procedure :: load => mirrored_load
  end type tessera_mirrored

  interface
    function f_mirrored_create(place, job, element, extents, name, team, min_block, ghosts, &
        memory) bind(c, name="tessera_f_mirrored_create") result(code)
      import
      type(c_ptr), intent(inout) :: place
      type(c_ptr), value :: job
      integer(c_int64_t), value :: element
      type(*), dimension(..), intent(in) :: extents
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), value :: team
      type(*), dimension(..), intent(in), optional :: min_block, ghosts
      type(c_memory_options), intent(in) :: memory
      integer(c_int) :: code
    end function
    function f_mirrored_here(mirrored, place) bind(c, name="tessera_f_mirrored_here") result(code)
      import
      type(c_ptr), value :: mirrored
      type(c_ptr), intent(inout) :: place
      integer(c_int) :: code
    end function
    function f_mirrored_move(mirrored, is_load, other, lo, hi) &
        bind(c, name="tessera_f_mirrored_move") result(code)
      import
      type(c_ptr), value :: mirrored
      integer(c_int), value :: is_load
      type(c_operand), intent(in) :: other
      type(*), dimension(..), intent(in), optional :: lo, hi
      integer(c_int) :: code
    end function
    function c_mirrored_merge(mirrored) bind(c, name="tessera_mirrored_merge") result(code)
      import
      type(c_ptr), value :: mirrored
      integer(c_int) :: code
    end function
  end interface

contains

  !> Collective over the team, all ranks unless given. Makes copies of zeros with `extents` elements
  !> of type `element`, each distributed evenly over the members on its node. Options as for arrays.
  !> Cost: the array's size on each node. Errors: invalid_argument (also for elements that are only
  !> moved), no_memory.
  subroutine mirrored_create(self, job, element, extents, name, team, min_block, ghosts, order, &
      sparse, huge_pages, access_mode, atomics, stat, errmsg)
    class(tessera_mirrored), intent(inout) :: self
    type(tessera_job), intent(in) :: job
    integer(int64), intent(in) :: element
    type(*), dimension(..), intent(in) :: extents
    character(*), intent(in), optional :: name
    type(tessera_team), intent(in), optional :: team
    type(*), dimension(..), intent(in), optional :: min_block, ghosts
    integer, intent(in), optional :: order
    logical, intent(in), optional :: sparse, huge_pages
    integer, intent(in), optional :: access_mode, atomics
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_mirrored_create(self%own%at, job%own%at, element, extents, name_text(name), &
        team_cell(team), min_block, ghosts, memory_options(order, sparse, huge_pages, &
        access_mode, atomics)), stat, errmsg)
  end subroutine mirrored_create

  !> Collective. Frees the memory.
  subroutine mirrored_free(self, stat, errmsg)
    class(tessera_mirrored), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call self%own%free(stat, errmsg)
  end subroutine mirrored_free

  !> Local. Makes `array` this node's copy, an array on the team of this node's members. It ends
  !> with the mirrored array; freeing `array` does not free the copy.
  subroutine mirrored_local_copy(self, array, stat, errmsg)
    class(tessera_mirrored), intent(in) :: self
    type(tessera_array), intent(inout) :: array
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_mirrored_here(self%own%at, array%own%at), stat, errmsg)
  end subroutine mirrored_local_copy

  !> Collective. Each element of every copy becomes the sum of that element over all copies.
  !> Operations of members on their copies before the call are complete. Complete: everywhere at
  !> return. Cost: during the call an array of this size over all members; each node sends and
  !> receives its copy once.
  subroutine mirrored_merge(self, stat, errmsg)
    class(tessera_mirrored), intent(in) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call act(self%own, kind_mirrored, "merge", c_mirrored_merge, stat, errmsg)
  end subroutine mirrored_merge

  !> Collective. Each element of `to` becomes the sum of the corresponding elements of lo to hi, or
  !> all, of all copies, which are not changed. Errors: also invalid_argument (shapes or types
  !> differ, or the team of `to` has other members), out_of_range.
  subroutine mirrored_merge_into(self, to, lo, hi, stat, errmsg)
    class(tessera_mirrored), intent(in) :: self
    class(tessera_part), intent(in) :: to
    type(*), dimension(..), intent(in), optional :: lo, hi
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_mirrored_move(self%own%at, 0_c_int, operand(to), lo, hi), stat, errmsg)
  end subroutine mirrored_merge_into

  !> Collective. Copies `from` to lo to hi, or all, of every copy; no rank may write `from`
  !> meanwhile. Errors: also invalid_argument (shapes or types differ, or a member is not in the
  !> team of `from`), out_of_range.
  subroutine mirrored_load(self, from, lo, hi, stat, errmsg)
    class(tessera_mirrored), intent(in) :: self
    class(tessera_part), intent(in) :: from
    type(*), dimension(..), intent(in), optional :: lo, hi
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_mirrored_move(self%own%at, 1_c_int, operand(from), lo, hi), stat, errmsg)
  end subroutine mirrored_load

end module tessera_mirrored_arrays
