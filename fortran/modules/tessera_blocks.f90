! SPDX-License-Identifier: BSD-3-Clause
!
! The elements of an array in this process's own memory, and ghost cells; see tessera.f90.
!
!     type(tessera_block) :: block
!     real(real64), pointer :: x(:, :)
!     call block%begin(a)
!     call block%pointer(x)            ! x(lo(1):hi(1), lo(2):hi(2)), the indices of the array
!     x = 2 * x
!     call block%end()
!
! A compiler accepts an x with the attribute CONTIGUOUS here, then ignores its strides, and does not
! pass the attribute to the library. So a block with gaps in memory, for example one with ghost
! cells, is an error unless the program asks for it: call block%pointer(x, strided=.true.).
module tessera_blocks
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int64
  use tessera_arrays
  use tessera_distributions
  use tessera_element_access
  use tessera_errors
  implicit none
  private
  public :: tessera_block, tessera_halo

  type, bind(c) :: c_block
    type(c_ptr) :: first = c_null_ptr
    integer(c_int64_t) :: element = 0
    integer(c_int64_t) :: ndims = 0
    integer(c_int64_t) :: lo(tessera_max_dims) = 0
    integer(c_int64_t) :: hi(tessera_max_dims) = 0
    integer(c_int64_t) :: ghost_lo(tessera_max_dims) = 0
    integer(c_int64_t) :: ghost_hi(tessera_max_dims) = 0
    integer(c_int64_t) :: strides(tessera_max_dims) = 0
  end type c_block

  !> Permission to load and store the elements of one of this rank's blocks.
  type :: tessera_block
    type(owned_cell) :: own  ! for the library only
    type(c_block) :: memory  ! for the library only
  contains
    procedure :: begin => block_begin
    procedure :: end => block_end
    procedure :: is_empty => block_is_empty
    procedure :: lower => block_lower
    procedure :: upper => block_upper
    procedure :: strides => block_strides
    procedure :: address => block_address
    generic :: pointer => pointer_int8, pointer_int16, pointer_int32, pointer_int64, &
        pointer_real32, pointer_real64, pointer_complex32, pointer_complex64
    procedure, private :: pointer_int8
    procedure, private :: pointer_int16
    procedure, private :: pointer_int32
    procedure, private :: pointer_int64
    procedure, private :: pointer_real32
    procedure, private :: pointer_real64
    procedure, private :: pointer_complex32
    procedure, private :: pointer_complex64
  end type tessera_block

  !> A plan for the exchange of an array's ghost cells.
  type :: tessera_halo
    type(owned_cell) :: own  ! for the library only
  contains
    procedure :: create => halo_create
    procedure :: free => halo_free
    procedure :: update => halo_update
    procedure :: accumulate => halo_accumulate
    procedure :: post => halo_post
    procedure :: start => halo_start
    procedure :: finish => halo_finish
    procedure :: bytes => halo_bytes
  end type tessera_halo

  interface
    function f_access_begin(place, array, number, memory) &
        bind(c, name="tessera_f_access_begin") result(code)
      import
      type(c_ptr), intent(inout) :: place
      type(c_ptr), value :: array
      integer(c_int64_t), value :: number
      type(c_block), intent(inout) :: memory
      integer(c_int) :: code
    end function f_access_begin
    function f_point_int8(access, memory, ghosts, strided, p) &
        bind(c, name="tessera_f_access_pointer") result(code)
      import
      type(c_ptr), value :: access
      type(c_block), intent(inout) :: memory
      integer(c_int), value :: ghosts, strided
      integer(c_int8_t), pointer, intent(inout) :: p(..)
      integer(c_int) :: code
    end function f_point_int8
    function f_point_int16(access, memory, ghosts, strided, p) &
        bind(c, name="tessera_f_access_pointer") result(code)
      import
      type(c_ptr), value :: access
      type(c_block), intent(inout) :: memory
      integer(c_int), value :: ghosts, strided
      integer(c_int16_t), pointer, intent(inout) :: p(..)
      integer(c_int) :: code
    end function f_point_int16
    function f_point_int32(access, memory, ghosts, strided, p) &
        bind(c, name="tessera_f_access_pointer") result(code)
      import
      type(c_ptr), value :: access
      type(c_block), intent(inout) :: memory
      integer(c_int), value :: ghosts, strided
      integer(c_int32_t), pointer, intent(inout) :: p(..)
      integer(c_int) :: code
    end function f_point_int32
    function f_point_int64(access, memory, ghosts, strided, p) &
        bind(c, name="tessera_f_access_pointer") result(code)
      import
      type(c_ptr), value :: access
      type(c_block), intent(inout) :: memory
      integer(c_int), value :: ghosts, strided
      integer(c_int64_t), pointer, intent(inout) :: p(..)
      integer(c_int) :: code
    end function f_point_int64
    function f_point_real32(access, memory, ghosts, strided, p) &
        bind(c, name="tessera_f_access_pointer") result(code)
      import
      type(c_ptr), value :: access
      type(c_block), intent(inout) :: memory
      integer(c_int), value :: ghosts, strided
      real(c_float), pointer, intent(inout) :: p(..)
      integer(c_int) :: code
    end function f_point_real32
    function f_point_real64(access, memory, ghosts, strided, p) &
        bind(c, name="tessera_f_access_pointer") result(code)
      import
      type(c_ptr), value :: access
      type(c_block), intent(inout) :: memory
      integer(c_int), value :: ghosts, strided
      real(c_double), pointer, intent(inout) :: p(..)
      integer(c_int) :: code
    end function f_point_real64
    function f_point_complex32(access, memory, ghosts, strided, p) &
        bind(c, name="tessera_f_access_pointer") result(code)
      import
      type(c_ptr), value :: access
      type(c_block), intent(inout) :: memory
      integer(c_int), value :: ghosts, strided
      complex(c_float_complex), pointer, intent(inout) :: p(..)
      integer(c_int) :: code
    end function f_point_complex32
    function f_point_complex64(access, memory, ghosts, strided, p) &
        bind(c, name="tessera_f_access_pointer") result(code)
      import
      type(c_ptr), value :: access
      type(c_block), intent(inout) :: memory
      integer(c_int), value :: ghosts, strided
      complex(c_double_complex), pointer, intent(inout) :: p(..)
      integer(c_int) :: code
    end function f_point_complex64
    function f_access_address(access, memory, ghosts, strided, first) &
        bind(c, name="tessera_f_access_address") result(code)
      import
      type(c_ptr), value :: access
      type(c_block), intent(in) :: memory
      integer(c_int), value :: ghosts, strided
      type(c_ptr), intent(inout) :: first
      integer(c_int) :: code
    end function f_access_address
    function f_halo_create(place, array, masks, counts, widths, faces_only) &
        bind(c, name="tessera_f_halo_create") result(code)
      import
      type(c_ptr), intent(inout) :: place
      type(c_ptr), value :: array
      integer(c_int64_t), intent(in) :: masks(2)
      integer(c_int), intent(in) :: counts(2)
      type(*), dimension(..), intent(in), optional :: widths
      integer(c_int), value :: faces_only
      integer(c_int) :: code
    end function f_halo_create
    function c_halo_update(halo) bind(c, name="tessera_halo_update") result(code)
      import
      type(c_ptr), value :: halo
      integer(c_int) :: code
    end function c_halo_update
    function c_halo_accumulate(halo) bind(c, name="tessera_halo_accumulate") result(code)
      import
      type(c_ptr), value :: halo
      integer(c_int) :: code
    end function c_halo_accumulate
    function c_halo_post(halo) bind(c, name="tessera_halo_post") result(code)
      import
      type(c_ptr), value :: halo
      integer(c_int) :: code
    end function c_halo_post
    function c_halo_start(halo) bind(c, name="tessera_halo_start") result(code)
      import
      type(c_ptr), value :: halo
      integer(c_int) :: code
    end function c_halo_start
    function c_halo_finish(halo) bind(c, name="tessera_halo_finish") result(code)
      import
      type(c_ptr), value :: halo
      integer(c_int) :: code
    end function c_halo_finish
    function c_halo_bytes(halo, bytes) bind(c, name="tessera_halo_bytes") result(code)
      import
      type(c_ptr), value :: halo
      integer(c_int64_t), intent(inout) :: bytes
      integer(c_int) :: code
    end function c_halo_bytes
  end interface

  !> Sets a pointer of the array's type and rank to a block; its bounds are the array's indices.
  interface point
    procedure :: f_point_int8, f_point_int16, f_point_int32, f_point_int64, f_point_real32, &
        f_point_real64, f_point_complex32, f_point_complex64
  end interface point

