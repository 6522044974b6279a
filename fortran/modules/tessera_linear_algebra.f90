! SPDX-License-Identifier: BSD-3-Clause
!
! Linear algebra with matrices, which are two-dimensional arrays or boxes of them; see tessera.f90.
!
!     call tessera_gemm(a, b, c)                        ! C = A B
!     call tessera_solve(a, b)                          ! A X = B; X replaces B
!     call tessera_eigen(a, vectors, values)
!
! Products and permutations take up to `buffer_bytes` bytes on each member for parts of other
! members' operands; by default TESSERA_LINALG_BUFFER. For solvers `method` is the implementation,
! and `block` the number of columns in one step; by default the library chooses both.
!
! Rows, columns and triangles are Fortran's. The elements are real or complex, of one type in all
! operands of an operation. Operands may be distributed in any way. All procedures are collective
! over the team of the result, or of the first operand if nothing is written. Errors of each: closed;
! invalid_argument (shapes or types that do not fit, operands that share elements with a result) and
! out_of_range: nothing was changed. After no_memory and peer_lost the results are unspecified.
module tessera_linear_algebra
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int64
  use tessera_errors
  use tessera_part_bindings, only: c_operand
  use tessera_parts
  implicit none
  private
  public :: tessera_gemm, tessera_contract, tessera_permute, tessera_transpose, &
      tessera_cholesky, tessera_lu, tessera_qr, tessera_solve, tessera_solve_positive_definite, &
      tessera_solve_lu, tessera_solve_cholesky, tessera_solve_triangular, &
      tessera_invert_positive_definite, tessera_least_squares, tessera_eigenvalues, &
      tessera_eigen, tessera_eigenvalues_generalised, tessera_eigen_generalised, &
      tessera_singular_values, tessera_svd, tessera_release_buffers

  !> How an operand is used. For real matrices the last two are the same.
  integer, parameter, public :: tessera_plain = 0, tessera_transposed = 1, &
      tessera_conjugate_transposed = 2

  !> Which triangle is read; the side of X on which a triangular matrix stands; its diagonal.
  integer, parameter, public :: tessera_lower = 0, tessera_upper = 1, tessera_left = 0, &
      tessera_right = 1, tessera_diagonal_stored = 0, tessera_diagonal_of_ones = 1

  !> Which implementation factors and solves. Automatic: ScaLAPACK if it can, else Tessera's own.
  integer, parameter, public :: tessera_method_automatic = 0, tessera_method_own = 1, &
      tessera_method_scalapack = 2

  !> Options of solvers; 0 bytes mean the default of the C interface.
  type, bind(c) :: c_solver_choice
    integer(c_int64_t) :: block = 0
    integer(c_int) :: method = 0
    integer(c_int) :: triangle = 0
    integer(c_int) :: side = 0
    integer(c_int) :: op = 0
    integer(c_int) :: diagonal = 0
  end type c_solver_choice

  !> Operations of one kind, with the numbers of C++.
  integer(c_int), parameter :: op_cholesky = 0, op_solve = 1, op_solve_positive_definite = 2, &
      op_solve_cholesky = 3, op_solve_triangular = 4, op_invert_positive_definite = 5, &
      op_least_squares = 6
  integer(c_int), parameter :: op_eigenvalues = 0, op_eigen = 1, op_eigenvalues_generalised = 2, &
      op_eigen_generalised = 3, op_singular_values = 4, op_svd = 5

  interface
    function f_gemm(a, b, c, alpha, beta, op_a, op_b, buffer_bytes) &
        bind(c, name="tessera_f_gemm") result(code)
      import
      type(c_operand), intent(in) :: a, b, c
      type(*), dimension(..), intent(in), optional :: alpha, beta
      integer(c_int), value :: op_a, op_b
      type(*), dimension(..), intent(in), optional :: buffer_bytes
      integer(c_int) :: code
    end function
    function f_contract(a_letters, a, b_letters, b, c_letters, c, alpha, beta, &
        buffer_bytes) bind(c, name="tessera_f_contract") result(code)
      import
      character(kind=c_char), intent(in) :: a_letters(*)
      type(c_operand), intent(in) :: a
      character(kind=c_char), intent(in) :: b_letters(*)
      type(c_operand), intent(in) :: b
      character(kind=c_char), intent(in) :: c_letters(*)
      type(c_operand), intent(in) :: c
      type(*), dimension(..), intent(in), optional :: alpha, beta
      type(*), dimension(..), intent(in), optional :: buffer_bytes
      integer(c_int) :: code
    end function
    function f_permute(from, order, to, buffer_bytes) &
        bind(c, name="tessera_f_permute") result(code)
      import
      type(c_operand), intent(in) :: from
      type(*), dimension(..), intent(in) :: order
      type(c_operand), intent(in) :: to
      type(*), dimension(..), intent(in), optional :: buffer_bytes
      integer(c_int) :: code
    end function
    function f_solve(op, a, b, x, choice, alpha) bind(c, name="tessera_f_solve") result(code)
      import
      integer(c_int), value :: op
      type(c_operand), intent(in) :: a
      type(c_operand), intent(in), optional :: b, x
      type(c_solver_choice), intent(in) :: choice
      type(*), dimension(..), intent(in), optional :: alpha
      integer(c_int) :: code
    end function
    function f_lu(a, choice, pivots) bind(c, name="tessera_f_lu") result(code)
      import
      type(c_operand), intent(in) :: a
      type(c_solver_choice), intent(in) :: choice
      type(*), dimension(..), intent(inout) :: pivots
      integer(c_int) :: code
    end function
    function f_solve_lu(a, pivots, b, choice) bind(c, name="tessera_f_solve_lu") result(code)
      import
      type(c_operand), intent(in) :: a
      type(*), dimension(..), intent(in) :: pivots
      type(c_operand), intent(in) :: b
      type(c_solver_choice), intent(in) :: choice
      integer(c_int) :: code
    end function
    function f_qr(a, choice, tau) bind(c, name="tessera_f_qr") result(code)
      import
      type(c_operand), intent(in) :: a
      type(c_solver_choice), intent(in) :: choice
      type(*), dimension(..), intent(inout) :: tau
      integer(c_int) :: code
    end function
    function f_values(op, a, second, third, choice, max_bytes, values) &
        bind(c, name="tessera_f_values") result(code)
      import
      integer(c_int), value :: op
      type(c_operand), intent(in) :: a
      type(c_operand), intent(in), optional :: second, third
      type(c_solver_choice), intent(in) :: choice
      type(*), dimension(..), intent(in), optional :: max_bytes
      type(*), dimension(..), intent(inout) :: values
      integer(c_int) :: code
    end function
    subroutine c_release_buffers() bind(c, name="tessera_release_buffers")
    end subroutine
  end interface

