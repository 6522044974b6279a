! SPDX-License-Identifier: BSD-3-Clause
!
! The parallel run, and teams of its ranks; see tessera.f90.
!
! Ranks and members are default integers and counted from 0, as MPI counts them.
module tessera_jobs
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int64, output_unit
  use tessera_errors
  use tessera_job_bindings
  implicit none
  private
  public :: tessera_job, tessera_team, tessera_memory_available, tessera_end_job

  !> How reductions combine elements; complex elements have only sum and product, bitwise and
  !> logical reductions take only integers.
  integer, parameter, public :: tessera_sum = 0, tessera_product = 1, tessera_min = 2, &
      tessera_max = 3, tessera_abs_min = 4, tessera_abs_max = 5, tessera_bit_and = 6, &
      tessera_bit_or = 7, tessera_logical_and = 8, tessera_logical_or = 9

  !> Kinds of operations, for traffic().
  integer, parameter, public :: tessera_op_put = 0, tessera_op_get = 1, &
      tessera_op_accumulate = 2, tessera_op_atomic = 3, tessera_op_lock = 4, tessera_op_notify = 5

  !> Membership in the parallel run.
  type :: tessera_job
    type(owned_cell) :: own  ! for the library only
  contains
    procedure :: start => job_start
    procedure :: start_alone => job_start_alone
    procedure :: stop => job_stop
    procedure :: c_handle => job_c_handle
    procedure :: from_c_handle => job_from_c_handle
    procedure :: rank => job_rank
    procedure :: size => job_size
    procedure :: node_count => job_node_count
    procedure :: node => job_node
    procedure :: shares_node => job_shares_node
    procedure :: is_present => job_is_present
    procedure :: transport => job_transport
    procedure :: setting => job_setting
    procedure :: begin_phase => job_begin_phase
    procedure :: end_phase => job_end_phase
    procedure :: wait => job_wait
    procedure :: fence => job_fence
    procedure :: barrier => job_barrier
    procedure :: notify => job_notify
    procedure :: wait_for_notifications => job_wait_for_notifications
    procedure :: traffic => job_traffic
    procedure :: memory_in_use => job_memory_in_use
    procedure :: regions => job_regions
    procedure :: allocate_local => job_allocate_local
    procedure :: free_local => job_free_local
    procedure :: broadcast => job_broadcast
    procedure :: allgather => job_allgather
    procedure :: allreduce => job_allreduce
    procedure :: reduce => job_reduce
    procedure :: agree => job_agree
  end type tessera_job

  !> An ordered group of ranks.
  type :: tessera_team
    type(owned_cell) :: own  ! for the library only
  contains
    procedure :: create => team_create
    procedure :: split => team_split
    procedure :: free => team_free
    procedure :: c_handle => team_c_handle
    procedure :: rank => team_rank
    procedure :: size => team_size
    procedure :: world_rank => team_world_rank
    procedure :: member => team_member
    procedure :: barrier => team_barrier
    procedure :: broadcast => team_broadcast
    procedure :: allgather => team_allgather
    procedure :: allreduce => team_allreduce
    procedure :: reduce => team_reduce
    procedure :: agree => team_agree
  end type tessera_team

