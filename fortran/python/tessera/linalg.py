# SPDX-License-Identifier: BSD-3-Clause
"""Linear algebra of distributed matrices.

All functions are collective. Matrices are arrays of float32, float64, complex64 or complex128 with any
distribution; of other types a float64 copy is used. A right-hand side is a matrix or a vector. Results
are arrays; eigenvalues and singular values are NumPy arrays, the same on all ranks. Operands keep their
values. `method` is 'automatic', 'own' or 'scalapack'.
"""

import numpy as np

from . import _core
from ._elementwise import convert, refuse
from ._matrices import Transposed, as_column, as_vector, multiply
from ._reductions import norm
from ._whole import copy

__all__ = ["Cholesky", "LU", "QR", "cholesky", "contract", "det", "diag", "eigh", "eigvalsh", "einsum",
           "gemm", "inv", "lstsq", "lu", "matmul", "norm", "qr", "scale_columns", "scale_rows", "set_diag",
           "shift_diag", "slogdet", "solve", "solve_triangular", "svd", "svdvals", "symmetrize", "trace"]

Array = _core.Array
matmul = multiply


def _matrix(given, dtype=None):
    """A matrix as an array with a type of linear algebra."""
    if isinstance(given, Transposed):
        given = given.copy()
    if not isinstance(given, Array):
        refuse(f"linear algebra of {type(given).__name__}", "put it into an array of the job")
    if given.ndim != 2:
        raise _core.InvalidArgument(f"array '{given.name}' has {given.ndim} dimensions and is not a matrix")
    dtype = np.dtype(dtype or (given.dtype if given.dtype.kind in "fc" else np.float64))
    return given if given.dtype == dtype else convert(given, dtype)


def _common(*given):
    dtype = np.result_type(*(each.dtype for each in given))
    return dtype if dtype.kind in "fc" else np.dtype(np.float64)


def _right_side(b, dtype):
    """A copy of a right-hand side as a matrix, which a solver overwrites."""
    if isinstance(b, Transposed):
        return convert(b.copy(), dtype)
    if not isinstance(b, Array):
        refuse(f"a right-hand side of type {type(b).__name__}", "put it into an array of the job")
    if b.ndim not in (1, 2):
        raise _core.InvalidArgument(f"a right-hand side of {b.ndim} dimensions")
    x = b if b.dtype == dtype else convert(b, dtype)
    return as_column(x) if b.ndim == 1 else copy(x) if x is b else x


def _solution(x, b):
    return as_vector(x, "solution") if b.ndim == 1 else x


def gemm(alpha, a, b, beta, c):
    """C = alpha op(A) op(B) + beta C, in place; A and B may be A.T or A.H. Returns C."""
    base, op = zip(*((each.base, "conjugate_transpose" if each.is_conjugated else "transpose")
                     if isinstance(each, Transposed) else (each, "none") for each in (a, b)))
    _core._gemm(alpha, base[0], op[0], base[1], op[1], beta, c)
    return c


def einsum(letters, a, b, out=None):
    """The contraction of two arrays: einsum('abcd,cdij->abij', A, B).

    Without '->' the result has the letters that occur once, in the order of the alphabet, as in NumPy.
    """
    inputs, arrow, result = letters.replace(" ", "").partition("->")
    parts = inputs.split(",")
    if len(parts) != 2 or not all(isinstance(each, Array) for each in (a, b)):
        refuse("einsum of other than two distributed arrays", "contract two at a time")
    if not arrow:
        result = "".join(sorted(each for each in set(inputs) - {","} if inputs.count(each) == 1))
    dtype = _common(a, b)
    a, b = (each if each.dtype == dtype else convert(each, dtype) for each in (a, b))
    return contract(parts[0], a, parts[1], b, result, out)


def contract(a_letters, a, b_letters, b, letters, out=None):
    """C[letters] = the sum of A[a_letters] B[b_letters] over the letters that C lacks."""
    if out is None:
        extents = dict(zip(a_letters + b_letters, a.shape + b.shape))
        missing = [each for each in letters if each not in extents]
        if missing or not letters:
            raise _core.InvalidArgument(f"contract: the result '{letters}' needs letters of "
                                        f"'{a_letters}' and '{b_letters}'\n  hint: a number as a result is "
                                        "numpy.vdot(A, B)")
        out = _core._beside(a, [extents[each] for each in letters], a.dtype, "contraction")
    _core._contract(a_letters, a, b_letters, b, letters, out)
    return out


