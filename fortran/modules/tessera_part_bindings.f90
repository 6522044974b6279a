! SPDX-License-Identifier: BSD-3-Clause
!
! Internal. The C++ functions that implement tessera_parts, and the structure shared with them.
module tessera_part_bindings
  use, intrinsic :: iso_c_binding
  use tessera_distribution_bindings, only: tessera_max_dims
  implicit none
  public

  !> A part of an array; the whole array if lo_count is -1.
  type, bind(c) :: c_operand
    type(c_ptr) :: cell = c_null_ptr
    integer(c_int64_t) :: lo_count = -1
    integer(c_int64_t) :: hi_count = -1
    integer(c_int64_t) :: lo(tessera_max_dims) = 0
    integer(c_int64_t) :: hi(tessera_max_dims) = 0
  end type c_operand

  !> Operations of one kind, with the numbers of C++.
  integer(c_int), parameter :: op_zero = 0, op_absolute = 1, op_reciprocal = 2, &
      op_zero_diagonal = 3, op_symmetrize = 4
  integer(c_int), parameter :: op_fill = 0, op_scale = 1, op_add_constant = 2, &
      op_shift_diagonal = 3, op_fill_diagonal = 4
  integer(c_int), parameter :: op_copy = 0, op_copy_in_order = 1, op_add_diagonal = 2, &
      op_set_diagonal = 3, op_get_diagonal = 4, op_scale_rows = 5, op_scale_columns = 6
  integer(c_int), parameter :: op_multiply = 0, op_divide = 1, op_maximum = 2, op_minimum = 3, &
      op_scan_copy = 4
  integer(c_int), parameter :: op_norm2 = 0, op_norm1 = 1, op_norm_infinity = 2, op_norm_max = 3

  interface
    subroutine f_part(lo, hi, part) bind(c, name="tessera_f_part")
      import
      type(*), dimension(..), intent(in) :: lo, hi
      type(c_operand), intent(inout) :: part
    end subroutine
    function f_unary(op, a) bind(c, name="tessera_f_unary") result(code)
      import
      integer(c_int), value :: op
      type(c_operand), intent(in) :: a
      integer(c_int) :: code
    end function
    function f_with_number(op, a, number) bind(c, name="tessera_f_with_number") result(code)
      import
      integer(c_int), value :: op
      type(c_operand), intent(in) :: a
      type(*), dimension(..), intent(in) :: number
      integer(c_int) :: code
    end function
    function f_binary(op, a, b) bind(c, name="tessera_f_binary") result(code)
      import
      integer(c_int), value :: op
      type(c_operand), intent(in) :: a, b
      integer(c_int) :: code
    end function
    function f_ternary(op, a, b, to) bind(c, name="tessera_f_ternary") result(code)
      import
      integer(c_int), value :: op
      type(c_operand), intent(in) :: a, b, to
      integer(c_int) :: code
    end function
    function f_add(alpha, a, beta, b, to) bind(c, name="tessera_f_add") result(code)
      import
      type(*), dimension(..), intent(in) :: alpha
      type(c_operand), intent(in) :: a
      type(*), dimension(..), intent(in) :: beta
      type(c_operand), intent(in) :: b, to
      integer(c_int) :: code
    end function
    function f_median(a, b, c, to) bind(c, name="tessera_f_median") result(code)
      import
      type(c_operand), intent(in) :: a, b, c, to
      integer(c_int) :: code
    end function
    function f_fill_random(a, seed, low, high) bind(c, name="tessera_f_fill_random") result(code)
      import
      type(c_operand), intent(in) :: a
      type(*), dimension(..), intent(in) :: seed, low, high
      integer(c_int) :: code
    end function
    function f_sum(a, reproducible, value) bind(c, name="tessera_f_sum") result(code)
      import
      type(c_operand), intent(in) :: a
      integer(c_int), value :: reproducible
      type(*), dimension(..), intent(inout) :: value
      integer(c_int) :: code
    end function
    function f_dot(conjugated, a, b, reproducible, value) bind(c, name="tessera_f_dot") result(code)
      import
      integer(c_int), value :: conjugated
      type(c_operand), intent(in) :: a, b
      integer(c_int), value :: reproducible
      type(*), dimension(..), intent(inout) :: value
      integer(c_int) :: code
    end function
    function f_norm(op, a, reproducible, norm) bind(c, name="tessera_f_norm") result(code)
      import
      integer(c_int), value :: op
      type(c_operand), intent(in) :: a
      integer(c_int), value :: reproducible
      real(c_double), intent(inout) :: norm
      integer(c_int) :: code
    end function
    function f_select(is_max, a, value, index) bind(c, name="tessera_f_select") result(code)
      import
      integer(c_int), value :: is_max
      type(c_operand), intent(in) :: a
      type(*), dimension(..), intent(inout) :: value
      type(*), dimension(..), intent(inout), optional :: index
      integer(c_int) :: code
    end function
    function f_step_max(x, dx, step) bind(c, name="tessera_f_step_max") result(code)
      import
      type(c_operand), intent(in) :: x, dx
      real(c_double), intent(inout) :: step
      integer(c_int) :: code
    end function
    function f_step_bounds(x, dx, lower, upper, steps) &
        bind(c, name="tessera_f_step_bounds") result(code)
      import
      type(c_operand), intent(in) :: x, dx, lower, upper
      real(c_double), intent(inout) :: steps(*)
      integer(c_int) :: code
    end function
    function f_enumerate(a, start, step) bind(c, name="tessera_f_enumerate") result(code)
      import
      type(c_operand), intent(in) :: a
      type(*), dimension(..), intent(in) :: start, step
      integer(c_int) :: code
    end function
    function f_scan_add(from, mask, to, kind) bind(c, name="tessera_f_scan_add") result(code)
      import
      type(c_operand), intent(in) :: from, mask, to
      integer(c_int), value :: kind
      integer(c_int) :: code
    end function
    function f_pack(is_unpack, from, mask, to, count) bind(c, name="tessera_f_pack") result(code)
      import
      integer(c_int), value :: is_unpack
      type(c_operand), intent(in) :: from, mask, to
      type(*), dimension(..), intent(inout), optional :: count
      integer(c_int) :: code
    end function
    function f_print(a, path, root, digits, most_lines) bind(c, name="tessera_f_print") result(code)
      import
      type(c_operand), intent(in) :: a
      character(kind=c_char), intent(in), optional :: path(*)
      integer(c_int64_t), value :: root, digits, most_lines
      integer(c_int) :: code
    end function
  end interface

end module tessera_part_bindings
