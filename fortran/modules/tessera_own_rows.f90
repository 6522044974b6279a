! SPDX-License-Identifier: BSD-3-Clause
!
! The rows of a sparse matrix in this process's own memory; see tessera_sparse_matrices.
!
!     type(tessera_sparse_rows) :: rows
!     real(real64), pointer :: values(:)
!     call rows%begin(a)
!     allocate (row_starts(rows%count() + 1), columns(rows%entries()))
!     call rows%pattern(row_starts, columns)
!     call rows%pointer(values)        ! of row rows%first() - 1 + i:
!                                      ! values(row_starts(i):row_starts(i + 1) - 1)
!     call rows%end()
module tessera_own_rows
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int64
  use tessera_arrays
  use tessera_errors
  use tessera_sparse_bindings
  use tessera_sparse_matrices
  implicit none
  private
  public :: tessera_sparse_rows

  !> Permission to load own entries, and to store their values.
  type :: tessera_sparse_rows
    type(owned_cell) :: own  ! for the library only
    type(c_sparse_rows) :: memory  ! for the library only
  contains
    procedure :: begin => rows_begin
    procedure :: end => rows_end
    procedure :: first => rows_first
    procedure :: count => rows_count
    procedure :: entries => rows_entries
    procedure :: pattern => rows_pattern
    generic :: pointer => pointer_int32, pointer_int64, pointer_real32, pointer_real64, &
        pointer_complex32, pointer_complex64
    procedure, private :: pointer_int32
    procedure, private :: pointer_int64
    procedure, private :: pointer_real32
    procedure, private :: pointer_real64
    procedure, private :: pointer_complex32
    procedure, private :: pointer_complex64
  end type tessera_sparse_rows

contains

  !> Local. Begins access to own rows: to load entries, and to store their values. Allowed also
  !> without own rows. Other ranks may read and write values meanwhile; call the matrix's sync()
  !> between their accesses and this rank's. Errors: closed.
  subroutine rows_begin(self, matrix, stat, errmsg)
    class(tessera_sparse_rows), intent(inout) :: self
    type(tessera_sparse), intent(in) :: matrix
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_sparse_rows_begin(self%own%at, matrix%own%at, self%memory), stat, errmsg)
  end subroutine rows_begin

  !> Local. Ends the access: the program must no longer use pointers to the values.
  subroutine rows_end(self, stat, errmsg)
    class(tessera_sparse_rows), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call self%own%free(stat, errmsg)
  end subroutine rows_end

  !> Local. The number of the first own row in the matrix.
  pure function rows_first(self) result(row)
    class(tessera_sparse_rows), intent(in) :: self
    integer(int64) :: row
    row = self%memory%first_row
  end function rows_first

  !> Local. The number of own rows.
  pure function rows_count(self) result(count)
    class(tessera_sparse_rows), intent(in) :: self
    integer(int64) :: count
    count = self%memory%rows
  end function rows_count

  !> Local. The number of entries in own rows.
  pure function rows_entries(self) result(entries)
    class(tessera_sparse_rows), intent(in) :: self
    integer(int64) :: entries
    entries = self%memory%entries
  end function rows_entries

  !> Local. Copies the beginnings of own rows among own entries, count() + 1 numbers, and the column
  !> of each entry, entries() numbers, to integers of any kind. Errors: invalid_argument (another
  !> length), out_of_range (a kind that cannot hold them), closed.
  subroutine rows_pattern(self, row_starts, columns, stat, errmsg)
    class(tessera_sparse_rows), intent(in) :: self
    type(*), dimension(..), intent(inout) :: row_starts, columns
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_sparse_rows_pattern(self%own%at, self%memory, row_starts, columns), stat, errmsg)
  end subroutine rows_pattern

  !> Local. Points `p`, which has the matrix's type, to the values of own entries. Not valid after
  !> end(). Errors: invalid_argument (another type), closed.
  subroutine pointer_int32(self, p, stat, errmsg)
    class(tessera_sparse_rows), intent(inout) :: self
    integer(c_int32_t), pointer, intent(inout) :: p(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: values
    if (has_values(self, tessera_int32, values, stat, errmsg)) &
        call c_f_pointer(values, p, [self%memory%entries])
  end subroutine pointer_int32

  subroutine pointer_int64(self, p, stat, errmsg)
    class(tessera_sparse_rows), intent(inout) :: self
    integer(c_int64_t), pointer, intent(inout) :: p(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: values
    if (has_values(self, tessera_int64, values, stat, errmsg)) &
        call c_f_pointer(values, p, [self%memory%entries])
  end subroutine pointer_int64

  subroutine pointer_real32(self, p, stat, errmsg)
    class(tessera_sparse_rows), intent(inout) :: self
    real(c_float), pointer, intent(inout) :: p(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: values
    if (has_values(self, tessera_real32, values, stat, errmsg)) &
        call c_f_pointer(values, p, [self%memory%entries])
  end subroutine pointer_real32

  subroutine pointer_real64(self, p, stat, errmsg)
    class(tessera_sparse_rows), intent(inout) :: self
    real(c_double), pointer, intent(inout) :: p(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: values
    if (has_values(self, tessera_real64, values, stat, errmsg)) &
        call c_f_pointer(values, p, [self%memory%entries])
  end subroutine pointer_real64

  subroutine pointer_complex32(self, p, stat, errmsg)
    class(tessera_sparse_rows), intent(inout) :: self
    complex(c_float_complex), pointer, intent(inout) :: p(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: values
    if (has_values(self, tessera_complex32, values, stat, errmsg)) &
        call c_f_pointer(values, p, [self%memory%entries])
  end subroutine pointer_complex32

  subroutine pointer_complex64(self, p, stat, errmsg)
    class(tessera_sparse_rows), intent(inout) :: self
    complex(c_double_complex), pointer, intent(inout) :: p(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: values
    if (has_values(self, tessera_complex64, values, stat, errmsg)) &
        call c_f_pointer(values, p, [self%memory%entries])
  end subroutine pointer_complex64

  !> Whether there are values of this type; sets `values` to their address.
  function has_values(self, element, values, stat, errmsg) result(are_there)
    class(tessera_sparse_rows), intent(inout) :: self
    integer(int64), intent(in) :: element
    type(c_ptr), intent(out) :: values
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    logical :: are_there
    integer(c_int) :: code
    values = c_null_ptr
    code = f_sparse_rows_values(self%own%at, self%memory, element, values)
    are_there = code == 0
    call finish(code, stat, errmsg)
  end function has_values

end module tessera_own_rows
