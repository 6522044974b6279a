! SPDX-License-Identifier: BSD-3-Clause
!
! Internal. What all modules of the binding share: how procedures report errors, and the contents of
! variables.
!
! A procedure ends with `call finish(code, stat, errmsg)`, with the code that a function of C++ or C
! has returned. Without stat= an error ends the program, as in Fortran's own statements.
!
! A variable holds a cell (fortran/detail/cells.hpp), which stores the address of the variable that
! owns it. So a copy frees nothing, whenever a compiler finalises it.
module tessera_errors
  use, intrinsic :: iso_c_binding
  implicit none
  private
  public :: finish, open_cell, optional_cell, act, number_of, number64_of, text_from, handle_of, &
      flag, c_number, owned_cell, text_of, c_text
  public :: tessera_last_error, tessera_last_error_rank, tessera_error_name, tessera_version

  !> The code of success, and those of errors; docs/errors.md says what you can do about each.
  integer, parameter, public :: tessera_ok = 0, tessera_invalid_argument = 1, &
      tessera_out_of_range = 2, tessera_closed = 3, tessera_unsupported = 4, &
      tessera_no_memory = 5, tessera_limit_exceeded = 6, tessera_unreachable = 7, &
      tessera_peer_lost = 8, tessera_timed_out = 9, tessera_protocol = 10, tessera_internal = 11

  !> The kinds of cells, with the numbers of C++.
  integer(c_int), parameter, public :: kind_job = 0, kind_team = 1, kind_locks = 2, &
      kind_counter = 3, kind_distribution = 4, kind_array = 5, kind_access = 6, kind_halo = 7

  !> The contents of a variable. Its finaliser frees them if it was made for this variable.
  type :: owned_cell
    type(c_ptr) :: at = c_null_ptr
  contains
    procedure :: free => free_cell
    final :: end_cell
  end type owned_cell

  abstract interface
    !> A C function that needs only a handle.
    function c_action(handle) bind(c) result(code)
      import :: c_ptr, c_int
      type(c_ptr), value :: handle
      integer(c_int) :: code
    end function c_action
    !> A C function that returns one number of a handle.
    function c_number_query(handle, number) bind(c) result(code)
      import :: c_ptr, c_int, c_int64_t
      type(c_ptr), value :: handle
      integer(c_int64_t), intent(inout) :: number
      integer(c_int) :: code
    end function c_number_query
    !> A C function that returns a text of a handle.
    function c_text_query(handle, text, capacity, length) bind(c) result(code)
      import :: c_ptr, c_int, c_int64_t, c_char
      type(c_ptr), value :: handle
      character(kind=c_char), intent(inout) :: text(*)
      integer(c_int64_t), value :: capacity
      integer(c_int64_t), intent(inout) :: length
      integer(c_int) :: code
    end function c_text_query
  end interface

  interface
    function f_open(cell, kind, called, length, handle) &
        bind(c, name="tessera_f_open") result(code)
      import
      type(c_ptr), value :: cell
      integer(c_int), value :: kind
      character(kind=c_char), intent(in) :: called(*)
      integer(c_int64_t), value :: length
      type(c_ptr), intent(inout) :: handle
      integer(c_int) :: code
    end function f_open
    function f_given(cell) bind(c, name="tessera_f_given") result(given)
      import
      type(c_ptr), value :: cell
      type(c_ptr) :: given
    end function f_given
    function f_free(place) bind(c, name="tessera_f_free") result(code)
      import
      type(c_ptr), intent(inout) :: place
      integer(c_int) :: code
    end function f_free
    subroutine f_end(place) bind(c, name="tessera_f_end")
      import
      type(c_ptr), intent(inout) :: place
    end subroutine f_end
    subroutine f_error_text(code, text, capacity, length) bind(c, name="tessera_f_error_text")
      import
      integer(c_int), value :: code
      character(kind=c_char), intent(inout) :: text(*)
      integer(c_int64_t), value :: capacity
      integer(c_int64_t), intent(out) :: length
    end subroutine f_error_text
    function c_last_error_rank() bind(c, name="tessera_last_error_rank") result(value)
      import
      integer(c_int64_t) :: value
    end function c_last_error_rank
    function c_error_name(code) bind(c, name="tessera_error_name") result(value)
      import
      integer(c_int), value :: code
      type(c_ptr) :: value
    end function c_error_name
    function c_version() bind(c, name="tessera_version") result(value)
      import
      type(c_ptr) :: value
    end function c_version
    function c_strlen(text) bind(c, name="strlen") result(value)
      import
      type(c_ptr), value :: text
      integer(c_size_t) :: value
    end function c_strlen
  end interface

