! SPDX-License-Identifier: BSD-3-Clause
!
! Arrays in HDF5 files, written and read by all ranks together; see tessera.f90.
!
!     type(tessera_checkpoint_writer) :: writer
!     call writer%create(job, "run.h5")
!     call writer%add(a)
!     call writer%put_attribute("step", 12)
!     call writer%commit()                         ! only now there is a new run.h5
!
!     type(tessera_checkpoint) :: file
!     call file%open(job, "run.h5")
!     call file%read("A", a)                       ! on any number of ranks
!
! In files the dimensions are in C's order, as arrays are for C, so programs in any language can
! read them. Whenever a program stops, the file of the given name is complete: it is the old or the
! new one. A damaged file is an error. Errors of the collectives, on all members: invalid_argument,
! limit_exceeded (no space on the device), protocol (a damaged file), unsupported (a build without
! HDF5), unreachable (the device fails), peer_lost.
module tessera_checkpoints
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int8, int16, int32, int64, real32, real64
  use tessera_arrays
  use tessera_checkpoint_bindings
  use tessera_distributions
  use tessera_errors
  use tessera_jobs
  use tessera_parts
  implicit none
  private
  public :: tessera_checkpoint_writer, tessera_checkpoint

  integer(c_int), parameter :: kind_writer = 13, kind_checkpoint = 14

  !> A file being written.
  type :: tessera_checkpoint_writer
    type(owned_cell) :: own  ! for the library only
  contains
    procedure :: create => writer_create
    procedure :: add => writer_add
    procedure :: commit => writer_commit
    procedure :: free => writer_free
    procedure :: c_handle => writer_c_handle
    generic :: put_attribute => put_int8, put_int16, put_int32, put_int64, put_real32, &
        put_real64, put_logical, put_text
    procedure, private :: put_int8
    procedure, private :: put_int16
    procedure, private :: put_int32
    procedure, private :: put_int64
    procedure, private :: put_real32
    procedure, private :: put_real64
    procedure, private :: put_logical
    procedure, private :: put_text
  end type tessera_checkpoint_writer

  !> A file opened for reading.
  type :: tessera_checkpoint
    type(owned_cell) :: own  ! for the library only
  contains
    procedure :: open => checkpoint_open
    procedure :: read => checkpoint_read
    procedure :: read_into => checkpoint_read_into
    procedure :: read_part => checkpoint_read_part
    procedure :: verify => checkpoint_verify
    procedure :: free => checkpoint_free
    procedure :: c_handle => checkpoint_c_handle
    procedure :: array_count => checkpoint_array_count
    procedure :: array_name => checkpoint_array_name
    procedure :: attribute_count => checkpoint_attribute_count
    procedure :: attribute_name => checkpoint_attribute_name
    procedure :: info => checkpoint_info
    generic :: get_attribute => get_int8, get_int16, get_int32, get_int64, get_real32, &
        get_real64, get_logical, get_text
    procedure, private :: get_int8
    procedure, private :: get_int16
    procedure, private :: get_int32
    procedure, private :: get_int64
    procedure, private :: get_real32
    procedure, private :: get_real64
    procedure, private :: get_logical
    procedure, private :: get_text
    generic :: get_attribute_of => get_int32_of, get_int64_of, get_real32_of, get_real64_of, &
        get_logical_of, get_text_of
    procedure, private :: get_int32_of
    procedure, private :: get_int64_of
    procedure, private :: get_real32_of
    procedure, private :: get_real64_of
    procedure, private :: get_logical_of
    procedure, private :: get_text_of
  end type tessera_checkpoint

