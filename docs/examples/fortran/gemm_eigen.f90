! SPDX-License-Identifier: BSD-3-Clause
!
! Matrices: a product, a linear system, and the eigenvalues of the second difference.
!
! Run: tessera-run -n 4 build/docs/examples/fortran_gemm_eigen
program gemm_eigen
  use, intrinsic :: iso_fortran_env, only: real64
  use tessera
  implicit none
  integer, parameter :: n = 100
  real(real64), parameter :: pi = acos(-1.0_real64)
  type(tessera_job) :: job
  type(tessera_array) :: a, b, c, vectors
  real(real64) :: values(n), residual
  integer :: i

  ! 1. A has 2 on its diagonal, and -1 beside it.
  call job%start()
  call a%create(job, tessera_real64, [n, n], name="A")
  call a%fill_diagonal(2.0_real64)
  if (job%rank() == 0) then
    do i = 1, n - 1
      call a%put_element([i, i + 1], -1.0_real64)
      call a%put_element([i + 1, i], -1.0_real64)
    end do
  end if
  call a%sync()

  ! 2. Solve A X = B for two right-hand sides, and check A X - B.
  call b%create(job, tessera_real64, [n, 2], name="B")
  call b%fill(1.0_real64)
  call c%duplicate(b, name="C")
  call c%copy(b)
  call tessera_solve(a, b)
  call tessera_gemm(a, b, c, beta=-1.0_real64)
  residual = c%norm_max()

  ! 3. The eigenvalues are 2 - 2 cos(k pi / (n + 1)).
  call vectors%duplicate(a, name="V")
  call tessera_eigen(a, vectors, values)
  if (job%rank() == 0) then
    print "(a, l1)", "solved: ", residual < 1e-9_real64
    print "(a, l1)", "eigenvalues: ", all(abs(values - [(2 - 2 * cos(i * pi / (n + 1)), &
        i = 1, n)]) < 1e-10_real64)
  end if
  call job%stop()
end program gemm_eigen