def solve(a, b, assume_a="general", lower=True, method="automatic"):
    """X with A X = B. assume_a='positive definite' reads one triangle of A and is faster."""
    if assume_a not in ("general", "gen", "positive definite", "pos"):
        raise _core.InvalidArgument(f"solve: assume_a={assume_a!r}; it is 'general' or 'positive definite'")
    dtype = _common(a, b)
    x = _right_side(b, dtype)
    _core._solve(_matrix(a, dtype), x, assume_a in ("positive definite", "pos"), lower, method)
    return _solution(x, b)


def solve_triangular(a, b, lower=False, trans="none", unit_diagonal=False, method="automatic"):
    """X with op(A) X = B for a triangular A; trans is 'none', 'transpose' or 'conjugate_transpose'."""
    dtype = _common(a, b)
    x = _right_side(b, dtype)
    op = {0: "none", 1: "transpose", 2: "conjugate_transpose", "N": "none", "T": "transpose",
          "C": "conjugate_transpose"}.get(trans, trans)
    _core._solve_triangular(_matrix(a, dtype), x, lower, op, unit_diagonal, method)
    return _solution(x, b)


class _Factors:
    """Factors of a matrix, to be used often."""

    def __init__(self, packed, method):
        self.packed = packed  #: LAPACK's form, as an array
        self.method = method

    def _triangle(self, lower, with_diagonal=True):
        """A copy with zeros in the other triangle."""
        result = _core._like(self.packed, self.packed.dtype, "L" if lower else "U")

        def body(lo, hi, views):
            rows = np.arange(lo[0], hi[0])[:, None]
            columns = np.arange(lo[1], hi[1])[None, :]
            kept = rows > columns if lower else rows < columns
            views[0][...] = np.where(kept | (with_diagonal & (rows == columns)), views[1], 0)
            if not with_diagonal:
                views[0][rows == columns] = 1

        _core._transform("triangle", [result, self.packed], repr((lower, with_diagonal)), body)
        return result


class Cholesky(_Factors):
    """A = L L^H. Made by cholesky()."""

    @property
    def L(self):  # noqa: N802 (the factor's name)
        """Collective. The factor as an array."""
        return self._triangle(True)

    def solve(self, b):
        """X with A X = B."""
        x = _right_side(b, self.packed.dtype)
        _core._solve_cholesky(self.packed, x, True, self.method)
        return _solution(x, b)

    def inverse(self):
        """The inverse of A."""
        factor = self.L
        product = multiply(factor, factor.H)
        _core._invert(product, True, self.method)
        return product


class LU(_Factors):
    """A = P L U. Made by lu(). pivots[i] is the row with which row i was exchanged in step i."""

    def __init__(self, packed, pivots, method):
        super().__init__(packed, method)
        self.pivots = pivots

    @property
    def L(self):  # noqa: N802
        """Collective. The lower factor of a square matrix, with ones on the diagonal."""
        return self._triangle(True, False)

    @property
    def U(self):  # noqa: N802
        """Collective. The upper factor of a square matrix."""
        return self._triangle(False)

    def solve(self, b, trans="none"):
        """X with A X = B, or with A.T or A.H by trans='transpose' or 'conjugate_transpose'."""
        x = _right_side(b, self.packed.dtype)
        _core._solve_lu(self.packed, list(self.pivots), x, trans, self.method)
        return _solution(x, b)

    def slogdet(self):
        """The sign of the determinant and the logarithm of its absolute value."""
        diagonal = diag(self.packed)[...]
        exchanges = int(np.count_nonzero(self.pivots != np.arange(len(self.pivots))))
        with np.errstate(divide="ignore"):
            logarithm = np.log(np.abs(diagonal)).sum()
        absolute = np.where(diagonal == 0, 1, np.abs(diagonal))
        return (-1) ** exchanges * np.prod(diagonal / absolute), logarithm


class QR(_Factors):
    """A = Q R with Q as reflectors, in LAPACK's form. Made by qr()."""

    def __init__(self, packed, tau, method):
        super().__init__(packed, method)
        self.tau = tau

    @property
    def R(self):  # noqa: N802
        """Collective. The upper factor; rows below it are zeros."""
        return self._triangle(False)


def cholesky(a, method="automatic"):
    """Factors of a positive definite matrix, whose lower triangle is read."""
    packed = copy(_matrix(a))
    _core._cholesky(packed, True, method)
    return Cholesky(packed, method)