contains

  !> C = alpha op(A) op(B) + beta C. By default alpha is 1 and beta is 0; if beta is 0, C is not
  !> read.
  subroutine tessera_gemm(a, b, c, alpha, beta, op_a, op_b, buffer_bytes, stat, errmsg)
    class(tessera_part), intent(in) :: a, b, c
    type(*), dimension(..), intent(in), optional :: alpha, beta
    integer, intent(in), optional :: op_a, op_b
    type(*), dimension(..), intent(in), optional :: buffer_bytes
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_gemm(operand(a), operand(b), operand(c), alpha, beta, chosen(op_a), &
        chosen(op_b), buffer_bytes), stat, errmsg)
  end subroutine tessera_gemm

  !> Local. Frees the large buffers that this thread keeps from its products for the next ones.
  subroutine tessera_release_buffers()
    call c_release_buffers()
  end subroutine tessera_release_buffers

  !> C = alpha times the sum of A B over the letters that C does not have, plus beta C. Each letter
  !> names a dimension: "abcd" has four. Takes whole arrays; parts are refused.
  subroutine tessera_contract(a_letters, a, b_letters, b, c_letters, c, alpha, beta, &
      buffer_bytes, stat, errmsg)
    character(*), intent(in) :: a_letters
    class(tessera_part), intent(in) :: a
    character(*), intent(in) :: b_letters
    class(tessera_part), intent(in) :: b
    character(*), intent(in) :: c_letters
    class(tessera_part), intent(in) :: c
    type(*), dimension(..), intent(in), optional :: alpha, beta
    type(*), dimension(..), intent(in), optional :: buffer_bytes
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_contract(c_text(a_letters), operand(a), c_text(b_letters), operand(b), &
        c_text(c_letters), operand(c), alpha, beta, buffer_bytes), stat, errmsg)
  end subroutine tessera_contract

  !> Dimension d of `to` is dimension order(d) of `from`, as in reshape; [2, 1] transposes a matrix.
  !> A dimension in which `to` has extent 1 may be 0 in `order`. A dimension in which `from` has
  !> extent 1 may be left out: [3, 1] transposes a plane of three dimensions. Elements may have any
  !> type. Parts of one array must have no element in common.
  subroutine tessera_permute(from, order, to, buffer_bytes, stat, errmsg)
    class(tessera_part), intent(in) :: from
    type(*), dimension(..), intent(in) :: order
    class(tessera_part), intent(in) :: to
    type(*), dimension(..), intent(in), optional :: buffer_bytes
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_permute(operand(from), order, operand(to), buffer_bytes), stat, errmsg)
  end subroutine tessera_permute

  !> to(i, j) = from(j, i), for matrices or parts of them with elements of any type.
  subroutine tessera_transpose(from, to, buffer_bytes, stat, errmsg)
    class(tessera_part), intent(in) :: from, to
    type(*), dimension(..), intent(in), optional :: buffer_bytes
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_permute(operand(from), [2, 1], operand(to), buffer_bytes), stat, errmsg)
  end subroutine tessera_transpose

  !> A = L L^H or U^H U of a Hermitian positive definite matrix. Reads and replaces one triangle, by
  !> default the lower one. Errors: also invalid_argument if A is not positive definite.
  subroutine tessera_cholesky(a, triangle, method, block, stat, errmsg)
    class(tessera_part), intent(in) :: a
    integer, intent(in), optional :: triangle, method, block
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_solve(op_cholesky, operand(a), choice=choice_of(method, &
        block, triangle=triangle)), stat, errmsg)
  end subroutine tessera_cholesky

  !> A = P L U. L, with ones on its diagonal, and U replace A. Step i exchanged row i with row
  !> pivots(i); there are min(rows, columns) pivots, integers of any kind. Errors: also
  !> invalid_argument if A is singular.
  subroutine tessera_lu(a, pivots, method, block, stat, errmsg)
    class(tessera_part), intent(in) :: a
    type(*), dimension(..), intent(inout) :: pivots
    integer, intent(in), optional :: method, block
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_lu(operand(a), choice_of(method, block), pivots), stat, errmsg)
  end subroutine tessera_lu

  !> A = Q R by Householder reflections. R replaces the upper triangle, the reflectors the rest;
  !> `tau` gets their min(rows, columns) factors, numbers of A's type.
  subroutine tessera_qr(a, tau, method, block, stat, errmsg)
    class(tessera_part), intent(in) :: a
    type(*), dimension(..), intent(inout) :: tau
    integer, intent(in), optional :: method, block
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_qr(operand(a), choice_of(method, block), tau), stat, errmsg)
  end subroutine tessera_qr

  !> A X = B with a square A, which is not changed. X replaces B, as in the procedures below.
  !> Errors: also invalid_argument if A is singular.
  subroutine tessera_solve(a, b, method, block, stat, errmsg)
    class(tessera_part), intent(in) :: a, b
    integer, intent(in), optional :: method, block
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_solve(op_solve, operand(a), operand(b), &
        choice=choice_of(method, block)), stat, errmsg)
  end subroutine tessera_solve

  !> The same for a Hermitian positive definite A, of which one triangle is read.
  subroutine tessera_solve_positive_definite(a, b, triangle, method, block, stat, errmsg)
    class(tessera_part), intent(in) :: a, b
    integer, intent(in), optional :: triangle, method, block
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_solve(op_solve_positive_definite, operand(a), operand(b), &
        choice=choice_of(method, block, triangle=triangle)), stat, errmsg)
  end subroutine tessera_solve_positive_definite

  !> op(A) X = B with the result of tessera_lu in A, and its pivots.
  subroutine tessera_solve_lu(a, pivots, b, op, method, block, stat, errmsg)
    class(tessera_part), intent(in) :: a
    type(*), dimension(..), intent(in) :: pivots
    class(tessera_part), intent(in) :: b
    integer, intent(in), optional :: op, method, block
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_solve_lu(operand(a), pivots, operand(b), choice_of(method, block, op=op)), &
        stat, errmsg)
  end subroutine tessera_solve_lu

  !> A X = B with the result of tessera_cholesky in the same triangle of A.
  subroutine tessera_solve_cholesky(a, b, triangle, method, block, stat, errmsg)
    class(tessera_part), intent(in) :: a, b
    integer, intent(in), optional :: triangle, method, block
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_solve(op_solve_cholesky, operand(a), operand(b), &
        choice=choice_of(method, block, triangle=triangle)), stat, errmsg)
  end subroutine tessera_solve_cholesky

  !> op(A) X = alpha B, or X op(A) = alpha B, with a triangular A.
  subroutine tessera_solve_triangular(a, b, triangle, side, op, diagonal, alpha, method, &
      block, stat, errmsg)
    class(tessera_part), intent(in) :: a, b
    integer, intent(in), optional :: triangle, side, op, diagonal, method, block
    type(*), dimension(..), intent(in), optional :: alpha
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_solve(op_solve_triangular, operand(a), operand(b), &
        choice=choice_of(method, block, triangle=triangle, side=side, op=op, &
        diagonal=diagonal), alpha=alpha), stat, errmsg)
  end subroutine tessera_solve_triangular

  !> Replaces a Hermitian positive definite A by its whole inverse.
  subroutine tessera_invert_positive_definite(a, triangle, method, block, stat, errmsg)
    class(tessera_part), intent(in) :: a
    integer, intent(in), optional :: triangle, method, block
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_solve(op_invert_positive_definite, operand(a), &
        choice=choice_of(method, block, triangle=triangle)), stat, errmsg)
  end subroutine tessera_invert_positive_definite

  !> X with the smallest norm of A X - B in each column; A and B are not changed.
  subroutine tessera_least_squares(a, b, x, method, block, stat, errmsg)
    class(tessera_part), intent(in) :: a, b, x
    integer, intent(in), optional :: method, block
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_solve(op_least_squares, operand(a), operand(b), operand(x), &
        choice_of(method, block)), stat, errmsg)
  end subroutine tessera_least_squares

  !> All eigenvalues of a Hermitian matrix, ascending: real numbers of A's kind, the same on all
  !> members. Reads the lower triangle. Without ScaLAPACK one member solves the problem alone, if it
  !> needs at most `max_bytes` bytes, by default 2**30. Errors of this procedure and those below:
  !> also limit_exceeded if it needs more.
  subroutine tessera_eigenvalues(a, values, method, block, max_bytes, stat, errmsg)
    class(tessera_part), intent(in) :: a
    type(*), dimension(..), intent(inout) :: values
    integer, intent(in), optional :: method, block
    type(*), dimension(..), intent(in), optional :: max_bytes
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_values(op_eigenvalues, operand(a), &
        choice=choice_of(method, block), max_bytes=max_bytes, values=values), stat, errmsg)
  end subroutine tessera_eigenvalues

  !> Also the eigenvectors, of length 1, as the columns of `vectors`.
  subroutine tessera_eigen(a, vectors, values, method, block, max_bytes, stat, errmsg)
    class(tessera_part), intent(in) :: a, vectors
    type(*), dimension(..), intent(inout) :: values
    integer, intent(in), optional :: method, block
    type(*), dimension(..), intent(in), optional :: max_bytes
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_values(op_eigen, operand(a), operand(vectors), &
        choice=choice_of(method, block), max_bytes=max_bytes, values=values), stat, errmsg)
  end subroutine tessera_eigen

  !> The same for A v = lambda B v with a positive definite B.
  subroutine tessera_eigenvalues_generalised(a, b, values, method, block, max_bytes, stat, errmsg)
    class(tessera_part), intent(in) :: a, b
    type(*), dimension(..), intent(inout) :: values
    integer, intent(in), optional :: method, block
    type(*), dimension(..), intent(in), optional :: max_bytes
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_values(op_eigenvalues_generalised, operand(a), operand(b), &
        choice=choice_of(method, block), max_bytes=max_bytes, values=values), stat, errmsg)
  end subroutine tessera_eigenvalues_generalised

  !> Also the eigenvectors, with v^H B v = 1.
  subroutine tessera_eigen_generalised(a, b, vectors, values, method, block, max_bytes, stat, &
      errmsg)
    class(tessera_part), intent(in) :: a, b, vectors
    type(*), dimension(..), intent(inout) :: values
    integer, intent(in), optional :: method, block
    type(*), dimension(..), intent(in), optional :: max_bytes
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_values(op_eigen_generalised, operand(a), operand(b), operand(vectors), &
        choice_of(method, block), max_bytes, values), stat, errmsg)
  end subroutine tessera_eigen_generalised

  !> The k = min(m, n) singular values, descending.
  subroutine tessera_singular_values(a, values, method, block, max_bytes, stat, errmsg)
    class(tessera_part), intent(in) :: a
    type(*), dimension(..), intent(inout) :: values
    integer, intent(in), optional :: method, block
    type(*), dimension(..), intent(in), optional :: max_bytes
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_values(op_singular_values, operand(a), &
        choice=choice_of(method, block), max_bytes=max_bytes, values=values), stat, errmsg)
  end subroutine tessera_singular_values

  !> Also A = U S V^H: U is m x k, V^H is k x n.
  subroutine tessera_svd(a, u, vh, values, method, block, max_bytes, stat, errmsg)
    class(tessera_part), intent(in) :: a, u, vh
    type(*), dimension(..), intent(inout) :: values
    integer, intent(in), optional :: method, block
    type(*), dimension(..), intent(in), optional :: max_bytes
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(f_values(op_svd, operand(a), operand(u), operand(vh), &
        choice_of(method, block), max_bytes, values), stat, errmsg)
  end subroutine tessera_svd

  pure function choice_of(method, block, triangle, side, op, diagonal) result(choice)
    integer, intent(in), optional :: method, block
    integer, intent(in), optional :: triangle, side, op, diagonal
    type(c_solver_choice) :: choice
    choice = c_solver_choice(method=chosen(method), block=chosen(block), &
        triangle=chosen(triangle), side=chosen(side), op=chosen(op), diagonal=chosen(diagonal))
  end function choice_of

  pure function chosen(given) result(number)
    integer, intent(in), optional :: given
    integer(c_int) :: number
    number = 0
    if (present(given)) number = c_number(given)
  end function chosen

end module tessera_linear_algebra
