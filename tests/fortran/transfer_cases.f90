! SPDX-License-Identifier: BSD-3-Clause
!
! Transfers of every kind, each compared with the same assignments to a local array.
module transfer_cases
  use checks
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use sections
  use tessera
  implicit none
  private
  public :: run_transfer_cases

contains

  subroutine run_transfer_cases()
    call run_case("transfer.put_and_get", put_and_get, .true.)
    call run_case("transfer.strided_buffers", strided_buffers, .true.)
    call run_case("transfer.accumulate", accumulates, .true.)
    call run_case("transfer.combine", combines, .true.)
    call run_case("transfer.combine_parts", combine_parts, .true.)
    call run_case("transfer.change_elements", changes, .true.)
    call run_case("transfer.change_errors", change_errors, .true.)
    call run_case("transfer.async", asyncs, .true.)
    call run_case("transfer.sections", sections_of_arrays, .true.)
    call run_case("transfer.periodic", periodic, .true.)
    call run_case("transfer.fields", fields, .true.)
    call run_case("transfer.elements", elements, .true.)
    call run_case("transfer.lists", lists, .true.)
    call run_case("transfer.texts", texts, .true.)
    call run_case("transfer.errors", transfer_errors, .true.)
    call run_case("transfer.old_buffers", old_buffers, .true.)
    call run_case("transfer.list_errors", list_errors, .true.)
  end subroutine run_transfer_cases

  subroutine fill_by_rule(a, n, m)
    type(tessera_array), intent(in) :: a
    integer, intent(in) :: n, m
    integer :: i, j
    if (member == 0) then
      call a%put([1, 1], [n, m], reshape([((rule(i, j), i = 1, n), j = 1, m)], [n, m]))
    end if
    call a%sync()
  end subroutine fill_by_rule

  subroutine put_and_get()
    type(tessera_array) :: a
    real(real64) :: x(9, 7), row(7), column(9)
    real(real64), allocatable :: y(:, :)
    integer :: i, j
    call make_matrix(a, 9, 7, "A")
    call fill_by_rule(a, 9, 7)
    call a%get([1, 1], [9, 7], x)
    call check(all(x == reshape([((rule(i, j), i = 1, 9), j = 1, 7)], [9, 7])), "all of it")
    call a%get([4, 1], [4, 7], row)
    call check(all(row == rule(4, [(j, j = 1, 7)])), "a row in a list")
    call a%get([1_int64, 3_int64], [9, 3], column)
    call check(all(column == rule([(i, i = 1, 9)], 3)), "a column, bounds of two kinds")
    allocate (y(-1:1, 0:1))
    call a%get([7, 6], [9, 7], y)
    call check(y(-1, 0) == rule(7, 6) .and. y(1, 1) == rule(9, 7), "a buffer's own lower bounds")
    call a%sync()
    if (member == members - 1) call a%put([2, 2], [3, 3], reshape([1d0, 2d0, 3d0, 4d0], [2, 2]))
    call a%sync()
    x(2:3, 2:3) = reshape([1d0, 2d0, 3d0, 4d0], [2, 2])
    block
      real(real64) :: again(9, 7)
      call a%get([1, 1], [9, 7], again)
      call check(all(again == x), "what was put, and nothing else")
    end block
  end subroutine put_and_get

  subroutine strided_buffers()
    type(tessera_array) :: a, v
    real(real64) :: wide(10, 9), expected(5, 3)
    type(particle) :: particles(6)
    type(tessera_transfers) :: transfers
    integer :: i, j
    call make_matrix(a, 5, 9, "A")
    wide = reshape([((rule(i, j), i = 1, 10), j = 1, 9)], [10, 9])
    if (member == 0) call put_section_of(a, [1, 1], [5, 9], wide, 10)
    call a%sync()
    wide = -1
    call get_section_of(a, [1, 4], [5, 6], wide, 10)
    expected = reshape([((rule(2 * i - 1, j), i = 1, 5), j = 4, 6)], [5, 3])
    call check(all(wide(1:10:2, ::3) == expected), "elements of a section")
    wide(1:10:2, ::3) = -1
    call check(all(wide == -1), "nothing between them")
    call start_get_of_section(a, [1, 1], [5, 9], wide, 10, transfers)
    call transfers%wait()
    call check(all(wide(2:10:2, 9) == rule([(2 * i - 1, i = 1, 5)], 9)), "asynchronously")
    call check(all(wide(1:10:2, :) == -1), "nothing between them, asynchronously")
    call make_vector(v, tessera_real64, 6, "v")
    call v%enumerate(1.0_real64, 1.0_real64)
    ! gfortran copies components of structures, and writes them back.
    call v%get(1, 6, particles%y)
    call check(all(particles%y == [(real(i, real64), i = 1, 6)]), "components")
    call check(all(particles%x == 0) .and. all(particles%number == 0), "their neighbours")
  end subroutine strided_buffers

  subroutine accumulates()
    type(tessera_array) :: a, c
    real(real64) :: x(9, 7), ones(9, 7)
    complex(real64) :: z(4)
    integer :: numbers(4), i
    call make_matrix(a, 9, 7, "A")
    ones = 1
    call a%accumulate([1, 1], [9, 7], ones)
    call a%accumulate([2, 3], [4, 5], ones(1:3, 1:3), 0.5_real64)
    call a%sync()
    call a%get([1, 1], [9, 7], x)
    ones = members
    ones(2:4, 3:5) = 1.5_real64 * members
    call check(all(x == ones), "all members have added")
    call make_vector(c, tessera_complex64, 4, "c")
    call c%accumulate(1, 4, [(cmplx(i, 1, real64), i = 1, 4)], (0.0_real64, 1.0_real64))
    call c%sync()
    call c%get(1, 4, z)
    call check(all(z == members * [(cmplx(-1, i, real64), i = 1, 4)]), "complex factors")
    call c%free()
    call make_vector(c, tessera_int32, 4, "i")
    call c%accumulate(1, 4, [1, 2, 3, 4], 2)
    call c%sync()
    call c%get(1, 4, numbers)
    call check(all(numbers == 2 * members * [1, 2, 3, 4]), "integers")
  end subroutine accumulates

  subroutine combines()
    type(tessera_array) :: a
    type(tessera_transfers) :: transfers
    integer :: numbers(4), longer(9), bits(4), code
    integer, asynchronous :: low(4)
    bits = ishft(1, member)
    call make_vector(a, tessera_int32, 4, "i")
    call a%accumulate_by(1, 4, [1, 2, 3, 4] + member, tessera_accumulate_max)
    call a%sync()
    call a%get(1, 4, numbers)
    call check(all(numbers == [1, 2, 3, 4] + members - 1), "the greatest")
    call a%sync()
    low = [-1, -2, -3, -4]
    call a%accumulate_by(1, 4, low, tessera_accumulate_min, transfers)
    call transfers%wait()
    call a%sync()
    call a%scatter_accumulate_by([2, 3], [77, 78], tessera_accumulate_min)
    call a%get(1, 4, numbers)
    call check(all(numbers == low), "the least")
    call a%sync()
    call a%accumulate_by(1, 4, [0, 0, 0, 0], tessera_accumulate_bit_and)
    call a%sync()
    call a%accumulate_by(1, 4, bits, tessera_accumulate_bit_or)
    call a%sync()
    call a%get(1, 4, numbers)
    call check(all(numbers == ishft(1, members) - 1), "a bit of each member")
    call a%sync()
    call a%accumulate_by(1, 4, bits, -2, stat=code)
    call check(code == tessera_invalid_argument, "no such operation")
    call a%grow(9_int64)
    call a%get(1, 9, longer)
    call check(all(longer(:4) == numbers) .and. all(longer(5:) == 0), "a longer array")
    call a%sync()
    call a%grow(3_int64, stat=code)
    call check(code == tessera_invalid_argument, "arrays do not shrink")
  end subroutine combines

  ! Sections, boxes over the ends and components, with operands of each member.
  subroutine combine_parts()
    type(tessera_array) :: a, c
    type(tessera_transfers) :: transfers
    type(particle) :: particles(8)
    integer :: all_of(10, 8), expected(10, 8), greatest(5, 3), i
    integer, asynchronous :: bits(2, 2)
    greatest = reshape([(10 * i + member, i = 1, 15)], [5, 3])
    bits = reshape([(ishft(1, 8 + 4 * i), i = 1, 4)], [2, 2])
    call a%create(job, tessera_int32, [10, 8], name="A", team=team)
    call a%accumulate_section_by([1, 2], [10, 8], [2, 3], greatest, tessera_accumulate_max)
    call a%sync()
    call a%accumulate_periodic_by([10, 0], [11, 1], [.true., .true.], bits, &
        tessera_accumulate_bit_or, transfers)
    call transfers%wait()
    call a%sync()
    call a%get([1, 1], [10, 8], all_of)
    expected = 0
    expected(1:10:2, 2:8:3) = greatest - member + members - 1
    expected(10, 8) = ior(expected(10, 8), bits(1, 1))
    expected(1, 8) = ior(expected(1, 8), bits(2, 1))
    expected(10, 1) = ior(expected(10, 1), bits(1, 2))
    expected(1, 1) = ior(expected(1, 1), bits(2, 2))
    call check(all(all_of == expected), "of sections and over the ends")
    call a%accumulate_section_by([1, 2], [10, 8], [2, 3], greatest, 9, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "accumulate by operation 9, which does not exist")
    call a%accumulate_periodic_by([1, 1], [2, 2], [.true., .true.], bits, 6, stat=code, &
        errmsg=message)
    call check_error(tessera_invalid_argument, "accumulate by operation 6, which does not exist")
    call c%create(job, tessera_element_like(particles(1)), 8, name="P", team=team)
    call c%accumulate_field_by(1, 8, 16_int64, [(-i - member, i = 1, 8)], tessera_accumulate_min)
    call c%sync()
    call c%get(1, 8, particles)
    call check(all(particles%number == [(-i - members + 1, i = 1, 8)]), "of components")
    call check(all(particles%x == 0), "and of nothing else")
    call c%accumulate_field_by(1, 8, 0_int64, particles%x, tessera_accumulate_bit_and, stat=code, &
        errmsg=message)
    call check_error(tessera_unsupported, "accumulate by bit_and of float64 elements")
  end subroutine combine_parts

  ! Of each listed element one member's claim succeeds; all sums are different.
  subroutine changes()
    type(tessera_array) :: a, v
    type(tessera_transfers) :: transfers
    integer :: places(2, 6), i, list(4)
    integer(int64) :: old(6), claims(6), winners(6), wide(2, 6)
    integer(int64), asynchronous :: seen(6)
    places = reshape([1, 1, 9, 7, 3, 4, 9, 1, 2, 2, 5, 6], [2, 6])
    call a%create(job, tessera_int64, [9, 7], name="claims", team=team)
    old = 0
    claims = member + 1
    call a%change_elements(places, tessera_atomic_compare_swap, claims, seen, old, transfers)
    call transfers%wait()
    call a%sync()
    call a%gather(places, winners)
    call check(all(winners >= 1 .and. winners <= members), "each is claimed")
    call check(all(seen == merge(old, winners, winners == claims)), "by one member")
    call a%sync()
    wide = -1
    call a%change_elements(places(:, 6:1:-1), tessera_atomic_swap, claims, wide(2, :))
    call check(all(wide(1, :) == -1) .and. all(wide(2, :) >= 1), "old values in a section")
    call make_vector(v, tessera_int32, 4, "v")
    call v%change_elements([(i, i = 1, 4)], tessera_atomic_add, [1, 2, 3, 4], list)
    call check(all(modulo(list, [1, 2, 3, 4]) == 0), "before an addition")
    call v%sync()
    call v%change_elements([2, 3], tessera_atomic_max, [member, 99 + member], list(1:2))
    call v%change_elements([1], tessera_atomic_min, [-member - 1], list(1:1))
    call v%sync()
    call v%get(1, 4, list)
    call check(all(list == [-members, max(2 * members, members - 1), &
        max(3 * members, 98 + members), 4 * members]), "least and greatest")
    call v%sync()
    call v%change_elements([1, 2, 3, 4], tessera_atomic_bit_and, [0, 0, 0, 0], list)
    call v%sync()
    call v%change_elements([1, 2], tessera_atomic_bit_or, ishft([1, 2], member), list(1:2))
    call v%change_elements([3, 4], tessera_atomic_bit_xor, ishft([1, 2], member), list(1:2))
    call v%sync()
    call v%get(1, 4, list)
    call check(all(list == ishft(1, members) * [1, 2, 1, 2] - [1, 2, 1, 2]), "bits")
  end subroutine changes

  subroutine change_errors()
    type(tessera_array) :: a, v
    type(tessera_transfers) :: transfers
    integer :: list(4)
    real(real64) :: x(2), y(2)
    integer, asynchronous :: wide(2, 4)
    call make_vector(v, tessera_int32, 4, "v")
    call v%change_elements([1, 5], tessera_atomic_add, [1, 1], list(1:2), stat=code, errmsg=message)
    call check_error(tessera_out_of_range, "the index (5) lies outside the array")
    call v%change_elements([1, 2], 8, [1, 1], list(1:2), stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "atomic operation 8, which does not exist")
    call v%change_elements([1, 2], tessera_atomic_add, [1], list(1:2), stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "operands has 1 numbers for 2 elements")
    call v%change_elements([1, 2], tessera_atomic_add, [1, 1], list, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "before has 4 numbers for 2 elements")
    call v%change_elements([1, 2], tessera_atomic_compare_swap, [1, 1], list(1:2), stat=code, &
        errmsg=message)
    call check_error(tessera_invalid_argument, "expected is not present")
    call v%change_elements([1, 2], tessera_atomic_add, [1_int64, 1_int64], list(1:2), stat=code, &
        errmsg=message)
    call check_error(tessera_invalid_argument, "operands is integer(int64)")
    call v%change_elements([1, 2, 3, 4], tessera_atomic_add, [1, 1, 1, 1], wide(2, :), &
        transfers=transfers, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "before is not contiguous")
    call make_vector(a, tessera_real64, 4, "a")
    x = 1
    call a%change_elements([1, 2], tessera_atomic_add, x, y, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "do not support atomic operations")
    call v%get(1, 4, list)
    call check(all(list == 0), "nothing was changed")
  end subroutine change_errors

  subroutine asyncs()
    type(tessera_array) :: a
    real(real64), asynchronous :: x(9, 7), y(3, 7), z(9, 7)
    type(tessera_transfers) :: transfers, list(2)
    integer :: i, j
    logical :: is_over
    x = reshape([((rule(i, j), i = 1, 9), j = 1, 7)], [9, 7])
    call make_matrix(a, 9, 7, "A")
    call check(transfers%is_done(), "nothing is under way")
    call transfers%wait()
    if (member == 0) then
      do i = 1, 9
        call a%put_async([i, 1], [i, 7], x(i, :), transfers)
      end do
      call transfers%wait()
    end if
    call a%sync()
    call a%get_async([1, 1], [9, 7], z, transfers)
    call a%get_async([4, 1], [6, 7], y, list(2))
    is_over = transfers%is_done()
    call transfers%wait()
    call tessera_wait_all(list)
    call check(all(z == x) .and. all(y == x(4:6, :)) .and. transfers%is_done(), "what was got")
    call a%sync()
    call a%accumulate_async([1, 1], [9, 7], x, transfers, -1.0_real64)
    call transfers%detach()
    call job%wait()
    call a%sync()
    call a%get([1, 1], [9, 7], z)
    call check(all(z == (1 - members) * x), "detached ones are complete")
    call leave_under_way(a, z)
    call check(all(z == (1 - members) * x), "the end of a variable waits")
    call a%get_async([1, 1], [10, 7], z, transfers, stat=code, errmsg=message)
    call check_error(tessera_out_of_range, "(1:10, 1:7) lies outside the array")
  end subroutine asyncs

  subroutine leave_under_way(a, z)
    type(tessera_array), intent(in) :: a
    real(real64), intent(inout), asynchronous :: z(:, :)
    type(tessera_transfers) :: transfers
    z = 0
    call a%get_async([1, 1], [9, 7], z, transfers)
  end subroutine leave_under_way

  subroutine sections_of_arrays()
    type(tessera_array) :: a
    real(real64) :: x(9, 7), some(3, 3)
    real(real64), asynchronous :: other(5, 2)
    type(tessera_transfers) :: transfers
    call make_matrix(a, 9, 7, "A")
    call fill_by_rule(a, 9, 7)
    call a%get([1, 1], [9, 7], x)
    call a%get_section([2, 1], [9, 7], [3, 3], some)
    call check(all(some == x(2:9:3, 1:7:3)), "every third element")
    call a%get_section([1, 2], [9, 7], [2, 4], other, transfers)
    call transfers%wait()
    call check(all(other == x(1:9:2, 2:7:4)), "asynchronously")
    call a%sync()
    if (member == 0) then
      some = -some
      call a%put_section([2, 1], [9, 7], [3, 3], some)
      call a%accumulate_section([1, 2], [9, 7], [2, 4], other, alpha=2.0_real64)
    end if
    call a%sync()
    x(2:9:3, 1:7:3) = -x(2:9:3, 1:7:3)
    x(1:9:2, 2:7:4) = 3 * x(1:9:2, 2:7:4)
    block
      real(real64) :: again(9, 7)
      call a%get([1, 1], [9, 7], again)
      call check(all(again == x), "put and accumulated")
    end block
    call a%get_section([2, 1], [9, 7], [0, 3], some, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "each must be 1 or more")
    call a%get_section([2, 1], [9, 7], [3, 2], some, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, &
        "the buffer has the shape (3, 3), but the section of the array has (3, 4)")
  end subroutine sections_of_arrays

  subroutine periodic()
    type(tessera_array) :: a
    real(real64) :: x(9, 7), around(5, 4)
    integer :: i, j
    call make_matrix(a, 9, 7, "A")
    call fill_by_rule(a, 9, 7)
    call a%get([1, 1], [9, 7], x)
    call a%get_periodic([-1, 6], [3, 9], [.true., .true.], around)
    do j = 1, 4
      do i = 1, 5
        call check(around(i, j) == x(modulo(i - 3, 9) + 1, modulo(j + 4, 7) + 1), "around the ends")
      end do
    end do
    call a%get_periodic([-1, 1], [3, 4], [.true., .false.], around)
    call check(all(around(1, :) == x(8, 1:4)), "in the first dimension only")
    call a%get_periodic([-1, 6], [3, 9], [.true., .false.], around, stat=code, errmsg=message)
    call check(code == tessera_out_of_range, "the second one ends")
    call a%get_periodic([-1, 6], [3, 9], [.true.], around, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "periodic has 1 values for 2 dimensions")
    call a%sync()
    if (member == 0) then
      around = 1
      call a%accumulate_periodic([-1, 6], [3, 9], [.true., .true.], around)
      call a%put_periodic([9, 7], [10, 7], [.true., .false.], [5.0_real64, 6.0_real64])
    end if
    call a%sync()
    call a%get([1, 1], [9, 7], around, stat=code)
    call a%get_element([1, 7], around(1, 1))
    call a%get_element([8, 6], around(2, 1))
    call check(around(1, 1) == 6 .and. around(2, 1) == x(8, 6) + 1, "put and accumulated")
  end subroutine periodic

  subroutine fields()
    type(tessera_array) :: a
    type(particle) :: one, some(8)
    real(real64) :: y(8)
    integer :: i
    call a%create(job, tessera_element_like(one), 8, name="P", team=team)
    if (member == 0) then
      some = [(particle(i, 10 * i, i, 0), i = 1, 8)]
      call a%put(1, 8, some)
    end if
    call a%sync()
    call a%get_field(1, 8, 8_int64, y)
    call check(all(y == [(10 * i, i = 1, 8)]), "a component of each")
    call a%sync()
    call a%accumulate_field(3, 4, 0_int64, [1.0_real64, 1.0_real64], 0.5_real64)
    if (member == 0) call a%put_field(1, 2, 16_int64, [77, 78])
    call a%sync()
    call a%get(1, 8, some)
    call check(some(1)%number == 77 .and. some(2)%number == 78 .and. some(3)%number == 3, "put")
    call check(some(3)%x == 3 + 0.5_real64 * members .and. some(5)%x == 5, "accumulated")
    call a%put(1, 8, y, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, &
        "the buffer is real(real64), but the array has elements of 24 bytes")
    call a%accumulate(1, 8, some, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "opaque and cannot be added")
  end subroutine fields

  subroutine elements()
    type(tessera_array) :: a, n
    real(real64) :: x
    integer(int64) :: before
    call make_matrix(a, 9, 7, "A")
    if (member == 0) call a%put_element([9, 2], 4.5_real64)
    call a%sync()
    call a%get_element([9, 2], x)
    call check(x == 4.5_real64, "an element")
    call make_vector(n, tessera_int64, 3, "n")
    call n%fetch_add(2, 5_int64, before)
    call check(mod(before, 5_int64) == 0 .and. before < 5 * members, "before an addition")
    call n%sync()
    call n%get_element(2, before)
    call check(before == 5 * members, "after all additions")
    call n%compare_swap(3, 0_int64, int(member + 1, int64), before)
    call n%sync()
    call n%get_element(3, before)
    call check(before >= 1 .and. before <= members, "the first one stored its number")
    call n%sync()
    if (member == 0) call n%swap(3, -1_int64, before)
    call n%sync()
    call n%get_element(3, before)
    call check(before == -1, "a swap")
    call n%fetch_add(2, 0.5, before, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "increment is 0.5 of real(real32)")
    call a%fetch_add([1, 1], 1.0_real64, x, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "do not support atomic operations")
  end subroutine elements

  subroutine lists()
    type(tessera_array) :: a, v
    real(real64) :: values(4), wide(2, 4)
    integer :: places(2, 4)
    call make_matrix(a, 9, 7, "A")
    call fill_by_rule(a, 9, 7)
    places = reshape([1, 1, 9, 7, 3, 4, 9, 1], [2, 4])
    call a%gather(places, values)
    call check(all(values == rule(places(1, :), places(2, :))), "gathered")
    wide = -1
    call a%gather(places(:, 4:1:-1), wide(2, :))
    call check(all(wide(2, 4:1:-1) == values) .and. all(wide(1, :) == -1), "to and from sections")
    call a%sync()
    if (member == 0) call a%scatter(places(:, 1:2), [-1.0_real64, -2.0_real64])
    call a%sync()
    call a%scatter_accumulate(int(places, int64), [1.0_real64, 1.0_real64, 1.0_real64, &
        1.0_real64], &
        2.0_real64)
    call a%sync()
    call a%gather(places, values)
    call check(all(values == [-1.0_real64, -2.0_real64, rule(3, 4), rule(9, 1)] + 2 * members), &
        "scattered")
    call make_vector(v, tessera_real64, 9, "v")
    call v%scatter_accumulate([2, 4, 9], [1.0_real64, 2.0_real64, 3.0_real64])
    call v%sync()
    call v%gather([9, 4, 2, 1], values)
    call check(all(values == members * [3, 2, 1, 0]), "of one dimension")
  end subroutine lists

  subroutine texts()
    type(tessera_array) :: a
    character(7) :: words(3)
    call a%create(job, tessera_element_like(words), 3, team=team)
    if (member == 0) call a%put(1, 3, ["seven  ", "letters", "each   "])
    call a%sync()
    call a%get(1, 3, words)
    call check(all(words == ["seven  ", "letters", "each   "]), "texts are moved")
  end subroutine texts

  subroutine transfer_errors()
    type(tessera_array) :: a, freed
    real(real64) :: x(9, 7)
    real(real64), allocatable :: none(:, :)
    real(real64), pointer :: nowhere(:, :)
    real(selected_real_kind(18)) :: precise(9, 7)
    character(:), allocatable :: before
    nullify (nowhere)
    x = 0
    call make_matrix(a, 9, 7, "A")
    before = "get from array 'A' (real(real64), shape (9, 7)): "
    call a%get([3, 4], [10, 6], x(1:8, 1:3), stat=code, errmsg=message)
    call check_error(tessera_out_of_range, before // "(3:10, 4:6) lies outside the array: &
        &dimension 1 has indices 1 to 9, and the upper bound is 10")
    call check_has(message, "hint: bounds count from 1 and are inclusive")
    call a%get([3, 0], [4, 6], x(1:2, 1:7), stat=code, errmsg=message)
    call check_error(tessera_out_of_range, &
        "dimension 2 has indices 1 to 7, and the lower bound is 0")
    call a%put([3, 5], [2, 3], x, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, &
        "(3:2, 5:3): in dimension 2 the lower bound 5 is above the upper bound 3")
    call a%put([3], [2, 3], x, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "lo has 1 number, but the array has 2 dimensions")
    call a%put([3, 1], 2, x, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "hi has 1 number, but the array has 2 dimensions")
    call a%put([1.0, 1.0], [9, 7], x, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "lo is real(real32); it must be of type integer")
    precise = 0
    call a%put([1, 1], [9, 7], precise, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "the buffer is real of 16 bytes")
    call a%put([1, 1], [9, 7], cmplx(precise, kind=kind(precise)), stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "the buffer is complex of 32 bytes")
    call a%put([1, 1], [9, 7], x(:, 1:6), stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, &
        "the buffer has the shape (9, 6), but the section of the array has (9, 7)")
    call a%put([1, 1], [9, 7], real(x), stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, &
        "the buffer is real(real32), but the array has real(real64)")
    call a%put([1, 1], [9, 7], x(9:1:-1, :), stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "the buffer has a negative stride in its dimension 1")
    call take_what_is_not_there(a, none, nowhere)
    call a%accumulate([1, 1], [9, 7], x, 0.1, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, &
        "alpha is 0.1 of real(real32), but real(real64) is needed")
    call a%accumulate([1, 1], [9, 7], x, [2.0_real64], stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "alpha has rank 1; it must be a scalar")
    call a%get([huge(1_int64), 1_int64], [huge(1_int64), 1_int64], x, stat=code, errmsg=message)
    call check(code == tessera_out_of_range, "bounds of any size")
    call a%get([-huge(1_int64), 1_int64], [1_int64, 1_int64], x, stat=code, errmsg=message)
    call check(code == tessera_out_of_range, "lower bounds of any size")
    call a%get_element([1, 8], x(1, 1), stat=code, errmsg=message)
    call check_error(tessera_out_of_range, &
        "array 'A' (real(real64), shape (9, 7)): the index (1, 8) &
        &lies outside the array: dimension 2 has indices 1 to 7, and it is 8")
    call take_assumed_size(a, x)
    call a%get([1, 1], [9, 7], x)
    call check(all(x == 0), "nothing was changed")
    freed = a
    call a%free()
    call freed%get([1, 1], [9, 7], x, stat=code, errmsg=message)
    call check_error(tessera_closed, "tessera_array%get: the array was freed")
  end subroutine transfer_errors

  !> As in programs in the style of Fortran 77: hints say what works, and it does.
  subroutine old_buffers()
    type(tessera_array) :: a
    real(real64), target :: work(300)
    call make_matrix(a, 9, 7, "A")
    call a%fill(3.0_real64)
    work = 0
    call by_leading_dimension(a, work(11), 20)
    call check(count(work == 3) == 63 .and. work(11) == 3 .and. work(20) == 0, "columns of 20")
    call by_beginning(a, work)
    call check(all(work(1:63) == 3), "the first 63")
    work = 0
    call by_place(a, work, 101)
    call check(all(work(101:163) == 3) .and. count(work == 3) == 63, "63 from the 101st on")
    call lists_of_assumed_size(a, [1, 1, 2, 2], work)
  end subroutine old_buffers

  subroutine by_leading_dimension(a, x, n)
    type(tessera_array), intent(in) :: a
    integer, intent(in) :: n
    real(real64), intent(inout) :: x(n, *)
    call a%get([1, 1], [9, 7], x, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "is of assumed size; its shape is not known")
    call check_has(message, "hint: give a section with an upper bound, such as x(1:9, 1:7)")
    call a%get([1, 1], [9, 7], x(1:9, 1:7))
  end subroutine by_leading_dimension

  subroutine by_beginning(a, x)
    type(tessera_array), intent(in) :: a
    real(real64), intent(inout), target :: x(*)
    real(real64), pointer :: p(:, :)
    call a%get([1, 1], [9, 7], x, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "is of assumed size; its shape is not known")
    call check_has(message, "hint: give p, where p(1:9, 1:7) => x(1:63), and x is a TARGET")
    call a%get([1, 1], [9, 7], x(1:63), stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "has the shape (63), but the section of the array has (9, 7)")
    call check_has(message, "hint: give p, where p(1:9, 1:7) => x(1:63), and x is a TARGET")
    call a%get([4, 1], [4, 7], x, stat=code, errmsg=message)
    call check_has(message, "hint: give a section with an upper bound, such as x(1:7)")
    p(1:9, 1:7) => x(1:63)
    call a%get([1, 1], [9, 7], p)
  end subroutine by_beginning

  !> As in GA's programs, whose buffers are elements of one large array.
  subroutine by_place(a, x, k)
    type(tessera_array), intent(in) :: a
    real(real64), intent(inout), target :: x(*)
    integer, intent(in) :: k
    real(real64), pointer :: p(:, :)
    call a%get([1, 1], [9, 7], x(k), stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "the buffer is one element, but the section of the array")
    call check_has(message, "has the shape (9, 7)")
    call check_has(message, "hint: give p, where p(1:9, 1:7) => x(k:k+62), and x is a TARGET")
    call a%get([4, 1], [4, 7], x(k), stat=code, errmsg=message)
    call check_has(message, "hint: give a section with an upper bound, such as x(k:k+6)")
    p(1:9, 1:7) => x(k:k+62)
    call a%get([1, 1], [9, 7], p)
  end subroutine by_place

  subroutine lists_of_assumed_size(a, places, values)
    type(tessera_array), intent(in) :: a
    integer, intent(in) :: places(2, *)
    real(real64), intent(inout) :: values(*)
    call a%gather(places, values, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "places is of assumed size")
    call a%gather(places(:, :2), values, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "values is of assumed size")
  end subroutine lists_of_assumed_size

  subroutine take_assumed_size(a, x)
    type(tessera_array), intent(in) :: a
    real(real64), intent(inout) :: x(9, *)
    call a%get([1, 1], [9, 7], x, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "the buffer is of assumed size")
    call a%get([1, 1], [9, 7], x(:, :7))
  end subroutine take_assumed_size

  subroutine list_errors()
    type(tessera_array) :: a
    real(real64) :: values(2)
    call make_matrix(a, 9, 7, "A")
    call a%gather(reshape([1, 1, 10, 1], [2, 2]), values, stat=code, errmsg=message)
    call check_error(tessera_out_of_range, "the index (10, 1) lies outside")
    call a%gather(reshape([1, 1, 9, 1, 2, 2], [3, 2]), values, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "places must have the shape (2, number of elements)")
    call a%gather(reshape([1, 1, 9, 1, 2, 2], [2, 3]), values, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "values has 2 numbers for 3 elements")
    call a%gather([1, 1], values, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "places must have the shape")
  end subroutine list_errors

end module transfer_cases
