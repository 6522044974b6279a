! SPDX-License-Identifier: BSD-3-Clause
!
! Results for analysis in HDF5 files, written by all ranks together; see tessera.f90.
!
!     type(tessera_output) :: output
!     call output%open(job, "run.h5")
!     call output%set_grid([0d0, 0d0], [0.1d0, 0.1d0])          ! also writes run.xdmf
!     do step = 1, steps
!       …
!       call output%append(t, "fields/T", compression=4, time=step * dt)
!     end do
!     call output%set_attribute("fields/T", "unit", "K")
!     call output%close()                                       ! now others can read it
!
! In files the dimensions are in C's order: steps are the last dimension for Fortran, and the first
! one for h5py. At every instant the file is as the last flush left it, or a later one, whatever
! crashes. tessera_checkpoint reads it. Errors: those of tessera_checkpoints.
module tessera_outputs
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int8, int16, int32, int64, real32, real64
  use tessera_arrays
  use tessera_errors
  use tessera_jobs
  use tessera_part_bindings, only: c_operand
  use tessera_parts
  implicit none
  private
  public :: tessera_output, tessera_output_create, tessera_output_replace, tessera_output_append

  integer(c_int), parameter :: kind_output = 16

  !> What opening does with a file of that name: refuses it, replaces it at the first flush, or adds
  !> to it.
  integer, parameter :: tessera_output_create = 0, tessera_output_replace = 1, &
      tessera_output_append = 2

  !> The options of a data set that are not lists; C++ has the same structure.
  type, bind(c) :: c_storage_options
    integer(c_int) :: compression = 0
    integer(c_int) :: shuffle = 1
    integer(c_int) :: has_time = 0
    real(c_double) :: time = 0
  end type c_storage_options

  !> A file that data sets are added to.
  type :: tessera_output
    type(owned_cell) :: own  ! for the library only
  contains
    procedure :: open => output_open
    procedure :: write => output_write
    procedure :: append => output_append
    procedure :: create_group => output_create_group
    procedure :: set_grid => output_set_grid
    procedure :: steps => output_steps
    procedure :: flush => output_flush
    procedure :: close => output_close
    procedure :: free => output_free
    procedure :: c_handle => output_c_handle
    generic :: set_attribute => set_int8, set_int16, set_int32, set_int64, set_real32, &
        set_real64, set_complex32, set_complex64, set_logical, set_text, set_reals
    procedure, private :: set_int8
    procedure, private :: set_int16
    procedure, private :: set_int32
    procedure, private :: set_int64
    procedure, private :: set_real32
    procedure, private :: set_real64
    procedure, private :: set_complex32
    procedure, private :: set_complex64
    procedure, private :: set_logical
    procedure, private :: set_text
    procedure, private :: set_reals
  end type tessera_output

  interface
    function f_output_open(place, job, team, path, mode) &
        bind(c, name="tessera_f_output_open") result(code)
      import
      type(c_ptr), intent(inout) :: place
      type(c_ptr), value :: job, team
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int), value :: mode
      integer(c_int) :: code
    end function
    function f_output_write(output, is_step, part, name, steps, chunk, storage) &
        bind(c, name="tessera_f_output_write") result(code)
      import
      type(c_ptr), value :: output
      integer(c_int), value :: is_step
      type(c_operand), intent(in) :: part
      character(kind=c_char), intent(in) :: name(*)
      type(*), dimension(..), intent(in), optional :: steps, chunk
      type(c_storage_options), intent(in) :: storage
      integer(c_int) :: code
    end function
    function f_output_set_grid(output, ndims, origin, spacing, points) &
        bind(c, name="tessera_f_output_set_grid") result(code)
      import
      type(c_ptr), value :: output
      integer(c_int64_t), value :: ndims
      real(c_double), intent(in) :: origin(*), spacing(*)
      type(*), dimension(..), intent(in), optional :: points
      integer(c_int) :: code
    end function
    function c_output_create_group(output, name) &
        bind(c, name="tessera_output_create_group") result(code)
      import
      type(c_ptr), value :: output
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int) :: code
    end function
    function c_output_set_number(output, object, name, element, value) &
        bind(c, name="tessera_output_set_number") result(code)
      import
      type(c_ptr), value :: output
      character(kind=c_char), intent(in) :: object(*), name(*)
      integer(c_int64_t), value :: element
      type(*), intent(in) :: value
      integer(c_int) :: code
    end function
    function c_output_set_truth(output, object, name, value) &
        bind(c, name="tessera_output_set_truth") result(code)
      import
      type(c_ptr), value :: output
      character(kind=c_char), intent(in) :: object(*), name(*)
      integer(c_int), value :: value
      integer(c_int) :: code
    end function
    function c_output_set_text(output, object, name, value) &
        bind(c, name="tessera_output_set_text") result(code)
      import
      type(c_ptr), value :: output
      character(kind=c_char), intent(in) :: object(*), name(*), value(*)
      integer(c_int) :: code
    end function
    function c_output_set_reals(output, object, name, count, values) &
        bind(c, name="tessera_output_set_reals") result(code)
      import
      type(c_ptr), value :: output
      character(kind=c_char), intent(in) :: object(*), name(*)
      integer(c_int64_t), value :: count
      real(c_double), intent(in) :: values(*)
      integer(c_int) :: code
    end function
    function c_output_steps(output, name, steps) bind(c, name="tessera_output_steps") result(code)
      import
      type(c_ptr), value :: output
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), intent(inout) :: steps
      integer(c_int) :: code
    end function
    function c_output_flush(output) bind(c, name="tessera_output_flush") result(code)
      import
      type(c_ptr), value :: output
      integer(c_int) :: code
    end function
    function c_output_close(output) bind(c, name="tessera_output_close") result(code)
      import
      type(c_ptr), value :: output
      integer(c_int) :: code
    end function
  end interface

