! SPDX-License-Identifier: BSD-3-Clause
!
! Collectives of teams with blocks of different sizes, scans, and collectives that do not block; see
! tessera.f90.
!
!     integer :: leaving(members), arriving(members)       ! numbers for each member
!     call tessera_alltoall(team, leaving, arriving)
!     allocate (mine(sum(arriving)))
!     call tessera_alltoallv(team, sorted, leaving, mine, arriving)
!
! Blocks of members follow each other in buffers, in the order of the members. Counts are in
! elements of the buffer's type, one for each member, and may be zero. Errors of all: also
! invalid_argument if a member expects another number of elements than is sent.
module tessera_collectives
  use, intrinsic :: iso_c_binding
  use tessera_errors
  use tessera_jobs, only: tessera_team
  use tessera_pending_transfers, only: tessera_transfers
  implicit none
  private
  public :: tessera_alltoallv, tessera_alltoall, tessera_gatherv, tessera_allgatherv, &
      tessera_scatterv, tessera_scan, tessera_exclusive_scan, tessera_barrier_async, &
      tessera_allreduce_async

  integer(c_int), parameter :: to_root = 0, to_all = 1, from_root = 2

  interface
    function f_alltoallv(team, send, send_counts, receive, receive_counts) &
        bind(c, name="tessera_f_team_alltoallv") result(code)
      import
      type(c_ptr), value :: team
      type(*), dimension(..), intent(in) :: send, send_counts, receive_counts
      type(*), dimension(..), intent(inout) :: receive
      integer(c_int) :: code
    end function
    function f_alltoall(team, send, receive) bind(c, name="tessera_f_team_alltoall") result(code)
      import
      type(c_ptr), value :: team
      type(*), dimension(..), intent(in) :: send
      type(*), dimension(..), intent(inout) :: receive
      integer(c_int) :: code
    end function
    function f_gatherv(kind, team, own, all, counts, root) &
        bind(c, name="tessera_f_team_gatherv") result(code)
      import
      integer(c_int), value :: kind
      type(c_ptr), value :: team
      type(*), dimension(..) :: own, all  ! either may be written
      type(*), dimension(..), intent(in) :: counts
      integer(c_int64_t), value :: root
      integer(c_int) :: code
    end function
    function f_scan(team, is_exclusive, elements, reduction) &
        bind(c, name="tessera_f_team_scan") result(code)
      import
      type(c_ptr), value :: team
      integer(c_int), value :: is_exclusive, reduction
      type(*), dimension(..), intent(inout) :: elements
      integer(c_int) :: code
    end function
    function f_allreduce_async(team, elements, reduction, handle) &
        bind(c, name="tessera_f_team_allreduce_async") result(code)
      import
      type(c_ptr), value :: team
      type(*), dimension(..), intent(inout) :: elements
      integer(c_int), value :: reduction
      type(c_ptr), intent(inout) :: handle
      integer(c_int) :: code
    end function
    function c_barrier_async(team, handle) bind(c, name="tessera_team_barrier_async") result(code)
      import
      type(c_ptr), value :: team
      type(c_ptr), intent(inout) :: handle
      integer(c_int) :: code
    end function
  end interface

