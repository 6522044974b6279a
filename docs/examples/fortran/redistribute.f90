! SPDX-License-Identifier: BSD-3-Clause
!
! One matrix in two distributions: blocks of columns, and the block-cyclic layout that ScaLAPACK's
! routines take. copy() moves it from one to the other.
!
! Run: tessera-run -n 4 build/docs/examples/fortran_redistribute
program redistribute
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use tessera
  implicit none
  integer, parameter :: rows = 12, columns = 10
  type(tessera_job) :: job
  type(tessera_distribution) :: layout
  type(tessera_array) :: by_columns, cyclic
  integer :: ranks, grid(2), wrong
  real(real64) :: difference

  ! Each rank has whole columns: the first dimension of the grid of ranks is 1.
  call job%start()
  ranks = job%size()
  call by_columns%create(job, tessera_real64, [rows, columns], name="by columns", &
      process_grid=[1, 0])
  call fill_own()

  ! Blocks of 3 x 3, dealt cyclically to 2 x (ranks / 2) ranks; column-major local matrices.
  grid(1) = merge(2, 1, mod(ranks, 2) == 0)
  grid(2) = ranks / grid(1)
  call layout%create_scalapack(job, ranks, [rows, columns], [3, 3], grid)
  call cyclic%create_distributed(job, tessera_real64, layout, name="cyclic")
  call cyclic%copy(by_columns)
  if (job%rank() == 0) print "(a)", layout%table()
  wrong = wrong_in_own_blocks()
  call job%allreduce(wrong, tessera_sum)

  ! And back: the element-wise difference of the two arrays is zero.
  call by_columns%add(1.0_real64, by_columns, -1.0_real64, cyclic)
  difference = by_columns%norm_max()
  if (job%rank() == 0) print "(i0, a, f4.1)", wrong, " elements are wrong; difference: ", difference
  if (wrong /= 0 .or. difference > 0) error stop 1
  call job%stop()

contains

  elemental function element(i, j) result(value)
    integer, intent(in) :: i, j
    real(real64) :: value
    value = 100 * i + j
  end function element

  subroutine fill_own()
    type(tessera_block) :: block
    real(real64), pointer :: x(:, :)
    integer :: j, i
    call block%begin(by_columns)
    call block%pointer(x)
    do j = lbound(x, 2), ubound(x, 2)
      x(:, j) = element([(i, i = 1, size(x, 1))], j)
    end do
    call block%end()
    call by_columns%sync()
  end subroutine fill_own

  !> Checks each block of this rank, by global indices.
  function wrong_in_own_blocks() result(wrong)
    type(tessera_block) :: block
    real(real64), pointer :: x(:, :)
    integer :: wrong, number, j, i
    wrong = 0
    do number = 1, int(layout%block_count(job%rank()))
      call block%begin(cyclic, number)
      call block%pointer(x, strided=.true.)  ! a part of one local matrix
      do j = lbound(x, 2), ubound(x, 2)
        wrong = wrong + count(abs(x(:, j) - element([(i, i = lbound(x, 1), ubound(x, 1))], j)) > 0)
      end do
      call block%end()
    end do
  end function wrong_in_own_blocks
end program redistribute