contains

  !> Local. The text of this thread's last error: the procedure, what was attempted, the cause, and
  !> a line that says what to do; empty before the first error.
  function tessera_last_error() result(text)
    character(:), allocatable :: text
    text = last_error_of(0_c_int)
  end function tessera_last_error

  !> Local. The rank that this thread's last error is about, or -1.
  function tessera_last_error_rank() result(rank)
    integer :: rank
    rank = int(c_last_error_rank())
  end function tessera_last_error_rank

  !> Local. The name of an error code, for example "peer_lost"; "unknown" for any other number.
  function tessera_error_name(code) result(name)
    integer, intent(in) :: code
    character(:), allocatable :: name
    name = string_at(c_error_name(c_number(code)))
  end function tessera_error_name

  !> Local. The version of the library in use, for example "0.1.0".
  function tessera_version() result(version)
    character(:), allocatable :: version
    version = string_at(c_version())
  end function tessera_version

  !> Reports a code as Fortran's statements do: by stat and errmsg if stat is present, otherwise by
  !> ending the program.
  subroutine finish(code, stat, errmsg)
    integer(c_int), intent(in) :: code
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    character(:), allocatable :: text
    if (present(stat)) stat = int(code)
    if (code == 0) return
    text = last_error_of(code)
    if (present(errmsg)) errmsg = text
    if (.not. present(stat)) error stop text
  end subroutine finish

  !> Gets the C handle of a variable. Returns false if that fails, with the reason in `code`.
  !> `called` is the name of the variable's procedure in messages, for example "sync".
  function open_cell(cell, kind, called, handle, code) result(is_open)
    type(owned_cell), intent(in) :: cell
    integer(c_int), intent(in) :: kind
    character(*), intent(in) :: called
    type(c_ptr), intent(out) :: handle
    integer(c_int), intent(out) :: code
    logical :: is_open
    handle = c_null_ptr
    code = f_open(cell%at, kind, called, len(called, c_int64_t), handle)
    is_open = code == 0
  end function open_cell

  !> The pointer to an optional argument: null if it is absent. An empty variable is not absent, and
  !> is refused.
  function optional_cell(cell) result(given)
    type(owned_cell), intent(in) :: cell
    type(c_ptr) :: given
    given = f_given(cell%at)
  end function optional_cell

  !> The body of a procedure: calls `action` with a variable's handle.
  subroutine act(cell, kind, called, action, stat, errmsg)
    type(owned_cell), intent(in) :: cell
    integer(c_int), intent(in) :: kind
    character(*), intent(in) :: called
    procedure(c_action) :: action
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: handle
    integer(c_int) :: code
    if (open_cell(cell, kind, called, handle, code)) code = action(handle)
    call finish(code, stat, errmsg)
  end subroutine act

  !> The body of a function: the number that `query` returns for a variable's handle, or `none`.
  function number_of(cell, kind, called, query, none, stat, errmsg) result(value)
    type(owned_cell), intent(in) :: cell
    integer(c_int), intent(in) :: kind
    character(*), intent(in) :: called
    procedure(c_number_query) :: query
    integer, intent(in) :: none
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer :: value
    type(c_ptr) :: handle
    integer(c_int) :: code
    integer(c_int64_t) :: number
    number = none
    if (open_cell(cell, kind, called, handle, code)) code = query(handle, number)
    value = int(number)
    call finish(code, stat, errmsg)
  end function number_of

  !> The same with 64 bits: the number of bytes that `query` returns, or 0.
  function number64_of(cell, kind, called, query, stat, errmsg) result(bytes)
    type(owned_cell), intent(in) :: cell
    integer(c_int), intent(in) :: kind
    character(*), intent(in) :: called
    procedure(c_number_query) :: query
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: bytes
    type(c_ptr) :: handle
    integer(c_int) :: code
    bytes = 0
    if (open_cell(cell, kind, called, handle, code)) code = query(handle, bytes)
    call finish(code, stat, errmsg)
  end function number64_of

  !> The same: the text that `query` returns, or an empty one.
  function text_from(cell, kind, called, query, stat, errmsg) result(text)
    type(owned_cell), intent(in) :: cell
    integer(c_int), intent(in) :: kind
    character(*), intent(in) :: called
    procedure(c_text_query) :: query
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    character(:), allocatable :: text
    type(c_ptr) :: handle
    integer(c_int) :: code
    integer(c_int64_t) :: length
    character(kind=c_char), allocatable :: characters(:)
    allocate (characters(256))
    characters = c_null_char
    if (open_cell(cell, kind, called, handle, code)) then
      code = query(handle, characters, size(characters, kind=c_int64_t), length)
      if (code == tessera_ok .and. length >= size(characters)) then
        deallocate (characters)
        allocate (characters(length + 1))
        code = query(handle, characters, size(characters, kind=c_int64_t), length)
      end if
    end if
    text = text_of(characters)
    call finish(code, stat, errmsg)
  end function text_from

  !> The same: the handle of tessera/tessera.h; the variable keeps ownership.
  function handle_of(cell, kind, called, stat, errmsg) result(handle)
    type(owned_cell), intent(in) :: cell
    integer(c_int), intent(in) :: kind
    character(*), intent(in) :: called
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: handle
    integer(c_int) :: code
    if (.not. open_cell(cell, kind, called, handle, code)) handle = c_null_ptr
    call finish(code, stat, errmsg)
  end function handle_of

  !> An optional argument as a C int: 1 if it is present and true.
  pure function flag(given) result(value)
    logical, intent(in), optional :: given
    integer(c_int) :: value
    value = 0
    if (present(given)) value = merge(1_c_int, 0_c_int, given)
  end function flag

  !> A choice as a C int. Default integers may have 8 bytes (-fdefault-integer-8). A number that
  !> does not fit becomes the largest C int, which is refused, instead of its lower half.
  pure function c_number(given) result(number)
    integer, intent(in) :: given
    integer(c_int) :: number
    integer(c_int64_t), parameter :: largest = huge(number)
    number = int(max(-largest, min(largest, int(given, c_int64_t))), c_int)
  end function c_number

  subroutine free_cell(self, stat, errmsg)
    class(owned_cell), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_free(self%at), stat, errmsg)
  end subroutine free_cell

  impure elemental subroutine end_cell(self)
    type(owned_cell), intent(inout) :: self
    if (c_associated(self%at)) call f_end(self%at)
  end subroutine end_cell

  function last_error_of(code) result(text)
    integer(c_int), intent(in) :: code
    character(:), allocatable :: text
    character(kind=c_char) :: nothing(1)
    integer(c_int64_t) :: length
    call f_error_text(code, nothing, 0_c_int64_t, length)
    block
      character(kind=c_char) :: buffer(length + 1)
      call f_error_text(code, buffer, length + 1, length)
      text = text_of(buffer)
    end block
  end function last_error_of

  !> A C text without its final zero.
  pure function text_of(characters) result(text)
    character(kind=c_char), intent(in) :: characters(:)
    character(:), allocatable :: text
    integer :: i, length
    length = findloc(characters, c_null_char, dim=1) - 1
    allocate (character(length) :: text)
    do i = 1, length
      text(i:i) = characters(i)
    end do
  end function text_of

  !> A text for C, without trailing blanks.
  pure function c_text(text) result(terminated)
    character(*), intent(in) :: text
    character(:), allocatable :: terminated
    terminated = trim(text) // c_null_char
  end function c_text

  function string_at(address) result(text)
    type(c_ptr), intent(in) :: address
    character(:), allocatable :: text
    character(kind=c_char), pointer :: characters(:)
    call c_f_pointer(address, characters, [c_strlen(address) + 1])
    text = text_of(characters)
  end function string_at

end module tessera_errors
