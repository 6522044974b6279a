! SPDX-License-Identifier: BSD-3-Clause
!
! Two halves of the ranks do different work, each with arrays of its own, and join at the end.
!
! Run: tessera-run -n 4 build/docs/examples/fortran_teams
program teams
  use, intrinsic :: iso_fortran_env, only: real64
  use tessera
  implicit none
  integer, parameter :: points = 100000
  type(tessera_job) :: job
  type(tessera_team) :: world, team
  type(tessera_array) :: results
  real(real64) :: pi, e
  integer :: halves, half, work

  call job%start()
  call world%create(job)
  call results%create(job, tessera_real64, 2, name="results")

  ! The lower ranks are half 0, the others half 1. A single rank does both in turn.
  halves = min(2, job%size())
  half = halves * job%rank() / job%size()
  call world%split(half, job%rank(), team)
  do work = half, 1, halves
    call integrate(work)
  end do

  ! All ranks meet here.
  call results%sync()
  call results%get_element(1, pi)
  call results%get_element(2, e)
  e = e + 1
  if (job%rank() == 0) print "(2(i0, a), 2(f11.9, a))", job%size(), " ranks in ", halves, &
      " teams: pi = ", pi, ", e = ", e, ""
  if (abs(pi - acos(-1.0_real64)) > 1e-9 .or. abs(e - exp(1.0_real64)) > 1e-9) error stop 1
  call job%barrier()  ! all have read
  call job%stop()

contains

  !> An integral from 0 to 1 by the midpoint rule, on the ranks of this rank's team.
  subroutine integrate(work)
    integer, intent(in) :: work
    type(tessera_array) :: values  ! freed at the end of this subroutine
    type(tessera_block) :: block
    real(real64), pointer :: own(:)
    real(real64) :: total
    integer :: i
    call values%create(job, tessera_real64, points, name="values", team=team)
    call block%begin(values)
    call block%pointer(own)
    do i = lbound(own, 1), ubound(own, 1)
      own(i) = integrand(work, (i - 0.5_real64) / points)
    end do
    call block%end()
    call values%sum(total)
    ! The array of results is on all ranks.
    if (team%rank() == 0) call results%put_element(work + 1, total / points)
  end subroutine integrate

  function integrand(work, x) result(y)
    integer, intent(in) :: work
    real(real64), intent(in) :: x
    real(real64) :: y
    y = merge(4 / (1 + x**2), exp(x), work == 0)
  end function integrand

end program teams
