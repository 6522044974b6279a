! SPDX-License-Identifier: BSD-3-Clause
!
! Integers and numbers of any kind, for scalar arguments and results of the module.
module kind_cases
  use, intrinsic :: iso_c_binding, only: c_associated, c_ptr
  use, intrinsic :: iso_fortran_env, only: int8, int16, int32, int64, real32, real64
  use checks
  use tessera
  implicit none
  private
  public :: run_kind_cases

contains

  subroutine run_kind_cases()
    call run_case("kinds.integers_given", integers_given, .true.)
    call run_case("kinds.integers_returned", integers_returned, .true.)
    call run_case("kinds.numbers", numbers, .true.)
    call run_case("kinds.digits", digits, .true.)
    call run_case("kinds.elements", elements, .true.)
    call run_case("kinds.attributes", attributes, .true.)
  end subroutine run_kind_cases

  !> A default integer works like an int64; other types are refused.
  subroutine integers_given()
    type(tessera_array) :: a, b, c, d, e
    type(c_ptr) :: memory
    real(real64) :: x(9, 7), y(9, 7), values(4)
    call make_matrix(a, 9, 7, "A")
    call make_matrix(b, 9, 7, "B")
    call a%fill_random(42_int64, 0.0_real64, 1.0_real64)
    call b%fill_random(42, 0.0, 1)
    call a%get([1, 1], [9, 7], x)
    call b%get([1, 1], [9, 7], y)
    call check(all(x == y), "the same random numbers")
    call b%fill_random(42_int8, 0d0, 1d0)
    call b%get([1, 1], [9, 7], y)
    call check(all(x == y), "by a byte")
    call b%fill_random(4.2, 0d0, 1d0, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "seed is real(real32); it must be an integer")
    call b%fill_random(42, 0d0, .true., stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, &
        "high is logical of 4 bytes; it must be a real number")
    call b%fill_random(42, 0.1, 1.0, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "low is 0.1 of real(real32), but real(real64) is &
        &needed, which cannot represent these digits")
    call b%set_access_mode(tessera_access_read_only, cache_bytes=4096)
    call b%set_access_mode(tessera_access_any)
    call b%set_access_mode(tessera_access_read_only, cache_bytes=1.0, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "cache_bytes is real(real32)")
    call job%allocate_local(80, memory)
    call check(c_associated(memory), "local memory")
    call job%free_local(memory)
    call c%create(job, tessera_real64, [4, 4], team=team)
    call c%fill_diagonal(2)
    call tessera_eigenvalues(c, values, method=tessera_method_own, max_bytes=100000)
    call check(all(abs(values - 2) < 1e-12_real64), "eigenvalues")
    call make_matrix(e, 4, 4, "E")
    call tessera_gemm(c, c, e, buffer_bytes=2048)
    call make_matrix(d, 4, 4, "D")
    call tessera_transpose(c, d, buffer_bytes=64)
  end subroutine integers_given

  !> Results fit a variable of any kind, or are refused.
  subroutine integers_returned()
    type(tessera_distribution) :: d
    type(tessera_array) :: a, marks, packed
    integer :: owner
    integer(int16) :: offset, count
    integer(int32) :: operations
    integer(int64) :: bytes
    integer(int8) :: small
    real(real32) :: wrong
    wrong = 0
    call d%create_regular(job, 1, [500])
    call d%locate(300, owner, offset)
    call check(owner == 0 .and. offset == 299, "an offset of two bytes")
    call d%locate(300, owner, small, stat=code, errmsg=message)
    call check_error(tessera_out_of_range, "offset is 299, which does not fit integer(int8)")
    call make_vector(a, tessera_real64, 11, "a")
    call make_vector(marks, tessera_int32, 11, "marks")
    call make_vector(packed, tessera_real64, 11, "packed")
    call marks%fill(1_int64)
    call packed%pack(a, marks, count)
    call check(count == 11, "a count of two bytes")
    call packed%unpack(a, marks, bytes)
    call check(bytes == 11, "and of eight")
    call packed%pack(a, marks, wrong, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "count is real(real32); it must be of type integer")
    operations = -1
    bytes = -1
    call job%traffic(tessera_op_get, operations, bytes)
    call check(operations >= 0 .and. bytes >= 0, "traffic")
  end subroutine integers_returned

  !> Numbers become the elements' kind: literals of the default kind, too.
  subroutine numbers()
    type(tessera_array) :: a, i, c
    real(real64) :: x(11)
    integer(int32) :: n(11)
    complex(real32) :: z(11)
    call make_vector(a, tessera_real64, 11, "a")
    call a%fill(3)
    call a%scale(2)
    call a%add_constant(0.5)
    call a%get(1, 11, x)
    call check(all(x == 6.5_real64), "of integers, and of 0.5")
    call a%sync()
    if (member == 0) call a%accumulate(1, 11, x, 2)
    call a%sync()
    call a%get(1, 11, x)
    call check(all(x == 19.5_real64), "alpha")
    call a%add(2, a, -1.0, a)
    call a%get(1, 11, x)
    call check(all(x == 19.5_real64), "alpha and beta")
    call make_vector(i, tessera_int32, 11, "i")
    call i%fill(7_int64)
    call i%scale(2.0)
    call i%get(1, 11, n)
    call check(all(n == 14), "whole numbers for integers")
    call i%fill(3000000000_int64, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "the number is 3000000000 of integer(int64), but &
        &integer(int32) is needed")
    call i%fill(2.5, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "the number is 2.5 of real(real32), but &
        &integer(int32) is needed")
    call make_vector(c, tessera_complex32, 11, "c")
    call c%fill(2)
    call c%scale((0.5d0, 1d0))
    call c%get(1, 11, z)
    call check(all(z == (1.0, 2.0)), "complex numbers")
    call a%fill((1.0, 0.0), stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "the number is (1, 0) of complex(real32), but &
        &real(real64) is needed")
  end subroutine numbers

  !> A number is converted only if it keeps its digits: 0.1 of real32 is another one in real64.
  subroutine digits()
    type(tessera_array) :: a, single
    call make_vector(a, tessera_real64, 11, "a")
    call a%scale(0.1, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "the number is 0.1 of real(real32), but real(real64) &
        &is needed, which cannot represent these digits")
    call check_has(message, "hint: write the number in that kind, for example 0.1_real64")
    call a%fill(9007199254740993_int64, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "the number is 9007199254740993 of integer(int64)")
    call a%fill(9007199254740992_int64)
    call a%scale(1e10)
    call make_vector(single, tessera_real32, 11, "single")
    call single%fill(16777217, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "the number is 16777217 of integer(int32), but &
        &real(real32) is needed")
    call single%fill(0.1d0, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "the number is 0.1 of real(real64), but real(real32) &
        &is needed")
    call single%fill(0.25d0)
  end subroutine digits

  !> The same for single elements and atomics; what comes back has the elements' kind.
  subroutine elements()
    type(tessera_array) :: n, a
    integer(int64) :: before
    integer(int32) :: wrong
    real(real64) :: value
    call make_vector(n, tessera_int64, 3, "n")
    call make_vector(a, tessera_real64, 3, "a")
    if (member == 0) then
      call a%put_element(2, 4)
      call n%put_element(1, 5)
      call n%fetch_add(1, 1, before)
      call check(before == 5, "before an addition")
      call n%swap(1, 9, before)
      call check(before == 6, "before a swap")
      call n%compare_swap(1, 9, 10, before)
      call check(before == 9, "before a comparison")
      call n%fetch_add(1, 1, wrong, stat=code, errmsg=message)
      call check_error(tessera_invalid_argument, &
          "before is integer(int32), but the array has integer(int64)")
      call a%get_element(2, value)
      call check(value == 4, "a number as an element")
    end if
    call n%sync()
  end subroutine elements

  subroutine attributes()
    type(tessera_checkpoint_writer) :: writer
    type(tessera_checkpoint) :: file
    character(40) :: path
    integer :: unit, step
    integer(int8) :: small
    integer(int64) :: large
    real(real32) :: single
    real(real64) :: time
    logical :: is_done
    write (path, "(a, i0, a, i0, a)") "kinds.", job%size(), ".", team%world_rank(0), ".h5"
    call writer%create(job, trim(path), team, stat=code, errmsg=message)
    if (code == tessera_unsupported) return
    call writer%put_attribute("step", 12)
    call writer%put_attribute("byte", 100_int8)
    call writer%put_attribute("short", 1000_int16)
    call writer%put_attribute("large", 5000000000_int64)
    call writer%put_attribute("single", 0.1)
    call writer%put_attribute("time", 0.1d0)
    call writer%put_attribute("done", .true.)
    call writer%commit()
    call writer%free()
    call file%open(job, trim(path), team)
    call file%get_attribute("step", step)
    call file%get_attribute("byte", small)
    call file%get_attribute("large", large)
    call check(step == 12 .and. small == 100 .and. large == 5000000000_int64, "integers")
    call file%get_attribute("short", small, stat=code, errmsg=message)
    call check_error(tessera_out_of_range, "attribute 'short' is 1000; the variable can hold -128 to &
        &127")
    call file%get_attribute("large", step, stat=code, errmsg=message)
    call check_error(tessera_out_of_range, "attribute 'large' is 5000000000")
    call file%get_attribute("single", single)
    call file%get_attribute("time", time)
    call check(single == 0.1 .and. time == 0.1d0, "reals")
    call file%get_attribute("time", single)
    call check(single == 0.1, "the nearest real32")
    call file%get_attribute("done", is_done)
    call check(is_done, "a logical")
    call file%get_attribute("step", is_done, stat=code, errmsg=message)
    call check_error(tessera_out_of_range, "attribute 'step' is 12; the variable can hold 0 to 1")
    call file%free()
    call team%barrier()
    if (member == 0) then
      open (newunit=unit, file=trim(path))
      close (unit, status="delete")
    end if
  end subroutine attributes

end module kind_cases
