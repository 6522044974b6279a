! SPDX-License-Identifier: BSD-3-Clause
!
! Arrays with a copy on each node, against sums that every member computes by itself.
module mirrored_cases
  use checks
  use, intrinsic :: iso_fortran_env, only: int64, real32, real64
  use tessera
  implicit none
  private
  public :: run_mirrored_cases

  integer, parameter :: n = 7, m = 11

contains

  subroutine run_mirrored_cases()
    call run_case("mirrored.sums", sums, .true.)
    call run_case("mirrored.boxes", boxes, .true.)
    call run_case("mirrored.load", loads, .true.)
    call run_case("mirrored.types", types, .true.)
    call run_case("mirrored.errors", mirrored_errors, .true.)
    call run_case("mirrored.ends", ends, .true.)
  end subroutine run_mirrored_cases

  !> The nodes of all members.
  function nodes() result(numbers)
    integer :: numbers(0:members - 1), of
    do of = 0, members - 1
      numbers(of) = job%node(team%world_rank(of))
    end do
  end function nodes

  function node_count() result(count)
    integer :: count, of, numbers(0:members - 1)
    numbers = nodes()
    count = 0
    do of = 0, members - 1
      if (all(numbers(:of - 1) /= numbers(of))) count = count + 1
    end do
  end function node_count

  !> What a member adds: numbers that only this member adds.
  function share_of(of) result(share)
    integer, intent(in) :: of
    integer(int64) :: share(n, m)
    integer :: i
    share = reshape([(7_int64 * i + (of + 1) * 1000000_int64, i = 1, n * m)], [n, m])
  end function share_of

  function sum_of_shares(here) result(total)
    logical, intent(in) :: here
    integer(int64) :: total(n, m)
    integer :: of, numbers(0:members - 1)
    numbers = nodes()
    total = 0
    do of = 0, members - 1
      if (.not. here .or. numbers(of) == numbers(member)) total = total + share_of(of)
    end do
  end function sum_of_shares

  subroutine make(mirrored, element)
    type(tessera_mirrored), intent(inout) :: mirrored
    integer(int64), intent(in) :: element
    call mirrored%create(job, element, [n, m], name="M", team=team)
  end subroutine make

  subroutine sums()
    type(tessera_mirrored) :: mirrored
    type(tessera_array) :: here, total
    type(tessera_team) :: sharers
    integer(int64) :: values(n, m)
    call mirrored%create(job, tessera_int64, [n, m], name="M", team=team, ghosts=[1, 2])
    call mirrored%here(here)
    call here%team(sharers)
    call check(sharers%size() == count(nodes() == job%node(job%rank())), "members on the node")
    call check(all(here%extents() == [n, m]), "extents")
    call here%accumulate([1, 1], [n, m], share_of(member))
    call here%sync()
    call here%get([1, 1], [n, m], values)
    call check(all(values == sum_of_shares(here=.true.)), "sum of this node's")
    call total%create(job, tessera_int64, [n, m], name="total", team=team)
    call mirrored%merge_into(total)
    call total%get([1, 1], [n, m], values)
    call check(all(values == sum_of_shares(here=.false.)), "merged into another array")
    call here%get([1, 1], [n, m], values)
    call check(all(values == sum_of_shares(here=.true.)), "copies are as before")
    call mirrored%merge()
    call here%get([1, 1], [n, m], values)
    call check(all(values == sum_of_shares(here=.false.)), "merged")
    call mirrored%free()
  end subroutine sums

  subroutine boxes()
    type(tessera_mirrored) :: mirrored
    type(tessera_array) :: here, target
    real(real64) :: values(8, 12), expected(8, 12)
    call make(mirrored, tessera_real64)
    call mirrored%here(here)
    call here%fill(2.0_real64)
    call make_matrix(target, 8, 12, "target")
    call target%fill(-1.0_real64)
    call mirrored%merge_into(target%part([3, 8], [6, 10]), [2, 4], [5, 6])
    call target%get([1, 1], [8, 12], values)
    expected = -1
    expected(3:6, 8:10) = 2 * node_count()
    call check(all(values == expected), "a box of the target")
  end subroutine boxes

  subroutine loads()
    type(tessera_mirrored) :: mirrored
    type(tessera_array) :: here, source
    real(real64) :: values(n, m), expected(n, m)
    integer :: i, j
    expected = reshape([((rule(i, j), i = 1, n), j = 1, m)], [n, m])
    call make_matrix(source, n, m, "source")
    if (member == 0) call source%put([1, 1], [n, m], expected)
    call source%sync()
    call make(mirrored, tessera_real64)
    call mirrored%here(here)
    call mirrored%load(source)
    call here%get([1, 1], [n, m], values)
    call check(all(values == expected), "all of it")
    call here%sync()
    call mirrored%load(source%part([1, 2], [3, 5]), [4, 7], [6, 10])
    call here%get([1, 1], [n, m], values)
    expected(4:6, 7:10) = expected(1:3, 2:5)
    call check(all(values == expected), "a box")
  end subroutine loads

  subroutine types()
    type(tessera_mirrored) :: mirrored
    type(tessera_array) :: here
    complex(real32) :: element
    call mirrored%create(job, tessera_complex32, 5, team=team)
    call mirrored%here(here)
    call here%fill((1.0_real32, -2.0_real32))
    call mirrored%merge()
    call here%get_element(5, element)
    call check(element == node_count() * (1.0_real32, -2.0_real32), "complex32")
  end subroutine types

  subroutine mirrored_errors()
    type(tessera_mirrored) :: mirrored, other
    type(tessera_array) :: a, integers
    type(tessera_team) :: none
    call make(mirrored, tessera_real64)
    call make_matrix(a, n, m, "A")
    call integers%create(job, tessera_int32, [n, m], name="I", team=team)
    call make_again()
    call mirrored%load(a, [1, 1], [n + 1, m], stat=code, errmsg=message)
    call check_error(tessera_out_of_range, "part of array 'M' (real(real64), shape (7, 11)): ")
    call mirrored%load(a%part([0, 1], [n, m]), stat=code, errmsg=message)
    call check_error(tessera_out_of_range, "part of array 'A' (real(real64), shape (7, 11)): ")
    call mirrored%load(a, [1, 1], stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "lo and hi must be given together")
    call mirrored%merge_into(a%part([1, 1], [2, 2]), stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "merging the copies of array 'M'")
    call check_has(message, "note: in this message dimensions are in C's order")
    call mirrored%merge_into(integers, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "elements of different types")
    call other%create(job, tessera_real64, [-1, 2], name="N", team=team, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "array 'N' of shape (-1, 2): dimension 1")
    call other%create(job, -12_int64, [1, 2], name="N", team=team, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "mirrored array 'N': opaque elements")
    call other%create(job, tessera_real64, [1, 2], team=none, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, &
        "tessera_mirrored%create: the team in this call has not been created")
    call other%merge(stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "the mirrored array in this call has not been created")
    ! An error of one member.
    if (member == members - 1) then
      call mirrored%load(a, [1, 1], [n, m + 1], stat=code, errmsg=message)
    else
      call mirrored%load(a, stat=code, errmsg=message)
    end if
    call check_error(tessera_out_of_range, "part of array 'M'")
    call mirrored%load(a)
  contains
    subroutine make_again()
      call mirrored%create(job, tessera_real64, [n, m], team=team, stat=code, errmsg=message)
      call check_error(tessera_invalid_argument, "this variable already has its mirrored array")
    end subroutine make_again
  end subroutine mirrored_errors

  !> The copy ends with the mirrored array, and not before.
  subroutine ends()
    type(tessera_mirrored) :: mirrored
    type(tessera_array) :: here
    call make(mirrored, tessera_real64)
    call look_at_copy()
    call mirrored%here(here)
    call here%free()
    call mirrored%merge()
    call mirrored%here(here)
    call mirrored%free()
    call here%sync(stat=code, errmsg=message)
    call check_error(tessera_closed, "freed")
    call mirrored%merge(stat=code, errmsg=message)
    call check_error(tessera_closed, "the mirrored array was freed")
  contains
    subroutine look_at_copy()
      type(tessera_array) :: copy
      real(real64) :: element
      call mirrored%here(copy)
      call copy%get_element([1, 1], element)
      call check(element == 0, "zeros")
    end subroutine look_at_copy
  end subroutine ends

end module mirrored_cases
