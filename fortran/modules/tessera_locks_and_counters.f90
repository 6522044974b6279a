! SPDX-License-Identifier: BSD-3-Clause
!
! Locks and shared counters of a team; see tessera.f90.
!
! Members are default integers and counted from 0, as MPI counts ranks. Locks are counted from 1.
module tessera_locks_and_counters
  use, intrinsic :: iso_c_binding
  use tessera_errors
  use tessera_job_bindings
  use tessera_jobs
  implicit none
  private
  public :: tessera_locks, tessera_counter

  !> Locks, each at a rank.
  type :: tessera_locks
    type(owned_cell) :: own  ! for the library only
  contains
    generic :: create => locks_create, locks_create_for_all
    procedure, private :: locks_create
    procedure, private :: locks_create_for_all
    procedure :: free => locks_free
    procedure :: count => locks_count
    procedure :: lock => locks_lock
    procedure :: try_lock => locks_try_lock
    procedure :: unlock => locks_unlock
  end type tessera_locks

  !> A shared counter.
  type :: tessera_counter
    type(owned_cell) :: own  ! for the library only
  contains
    generic :: create => counter_create, counter_create_for_all
    procedure, private :: counter_create
    procedure, private :: counter_create_for_all
    procedure :: free => counter_free
    procedure :: next => counter_next
    procedure :: reset => counter_reset
  end type tessera_counter

contains

  !> Collective over `team`. Makes `count` locks at this rank; counts may differ, and be zero.
  subroutine locks_create(self, team, count, stat, errmsg)
    class(tessera_locks), intent(inout) :: self
    type(tessera_team), intent(in) :: team
    integer, intent(in) :: count
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_locks_create(self%own%at, kind_team, team%own%at, int(count, c_int64_t)), stat, &
        errmsg)
  end subroutine locks_create

  !> Collective over all ranks. The same.
  subroutine locks_create_for_all(self, job, count, stat, errmsg)
    class(tessera_locks), intent(inout) :: self
    type(tessera_job), intent(in) :: job
    integer, intent(in) :: count
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_locks_create(self%own%at, kind_job, job%own%at, int(count, c_int64_t)), stat, &
        errmsg)
  end subroutine locks_create_for_all

  !> Collective. No lock may be held or waited for.
  subroutine locks_free(self, stat, errmsg)
    class(tessera_locks), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call self%own%free(stat, errmsg)
  end subroutine locks_free

  !> Local. The number of locks at a member.
  function locks_count(self, owner, stat, errmsg) result(value)
    class(tessera_locks), intent(in) :: self
    integer, intent(in) :: owner
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer :: value
    type(c_ptr) :: handle
    integer(c_int) :: code
    integer(c_int64_t) :: number
    number = -1
    if (open_cell(self%own, kind_locks, "count", handle, code)) &
        code = c_locks_count(handle, int(owner, c_int64_t), number)
    value = int(number)
    call finish(code, stat, errmsg)
  end function locks_count

  !> One-sided. Waits until this thread holds lock `index` of `owner`, counted from 1. Errors:
  !> out_of_range, peer_lost (its holder died; the lock is not taken).
  subroutine locks_lock(self, owner, index, stat, errmsg)
    class(tessera_locks), intent(in) :: self
    integer, intent(in) :: owner, index
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: handle
    integer(c_int) :: code
    if (open_lock(self%own, "tessera_locks%lock" // c_null_char, owner, index, handle, &
        code)) &
        code = c_locks_lock(handle, int(owner, c_int64_t), index - 1_c_int64_t)
    call finish(code, stat, errmsg)
  end subroutine locks_lock

  !> One-sided. The same without waiting: whether this thread holds the lock now.
  function locks_try_lock(self, owner, index, stat, errmsg) result(value)
    class(tessera_locks), intent(in) :: self
    integer, intent(in) :: owner, index
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    logical :: value
    type(c_ptr) :: handle
    integer(c_int) :: code
    integer(c_int) :: number
    number = 0
    if (open_lock(self%own, "tessera_locks%try_lock" // c_null_char, owner, index, handle, &
        code)) &
        code = c_locks_try_lock(handle, int(owner, c_int64_t), index - 1_c_int64_t, number)
    value = number /= 0
    call finish(code, stat, errmsg)
  end function locks_try_lock

  !> One-sided. Errors: invalid_argument if this rank does not hold the lock.
  subroutine locks_unlock(self, owner, index, stat, errmsg)
    class(tessera_locks), intent(in) :: self
    integer, intent(in) :: owner, index
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: handle
    integer(c_int) :: code
    if (open_lock(self%own, "tessera_locks%unlock" // c_null_char, owner, index, handle, &
        code)) &
        code = c_locks_unlock(handle, int(owner, c_int64_t), index - 1_c_int64_t)
    call finish(code, stat, errmsg)
  end subroutine locks_unlock

  !> Gets the C handle of the locks, and checks `owner` and `index`. Returns false if that fails,
  !> with the reason in `code`. `called` ends with a zero, as for C.
  function open_lock(cell, called, owner, index, handle, code) result(is_open)
    type(owned_cell), intent(in) :: cell
    character(*), intent(in) :: called
    integer, intent(in) :: owner, index
    type(c_ptr), intent(out) :: handle
    integer(c_int), intent(out) :: code
    logical :: is_open
    handle = c_null_ptr
    code = f_open_lock(called, cell%at, int(owner, c_int64_t), int(index, c_int64_t), &
        handle)
    is_open = code == 0
  end function open_lock

  !> Collective over `team`. Makes a counter with value zero, in the memory of member `owner`
  !> (default 0).
  subroutine counter_create(self, team, owner, stat, errmsg)
    class(tessera_counter), intent(inout) :: self
    type(tessera_team), intent(in) :: team
    integer, intent(in), optional :: owner
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: at
    at = 0
    if (present(owner)) at = owner
    call finish(f_counter_create(self%own%at, kind_team, team%own%at, at), stat, errmsg)
  end subroutine counter_create

  !> Collective over all ranks. The same.
  subroutine counter_create_for_all(self, job, owner, stat, errmsg)
    class(tessera_counter), intent(inout) :: self
    type(tessera_job), intent(in) :: job
    integer, intent(in), optional :: owner
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: at
    at = 0
    if (present(owner)) at = owner
    call finish(f_counter_create(self%own%at, kind_job, job%own%at, at), stat, errmsg)
  end subroutine counter_create_for_all

  !> Collective.
  subroutine counter_free(self, stat, errmsg)
    class(tessera_counter), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call self%own%free(stat, errmsg)
  end subroutine counter_free

  !> One-sided. Adds `count`, by default 1; `value`, an integer of any kind, becomes the value
  !> before.
  subroutine counter_next(self, value, count, stat, errmsg)
    class(tessera_counter), intent(in) :: self
    type(*), dimension(..), intent(inout) :: value
    type(*), dimension(..), intent(in), optional :: count
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_counter_next(self%own%at, count, value), stat, errmsg)
  end subroutine counter_next

  !> Collective. Sets the value; no member may call next meanwhile.
  subroutine counter_reset(self, value, stat, errmsg)
    class(tessera_counter), intent(in) :: self
    type(*), dimension(..), intent(in) :: value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_counter_reset(self%own%at, value), stat, errmsg)
  end subroutine counter_reset

end module tessera_locks_and_counters
