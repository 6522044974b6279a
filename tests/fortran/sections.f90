! SPDX-License-Identifier: BSD-3-Clause
!
! Sections, and missing arguments, as buffers. This file is compiled with array temporaries as
! errors: that it compiles shows that the program makes no copy of them.
module sections
  use, intrinsic :: iso_fortran_env, only: real64
  use checks
  use tessera
  implicit none
  private
  public :: put_section_of, get_section_of, start_get_of_section, take_what_is_not_there, particle

  !> Elements of a structure; some of its components are transferred.
  type :: particle
    real(real64) :: x = 0, y = 0
    integer :: number = 0, kind = 0
  end type particle

contains

  subroutine put_section_of(array, lo, hi, buffer, n)
    type(tessera_array), intent(in) :: array
    integer, intent(in) :: lo(2), hi(2), n
    real(real64), intent(in) :: buffer(:, :)
    call array%put(lo, hi, buffer(1:n:2, :))
  end subroutine put_section_of

  subroutine get_section_of(array, lo, hi, buffer, n)
    type(tessera_array), intent(in) :: array
    integer, intent(in) :: lo(2), hi(2), n
    real(real64), intent(inout) :: buffer(:, :)
    call array%get(lo, hi, buffer(1:n:2, ::3))
  end subroutine get_section_of

  subroutine start_get_of_section(array, lo, hi, buffer, n, transfers)
    type(tessera_array), intent(in) :: array
    integer, intent(in) :: lo(2), hi(2), n
    real(real64), intent(inout), asynchronous :: buffer(:, :)
    type(tessera_transfers), intent(inout) :: transfers
    call array%get_async(lo, hi, buffer(2:n:2, :), transfers)
  end subroutine start_get_of_section

  !> In this file, because a compiler that saw both sides would warn.
  subroutine take_what_is_not_there(array, none, nowhere)
    type(tessera_array), intent(in) :: array
    real(real64), intent(inout), allocatable :: none(:, :)
    real(real64), intent(in), pointer :: nowhere(:, :)
    call array%get([1, 1], [9, 7], none, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "the buffer is not allocated")
    call array%get([1, 1], [9, 7], nowhere, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, &
        "the buffer is not allocated, or a pointer that is not associated")
  end subroutine take_what_is_not_there

end module sections
