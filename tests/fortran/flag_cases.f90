! SPDX-License-Identifier: BSD-3-Clause
!
! Flags and notifications: a rank that sees them sees the data.
module flag_cases
  use checks
  use, intrinsic :: iso_fortran_env, only: int8, int32, int64, real64
  use tessera
  implicit none
  private
  public :: run_flag_cases

  integer, parameter :: length = 40, rounds = 20

contains

  subroutine run_flag_cases()
    call run_case("flag.behind_puts", behind_puts, .true.)
    call run_case("flag.with_puts", with_puts, .true.)
    call run_case("flag.matrices", matrices, .true.)
    call run_case("flag.errors", flag_errors, .true.)
    call run_case("flag.notifications", notifications, .true.)
    call run_case("flag.notification_errors", notification_errors, .true.)
  end subroutine run_flag_cases

  function right() result(neighbour)
    integer :: neighbour
    neighbour = mod(member + 1, members)
  end function right

  function left() result(neighbour)
    integer :: neighbour
    neighbour = mod(member + members - 1, members)
  end function left

  !> The expected contents of the part of `member` in a round.
  function values_of(from, round) result(values)
    integer, intent(in) :: from, round
    real(real64) :: values(length)
    integer :: i
    values = [(1000.0_real64 * round + 100 * from + i, i = 1, length)]
  end function values_of

  !> Checks that the own part of `data` is what the left neighbour put there.
  subroutine check_own_part(data, round)
    type(tessera_array), intent(in) :: data
    integer, intent(in) :: round
    real(real64) :: seen(length)
    call data%get(member * length + 1, (member + 1) * length, seen)
    call check(all(seen == values_of(left(), round)), "who sees the flag sees the data")
    call team%barrier()
  end subroutine check_own_part

  subroutine behind_puts()
    type(tessera_array) :: data, flags
    integer :: round
    call make_vector(data, tessera_real64, members * length, "data")
    call make_vector(flags, tessera_int32, members, "flags")
    do round = 1, rounds
      call data%put(right() * length + 1, (right() + 1) * length, values_of(member, round))
      call flags%raise_flag(right() + 1, round)
      call flags%wait_for_flag(member + 1, round, left())
      call check_own_part(data, round)
    end do
  end subroutine behind_puts

  subroutine with_puts()
    type(tessera_array) :: data, flags
    integer(int64) :: now
    integer :: round
    call make_vector(data, tessera_real64, members * length, "data")
    call make_vector(flags, tessera_int32, members, "flags")
    do round = 1, rounds
      call data%put_with_flag(right() * length + 1, (right() + 1) * length, &
          values_of(member, round), flags, right() + 1, -int(round, int64))
      call flags%wait_for_flag_change(member + 1, 1 - round, left(), now)
      call check(now == -round, "what the flag was raised to")
      call check_own_part(data, round)
    end do
  end subroutine with_puts

  !> Sections of a matrix at all members, and a flag of two dimensions: as Fortran counts them.
  subroutine matrices()
    type(tessera_array) :: data, flags
    real(real64) :: wide(14, 8), seen(7, 4)
    integer :: i, j
    integer(int8) :: now
    call make_matrix(data, 9, 5, "data")
    call flags%create(job, tessera_int32, [2, members], name="flags", team=team, &
        process_grid=[1, members])
    if (member == 0) then
      wide = -1
      wide(::2, ::2) = reshape([((rule(i, j), i = 1, 7), j = 1, 4)], [7, 4])
      call data%put_with_flag([2, 2], [8, 5], wide(::2, ::2), flags, [2, members], 3)
    end if
    if (member == members - 1) then
      call flags%wait_for_flag_change([2, members], 0, 0, now)
      call check(now == 3, "the flag")
      call data%get([2, 2], [8, 5], seen)
      call check(all(seen == reshape([((rule(i, j), i = 1, 7), j = 1, 4)], [7, 4])), "the section")
      call flags%get_element([1, members], i)
      call check(i == 0, "its neighbour")
    end if
    call flags%sync()
  end subroutine matrices

  subroutine flag_errors()
    type(tessera_array) :: data, flags, none
    real(real64) :: x(8)
    integer(int8) :: now
    x = 1
    now = 7
    call make_vector(data, tessera_real64, 8, "data")
    call make_vector(flags, tessera_int32, members, "flags")
    call data%raise_flag(1, 1, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, &
        "tessera_array%raise_flag: raising a flag of array 'data' (real(real64), shape (8))")
    call check_has(message, "its elements can't be flags")
    call flags%raise_flag(0, 1, stat=code, errmsg=message)
    call check_error(tessera_out_of_range, "dimension 1 has indices 1 to")
    call flags%raise_flag([1, 1], 1, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "index has 2 numbers")
    call flags%raise_flag(1, 2_int64**31, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "value is 2147483648; flags have 32 bits")
    call flags%raise_flag(1, 1.0, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "value is real(real32); it must be of type integer")
    call none%raise_flag(1, 1, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "the array in this call has not been created")
    call data%put_with_flag(2, 9, x, flags, 1, 1, stat=code, errmsg=message)
    call check_error(tessera_out_of_range, "put to array 'data' (real(real64), shape (8)): (2:9)")
    call data%put_with_flag(1, 8, x(1:7), flags, 1, 1, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "the buffer has the shape (7)")
    call data%put_with_flag(1, 8, x, data, 1, 1, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "its elements can't be flags")
    call data%put_with_flag(1, 8, x, none, 1, 1, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "the array in this call has not been created")
    call flags%wait_for_flag(member + 1, 1, members, stat=code, errmsg=message)
    call check_error(tessera_out_of_range, "there is no member")
    if (members > 1) then
      call flags%wait_for_flag(right() + 1, 1, 0, stat=code, errmsg=message)
      call check_error(tessera_invalid_argument, &
          "tessera_array%wait_for_flag: waiting for a flag of array 'flags'")
      call flags%wait_for_flag_change(right() + 1, 0, 0, now, stat=code, errmsg=message)
      call check_error(tessera_invalid_argument, "waits for it")
    end if
    call flags%wait_for_flag_change(member + 1, 0, 0, x(1), stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "now is real(real64)")
    call check(now == 7, "what failed changes nothing")
    call data%sync()
    call data%get(1, 8, x)
    call check(all(x == 0), "nothing was put")
  end subroutine flag_errors

  subroutine notifications()
    type(tessera_array) :: data
    integer(int64) :: before, sent, received
    integer :: round, to, from
    call make_vector(data, tessera_real64, members * length, "data")
    to = team%world_rank(right())
    from = team%world_rank(left())
    call job%wait_for_notifications(from, 0, before)
    call team%barrier()
    do round = 1, rounds
      call data%put(right() * length + 1, (right() + 1) * length, values_of(member, round))
      call job%notify(to, sent)
      call check(sent >= round, "notifications sent")
      call job%wait_for_notifications(from, before + round, received)
      call check(received == before + round, "notifications received")
      call check_own_part(data, round)
    end do
  end subroutine notifications

  subroutine notification_errors()
    type(tessera_job) :: nobody
    integer(int64) :: received
    real(real64) :: fraction
    received = 7
    call job%notify(job%size(), stat=code, errmsg=message)
    call check_error(tessera_out_of_range, "there is no rank")
    call nobody%notify(0, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "the job has not been started")
    call job%wait_for_notifications(-1, 0, received, stat=code, errmsg=message)
    call check_error(tessera_out_of_range, "there is no rank -1")
    call job%wait_for_notifications(0, -3, received, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "-3 notifications are not possible")
    call job%wait_for_notifications(0, [1, 2], received, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "count has 2 numbers")
    call job%notify(job%rank(), fraction, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "sent is real(real64)")
    call check(received == 7, "what failed changes nothing")
  end subroutine notification_errors

end module flag_cases