contains

  !> Collective over the team, all ranks unless given. `mode` is tessera_output_create unless given.
  subroutine output_open(self, job, path, mode, team, stat, errmsg)
    class(tessera_output), intent(inout) :: self
    type(tessera_job), intent(in) :: job
    character(*), intent(in) :: path
    integer, intent(in), optional :: mode
    type(tessera_team), intent(in), optional :: team
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int) :: chosen
    chosen = tessera_output_create
    if (present(mode)) chosen = int(mode, c_int)
    call finish(f_output_open(self%own%at, job%own%at, team_cell(team), c_text(path), chosen), &
        stat, errmsg)
  end subroutine output_open

  !> Collective. Writes an array, or a part of it, as a new data set, for example "fields/T", whose
  !> groups are made. `steps` takes every steps(d)-th index along dimension d. `chunk` has the
  !> extents of the chunks, which are chosen unless given. `compression` is 0, none, to 9.
  subroutine output_write(self, part, name, steps, chunk, compression, shuffle, stat, errmsg)
    class(tessera_output), intent(in) :: self
    class(tessera_part), intent(in) :: part
    character(*), intent(in) :: name
    type(*), dimension(..), intent(in), optional :: steps, chunk
    integer, intent(in), optional :: compression
    logical, intent(in), optional :: shuffle
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_output_write(self%own%at, 0_c_int, operand(part), c_text(name), steps, chunk, &
        storage_options(compression, shuffle)), stat, errmsg)
  end subroutine output_write

  !> Collective. Writes the same as the next step of a data set, whose last dimension counts steps.
  !> The first call makes it. `time` is that of the step.
  subroutine output_append(self, part, name, steps, chunk, compression, shuffle, time, stat, errmsg)
    class(tessera_output), intent(in) :: self
    class(tessera_part), intent(in) :: part
    character(*), intent(in) :: name
    type(*), dimension(..), intent(in), optional :: steps, chunk
    integer, intent(in), optional :: compression
    logical, intent(in), optional :: shuffle
    real(real64), intent(in), optional :: time
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_output_write(self%own%at, 1_c_int, operand(part), c_text(name), steps, chunk, &
        storage_options(compression, shuffle, time)), stat, errmsg)
  end subroutine output_append

  !> Collective. Makes a group, and those that it is in.
  subroutine output_create_group(self, name, stat, errmsg)
    class(tessera_output), intent(in) :: self
    character(*), intent(in) :: name
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: handle
    integer(c_int) :: code
    if (open_cell(self%own, kind_output, "create_group", handle, code)) &
        code = c_output_create_group(handle, c_text(name))
    call finish(code, stat, errmsg)
  end subroutine output_create_group

  !> Collective. From the next flush on, an XDMF file beside the HDF5 file describes its data sets
  !> on a uniform grid, for ParaView: the position of the first point, the distances, and the number
  !> of points along each dimension, which is that of the first data set unless given.
  subroutine output_set_grid(self, origin, spacing, points, stat, errmsg)
    class(tessera_output), intent(in) :: self
    real(real64), intent(in) :: origin(:), spacing(size(origin))
    type(*), dimension(..), intent(in), optional :: points
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_output_set_grid(self%own%at, size(origin, kind=c_int64_t), origin, spacing, &
        points), stat, errmsg)
  end subroutine output_set_grid

  !> Local. The number of steps of a data set; 0 if there is no such data set.
  function output_steps(self, name, stat, errmsg) result(steps)
    class(tessera_output), intent(in) :: self
    character(*), intent(in) :: name
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: steps
    type(c_ptr) :: handle
    integer(c_int) :: code
    steps = 0
    if (open_cell(self%own, kind_output, "steps", handle, code)) &
        code = c_output_steps(handle, c_text(name), steps)
    call finish(code, stat, errmsg)
  end function output_steps

  !> Collective. Completes all that was written, so that others can read it.
  subroutine output_flush(self, stat, errmsg)
    class(tessera_output), intent(in) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call act(self%own, kind_output, "flush", c_output_flush, stat, errmsg)
  end subroutine output_flush

  !> Collective. A flush; nothing can be written afterwards.
  subroutine output_close(self, stat, errmsg)
    class(tessera_output), intent(in) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call act(self%own, kind_output, "close", c_output_close, stat, errmsg)
  end subroutine output_close

  !> Collective. Discards what was not flushed.
  subroutine output_free(self, stat, errmsg)
    class(tessera_output), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call self%own%free(stat, errmsg)
  end subroutine output_free

  !> Local. The handle for the C interface.
  function output_c_handle(self, stat, errmsg) result(handle)
    class(tessera_output), intent(in) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: handle
    handle = handle_of(self%own, kind_output, "c_handle", stat, errmsg)
  end function output_c_handle

  !> Collective. Sets an attribute of a data set, a group or, with "/", the file; the same on all
  !> members: a number of any kind, a logical, a text, or a list of reals.
  subroutine set_int8(self, object, name, value, stat, errmsg)
    class(tessera_output), intent(in) :: self
    character(*), intent(in) :: object, name
    integer(int8), intent(in) :: value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: handle
    integer(c_int) :: code
    if (open_cell(self%own, kind_output, "set_attribute", handle, code)) &
        code = c_output_set_number(handle, c_text(object), c_text(name), 6_c_int64_t, value)
    call finish(code, stat, errmsg)
  end subroutine set_int8

  !> Collective. The same.
  subroutine set_int16(self, object, name, value, stat, errmsg)
    class(tessera_output), intent(in) :: self
    character(*), intent(in) :: object, name
    integer(int16), intent(in) :: value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: handle
    integer(c_int) :: code
    if (open_cell(self%own, kind_output, "set_attribute", handle, code)) &
        code = c_output_set_number(handle, c_text(object), c_text(name), 7_c_int64_t, value)
    call finish(code, stat, errmsg)
  end subroutine set_int16

  !> Collective. The same.
  subroutine set_int32(self, object, name, value, stat, errmsg)
    class(tessera_output), intent(in) :: self
    character(*), intent(in) :: object, name
    integer(int32), intent(in) :: value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: handle
    integer(c_int) :: code
    if (open_cell(self%own, kind_output, "set_attribute", handle, code)) &
        code = c_output_set_number(handle, c_text(object), c_text(name), 0_c_int64_t, value)
    call finish(code, stat, errmsg)
  end subroutine set_int32

  !> Collective. The same.
  subroutine set_int64(self, object, name, value, stat, errmsg)
    class(tessera_output), intent(in) :: self
    character(*), intent(in) :: object, name
    integer(int64), intent(in) :: value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: handle
    integer(c_int) :: code
    if (open_cell(self%own, kind_output, "set_attribute", handle, code)) &
        code = c_output_set_number(handle, c_text(object), c_text(name), 1_c_int64_t, value)
    call finish(code, stat, errmsg)
  end subroutine set_int64

  !> Collective. The same.
  subroutine set_real32(self, object, name, value, stat, errmsg)
    class(tessera_output), intent(in) :: self
    character(*), intent(in) :: object, name
    real(real32), intent(in) :: value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: handle
    integer(c_int) :: code
    if (open_cell(self%own, kind_output, "set_attribute", handle, code)) &
        code = c_output_set_number(handle, c_text(object), c_text(name), 2_c_int64_t, value)
    call finish(code, stat, errmsg)
  end subroutine set_real32

  !> Collective. The same.
  subroutine set_real64(self, object, name, value, stat, errmsg)
    class(tessera_output), intent(in) :: self
    character(*), intent(in) :: object, name
    real(real64), intent(in) :: value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: handle
    integer(c_int) :: code
    if (open_cell(self%own, kind_output, "set_attribute", handle, code)) &
        code = c_output_set_number(handle, c_text(object), c_text(name), 3_c_int64_t, value)
    call finish(code, stat, errmsg)
  end subroutine set_real64

  !> Collective. The same.
  subroutine set_complex32(self, object, name, value, stat, errmsg)
    class(tessera_output), intent(in) :: self
    character(*), intent(in) :: object, name
    complex(real32), intent(in) :: value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: handle
    integer(c_int) :: code
    if (open_cell(self%own, kind_output, "set_attribute", handle, code)) &
        code = c_output_set_number(handle, c_text(object), c_text(name), 4_c_int64_t, value)
    call finish(code, stat, errmsg)
  end subroutine set_complex32

  !> Collective. The same.
  subroutine set_complex64(self, object, name, value, stat, errmsg)
    class(tessera_output), intent(in) :: self
    character(*), intent(in) :: object, name
    complex(real64), intent(in) :: value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: handle
    integer(c_int) :: code
    if (open_cell(self%own, kind_output, "set_attribute", handle, code)) &
        code = c_output_set_number(handle, c_text(object), c_text(name), 5_c_int64_t, value)
    call finish(code, stat, errmsg)
  end subroutine set_complex64

  !> Collective. The same.
  subroutine set_logical(self, object, name, value, stat, errmsg)
    class(tessera_output), intent(in) :: self
    character(*), intent(in) :: object, name
    logical, intent(in) :: value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: handle
    integer(c_int) :: code
    if (open_cell(self%own, kind_output, "set_attribute", handle, code)) &
        code = c_output_set_truth(handle, c_text(object), c_text(name), &
            merge(1_c_int, 0_c_int, value))
    call finish(code, stat, errmsg)
  end subroutine set_logical

  !> Collective. The same.
  subroutine set_text(self, object, name, value, stat, errmsg)
    class(tessera_output), intent(in) :: self
    character(*), intent(in) :: object, name
    character(*), intent(in) :: value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: handle
    integer(c_int) :: code
    if (open_cell(self%own, kind_output, "set_attribute", handle, code)) &
        code = c_output_set_text(handle, c_text(object), c_text(name), c_text(value))
    call finish(code, stat, errmsg)
  end subroutine set_text

  !> Collective. The same.
  subroutine set_reals(self, object, name, value, stat, errmsg)
    class(tessera_output), intent(in) :: self
    character(*), intent(in) :: object, name
    real(real64), intent(in) :: value(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: handle
    integer(c_int) :: code
    if (open_cell(self%own, kind_output, "set_attribute", handle, code)) &
        code = c_output_set_reals(handle, c_text(object), c_text(name), &
            size(value, kind=c_int64_t), value)
    call finish(code, stat, errmsg)
  end subroutine set_reals

  function storage_options(compression, shuffle, time) result(options)
    integer, intent(in), optional :: compression
    logical, intent(in), optional :: shuffle
    real(real64), intent(in), optional :: time
    type(c_storage_options) :: options
    if (present(compression)) options%compression = int(compression, c_int)
    if (present(shuffle)) options%shuffle = merge(1_c_int, 0_c_int, shuffle)
    if (present(time)) then
      options%has_time = 1
      options%time = time
    end if
  end function storage_options

end module tessera_outputs
