! SPDX-License-Identifier: BSD-3-Clause
!
! checks: cases for the Fortran module. All ranks run the same cases in the same order. A case is
! run for several teams, one after the other: all ranks, the same in reverse, the last two, and the
! ranks 0, 2 and 3. Other ranks wait meanwhile. Failures are printed and counted.
module checks
  use, intrinsic :: iso_fortran_env, only: error_unit, int32, int64, real32, real64
  use tessera
  implicit none
  private
  public :: run_case, check, check_error, check_has, failures_of_all, make_matrix, make_vector, rule

  type(tessera_job), public, save :: job
  !> The objects of the running case.
  type(tessera_team), public, save :: team
  integer, public, save :: member, members
  character(400), public, save :: message
  integer, public, save :: code

  integer, save :: failures = 0, cases = 0
  character(:), allocatable, save :: running

  abstract interface
    subroutine case_body()
    end subroutine case_body
  end interface

  !> Collective on `team`. Arrays of zeros.
  interface make_vector
    procedure :: make_vector_of_type
  end interface make_vector

contains

  !> The expected value of element (i, j).
  elemental function rule(i, j) result(value)
    integer, intent(in) :: i, j
    real(real64) :: value
    value = 100 * i + j
  end function rule

  subroutine run_case(name, body, for_each_team)
    character(*), intent(in) :: name
    procedure(case_body) :: body
    logical, intent(in) :: for_each_team
    integer, allocatable :: ranks(:)
    integer :: i
    running = name
    cases = cases + 1
    call run_on([(i, i = 0, job%size() - 1)], body)
    if (.not. for_each_team) return
    if (job%size() > 1) call run_on([(i, i = job%size() - 1, 0, -1)], body)
    if (job%size() > 2) call run_on([job%size() - 2, job%size() - 1], body)
    ranks = pack([0, 2, 3], [0, 2, 3] < job%size())
    if (job%size() > 2) call run_on(ranks, body)
  end subroutine run_case

  subroutine run_on(ranks, body)
    integer, intent(in) :: ranks(:)
    procedure(case_body) :: body
    if (any(ranks == job%rank())) then
      call team%create(job, ranks)
      member = team%rank()
      members = team%size()
      call body()
      call team%free()
    end if
    call job%barrier()
  end subroutine run_on

  subroutine check(holds, what)
    logical, intent(in) :: holds
    character(*), intent(in) :: what
    if (holds) return
    failures = failures + 1
    write (error_unit, "(a, i0, 4a)") "rank ", job%rank(), ": ", running, ": not so: ", what
  end subroutine check

  !> Checks `code` and `message` of the last call: it failed with this code, and the message
  !> contains these words.
  subroutine check_error(expected, words)
    integer, intent(in) :: expected
    character(*), intent(in) :: words
    if (code == expected .and. index(message, words) > 0) return
    failures = failures + 1
    write (error_unit, "(a, i0, 5a, i0, 4a)") "rank ", job%rank(), ": ", running, &
        ": expected '", words, "', got ", code, " '", trim(message), "'"
  end subroutine check_error

  subroutine check_has(text, words)
    character(*), intent(in) :: text, words
    call check(index(text, words) > 0, "'" // trim(text) // "' has '" // words // "'")
  end subroutine check_has

  !> Collective. The number of failed checks on all ranks.
  function failures_of_all() result(number)
    type(tessera_team) :: world
    integer :: number
    number = failures
    call world%create(job)
    call world%allreduce(number, tessera_sum)
    if (job%rank() == 0) print "(i0, a, i0, a)", cases, " cases, ", number, " checks failed"
  end function failures_of_all

  subroutine make_matrix(array, n, m, name)
    type(tessera_array), intent(inout) :: array
    integer, intent(in) :: n, m
    character(*), intent(in) :: name
    call array%create(job, tessera_real64, [n, m], name=name, team=team)
  end subroutine make_matrix

  subroutine make_vector_of_type(array, element, n, name)
    type(tessera_array), intent(inout) :: array
    integer(int64), intent(in) :: element
    integer, intent(in) :: n
    character(*), intent(in) :: name
    call array%create(job, element, n, name=name, team=team)
  end subroutine make_vector_of_type

end module checks
