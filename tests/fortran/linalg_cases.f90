! SPDX-License-Identifier: BSD-3-Clause
!
! Linear algebra, compared with matmul and with the equations of each result; and checkpoints.
module linalg_cases
  use checks
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use tessera
  implicit none
  private
  public :: run_linalg_cases

  integer, parameter :: n = 6, m = 4
  real(real64), parameter :: tolerance = 1e-10_real64

contains

  subroutine run_linalg_cases()
    call run_case("linalg.gemm", gemm, .true.)
    call run_case("linalg.planes", planes, .true.)
    call run_case("linalg.contract", contract, .true.)
    call run_case("linalg.solve", solves, .true.)
    call run_case("linalg.factor", factors, .true.)
    call run_case("linalg.eigen", eigens, .true.)
    call run_case("linalg.errors", linalg_errors, .true.)
    call run_case("checkpoint.round_trip", round_trip, .true.)
    call run_case("checkpoint.errors", checkpoint_errors, .true.)
  end subroutine run_linalg_cases

  !> Collective on the team. An array with these elements.
  subroutine make_of(a, x)
    type(tessera_array), intent(inout) :: a
    real(real64), intent(in) :: x(:, :)
    call a%free()
    call make_matrix(a, size(x, 1), size(x, 2), "A")
    if (member == 0) call a%put([1, 1], shape(x), x)
    call a%sync()
  end subroutine make_of

  function elements_of(a) result(x)
    type(tessera_array), intent(in) :: a
    real(real64), allocatable :: x(:, :)
    integer(int64) :: sizes(2)
    sizes = a%extents()
    allocate (x(sizes(1), sizes(2)))
    call a%get([1_int64, 1_int64], sizes, x)
  end function elements_of

  subroutine check_near(x, y, what)
    real(real64), intent(in) :: x(:, :), y(:, :)
    character(*), intent(in) :: what
    call check(all(shape(x) == shape(y)), what // ": shape")
    call check(all(abs(x - y) < tolerance), what)
  end subroutine check_near

  function sample(rows, columns, seed) result(x)
    integer, intent(in) :: rows, columns, seed
    real(real64) :: x(rows, columns)
    integer :: i, j
    x = reshape([((mod(7 * i + 11 * j * i + seed, 13) / 4.0_real64 - 1, i = 1, rows), &
        j = 1, columns)], [rows, columns])
  end function sample

  !> Positive definite.
  function definite() result(x)
    real(real64) :: x(n, n)
    integer :: i
    x = sample(n, n, 2)
    x = matmul(x, transpose(x))
    do i = 1, n
      x(i, i) = x(i, i) + n
    end do
  end function definite

  subroutine gemm()
    type(tessera_array) :: a, b, c
    real(real64) :: x(n, m), y(m, 5), z(n, 5), w(5, n)
    x = sample(n, m, 1)
    y = sample(m, 5, 2)
    z = sample(n, 5, 3)
    call make_of(a, x)
    call make_of(b, y)
    call make_of(c, z)
    call tessera_gemm(a, b, c)
    call check_near(elements_of(c), matmul(x, y), "C = A B")
    call make_of(c, z)
    call tessera_gemm(a, b, c, alpha=2.0_real64, beta=-1.0_real64)
    call check_near(elements_of(c), 2 * matmul(x, y) - z, "with factors")
    call tessera_release_buffers()
    call make_of(b, transpose(y))
    call tessera_gemm(a, b, c, op_b=tessera_transposed)
    call check_near(elements_of(c), matmul(x, y), "B transposed")
    associate (left => a%part([1, 1], [3, m]), top => c%part([1, 2], [3, 3]), &
        two => b%part([1, 1], [2, m]))
      call tessera_gemm(left, two, top, op_b=tessera_transposed)
    end associate
    z = matmul(x, y)
    z(1:3, 2:3) = matmul(x(1:3, :), y(:, 1:2))
    call check_near(elements_of(c), z, "parts")
    call tessera_transpose(c, c, stat=code, errmsg=message)
    call check(code == tessera_invalid_argument, "not onto itself")
    call make_of(b, transpose(z))
    call b%zero()
    call tessera_transpose(c, b)
    call check_near(elements_of(b), transpose(z), "transpose")
    call b%zero()
    call tessera_transpose(c%part([2, 1], [4, 2]), b%part([4, 3], [5, 5]))
    w = 0
    w(4:5, 3:5) = transpose(z(2:4, 1:2))
    call check_near(elements_of(b), w, "transpose of a part")
    call tessera_contract("ab", a%part([1, 1], [2, 2]), "bc", b, "ac", c, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "a part of array")
  end subroutine gemm

  !> Of three dimensions, in each direction.
  subroutine planes()
    type(tessera_array) :: cube, b, c
    real(real64) :: x(n, n), y(n, 4), values(n), none(0)
    integer :: pivots(n), i
    x = definite()
    y = sample(n, 4, 2)
    call make_of(b, y)
    call make_matrix(c, n, 4, "C")
    call cube%create(job, tessera_real64, [n, 3, n], name="cube", team=team)
    if (member == 0) call cube%put([1, 2, 1], [n, 2, n], reshape(x, [n, 1, n]))
    call cube%sync()
    associate (plane => cube%part([1, 2, 1], [n, 2, n]))
      call tessera_gemm(plane, b, c, buffer_bytes=2048_int64)
      call check_near(elements_of(c), matmul(x, y), "a plane times a matrix")
      call tessera_eigenvalues(plane, values)
      call check(abs(sum(values) - sum([(x(i, i), i = 1, n)])) < n * tolerance, &
          "the sum of a plane's eigenvalues is its trace")
      call tessera_eigenvalues(plane, values, method=tessera_method_own, max_bytes=100_int64, &
          stat=code, errmsg=message)
      call check_error(tessera_limit_exceeded, "raise max_bytes")
      call tessera_eigenvalues(plane, values, method=tessera_method_own, block=2, &
          max_bytes=100000_int64)
      call check(abs(sum(values) - sum([(x(i, i), i = 1, n)])) < n * tolerance, "by the library")
      call tessera_eigenvalues(plane, values, method=9, stat=code, errmsg=message)
      call check_error(tessera_invalid_argument, "9")
      call tessera_eigenvalues(plane, none, stat=code, errmsg=message)
      call check_error(tessera_invalid_argument, "must be a list of 6 numbers")
      call tessera_lu(plane, pivots)
      call check(all(pivots >= 1 .and. pivots <= n), "pivots of a plane")
    end associate
    call cube%free()
    call cube%create(job, tessera_real64, [2, n, 4], name="cube", team=team)
    call cube%zero()
    call tessera_permute(b, [0, 1, 2], cube%part([2, 1, 1], [2, n, 4]), buffer_bytes=64_int64)
    call tessera_permute(cube%part([2, 1, 1], [2, n, 4]), [2, 3], c)
    call check_near(elements_of(c), y, "to a plane and back")
    call tessera_gemm(cube, b, c, stat=code, errmsg=message)
    call check(code == tessera_invalid_argument, "all of a cube is not a matrix")
  end subroutine planes

  subroutine contract()
    type(tessera_array) :: a, b, c, t
    real(real64) :: x(2, 3, 4), y(4, 5), z(5, 2, 3), turned(4, 2, 3)
    integer :: i, j, k
    x = reshape([(real(i, real64), i = 1, 24)], [2, 3, 4])
    y = sample(4, 5, 1)
    call a%create(job, tessera_real64, shape(x), team=team)
    call c%create(job, tessera_real64, shape(z), team=team)
    call t%create(job, tessera_real64, shape(turned), team=team)
    call make_of(b, y)
    if (member == 0) call a%put([1, 1, 1], shape(x), x)
    call a%sync()
    call tessera_contract("ijk", a, "kl", b, "lij", c)
    call c%get([1, 1, 1], shape(z), z)
    do k = 1, 5
      do j = 1, 3
        do i = 1, 2
          call check(abs(z(k, i, j) - dot_product(x(i, j, :), y(:, k))) < tolerance, "contraction")
        end do
      end do
    end do
    call tessera_permute(a, [3, 1, 2], t)
    call t%get([1, 1, 1], shape(turned), turned)
    call check(all(turned == reshape([(((x(i, j, k), k = 1, 4), i = 1, 2), j = 1, 3)], [4, 2, &
        3])), &
        "permutation")
  end subroutine contract

  subroutine solves()
    type(tessera_array) :: a, b, tall, x
    real(real64) :: s(n, n), right(n, 2), t(n, m), l(n, n)
    integer :: i
    s = sample(n, n, 3)
    do i = 1, n
      s(i, i) = s(i, i) + 10
    end do
    right = sample(n, 2, 5)
    call make_of(a, s)
    call make_of(b, right)
    call tessera_solve(a, b)
    call check_near(matmul(s, elements_of(b)), right, "solve")
    s = definite()
    call make_of(a, s)
    call make_of(b, right)
    call tessera_solve_positive_definite(a, b, triangle=tessera_upper)
    call check_near(matmul(s, elements_of(b)), right, "solve_positive_definite")
    call tessera_invert_positive_definite(a)
    call check_near(matmul(s, elements_of(a)), unit(), "inverse")
    l = s
    do i = 2, n
      l(:i - 1, i) = 0
    end do
    call make_of(a, s)
    call make_of(b, right)
    call tessera_solve_triangular(a, b, triangle=tessera_lower, alpha=2.0_real64)
    call check_near(matmul(l, elements_of(b)), 2 * right, "the lower triangle")
    t = sample(n, m, 7)
    call make_of(tall, t)
    call make_of(b, right)
    call make_matrix(x, m, 2, "X")
    call tessera_least_squares(tall, b, x)
    call check_near(matmul(transpose(t), matmul(t, elements_of(x)) - right), 0 * right(:m, :), &
        "the residual of least squares")
  end subroutine solves

  function unit() result(x)
    real(real64) :: x(n, n)
    integer :: i
    x = 0
    do i = 1, n
      x(i, i) = 1
    end do
  end function unit

  subroutine factors()
    type(tessera_array) :: a, b
    real(real64) :: s(n, n), f(n, n), l(n, n), u(n, n), row(n), right(n, 2), tau(m), q(n, m)
    integer :: pivots(n), i
    s = sample(n, n, 3) + 3 * unit()
    call make_of(a, s)
    call tessera_lu(a, pivots)
    f = elements_of(a)
    l = unit()
    u = 0
    do i = 1, n
      l(i + 1:, i) = f(i + 1:, i)
      u(:i, i) = f(:i, i)
    end do
    f = s
    do i = 1, n
      row = f(i, :)
      f(i, :) = f(pivots(i), :)
      f(pivots(i), :) = row
    end do
    call check(all(pivots >= [(i, i = 1, n)] .and. pivots <= n), "pivots")
    call check_near(matmul(l, u), f, "L U = P A")
    right = sample(n, 2, 5)
    call make_of(b, right)
    call tessera_solve_lu(a, pivots, b)
    call check_near(matmul(s, elements_of(b)), right, "solve_lu")
    s = definite()
    call make_of(a, s)
    call tessera_cholesky(a, triangle=tessera_upper)
    f = elements_of(a)
    do i = 1, n - 1
      f(i + 1:, i) = 0
    end do
    call check_near(matmul(transpose(f), f), s, "U^T U = A")
    call make_of(b, right)
    call tessera_solve_cholesky(a, b, triangle=tessera_upper)
    call check_near(matmul(s, elements_of(b)), right, "solve_cholesky")
    q = sample(n, m, 1)
    call make_of(a, q)
    call tessera_qr(a, tau)
    q = elements_of(a)
    call check(abs(norm2(sample(n, 1, 1)) - abs(q(1, 1))) < tolerance, "R(1, 1)")
    call tessera_qr(a, pivots(:m), stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, &
        "the list is integer(int32); it must be real(real64)")
  end subroutine factors

  subroutine eigens()
    type(tessera_array) :: a, vectors, u, vh
    real(real64) :: s(n, n), values(n), v(n, n), t(n, m), few(m), diagonal(m, m)
    integer :: i
    s = definite()
    call make_of(a, s)
    call make_matrix(vectors, n, n, "V")
    call tessera_eigen(a, vectors, values)
    v = elements_of(vectors)
    call check_near(matmul(s, v), v * spread(values, 1, n), "A v = lambda v")
    call check_near(matmul(transpose(v), v), unit(), "orthonormal")
    call check(all(values(2:) >= values(:n - 1)), "ascending")
    values = 0
    call tessera_eigenvalues(a, values)
    call check(abs(sum(values) - sum([(s(i, i), i = 1, n)])) < tolerance * 100, "trace")
    call tessera_eigenvalues(a, values(1:3), stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "the list must be a list of 6 numbers")
    t = sample(n, m, 7)
    call make_of(a, t)
    call make_matrix(u, n, m, "U")
    call make_matrix(vh, m, m, "VH")
    call tessera_svd(a, u, vh, few)
    diagonal = 0
    do i = 1, m
      diagonal(i, i) = few(i)
    end do
    call check_near(matmul(elements_of(u), matmul(diagonal, elements_of(vh))), t, "A = U S V^H")
    few = 0
    call tessera_singular_values(a, few)
    call check(all(abs(few - [(diagonal(i, i), i = 1, m)]) < tolerance), "singular values")
    call make_of(a, s)
    call make_of(u, 2 * unit())
    call tessera_eigenvalues_generalised(a, u, v(:, 1))
    call tessera_eigen_generalised(a, u, vectors, values)
    call check(all(abs(v(:, 1) - values) < tolerance), "generalised")
    v = elements_of(vectors)
    call check_near(matmul(s, v), 2 * v * spread(values, 1, n), "A v = lambda B v")
  end subroutine eigens

  subroutine linalg_errors()
    type(tessera_array) :: a, b, c, i
    call make_of(a, sample(n, m, 1))
    call make_of(b, sample(n, m, 1))
    call make_of(c, sample(n, m, 1))
    call tessera_gemm(a, b, c, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "op(A) is 6 x 4")
    call check_has(message, "note: rows and columns are Fortran's, but the dimensions of arrays are")
    call tessera_gemm(a, b, c, alpha=.true., stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, &
        "alpha is logical of 4 bytes, but the array has real(real64)")
    call tessera_gemm(a, b, c, buffer_bytes=1e6, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, &
        "buffer_bytes is real(real32); it must be an integer")
    call i%create(job, tessera_int32, [n, m], team=team)
    call tessera_solve(i, i, stat=code, errmsg=message)
    call check(code == tessera_invalid_argument, "integers")
    call tessera_solve(a%part([1, 1], [n, m + 1]), b, stat=code, errmsg=message)
    call check_error(tessera_out_of_range, "(1:6, 1:5) lies outside the array")
    call check(index(message, "note:") == 0, "in Fortran's terms")
    call tessera_permute(a, [1, 2], i, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "tessera_part_permute")
    call check_has(message, "note: in this message dimensions are in C's order")
  end subroutine linalg_errors

  subroutine round_trip()
    type(tessera_checkpoint_writer) :: writer
    type(tessera_checkpoint) :: file
    type(tessera_array) :: a, b, c
    integer(int64), allocatable :: extents(:)
    integer(int64) :: element, step
    real(real64) :: time, x(9, 7)
    character(:), allocatable :: text
    character(40) :: path
    integer :: unit
    write (path, "(a, i0, a, i0, a)") "fortran.", job%size(), ".", team%world_rank(0), ".h5"
    call make_matrix(a, 9, 7, "A")
    call a%fill_random(7_int64, 0.0_real64, 1.0_real64)
    call writer%create(job, trim(path), team, stat=code, errmsg=message)
    if (code == tessera_unsupported) return
    call writer%add(a)
    call writer%add(a, name="again")
    call writer%put_attribute("step", 12_int64)
    call writer%put_attribute("time", 0.5_real64)
    call writer%put_attribute("title", "a title")
    call writer%commit()
    call writer%free()
    call file%open(job, trim(path), team)
    call check(file%array_count() == 2, "arrays")
    call check(file%attribute_count() == 3, "attributes")
    call check(file%array_name(1) /= "" .and. file%attribute_name(3) /= "", "names")
    call file%info("A", element, extents)
    call check(element == tessera_real64 .and. all(extents == [9, 7]), "type and shape")
    call file%get_attribute("step", step)
    call file%get_attribute("time", time)
    call file%get_attribute("title", text)
    call check(step == 12 .and. time == 0.5_real64 .and. text == "a title", "attributes' values")
    call file%verify("A")
    call file%read("A", b)
    call make_matrix(c, 9, 7, "C")
    call file%read_into("again", c)
    call c%add(1.0_real64, b, -1.0_real64, c)
    call check(c%norm_max() == 0, "both are the same")
    call a%get([1, 1], [9, 7], x)
    call b%add(1.0_real64, a, -1.0_real64, b)
    call check(b%norm_max() == 0 .and. maxval(x) > 0.5_real64, "what was written")
    call file%free()
    if (member == 0) then
      open (newunit=unit, file=trim(path), status="old")
      close (unit, status="delete")
    end if
    call team%barrier()
  end subroutine round_trip

  subroutine checkpoint_errors()
    type(tessera_checkpoint) :: file
    type(tessera_array) :: a
    call file%open(job, "/nowhere/file.h5", team, stat=code, errmsg=message)
    call check(code /= 0, "no such file")
    call file%read("A", a, stat=code, errmsg=message)
    call check_error(tessera_invalid_argument, "the checkpoint in this call has not been created")
  end subroutine checkpoint_errors

end module linalg_cases
