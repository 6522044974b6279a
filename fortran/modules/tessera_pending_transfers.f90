! SPDX-License-Identifier: BSD-3-Clause
!
! Pending transfers, which the non-blocking procedures of arrays start; see tessera.f90.
!
!     type(tessera_transfers) :: transfers
!     real(real64), asynchronous :: block(10, 10)
!     call a%get_async([1, 1], [10, 10], block, transfers)
!     ...                                   ! the program must not touch `block` here
!     call transfers%wait()
!
! A variable collects any number of transfers. Its end waits for those not waited for.
module tessera_pending_transfers
  use, intrinsic :: iso_c_binding
  use tessera_array_bindings
  use tessera_errors
  implicit none
  private
  public :: tessera_transfers, tessera_wait_all

  !> Transfers that may not be complete yet.
  type :: tessera_transfers
    type(c_ptr) :: handle = c_null_ptr  ! for the library only
  contains
    procedure :: wait
    procedure :: is_done
    procedure :: detach
    procedure, private :: refuse_copy
    generic :: assignment(=) => refuse_copy
    final :: end_transfers
  end type tessera_transfers

contains

  !> One-sided. Waits until the transfers are complete here: sources may be reused, and read data
  !> have arrived. Returns the first error among them.
  subroutine wait(self, stat, errmsg)
    class(tessera_transfers), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(c_handle_wait(self%handle), stat, errmsg)
  end subroutine wait

  !> One-sided. Whether a wait would not block. The program must still wait for the transfers.
  function is_done(self, stat, errmsg) result(value)
    class(tessera_transfers), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    logical :: value
    integer(c_int) :: code, number
    number = 0
    code = c_handle_test(self%handle, number)
    value = number /= 0
    call finish(code, stat, errmsg)
  end function is_done

  !> One-sided. Hands the transfers to the job's wait and fences.
  subroutine detach(self, stat, errmsg)
    class(tessera_transfers), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(c_handle_detach(self%handle), stat, errmsg)
  end subroutine detach

  !> One-sided. Waits for all, and returns the first error.
  subroutine tessera_wait_all(transfers, stat, errmsg)
    type(tessera_transfers), intent(inout) :: transfers(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    character(:), allocatable :: text
    integer :: i, code, first
    first = tessera_ok
    do i = 1, size(transfers)
      call transfers(i)%wait(stat=code)
      if (code /= tessera_ok .and. first == tessera_ok) then
        first = code
        text = tessera_last_error()
      end if
    end do
    if (present(stat)) stat = first
    if (first == tessera_ok) return
    if (present(errmsg)) errmsg = text
    if (.not. present(stat)) error stop text
  end subroutine tessera_wait_all

  !> The end of a variable's lifetime: waits. Errors are reported by the job's next fence.
  impure elemental subroutine end_transfers(self)
    type(tessera_transfers), intent(inout) :: self
    if (c_associated(self%handle)) call f_transfers_end(self%handle)
  end subroutine end_transfers

  !> Copies are refused, because two variables would wait for the same transfers.
  subroutine refuse_copy(to, from)
    class(tessera_transfers), intent(inout) :: to
    type(tessera_transfers), intent(in) :: from
    if (.not. (c_associated(to%handle) .or. c_associated(from%handle))) return
    error stop "tessera_transfers cannot be copied: wait in the variable that started them"
  end subroutine refuse_copy
end module tessera_pending_transfers
