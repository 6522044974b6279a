! SPDX-License-Identifier: BSD-3-Clause
!
! Internal. The C and C++ functions that implement tessera_jobs and tessera_locks_and_counters.
module tessera_job_bindings
  use, intrinsic :: iso_c_binding
  implicit none
  public

  interface
    function f_job_start(place, communicator, settings) &
        bind(c, name="tessera_f_job_start") result(code)
      import
      type(c_ptr), intent(inout) :: place
      integer(c_int), intent(in), optional :: communicator
      type(*), dimension(..), intent(in), optional :: settings
      integer(c_int) :: code
    end function
    function f_job_start_alone(place) bind(c, name="tessera_f_job_start_alone") result(code)
      import
      type(c_ptr), intent(inout) :: place
      integer(c_int) :: code
    end function
    subroutine c_end_job(code) bind(c, name="tessera_end_job")
      import
      integer(c_int), value :: code
    end subroutine
    function c_memory_available(bytes) bind(c, name="tessera_memory_available") result(code)
      import
      integer(c_int64_t), intent(inout) :: bytes
      integer(c_int) :: code
    end function
    function f_job_from_handle(place, handle) bind(c, name="tessera_f_job_from_handle") result(code)
      import
      type(c_ptr), intent(inout) :: place
      type(c_ptr), value :: handle
      integer(c_int) :: code
    end function
    function c_job_rank(job, rank) bind(c, name="tessera_job_rank") result(code)
      import
      type(c_ptr), value :: job
      integer(c_int64_t), intent(inout) :: rank
      integer(c_int) :: code
    end function
    function c_job_size(job, size) bind(c, name="tessera_job_size") result(code)
      import
      type(c_ptr), value :: job
      integer(c_int64_t), intent(inout) :: size
      integer(c_int) :: code
    end function
    function c_job_node_count(job, count) bind(c, name="tessera_job_node_count") result(code)
      import
      type(c_ptr), value :: job
      integer(c_int64_t), intent(inout) :: count
      integer(c_int) :: code
    end function
    function c_job_node(job, rank, node) bind(c, name="tessera_job_node") result(code)
      import
      type(c_ptr), value :: job
      integer(c_int64_t), value :: rank
      integer(c_int64_t), intent(inout) :: node
      integer(c_int) :: code
    end function
    function c_job_shares_node(job, rank, shares) &
        bind(c, name="tessera_job_shares_node") result(code)
      import
      type(c_ptr), value :: job
      integer(c_int64_t), value :: rank
      integer(c_int), intent(inout) :: shares
      integer(c_int) :: code
    end function
    function c_job_is_present(job, rank, is_there) &
        bind(c, name="tessera_job_is_present") result(code)
      import
      type(c_ptr), value :: job
      integer(c_int64_t), value :: rank
      integer(c_int), intent(inout) :: is_there
      integer(c_int) :: code
    end function
    function c_job_transport(job, rank, text, capacity, length) &
        bind(c, name="tessera_job_transport") result(code)
      import
      type(c_ptr), value :: job
      integer(c_int64_t), value :: rank
      character(kind=c_char), intent(inout) :: text(*)
      integer(c_int64_t), value :: capacity
      integer(c_int64_t), intent(inout) :: length
      integer(c_int) :: code
    end function
    function c_job_setting(job, name, text, capacity, length) &
        bind(c, name="tessera_job_setting") result(code)
      import
      type(c_ptr), value :: job
      character(kind=c_char), intent(in) :: name(*)
      character(kind=c_char), intent(inout) :: text(*)
      integer(c_int64_t), value :: capacity
      integer(c_int64_t), intent(inout) :: length
      integer(c_int) :: code
    end function
    function c_job_memory_in_use(job, bytes) bind(c, name="tessera_job_memory_in_use") result(code)
      import
      type(c_ptr), value :: job
      integer(c_int64_t), intent(inout) :: bytes
      integer(c_int) :: code
    end function
    function c_job_regions(job, text, capacity, length) &
        bind(c, name="tessera_job_regions") result(code)
      import
      type(c_ptr), value :: job
      character(kind=c_char), intent(inout) :: text(*)
      integer(c_int64_t), value :: capacity
      integer(c_int64_t), intent(inout) :: length
      integer(c_int) :: code
    end function
    function c_job_wait_all(job) bind(c, name="tessera_job_wait_all") result(code)
      import
      type(c_ptr), value :: job
      integer(c_int) :: code
    end function
    function c_job_wait_rank(job, rank) bind(c, name="tessera_job_wait_rank") result(code)
      import
      type(c_ptr), value :: job
      integer(c_int64_t), value :: rank
      integer(c_int) :: code
    end function
    function c_job_fence_all(job) bind(c, name="tessera_job_fence_all") result(code)
      import
      type(c_ptr), value :: job
      integer(c_int) :: code
    end function
    function c_job_fence(job, rank) bind(c, name="tessera_job_fence") result(code)
      import
      type(c_ptr), value :: job
      integer(c_int64_t), value :: rank
      integer(c_int) :: code
    end function
    function c_job_begin_phase(job, name) bind(c, name="tessera_job_begin_phase") result(code)
      import
      type(c_ptr), value :: job
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int) :: code
    end function
    function c_job_end_phase(job, name) bind(c, name="tessera_job_end_phase") result(code)
      import
      type(c_ptr), value :: job
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int) :: code
    end function
    function c_job_barrier(job) bind(c, name="tessera_job_barrier") result(code)
      import
      type(c_ptr), value :: job
      integer(c_int) :: code
    end function
    function f_job_notify(job, rank, sent) bind(c, name="tessera_f_job_notify") result(code)
      import
      type(c_ptr), value :: job
      integer(c_int64_t), value :: rank
      type(*), dimension(..), intent(inout), optional :: sent
      integer(c_int) :: code
    end function
    function f_job_wait_for_notifications(job, rank, count, received) &
        bind(c, name="tessera_f_job_wait_for_notifications") result(code)
      import
      type(c_ptr), value :: job
      integer(c_int64_t), value :: rank
      type(*), dimension(..), intent(in) :: count
      type(*), dimension(..), intent(inout), optional :: received
      integer(c_int) :: code
    end function
    function f_job_traffic(job, is_to_rank, rank, op, operations, bytes) &
        bind(c, name="tessera_f_job_traffic") result(code)
      import
      type(c_ptr), value :: job
      integer(c_int), value :: is_to_rank
      integer(c_int64_t), value :: rank
      integer(c_int), value :: op
      type(*), dimension(..), intent(inout) :: operations, bytes
      integer(c_int) :: code
    end function
    function f_job_allocate_local(job, bytes, memory) &
        bind(c, name="tessera_f_job_allocate_local") result(code)
      import
      type(c_ptr), value :: job
      type(*), dimension(..), intent(in) :: bytes
      type(c_ptr), intent(inout) :: memory
      integer(c_int) :: code
    end function
    function c_job_free_local(job, memory) bind(c, name="tessera_job_free_local") result(code)
      import
      type(c_ptr), value :: job, memory
      integer(c_int) :: code
    end function
    function f_team_create(place, job, ranks) bind(c, name="tessera_f_team_create") result(code)
      import
      type(c_ptr), intent(inout) :: place
      type(c_ptr), value :: job
      type(*), dimension(..), intent(in), optional :: ranks
      integer(c_int) :: code
    end function
    function f_team_split(place, parent, color, key) &
        bind(c, name="tessera_f_team_split") result(code)
      import
      type(c_ptr), intent(inout) :: place
      type(c_ptr), value :: parent
      integer(c_int64_t), value :: color, key
      integer(c_int) :: code
    end function
    function c_team_rank(team, member) bind(c, name="tessera_team_rank") result(code)
      import
      type(c_ptr), value :: team
      integer(c_int64_t), intent(inout) :: member
      integer(c_int) :: code
    end function
    function c_team_size(team, size) bind(c, name="tessera_team_size") result(code)
      import
      type(c_ptr), value :: team
      integer(c_int64_t), intent(inout) :: size
      integer(c_int) :: code
    end function
    function c_team_world_rank(team, member, rank) &
        bind(c, name="tessera_team_world_rank") result(code)
      import
      type(c_ptr), value :: team
      integer(c_int64_t), value :: member
      integer(c_int64_t), intent(inout) :: rank
      integer(c_int) :: code
    end function
    function c_team_member(team, rank, member) bind(c, name="tessera_team_member") result(code)
      import
      type(c_ptr), value :: team
      integer(c_int64_t), value :: rank
      integer(c_int64_t), intent(inout) :: member
      integer(c_int) :: code
    end function
    function c_team_barrier(team) bind(c, name="tessera_team_barrier") result(code)
      import
      type(c_ptr), value :: team
      integer(c_int) :: code
    end function
    function f_team_broadcast(kind, team, buffer, root) &
        bind(c, name="tessera_f_team_broadcast") result(code)
      import
      integer(c_int), value :: kind
      type(c_ptr), value :: team
      type(*), dimension(..), intent(inout) :: buffer
      integer(c_int64_t), value :: root
      integer(c_int) :: code
    end function
    function f_team_allgather(kind, team, mine, all) bind(c, name="tessera_f_team_allgather") result(code)
      import
      integer(c_int), value :: kind
      type(c_ptr), value :: team
      type(*), dimension(..), intent(in) :: mine
      type(*), dimension(..), intent(inout) :: all
      integer(c_int) :: code
    end function
    function f_team_agree(kind, team, status, text, length) &
        bind(c, name="tessera_f_team_agree") result(code)
      import
      integer(c_int), value :: kind
      type(c_ptr), value :: team
      integer(c_int), value :: status
      character(kind=c_char), intent(in), optional :: text(*)
      integer(c_int64_t), value :: length
      integer(c_int) :: code
    end function
    function f_team_reduce(kind, team, elements, reduction, root) &
        bind(c, name="tessera_f_team_reduce") result(code)
      import
      integer(c_int), value :: kind
      type(c_ptr), value :: team
      type(*), dimension(..), intent(inout) :: elements
      integer(c_int), value :: reduction
      integer(c_int64_t), intent(in), optional :: root
      integer(c_int) :: code
    end function
    function f_locks_create(place, kind, team, count) bind(c, name="tessera_f_locks_create") result(code)
      import
      integer(c_int), value :: kind
      type(c_ptr), intent(inout) :: place
      type(c_ptr), value :: team
      integer(c_int64_t), value :: count
      integer(c_int) :: code
    end function
    function f_open_lock(called, cell, owner, index, locks) &
        bind(c, name="tessera_f_open_lock") result(code)
      import
      character(kind=c_char), intent(in) :: called(*)
      type(c_ptr), value :: cell
      integer(c_int64_t), value :: owner, index
      type(c_ptr), intent(inout) :: locks
      integer(c_int) :: code
    end function
    function c_locks_count(locks, owner, count) bind(c, name="tessera_locks_count") result(code)
      import
      type(c_ptr), value :: locks
      integer(c_int64_t), value :: owner
      integer(c_int64_t), intent(inout) :: count
      integer(c_int) :: code
    end function
    function c_locks_lock(locks, owner, index) bind(c, name="tessera_locks_lock") result(code)
      import
      type(c_ptr), value :: locks
      integer(c_int64_t), value :: owner, index
      integer(c_int) :: code
    end function
    function c_locks_try_lock(locks, owner, index, taken) &
        bind(c, name="tessera_locks_try_lock") result(code)
      import
      type(c_ptr), value :: locks
      integer(c_int64_t), value :: owner, index
      integer(c_int), intent(inout) :: taken
      integer(c_int) :: code
    end function
    function c_locks_unlock(locks, owner, index) bind(c, name="tessera_locks_unlock") result(code)
      import
      type(c_ptr), value :: locks
      integer(c_int64_t), value :: owner, index
      integer(c_int) :: code
    end function
    function f_counter_create(place, kind, team, owner) &
        bind(c, name="tessera_f_counter_create") result(code)
      import
      integer(c_int), value :: kind
      type(c_ptr), intent(inout) :: place
      type(c_ptr), value :: team
      integer(c_int64_t), value :: owner
      integer(c_int) :: code
    end function
    function f_counter_next(counter, count, value) &
        bind(c, name="tessera_f_counter_next") result(code)
      import
      type(c_ptr), value :: counter
      type(*), dimension(..), intent(in), optional :: count
      type(*), dimension(..), intent(inout) :: value
      integer(c_int) :: code
    end function
    function f_counter_reset(counter, value) bind(c, name="tessera_f_counter_reset") result(code)
      import
      type(c_ptr), value :: counter
      type(*), dimension(..), intent(in) :: value
      integer(c_int) :: code
    end function
  end interface

end module tessera_job_bindings
