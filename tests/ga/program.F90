! SPDX-License-Identifier: BSD-3-Clause
!
! GA's Fortran interface as programs use it: 8-byte integers, indices from 1, the first dimension
! fastest. Each check counts; the process ends with an error if one fails.
program ga_from_fortran
  implicit none
#include "mafdecls.fh"
#include "global.fh"
  integer :: failures = 0
  integer :: me, n

  call ga_initialize()
  call check(ma_init(mt_dbl, 10000, 10000), 'ma_init')
  me = ga_nodeid()
  n = ga_nnodes()
  call matrices()
  call many_dimensions()
  call messages()
  call counters()
  call notified()
  call inquiries()
  call ga_igop(1, failures, 1, '+')
  call ga_terminate()
  if (failures /= 0) stop 1
  if (me == 0) print '(a)', 'Fortran is right'

contains

  subroutine check(holds, what)
    logical, intent(in) :: holds
    character(len=*), intent(in) :: what
    if (.not. holds) then
      failures = failures + 1
      print '(a, i0, 2a)', '[', me, '] does not hold: ', what
    end if
  end subroutine check

  ! The next process reads a column when it sees its flag.
  subroutine notified()
    integer, parameter :: length = 50
    double precision :: column(length), got(length), flag(1), seen(1)
    integer :: columns, flags, to, request, i
    call check(nga_create(mt_dbl, 2, [length, n], 'columns', [-1, 1], columns), 'nga_create')
    call check(nga_create(mt_dbl, 1, [n], 'flags', [1], flags), 'nga_create')
    call ga_zero(columns)
    call ga_zero(flags)
    to = mod(me + 1, n) + 1
    column = [(1d0 * i, i = 1, length)]
    flag = 7
    call nga_nbput_notify(columns, [1, to], [length, to], column, [length], flags, [to], flag, request)
    seen = 0
    do while (seen(1) /= 7)
      call nga_get(flags, [me + 1], [me + 1], seen, [1])
    end do
    call nga_get(columns, [1, me + 1], [length, me + 1], got, [length])
    call check(all(got == column), 'what nga_nbput_notify put')
    call nga_nbwait_notify(request)
    call ga_sync()
    call check(ga_destroy(columns) .and. ga_destroy(flags), 'ga_destroy')
  end subroutine notified

  ! ga_ names with bounds of two dimensions, and the own block in dbl_mb.
  subroutine matrices()
    integer, parameter :: rows = 7, columns = 5
    double precision :: a(rows, columns), b(rows + 2, columns)
    integer :: handle, copy, i, j, ilo, ihi, jlo, jhi, at, ld, owner, request
    call check(ga_create(mt_dbl, rows, columns, 'from Fortran', 0, 0, handle), 'ga_create')
    call check(handle == -1000, 'the first handle')
    do j = 1, columns
      do i = 1, rows
        a(i, j) = i + 100 * j
      end do
    end do
    ! The block of each process, by its address.
    call ga_distribution(handle, me, ilo, ihi, jlo, jhi)
    if (ihi >= ilo) then
      call ga_access(handle, ilo, ihi, jlo, jhi, at, ld)
      do j = jlo, jhi
        do i = ilo, ihi
          dbl_mb(at + i - ilo + (j - jlo) * ld) = a(i, j)
        end do
      end do
      call ga_release_update(handle, ilo, ihi, jlo, jhi)
      call check(ga_locate(handle, ilo, jlo, owner), 'ga_locate')
      call check(owner == me, 'the owner')
    else
      call check(ilo == 0 .and. ihi == -1, 'an empty block')
    end if
    call ga_sync()
    b = -1
    call ga_get(handle, 2, rows, 1, columns, b, rows + 2)
    call check(all(b(1:rows - 1, :) == a(2:rows, :)), 'ga_get')
    call check(all(b(rows:, :) == -1), 'what ga_get leaves alone')
    call ga_sync()
    call ga_acc(handle, 1, rows, 2, 2, a(:, 1), 1, 0.5d0)
    call ga_sync()
    call ga_nbget(handle, 1, rows, 2, 2, b(:, 1), 1, request)
    call ga_nbwait(request)
    call check(all(b(1:rows, 1) == a(:, 2) + 0.5d0 * n * a(:, 1)), 'ga_acc')
    call ga_sync()
    call check(ga_duplicate(handle, copy, 'a copy'), 'ga_duplicate')
    call check(ga_compare_distr(handle, copy), 'ga_compare_distr')
    if (me == n - 1) call ga_put(copy, 1, rows, 1, columns, a, rows)
    call ga_sync()
    call ga_get(copy, 3, 3, 4, 4, b, 1)
    call check(b(1, 1) == a(3, 4), 'ga_put')
    call ga_sync()
    call check(ga_destroy(copy), 'ga_destroy')
    call check(.not. ga_destroy(copy), 'ga_destroy of nothing')
    call check(ga_destroy(handle), 'ga_destroy')
  end subroutine matrices

  ! nga_ names.
  subroutine many_dimensions()
    integer, parameter :: dims(3) = [4, 3, 6]
    integer :: handle, i, j, k, lo(3), hi(3), ld(2), chunk(3)
    integer :: values(4, 3, 6), back(4, 3, 6)
    chunk = -1
    call check(nga_create(mt_int, 3, dims, 'three', chunk, handle), 'nga_create')
    do k = 1, 6
      do j = 1, 3
        do i = 1, 4
          values(i, j, k) = i + 10 * j + 100 * k
        end do
      end do
    end do
    lo = 1
    hi = dims
    ld = dims(1:2)
    if (me == 0) call nga_put(handle, lo, hi, values, ld)
    call ga_sync()
    back = 0
    call nga_get(handle, [2, 1, 3], [3, 3, 5], back(2, 1, 3), ld)
    call check(all(back(2:3, :, 3:5) == values(2:3, :, 3:5)), 'nga_get')
    call check(sum(back) == sum(values(2:3, :, 3:5)), 'what nga_get leaves alone')
    call check(nga_read_inc(handle, [1, 1, 1], 0) == 111, 'nga_read_inc')
    call ga_sync()
    call check(ga_destroy(handle), 'ga_destroy')
  end subroutine many_dimensions

  subroutine messages()
    integer :: numbers(2)
    double precision :: reals(2)
    character(len=8) :: text
    numbers = [me, 1]
    call ga_igop(1, numbers, 2, '+')
    call check(all(numbers == [n * (n - 1) / 2, n]), 'ga_igop')
    reals = [dble(me), -dble(me)]
    call ga_dgop(2, reals, 2, 'max')
    call check(all(reals == [dble(n - 1), 0d0]), 'ga_dgop')
    text = 'nothing'
    if (me == n - 1) text = 'words'
    call ga_brdcst(3, text, 8, n - 1)
    call check(text == 'words', 'ga_brdcst')
  end subroutine messages

  subroutine counters()
    integer :: handle, turn, total, mine
    call check(ga_create(mt_int, 1, 1, 'counter', 0, 0, handle), 'ga_create')
    if (me == 0) call ga_put(handle, 1, 1, 1, 1, 5, 1)
    call ga_sync()
    total = 0
    do turn = 1, 10
      mine = ga_read_inc(handle, 1, 1, 2)
      total = total + mine
    end do
    call ga_igop(4, total, 1, '+')
    call check(total == 10 * n * 5 + 10 * n * (10 * n - 1), 'ga_read_inc')
    call check(ga_create_mutexes(2), 'ga_create_mutexes')
    call ga_lock(1)
    call ga_unlock(1)
    call check(ga_destroy_mutexes(), 'ga_destroy_mutexes')
    call check(ga_destroy(handle), 'ga_destroy')
  end subroutine counters

  subroutine inquiries()
    integer :: handle, kind, ndim, dims(7), dim1, dim2, codes(5), i
    character(len=20) :: name
    codes = [mt_int, mt_real, mt_dbl, mt_scpl, mt_dcpl]
    do i = 1, 5
      call check(ga_create(codes(i), 6, 2, 'a name', -1, -1, handle), 'ga_create')
      call ga_inquire(handle, kind, dim1, dim2)
      call check(kind == codes(i) .and. dim1 == 6 .and. dim2 == 2, 'ga_inquire')
      call nga_inquire(handle, kind, ndim, dims)
      call check(ndim == 2 .and. dims(1) == 6, 'nga_inquire')
      name = 'xxxxxxxxxxxxxxxxxxxx'
      call ga_inquire_name(handle, name)
      call check(name == 'a name', 'ga_inquire_name')
      call check(ga_inquire_memory() > 0, 'ga_inquire_memory')
      call check(ga_destroy(handle), 'ga_destroy')
    end do
    ! A text that ends as in C.
    call check(ga_create(mt_int, 6, 2, 'a name', -1, -1, handle), 'ga_create')
    call ga_set_property(handle, 'read_only'//char(0)//' ')
    call ga_unset_property(handle)
    call check(ga_destroy(handle), 'ga_destroy')
    call check(.not. ga_uses_ma(), 'ga_uses_ma')
    call check(ga_cluster_nnodes() >= 1, 'ga_cluster_nnodes')
    call check(ga_wtime() >= 0, 'ga_wtime')
    call check(ga_pgroup_get_world() == -1, 'ga_pgroup_get_world')
  end subroutine inquiries
end program ga_from_fortran
