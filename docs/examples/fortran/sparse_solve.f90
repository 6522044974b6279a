! SPDX-License-Identifier: BSD-3-Clause
!
! A sparse linear system by conjugate gradients: the Laplacian of a square grid.
!
! Run: tessera-run -n 4 build/docs/examples/fortran_sparse_solve
program sparse_solve
  use, intrinsic :: iso_fortran_env, only: real64
  use tessera
  implicit none
  integer, parameter :: side = 60, n = side**2
  type(tessera_job) :: job
  type(tessera_sparse) :: a
  type(tessera_spmv) :: plan
  type(tessera_array) :: known, b, x, r, p, ap
  integer :: steps

  call job%start()
  call build()
  call known%create(job, tessera_real64, n, name="known")
  call b%duplicate(known, name="b")
  call x%duplicate(known, name="x")
  call r%duplicate(known, name="r")
  call p%duplicate(known, name="p")
  call ap%duplicate(known, name="Ap")
  call plan%create(a, p, ap)  ! once: finds what each rank needs
  call known%fill_random(1, 0d0, 1d0)
  call plan%multiply(a, known, b)  ! so that the solution is known
  call solve(steps)
  call x%add(1.0_real64, x, -1.0_real64, known)
  associate (error => x%norm_max())
    if (job%rank() == 0) print "(2a, i0, a, es8.1)", a%describe(), ": ", steps, " steps, error ", &
        error
    if (error > 1e-8_real64) error stop 1
  end associate
  call job%stop()

contains

  !> 4 on the diagonal, -1 for each neighbour. Every rank adds a part of the rows.
  subroutine build()
    type(tessera_sparse_builder) :: builder
    integer :: row, i, j
    call builder%create(job, tessera_real64, n, n, name="A")
    do row = n * job%rank() / job%size() + 1, n * (job%rank() + 1) / job%size()
      i = mod(row - 1, side)
      j = (row - 1) / side
      call builder%add(row, row, 4.0_real64)
      if (i > 0) call builder%add(row, row - 1, -1.0_real64)
      if (i < side - 1) call builder%add(row, row + 1, -1.0_real64)
      if (j > 0) call builder%add(row, row - side, -1.0_real64)
      if (j < side - 1) call builder%add(row, row + side, -1.0_real64)
    end do
    call builder%assemble(a)
  end subroutine build

  !> Solves A x = b, starting from x = 0.
  subroutine solve(steps)
    integer, intent(out) :: steps
    real(real64) :: rr, before, pap, enough
    call r%copy(b)
    call p%copy(b)
    call r%dot(r, rr)
    enough = 1e-20_real64 * rr
    do steps = 0, n
      if (rr <= enough) exit
      call plan%multiply(a, p, ap)
      call p%dot(ap, pap)
      call x%add(1.0_real64, x, rr / pap, p)
      call r%add(1.0_real64, r, -rr / pap, ap)
      before = rr
      call r%dot(r, rr)
      call p%add(1.0_real64, r, rr / before, p)
    end do
  end subroutine solve

end program sparse_solve