def lu(a, method="automatic"):
    """Factors of any matrix that is not singular."""
    packed = copy(_matrix(a))
    return LU(packed, _core._lu(packed, method), method)


def qr(a, method="automatic"):
    """Factors by reflections."""
    packed = copy(_matrix(a))
    return QR(packed, _core._qr(packed, method), method)


def inv(a, method="automatic"):
    """The inverse. solve() is faster and more accurate if there is a right-hand side."""
    a = _matrix(a)
    x = _core._like(a, a.dtype, "inverse")
    _core._shift_diagonal(x, 1)
    _core._solve(a, x, False, True, method)
    return x


def slogdet(a, method="automatic"):
    """The sign of the determinant and the logarithm of its absolute value."""
    try:
        return lu(a, method).slogdet()
    except _core.InvalidArgument as error:
        if "singular" not in str(error) and "pivot" not in str(error):
            raise
        return a.dtype.type(0), -np.inf


def det(a, method="automatic"):
    """The determinant."""
    sign, logarithm = slogdet(a, method)
    return sign * np.exp(logarithm)


def eigvalsh(a, b=None, method="automatic"):
    """The eigenvalues of a symmetric or Hermitian matrix, ascending; of A v = w B v if B is given."""
    dtype = _common(a) if b is None else _common(a, b)
    return _core._eigen(_matrix(a, dtype), None if b is None else _matrix(b, dtype), None, method)


def eigh(a, b=None, method="automatic"):
    """Eigenvalues as a NumPy array, and the vectors as the columns of an array."""
    dtype = _common(a) if b is None else _common(a, b)
    a = _matrix(a, dtype)
    vectors = _core._like(a, dtype, "eigenvectors")
    return _core._eigen(a, None if b is None else _matrix(b, dtype), vectors, method), vectors


def svdvals(a, method="automatic"):
    """The singular values, descending."""
    return _core._singular_values(_matrix(a), method)


def svd(a, full_matrices=False, compute_uv=True, method="automatic"):
    """U, the singular values as a NumPy array, and V^H: A = U diag(s) V^H; always the thin form."""
    if full_matrices:
        refuse("svd with full_matrices=True is not available", "the thin form has all singular values")
    a = _matrix(a)
    if not compute_uv:
        return svdvals(a, method)
    k = min(a.shape)
    u = _core._beside(a, [a.shape[0], k], a.dtype, "U")
    vh = _core._beside(a, [k, a.shape[1]], a.dtype, "VH")
    return u, _core._svd(a, u, vh, method), vh


def lstsq(a, b, method="automatic"):
    """X that minimises |A X - B| for an A with more rows than columns, whose columns are independent."""
    dtype = _common(a, b)
    a = _matrix(a, dtype)
    side = _right_side(b, dtype)
    x = _core._beside(a, [a.shape[1], side.shape[1]], dtype, "solution")
    _core._least_squares(a, side, x, method)
    return _solution(x, b)


def trace(a):
    """The sum of the diagonal."""
    from ._reductions import sum as sum_of
    return sum_of(diag(a))


def diag(given):
    """The diagonal of a matrix as a vector, or a matrix with a vector on its diagonal."""
    if isinstance(given, Transposed):
        given = given.copy() if given.is_conjugated else given.base
    if given.ndim == 1:
        return set_diag(_core._beside(given, [given.shape[0]] * 2, given.dtype, given.name), given)
    if given.ndim != 2:
        raise _core.InvalidArgument(f"diag of an array of {given.ndim} dimensions")
    vector = _core._beside(given, [min(given.shape)], given.dtype, "diagonal")
    _core._with_vector(given, vector, "get_diagonal")
    return vector


def set_diag(a, v):
    """A[i, i] = v[i]. Returns A."""
    _core._with_vector(a, v, "set_diagonal")
    return a


def shift_diag(a, value):
    """A[i, i] += value, or value[i] if it is a vector. Returns A."""
    if isinstance(value, Array):
        _core._with_vector(a, value, "add_diagonal")
    else:
        _core._shift_diagonal(a, a.dtype.type(value).item())
    return a


def scale_rows(a, v):
    """A[i, j] *= v[i]. Returns A."""
    _core._with_vector(a, v, "scale_rows")
    return a


def scale_columns(a, v):
    """A[i, j] *= v[j]. Returns A."""
    _core._with_vector(a, v, "scale_columns")
    return a


def symmetrize(a):
    """A = (A + A.T) / 2, in place. Returns A."""
    _core._symmetrize(a)
    return a
