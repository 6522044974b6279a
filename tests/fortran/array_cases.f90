! SPDX-License-Identifier: BSD-3-Clause
!
! Distributions, and the ways in which arrays are made.
module array_cases
  use, intrinsic :: iso_c_binding, only: c_associated, c_int, c_int64_t, c_ptr
  use checks
  use, intrinsic :: iso_fortran_env, only: int8, int16, int32, int64, real32, real64
  use tessera
  implicit none
  private
  public :: run_array_cases

  interface
    function c_layout(distribution, order, storage, ghosts) &
        bind(c, name="tessera_distribution_layout") result(code)
      import
      type(c_ptr), value :: distribution
      integer(c_int), intent(inout) :: order, storage
      integer(c_int64_t), intent(inout) :: ghosts(*)
      integer(c_int) :: code
    end function c_layout
  end interface

contains

  subroutine run_array_cases()
    call run_case("distribution.regular", regular, .false.)
    call run_case("distribution.kinds", kinds, .false.)
    call run_case("distribution.grids", grids, .false.)
    call run_case("distribution.errors", distribution_errors, .false.)
    call run_case("array.types", types, .true.)
    call run_case("array.ranks", ranks, .true.)
    call run_case("array.options", options, .true.)
    call run_case("array.distributed", distributed, .true.)
    call run_case("array.attach_and_overlay", attach_and_overlay, .true.)
    call run_case("array.asking", asking, .true.)
    call run_case("array.empty", empty, .true.)
    call run_case("array.errors", array_errors, .true.)
    call run_case("array.empty_variables", empty_variables, .true.)
    call run_case("array.ends", ends, .true.)
  end subroutine run_array_cases

  !> Checks that each element of an n x m distribution has one owner and offset, in the right block.
  subroutine check_places(d, n, m, what)
    type(tessera_distribution), intent(in) :: d
    integer, intent(in) :: n, m
    character(*), intent(in) :: what
    logical, allocatable :: is_taken(:, :)
    type(tessera_patch) :: patch
    integer :: i, j, owner, number, seen
    integer(int64) :: offset, most
    most = maxval([(d%local_elements(i), i = 0, d%nranks() - 1)])
    allocate (is_taken(0:d%nranks() - 1, 0:most))
    is_taken = .false.
    do j = 1, m
      do i = 1, n
        call d%locate([i, j], owner, offset)
        call check(.not. is_taken(owner, offset), what // ": a place for each element")
        is_taken(owner, offset) = .true.
      end do
    end do
    seen = 0
    do owner = 0, d%nranks() - 1
      do number = 1, d%block_count(owner)
        call d%block(owner, number, patch)
        call check(patch%ndims == 2 .and. patch%owner == owner, what // ": its block")
        do j = int(patch%lo(2)), int(patch%hi(2))
          do i = int(patch%lo(1)), int(patch%hi(1))
            call d%locate([i, j], seen, offset)
            call check(seen == owner .and. offset == patch%offset + (i - patch%lo(1)) &
                * patch%strides(1) + (j - patch%lo(2)) * patch%strides(2), what // ": in its block")
          end do
        end do
      end do
    end do
  end subroutine check_places

  subroutine regular()
    type(tessera_distribution) :: d, same, other
    integer :: owner
    call d%create_regular(job, 4, [13, 8], process_grid=[2, 2])
    call check(all(d%extents() == [13, 8]) .and. d%nranks() == 4, "its shape")
    call check_places(d, 13, 8, "regular")
    call d%locate([13, 1], owner)
    call check(owner == 1, "the first dimension runs fastest through the members")
    call d%locate([1, 8], owner)
    call check(owner == 2, "the second one slower")
    call same%create_regular(job, 4, [13_int64, 8_int64], process_grid=[2, 2])
    call other%create_regular(job, 4, [13, 8], process_grid=[4, 1])
    call check(d%is_same(same) .and. .not. d%is_same(other), "is_same")
    call check_has(d%describe(), "8 x 13")
    call check_has(d%table(), "0")
  end subroutine regular

  subroutine kinds()
    type(tessera_distribution) :: d
    type(tessera_patch) :: patch
    call d%create_irregular(job, 6, [10, 7], counts=[3, 2], starts=[1, 2, 9, 1, 5])
    call check_places(d, 10, 7, "irregular")
    call d%block(4, 1, patch)
    call check(all(patch%lo(1:2) == [2, 5]) .and. all(patch%hi(1:2) == [8, 7]), "the block (2, 2)")
    call d%free()
    call d%create_block_cyclic(job, 3, [10, 7], block=[4, 2], storage=tessera_block_by_block)
    call check_places(d, 10, 7, "block-cyclic")
    call d%free()
    call d%create_tiled(job, 4, [10, 7], block=[3, 2], grid=[2, 2])
    call check_places(d, 10, 7, "tiled")
    call d%free()
    call d%create_tiled_irregular(job, 4, [10, 7], counts=[3, 2], starts=[1, 2, 9, 1, 5], &
        grid=[2, 2])
    call check_places(d, 10, 7, "tiled irregular")
    call d%free()
    call d%create_restricted(job, 5, [10, 7], holders=[3, 1], ghosts=[1, 1])
    call check(d%block_count(0) == 0 .and. d%block_count(3) == 1, "holders")
    call check_places(d, 10, 7, "restricted")
    call d%free()
    call d%create_scalapack(job, 4, [10, 7], block=[3, 2], grid=[2, 2])
    call check_places(d, 10, 7, "scalapack")
    call check_scalapack(d)
  end subroutine kinds

  !> A member's memory is a matrix in Fortran's order: (i, j) of the 2 x 2 grid at (li, lj) of it.
  subroutine check_scalapack(d)
    type(tessera_distribution), intent(in) :: d
    integer :: i, j, owner, li, lj, rows
    integer(int64) :: offset
    do j = 1, 7
      do i = 1, 10
        call d%locate([i, j], owner, offset)
        call check(owner == mod((i - 1) / 3, 2) + 2 * mod((j - 1) / 2, 2), "owner on the grid")
        li = (i - 1) / 6 * 3 + mod(i - 1, 3)
        lj = (j - 1) / 4 * 2 + mod(j - 1, 2)
        rows = merge(6, 4, mod(owner, 2) == 0)
        call check(offset == li + lj * rows, "place in the local matrix")
      end do
    end do
  end subroutine check_scalapack

  !> The first dimension runs fastest through a grid of members.
  subroutine grids()
    type(tessera_distribution) :: d
    integer(int64), allocatable :: place(:)
    type(tessera_patch) :: first
    integer :: of
    integer(c_int) :: order, storage, status
    integer(int64) :: ghosts(tessera_max_dims)
    type(c_ptr) :: handle
    call d%create_scalapack(job, 7, [13, 11], block=[3, 4], grid=[2, 3])
    call check(d%block_map() == tessera_block_map_cyclic_grid, "a cyclic grid")
    call check(all(d%blocks() == [5, 3]) .and. all(d%process_grid() == [2, 3]), "its shape")
    do of = 0, 5
      place = d%coordinates(of)
      call check(all(place == [mod(of, 2), of / 2]), "a member's place")
      call d%block(of, 1, first)
      call check(all(first%lo(1:2) == [3, 4] * place + 1), "its first block")
    end do
    place = d%coordinates(6, stat=code, errmsg=message)
    call check_error(tessera_out_of_range, "member 6 is outside the grid")
    call check(size(place) == 0, "results of what failed")
    call d%free()
    call d%create_regular(job, 6, [13, 11], process_grid=[3, 2], ghosts=[1, 2])
    call check(d%block_map() == tessera_block_map_grid .and. all(d%process_grid() == [3, 2]), "regular")
    status = c_layout(d%c_handle(), order, storage, ghosts)
    call check(status == 0 .and. all(ghosts(1:2) == [2, 1]), "c_handle, which C sees turned")
    call d%free()
    handle = d%c_handle(stat=code, errmsg=message)
    call check_error(tessera_closed, "the distribution was freed")
    call check(.not. c_associated(handle), "no handle")
    call d%create_block_cyclic(job, 4, [13, 11], block=[3, 4])
    call check(d%block_map() == tessera_block_map_round_robin .and. all(d%blocks() == [5, 3]), "round robin")
    place = d%coordinates(0, stat=code, errmsg=message)
    call check_error(tessera_unsupported, "the members have no grid")
    call d%free()
    call d%create_restricted(job, 5, [13, 11], holders=[3, 1])
    call check(d%block_map() == tessera_block_map_table, "as in a table")
    call d%free()
    of = d%block_map(stat=code, errmsg=message)
    call check_error(tessera_closed, "the distribution was freed")
  end subroutine grids

  subroutine distribution_errors()
    type(tessera_distribution) :: d
    type(tessera_patch) :: patch
    integer :: owner
    call d%create_regular(job, 4, [13, 8], process_grid=[2], stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, &
        "process_grid has 1 number, but the distribution has 2 dimensions")
    call d%create_irregular(job, 4, [13, 8], [1, 1], [1, 1, 5], stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "starts has 3 numbers, but counts is (1, 1)")
    call d%create_irregular(job, 4, [13, 8], [1, 1], [0, 1], stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "indices begin at 1")
    call d%create_regular(job, 0, [13, 8], stat=code, errmsg=message)
    call check(code == tessera_invalid_argument, "no members")
    call d%create_regular(job, 4, [13, 8])
    call d%locate([14, 1], owner, stat=code, errmsg=message)
    call check_error(tessera_out_of_range, &
        "the index (14, 1) has 14 in dimension 1, which has indices 1 to 13")
    call d%block(0, 2, patch, stat=code, errmsg=message)
    call check_error(tessera_out_of_range, "there is no block 2: member 0 has 1 blocks, counted from 1")
  end subroutine distribution_errors

  !> Puts and gets a vector of each type.
  subroutine types()
    type(tessera_array) :: a
    integer :: i
    integer(int8) :: i1(5)
    integer(int16) :: i2(5)
    integer(int32) :: i4(5)
    integer(int64) :: i8(5)
    real(real32) :: r4(5)
    real(real64) :: r8(5)
    complex(real32) :: c4(5)
    complex(real64) :: c8(5)
    i1 = 0; i2 = 0; i4 = 0; i8 = 0; r4 = 0; r8 = 0; c4 = 0; c8 = 0
    call begin(tessera_int8)
    if (member == 0) call a%put(1, 5, [(int(i, int8), i = 1, 5)])
    call a%sync()
    call a%get(1, 5, i1)
    call check(all(i1 == [1, 2, 3, 4, 5]), "int8")
    call begin(tessera_int16)
    if (member == 0) call a%put(1, 5, [(int(i, int16), i = 1, 5)])
    call a%sync()
    call a%get(1, 5, i2)
    call check(all(i2 == [1, 2, 3, 4, 5]), "int16")
    call begin(tessera_element_like(1))
    if (member == 0) call a%put(1, 5, [(i, i = 1, 5)])
    call a%sync()
    call a%get(1, 5, i4)
    call check(all(i4 == [1, 2, 3, 4, 5]), "int32")
    call begin(tessera_uint32)
    if (member == 0) call a%put(1, 5, [(i, i = 1, 5)])
    call a%sync()
    call a%get(1, 5, i4)
    call check(all(i4 == [1, 2, 3, 4, 5]), "uint32")
    call begin(tessera_int64)
    if (member == 0) call a%put(1, 5, [(int(i, int64), i = 1, 5)])
    call a%sync()
    call a%get(1, 5, i8)
    call check(all(i8 == [1, 2, 3, 4, 5]), "int64")
    call begin(tessera_real32)
    if (member == 0) call a%put(1, 5, [(real(i), i = 1, 5)])
    call a%sync()
    call a%get(1, 5, r4)
    call check(all(r4 == [1, 2, 3, 4, 5]), "real32")
    call begin(tessera_element_like(r8))
    if (member == 0) call a%put(1, 5, [(real(i, real64), i = 1, 5)])
    call a%sync()
    call a%get(1, 5, r8)
    call check(all(r8 == [1, 2, 3, 4, 5]), "real64")
    call begin(tessera_complex32)
    if (member == 0) call a%put(1, 5, [(cmplx(i, -i), i = 1, 5)])
    call a%sync()
    call a%get(1, 5, c4)
    call check(all(c4 == [(cmplx(i, -i), i = 1, 5)]), "complex32")
    call begin(tessera_complex64)
    if (member == 0) call a%put(1, 5, [(cmplx(i, -i, real64), i = 1, 5)])
    call a%sync()
    call a%get(1, 5, c8)
    call check(all(c8 == [(cmplx(i, -i, real64), i = 1, 5)]), "complex64")
  contains
    subroutine begin(element)
      integer(int64), intent(in) :: element
      call a%free()
      call a%create(job, element, 5, team=team)
      call check(a%element() == element, "element()")
    end subroutine begin
  end subroutine types

  !> Arrays of one and of eight dimensions.
  subroutine ranks()
    type(tessera_array) :: a
    integer :: x(2, 3, 1, 2, 1, 2, 2, 3), y(2, 3, 1, 2, 1, 2, 2, 3), i, part(3, 2)
    call a%create(job, tessera_int32, shape(x), name="eight", team=team)
    x = reshape([(i, i = 1, size(x))], shape(x))
    y = 0
    call check(a%ndims() == 8 .and. all(a%extents() == shape(x)), "its shape")
    if (member == members - 1) call a%put([1, 1, 1, 1, 1, 1, 1, 1], shape(x), x)
    call a%sync()
    call a%get([1, 1, 1, 1, 1, 1, 1, 1], a%extents(), y)
    call check(all(x == y), "what was put")
    call a%get([2, 1, 1, 1, 1, 2, 1, 3], [2, 3, 1, 1, 1, 2, 2, 3], part)
    call check(all(part == x(2, :, 1, 1, 1, 2, :, 3)), "without dimensions of one element")
    call a%get([2, 3, 1, 2, 1, 2, 2, 3], shape(x), i)
    call check(i == x(2, 3, 1, 2, 1, 2, 2, 3), "one element")
  end subroutine ranks

  subroutine options()
    type(tessera_array) :: a
    integer :: lo(2), hi(2)
    integer(int64) :: total
    real(real64) :: x
    call a%create(job, tessera_real64, [12, 5], name="holders", team=team, holders=[members - 1], &
        ghosts=[1, 2], sparse=.true.)
    call a%own_box(lo, hi)
    if (member == members - 1) then
      call check(all(lo == 1) .and. all(hi == [12, 5]), "the holder has all")
    else
      call check(all(lo == 1) .and. all(hi == 0), "the others have nothing")
    end if
    call a%free()
    call a%create(job, tessera_real64, [12, 5], team=team, process_grid=[members, 1])
    call a%own_box(lo, hi)
    call check(lo(2) == 1 .and. hi(2) == 5, "rows are cut only")
    total = hi(1) - lo(1) + 1
    call team%allreduce(total, tessera_sum)
    call check(total == 12, "each row once")
    call a%free()
    call a%create(job, tessera_real64, [12, 5], team=team, min_block=[12, 5], &
        access_mode=tessera_access_read_only)
    call check(a%access_mode() == tessera_access_read_only, "access mode")
    call a%put_element([1, 1], 1.0_real64, stat=code, errmsg=message)
    call check(code == tessera_invalid_argument, "a read-only array")
    call a%free()
    call a%create(job, tessera_real64, [12, 5], team=team, order=tessera_row_major, &
        atomics=tessera_atomics_strict, huge_pages=.true.)
    call a%set_access_mode(tessera_access_read_only, copy_on_each_node=.true.)
    call a%get_element([12, 5], message(1:8), stat=code, errmsg=message)
    call check(code == tessera_invalid_argument, "a text is not a number")
    call a%set_access_mode(tessera_access_accumulate_only, copy_on_each_node=.true.)
    call a%accumulate([2, 2], [3, 4], spread(spread(1.0_real64, 1, 2), 2, 3), alpha=2.0_real64)
    call a%get_element([2, 2], x, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "the array is accumulate_only now, which forbids a get")
    call a%set_access_mode(tessera_access_any)
    call a%get_element([3, 4], x)
    call check(x == 2.0_real64 * members, "what all added")
    call a%get_element([3, 5], x)
    call check(x == 0.0_real64, "no rank added there")
  end subroutine options

  subroutine distributed()
    type(tessera_distribution) :: d, again
    type(tessera_array) :: a, b
    type(tessera_team) :: its
    real(real64) :: x(10, 7)
    integer :: i, j, owner, at
    call d%create_block_cyclic(job, members, [10, 7], block=[4, 2])
    call a%create_distributed(job, tessera_real64, d, name="A", team=team)
    call d%free()
    call a%distribution(again)
    call a%team(its)
    call check(its%size() == members .and. its%rank() == member, "its team")
    if (member == 0) call a%put([1, 1], [10, 7], [(rule(i, 1), i = 1, 10)], stat=code)
    if (member == 0) call check(code == tessera_invalid_argument, "a list is not a matrix")
    if (member == 0) then
      call a%put([1, 1], [10, 7], reshape([((rule(i, j), i = 1, 10), j = 1, 7)], [10, 7]))
    end if
    call a%sync()
    call a%get([1, 1], [10, 7], x)
    do j = 1, 7
      do i = 1, 10
        call again%locate([i, j], owner)
        at = a%owner([i, j])
        call check(x(i, j) == rule(i, j) .and. at == owner, "elements and their owners")
      end do
    end do
    call b%duplicate(a, name="B")
    call check(b%name() == "B" .and. all(b%extents() == [10, 7]), "a duplicate")
    call b%copy(a)
    call b%get([1, 1], [10, 7], x)
    call check(x(10, 7) == rule(10, 7), "its contents")
  end subroutine distributed

  subroutine attach_and_overlay()
    type(tessera_distribution) :: d, flat
    type(tessera_array) :: a, b
    real(real64), target, allocatable :: memory(:)
    real(real64) :: x(6, 4), y(24)
    call d%create_regular(job, members, [6, 4])
    allocate (memory(d%local_elements(member)))
    memory = member + 1
    call a%attach(job, tessera_real64, d, memory, name="A", team=team)
    call a%get([1, 1], [6, 4], x)
    call check(x(6, 4) == a%owner([6, 4]) + 1, "what memory held before")
    call a%sync()
    call a%fill(7.0_real64)
    call check(all(memory == 7), "it is written there")
    call flat%create_regular(job, members, [24 / members])
    call b%overlay(a, tessera_real64, flat, name="B")
    call b%get(1, 24 / members, y(1:24 / members))
    call check(all(y(1:24 / members) == 7), "the same elements in another shape")
    call b%free()
    call a%free()
    call a%attach(job, tessera_real64, d, memory(1::2), name="A", team=team, stat=code, &
        errmsg=message)
    if (size(memory) > 1) call check(code == tessera_invalid_argument, "memory with gaps")
  end subroutine attach_and_overlay

  subroutine asking()
    type(tessera_array) :: a
    type(tessera_patch), allocatable :: patches(:)
    integer(int64) :: lo(2), hi(2), covered
    integer :: i, owner
    call make_matrix(a, 9, 7, "A")
    call check(a%describe() == "array 'A' (real(real64), shape (9, 7))", a%describe())
    call check(a%name() == "A" .and. a%ndims() == 2 .and. all(a%extents() == [9, 7]), "asking")
    covered = 0
    do i = 0, members - 1
      call a%own_box(lo, hi, member=i)
      covered = covered + product(hi - lo + 1)
      if (all(hi >= lo)) then
        owner = a%owner(lo)
        call check(owner == i .and. a%owner(hi) == i, "owner of a block's corners")
      end if
    end do
    call check(covered == 63, "blocks cover the array")
    call a%patches([2, 2], [8, 6], patches)
    covered = 0
    do i = 1, size(patches)
      associate (p => patches(i))
        covered = covered + product(p%hi(1:2) - p%lo(1:2) + 1)
        call check(all(p%lo(1:2) >= 2) .and. all(p%hi(1:2) <= [8, 6]), "a patch is in its box")
        call check(a%owner(p%lo(1:2)) == p%owner, "a patch's owner")
      end associate
    end do
    call check(covered == 35, "patches cover the box")
  end subroutine asking

  subroutine empty()
    type(tessera_array) :: a
    real(real64) :: x(0, 4), total
    call a%create(job, tessera_real64, [0, 4], name="none", team=team)
    call a%put([1, 1], [0, 4], x)
    call a%fill(3.0_real64)
    call a%sum(total)
    call check(total == 0, "the sum of nothing")
    call a%get_element([1, 1], total, stat=code, errmsg=message)
    call check_error(tessera_out_of_range, "dimension 1 has indices 1 to 0")
    call a%free()
    call make_matrix(a, 5, 4, "A")
    call a%get([3, 1], [2, 4], x)
    call a%get([6, 1], [5, 4], x)
  end subroutine empty

  subroutine array_errors()
    type(tessera_array) :: a, b
    integer :: last
    call a%create(job, tessera_real64, [5, -1], name="A", team=team, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, &
        "array 'A' of shape (5, -1): dimension 2 cannot have -1 elements")
    call a%create(job, tessera_real64, [1, 1, 1, 1, 1, 1, 1, 1, 1], team=team, stat=code, &
        errmsg=message)
    call check_error(tessera_invalid_argument, "9 dimensions")
    call a%create(job, 77_int64, [5, 4], team=team, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "no element type 77")
    call a%create(job, tessera_real64, [5.0, 4.0], team=team, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "extents is real(real32)")
    call a%create(job, tessera_real64, [5, 4], team=team, ghosts=[1], stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, &
        "ghosts has 1 number, but the array has 2 dimensions")
    last = merge(-1, 4, member == members - 1)
    call a%create(job, tessera_real64, [5, last], team=team, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "array 'unnamed' of shape (5, -1): dimension 2")
    call make_matrix(a, 5, 4, "A")
    call a%create(job, tessera_real64, [5, 4], team=team, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "this variable already has its array")
    call check_has(message, "hint: free it first, or check the order of the arguments")
    call b%get_element([1, 1], last, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "the array in this call has not been created")
    call b%sync(stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "tessera_array%sync: the array in this call has not been created")
    last = b%ndims(stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "tessera_array%ndims: the array in this call has not been created")
    b = a
    call a%free()
    call b%get_element([1, 1], last, stat=code, errmsg=message)
    call check_error(tessera_closed, "the array was freed")
    call b%free(stat=code, errmsg=message)
    call check_error(tessera_closed, "tessera_array%free: the array was freed")
    call a%free()
  end subroutine array_errors

  !> An optional argument that is present, but was not created, is not absent.
  subroutine empty_variables()
    type(tessera_team) :: none
    type(tessera_distribution) :: d, nowhere
    type(tessera_array) :: a
    real(real64), target :: memory(20)
    memory = 0
    call a%create(job, tessera_real64, [5, 4], team=none, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, &
        "tessera_array%create: the team in this call has not been created")
    call check_has(message, "hint: call create first, or another procedure of tessera_team that")
    call d%create_regular(job, members, [5, 4])
    call a%create_distributed(job, tessera_real64, d, team=none, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, &
        "tessera_array%create_distributed: the team in this call has not been created")
    call a%attach(job, tessera_real64, d, memory, team=none, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, &
        "tessera_array%attach: the team in this call has not been created")
    call a%create_distributed(job, tessera_real64, nowhere, team=team, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "the distribution in this call has not been created")
    call none%create(job)
    call none%free()
    call a%create(job, tessera_real64, [5, 4], team=none, stat=code, errmsg=message)
    call check_error(tessera_closed, "the team was freed")
  end subroutine empty_variables

  !> The end of a variable frees what was made in it; the end of a copy does not.
  subroutine ends()
    type(tessera_array) :: kept
    type(tessera_array), allocatable :: list(:)
    type(tessera_part) :: part
    real(real64) :: x
    call make_matrix(kept, 5, 4, "kept")
    call use_copy(kept)
    call kept%get_element([1, 1], x)
    call check(x == 3, "a copy's end leaves it")
    call make_and_leave(part)
    call part%fill(1.0_real64, stat=code, errmsg=message)
    call check_error(tessera_closed, "the array was freed")
    allocate (list(2))
    call make_matrix(list(1), 5, 4, "first")
    call make_matrix(list(2), 5, 4, "second")
    part = list(2)%part([1, 1], [2, 2])
    call part%fill(1.0_real64)
    deallocate (list)
    call part%fill(1.0_real64, stat=code, errmsg=message)
    call check_error(tessera_closed, "the array was freed")
  end subroutine ends

  subroutine use_copy(array)
    type(tessera_array), intent(in) :: array
    type(tessera_array) :: copy
    copy = array
    call copy%fill(3.0_real64)
  end subroutine use_copy

  subroutine make_and_leave(part)
    type(tessera_part), intent(out) :: part
    type(tessera_array) :: array
    call make_matrix(array, 5, 4, "left")
    part = array%part([1, 1], [2, 2])
    call part%fill(2.0_real64)
  end subroutine make_and_leave

end module array_cases
