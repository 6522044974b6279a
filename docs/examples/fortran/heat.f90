! SPDX-License-Identifier: BSD-3-Clause
!
! Heat in a square whose edge x = 1 is hot: Jacobi's iteration, with ghost cells around each block.
!
! Run: tessera-run -n 4 build/docs/examples/fortran_heat
program heat
  use, intrinsic :: iso_fortran_env, only: real64
  use tessera
  implicit none
  integer, parameter :: n = 64, steps = 200
  type(tessera_job) :: job
  type(tessera_array) :: old, new
  type(tessera_halo) :: halo
  integer :: step
  real(real64) :: change

  call job%start()
  call old%create(job, tessera_real64, [n, n], name="old", ghosts=[1, 1])
  call new%duplicate(old, name="new")
  associate (edge => old%part([1, 1], [1, n]))
    call edge%fill(100.0_real64)
  end associate
  call new%copy(old)
  call halo%create(old)
  do step = 1, steps
    ! Each rank needs the cells of its neighbours, computes its own, and copies them back.
    call halo%update()
    call compute_block()
    call old%add(1.0_real64, new, -1.0_real64, old)
    change = old%norm_max()
    call old%copy(new)
  end do
  call report()
  call job%barrier()  ! all have read
  call job%stop()

contains

  subroutine compute_block()
    type(tessera_block) :: from, to
    real(real64), pointer :: u(:, :), v(:, :)
    integer :: i, j
    call from%begin(old)
    call to%begin(new)
    call from%pointer(u, ghosts=.true.)
    call to%pointer(v)
    do j = max(2, lbound(v, 2)), min(n - 1, ubound(v, 2))
      do i = max(2, lbound(v, 1)), min(n - 1, ubound(v, 1))
        v(i, j) = (u(i - 1, j) + u(i + 1, j) + u(i, j - 1) + u(i, j + 1)) / 4
      end do
    end do
    call from%end()
    call to%end()
  end subroutine compute_block

  subroutine report()
    real(real64) :: middle
    call old%get_element([2, n / 2], middle)
    if (job%rank() == 0) print "(2(a, f8.4))", "beside the edge: ", middle, ", last change: ", &
        change
  end subroutine report

end program heat
