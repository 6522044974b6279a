! SPDX-License-Identifier: BSD-3-Clause
!
! The usual calls of Global Arrays in Fortran, each with its replacement: the program of the section
! "From Global Arrays" of docs/fortran.md. All ranks add to a matrix, draw tasks from a shared
! counter, multiply matrices, and sum their own elements.
!
! Run: tessera-run -n 4 build/docs/examples/fortran_from_ga
program from_ga
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use tessera
  implicit none
  integer, parameter :: n = 60
  type(tessera_job) :: job
  type(tessera_array) :: a, b, c
  type(tessera_counter) :: counter
  type(tessera_block) :: block
  real(real64), pointer :: x(:, :)
  real(real64) :: patch(10, 20), column(n), total, dot
  integer :: me, ranks, lo(2), hi(2)
  integer(int64) :: task

  call job%start()                                      ! mpi_init, ga_initialize, ma_init
  me = job%rank()                                       ! ga_nodeid()
  ranks = job%size()                                    ! ga_nnodes()
  call a%create(job, tessera_real64, [n, n], name="A")  ! nga_create(mt_dbl, 2, dims, 'A', …, g_a)
  call b%duplicate(a, "B")                              ! ga_duplicate(g_a, g_b, 'B')
  call c%duplicate(a, "C")

  patch = 1
  lo = [11, 21]
  hi = [20, 40]
  call a%accumulate(lo, hi, patch, 0.5_real64)          ! nga_acc(g_a, lo, hi, patch, ld, 0.5d0)
  call a%sync()                                         ! ga_sync()
  call a%get(lo, hi, patch)                             ! nga_get(g_a, lo, hi, patch, ld)
  if (any(abs(patch - 0.5_real64 * ranks) > 0)) error stop "not what all have added"
  call get_to_work_space(200)

  call counter%create(job)                              ! an array of one integer
  do
    call counter%next(task)                             ! nga_read_inc(g_counter, 1, 1), nxtval
    if (task >= n) exit
    column = 0
    column(task + 1) = 2
    call b%put([1_int64, task + 1], [int(n, int64), task + 1], column)  ! nga_put(g_b, lo, hi, …)
  end do
  call b%sync()
  call tessera_gemm(a, b, c)                            ! ga_dgemm('n', 'n', n, n, n, 1d0, …, g_c)
  call c%dot(c, dot)                                    ! ga_ddot(g_c, g_c)

  call c%own_box(lo, hi)                                ! nga_distribution(g_c, me, lo, hi)
  call block%begin(c)                                   ! nga_access(g_c, lo, hi, index, ld)
  call block%pointer(x)                                 ! x(lo(1):hi(1), lo(2):hi(2)), no index
  total = sum(x)
  call block%end()                                      ! nga_release(g_c, lo, hi)
  call job%allreduce(total, tessera_sum)                ! ga_dgop(type, total, 1, '+')
  call job%broadcast(total, 0)                          ! ga_brdcst(type, total, 8, 0)

  if (me == 0) print "(a, f0.1, a, f0.1)", "sum ", total, ", dot ", dot
  if (abs(total - 200 * ranks) > 0) error stop "the sum is wrong"
  if (abs(dot - 200 * ranks**2) > 1e-9_real64) error stop "the product is wrong"
  call c%free()                                         ! ga_destroy(g_c)
  call job%stop()                                       ! ga_terminate, mpi_finalize
contains
  !> A buffer in one large array, as MA's dbl_mb(k): a pointer gives it a shape.
  subroutine get_to_work_space(k)
    integer, intent(in) :: k
    real(real64), target :: work(1000)
    real(real64), pointer :: p(:, :)
    p(1:10, 1:20) => work(k:k+199)
    call a%get([11, 21], [20, 40], p)                   ! nga_get(g_a, lo, hi, dbl_mb(k), ld)
    if (abs(work(k) - 0.5_real64 * ranks) > 0) error stop "not in the work space"
  end subroutine get_to_work_space
end program from_ga
