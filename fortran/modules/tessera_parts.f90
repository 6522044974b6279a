! SPDX-License-Identifier: BSD-3-Clause
!
! Parts of arrays, and the operations on them; see tessera.f90.
!
! An array is the part with all its elements, so these are procedures of arrays, too:
!
!     call c%add(1.0_real64, a, -1.0_real64, b)
!     top = c%part([1, 1], [n, 10])
!     call top%fill(0.0_real64)
!
! All are collective over the team of the part that they write, or of the part itself if they write
! nothing. They begin and end with a synchronisation, and return the same on all members. The
! operands of one operation have the same shape and element type, and may be distributed
! differently. Scalars have the array's type and kind.
!
! Errors of each: invalid_argument (operands that do not fit each other, an access mode that forbids
! the use, elements that are only moved), out_of_range, closed, peer_lost.
!
! A part refers to its array, which must outlive it.
module tessera_parts
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: real64, int64
  use tessera_errors
  use tessera_part_bindings
  implicit none
  private
  public :: tessera_part, part_of, operand

  !> A box of an array, as an operand.
  type :: tessera_part
    type(owned_cell) :: own      ! for the library only
    type(c_operand) :: bounds    ! for the library only
  contains
    procedure :: zero => part_zero
    procedure :: fill => part_fill
    procedure :: fill_random => part_fill_random
    procedure :: scale => part_scale
    procedure :: add_constant => part_add_constant
    procedure :: absolute => part_absolute
    procedure :: reciprocal => part_reciprocal
    procedure :: copy => part_copy
    procedure :: copy_row_major => part_copy_in_order
    procedure :: add => part_add
    procedure :: multiply => part_multiply
    procedure :: divide => part_divide
    procedure :: maximum => part_maximum
    procedure :: minimum => part_minimum
    procedure :: median => part_median
    procedure :: sum => part_sum
    procedure :: dot => part_dot
    procedure :: dot_conjugated => part_dot_conjugated
    procedure :: norm2 => part_norm2
    procedure :: norm1 => part_norm1
    procedure :: norm_infinity => part_norm_infinity
    procedure :: norm_max => part_norm_max
    procedure :: select_max => part_select_max
    procedure :: select_min => part_select_min
    procedure :: step_max => part_step_max
    procedure :: step_bounds => part_step_bounds
    procedure :: add_diagonal => part_add_diagonal
    procedure :: set_diagonal => part_set_diagonal
    procedure :: get_diagonal => part_get_diagonal
    procedure :: shift_diagonal => part_shift_diagonal
    procedure :: fill_diagonal => part_fill_diagonal
    procedure :: zero_diagonal => part_zero_diagonal
    procedure :: scale_rows => part_scale_rows
    procedure :: scale_columns => part_scale_columns
    procedure :: symmetrize => part_symmetrize
    procedure :: enumerate => part_enumerate
    procedure :: scan_copy => part_scan_copy
    procedure :: scan_add => part_scan_add
    procedure :: pack => part_pack
    procedure :: unpack => part_unpack
    procedure :: print => part_print
  end type tessera_part

