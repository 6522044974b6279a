! SPDX-License-Identifier: BSD-3-Clause
!
! Operations on parts, each compared with what Fortran does to a local array; and matrices, and
! text.
module operation_cases
  use checks
  use, intrinsic :: ieee_arithmetic, only: ieee_is_finite
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use tessera
  implicit none
  private
  public :: run_operation_cases

  integer, parameter :: n = 6, m = 5
  real(real64), parameter :: tolerance = 1e-12_real64

contains

  subroutine run_operation_cases()
    call run_case("element.one_operand", one_operand, .true.)
    call run_case("element.several_operands", several_operands, .true.)
    call run_case("element.parts", parts, .true.)
    call run_case("element.other_types", other_types, .true.)
    call run_case("element.random", random, .true.)
    call run_case("reduction.sums", sums, .true.)
    call run_case("reduction.norms", norms, .true.)
    call run_case("reduction.other_norms", other_norms, .true.)
    call run_case("reduction.select", selects, .true.)
    call run_case("reduction.steps", steps, .true.)
    call run_case("matrix.diagonals", diagonals, .true.)
    call run_case("matrix.scaling", scaling, .true.)
    call run_case("print.files", prints, .true.)
    call run_case("operation.errors", operation_errors, .true.)
  end subroutine run_operation_cases

  !> Collective on the team. An array with these elements.
  subroutine make_of(a, x, name)
    type(tessera_array), intent(inout) :: a
    real(real64), intent(in) :: x(:, :)
    character(*), intent(in) :: name
    call make_matrix(a, size(x, 1), size(x, 2), name)
    if (member == 0) call a%put([1, 1], shape(x), x)
    call a%sync()
  end subroutine make_of

  !> Collective on the team. That an array has these elements.
  subroutine check_is(a, x, what)
    type(tessera_array), intent(in) :: a
    real(real64), intent(in) :: x(:, :)
    character(*), intent(in) :: what
    real(real64), allocatable :: got(:, :)
    allocate (got, mold=x)
    call a%get([1, 1], shape(x), got)
    call check(all(abs(got - x) <= tolerance * abs(x)), what)
    call a%sync()
  end subroutine check_is

  !> Numbers of both signs, none of them 0.
  function sample(seed) result(x)
    integer, intent(in) :: seed
    real(real64) :: x(n, m)
    integer :: i, j
    x = reshape([((mod(7 * i + 11 * j + seed, 13) - 6.5_real64, i = 1, n), j = 1, m)], [n, m])
  end function sample

  subroutine one_operand()
    type(tessera_array) :: a
    real(real64) :: x(n, m)
    x = sample(1)
    call make_of(a, x, "A")
    call a%scale(-2.0_real64)
    call check_is(a, -2 * x, "scale")
    call a%absolute()
    call check_is(a, abs(2 * x), "absolute")
    call a%reciprocal()
    call check_is(a, 1 / abs(2 * x), "reciprocal")
    call a%add_constant(3.0_real64)
    call check_is(a, 3 + 1 / abs(2 * x), "add_constant")
    call a%fill(9.0_real64)
    x = 9
    call check_is(a, x, "fill")
    call a%zero()
    x = 0
    call check_is(a, x, "zero")
  end subroutine one_operand

  subroutine several_operands()
    type(tessera_array) :: a, b, c, d, flat
    real(real64) :: x(n, m), y(n, m), z(n, m)
    x = sample(1)
    y = sample(4)
    z = sample(9)
    call make_of(a, x, "A")
    call make_of(b, y, "B")
    call make_of(d, z, "D")
    call make_matrix(c, n, m, "C")
    call c%add(2.0_real64, a, -1.0_real64, b)
    call check_is(c, 2 * x - y, "add")
    call c%multiply(a, b)
    call check_is(c, x * y, "multiply")
    call c%divide(a, b)
    call check_is(c, x / y, "divide")
    call c%maximum(a, b)
    call check_is(c, max(x, y), "maximum")
    call c%minimum(a, b)
    call check_is(c, min(x, y), "minimum")
    call c%median(a, b, d)
    call check_is(c, max(min(x, y), min(max(x, y), z)), "median")
    call c%copy(a)
    call check_is(c, x, "copy")
    call make_matrix(flat, m, n, "flat")
    call flat%copy_row_major(a)
    call check_is(flat, reshape(x, [m, n]), "array element order")
  end subroutine several_operands

  subroutine parts()
    type(tessera_array) :: a, b
    type(tessera_part) :: top
    real(real64) :: x(n, m), y(n, m)
    x = sample(1)
    y = sample(4)
    call make_of(a, x, "A")
    call make_of(b, y, "B")
    top = a%part([1, 2], [3, 4])
    call top%fill(7.0_real64)
    x(1:3, 2:4) = 7
    call check_is(a, x, "fill of a part")
    associate (corner => b%part([4_int64, 1_int64], [6, 3]))
      call corner%add(1.0_real64, top, 1.0_real64, b%part([1, 1], [3, 3]))
    end associate
    y(4:6, 1:3) = x(1:3, 2:4) + y(1:3, 1:3)
    call check_is(b, y, "add of parts")
    associate (row => a%part([n, 1], [n, m]))
      call row%copy(b%part([2, 1], [2, m]))
    end associate
    x(n, :) = y(2, :)
    call check_is(a, x, "copy of a row")
  end subroutine parts

  subroutine other_types()
    type(tessera_array) :: i, c
    integer :: x(4)
    complex(real32) :: z(4)
    call make_vector(i, tessera_int32, 4, "i")
    call i%fill(3)
    call i%scale(-2)
    call i%absolute()
    call i%get(1, 4, x)
    call check(all(x == 6), "integers")
    call make_vector(c, tessera_complex32, 4, "c")
    call c%fill((3.0, 4.0))
    call c%scale((0.0, 1.0))
    call c%get(1, 4, z)
    call check(all(z == (-4.0, 3.0)), "complex numbers")
    call c%absolute()
    call c%get(1, 4, z)
    call check(all(z == (5.0, 0.0)), "their absolute values")
  end subroutine other_types

  !> The numbers do not depend on the distribution.
  subroutine random()
    type(tessera_array) :: a, b
    real(real64) :: x(n, m), y(n, m)
    call make_matrix(a, n, m, "A")
    call a%fill_random(42_int64, -1.0_real64, 1.0_real64)
    call b%create(job, tessera_real64, [n, m], team=team, holders=[0])
    call b%fill_random(42_int64, -1.0_real64, 1.0_real64)
    call a%get([1, 1], [n, m], x)
    call b%get([1, 1], [n, m], y)
    call check(all(x == y) .and. all(abs(x) <= 1) .and. maxval(x) > minval(x), "random numbers")
  end subroutine random

  subroutine sums()
    type(tessera_array) :: a, b, c
    type(tessera_part) :: part
    real(real64) :: x(n, m), y(n, m), total, again
    complex(real64) :: z
    x = sample(1)
    y = sample(4)
    call make_of(a, x, "A")
    call make_of(b, y, "B")
    call a%sum(total)
    call check(abs(total - sum(x)) < tolerance * 100, "sum")
    call a%sum(again, reproducible=.true.)
    call check(abs(total - again) < tolerance * 100, "reproducible sum")
    part = a%part([2, 2], [3, 5])
    call part%sum(total)
    call check(abs(total - sum(x(2:3, 2:5))) < tolerance * 100, "sum of a part")
    call a%dot(b, total)
    call check(abs(total - sum(x * y)) < tolerance * 1000, "dot")
    call make_vector(c, tessera_complex64, 3, "c")
    call c%fill((1.0_real64, 2.0_real64))
    call c%dot(c, z)
    call check(abs(z - 3 * (1.0_real64, 2.0_real64)**2) < tolerance, "dot of complex numbers")
    call c%dot_conjugated(c, z)
    call check(abs(z - 15) < tolerance, "conjugated")
  end subroutine sums

  subroutine norms()
    type(tessera_array) :: a
    real(real64) :: x(n, m)
    x = sample(1)
    call make_of(a, x, "A")
    call check(abs(a%norm2() - norm2(x)) < tolerance * 100, "norm2")
    call check(a%norm_max() == maxval(abs(x)), "norm_max")
    call check(abs(a%norm1() - maxval(sum(abs(x), dim=1))) < tolerance * 100, "columns")
    call check(abs(a%norm_infinity(reproducible=.true.) - maxval(sum(abs(x), dim=2))) &
        < tolerance * 100, "rows")
  end subroutine norms

  !> Vectors, which have no rows and columns to exchange, and operands without such a norm.
  subroutine other_norms()
    type(tessera_array) :: v, cube
    type(tessera_part) :: part
    real(real64) :: x(5), norm
    x = [1.0_real64, -7.0_real64, 2.0_real64, -3.0_real64, 4.0_real64]
    call make_vector(v, tessera_real64, 5, "v")
    if (member == 0) call v%put(1, 5, x)
    call v%sync()
    call check(v%norm1() == 17 .and. v%norm1(reproducible=.true.) == 17, "the sum of all")
    call check(v%norm_infinity() == 7, "the largest of all")
    part = v%part(3, 5)
    call check(part%norm1() == 9 .and. part%norm_infinity(reproducible=.true.) == 4, "of a part")
    call cube%create(job, tessera_real64, [2, 3, 4], name="cube", team=team)
    norm = cube%norm1(stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "norm1 of array 'cube'")
    call check_has(message, "norm1 and norm_infinity are defined for matrices and vectors")
    norm = cube%norm_infinity(stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "norm_infinity of array 'cube'")
    call check(norm == 0, "results of what failed")
  end subroutine other_norms

  subroutine selects()
    type(tessera_array) :: a
    real(real64) :: x(n, m), value
    integer :: place(2)
    integer(int64) :: place64(2)
    x = sample(1)
    call make_of(a, x, "A")
    call a%select_max(value, place)
    call check(value == maxval(x) .and. all(place == maxloc(x)), "select_max")
    call a%select_min(value, place64)
    call check(value == minval(x) .and. all(place64 == minloc(x)), "select_min")
    call a%select_min(value)
    call check(value == minval(x), "without its place")
  end subroutine selects

  subroutine steps()
    type(tessera_array) :: x, dx, lower, upper
    real(real64) :: first, first_positive, last
    call make_vector(x, tessera_real64, 3, "x")
    call make_vector(dx, tessera_real64, 3, "dx")
    call make_vector(lower, tessera_real64, 3, "lower")
    call make_vector(upper, tessera_real64, 3, "upper")
    if (member == 0) then
      call x%put(1, 3, [1.0_real64, 2.0_real64, 3.0_real64])
      call dx%put(1, 3, [1.0_real64, -4.0_real64, 2.0_real64])
      call lower%put(1, 3, [0.0_real64, 0.0_real64, 0.0_real64])
      call upper%put(1, 3, [5.0_real64, 5.0_real64, 5.0_real64])
    end if
    call x%sync()
    call check(x%step_max(dx) == 0.5_real64, "step_max")
    call x%step_bounds(dx, lower, upper, first, first_positive, last)
    call check(first == 0.5_real64 .and. first_positive == 0.5_real64 .and. last == 4, &
        "step_bounds")
    call dx%absolute()
    call check(.not. ieee_is_finite(x%step_max(dx)), "no limit")
  end subroutine steps

  subroutine diagonals()
    type(tessera_array) :: a, v
    real(real64) :: x(n, n), d(n)
    integer :: i
    x = 1
    d = [(real(i, real64), i = 1, n)]
    call make_of(a, x, "A")
    call make_vector(v, tessera_real64, n, "v")
    call v%enumerate(1.0_real64, 1.0_real64)
    call a%add_diagonal(v)
    call set_diagonal(x, 1 + d)
    call check_is(a, x, "add_diagonal")
    call a%shift_diagonal(2.0_real64)
    call a%get_diagonal(v)
    call v%get(1, n, d)
    call check(all(d == [(i + 3, i = 1, n)]), "get_diagonal")
    call v%scale(2.0_real64)
    call a%set_diagonal(v)
    call set_diagonal(x, 2 * d)
    call check_is(a, x, "set_diagonal")
    call a%fill_diagonal(4.0_real64)
    call set_diagonal(x, 0 * d + 4)
    call check_is(a, x, "fill_diagonal")
    call a%zero_diagonal()
    call set_diagonal(x, 0 * d)
    call check_is(a, x, "zero_diagonal")
  end subroutine diagonals

  subroutine set_diagonal(x, d)
    real(real64), intent(inout) :: x(:, :)
    real(real64), intent(in) :: d(:)
    integer :: i
    do i = 1, size(d)
      x(i, i) = d(i)
    end do
  end subroutine set_diagonal

  !> Rows and columns are Fortran's.
  subroutine scaling()
    type(tessera_array) :: a, v, w, s
    real(real64) :: x(n, m), square(m, m)
    integer :: i
    x = sample(1)
    call make_of(a, x, "A")
    call make_vector(v, tessera_real64, n, "v")
    call make_vector(w, tessera_real64, m, "w")
    call v%enumerate(1.0_real64, 1.0_real64)
    call w%enumerate(10.0_real64, 10.0_real64)
    call a%scale_rows(v)
    x = x * spread([(real(i, real64), i = 1, n)], 2, m)
    call check_is(a, x, "scale_rows")
    call a%scale_columns(w)
    x = x * spread([(10 * real(i, real64), i = 1, m)], 1, n)
    call check_is(a, x, "scale_columns")
    call a%scale_columns(v, stat=code, errmsg=message)
    call check(code == tessera_invalid_argument, "as many as columns")
    square = x(1:m, :)
    call make_of(s, square, "S")
    call s%symmetrize()
    call check_is(s, (square + transpose(square)) / 2, "symmetrize")
  end subroutine scaling

  subroutine prints()
    type(tessera_array) :: a
    character(120) :: line
    character(40) :: path
    integer :: unit, status, lines
    write (path, "(a, i0, a, i0)") "fortran-print.", job%size(), ".", &
        member * 0 + team%world_rank(0)
    call make_matrix(a, 2, 3, "A")
    call a%fill(1.5_real64)
    call a%print(path=trim(path), digits=3)
    if (member == 0) then
      lines = 0
      open (newunit=unit, file=trim(path), status="old", action="read")
      do
        read (unit, "(a)", iostat=status) line
        if (status /= 0) exit
        lines = lines + 1
        if (lines > 1) call check_has(line, "1.5")
      end do
      close (unit, status="delete")
      call check(lines == 4, "a line for each column after that of the name")
    end if
    call team%barrier()
    call a%print(path="/nowhere/file", stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "can't be written")
    call a%print(path=trim(path), root=members, stat=code, errmsg=message)
    call check(code /= 0, "no such root")
  end subroutine prints

  subroutine operation_errors()
    type(tessera_array) :: a, b, c
    type(tessera_part) :: part
    integer :: last
    real(real64) :: norm
    call make_matrix(a, 9, 7, "A")
    call b%create(job, tessera_int32, [9, 7], name="B", team=team)
    call make_matrix(c, 9, 6, "C")
    call a%fill(.true., stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, &
        "the number is logical of 4 bytes, but the array has real(real64)")
    call a%fill([1.0_real64], stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "the number has rank 1")
    call a%copy(b, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "elements of different types")
    call check_has(message, "note: in this message dimensions are in C's order")
    call a%copy(c, stat=code, errmsg=message)
    call check(code == tessera_invalid_argument, "other shapes")
    call a%fill_random(1, 1, 0, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "random elements of type float64 can't be between 1 and 0")
    call check(index(message, "note:") == 0, "no dimensions, no note")
    part = a%part([1, 1], [9, 8])
    call part%fill(1.0_real64, stat=code, errmsg=message)
    call check_error(tessera_out_of_range, "part of array 'A' (real(real64), shape (9, 7)): &
        &(1:9, 1:8) lies outside the array: dimension 2 has indices 1 to 7")
    part = a%part([1, 1, 1], [9, 7])
    call part%fill(1.0_real64, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "lo has 3 numbers, but the array has 2 dimensions")
    part = a%part([1, 1], [9.0, 7.0])
    call part%fill(1.0_real64, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "hi is not a list of integers")
    norm = part%norm2(stat=code, errmsg=message)
    call check(code == tessera_invalid_argument .and. norm == 0, "of functions, too")
    last = merge(8, 7, member == members - 1)
    part = a%part([1, 1], [9, last])
    call part%fill(1.0_real64, stat=code, errmsg=message)
    call check(code == tessera_out_of_range, "an error of one member is reported to all")
    call c%free()
    call a%copy(c, stat=code, errmsg=message)
    call check_error(tessera_closed, "the array was freed")
    call check(a%norm_max() == 0, "nothing was changed")
  end subroutine operation_errors

end module operation_cases