contains

  !> Collective over the team, all ranks unless given. Begins a new temporary file beside `path`.
  subroutine writer_create(self, job, path, team, stat, errmsg)
    class(tessera_checkpoint_writer), intent(inout) :: self
    type(tessera_job), intent(in) :: job
    character(*), intent(in) :: path
    type(tessera_team), intent(in), optional :: team
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_writer_create(self%own%at, job%own%at, team_cell(team), c_text(path)), stat, &
        errmsg)
  end subroutine writer_create

  !> Collective. Writes an array's elements under its own name, or another one. The array's team
  !> must have the members of the writer's team in the same order.
  subroutine writer_add(self, array, name, stat, errmsg)
    class(tessera_checkpoint_writer), intent(in) :: self
    type(tessera_array), intent(in) :: array
    character(*), intent(in), optional :: name
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int) :: code
    if (present(name)) then
      code = f_writer_add(self%own%at, array%own%at, c_text(name))
    else
      code = f_writer_add(self%own%at, array%own%at)
    end if
    call finish(code, stat, errmsg)
  end subroutine writer_add

  !> Collective. Adds an attribute of the whole file, the same on all members: an integer or a real
  !> of any kind, a logical or a text. A logical is the integer 1 or 0 in the file.
  subroutine put_int8(self, name, value, stat, errmsg)
    class(tessera_checkpoint_writer), intent(in) :: self
    character(*), intent(in) :: name
    integer(int8), intent(in) :: value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call put_integer(self%own, name, int(value, int64), stat, errmsg)
  end subroutine put_int8

  !> Collective. The same.
  subroutine put_int16(self, name, value, stat, errmsg)
    class(tessera_checkpoint_writer), intent(in) :: self
    character(*), intent(in) :: name
    integer(int16), intent(in) :: value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call put_integer(self%own, name, int(value, int64), stat, errmsg)
  end subroutine put_int16

  !> Collective. The same.
  subroutine put_int32(self, name, value, stat, errmsg)
    class(tessera_checkpoint_writer), intent(in) :: self
    character(*), intent(in) :: name
    integer(int32), intent(in) :: value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call put_integer(self%own, name, int(value, int64), stat, errmsg)
  end subroutine put_int32

  !> Collective. The same.
  subroutine put_int64(self, name, value, stat, errmsg)
    class(tessera_checkpoint_writer), intent(in) :: self
    character(*), intent(in) :: name
    integer(int64), intent(in) :: value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call put_integer(self%own, name, int(value, int64), stat, errmsg)
  end subroutine put_int64

  !> Collective. The same.
  subroutine put_real32(self, name, value, stat, errmsg)
    class(tessera_checkpoint_writer), intent(in) :: self
    character(*), intent(in) :: name
    real(real32), intent(in) :: value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call put_real(self%own, name, real(value, real64), stat, errmsg)
  end subroutine put_real32

  !> Collective. The same.
  subroutine put_real64(self, name, value, stat, errmsg)
    class(tessera_checkpoint_writer), intent(in) :: self
    character(*), intent(in) :: name
    real(real64), intent(in) :: value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call put_real(self%own, name, value, stat, errmsg)
  end subroutine put_real64

  !> Collective. The same.
  subroutine put_logical(self, name, value, stat, errmsg)
    class(tessera_checkpoint_writer), intent(in) :: self
    character(*), intent(in) :: name
    logical, intent(in) :: value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call put_integer(self%own, name, merge(1_int64, 0_int64, value), stat, errmsg)
  end subroutine put_logical

  !> Collective. The same.
  subroutine put_text(self, name, value, stat, errmsg)
    class(tessera_checkpoint_writer), intent(in) :: self
    character(*), intent(in) :: name, value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: handle
    integer(c_int) :: code
    if (open_cell(self%own, kind_writer, "put_attribute", handle, code)) &
        code = c_writer_add_text(handle, c_text(name), c_text(value))
    call finish(code, stat, errmsg)
  end subroutine put_text

  subroutine put_integer(own, name, value, stat, errmsg)
    type(owned_cell), intent(in) :: own
    character(*), intent(in) :: name
    integer(int64), intent(in) :: value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: handle
    integer(c_int) :: code
    if (open_cell(own, kind_writer, "put_attribute", handle, code)) &
        code = c_writer_add_integer(handle, c_text(name), value)
    call finish(code, stat, errmsg)
  end subroutine put_integer

  subroutine put_real(own, name, value, stat, errmsg)
    type(owned_cell), intent(in) :: own
    character(*), intent(in) :: name
    real(real64), intent(in) :: value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: handle
    integer(c_int) :: code
    if (open_cell(own, kind_writer, "put_attribute", handle, code)) &
        code = c_writer_add_real(handle, c_text(name), value)
    call finish(code, stat, errmsg)
  end subroutine put_real

  !> Collective. Completes the file and renames it to `path`; nothing can be added after that.
  subroutine writer_commit(self, stat, errmsg)
    class(tessera_checkpoint_writer), intent(in) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call act(self%own, kind_writer, "commit", c_writer_commit, stat, errmsg)
  end subroutine writer_commit

  !> Local. Discards a file that was not committed.
  subroutine writer_free(self, stat, errmsg)
    class(tessera_checkpoint_writer), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call self%own%free(stat, errmsg)
  end subroutine writer_free

  !> Local. The handle of tessera/tessera.h, for C and C++; the variable keeps ownership.
  function writer_c_handle(self, stat, errmsg) result(handle)
    class(tessera_checkpoint_writer), intent(in) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: handle
    handle = handle_of(self%own, kind_writer, "c_handle", stat, errmsg)
  end function writer_c_handle

  !> Collective over the team, all ranks unless given. Reads the description of the file's arrays,
  !> and keeps the file open.
  subroutine checkpoint_open(self, job, path, team, stat, errmsg)
    class(tessera_checkpoint), intent(inout) :: self
    type(tessera_job), intent(in) :: job
    character(*), intent(in) :: path
    type(tessera_team), intent(in), optional :: team
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_checkpoint_open(self%own%at, job%own%at, team_cell(team), c_text(path)), stat, &
        errmsg)
  end subroutine checkpoint_open

  !> Collective. Makes an array of the file's type, and reads into it. Without `distribution` it
  !> gets the one with which it was written if the number of ranks is the same, and otherwise a
  !> regular one.
  subroutine checkpoint_read(self, name, array, distribution, stat, errmsg)
    class(tessera_checkpoint), intent(in) :: self
    character(*), intent(in) :: name
    type(tessera_array), intent(inout) :: array
    type(tessera_distribution), intent(in), optional :: distribution
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: layout
    layout = c_null_ptr
    if (present(distribution)) layout = optional_cell(distribution%own)
    call finish(f_checkpoint_read(self%own%at, c_text(name), layout, array%own%at), stat, errmsg)
  end subroutine checkpoint_read

  !> Collective. Reads into an array of the same shape and type, with any distribution.
  subroutine checkpoint_read_into(self, name, array, stat, errmsg)
    class(tessera_checkpoint), intent(in) :: self
    character(*), intent(in) :: name
    type(tessera_array), intent(in) :: array
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_checkpoint_read_into(self%own%at, c_text(name), array%own%at), stat, errmsg)
  end subroutine checkpoint_read_into

  !> Collective. Reads the elements lo to hi of the stored array into an array or a part of one.
  !> Their extents are the same except for those that are 1: one time step is read into an array
  !> that lacks the last dimension.
  subroutine checkpoint_read_part(self, name, lo, hi, to, stat, errmsg)
    class(tessera_checkpoint), intent(in) :: self
    character(*), intent(in) :: name
    type(*), dimension(..), intent(in) :: lo, hi
    class(tessera_part), intent(in) :: to
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_checkpoint_read_part(self%own%at, c_text(name), lo, hi, operand(to)), stat, &
        errmsg)
  end subroutine checkpoint_read_part

  !> Collective. Reads the array and compares its checksums; keeps nothing.
  subroutine checkpoint_verify(self, name, stat, errmsg)
    class(tessera_checkpoint), intent(in) :: self
    character(*), intent(in) :: name
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: handle
    integer(c_int) :: code
    if (open_cell(self%own, kind_checkpoint, "verify", handle, code)) &
        code = c_checkpoint_verify(handle, c_text(name))
    call finish(code, stat, errmsg)
  end subroutine checkpoint_verify

  !> Local. Closes the file.
  subroutine checkpoint_free(self, stat, errmsg)
    class(tessera_checkpoint), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call self%own%free(stat, errmsg)
  end subroutine checkpoint_free

  !> Local. The handle of tessera/tessera.h, for C and C++; the variable keeps ownership.
  function checkpoint_c_handle(self, stat, errmsg) result(handle)
    class(tessera_checkpoint), intent(in) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: handle
    handle = handle_of(self%own, kind_checkpoint, "c_handle", stat, errmsg)
  end function checkpoint_c_handle

  !> Local. The number of arrays in the file.
  function checkpoint_array_count(self, stat, errmsg) result(value)
    class(tessera_checkpoint), intent(in) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer :: value
    value = number_of(self%own, kind_checkpoint, "array_count", c_checkpoint_array_count, 0, stat, &
        errmsg)
  end function checkpoint_array_count

  !> Local. The name of an array, by number from 1.
  function checkpoint_array_name(self, number, stat, errmsg) result(text)
    class(tessera_checkpoint), intent(in) :: self
    integer, intent(in) :: number
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    character(:), allocatable :: text
    type(c_ptr) :: handle
    integer(c_int) :: code
    integer(c_int64_t) :: length
    character(kind=c_char) :: characters(4096)
    characters = c_null_char
    if (open_cell(self%own, kind_checkpoint, "array_name", handle, code)) &
        code = c_checkpoint_array_name(handle, number - 1_c_int64_t, characters, &
            size(characters, kind=c_int64_t), length)
    text = text_of(characters)
    call finish(code, stat, errmsg)
  end function checkpoint_array_name

  !> Local. The number of attributes of the file.
  function checkpoint_attribute_count(self, stat, errmsg) result(value)
    class(tessera_checkpoint), intent(in) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer :: value
    value = number_of(self%own, kind_checkpoint, "attribute_count", c_checkpoint_attribute_count, &
        0, stat, errmsg)
  end function checkpoint_attribute_count

  !> Local. The name of an attribute, by number from 1.
  function checkpoint_attribute_name(self, number, stat, errmsg) result(text)
    class(tessera_checkpoint), intent(in) :: self
    integer, intent(in) :: number
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    character(:), allocatable :: text
    type(c_ptr) :: handle
    integer(c_int) :: code
    integer(c_int64_t) :: length
    character(kind=c_char) :: characters(4096)
    characters = c_null_char
    if (open_cell(self%own, kind_checkpoint, "attribute_name", handle, code)) &
        code = c_checkpoint_attribute_name(handle, number - 1_c_int64_t, characters, &
            size(characters, kind=c_int64_t), length)
    text = text_of(characters)
    call finish(code, stat, errmsg)
  end function checkpoint_attribute_name

  !> Local. The type and the shape of an array into which it can be read.
  subroutine checkpoint_info(self, name, element, extents, stat, errmsg)
    class(tessera_checkpoint), intent(in) :: self
    character(*), intent(in) :: name
    integer(int64), intent(out) :: element
    integer(int64), allocatable, intent(out) :: extents(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int) :: code, has_checksums
    integer(c_int64_t) :: ndims, numbers(tessera_max_dims)
    element = 0
    ndims = 0
    has_checksums = 0
    code = f_checkpoint_array_info(self%own%at, c_text(name), element, ndims, numbers, &
        has_checksums)
    extents = numbers(:ndims)
    call finish(code, stat, errmsg)
  end subroutine checkpoint_info

  !> Local. An attribute's value. `value` has any kind that can hold it; a real32 gets the nearest
  !> number. Errors: invalid_argument if there is no attribute of that name, or it has another type;
  !> out_of_range if it does not fit, and then `value` is 0.
  subroutine get_int8(self, name, value, stat, errmsg)
    class(tessera_checkpoint), intent(in) :: self
    character(*), intent(in) :: name
    integer(int8), intent(out) :: value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: number
    call get_integer(self%own, name, int(huge(value), int64), number, stat, errmsg)
    value = int(number, int8)
  end subroutine get_int8

  !> Local. The same.
  subroutine get_int16(self, name, value, stat, errmsg)
    class(tessera_checkpoint), intent(in) :: self
    character(*), intent(in) :: name
    integer(int16), intent(out) :: value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: number
    call get_integer(self%own, name, int(huge(value), int64), number, stat, errmsg)
    value = int(number, int16)
  end subroutine get_int16

  !> Local. The same.
  subroutine get_int32(self, name, value, stat, errmsg)
    class(tessera_checkpoint), intent(in) :: self
    character(*), intent(in) :: name
    integer(int32), intent(out) :: value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: number
    call get_integer(self%own, name, int(huge(value), int64), number, stat, errmsg)
    value = int(number, int32)
  end subroutine get_int32

  !> Local. The same.
  subroutine get_int64(self, name, value, stat, errmsg)
    class(tessera_checkpoint), intent(in) :: self
    character(*), intent(in) :: name
    integer(int64), intent(out) :: value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: number
    call get_integer(self%own, name, int(huge(value), int64), number, stat, errmsg)
    value = int(number, int64)
  end subroutine get_int64

  !> Local. The same.
  subroutine get_real32(self, name, value, stat, errmsg)
    class(tessera_checkpoint), intent(in) :: self
    character(*), intent(in) :: name
    real(real32), intent(out) :: value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    real(real64) :: number
    call self%get_attribute(name, number, stat, errmsg)
    value = real(number, real32)
  end subroutine get_real32

  !> Local. The same.
  subroutine get_real64(self, name, value, stat, errmsg)
    class(tessera_checkpoint), intent(in) :: self
    character(*), intent(in) :: name
    real(real64), intent(out) :: value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: handle
    integer(c_int) :: code
    value = 0
    if (open_cell(self%own, kind_checkpoint, "get_attribute", handle, code)) &
        code = c_checkpoint_real(handle, c_text(name), value)
    call finish(code, stat, errmsg)
  end subroutine get_real64

  !> Local. The same, for the integer 1 or 0.
  subroutine get_logical(self, name, value, stat, errmsg)
    class(tessera_checkpoint), intent(in) :: self
    character(*), intent(in) :: name
    logical, intent(out) :: value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: number
    call get_integer(self%own, name, 1_int64, number, stat, errmsg)
    value = number /= 0
  end subroutine get_logical

  subroutine get_integer(own, name, largest, number, stat, errmsg)
    type(owned_cell), intent(in) :: own
    character(*), intent(in) :: name
    integer(int64), intent(in) :: largest
    integer(int64), intent(out) :: number
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    number = 0
    call finish(f_checkpoint_integer(own%at, c_text(name), largest, number), stat, errmsg)
  end subroutine get_integer

  !> Local. The same.
  subroutine get_text(self, name, value, stat, errmsg)
    class(tessera_checkpoint), intent(in) :: self
    character(*), intent(in) :: name
    character(:), allocatable, intent(out) :: value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: handle
    integer(c_int) :: code
    integer(c_int64_t) :: length
    character(kind=c_char) :: characters(4096)
    characters = c_null_char
    if (open_cell(self%own, kind_checkpoint, "get_attribute", handle, code)) &
        code = c_checkpoint_text(handle, c_text(name), characters, size(characters, &
            kind=c_int64_t), length)
    value = text_of(characters)
    call finish(code, stat, errmsg)
  end subroutine get_text

  !> Local. An attribute of an array or a group, or of the file with "/". Errors: also
  !> invalid_argument for a number that the variable can't hold.
  subroutine get_int32_of(self, object, name, value, stat, errmsg)
    class(tessera_checkpoint), intent(in) :: self
    character(*), intent(in) :: object, name
    integer(int32), intent(out) :: value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: handle
    integer(c_int) :: code
    value = 0
    if (open_cell(self%own, kind_checkpoint, "get_attribute_of", handle, code)) &
        code = c_checkpoint_number_of(handle, c_text(object), c_text(name), 0_c_int64_t, value)
    call finish(code, stat, errmsg)
  end subroutine get_int32_of

  !> Local. The same.
  subroutine get_int64_of(self, object, name, value, stat, errmsg)
    class(tessera_checkpoint), intent(in) :: self
    character(*), intent(in) :: object, name
    integer(int64), intent(out) :: value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: handle
    integer(c_int) :: code
    value = 0
    if (open_cell(self%own, kind_checkpoint, "get_attribute_of", handle, code)) &
        code = c_checkpoint_number_of(handle, c_text(object), c_text(name), 1_c_int64_t, value)
    call finish(code, stat, errmsg)
  end subroutine get_int64_of

  !> Local. The same.
  subroutine get_real32_of(self, object, name, value, stat, errmsg)
    class(tessera_checkpoint), intent(in) :: self
    character(*), intent(in) :: object, name
    real(real32), intent(out) :: value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: handle
    integer(c_int) :: code
    value = 0
    if (open_cell(self%own, kind_checkpoint, "get_attribute_of", handle, code)) &
        code = c_checkpoint_number_of(handle, c_text(object), c_text(name), 2_c_int64_t, value)
    call finish(code, stat, errmsg)
  end subroutine get_real32_of

  !> Local. The same.
  subroutine get_real64_of(self, object, name, value, stat, errmsg)
    class(tessera_checkpoint), intent(in) :: self
    character(*), intent(in) :: object, name
    real(real64), intent(out) :: value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: handle
    integer(c_int) :: code
    value = 0
    if (open_cell(self%own, kind_checkpoint, "get_attribute_of", handle, code)) &
        code = c_checkpoint_number_of(handle, c_text(object), c_text(name), 3_c_int64_t, value)
    call finish(code, stat, errmsg)
  end subroutine get_real64_of

  !> Local. The same.
  subroutine get_logical_of(self, object, name, value, stat, errmsg)
    class(tessera_checkpoint), intent(in) :: self
    character(*), intent(in) :: object, name
    logical, intent(out) :: value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: handle
    integer(c_int) :: code, truth
    truth = 0
    if (open_cell(self%own, kind_checkpoint, "get_attribute_of", handle, code)) &
        code = c_checkpoint_truth_of(handle, c_text(object), c_text(name), truth)
    value = truth /= 0
    call finish(code, stat, errmsg)
  end subroutine get_logical_of

  !> Local. The same.
  subroutine get_text_of(self, object, name, value, stat, errmsg)
    class(tessera_checkpoint), intent(in) :: self
    character(*), intent(in) :: object, name
    character(:), allocatable, intent(out) :: value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: handle
    integer(c_int) :: code
    integer(c_int64_t) :: length
    character(kind=c_char) :: characters(4096)
    characters = c_null_char
    if (open_cell(self%own, kind_checkpoint, "get_attribute_of", handle, code)) &
        code = c_checkpoint_text_of(handle, c_text(object), c_text(name), characters, &
            size(characters, kind=c_int64_t), length)
    value = text_of(characters)
    call finish(code, stat, errmsg)
  end subroutine get_text_of

end module tessera_checkpoints