contains

  !> Collective. Sends send_counts(m + 1) elements to each member m, and receives
  !> receive_counts(m + 1) from it.
  subroutine tessera_alltoallv(team, send, send_counts, receive, receive_counts, stat, errmsg)
    type(tessera_team), intent(in) :: team
    type(*), dimension(..), intent(in) :: send, send_counts, receive_counts
    type(*), dimension(..), intent(inout) :: receive
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_alltoallv(team%own%at, send, send_counts, receive, receive_counts), stat, errmsg)
  end subroutine tessera_alltoallv

  !> Collective. Sends the same number of elements to each member.
  subroutine tessera_alltoall(team, send, receive, stat, errmsg)
    type(tessera_team), intent(in) :: team
    type(*), dimension(..), intent(in) :: send
    type(*), dimension(..), intent(inout) :: receive
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_alltoall(team%own%at, send, receive), stat, errmsg)
  end subroutine tessera_alltoall

  !> Collective. Gathers the elements of all members at the root. Other members' `all` and `counts`
  !> are ignored.
  subroutine tessera_gatherv(team, own, all, counts, root, stat, errmsg)
    type(tessera_team), intent(in) :: team
    type(*), dimension(..), intent(in) :: own, counts
    type(*), dimension(..), intent(inout) :: all
    integer, intent(in) :: root
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_gatherv(to_root, team%own%at, own, all, counts, int(root, c_int64_t)), stat, errmsg)
  end subroutine tessera_gatherv

  !> Collective. Gathers the elements of all members at all of them; counts are the same on all.
  subroutine tessera_allgatherv(team, own, all, counts, stat, errmsg)
    type(tessera_team), intent(in) :: team
    type(*), dimension(..), intent(in) :: own, counts
    type(*), dimension(..), intent(inout) :: all
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_gatherv(to_all, team%own%at, own, all, counts, 0_c_int64_t), stat, errmsg)
  end subroutine tessera_allgatherv

  !> Collective. Sends each member its block of the root's elements. Other members' `all` and
  !> `counts` are ignored.
  subroutine tessera_scatterv(team, all, counts, own, root, stat, errmsg)
    type(tessera_team), intent(in) :: team
    type(*), dimension(..), intent(in) :: all, counts
    type(*), dimension(..), intent(inout) :: own
    integer, intent(in) :: root
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_gatherv(from_root, team%own%at, own, all, counts, int(root, c_int64_t)), stat, &
        errmsg)
  end subroutine tessera_scatterv

  !> Collective. Combines the elements, in place, with those of the members before this one, in the
  !> order of the members. The result is the same in each run.
  subroutine tessera_scan(team, elements, reduction, stat, errmsg)
    type(tessera_team), intent(in) :: team
    type(*), dimension(..), intent(inout) :: elements
    integer, intent(in) :: reduction
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_scan(team%own%at, 0_c_int, elements, c_number(reduction)), stat, errmsg)
  end subroutine tessera_scan

  !> Collective. The same without this member's own elements. The first member gets what a reduction
  !> of no elements gives: 0 for sums, 1 for products.
  subroutine tessera_exclusive_scan(team, elements, reduction, stat, errmsg)
    type(tessera_team), intent(in) :: team
    type(*), dimension(..), intent(inout) :: elements
    integer, intent(in) :: reduction
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_scan(team%own%at, 1_c_int, elements, c_number(reduction)), stat, errmsg)
  end subroutine tessera_exclusive_scan

  !> Collective. Starts a barrier, which is complete after pending%wait(). All members start these
  !> and call the team's other collectives in the same order. They make progress by themselves.
  subroutine tessera_barrier_async(team, pending, stat, errmsg)
    type(tessera_team), intent(in) :: team
    type(tessera_transfers), intent(inout) :: pending
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: handle
    integer(c_int) :: code
    if (open_cell(team%own, kind_team, "barrier_async", handle, code)) &
        code = c_barrier_async(handle, pending%handle)
    call finish(code, stat, errmsg)
  end subroutine tessera_barrier_async

  !> Collective. Starts an allreduce in place. The elements, which have no gaps, belong to the library
  !> until pending%wait() returns.
  subroutine tessera_allreduce_async(team, elements, reduction, pending, stat, errmsg)
    type(tessera_team), intent(in) :: team
    type(*), dimension(..), intent(inout), asynchronous :: elements
    integer, intent(in) :: reduction
    type(tessera_transfers), intent(inout) :: pending
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_allreduce_async(team%own%at, elements, c_number(reduction), pending%handle), stat, &
        errmsg)
  end subroutine tessera_allreduce_async
end module tessera_collectives