contains

  !> Local. Begins access to this rank's block `number`, counted from 1. Most arrays have only block
  !> 1, which may be used also if it is empty. Errors: closed, invalid_argument (the access mode
  !> forbids it), out_of_range.
  subroutine block_begin(self, array, number, stat, errmsg)
    class(tessera_block), intent(inout) :: self
    type(tessera_array), intent(in) :: array
    integer, intent(in), optional :: number
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: which
    which = 1
    if (present(number)) which = number
    call finish(f_access_begin(self%own%at, array%own%at, which, self%memory), stat, errmsg)
  end subroutine block_begin

  !> Local. Ends the access: the program must no longer use pointers to the block.
  subroutine block_end(self, stat, errmsg)
    class(tessera_block), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call self%own%free(stat, errmsg)
  end subroutine block_end

  !> Local. Whether this rank has no elements in the block.
  pure function block_is_empty(self) result(is_empty)
    class(tessera_block), intent(in) :: self
    logical :: is_empty
    is_empty = .not. c_associated(self%memory%first)
  end function block_is_empty

  !> Local. The lower bounds of the block, with or without its ghost cells.
  pure function block_lower(self, ghosts) result(lo)
    class(tessera_block), intent(in) :: self
    logical, intent(in), optional :: ghosts
    integer(int64), allocatable :: lo(:)
    lo = self%memory%lo(:self%memory%ndims)
    if (with(ghosts)) lo = self%memory%ghost_lo(:self%memory%ndims)
  end function block_lower

  !> Local. The upper bounds of the block, with or without its ghost cells.
  pure function block_upper(self, ghosts) result(hi)
    class(tessera_block), intent(in) :: self
    logical, intent(in), optional :: ghosts
    integer(int64), allocatable :: hi(:)
    hi = self%memory%hi(:self%memory%ndims)
    if (with(ghosts)) hi = self%memory%ghost_hi(:self%memory%ndims)
  end function block_upper

  !> Local. The distance in memory, in elements, from one element to the next along each dimension.
  pure function block_strides(self) result(strides)
    class(tessera_block), intent(in) :: self
    integer(int64), allocatable :: strides(:)
    strides = self%memory%strides(:self%memory%ndims)
  end function block_strides

  !> Local. The address of the element at lower(), or lower(ghosts=.true.), for c_f_pointer: for
  !> derived types, which pointer() does not support. c_null_ptr if this rank has no elements. Not
  !> valid after end(). A block with gaps in memory is refused, as by pointer(); with strided=.true.
  !> the function returns its address, for a program that uses strides(). Errors: invalid_argument
  !> (gaps), closed.
  function block_address(self, ghosts, strided, stat, errmsg) result(first)
    class(tessera_block), intent(in) :: self
    logical, intent(in), optional :: ghosts, strided
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: first
    first = c_null_ptr
    call finish(f_access_address(self%own%at, self%memory, flag(ghosts), flag(strided), first), &
        stat, errmsg)
  end function block_address

  pure function with(given) result(is_so)
    logical, intent(in), optional :: given
    logical :: is_so
    is_so = .false.
    if (present(given)) is_so = given
  end function with

  !> Local. Points `p`, which has the array's type and rank, to the block, or to the block with its
  !> ghost cells. Its bounds are the indices of the array. Not valid after end(). A block with gaps
  !> in memory, for example one with ghost cells, is refused unless strided=.true.; then `p` must
  !> not have the attribute CONTIGUOUS. Errors: invalid_argument (another type or rank, gaps),
  !> closed.
  subroutine pointer_int8(self, p, ghosts, strided, stat, errmsg)
    class(tessera_block), intent(inout) :: self
    integer(c_int8_t), pointer, intent(inout) :: p(..)
    logical, intent(in), optional :: ghosts, strided
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(point(self%own%at, self%memory, flag(ghosts), flag(strided), p), stat, errmsg)
  end subroutine pointer_int8

  subroutine pointer_int16(self, p, ghosts, strided, stat, errmsg)
    class(tessera_block), intent(inout) :: self
    integer(c_int16_t), pointer, intent(inout) :: p(..)
    logical, intent(in), optional :: ghosts, strided
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(point(self%own%at, self%memory, flag(ghosts), flag(strided), p), stat, errmsg)
  end subroutine pointer_int16

  subroutine pointer_int32(self, p, ghosts, strided, stat, errmsg)
    class(tessera_block), intent(inout) :: self
    integer(c_int32_t), pointer, intent(inout) :: p(..)
    logical, intent(in), optional :: ghosts, strided
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(point(self%own%at, self%memory, flag(ghosts), flag(strided), p), stat, errmsg)
  end subroutine pointer_int32

  subroutine pointer_int64(self, p, ghosts, strided, stat, errmsg)
    class(tessera_block), intent(inout) :: self
    integer(c_int64_t), pointer, intent(inout) :: p(..)
    logical, intent(in), optional :: ghosts, strided
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(point(self%own%at, self%memory, flag(ghosts), flag(strided), p), stat, errmsg)
  end subroutine pointer_int64

  subroutine pointer_real32(self, p, ghosts, strided, stat, errmsg)
    class(tessera_block), intent(inout) :: self
    real(c_float), pointer, intent(inout) :: p(..)
    logical, intent(in), optional :: ghosts, strided
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(point(self%own%at, self%memory, flag(ghosts), flag(strided), p), stat, errmsg)
  end subroutine pointer_real32

  subroutine pointer_real64(self, p, ghosts, strided, stat, errmsg)
    class(tessera_block), intent(inout) :: self
    real(c_double), pointer, intent(inout) :: p(..)
    logical, intent(in), optional :: ghosts, strided
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(point(self%own%at, self%memory, flag(ghosts), flag(strided), p), stat, errmsg)
  end subroutine pointer_real64

  subroutine pointer_complex32(self, p, ghosts, strided, stat, errmsg)
    class(tessera_block), intent(inout) :: self
    complex(c_float_complex), pointer, intent(inout) :: p(..)
    logical, intent(in), optional :: ghosts, strided
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(point(self%own%at, self%memory, flag(ghosts), flag(strided), p), stat, errmsg)
  end subroutine pointer_complex32

  subroutine pointer_complex64(self, p, ghosts, strided, stat, errmsg)
    class(tessera_block), intent(inout) :: self
    complex(c_double_complex), pointer, intent(inout) :: p(..)
    logical, intent(in), optional :: ghosts, strided
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(point(self%own%at, self%memory, flag(ghosts), flag(strided), p), stat, errmsg)
  end subroutine pointer_complex64

  !> Collective. Plans the exchange of the ghost cells of `array`, which must outlive the plan. The
  !> array is periodic in the dimensions `periodic`. In the dimensions `left_out` the program sets
  !> the outer cells itself. `widths` gives the layers to move, by default all. With faces_only
  !> edges and corners are not moved. Errors, on all members: invalid_argument (no ghost cells, or
  !> widths larger than the array's).
  subroutine halo_create(self, array, periodic, left_out, widths, faces_only, stat, errmsg)
    class(tessera_halo), intent(inout) :: self
    type(tessera_array), intent(in) :: array
    logical, intent(in), optional :: periodic(:), left_out(:)
    type(*), dimension(..), intent(in), optional :: widths
    logical, intent(in), optional :: faces_only
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: masks(2)
    integer(c_int) :: counts(2)
    masks = 0
    counts = -1
    if (present(periodic)) masks(1) = bits_of(periodic)
    if (present(periodic)) counts(1) = size(periodic, kind=c_int)
    if (present(left_out)) masks(2) = bits_of(left_out)
    if (present(left_out)) counts(2) = size(left_out, kind=c_int)
    call finish(f_halo_create(self%own%at, array%own%at, masks, counts, widths, &
        merge(1_c_int, 0_c_int, with(faces_only))), stat, errmsg)
  end subroutine halo_create

  !> Collective. Finishes a started update.
  subroutine halo_free(self, stat, errmsg)
    class(tessera_halo), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call self%own%free(stat, errmsg)
  end subroutine halo_free

  !> Collective. Makes all ghost cells equal to the elements that they are copies of.
  subroutine halo_update(self, stat, errmsg)
    class(tessera_halo), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call act(self%own, kind_halo, "update", c_halo_update, stat, errmsg)
  end subroutine halo_update

  !> Collective. The reverse of update(): adds each ghost cell to the element that it is a copy of,
  !> and sets it to zero.
  subroutine halo_accumulate(self, stat, errmsg)
    class(tessera_halo), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call act(self%own, kind_halo, "accumulate", c_halo_accumulate, stat, errmsg)
  end subroutine halo_accumulate

  !> Allows the neighbours to write this rank's ghost cells for the next update, so that they need
  !> not wait when they start it. Until that update is finished, this rank must not touch its ghost
  !> cells. Optional on each rank. Does not wait for other ranks.
  subroutine halo_post(self, stat, errmsg)
    class(tessera_halo), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call act(self%own, kind_halo, "post", c_halo_post, stat, errmsg)
  end subroutine halo_post

  !> Collective. Starts an update. Until finish(), this rank must neither touch its ghost cells nor
  !> change its own elements.
  subroutine halo_start(self, stat, errmsg)
    class(tessera_halo), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call act(self%own, kind_halo, "start", c_halo_start, stat, errmsg)
  end subroutine halo_start

  !> Collective. Finishes the update that start() began.
  subroutine halo_finish(self, stat, errmsg)
    class(tessera_halo), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call act(self%own, kind_halo, "finish", c_halo_finish, stat, errmsg)
  end subroutine halo_finish

  !> Local. Bytes that one update moves to this rank from others.
  function halo_bytes(self, stat, errmsg) result(bytes)
    class(tessera_halo), intent(in) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: bytes
    bytes = number64_of(self%own, kind_halo, "bytes", c_halo_bytes, stat, errmsg)
  end function halo_bytes

end module tessera_blocks