contains

  !> Collective, as the procedures below. Elements = 0.
  subroutine part_zero(self, stat, errmsg)
    class(tessera_part), intent(in) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_unary(op_zero, operand(self)), stat, errmsg)
  end subroutine part_zero

  !> Elements = value.
  subroutine part_fill(self, value, stat, errmsg)
    class(tessera_part), intent(in) :: self
    type(*), dimension(..), intent(in) :: value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_with_number(op_fill, operand(self), value), stat, errmsg)
  end subroutine part_fill

  !> Random elements that depend only on the seed and their index: in [low, high), integers in [low,
  !> high]. They are the same in all languages. The seed is an integer of any kind, the bounds are
  !> reals or integers of any kind.
  subroutine part_fill_random(self, seed, low, high, stat, errmsg)
    class(tessera_part), intent(in) :: self
    type(*), dimension(..), intent(in) :: seed, low, high
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_fill_random(operand(self), seed, low, high), stat, errmsg)
  end subroutine part_fill_random

  !> Elements = alpha * elements.
  subroutine part_scale(self, alpha, stat, errmsg)
    class(tessera_part), intent(in) :: self
    type(*), dimension(..), intent(in) :: alpha
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_with_number(op_scale, operand(self), alpha), stat, errmsg)
  end subroutine part_scale

  !> Elements = elements + value.
  subroutine part_add_constant(self, value, stat, errmsg)
    class(tessera_part), intent(in) :: self
    type(*), dimension(..), intent(in) :: value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_with_number(op_add_constant, operand(self), value), stat, errmsg)
  end subroutine part_add_constant

  !> Elements = abs(elements).
  subroutine part_absolute(self, stat, errmsg)
    class(tessera_part), intent(in) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_unary(op_absolute, operand(self)), stat, errmsg)
  end subroutine part_absolute

  !> Elements = 1 / elements.
  subroutine part_reciprocal(self, stat, errmsg)
    class(tessera_part), intent(in) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_unary(op_reciprocal, operand(self)), stat, errmsg)
  end subroutine part_reciprocal

  !> Elements = those of `from`, of the same shape; the distributions may differ.
  subroutine part_copy(self, from, stat, errmsg)
    class(tessera_part), intent(in) :: self
    class(tessera_part), intent(in) :: from
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_binary(op_copy, operand(from), operand(self)), stat, errmsg)
  end subroutine part_copy

  !> The same between shapes with the same number of elements, in array element order of both.
  subroutine part_copy_in_order(self, from, stat, errmsg)
    class(tessera_part), intent(in) :: self
    class(tessera_part), intent(in) :: from
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_binary(op_copy_in_order, operand(from), operand(self)), stat, errmsg)
  end subroutine part_copy_in_order

  !> Elements = alpha * a + beta * b.
  subroutine part_add(self, alpha, a, beta, b, stat, errmsg)
    class(tessera_part), intent(in) :: self
    type(*), dimension(..), intent(in) :: alpha
    class(tessera_part), intent(in) :: a
    type(*), dimension(..), intent(in) :: beta
    class(tessera_part), intent(in) :: b
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_add(alpha, operand(a), beta, operand(b), operand(self)), stat, errmsg)
  end subroutine part_add

  !> Elements = a * b.
  subroutine part_multiply(self, a, b, stat, errmsg)
    class(tessera_part), intent(in) :: self
    class(tessera_part), intent(in) :: a, b
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_ternary(op_multiply, operand(a), operand(b), operand(self)), stat, errmsg)
  end subroutine part_multiply

  !> Elements = a / b.
  subroutine part_divide(self, a, b, stat, errmsg)
    class(tessera_part), intent(in) :: self
    class(tessera_part), intent(in) :: a, b
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_ternary(op_divide, operand(a), operand(b), operand(self)), stat, errmsg)
  end subroutine part_divide

  !> Elements = max(a, b); complex ones by their absolute values.
  subroutine part_maximum(self, a, b, stat, errmsg)
    class(tessera_part), intent(in) :: self
    class(tessera_part), intent(in) :: a, b
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_ternary(op_maximum, operand(a), operand(b), operand(self)), stat, errmsg)
  end subroutine part_maximum

  !> Elements = min(a, b); complex ones by their absolute values.
  subroutine part_minimum(self, a, b, stat, errmsg)
    class(tessera_part), intent(in) :: self
    class(tessera_part), intent(in) :: a, b
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_ternary(op_minimum, operand(a), operand(b), operand(self)), stat, errmsg)
  end subroutine part_minimum

  !> Elements = the median of the three elements.
  subroutine part_median(self, a, b, c, stat, errmsg)
    class(tessera_part), intent(in) :: self
    class(tessera_part), intent(in) :: a, b, c
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_median(operand(a), operand(b), operand(c), operand(self)), stat, errmsg)
  end subroutine part_median

  !> `value`, of the array's type, becomes the sum of all elements; integers wrap around. If
  !> reproducible, the bits are the same for any number of ranks and any distribution.
  subroutine part_sum(self, value, reproducible, stat, errmsg)
    class(tessera_part), intent(in) :: self
    type(*), dimension(..), intent(inout) :: value
    logical, intent(in), optional :: reproducible
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_sum(operand(self), flag(reproducible), value), stat, errmsg)
  end subroutine part_sum

  !> `value` becomes the sum of all self * b.
  subroutine part_dot(self, b, value, reproducible, stat, errmsg)
    class(tessera_part), intent(in) :: self
    class(tessera_part), intent(in) :: b
    type(*), dimension(..), intent(inout) :: value
    logical, intent(in), optional :: reproducible
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_dot(0_c_int, operand(self), operand(b), flag(reproducible), value), stat, errmsg)
  end subroutine part_dot

  !> `value` becomes the sum of all conjg(self) * b.
  subroutine part_dot_conjugated(self, b, value, reproducible, stat, errmsg)
    class(tessera_part), intent(in) :: self
    class(tessera_part), intent(in) :: b
    type(*), dimension(..), intent(inout) :: value
    logical, intent(in), optional :: reproducible
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_dot(1_c_int, operand(self), operand(b), flag(reproducible), value), stat, errmsg)
  end subroutine part_dot_conjugated

  !> The square root of the sum of all abs(element)**2.
  function part_norm2(self, reproducible, stat, errmsg) result(norm)
    class(tessera_part), intent(in) :: self
    logical, intent(in), optional :: reproducible
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    real(real64) :: norm
    norm = 0
    call finish(f_norm(op_norm2, operand(self), flag(reproducible), norm), stat, errmsg)
  end function part_norm2

  !> For a matrix: the largest sum of abs(element) over a column; for a vector: the sum of all.
  function part_norm1(self, reproducible, stat, errmsg) result(norm)
    class(tessera_part), intent(in) :: self
    logical, intent(in), optional :: reproducible
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    real(real64) :: norm
    norm = 0
    call finish(f_norm(op_norm1, operand(self), flag(reproducible), norm), stat, errmsg)
  end function part_norm1

  !> For a matrix: the largest sum of abs(element) over a row; for a vector: the largest of all.
  function part_norm_infinity(self, reproducible, stat, errmsg) result(norm)
    class(tessera_part), intent(in) :: self
    logical, intent(in), optional :: reproducible
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    real(real64) :: norm
    norm = 0
    call finish(f_norm(op_norm_infinity, operand(self), flag(reproducible), norm), stat, errmsg)
  end function part_norm_infinity

  !> The largest abs(element).
  function part_norm_max(self, stat, errmsg) result(norm)
    class(tessera_part), intent(in) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    real(real64) :: norm
    norm = 0
    call finish(f_norm(op_norm_max, operand(self), 0_c_int, norm), stat, errmsg)
  end function part_norm_max

  !> `value` becomes the largest element, and `index`, integers, its index in its array. Of several
  !> equal elements it is the first in array element order. Errors: also invalid_argument for an
  !> empty part.
  subroutine part_select_max(self, value, index, stat, errmsg)
    class(tessera_part), intent(in) :: self
    type(*), dimension(..), intent(inout) :: value
    type(*), dimension(..), intent(inout), optional :: index
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_select(1_c_int, operand(self), value, index), stat, errmsg)
  end subroutine part_select_max

  !> `value` becomes the smallest element, and `index`, integers, its index in its array. Of several
  !> equal elements it is the first in array element order. Errors: also invalid_argument for an
  !> empty part.
  subroutine part_select_min(self, value, index, stat, errmsg)
    class(tessera_part), intent(in) :: self
    type(*), dimension(..), intent(inout) :: value
    type(*), dimension(..), intent(inout), optional :: index
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_select(0_c_int, operand(self), value, index), stat, errmsg)
  end subroutine part_select_min

  !> The largest step for which no element of self + step * dx is negative; infinite if every step
  !> is allowed. Real elements only. Errors: also invalid_argument if self has a negative element.
  function part_step_max(self, dx, stat, errmsg) result(step)
    class(tessera_part), intent(in) :: self
    class(tessera_part), intent(in) :: dx
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    real(real64) :: step
    step = 0
    call finish(f_step_max(operand(self), operand(dx), step), stat, errmsg)
  end function part_step_max

  !> For each element, the step for which self + step * dx reaches its bound: the upper bound if dx
  !> is positive, the lower one if dx is negative. Returns the smallest step, the smallest above 0,
  !> and the largest.
  subroutine part_step_bounds(self, dx, lower, upper, first, first_positive, last, stat, errmsg)
    class(tessera_part), intent(in) :: self
    class(tessera_part), intent(in) :: dx, lower, upper
    real(real64), intent(out) :: first, first_positive, last
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    real(c_double) :: steps(3)
    integer(c_int) :: code
    steps = 0
    code = f_step_bounds(operand(self), operand(dx), operand(lower), operand(upper), steps)
    first = steps(1)
    first_positive = steps(2)
    last = steps(3)
    call finish(code, stat, errmsg)
  end subroutine part_step_bounds

  !> For a matrix and a vector: self(i, i) = self(i, i) + v(i).
  subroutine part_add_diagonal(self, v, stat, errmsg)
    class(tessera_part), intent(in) :: self
    class(tessera_part), intent(in) :: v
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_binary(op_add_diagonal, operand(self), operand(v)), stat, errmsg)
  end subroutine part_add_diagonal

  !> self(i, i) = v(i).
  subroutine part_set_diagonal(self, v, stat, errmsg)
    class(tessera_part), intent(in) :: self
    class(tessera_part), intent(in) :: v
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_binary(op_set_diagonal, operand(self), operand(v)), stat, errmsg)
  end subroutine part_set_diagonal

  !> v(i) = self(i, i).
  subroutine part_get_diagonal(self, v, stat, errmsg)
    class(tessera_part), intent(in) :: self
    class(tessera_part), intent(in) :: v
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_binary(op_get_diagonal, operand(self), operand(v)), stat, errmsg)
  end subroutine part_get_diagonal

  !> self(i, i) = self(i, i) + value.
  subroutine part_shift_diagonal(self, value, stat, errmsg)
    class(tessera_part), intent(in) :: self
    type(*), dimension(..), intent(in) :: value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_with_number(op_shift_diagonal, operand(self), value), stat, errmsg)
  end subroutine part_shift_diagonal

  !> self(i, i) = value.
  subroutine part_fill_diagonal(self, value, stat, errmsg)
    class(tessera_part), intent(in) :: self
    type(*), dimension(..), intent(in) :: value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_with_number(op_fill_diagonal, operand(self), value), stat, errmsg)
  end subroutine part_fill_diagonal

  !> self(i, i) = 0.
  subroutine part_zero_diagonal(self, stat, errmsg)
    class(tessera_part), intent(in) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_unary(op_zero_diagonal, operand(self)), stat, errmsg)
  end subroutine part_zero_diagonal

  !> self(i, j) = v(i) * self(i, j).
  subroutine part_scale_rows(self, v, stat, errmsg)
    class(tessera_part), intent(in) :: self
    class(tessera_part), intent(in) :: v
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_binary(op_scale_rows, operand(self), operand(v)), stat, errmsg)
  end subroutine part_scale_rows

  !> self(i, j) = v(j) * self(i, j).
  subroutine part_scale_columns(self, v, stat, errmsg)
    class(tessera_part), intent(in) :: self
    class(tessera_part), intent(in) :: v
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_binary(op_scale_columns, operand(self), operand(v)), stat, errmsg)
  end subroutine part_scale_columns

  !> self = (self + transpose(self)) / 2.
  subroutine part_symmetrize(self, stat, errmsg)
    class(tessera_part), intent(in) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_unary(op_symmetrize, operand(self)), stat, errmsg)
  end subroutine part_symmetrize

  !> For a vector: self(i) = start + (i - 1) * step.
  subroutine part_enumerate(self, start, step, stat, errmsg)
    class(tessera_part), intent(in) :: self
    type(*), dimension(..), intent(in) :: start, step
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_enumerate(operand(self), start, step), stat, errmsg)
  end subroutine part_enumerate

  !> For vectors. An element of the mask, of any integer type, that is not 0 begins a segment. Each
  !> segment becomes the first element of that segment of `from`.
  subroutine part_scan_copy(self, from, mask, stat, errmsg)
    class(tessera_part), intent(in) :: self
    class(tessera_part), intent(in) :: from, mask
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_ternary(op_scan_copy, operand(from), operand(mask), operand(self)), stat, errmsg)
  end subroutine part_scan_copy

  !> Elements = the running sums of `from` within each segment; without the element itself if
  !> exclusive.
  subroutine part_scan_add(self, from, mask, exclusive, stat, errmsg)
    class(tessera_part), intent(in) :: self
    class(tessera_part), intent(in) :: from, mask
    logical, intent(in), optional :: exclusive
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_scan_add(operand(from), operand(mask), operand(self), flag(exclusive)), stat, &
        errmsg)
  end subroutine part_scan_add

  !> Moves the elements of `from` whose mask is not 0 to the beginning of this vector; `count`, an
  !> integer of any kind, is their number.
  subroutine part_pack(self, from, mask, count, stat, errmsg)
    class(tessera_part), intent(in) :: self
    class(tessera_part), intent(in) :: from, mask
    type(*), dimension(..), intent(inout), optional :: count
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_pack(0_c_int, operand(from), operand(mask), operand(self), count), stat, errmsg)
  end subroutine part_pack

  !> Moves the first elements of `from` to where the mask of this vector is not 0; `count` is their
  !> number.
  subroutine part_unpack(self, from, mask, count, stat, errmsg)
    class(tessera_part), intent(in) :: self
    class(tessera_part), intent(in) :: from, mask
    type(*), dimension(..), intent(inout), optional :: count
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_pack(1_c_int, operand(from), operand(mask), operand(self), count), stat, errmsg)
  end subroutine part_unpack

  !> Writes the elements as text on member `root`, by default 0: to a new file, or to standard
  !> output. Indices are those of C, from 0 and in its order: a matrix has a line for each of its
  !> columns. Errors: also invalid_argument if the file cannot be written.
  subroutine part_print(self, path, root, digits, most_lines, stat, errmsg)
    class(tessera_part), intent(in) :: self
    character(*), intent(in), optional :: path
    integer, intent(in), optional :: root, digits, most_lines
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int) :: code
    if (present(path)) then
      code = f_print(operand(self), c_text(path), chosen(root, 0), chosen(digits, 6), &
          chosen(most_lines, 1000))
    else
      code = f_print(operand(self), root=chosen(root, 0), digits=chosen(digits, 6), &
          most_lines=chosen(most_lines, 1000))
    end if
    call finish(code, stat, errmsg)
  end subroutine part_print

  !> The part as an argument of the C++ functions.
  function operand(part) result(given)
    class(tessera_part), intent(in) :: part
    type(c_operand) :: given
    given = part%bounds
    given%cell = part%own%at
  end function operand

  !> A box of an array. The operation that takes it checks the box.
  function part_of(whole, lo, hi) result(part)
    class(tessera_part), intent(in) :: whole
    type(*), dimension(..), intent(in) :: lo, hi
    type(tessera_part) :: part
    part%own%at = whole%own%at
    call f_part(lo, hi, part%bounds)
  end function part_of

  pure function chosen(given, otherwise) result(number)
    integer, intent(in), optional :: given
    integer, intent(in) :: otherwise
    integer(c_int64_t) :: number
    number = otherwise
    if (present(given)) number = given
  end function chosen
end module tessera_parts
