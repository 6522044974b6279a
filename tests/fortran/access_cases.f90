! SPDX-License-Identifier: BSD-3-Clause
!
! Blocks in this process's own memory, and ghost cells.
module access_cases
  use, intrinsic :: iso_c_binding, only: c_associated, c_double, c_f_pointer, c_int, c_ptr
  use checks
  use, intrinsic :: iso_fortran_env, only: int8, int16, int32, int64, real32, real64
  use tessera
  implicit none
  private
  public :: run_access_cases

  type, bind(c) :: cell
    real(c_double) :: x = 0
    integer(c_int) :: number = 0
  end type cell

  interface
    function megabytes_in_use() bind(c, name="test_megabytes_in_use") result(megabytes)
      use, intrinsic :: iso_c_binding, only: c_double
      real(c_double) :: megabytes
    end function megabytes_in_use
  end interface

contains

  subroutine run_access_cases()
    call run_case("access.pointers", pointers, .true.)
    call run_case("access.types", types, .true.)
    call run_case("access.structures", structures, .true.)
    call run_case("access.ranks", ranks, .true.)
    call run_case("access.gaps", gaps, .true.)
    call run_case("access.gaps_of_others", gaps_of_others, .true.)
    call run_case("access.several_blocks", several_blocks, .true.)
    call run_case("access.errors", access_errors, .true.)
    call run_case("access.copies", copies, .true.)
    call run_case("access.memory", memory, .true.)
    call run_case("halo.periodic", periodic_halo, .true.)
    call run_case("halo.options", halo_options, .true.)
    call run_case("halo.errors", halo_errors, .true.)
  end subroutine run_access_cases

  !> However often a variable is used, copies of its former contents return `closed`.
  subroutine copies()
    integer, parameter :: uses = 300
    type(tessera_array) :: a
    type(tessera_block) :: block
    type(tessera_block), allocatable :: copy(:)
    real(real64), pointer :: x(:, :)
    integer :: i
    call make_matrix(a, 9, 7, "A")
    allocate (copy(uses))
    nullify (x)
    do i = 1, uses
      call block%begin(a)
      copy(i) = block
      call block%end()
      call block%end()
      if (mod(i, 100) == 0) call use_one_of_its_own()
    end do
    call block%begin(a)
    do i = 1, uses
      call copy(i)%pointer(x, stat=code, errmsg=message)
      call check_error(tessera_closed, "the local access was freed")
      call copy(i)%end(stat=code, errmsg=message)
      call check_error(tessera_closed, "the local access was freed")
    end do
    call block%pointer(x)
    call block%end()
    call block%pointer(x, stat=code, errmsg=message)
    call check_error(tessera_closed, "the local access was freed")
  contains
    subroutine use_one_of_its_own()
      type(tessera_block) :: other
      call other%begin(a)
      call copy(1)%pointer(x, stat=code, errmsg=message)
      call check_error(tessera_closed, "the local access was freed")
      call other%pointer(x)
    end subroutine use_one_of_its_own
  end subroutine copies

  !> 100000 accesses leave 0.3 MB, in any variable; a cell for each would leave 6.
  subroutine memory()
    type(tessera_array) :: a
    type(tessera_block) :: block
    real(real64) :: before
    integer :: i
    call make_matrix(a, 9, 7, "A")
    before = megabytes_in_use()
    do i = 1, 50000
      call block%begin(a)
      call block%end()
      call use_one_of_its_own()
    end do
    call check(megabytes_in_use() - before < 2, "little is left of accesses that were ended")
  contains
    subroutine use_one_of_its_own()
      type(tessera_block) :: other
      call other%begin(a)
    end subroutine use_one_of_its_own
  end subroutine memory

  subroutine pointers()
    type(tessera_array) :: a
    type(tessera_block) :: block
    real(real64), pointer :: x(:, :)
    real(real64) :: all_of_it(9, 7)
    integer(int64) :: lo(2), hi(2)
    integer :: i, j
    call make_matrix(a, 9, 7, "A")
    call a%own_box(lo, hi)
    call block%begin(a)
    call block%pointer(x)
    call check(associated(x), "associated")
    call check(block%is_empty() .eqv. any(hi < lo), "is_empty")
    call check(all(block%lower() == lo) .and. all(block%upper() == hi), "bounds of the block")
    call check(all(ubound(x) - lbound(x) + 1 == shape(x)), "shape")
    if (.not. block%is_empty()) call check(all(lbound(x) == lo) .and. all(ubound(x) == hi), &
        "bounds")
    do j = lbound(x, 2), ubound(x, 2)
      do i = lbound(x, 1), ubound(x, 1)
        x(i, j) = rule(i, j)
      end do
    end do
    call block%end()
    call a%sync()
    call a%get([1, 1], [9, 7], all_of_it)
    call check(all(all_of_it == reshape([((rule(i, j), i = 1, 9), j = 1, 7)], [9, 7])), "stored")
  end subroutine pointers

  subroutine types()
    type(tessera_array) :: a
    type(tessera_block) :: block
    integer(int8), pointer :: i1(:)
    integer(int16), pointer :: i2(:)
    integer(int32), pointer :: i4(:)
    integer(int64), pointer :: i8(:)
    real(real32), pointer :: r4(:)
    real(real64), pointer :: r8(:)
    complex(real32), pointer :: c4(:)
    complex(real64), pointer :: c8(:)
    call begin(tessera_int8, 1_int8)
    call block%pointer(i1)
    call check(all(i1 == 1), "int8")
    call begin(tessera_int16, 2_int16)
    call block%pointer(i2)
    call check(all(i2 == 2), "int16")
    call begin(tessera_uint32, 3_int32)
    call block%pointer(i4)
    call check(all(i4 == 3), "uint32")
    call begin(tessera_int64, 4_int64)
    call block%pointer(i8)
    call check(all(i8 == 4), "int64")
    call begin(tessera_real32, 5.0)
    call block%pointer(r4)
    call check(all(r4 == 5), "real32")
    call begin(tessera_real64, 6.0_real64)
    call block%pointer(r8)
    call check(all(r8 == 6), "real64")
    call begin(tessera_complex32, (7.0, 1.0))
    call block%pointer(c4)
    call check(all(c4 == (7.0, 1.0)), "complex32")
    call begin(tessera_complex64, (8.0_real64, 1.0_real64))
    call block%pointer(c8)
    call check(all(c8 == (8.0, 1.0)), "complex64")
    call block%end()
  contains
    subroutine begin(element, value)
      integer(int64), intent(in) :: element
      type(*), dimension(..), intent(in) :: value
      call block%end()
      call a%free()
      call make_vector(a, element, 11, "a")
      call a%fill(value)
      call block%begin(a)
    end subroutine begin
  end subroutine types

  !> Elements of the program's own type, by their address; also with ghost cells around them.
  subroutine structures()
    type(tessera_array) :: a
    type(tessera_block) :: block
    type(cell), pointer :: own(:, :)
    type(cell) :: all_of_it(9, 7)
    type(c_ptr) :: first
    integer(int64) :: lo(2), hi(2), i, j
    call a%create(job, tessera_element_like(cell()), [9, 7], name="A", team=team, ghosts=[1, 2])
    call block%begin(a)
    lo = block%lower(ghosts=.true.)
    hi = block%upper(ghosts=.true.)
    first = block%address(ghosts=.true.)
    call check(c_associated(first) .neqv. block%is_empty(), "an address, or nothing")
    if (.not. block%is_empty()) then
      call check(all(block%strides() == [1_int64, hi(1) - lo(1) + 1]), "strides of the shape")
      call c_f_pointer(first, own, hi - lo + 1)
      do j = block%memory%lo(2), block%memory%hi(2)
        do i = block%memory%lo(1), block%memory%hi(1)
          own(i - lo(1) + 1, j - lo(2) + 1) = cell(i + 0.5_real64, int(j))
        end do
      end do
      first = block%address(strided=.true.)
      call c_f_pointer(first, own, [1, 1])
      lo = block%lower()
      call check(own(1, 1)%x == lo(1) + 0.5_real64 .and. own(1, 1)%number == lo(2), "without them")
    end if
    call block%end()
    call a%sync()
    call a%get([1, 1], [9, 7], all_of_it)
    do j = 1, 7
      do i = 1, 9
        call check(all_of_it(i, j)%x == i + 0.5_real64 .and. all_of_it(i, j)%number == j, "stored")
      end do
    end do
    first = block%address(stat=code, errmsg=message)
    call check_error(tessera_closed, "the local access was freed")
    call check(.not. c_associated(first), "no address")
  end subroutine structures

  subroutine ranks()
    type(tessera_array) :: a, b
    type(tessera_block) :: block
    integer, pointer :: x(:, :, :), y(:, :, :, :, :, :, :, :)
    integer :: i, j, k, all_of_it(3, 4, 5)
    call a%create(job, tessera_int32, [3, 4, 5], team=team, ghosts=[1, 0, 2])
    call block%begin(a)
    call block%pointer(x, strided=.true.)
    do k = lbound(x, 3), ubound(x, 3)
      do j = lbound(x, 2), ubound(x, 2)
        do i = lbound(x, 1), ubound(x, 1)
          x(i, j, k) = i + 10 * j + 100 * k
        end do
      end do
    end do
    if (size(x) > 0) then
      call check(.not. is_contiguous(x), "with ghost cells around it")
      call block%pointer(x, ghosts=.true.)
      call check(all(lbound(x) == block%lower(ghosts=.true.)), "bounds with ghost cells")
      call check(all(ubound(x) == block%upper() + [1, 0, 2]), "upper ones")
      call check(is_contiguous(x), "all of the memory")
    end if
    call block%end()
    call a%sync()
    call a%get([1, 1, 1], [3, 4, 5], all_of_it)
    call check(all(all_of_it == reshape([(((i + 10 * j + 100 * k, i = 1, 3), j = 1, 4), k = 1, &
        5)], &
        [3, 4, 5])), "three dimensions")
    call b%create(job, tessera_int32, [2, 1, 2, 1, 2, 1, 2, 3], team=team)
    call b%fill(5)
    call block%begin(b)
    call block%pointer(y)
    call check(all(y == 5), "eight dimensions")
    call block%end()
  end subroutine ranks

  !> A CONTIGUOUS pointer to a block between ghost cells would show other elements. The wrong
  !> declaration, which compilers accept, gives an error. The right ones show the array's elements.
  subroutine gaps()
    type(tessera_array) :: a
    type(tessera_block) :: block
    real(real64), pointer, contiguous :: wrong(:, :), wide(:, :)
    real(real64), pointer :: x(:, :)
    type(c_ptr) :: first
    character(len=80) :: distances
    integer :: i, j
    nullify (wrong)
    call a%create(job, tessera_real64, [9, 7], name="u", team=team, ghosts=[1, 1])
    if (member == 0) then
      call a%put([1, 1], [9, 7], reshape([((rule(i, j), i = 1, 9), j = 1, 7)], [9, 7]))
    end if
    call a%sync()
    call block%begin(a)
    if (.not. block%is_empty()) then
      call block%pointer(wrong, stat=code, errmsg=message)
      call check_error(tessera_invalid_argument, "local access to array 'u': the block has &
          &gaps in memory: neighbours along dimension 2 are")
      call block%pointer(x, strided=.true.)
      write (distances, "(a, i0, a, i0, a)") "are ", size(x, 1) + 2, " elements apart, but a CONTIGUOUS &
          &pointer would assume a distance of ", size(x, 1), ""
      call check_has(message, trim(distances))
      call check_has(message, "give ghosts=.true. for the block with its ghost cells, which has no gaps; or &
          &give strided=.true., and declare the pointer without CONTIGUOUS")
      call check(.not. associated(wrong), "it is left alone")
      first = block%address(stat=code, errmsg=message)
      call check_error(tessera_invalid_argument, "the block has gaps in memory")
      call block%pointer(x, strided=.true.)
      call compare(shape(x), lbound(x), x)
      call block%pointer(wide, ghosts=.true.)
      call compare(shape(x), lbound(x), wide(lbound(x, 1):ubound(x, 1), lbound(x, 2):ubound(x, 2)))
      call check(is_contiguous(wide), "the memory of the block and its ghost cells")
    end if
    call block%end()
  contains
    subroutine compare(extents, lo, values)
      integer, intent(in) :: extents(2), lo(2)
      real(real64), intent(in) :: values(extents(1), extents(2))
      integer :: i, j
      do j = 1, extents(2)
        do i = 1, extents(1)
          call check(values(i, j) == rule(i + lo(1) - 1, j + lo(2) - 1), "an element of the block")
        end do
      end do
    end subroutine compare
  end subroutine gaps

  !> Ghost cells only in the last dimension make no gaps. A ScaLAPACK matrix has gaps between its
  !> blocks; the other order has gaps between all elements.
  subroutine gaps_of_others()
    type(tessera_array) :: a, b, c
    type(tessera_distribution) :: d
    type(tessera_block) :: block
    real(real64), pointer :: x(:, :)
    nullify (x)
    call a%create(job, tessera_real64, [9, 7], team=team, ghosts=[0, 1])
    call block%begin(a)
    call block%pointer(x)
    call check(is_contiguous(x), "columns between columns")
    call block%end()
    call d%create_scalapack(job, members, [16, 16], block=[2, 2], grid=[1, members])
    call b%create_distributed(job, tessera_real64, d, name="b", team=team)
    call block%begin(b)
    if (.not. block%is_empty()) then
      call block%pointer(x, stat=code, errmsg=message)
      call check_error(tessera_invalid_argument, "array 'b': the block has gaps in memory: &
          &neighbours along dimension 2 are 16 elements apart, but a CONTIGUOUS pointer would assume &
          &a distance of 2")
      call check_has(message, "hint: give strided=.true., and declare the pointer without CONTIGUOUS")
      call block%pointer(x, strided=.true.)
      call check(all(shape(x) == 2), "a block")
    end if
    call block%end()
    call c%create(job, tessera_real64, [9, 7], name="c", team=team, order=tessera_row_major)
    call block%begin(c)
    if (.not. block%is_empty()) then
      call block%pointer(x, stat=code, errmsg=message)
      call check_error(tessera_invalid_argument, "array 'c': the block has gaps in memory")
      call block%pointer(x, strided=.true.)
    end if
    call block%end()
  end subroutine gaps_of_others

  subroutine several_blocks()
    type(tessera_distribution) :: d
    type(tessera_array) :: a
    type(tessera_block) :: block
    real(real64), pointer :: x(:, :)
    real(real64) :: total
    integer :: number
    call d%create_block_cyclic(job, members, [10, 7], block=[4, 2])
    call a%create_distributed(job, tessera_real64, d, team=team)
    do number = 1, d%block_count(member)
      call block%begin(a, number)
      call block%pointer(x)
      x = size(x)
      call block%end()
    end do
    call a%sum(total)
    ! Blocks of 4, 4 and 2 rows, and of 2, 2, 2 and 1 columns.
    call check(total == (16 + 16 + 4) * (4 + 4 + 4 + 1), "each block once")
    call block%begin(a, d%block_count(member) + 1, stat=code, errmsg=message)
    if (d%block_count(member) > 0) call check_error(tessera_out_of_range, "there is no block")
    call block%begin(a, 0, stat=code, errmsg=message)
    call check_error(tessera_out_of_range, "there is no block 0 of array 'unnamed'")
  end subroutine several_blocks

  subroutine access_errors()
    type(tessera_array) :: a
    type(tessera_block) :: block
    real(real32), pointer :: wrong(:, :)
    real(real64), pointer :: list(:), x(:, :)
    nullify (wrong, list, x)
    call make_matrix(a, 9, 7, "A")
    call block%pointer(x, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "the local access in this call has not been created")
    call block%begin(a)
    call block%begin(a, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "this variable already has its local access")
    call block%pointer(wrong, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, &
        "the pointer is to real(real32), but the array has real(real64)")
    call block%pointer(list, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, &
        "the pointer has rank 1, but the array has 2 dimensions")
    call check(.not. associated(list), "it is left alone")
    call block%end()
    call block%pointer(x, stat=code, errmsg=message)
    call check_error(tessera_closed, "the local access was freed")
    call a%set_access_mode(tessera_access_no_local)
    call block%begin(a, stat=code, errmsg=message)
    call check(code == tessera_invalid_argument, "the mode forbids it")
  end subroutine access_errors

  !> Each ghost cell is the element that it stands for.
  subroutine periodic_halo()
    type(tessera_array) :: a
    type(tessera_halo) :: halo
    type(tessera_block) :: block
    real(real64), pointer :: x(:, :)
    integer :: i, j, code
    call a%create(job, tessera_real64, [12, 10], name="A", team=team, ghosts=[2, 1])
    if (member == 0) then
      call a%put([1, 1], [12, 10], reshape([((rule(i, j), i = 1, 12), j = 1, 10)], [12, 10]))
    end if
    call a%sync()
    call halo%create(a, periodic=[.true., .true.])
    call halo%update()
    call block%begin(a)
    call block%pointer(x, ghosts=.true.)
    do j = lbound(x, 2), ubound(x, 2)
      do i = lbound(x, 1), ubound(x, 1)
        call check(x(i, j) == rule(modulo(i - 1, 12) + 1, modulo(j - 1, 10) + 1), "a ghost cell")
      end do
    end do
    call block%end()
    call check(halo%bytes() >= 0 .and. (members > 1 .or. halo%bytes() == 0), "bytes")
    call a%scale(2.0_real64)
    if (member > 0) call halo%post()
    call halo%start()
    call halo%post(stat=code)
    call check(code == tessera_invalid_argument, "posted under way")
    call halo%finish()
    call block%begin(a)
    call block%pointer(x, ghosts=.true.)
    if (size(x) > 0) then
      i = lbound(x, 1)
      j = lbound(x, 2)
      call check(x(i, j) == 2 * rule(modulo(i - 1, 12) + 1, modulo(j - 1, 10) + 1), "in two steps")
    end if
    call block%end()
    call halo%free()
  end subroutine periodic_halo

  !> Periodic in the first dimension, without corners; the outer cells of the second one do not
  !> change.
  subroutine halo_options()
    type(tessera_array) :: a
    type(tessera_halo) :: halo
    type(tessera_block) :: block
    real(real64), pointer :: x(:, :)
    integer :: i, j
    call a%create(job, tessera_real64, [12, 10], name="A", team=team, ghosts=[2, 2], &
        process_grid=[1, members])
    call a%fill(1.0_real64)
    call block%begin(a)
    call block%pointer(x, ghosts=.true.)
    x = -5
    call block%pointer(x, strided=.true.)
    x = 1
    call block%end()
    call a%sync()
    call halo%create(a, periodic=[.true., .false.], left_out=[.false., .true.], widths=[1, 2], &
        faces_only=.true.)
    call halo%update()
    call block%begin(a)
    call block%pointer(x, ghosts=.true.)
    do j = lbound(x, 2), ubound(x, 2)
      do i = lbound(x, 1), ubound(x, 1)
        if (i == -1 .or. i == 14) call check(x(i, j) == -5, "beyond the widths")
        if (j < 1 .or. j > 10) call check(x(i, j) == -5, "outer cells left out")
        if (i >= 0 .and. i <= 13 .and. j >= block%memory%lo(2) .and. j <= block%memory%hi(2)) then
          call check(x(i, j) == 1, "around the first dimension")
        end if
      end do
    end do
    call block%end()
  end subroutine halo_options

  subroutine halo_errors()
    type(tessera_array) :: a
    type(tessera_halo) :: halo
    call make_matrix(a, 9, 7, "A")
    call halo%create(a, stat=code, errmsg=message)
    call check(code == tessera_invalid_argument, "no ghost cells")
    call a%free()
    call a%create(job, tessera_real64, [12, 10], team=team, ghosts=[2, 2])
    call halo%create(a, periodic=[.true.], stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "1 values for the 2 dimensions of array")
    call halo%create(a, widths=[1, 2, 3], stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "widths has 3 numbers")
    call halo%create(a)
    call halo%finish(stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "no update of these ghost cells was started")
    call halo%free()
    call halo%update(stat=code, errmsg=message)
    call check_error(tessera_closed, "the halo was freed")
  end subroutine halo_errors

end module access_cases
