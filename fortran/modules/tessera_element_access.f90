! SPDX-License-Identifier: BSD-3-Clause
!
! Access to the elements of arrays: transfers, atomic changes, and access modes; see tessera.f90.
!
! Bounds are inclusive and count from 1, with one number for each dimension, in integers of any
! kind. A scalar is enough for one dimension. A blocking put or accumulate returns when its source
! may be reused, a get when its data have arrived; a fence or sync completes operations at the
! owners.
module tessera_element_access
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int64
  use tessera_array_bindings
  use tessera_errors
  use tessera_parts
  use tessera_pending_transfers
  implicit none
  private
  public :: tessera_reachable, bits_of

  !> What an array is used for; other uses are refused.
  integer, parameter, public :: tessera_access_any = 0, tessera_access_read_only = 1, &
      tessera_access_accumulate_only = 2, tessera_access_no_local = 3

  !> How an accumulate combines an element with its source. A NaN on either side gives a NaN.
  !> Complex numbers have no minimum and maximum; bitwise operations are for integers.
  integer, parameter, public :: tessera_accumulate_sum = 0, tessera_accumulate_min = 1, &
      tessera_accumulate_max = 2, tessera_accumulate_bit_or = 3, tessera_accumulate_bit_and = 4, &
      tessera_accumulate_bit_xor = 5

  !> How change_elements changes an element: the sum, with wrap-around; the operand; the operand if
  !> the element is as expected; the smaller, the larger of signed numbers; bits.
  integer, parameter, public :: tessera_atomic_add = 0, tessera_atomic_swap = 1, &
      tessera_atomic_compare_swap = 2, tessera_atomic_min = 3, tessera_atomic_max = 4, &
      tessera_atomic_bit_or = 5, tessera_atomic_bit_and = 6, tessera_atomic_bit_xor = 7

  !> An array as an object for access to elements.
  type, extends(tessera_part) :: tessera_reachable
  contains
    procedure :: put => array_put
    procedure :: put_async => array_put_async
    procedure :: put_section => array_put_section
    procedure :: put_periodic => array_put_periodic
    procedure :: put_field => array_put_field
    procedure :: get => array_get
    procedure :: get_async => array_get_async
    procedure :: get_section => array_get_section
    procedure :: get_periodic => array_get_periodic
    procedure :: get_field => array_get_field
    procedure :: accumulate => array_accumulate
    procedure :: accumulate_async => array_accumulate_async
    procedure :: accumulate_by => array_accumulate_by
    procedure :: accumulate_section => array_accumulate_section
    procedure :: accumulate_section_by => array_accumulate_section_by
    procedure :: accumulate_periodic => array_accumulate_periodic
    procedure :: accumulate_periodic_by => array_accumulate_periodic_by
    procedure :: accumulate_field => array_accumulate_field
    procedure :: accumulate_field_by => array_accumulate_field_by
    procedure :: put_element => array_put_element
    procedure :: get_element => array_get_element
    procedure :: fetch_add => array_fetch_add
    procedure :: swap => array_swap
    procedure :: compare_swap => array_compare_swap
    procedure :: change_elements => array_change_elements
    procedure :: raise_flag => array_raise_flag
    procedure :: put_with_flag => array_put_with_flag
    procedure :: wait_for_flag => array_wait_for_flag
    procedure :: wait_for_flag_change => array_wait_for_flag_change
    procedure :: gather => array_gather
    procedure :: scatter => array_scatter
    procedure :: scatter_accumulate => array_scatter_accumulate
    procedure :: scatter_accumulate_by => array_scatter_accumulate_by
    procedure :: fence => array_fence
    procedure :: sync => array_sync
    procedure :: grow => array_grow
    procedure :: set_access_mode => array_set_access_mode
    procedure :: access_mode => array_access_mode
  end type tessera_reachable

