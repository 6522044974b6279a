! SPDX-License-Identifier: BSD-3-Clause
!
! The run, teams, locks and counters.
module job_cases
  use, intrinsic :: iso_c_binding
  use checks
  use, intrinsic :: iso_fortran_env, only: int8, int16, int32, int64, real32, real64
  use tessera
  implicit none
  private
  public :: run_job_cases

contains

  subroutine run_job_cases()
    call run_case("job.asking", asking, .false.)
    call run_case("job.completion", completion, .false.)
    call run_case("job.errors", job_errors, .false.)
    call run_case("job.settings", settings, .false.)
    call run_case("job.phases", phases, .false.)
    call run_case("job.memory", memory, .false.)
    call run_case("team.making", making_teams, .true.)
    call run_case("team.collectives", collectives, .true.)
    call run_case("team.blocks", blocks_of_members, .true.)
    call run_case("team.scans", scans, .true.)
    call run_case("team.async", collectives_without_waiting, .true.)
    call run_case("team.sections", sections_in_collectives, .true.)
    call run_case("team.agreement", agreement, .true.)
    call run_case("team.of_all", collectives_of_all, .false.)
    call run_case("team.errors", team_errors, .true.)
    call run_case("team.assumed_size", assumed_size, .true.)
    call run_case("team.mismatches", mismatches, .true.)
    call run_case("locks.exclude", locks_exclude, .true.)
    call run_case("locks.errors", locks_errors, .true.)
    call run_case("counter.draws", counter_draws, .true.)
  end subroutine run_job_cases

  subroutine asking()
    integer :: i, nodes
    nodes = job%node_count()
    call check(job%rank() == member .and. job%size() == members, "rank and size are the team's")
    do i = 0, job%size() - 1
      call check(job%node(i) >= 0 .and. job%node(i) < nodes, "a node's number")
      call check(job%shares_node(i) .eqv. job%node(i) == job%node(job%rank()), "shares_node")
      call check(job%is_present(i), "is_present")
      call check(len(job%transport(i)) > 2, "a transport's name: " // job%transport(i))
    end do
    call check(job%setting("TESSERA_LOG") /= "", "a setting's value")
    call check(index(tessera_version(), ".") > 0, "version " // tessera_version())
    call check(tessera_error_name(tessera_peer_lost) == "peer_lost", "name of a code")
    call check(tessera_error_name(99) == "unknown", "name of no code")
  end subroutine asking

  subroutine completion()
    integer(int64) :: before, after, bytes
    type(tessera_array) :: a
    type(c_ptr) :: memory
    real(real64), pointer :: x(:)
    call job%traffic(tessera_op_put, before, bytes)
    call a%create(job, tessera_real64, [4], name="A")
    call a%put([1], [4], [1.0_real64, 2.0_real64, 3.0_real64, 4.0_real64])
    call job%traffic(tessera_op_put, after, bytes)
    call check(after > before, "traffic counts puts")
    call job%traffic(tessera_op_put, after, bytes, rank=0)
    call job%wait()
    call job%wait(rank=0)
    call job%fence(rank=0)
    call job%fence()
    call job%barrier()
    call job%allocate_local(80_int64, memory)
    call c_f_pointer(memory, x, [10])
    call check(all(x == 0), "local memory is zeroed")
    call a%get(1, 4, x(1:4))
    call check(sum(x) == 10, "it holds what was got")
    call job%free_local(memory)
  end subroutine completion

  subroutine job_errors()
    type(tessera_job), save :: other  ! the cell of a job outlives it
    integer :: nothing
    character(:), allocatable :: text
    call job%start(stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "this variable already has its job")
    call other%barrier(stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "tessera_job%barrier: the job has not been started")
    call check_has(message, "hint: call job%start() first")
    nothing = job%node(job%size(), stat=code, errmsg=message)
    call check_error(tessera_out_of_range, "there is no rank")
    call check(tessera_last_error_rank() == -1, "it is about no rank")
    call check(tessera_last_error() == trim(message), "the last error is that of errmsg")
    text = job%setting("TESSERA_LOGG", stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "there is no setting 'TESSERA_LOGG'")
    call check(text == "" .and. nothing == -1, "results of what failed")
    call other%start_alone()
    call check(other%size() == 1, "a job alone")
    call other%stop()
    call other%barrier(stat=code, errmsg=message)
    call check_error(tessera_closed, "the job was stopped")
    call other%stop()
  end subroutine job_errors

  !> Phases end by name; names are compared if they are recorded.
  subroutine phases()
    type(tessera_job), save :: checked
    call checked%start(settings=["TESSERA_BOOTSTRAP=alone", "TESSERA_CHECK=races    "])
    call checked%begin_phase(" ", stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "a phase needs a name")
    call checked%begin_phase("step")
    call checked%begin_phase("push  ")
    call checked%end_phase("step", stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, &
        "end of phase 'step': the innermost phase of this thread is 'step/push'")
    call checked%end_phase("push")
    call checked%end_phase()
    call checked%end_phase("step", stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "end of phase 'step': this thread is in no phase")
    call checked%stop()
    call checked%start(settings=["TESSERA_BOOTSTRAP=alone"])
    call checked%begin_phase("step")
    call checked%end_phase("other")
    call checked%stop()
  end subroutine phases

  !> Settings of the program override those of the environment, for this job only.
  subroutine settings()
    type(tessera_job), save :: other
    character(40) :: lines(4)
    lines = ["TESSERA_TUNE=max_outstanding=77 ", "TESSERA_BOOTSTRAP=alone         ", &
        "TESSERA_NONE=1                  ", "TESSERA_LOG                     "]
    call other%start(settings=lines(1:2))
    call check(other%size() == 1 .and. other%setting("max_outstanding") == "77", "both")
    call check(job%setting("max_outstanding") /= "77", "of the other job only")
    call other%stop()
    call other%start(settings=lines(2:1:-1))
    call check(other%setting("max_outstanding") == "77", "in another order")
    call other%stop()
    call other%start(settings=lines(3:3), stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "there is no setting 'TESSERA_NONE'")
    call other%start(settings=lines(4:4), stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "the setting 'TESSERA_LOG' has no value")
    call other%start(settings=["TESSERA_SERVER=never"], stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "block, poll or adaptive")
  end subroutine settings

  !> The cases of C check this exactly.
  subroutine memory()
    integer(int64) :: bytes
    type(tessera_array) :: a
    type(tessera_job) :: nobody
    bytes = tessera_memory_available(stat=code)
    call check(code == 0 .and. bytes > 2_int64**20, "there is some memory")
    call check(tessera_memory_available() < 2_int64**60, "in bytes")
    bytes = job%memory_in_use()
    call a%create(job, tessera_real64, [1000, job%size()], name="a matrix of the test's", &
        process_grid=[1, job%size()])
    call check(job%memory_in_use() == bytes + 8000, "each has a column")
    call check_has(job%regions(), "a matrix of the test's")
    call a%free()
    call check(job%memory_in_use() == bytes, "it is given back")
    call check(index(job%regions(), "a matrix") == 0, "and in no list")
    bytes = nobody%memory_in_use(stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "the job has not been started")
    call check(nobody%regions(stat=code) == "", "no job, no regions")
    call check(code == tessera_invalid_argument, "and an error")
  end subroutine memory

  subroutine making_teams()
    type(tessera_team) :: half, world, copy
    integer :: i
    call world%create(job)
    call check(world%size() == job%size() .and. world%rank() == job%rank(), "the team of all")
    call team%split(mod(member, 2), -member, half)
    call check(half%size() == (members + 1 - mod(member, 2)) / 2, "size of a half")
    do i = 0, half%size() - 1
      call check(mod(team%member(half%world_rank(i)), 2) == mod(member, 2), "members of a half")
    end do
    call check(half%world_rank(half%rank()) == job%rank(), "my place in a half")
    if (half%size() > 1) then
      call check(team%member(half%world_rank(0)) > team%member(half%world_rank(1)), "order by key")
    end if
    call half%barrier()
    copy = half
    call check(copy%size() == half%size(), "a copy refers to the same")
    call half%free()
    call copy%barrier(stat=code, errmsg=message)
    call check_error(tessera_closed, "the team was freed")
    call half%free()
  end subroutine making_teams

  subroutine collectives()
    integer :: numbers(2), i
    integer(int8) :: bytes(3)
    complex(real64) :: z
    real(real32), allocatable :: everybody(:, :)
    real(real32) :: mine(2)
    character(5) :: word
    numbers = [member, 10]
    call team%allreduce(numbers, tessera_sum)
    call check(numbers(1) == members * (members - 1) / 2 .and. numbers(2) == 10 * members, "sum")
    bytes = int([member, -member, 1], int8)
    call team%allreduce(bytes, tessera_max)
    call check(all(bytes == [members - 1, 0, 1]), "max of small integers")
    z = cmplx(1, member, real64)
    call team%reduce(z, tessera_sum, members - 1)
    if (member == members - 1) then
      call check(z == cmplx(members, members * (members - 1) / 2, real64), "sum at the root")
    end if
    word = merge("hello", "?????", member == 0)
    call team%broadcast(word, 0)
    call check(word == "hello", "broadcast of a text")
    mine = [real(member), -real(member)]
    allocate (everybody(2, 0:members - 1))
    call team%allgather(mine, everybody)
    call check(all(everybody(1, :) == [(real(i), i = 0, members - 1)]), "allgather")
    call check(all(everybody(2, :) == -everybody(1, :)), "allgather, second row")
  end subroutine collectives

  !> Member m sends mod(3 * m + 2 * n, 4) numbers to member n, each 100 * m + n.
  subroutine blocks_of_members()
    integer :: leaving(members), arriving(members), i, j, at
    real(real64), allocatable :: sent(:), received(:), all_of_them(:), own(:)
    leaving = [(mod(3 * member + 2 * i, 4), i = 0, members - 1)]
    call tessera_alltoall(team, leaving, arriving)
    call check(all(arriving == [(mod(3 * i + 2 * member, 4), i = 0, members - 1)]), "alltoall")
    allocate (sent(sum(leaving)))
    sent(:) = [((real(100 * member + i, real64), j = 1, leaving(i + 1)), i = 0, members - 1)]
    allocate (received(sum(arriving)), source=-1.0_real64)
    call tessera_alltoallv(team, sent, leaving, received, arriving)
    call check(all(received == [((real(100 * i + member, real64), j = 1, arriving(i + 1)), &
        i = 0, members - 1)]), "alltoallv")
    arriving = [(1 + mod(i, 2), i = 0, members - 1)]
    allocate (own(arriving(member + 1)))
    own(:) = [(real(10 * member + j, real64), j = 1, size(own))]
    allocate (all_of_them(sum(arriving)), source=0.0_real64)
    call tessera_gatherv(team, own, all_of_them, arriving, members - 1)
    if (member == members - 1) call check_gathered()
    call tessera_allgatherv(team, own, all_of_them, arriving)
    call check_gathered()
    own = -1
    call tessera_scatterv(team, all_of_them, arriving, own, 0)
    call check(all(own == [(real(10 * member + j, real64), j = 1, size(own))]), "scatterv")
    call tessera_alltoallv(team, own, arriving, received, leaving(:members - 1), stat=code, &
        errmsg=message)
    call check(code == tessera_invalid_argument, "counts for too few members")
    call tessera_gatherv(team, own, all_of_them, -arriving, 0, stat=code, errmsg=message)
    call check(code == tessera_invalid_argument, "negative counts")
    call tessera_alltoall(team, leaving, own, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "send is integer")
  contains
    subroutine check_gathered()
      at = 0
      do i = 0, members - 1
        do j = 1, arriving(i + 1)
          at = at + 1
          call check(all_of_them(at) == 10 * i + j, "gathered")
        end do
      end do
    end subroutine check_gathered
  end subroutine blocks_of_members

  subroutine scans()
    integer(int64) :: numbers(2)
    real(real32) :: x
    numbers = [member, 1]
    call tessera_scan(team, numbers, tessera_sum)
    call check(all(numbers == [member * (member + 1) / 2, member + 1]), "scan")
    x = 2
    call tessera_exclusive_scan(team, x, tessera_product)
    call check(x == 2.0**member, "exclusive scan")
    call tessera_scan(team, x, 77, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "no reduction 77")
  end subroutine scans

  subroutine collectives_without_waiting()
    type(tessera_transfers) :: pending, other
    integer, asynchronous :: total
    real(real64), asynchronous :: x(10)
    total = member
    x = member
    call tessera_allreduce_async(team, total, tessera_sum, pending)
    call tessera_allreduce_async(team, x, tessera_max, pending)
    call tessera_barrier_async(team, other)
    call team%barrier()
    call other%wait()
    call pending%wait()
    call check(total == members * (members - 1) / 2, "a sum without waiting")
    call check(all(x == members - 1), "a maximum without waiting")
    call tessera_allreduce_async(team, x(1:10:2), tessera_max, pending, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "elements is a section with gaps")
    call tessera_barrier_async(team, other)
    call other%wait()
  end subroutine collectives_without_waiting

  !> One member's error becomes that of all, with its text.
  subroutine agreement()
    integer :: status
    character(200) :: text
    status = 0
    text = "fine"
    call team%agree(status, text)
    call check(status == 0 .and. text == "fine", "all are well")
    if (member == members - 1) then
      status = tessera_unreachable
      text = "no input file"
    end if
    call team%agree(status, text)
    call check(status == tessera_unreachable, "the code of one member")
    call check_has(text, "no input file")
    call check_has(text, "tessera_team_agree")
    call check(tessera_last_error_rank() == team%world_rank(members - 1), "whose it is")
    status = merge(99, 0, member == 0)
    call team%agree(status, text)
    call check(status == tessera_invalid_argument, "no code")
    call check_has(text, "99 is not an error code")
  end subroutine agreement

  !> Of all ranks, without a variable for their team.
  subroutine collectives_of_all()
    integer, allocatable :: everybody(:)
    integer :: number, status
    logical :: is_so
    character(5) :: word
    type(tessera_job) :: nobody
    type(tessera_counter) :: counter
    type(tessera_locks) :: locks
    number = 1
    call job%allreduce(number, tessera_sum)
    call check(number == job%size(), "sum")
    number = 1
    call job%reduce(number, tessera_sum, 0)
    if (job%rank() == 0) call check(number == job%size(), "sum at the root")
    allocate (everybody(job%size()))
    call job%allgather(job%rank(), everybody)
    call check(all(everybody == [(number, number = 0, job%size() - 1)]), "allgather")
    word = merge("hello", "?????", job%rank() == 0)
    call job%broadcast(word, 0)
    call check(word == "hello", "broadcast")
    status = merge(tessera_protocol, tessera_ok, job%rank() == 0)
    call job%agree(status)
    call check(status == tessera_protocol, "agree")
    call counter%create(job)
    call locks%create(job, 1)
    call locks%lock(0, 1)
    call counter%next(number)
    call locks%unlock(0, 1)
    call check(number >= 0 .and. number < job%size(), "a counter and locks")
    call job%barrier()
    call counter%free()
    call locks%free()
    call counter%create(job, owner=job%size(), stat=code, errmsg=message)
    call check_error(tessera_out_of_range, "there is no member")
    call nobody%allreduce(number, tessera_sum, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, &
        "tessera_job%allreduce: the job has not been started")
    is_so = .true.
    call job%allreduce(is_so, tessera_sum, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, &
        "tessera_job%allreduce: the buffer is logical of 4 bytes; it must be of a numeric type")
    call job%allreduce(word, tessera_sum, stat=code)
    call check(code == tessera_invalid_argument, "a text")
    call check_has(tessera_last_error(), "the buffer is character(len=5)")
  end subroutine collectives_of_all

  subroutine sections_in_collectives()
    integer :: grid(4, 5), i, j
    grid = reshape([(i, i = 1, 20)], [4, 5])
    if (member /= 0) grid = 0
    call team%broadcast(grid(1:4:2, 2:5:3), 0)
    do j = 1, 5
      do i = 1, 4
        if (member /= 0) then
          call check(grid(i, j) == merge(i + 4 * (j - 1), 0, mod(i, 2) == 1 .and. mod(j, 3) == 2), &
              "only the section was written")
        end if
      end do
    end do
    grid = 1
    call team%allreduce(grid(2, :), tessera_sum)
    call check(all(grid(2, :) == members) .and. all(grid(1, :) == 1), "a row was reduced")
  end subroutine sections_in_collectives

  subroutine team_errors()
    type(tessera_team) :: other
    logical :: is_so
    real(real64) :: mine(2), all_of_it(1)
    real(real32) :: small(1)
    is_so = .true.
    call other%create(job, [job%rank(), job%rank()], stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "twice")
    call other%create(job, [1.5, 2.5], stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "ranks is real(real32); it must be of type integer")
    call team%allreduce(is_so, tessera_sum, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "logical of 4 bytes; it must be of a numeric type")
    call team%allgather(mine, all_of_it, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "all has 1 elements")
    call team%allgather(mine, small, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "mine is real(real64), but all is real(real32)")
    call other%barrier(stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "the team in this call has not been created")
  end subroutine team_errors

  !> The number of elements is not known.
  subroutine assumed_size()
    real(real64) :: x(4), all_of_it(4 * members)
    x = member + 1
    all_of_it = 0
    call move(x, all_of_it)
    call check(all(x == member + 1) .and. all(all_of_it == 0), "nothing was moved")
  contains
    subroutine move(x, everybody)
      real(real64), intent(inout) :: x(*), everybody(*)
      call team%broadcast(x, 0, stat=code, errmsg=message)
      call check_error(tessera_invalid_argument, "the buffer is of assumed size; its number of elements")
      call check_has(message, "hint: give a section with an upper bound, such as x(1:n)")
      call team%allreduce(x, tessera_sum, stat=code, errmsg=message)
      call check_error(tessera_invalid_argument, "%allreduce: the buffer is of assumed size")
      call team%reduce(x, tessera_sum, 0, stat=code, errmsg=message)
      call check_error(tessera_invalid_argument, "%reduce: the buffer is of assumed size")
      call team%allgather(x, everybody(1:4 * members), stat=code, errmsg=message)
      call check_error(tessera_invalid_argument, "tessera_team%allgather: mine is of assumed size")
      call team%allgather(x(1:4), everybody, stat=code, errmsg=message)
      call check_error(tessera_invalid_argument, "the buffer is of assumed size")
    end subroutine move
  end subroutine assumed_size

  !> Members that call different collectives, or the same with different sizes; the team works
  !> afterwards.
  subroutine mismatches()
    real(real64) :: x(3)
    integer :: one
    logical :: is_odd
    if (members == 1) return
    x = 1
    is_odd = member == members - 1
    if (is_odd) then
      call team%broadcast(x, 0, stat=code, errmsg=message)
    else
      call team%barrier(stat=code, errmsg=message)
    end if
    call check_error(tessera_invalid_argument, "called different collectives")
    call check_has(message, "called barrier")
    call check_has(message, "called broadcast of 24 bytes from member 0")
    call team%barrier()
    call team%allreduce(x(:merge(2, 3, is_odd)), tessera_sum, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "called allreduce of 16 bytes")
    call check_has(message, "called allreduce of 24 bytes")
    ! One that is refused before it gets there.
    if (is_odd) then
      call team%reduce(is_odd, tessera_sum, 0, stat=code, errmsg=message)
      call check_error(tessera_invalid_argument, "logical of 4 bytes; it must be of a numeric type")
    else
      call team%barrier(stat=code, errmsg=message)
      call check_error(tessera_invalid_argument, "called different collectives")
    end if
    one = 1
    call team%allreduce(one, tessera_sum)
    call check(one == members, "the team works")
  end subroutine mismatches

  subroutine locks_exclude()
    type(tessera_locks) :: locks
    type(tessera_array) :: a
    real(real64) :: x(1)
    integer :: i
    call locks%create(team, merge(2, 0, member == 0))
    call make_vector(a, tessera_real64, 1, "A")
    call check(locks%count(0) == 2, "locks of member 0")
    if (members > 1) call check(locks%count(1) == 0, "locks of member 1")
    do i = 1, 20
      call locks%lock(0, 2)
      call a%get(1, 1, x)
      x = x + 1
      call a%put(1, 1, x)
      call a%fence()
      call locks%unlock(0, 2)
    end do
    call a%sync()
    call a%get(1, 1, x)
    call check(x(1) == 20 * members, "no increment is lost")
    call team%barrier()
    if (member == 0) then
      call check(locks%try_lock(0, 1), "a free lock is taken")
      call locks%unlock(0, 1)
    end if
    call locks%free()
  end subroutine locks_exclude

  subroutine locks_errors()
    type(tessera_locks) :: locks
    call locks%create(team, 1)
    call locks%lock(0, 2, stat=code, errmsg=message)
    call check_error(tessera_out_of_range, &
        "tessera_locks%lock: there is no lock 2 at member 0: it has 1")
    call locks%lock(0, 0, stat=code, errmsg=message)
    call check_error(tessera_out_of_range, "there is no lock 0 at member 0")
    call check_has(message, "hint: locks count from 1")
    call check(index(message, "dimensions") == 0, "nothing of dimensions")
    call locks%lock(members, 1, stat=code, errmsg=message)
    call check_error(tessera_out_of_range, "tessera_locks%lock: there is no member")
    call locks%unlock(0, 2, stat=code, errmsg=message)
    call check_error(tessera_out_of_range, "tessera_locks%unlock: there is no lock 2")
    call locks%unlock(member, 1, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "hold")
    call team%barrier()
  end subroutine locks_errors

  subroutine counter_draws()
    type(tessera_counter) :: counter
    integer(int64) :: value, total
    integer :: small
    integer(int8) :: tiny_one
    call counter%create(team, owner=members - 1)
    total = 0
    do
      call counter%next(value)
      if (value >= 50) exit
      total = total + value
    end do
    call team%allreduce(total, tessera_sum)
    call check(total == 49 * 50 / 2, "each number is drawn once")
    call counter%reset(1000)
    call counter%next(small, 10)
    call check(small >= 1000 .and. mod(small, 10) == 0, "after a reset, in steps")
    call team%barrier()
    call counter%reset(1000)
    call counter%next(tiny_one, stat=code, errmsg=message)
    call check_error(tessera_out_of_range, "which does not fit integer(int8)")
    call counter%next(value, 1.0, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "count is real(real32)")
    call team%barrier()
    call counter%free()
  end subroutine counter_draws

end module job_cases