contains

  !> Collective over all ranks, or those of the MPI communicator: an integer as in `use mpi`, or the
  !> mpi_val of mpi_f08. Without a communicator, starts the job under tessera-run, mpirun or srun,
  !> or as a single process. Settings, of the form "TESSERA_LOG=debug" (docs/tuning.md), override
  !> those of the environment; "TESSERA_BOOTSTRAP=alone" does the same as start_alone. Errors:
  !> invalid_argument (settings), timed_out and peer_lost (other ranks did not start), unreachable,
  !> unsupported (built without MPI), no_memory.
  subroutine job_start(self, communicator, settings, stat, errmsg)
    class(tessera_job), intent(inout) :: self
    integer, intent(in), optional :: communicator
    character(*), intent(in), optional :: settings(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int), allocatable :: of  ! not allocated: passed as an absent argument
    if (present(communicator)) of = c_number(communicator)
    call finish(f_job_start(self%own%at, of, settings), stat, errmsg)
  end subroutine job_start

  !> Local. This process is the whole job, however it was started.
  subroutine job_start_alone(self, stat, errmsg)
    class(tessera_job), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_job_start_alone(self%own%at), stat, errmsg)
  end subroutine job_start_alone

  !> Collective. Completes this rank's operations, leaves the run and frees everything that was made
  !> with it. Errors: what the last fence found.
  subroutine job_stop(self, stat, errmsg)
    class(tessera_job), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call self%own%free(stat, errmsg)
  end subroutine job_stop

  !> Local. The handle of tessera/tessera.h, for C and C++; the variable keeps ownership.
  function job_c_handle(self, stat, errmsg) result(handle)
    class(tessera_job), intent(in) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: handle
    handle = handle_of(self%own, kind_job, "c_handle", stat, errmsg)
  end function job_c_handle

  !> Local. A variable for a job that C or C++ has started, and stops after the last use of the
  !> variable.
  subroutine job_from_c_handle(self, handle, stat, errmsg)
    class(tessera_job), intent(inout) :: self
    type(c_ptr), intent(in) :: handle
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_job_from_handle(self%own%at, handle), stat, errmsg)
  end subroutine job_from_c_handle

  !> Local. This rank, from 0.
  function job_rank(self, stat, errmsg) result(value)
    class(tessera_job), intent(in) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer :: value
    value = number_of(self%own, kind_job, "rank", c_job_rank, -1, stat, errmsg)
  end function job_rank

  !> Local. The number of ranks.
  function job_size(self, stat, errmsg) result(value)
    class(tessera_job), intent(in) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer :: value
    value = number_of(self%own, kind_job, "size", c_job_size, -1, stat, errmsg)
  end function job_size

  !> Local. The number of nodes. Nodes are numbered from 0 in the order of their lowest ranks.
  function job_node_count(self, stat, errmsg) result(value)
    class(tessera_job), intent(in) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer :: value
    value = number_of(self%own, kind_job, "node_count", c_job_node_count, -1, stat, errmsg)
  end function job_node_count

  !> Local. The node of a rank.
  function job_node(self, rank, stat, errmsg) result(value)
    class(tessera_job), intent(in) :: self
    integer, intent(in) :: rank
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer :: value
    type(c_ptr) :: handle
    integer(c_int) :: code
    integer(c_int64_t) :: number
    number = -1
    if (open_cell(self%own, kind_job, "node", handle, code)) &
        code = c_job_node(handle, int(rank, c_int64_t), number)
    value = int(number)
    call finish(code, stat, errmsg)
  end function job_node

  !> Local. Whether the rank shares memory with this rank.
  function job_shares_node(self, rank, stat, errmsg) result(value)
    class(tessera_job), intent(in) :: self
    integer, intent(in) :: rank
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    logical :: value
    type(c_ptr) :: handle
    integer(c_int) :: code
    integer(c_int) :: number
    number = 0
    if (open_cell(self%own, kind_job, "shares_node", handle, code)) &
        code = c_job_shares_node(handle, int(rank, c_int64_t), number)
    value = number /= 0
    call finish(code, stat, errmsg)
  end function job_shares_node

  !> Local. Whether the rank has neither left nor died, as far as this node knows.
  function job_is_present(self, rank, stat, errmsg) result(value)
    class(tessera_job), intent(in) :: self
    integer, intent(in) :: rank
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    logical :: value
    type(c_ptr) :: handle
    integer(c_int) :: code
    integer(c_int) :: number
    number = 0
    if (open_cell(self%own, kind_job, "is_present", handle, code)) &
        code = c_job_is_present(handle, int(rank, c_int64_t), number)
    value = number /= 0
    call finish(code, stat, errmsg)
  end function job_is_present

  !> Local. The name of the transport to a rank: "shm", "tcp".
  function job_transport(self, rank, stat, errmsg) result(text)
    class(tessera_job), intent(in) :: self
    integer, intent(in) :: rank
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    character(:), allocatable :: text
    type(c_ptr) :: handle
    integer(c_int) :: code
    integer(c_int64_t) :: length
    character(kind=c_char) :: characters(1024)
    characters = c_null_char
    if (open_cell(self%own, kind_job, "transport", handle, code)) &
        code = c_job_transport(handle, int(rank, c_int64_t), characters, size(characters, &
            kind=c_int64_t), length)
    text = text_of(characters)
    call finish(code, stat, errmsg)
  end function job_transport

  !> Local. The value of a setting, for example "TESSERA_LOG", as text.
  function job_setting(self, name, stat, errmsg) result(text)
    class(tessera_job), intent(in) :: self
    character(*), intent(in) :: name
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    character(:), allocatable :: text
    type(c_ptr) :: handle
    integer(c_int) :: code
    integer(c_int64_t) :: length
    character(kind=c_char) :: characters(1024)
    characters = c_null_char
    if (open_cell(self%own, kind_job, "setting", handle, code)) &
        code = c_job_setting(handle, c_text(name), characters, size(characters, kind=c_int64_t), &
            length)
    text = text_of(characters)
    call finish(code, stat, errmsg)
  end function job_setting

  !> Local. Begins a phase of this thread, such as "deposit", for profiles (docs/profile.md) and
  !> TESSERA_CHECK=races. Phases nest. Errors: invalid_argument (a blank name).
  subroutine job_begin_phase(self, name, stat, errmsg)
    class(tessera_job), intent(in) :: self
    character(*), intent(in) :: name
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: handle
    integer(c_int) :: code
    if (open_cell(self%own, kind_job, "begin_phase", handle, code)) &
        code = c_job_begin_phase(handle, c_text(name))
    call finish(code, stat, errmsg)
  end subroutine job_begin_phase

  !> Local. Ends this thread's innermost phase, which must have that name if one is given. Errors:
  !> invalid_argument (this thread is in no phase, or in another one; nothing ends then). A job
  !> without a profile and without the check records no phases, and compares no names.
  subroutine job_end_phase(self, name, stat, errmsg)
    class(tessera_job), intent(in) :: self
    character(*), intent(in), optional :: name
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: handle
    integer(c_int) :: code
    if (open_cell(self%own, kind_job, "end_phase", handle, code)) then
      if (present(name)) then
        code = c_job_end_phase(handle, c_text(name))
      else
        code = c_job_end_phase(handle, c_text(""))
      end if
    end if
    call finish(code, stat, errmsg)
  end subroutine job_end_phase

  !> One-sided. Waits until all detached transfers, or those with one rank, are complete here.
  subroutine job_wait(self, rank, stat, errmsg)
    class(tessera_job), intent(in) :: self
    integer, intent(in), optional :: rank
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: handle
    integer(c_int) :: code
    if (open_cell(self%own, kind_job, "wait", handle, code)) then
      if (present(rank)) then
        code = c_job_wait_rank(handle, int(rank, c_int64_t))
      else
        code = c_job_wait_all(handle)
      end if
    end if
    call finish(code, stat, errmsg)
  end subroutine job_wait

  !> One-sided. Returns when all operations of this rank are complete at their targets: on all
  !> ranks, or on one. Reports errors of transfers that the program did not wait for.
  subroutine job_fence(self, rank, stat, errmsg)
    class(tessera_job), intent(in) :: self
    integer, intent(in), optional :: rank
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: handle
    integer(c_int) :: code
    if (open_cell(self%own, kind_job, "fence", handle, code)) then
      if (present(rank)) then
        code = c_job_fence(handle, int(rank, c_int64_t))
      else
        code = c_job_fence_all(handle)
      end if
    end if
    call finish(code, stat, errmsg)
  end subroutine job_fence

  !> Collective over all ranks. A fence of all operations, and a barrier.
  subroutine job_barrier(self, stat, errmsg)
    class(tessera_job), intent(in) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call act(self%own, kind_job, "barrier", c_job_barrier, stat, errmsg)
  end subroutine job_barrier

  !> One-sided. Notifies a rank. When it sees the notification, it also sees what this rank had put
  !> and accumulated there before. `sent`, an integer of any kind, is the total number of
  !> notifications sent to that rank. Errors: out_of_range, peer_lost.
  subroutine job_notify(self, rank, sent, stat, errmsg)
    class(tessera_job), intent(in) :: self
    integer, intent(in) :: rank
    type(*), dimension(..), intent(inout), optional :: sent
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_job_notify(self%own%at, int(rank, c_int64_t), sent), stat, errmsg)
  end subroutine job_notify

  !> Local. Sleeps until the rank has sent this rank `count` notifications in total; `received` is
  !> the number received. Errors: out_of_range, peer_lost (the rank is gone, and it sent fewer).
  subroutine job_wait_for_notifications(self, rank, count, received, stat, errmsg)
    class(tessera_job), intent(in) :: self
    integer, intent(in) :: rank
    type(*), dimension(..), intent(in) :: count
    type(*), dimension(..), intent(inout), optional :: received
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_job_wait_for_notifications(self%own%at, int(rank, c_int64_t), count, received), &
        stat, errmsg)
  end subroutine job_wait_for_notifications

  !> Local. The number of operations of a kind (tessera_op_put and so on) that this rank made, and
  !> the bytes they moved, in integers of any kind: to all ranks, or to one.
  subroutine job_traffic(self, op, operations, bytes, rank, stat, errmsg)
    class(tessera_job), intent(in) :: self
    integer, intent(in) :: op
    type(*), dimension(..), intent(inout) :: operations, bytes
    integer, intent(in), optional :: rank
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: of
    of = 0
    if (present(rank)) of = int(rank, c_int64_t)
    call finish(f_job_traffic(self%own%at, merge(1_c_int, 0_c_int, present(rank)), of, &
        c_number(op), operations, bytes), stat, errmsg)
  end subroutine job_traffic

  !> Local. Zeroed memory that transports use without copying or registering it; c_f_pointer makes
  !> it an array.
  subroutine job_allocate_local(self, bytes, memory, stat, errmsg)
    class(tessera_job), intent(in) :: self
    type(*), dimension(..), intent(in) :: bytes
    type(c_ptr), intent(out) :: memory
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    memory = c_null_ptr
    call finish(f_job_allocate_local(self%own%at, bytes, memory), stat, errmsg)
  end subroutine job_allocate_local

  !> Local. Frees memory from allocate_local.
  subroutine job_free_local(self, memory, stat, errmsg)
    class(tessera_job), intent(in) :: self
    type(c_ptr), intent(in) :: memory
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: handle
    integer(c_int) :: code
    if (open_cell(self%own, kind_job, "free_local", handle, code)) &
        code = c_job_free_local(handle, memory)
    call finish(code, stat, errmsg)
  end subroutine job_free_local

  !> Local. Bytes of this rank's memory that arrays and other remotely accessible memory take.
  function job_memory_in_use(self, stat, errmsg) result(bytes)
    class(tessera_job), intent(in) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: bytes
    bytes = number64_of(self%own, kind_job, "memory_in_use", c_job_memory_in_use, stat, errmsg)
  end function job_memory_in_use

  !> Local. A table of that memory, one line each.
  function job_regions(self, stat, errmsg) result(text)
    class(tessera_job), intent(in) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    character(:), allocatable :: text
    text = text_from(self%own, kind_job, "regions", c_job_regions, stat, errmsg)
  end function job_regions

  !> Local. Bytes of memory that this process can still allocate: the memory that the kernel reports
  !> as available, or what its control group leaves, whichever is less. Needs no job.
  function tessera_memory_available(stat, errmsg) result(bytes)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: bytes
    bytes = 0
    call finish(c_memory_available(bytes), stat, errmsg)
  end function tessera_memory_available

  !> Local; does not return. Ends this process with exit code `code` (1 if it is 0, which would mean
  !> success) and all other processes of the job, also those that only compute: under mpirun with
  !> MPI, and under tessera-run. Elsewhere the other ranks get an error from their next wait.
  !> Flushes standard output and error, but not other Fortran units. Needs no job.
  subroutine tessera_end_job(code)
    integer, intent(in) :: code
    flush (output_unit)
    call c_end_job(c_number(code))
  end subroutine tessera_end_job

  !> Collective over the listed ranks, which all give the same list; without a list, local: the team
  !> of all ranks. Errors: invalid_argument (an empty list, a rank twice or outside the job, the
  !> caller is not in the list).
  subroutine team_create(self, job, ranks, stat, errmsg)
    class(tessera_team), intent(inout) :: self
    type(tessera_job), intent(in) :: job
    type(*), dimension(..), intent(in), optional :: ranks
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_team_create(self%own%at, job%own%at, ranks), stat, errmsg)
  end subroutine team_create

  !> Collective. Members that give the same color form the team `part`, ordered by key; a negative
  !> color gives a team of the caller alone.
  subroutine team_split(self, color, key, part, stat, errmsg)
    class(tessera_team), intent(in) :: self
    integer, intent(in) :: color, key
    type(tessera_team), intent(inout) :: part
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_team_split(part%own%at, self%own%at, int(color, c_int64_t), int(key, &
        c_int64_t)), stat, errmsg)
  end subroutine team_split

  !> Local. Arrays on the team stay valid.
  subroutine team_free(self, stat, errmsg)
    class(tessera_team), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call self%own%free(stat, errmsg)
  end subroutine team_free

  !> Local. The handle of tessera/tessera.h, for C and C++; the variable keeps ownership.
  function team_c_handle(self, stat, errmsg) result(handle)
    class(tessera_team), intent(in) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: handle
    handle = handle_of(self%own, kind_team, "c_handle", stat, errmsg)
  end function team_c_handle

  !> Local. This rank's member number in the team, from 0.
  function team_rank(self, stat, errmsg) result(value)
    class(tessera_team), intent(in) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer :: value
    value = number_of(self%own, kind_team, "rank", c_team_rank, -1, stat, errmsg)
  end function team_rank

  !> Local. The number of members.
  function team_size(self, stat, errmsg) result(value)
    class(tessera_team), intent(in) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer :: value
    value = number_of(self%own, kind_team, "size", c_team_size, -1, stat, errmsg)
  end function team_size

  !> Local. The rank of a member.
  function team_world_rank(self, member, stat, errmsg) result(value)
    class(tessera_team), intent(in) :: self
    integer, intent(in) :: member
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer :: value
    type(c_ptr) :: handle
    integer(c_int) :: code
    integer(c_int64_t) :: number
    number = -1
    if (open_cell(self%own, kind_team, "world_rank", handle, code)) &
        code = c_team_world_rank(handle, int(member, c_int64_t), number)
    value = int(number)
    call finish(code, stat, errmsg)
  end function team_world_rank

  !> Local. The member number of a rank, or -1 if it is not a member.
  function team_member(self, rank, stat, errmsg) result(value)
    class(tessera_team), intent(in) :: self
    integer, intent(in) :: rank
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer :: value
    type(c_ptr) :: handle
    integer(c_int) :: code
    integer(c_int64_t) :: number
    number = -1
    if (open_cell(self%own, kind_team, "member", handle, code)) &
        code = c_team_member(handle, int(rank, c_int64_t), number)
    value = int(number)
    call finish(code, stat, errmsg)
  end function team_member

  !> Collective. Returns when all members have called it. Errors of all collectives: peer_lost,
  !> closed, invalid_argument (members called different collectives, or with different sizes).
  subroutine team_barrier(self, stat, errmsg)
    class(tessera_team), intent(in) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call act(self%own, kind_team, "barrier", c_team_barrier, stat, errmsg)
  end subroutine team_barrier

  !> Collective. Copies the root's buffer, of any type and shape, to all members.
  subroutine team_broadcast(self, buffer, root, stat, errmsg)
    class(tessera_team), intent(in) :: self
    type(*), dimension(..), intent(inout) :: buffer
    integer, intent(in) :: root
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_team_broadcast(kind_team, self%own%at, buffer, int(root, c_int64_t)), stat, errmsg)
  end subroutine team_broadcast

  !> Collective. Collects the same number of elements from each member, in their order, in `all`.
  subroutine team_allgather(self, mine, all, stat, errmsg)
    class(tessera_team), intent(in) :: self
    type(*), dimension(..), intent(in) :: mine
    type(*), dimension(..), intent(inout) :: all
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_team_allgather(kind_team, self%own%at, mine, all), stat, errmsg)
  end subroutine team_allgather

  !> Collective. Combines the elements of all members, in place on all of them; the reduction is
  !> tessera_sum and so on. The result is the same in each run, and on all members.
  subroutine team_allreduce(self, elements, reduction, stat, errmsg)
    class(tessera_team), intent(in) :: self
    type(*), dimension(..), intent(inout) :: elements
    integer, intent(in) :: reduction
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_team_reduce(kind_team, self%own%at, elements, c_number(reduction)), stat, errmsg)
  end subroutine team_allreduce

  !> Collective. The same, in place on the root only.
  subroutine team_reduce(self, elements, reduction, root, stat, errmsg)
    class(tessera_team), intent(in) :: self
    type(*), dimension(..), intent(inout) :: elements
    integer, intent(in) :: reduction, root
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_team_reduce(kind_team, self%own%at, elements, c_number(reduction), int(root, &
        c_int64_t)), stat, errmsg)
  end subroutine team_reduce

  !> Collective. Agrees on one error code: 0 if all members give 0. Otherwise all members get the
  !> code of the lowest member that gives another one, with that member's text in `errmsg`. After an
  !> error on one member, all members can so skip the same collectives. In `stat` and `errmsg` each
  !> member gives what its own procedure returned; without `errmsg` the text is that of its last
  !> error.
  subroutine team_agree(self, stat, errmsg)
    class(tessera_team), intent(in) :: self
    integer, intent(inout) :: stat
    character(*), intent(inout), optional :: errmsg
    call agree(kind_team, self%own, stat, errmsg)
  end subroutine team_agree

  !> Collective over all ranks. This one and the next three do what the procedures of a team of all
  !> ranks do.
  subroutine job_broadcast(self, buffer, root, stat, errmsg)
    class(tessera_job), intent(in) :: self
    type(*), dimension(..), intent(inout) :: buffer
    integer, intent(in) :: root
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_team_broadcast(kind_job, self%own%at, buffer, int(root, c_int64_t)), stat, errmsg)
  end subroutine job_broadcast

  subroutine job_allgather(self, mine, all, stat, errmsg)
    class(tessera_job), intent(in) :: self
    type(*), dimension(..), intent(in) :: mine
    type(*), dimension(..), intent(inout) :: all
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_team_allgather(kind_job, self%own%at, mine, all), stat, errmsg)
  end subroutine job_allgather

  subroutine job_allreduce(self, elements, reduction, stat, errmsg)
    class(tessera_job), intent(in) :: self
    type(*), dimension(..), intent(inout) :: elements
    integer, intent(in) :: reduction
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_team_reduce(kind_job, self%own%at, elements, c_number(reduction)), stat, errmsg)
  end subroutine job_allreduce

  subroutine job_reduce(self, elements, reduction, root, stat, errmsg)
    class(tessera_job), intent(in) :: self
    type(*), dimension(..), intent(inout) :: elements
    integer, intent(in) :: reduction, root
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_team_reduce(kind_job, self%own%at, elements, c_number(reduction), int(root, &
        c_int64_t)), stat, errmsg)
  end subroutine job_reduce

  subroutine job_agree(self, stat, errmsg)
    class(tessera_job), intent(in) :: self
    integer, intent(inout) :: stat
    character(*), intent(inout), optional :: errmsg
    call agree(kind_job, self%own, stat, errmsg)
  end subroutine job_agree

  subroutine agree(kind, own, stat, errmsg)
    integer(c_int), intent(in) :: kind
    type(owned_cell), intent(in) :: own
    integer, intent(inout) :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int) :: code
    if (present(errmsg)) then
      code = f_team_agree(kind, own%at, c_number(stat), errmsg, len_trim(errmsg, c_int64_t))
    else
      code = f_team_agree(kind, own%at, c_number(stat), length=0_c_int64_t)
    end if
    call finish(code, stat, errmsg)
  end subroutine agree

end module tessera_jobs