contains

  !> One-sided. Writes the buffer to the elements lo:hi. The buffer has their type and shape;
  !> dimensions of extent 1 may be left out. It may be any section with positive strides, and is not
  !> copied. Complete: the buffer may be reused. Errors of all transfers: out_of_range (nothing was
  !> sent), invalid_argument, closed, peer_lost.
  subroutine array_put(self, lo, hi, buffer, stat, errmsg)
    class(tessera_reachable), intent(in) :: self
    type(*), dimension(..), intent(in) :: lo, hi, buffer
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_transfer(self%own%at, put, lo, hi, buffer), stat, errmsg)
  end subroutine array_put

  !> One-sided. The same, non-blocking, as one of `transfers`. The program must not touch the buffer
  !> until it has waited for them.
  subroutine array_put_async(self, lo, hi, buffer, transfers, stat, errmsg)
    class(tessera_reachable), intent(in) :: self
    type(*), dimension(..), intent(in) :: lo, hi
    type(*), dimension(..), intent(in), asynchronous :: buffer
    type(tessera_transfers), intent(inout) :: transfers
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_transfer(self%own%at, put, lo, hi, buffer, transfers=transfers%handle), stat, &
        errmsg)
  end subroutine array_put_async

  !> One-sided. The same for every steps-th element of the box; blocking unless `transfers` is
  !> given.
  subroutine array_put_section(self, lo, hi, steps, buffer, transfers, stat, errmsg)
    class(tessera_reachable), intent(in) :: self
    type(*), dimension(..), intent(in) :: lo, hi, steps
    type(*), dimension(..), intent(in), asynchronous :: buffer
    type(tessera_transfers), intent(inout), optional, target :: transfers
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_transfer_section(self%own%at, put, lo, hi, steps, buffer, &
        transfers=pending_handle(transfers)), stat, errmsg)
  end subroutine array_put_section

  !> One-sided. The same for a box that may reach over the ends of the dimensions `periodic`, in
  !> which the array is periodic.
  subroutine array_put_periodic(self, lo, hi, periodic, buffer, transfers, stat, errmsg)
    class(tessera_reachable), intent(in) :: self
    type(*), dimension(..), intent(in) :: lo, hi
    logical, intent(in) :: periodic(:)
    type(*), dimension(..), intent(in), asynchronous :: buffer
    type(tessera_transfers), intent(inout), optional, target :: transfers
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_transfer_periodic(self%own%at, put, lo, hi, bits_of(periodic), size(periodic, &
        kind=c_int), buffer, transfers=pending_handle(transfers)), stat, errmsg)
  end subroutine array_put_periodic

  !> One-sided. The same for one component of elements of a derived type: the bytes after the first
  !> `offset` of each element, with the buffer's type.
  subroutine array_put_field(self, lo, hi, offset, buffer, transfers, stat, errmsg)
    class(tessera_reachable), intent(in) :: self
    type(*), dimension(..), intent(in) :: lo, hi
    type(*), dimension(..), intent(in) :: offset
    type(*), dimension(..), intent(in), asynchronous :: buffer
    type(tessera_transfers), intent(inout), optional, target :: transfers
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_transfer_field(self%own%at, put, lo, hi, offset, buffer, &
        transfers=pending_handle(transfers)), stat, errmsg)
  end subroutine array_put_field

  !> One-sided. Reads the elements lo:hi into the buffer. Complete: the data have arrived.
  subroutine array_get(self, lo, hi, buffer, stat, errmsg)
    class(tessera_reachable), intent(in) :: self
    type(*), dimension(..), intent(in) :: lo, hi
    type(*), dimension(..), intent(inout) :: buffer
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_transfer(self%own%at, get, lo, hi, buffer), stat, errmsg)
  end subroutine array_get

  !> One-sided. The same, non-blocking, as one of `transfers`.
  subroutine array_get_async(self, lo, hi, buffer, transfers, stat, errmsg)
    class(tessera_reachable), intent(in) :: self
    type(*), dimension(..), intent(in) :: lo, hi
    type(*), dimension(..), intent(inout), asynchronous :: buffer
    type(tessera_transfers), intent(inout) :: transfers
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_transfer(self%own%at, get, lo, hi, buffer, transfers=transfers%handle), stat, &
        errmsg)
  end subroutine array_get_async

  !> One-sided. The same for every steps-th element of the box; blocking unless `transfers` is
  !> given.
  subroutine array_get_section(self, lo, hi, steps, buffer, transfers, stat, errmsg)
    class(tessera_reachable), intent(in) :: self
    type(*), dimension(..), intent(in) :: lo, hi, steps
    type(*), dimension(..), intent(inout), asynchronous :: buffer
    type(tessera_transfers), intent(inout), optional, target :: transfers
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_transfer_section(self%own%at, get, lo, hi, steps, buffer, &
        transfers=pending_handle(transfers)), stat, errmsg)
  end subroutine array_get_section

  !> One-sided. The same for a box that may reach over the ends of the dimensions `periodic`, in
  !> which the array is periodic.
  subroutine array_get_periodic(self, lo, hi, periodic, buffer, transfers, stat, errmsg)
    class(tessera_reachable), intent(in) :: self
    type(*), dimension(..), intent(in) :: lo, hi
    logical, intent(in) :: periodic(:)
    type(*), dimension(..), intent(inout), asynchronous :: buffer
    type(tessera_transfers), intent(inout), optional, target :: transfers
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_transfer_periodic(self%own%at, get, lo, hi, bits_of(periodic), size(periodic, &
        kind=c_int), buffer, transfers=pending_handle(transfers)), stat, errmsg)
  end subroutine array_get_periodic

  !> One-sided. The same for one component of elements of a derived type: the bytes after the first
  !> `offset` of each element, with the buffer's type.
  subroutine array_get_field(self, lo, hi, offset, buffer, transfers, stat, errmsg)
    class(tessera_reachable), intent(in) :: self
    type(*), dimension(..), intent(in) :: lo, hi
    type(*), dimension(..), intent(in) :: offset
    type(*), dimension(..), intent(inout), asynchronous :: buffer
    type(tessera_transfers), intent(inout), optional, target :: transfers
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_transfer_field(self%own%at, get, lo, hi, offset, buffer, &
        transfers=pending_handle(transfers)), stat, errmsg)
  end subroutine array_get_field

  !> One-sided. Adds alpha * buffer, or buffer, to the elements lo:hi, atomically for each of them.
  !> Complete: the buffer may be reused.
  subroutine array_accumulate(self, lo, hi, buffer, alpha, stat, errmsg)
    class(tessera_reachable), intent(in) :: self
    type(*), dimension(..), intent(in) :: lo, hi, buffer
    type(*), dimension(..), intent(in), optional :: alpha
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_transfer(self%own%at, accumulate, lo, hi, buffer, alpha), stat, errmsg)
  end subroutine array_accumulate

  !> One-sided. The same, non-blocking, as one of `transfers`. The program must not touch the buffer
  !> until it has waited for them.
  subroutine array_accumulate_async(self, lo, hi, buffer, transfers, alpha, stat, errmsg)
    class(tessera_reachable), intent(in) :: self
    type(*), dimension(..), intent(in) :: lo, hi
    type(*), dimension(..), intent(in), asynchronous :: buffer
    type(tessera_transfers), intent(inout) :: transfers
    type(*), dimension(..), intent(in), optional :: alpha
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_transfer(self%own%at, accumulate, lo, hi, buffer, alpha, &
        transfers=transfers%handle), stat, errmsg)
  end subroutine array_accumulate_async

  !> One-sided. Combines the elements lo:hi with the buffer by `op` (tessera_accumulate_max and so
  !> on), atomically for each of them, also against other operations. Blocking unless `transfers` is
  !> given.
  subroutine array_accumulate_by(self, lo, hi, buffer, op, transfers, stat, errmsg)
    class(tessera_reachable), intent(in) :: self
    type(*), dimension(..), intent(in) :: lo, hi
    type(*), dimension(..), intent(in), asynchronous :: buffer
    integer, intent(in) :: op
    type(tessera_transfers), intent(inout), optional, target :: transfers
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_transfer(self%own%at, kind_by(op), lo, hi, buffer, &
        transfers=pending_handle(transfers)), stat, errmsg)
  end subroutine array_accumulate_by

  !> The handle of transfers, for the library. Without transfers it has no target: as an argument it
  !> is then absent.
  function pending_handle(transfers) result(handle)
    type(tessera_transfers), intent(inout), optional, target :: transfers
    type(c_ptr), pointer :: handle
    handle => null()
    if (present(transfers)) handle => transfers%handle
  end function pending_handle

  !> The kind of transfer for an operation; one that does not exist stays one.
  pure function kind_by(op) result(kind)
    integer, intent(in) :: op
    integer(c_int) :: kind
    kind = accumulate + merge(int(op, c_int), 99_c_int, op >= 0 .and. op < 99)
  end function kind_by

  !> One-sided. As accumulate, for every steps-th element of the box; blocking unless `transfers` is
  !> given.
  subroutine array_accumulate_section(self, lo, hi, steps, buffer, alpha, transfers, stat, errmsg)
    class(tessera_reachable), intent(in) :: self
    type(*), dimension(..), intent(in) :: lo, hi, steps
    type(*), dimension(..), intent(in), asynchronous :: buffer
    type(*), dimension(..), intent(in), optional :: alpha
    type(tessera_transfers), intent(inout), optional, target :: transfers
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_transfer_section(self%own%at, accumulate, lo, hi, steps, buffer, alpha, &
        transfers=pending_handle(transfers)), stat, errmsg)
  end subroutine array_accumulate_section

  !> One-sided. The same by `op`, as accumulate_by.
  subroutine array_accumulate_section_by(self, lo, hi, steps, buffer, op, transfers, stat, errmsg)
    class(tessera_reachable), intent(in) :: self
    type(*), dimension(..), intent(in) :: lo, hi, steps
    type(*), dimension(..), intent(in), asynchronous :: buffer
    integer, intent(in) :: op
    type(tessera_transfers), intent(inout), optional, target :: transfers
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_transfer_section(self%own%at, kind_by(op), lo, hi, steps, buffer, &
        transfers=pending_handle(transfers)), stat, errmsg)
  end subroutine array_accumulate_section_by

  !> One-sided. As accumulate, for a box that may reach over the ends of the dimensions `periodic`, in
  !> which the array is periodic.
  subroutine array_accumulate_periodic(self, lo, hi, periodic, buffer, alpha, transfers, stat, &
      errmsg)
    class(tessera_reachable), intent(in) :: self
    type(*), dimension(..), intent(in) :: lo, hi
    logical, intent(in) :: periodic(:)
    type(*), dimension(..), intent(in), asynchronous :: buffer
    type(*), dimension(..), intent(in), optional :: alpha
    type(tessera_transfers), intent(inout), optional, target :: transfers
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_transfer_periodic(self%own%at, accumulate, lo, hi, bits_of(periodic), &
        size(periodic, kind=c_int), buffer, alpha, transfers=pending_handle(transfers)), stat, &
        errmsg)
  end subroutine array_accumulate_periodic

  !> One-sided. The same by `op`, as accumulate_by.
  subroutine array_accumulate_periodic_by(self, lo, hi, periodic, buffer, op, transfers, stat, &
      errmsg)
    class(tessera_reachable), intent(in) :: self
    type(*), dimension(..), intent(in) :: lo, hi
    logical, intent(in) :: periodic(:)
    type(*), dimension(..), intent(in), asynchronous :: buffer
    integer, intent(in) :: op
    type(tessera_transfers), intent(inout), optional, target :: transfers
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_transfer_periodic(self%own%at, kind_by(op), lo, hi, bits_of(periodic), &
        size(periodic, kind=c_int), buffer, transfers=pending_handle(transfers)), stat, errmsg)
  end subroutine array_accumulate_periodic_by

  !> One-sided. As accumulate, for one component of elements of a derived type: the bytes after the
  !> first `offset` of each element, with the buffer's type.
  subroutine array_accumulate_field(self, lo, hi, offset, buffer, alpha, transfers, stat, errmsg)
    class(tessera_reachable), intent(in) :: self
    type(*), dimension(..), intent(in) :: lo, hi
    type(*), dimension(..), intent(in) :: offset
    type(*), dimension(..), intent(in), asynchronous :: buffer
    type(*), dimension(..), intent(in), optional :: alpha
    type(tessera_transfers), intent(inout), optional, target :: transfers
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_transfer_field(self%own%at, accumulate, lo, hi, offset, buffer, alpha, &
        transfers=pending_handle(transfers)), stat, errmsg)
  end subroutine array_accumulate_field

  !> One-sided. The same by `op`, as accumulate_by.
  subroutine array_accumulate_field_by(self, lo, hi, offset, buffer, op, transfers, stat, errmsg)
    class(tessera_reachable), intent(in) :: self
    type(*), dimension(..), intent(in) :: lo, hi, offset
    type(*), dimension(..), intent(in), asynchronous :: buffer
    integer, intent(in) :: op
    type(tessera_transfers), intent(inout), optional, target :: transfers
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_transfer_field(self%own%at, kind_by(op), lo, hi, offset, buffer, &
        transfers=pending_handle(transfers)), stat, errmsg)
  end subroutine array_accumulate_field_by

  !> One-sided. Writes one element.
  subroutine array_put_element(self, index, value, stat, errmsg)
    class(tessera_reachable), intent(in) :: self
    type(*), dimension(..), intent(in) :: index, value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_transfer_element(self%own%at, put, index, value), stat, errmsg)
  end subroutine array_put_element

  !> One-sided. Reads one element.
  subroutine array_get_element(self, index, value, stat, errmsg)
    class(tessera_reachable), intent(in) :: self
    type(*), dimension(..), intent(in) :: index
    type(*), dimension(..), intent(inout) :: value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_transfer_element(self%own%at, get, index, value), stat, errmsg)
  end subroutine array_get_element

  !> One-sided. Adds to one element, an integer of 4 or 8 bytes, in one atomic step at its owner;
  !> `before` becomes its old value. Complete: here and at the owner.
  subroutine array_fetch_add(self, index, increment, before, stat, errmsg)
    class(tessera_reachable), intent(in) :: self
    type(*), dimension(..), intent(in) :: index, increment
    type(*), dimension(..), intent(inout) :: before
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_change_element(self%own%at, index, increment=increment, before=before), stat, &
        errmsg)
  end subroutine array_fetch_add

  !> One-sided. In the same way stores `desired`.
  subroutine array_swap(self, index, desired, before, stat, errmsg)
    class(tessera_reachable), intent(in) :: self
    type(*), dimension(..), intent(in) :: index, desired
    type(*), dimension(..), intent(inout) :: before
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_change_element(self%own%at, index, desired=desired, before=before), stat, errmsg)
  end subroutine array_swap

  !> One-sided. In the same way stores `desired` if the element is `expected`.
  subroutine array_compare_swap(self, index, expected, desired, before, stat, errmsg)
    class(tessera_reachable), intent(in) :: self
    type(*), dimension(..), intent(in) :: index, expected, desired
    type(*), dimension(..), intent(inout) :: before
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_change_element(self%own%at, index, expected=expected, desired=desired, &
        before=before), stat, errmsg)
  end subroutine array_compare_swap

  !> One-sided. Changes listed elements by `op` (tessera_atomic_min and so on), each in the same way;
  !> the list as a whole is not atomic. `places` is as in gather. `before` becomes the old values.
  !> `expected` is for tessera_atomic_compare_swap. Blocking unless `transfers` is given; then
  !> `before` is contiguous, and must not be touched until the wait. Errors: also unsupported
  !> (minimum and maximum of unsigned elements). Cost: between nodes a message for each owner and
  !> 4096 elements.
  subroutine array_change_elements(self, places, op, operands, before, expected, transfers, stat, &
      errmsg)
    class(tessera_reachable), intent(in) :: self
    type(*), dimension(..), intent(in) :: places, operands
    integer, intent(in) :: op
    type(*), dimension(..), intent(inout), asynchronous :: before
    type(*), dimension(..), intent(in), optional :: expected
    type(tessera_transfers), intent(inout), optional, target :: transfers
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_change_elements(self%own%at, c_number(op), places, operands, expected, before, &
        pending_handle(transfers)), stat, errmsg)
  end subroutine array_change_elements

  !> One-sided. Stores `value` in a flag: the element at `index` of an array of tessera_int32. A
  !> rank that sees it also sees what this rank had put and accumulated to the flag's owner before,
  !> if that was complete here. Errors: invalid_argument (elements of another type, a value of more
  !> than 32 bits), out_of_range, closed, peer_lost.
  subroutine array_raise_flag(self, index, value, stat, errmsg)
    class(tessera_reachable), intent(in) :: self
    type(*), dimension(..), intent(in) :: index, value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_raise_flag(self%own%at, index, value), stat, errmsg)
  end subroutine array_raise_flag

  !> One-sided. Puts as put does, and then raises a flag, of any rank: a rank that sees the flag
  !> sees all that was put. Complete: the buffer may be reused. Cost: one message, if the flag's
  !> owner owns all of lo:hi and it has at most 64 KiB; also a fence, if another member owns some of
  !> it.
  subroutine array_put_with_flag(self, lo, hi, buffer, flags, index, value, stat, errmsg)
    class(tessera_reachable), intent(in) :: self
    type(*), dimension(..), intent(in) :: lo, hi, buffer
    class(tessera_reachable), intent(in) :: flags
    type(*), dimension(..), intent(in) :: index, value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_put_with_flag(self%own%at, lo, hi, buffer, flags%own%at, index, value), stat, &
        errmsg)
  end subroutine array_put_with_flag

  !> Local. Sleeps until a flag that this rank owns has the value `value`; `writer` is the member of
  !> the array's team that raises it. Errors: also invalid_argument (another member's flag),
  !> peer_lost (the writer is gone, and the flag is not `value`).
  subroutine array_wait_for_flag(self, index, value, writer, stat, errmsg)
    class(tessera_reachable), intent(in) :: self
    type(*), dimension(..), intent(in) :: index, value
    integer, intent(in) :: writer
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_wait_for_flag(self%own%at, index, value, int(writer, c_int64_t)), stat, errmsg)
  end subroutine array_wait_for_flag

  !> Local. The same until it has any other value than `value`: `now`, an integer of any kind.
  subroutine array_wait_for_flag_change(self, index, value, writer, now, stat, errmsg)
    class(tessera_reachable), intent(in) :: self
    type(*), dimension(..), intent(in) :: index, value
    integer, intent(in) :: writer
    type(*), dimension(..), intent(inout) :: now
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_wait_for_flag_change(self%own%at, index, value, int(writer, c_int64_t), now), &
        stat, errmsg)
  end subroutine array_wait_for_flag_change

  !> One-sided. Reads listed elements. `places` is a matrix with the indices of one element in each
  !> column, or for one dimension a list of indices.
  subroutine array_gather(self, places, values, stat, errmsg)
    class(tessera_reachable), intent(in) :: self
    type(*), dimension(..), intent(in) :: places
    type(*), dimension(..), intent(inout) :: values
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_transfer_list(self%own%at, get, places, values), stat, errmsg)
  end subroutine array_gather

  !> One-sided. Writes listed elements.
  subroutine array_scatter(self, places, values, stat, errmsg)
    class(tessera_reachable), intent(in) :: self
    type(*), dimension(..), intent(in) :: places, values
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_transfer_list(self%own%at, put, places, values), stat, errmsg)
  end subroutine array_scatter

  !> One-sided. Adds alpha * values, or values, to listed elements.
  subroutine array_scatter_accumulate(self, places, values, alpha, stat, errmsg)
    class(tessera_reachable), intent(in) :: self
    type(*), dimension(..), intent(in) :: places, values
    type(*), dimension(..), intent(in), optional :: alpha
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_transfer_list(self%own%at, accumulate, places, values, alpha), stat, errmsg)
  end subroutine array_scatter_accumulate

  !> One-sided. Combines listed elements with values by `op` (tessera_accumulate_max and so on).
  subroutine array_scatter_accumulate_by(self, places, values, op, stat, errmsg)
    class(tessera_reachable), intent(in) :: self
    type(*), dimension(..), intent(in) :: places, values
    integer, intent(in) :: op
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_transfer_list(self%own%at, kind_by(op), places, values), stat, errmsg)
  end subroutine array_scatter_accumulate_by

  !> One-sided. Returns when this rank's operations on the array are complete at their owners.
  subroutine array_fence(self, stat, errmsg)
    class(tessera_reachable), intent(in) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call act(self%own, kind_array, "fence", c_array_fence, stat, errmsg)
  end subroutine array_fence

  !> Collective. A fence of all members, and a barrier: then each member sees what any member wrote.
  subroutine array_sync(self, stat, errmsg)
    class(tessera_reachable), intent(in) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call act(self%own, kind_array, "sync", c_array_sync, stat, errmsg)
  end subroutine array_sync

  !> Collective. Makes the last dimension longer, for example by time steps. Elements keep their
  !> values, new ones are zero, and ghost cells are zero until they are updated. tessera_halo and
  !> tessera_block of the memory from before are closed. Needs memory for both.
  subroutine array_grow(self, extent, stat, errmsg)
    class(tessera_reachable), intent(in) :: self
    integer(int64), intent(in) :: extent
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_array_grow(self%own%at, extent), stat, errmsg)
  end subroutine array_grow

  !> Collective. Sets the access mode (tessera_access_read_only and so on): other uses are refused
  !> until the next such call. Of a read-only array gets may be served from a copy on each node, or
  !> this rank keeps up to cache_bytes bytes that it got from other nodes. With
  !> tessera_access_accumulate_only a copy on each node collects accumulates, and adds them to the
  !> array when the mode ends.
  subroutine array_set_access_mode(self, mode, copy_on_each_node, cache_bytes, stat, errmsg)
    class(tessera_reachable), intent(in) :: self
    integer, intent(in) :: mode
    logical, intent(in), optional :: copy_on_each_node
    type(*), dimension(..), intent(in), optional :: cache_bytes
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_array_set_access_mode(self%own%at, c_number(mode), flag(copy_on_each_node), &
        cache_bytes), stat, errmsg)
  end subroutine array_set_access_mode

  !> Local. The present access mode.
  function array_access_mode(self, stat, errmsg) result(mode)
    class(tessera_reachable), intent(in) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer :: mode
    type(c_ptr) :: handle
    integer(c_int) :: code, number
    number = 0
    if (open_cell(self%own, kind_array, "access_mode", handle, code)) &
        code = c_array_access_mode(handle, number)
    mode = int(number)
    call finish(code, stat, errmsg)
  end function array_access_mode

  !> A bit mask of dimensions in C's order.
  pure function bits_of(dimensions) result(bits)
    logical, intent(in) :: dimensions(:)
    integer(c_int64_t) :: bits
    integer :: dim
    bits = 0
    do dim = 1, size(dimensions)
      if (dimensions(dim)) bits = ibset(bits, size(dimensions) - dim)
    end do
  end function bits_of

end module tessera_element_access
