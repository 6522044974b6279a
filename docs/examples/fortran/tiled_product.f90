! SPDX-License-Identifier: BSD-3-Clause
!
! C = A B by tiles: each rank draws tiles of C, and fetches the next tiles of A and B while it
! multiplies the previous ones. (For real products use tessera_gemm: see gemm_eigen.f90.)
!
! Run: tessera-run -n 4 build/docs/examples/fortran_tiled_product
program tiled_product
  use, intrinsic :: iso_fortran_env, only: int64
  use tessera
  implicit none
  integer, parameter :: n = 384, tile = 64, tiles = n / tile
  ! Whole numbers, so that the result can be compared.
  integer(int64), asynchronous :: of_a(tile, tile, 0:1), of_b(tile, tile, 0:1)
  integer(int64) :: sums(tile, tile)
  type(tessera_transfers) :: arrival(0:1)  ! of a tile of A, and one of B
  type(tessera_job) :: job
  type(tessera_counter) :: counter
  type(tessera_array) :: a, b, c
  integer :: task, k

  call job%start()
  call a%create(job, tessera_int64, [n, n], name="A")
  call b%duplicate(a, name="B")
  call c%duplicate(a, name="C")
  call add_own(a, 1, 1, 0, 0)   ! i + j
  call add_own(b, 1, -1, 0, 0)  ! i - j

  call counter%create(job)
  do
    call counter%next(task)
    if (task >= tiles**2) exit
    sums = 0
    call fetch(task, 0)
    do k = 0, tiles - 1
      if (k + 1 < tiles) call fetch(task, k + 1)  ! into the other tiles
      call arrival(mod(k, 2))%wait()
      sums = sums + matmul(of_a(:, :, mod(k, 2)), of_b(:, :, mod(k, 2)))
    end do
    associate (first => tile * [mod(task, tiles), task / tiles] + 1)
      call c%put(first, first + tile - 1, sums)
    end associate
  end do
  call c%sync()

  ! The sum of (i + k) (k - j) over k = 1, ..., n.
  call add_own(c, -n * (n + 1) / 2, n * (n + 1) / 2, -n * (n + 1) * (2 * n + 1) / 6, n)
  if (job%rank() == 0) print "(3(i0, a))", tiles, " x ", tiles, " tiles by ", job%size(), " ranks"
  if (c%norm_max() > 0) error stop 1
  call job%stop()

contains
  subroutine fetch(task, k)
    integer, intent(in) :: task, k
    associate (i => tile * mod(task, tiles) + 1, j => tile * (task / tiles) + 1, &
        l => tile * k + 1, slot => mod(k, 2), more => tile - 1)
      call a%get_async([i, l], [i + more, l + more], of_a(:, :, slot), arrival(slot))
      call b%get_async([l, j], [l + more, j + more], of_b(:, :, slot), arrival(slot))
    end associate
  end subroutine fetch

  !> x(i, j) = x(i, j) + p i + q j + r + s i j, for the elements of this rank.
  subroutine add_own(x, p, q, r, s)
    type(tessera_array), intent(in) :: x
    integer, intent(in) :: p, q, r, s
    type(tessera_block) :: block
    integer(int64), pointer :: own(:, :)
    integer :: i, j
    call block%begin(x)
    call block%pointer(own)
    do j = lbound(own, 2), ubound(own, 2)
      do i = lbound(own, 1), ubound(own, 1)
        own(i, j) = own(i, j) + p * i + q * j + r + s * i * j
      end do
    end do
    call block%end()
    call x%sync()
  end subroutine add_own
end program tiled_product
