! SPDX-License-Identifier: BSD-3-Clause
! A program that is compiled with -ffpe-trap: from start to stop, nothing of it traps.
program traps
  use, intrinsic :: iso_fortran_env, only: real64, real32
  use tessera
  implicit none
  integer, parameter :: n = 70
  type(tessera_job) :: job
  type(tessera_array) :: a, b, c, v, q, f, z
  real(real64) :: total, values(n), x(n, n)
  real(real32) :: y(n)
  complex(real64) :: w(n)

  call job%start()
  call a%create(job, tessera_real64, [n, n], name="A")
  call b%create(job, tessera_real64, [n, n], name="B")
  call c%create(job, tessera_real64, [n, n], name="C")
  call v%create(job, tessera_real64, [n], name="v")
  call q%create(job, tessera_real64, [n, n], name="Q")
  call f%create(job, tessera_real32, [n], name="f")
  call z%create(job, tessera_complex64, [n], name="z")
  call move()
  call reduce()
  call solve()
  call job%stop()

contains

  subroutine move()
    call a%fill_random(7_8, -1.0_real64, 1.0_real64)
    call a%symmetrize()
    call b%zero()
    call b%shift_diagonal(2.0_real64)
    call v%fill(3.0_real64)
    call b%add_diagonal(v)
    call c%copy(a)
    x = 1e-3_real64
    call c%accumulate([1, 1], [n, n], x, -0.5_real64)
    y = 1e-30_real32
    call f%accumulate([1], [n], y, 1e-20_real32)  ! underflows, which is not trapped
    w = (1e-3_real64, -2e-3_real64)
    call z%accumulate([1], [n], w, (0.5_real64, 0.25_real64))
    call job%barrier()
  end subroutine

  subroutine reduce()
    call c%sum(total)
    call c%sum(total, reproducible=.true.)
    call a%dot(c, total, reproducible=.true.)
    total = a%norm2()
    total = a%norm2(reproducible=.true.)
    total = a%norm1()
    total = a%norm_max()
    call c%maximum(a, b)
  end subroutine

  subroutine solve()
    call tessera_gemm(a, b, c, alpha=1.5_real64, beta=0.5_real64)
    call tessera_transpose(a, c)
    call tessera_cholesky(b)
    call c%copy(a)
    call tessera_eigen(a, q, values)
    call tessera_singular_values(a, values)
    call c%shift_diagonal(100.0_real64)
    call tessera_solve(c, q)
  end subroutine

end program
