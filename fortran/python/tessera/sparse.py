# SPDX-License-Identifier: BSD-3-Clause
"""Sparse matrices, whose rows are distributed over the ranks; conversions from and to scipy.sparse.

All functions are collective except where they say otherwise. Each rank has a block of consecutive rows.
Products with vectors have the same bits on any number of ranks.
"""

import numpy as np

from . import _core
from ._elementwise import compute, convert, full, refuse, spread
from ._matrices import Transposed
from ._reductions import norm, vdot
from ._whole import add_scaled, copy

__all__ = ["SparseMatrix", "Solution", "bicgstab", "cg", "from_dense", "from_entries", "from_rows",
           "from_scipy", "matrix"]

Array = _core.Array


def _compressed(given):
    """scipy's matrix as csr, without importing scipy if it is not that already."""
    if not hasattr(given, "tocsr"):
        refuse(f"a sparse matrix from {type(given).__name__}", "give a matrix of scipy.sparse")
    given = given.tocsr()
    if not given.has_canonical_format:
        given = given.copy()
        given.sum_duplicates()
    return given


def from_scipy(job, given, name="unnamed", team=None):
    """Makes a matrix from one of scipy.sparse, which all ranks have. Each rank takes its own rows."""
    given = _compressed(given)
    members = job if team is None else team
    first, last = (given.shape[0] * each // members.size for each in (members.rank, members.rank + 1))
    return from_rows(job, given[first:last], name, team)


def from_rows(job, own, name="unnamed", team=None):
    """Makes a matrix of rows that each rank gives as one of scipy.sparse, in the order of the ranks."""
    own = _compressed(own)
    return SparseMatrix(_core._sparse_from_rows(job, team, own.shape[1], own.indptr, own.indices, own.data,
                                                name))


def from_entries(job, shape, rows, columns, values, name="unnamed", team=None):
    """Makes a matrix of entries that any rank gives, in any order; entries at one position are added."""
    return SparseMatrix(_core._sparse_from_entries(job, team, *shape, np.atleast_1d(rows),
                                                   np.atleast_1d(columns), np.atleast_1d(values), name))


def from_dense(array, threshold=0.0, name="unnamed"):
    """Makes a matrix of the elements of a distributed array whose absolute value exceeds a threshold."""
    return SparseMatrix(_core._sparse_from_dense(array, threshold, name))


def matrix(job, given, name="unnamed"):
    """Makes a matrix from a distributed array, or from one of scipy.sparse that all ranks have."""
    return from_dense(given, name=name) if isinstance(given, Array) else from_scipy(job, given, name)


class SparseMatrix:
    """A distributed sparse matrix. The pattern of its entries never changes; their values may."""

    __array_ufunc__ = None  # so that NumPy's operators leave products to this class
    ndim = 2

    def __init__(self, core):
        self._core = core
        self._plans = {}

    shape = property(lambda self: self._core.shape)
    nnz = property(lambda self: self._core.nnz, doc="The number of entries on all ranks.")
    dtype = property(lambda self: self._core.dtype)
    name = property(lambda self: self._core.name)
    job = property(lambda self: self._core.job)

    def __repr__(self):
        return f"<sparse matrix '{self.name}' ({self.dtype}, {full(self.shape)}, {self.nnz} entries)>"

    # Vectors and plans

    def row_vector(self, name="unnamed"):
        """A vector of zeros with an element for each row, on the rank of that row."""
        return _core._sparse_vector(self._core, False, name)

    def column_vector(self, name="unnamed"):
        """A vector of zeros with an element for each column; for square matrices as row_vector()."""
        return _core._sparse_vector(self._core, True, name)

    def _plan(self, x, y):
        """The plan for vectors of these distributions; it is made once (collective)."""
        key = (_core._distribution_key(x), _core._distribution_key(y))
        if key not in self._plans:
            self._plans[key] = _core._sparse_plan(self._core, x, y)
        return self._plans[key]

    def dot(self, other, out=None):
        """A x, A B with a dense B, or A S with a sparse S. A NumPy operand is the same on all ranks.

        For a NumPy vector the result is a NumPy vector, on all ranks.
        """
        if isinstance(other, SparseMatrix):
            return SparseMatrix(_core._sparse_multiply(self._core, other._core, "product"))
        if isinstance(other, Transposed):
            other = other.copy()
        if not isinstance(other, Array):
            return self._times_numpy(np.asarray(other))
        if other.ndim not in (1, 2) or other.shape[0] != self.shape[1]:
            raise _core.InvalidArgument(
                f"{self!r} @ array '{other.name}' of {full(other.shape)}: the inner extents differ")
        other = other if other.dtype == self.dtype else convert(other, self.dtype)
        if other.ndim == 2:
            out = _core._beside(other, [self.shape[0], other.shape[1]], self.dtype, "product") \
                if out is None else out
            _core._sparse_multiply_dense(self._core, other, out, False)
            return out
        out = self.row_vector("product") if out is None else out
        _core._sparse_multiply_vector(self._plan(other, out), self._core, other, out, False)
        return out

    def _times_numpy(self, other):
        if other.ndim not in (1, 2) or other.shape[0] != self.shape[1]:
            raise _core.InvalidArgument(f"{self!r} @ {full(other.shape)}: the inner extents differ")
        like = self.column_vector()
        dense = spread(like, other, self.dtype)
        if other.ndim == 1:
            dense = _core._copy(dense, like, False) or like
        return self.dot(dense)[...]

    def __matmul__(self, other):
        return self.dot(other)

    def __rmatmul__(self, other):
        return self._multiply_from_right(other)

    def _multiply_from_right(self, other):
        """other @ self."""
        if isinstance(other, Transposed):
            other = other.copy()
        if not isinstance(other, Array):
            other = spread(self.row_vector(), other, self.dtype)
            return self._multiply_from_right(other)[...]
        if other.shape[-1] != self.shape[0]:
            raise _core.InvalidArgument(
                f"array '{other.name}' of {full(other.shape)} @ {self!r}: the inner extents differ")
        other = other if other.dtype == self.dtype else convert(other, self.dtype)
        if other.ndim == 1:
            return self.transposed_dot(other)
        out = _core._beside(other, [other.shape[0], self.shape[1]], self.dtype, "product")
        _core._sparse_multiply_dense(self._core, other, out, True)
        return out

    def transposed_dot(self, y, out=None):
        """A.T y, without making A.T. Its last digits may differ from call to call."""
        out = self.column_vector("product") if out is None else out
        _core._sparse_multiply_vector(self._plan(out, y), self._core, out, y, True)
        return out

    # Copies and conversions

    @property
    def T(self):  # noqa: N802 (NumPy's name)
        """The transpose, as a matrix of its own."""
        return SparseMatrix(_core._sparse_transpose(self._core, f"{self.name}.T"))

    def copy(self, name=None):
        """A copy of the values, with the same pattern."""
        return SparseMatrix(_core._sparse_duplicate(self._core, name or self.name))

    def rows(self, first=0, last=None, columns=None):
        """One-sided. Rows as a matrix of scipy.sparse; any rank may ask for any rows."""
        import scipy.sparse
        last = self.shape[0] if last is None else last
        low, high = columns or (0, self.shape[1])
        data = _core._sparse_get(self._core, first, last, low, high)
        return scipy.sparse.csr_matrix(data, shape=(last - first, high - low))

    def to_scipy(self):
        """One-sided. All of it as a matrix of scipy.sparse, on each rank that asks."""
        return self.rows()

    def own_rows(self):
        """Local. The number of this rank's first row, and its rows as a matrix of scipy.sparse."""
        first, count = _core._sparse_own_rows(self._core)
        return first, self.rows(first, first + count)

    def to_dense(self, name=None):
        """A distributed array with zeros where the matrix has no entries."""
        dense = _core._beside(self.row_vector(), list(self.shape), self.dtype, name or self.name)
        _core._sparse_with_array(self._core, dense, "to_dense")
        return dense

    def diagonal(self):
        """The diagonal as a vector."""
        count = min(self.shape)
        vector = self.row_vector("diagonal")
        if count != self.shape[0]:
            vector = _core._beside(vector, [count], self.dtype, "diagonal")
        _core._sparse_with_array(self._core, vector, "diagonal")
        return vector

    # In place

    def scale(self, factor):
        """Multiplies all values. Returns the matrix."""
        _core._sparse_with_number(self._core, factor, "scale")
        return self

    def shift_diagonal(self, value):
        """A[i, i] += value; all of these must be entries. Returns the matrix."""
        _core._sparse_with_number(self._core, value, "shift")
        return self

    def scale_rows(self, factors):
        """A[i, j] *= factors[i]. Returns the matrix."""
        _core._sparse_with_array(self._core, factors, "scale_rows")
        return self

    def scale_columns(self, factors):
        """A[i, j] *= factors[j]. Returns the matrix."""
        _core._sparse_with_array(self._core, factors, "scale_columns")
        return self

    def free(self):
        """Frees the memory now, instead of when all ranks have dropped the matrix."""
        self._plans.clear()
        self._core.free()


class Solution:
    """What a solver returns: x, the number of iterations, |b - A x| / |b|, and whether that is small."""

    def __init__(self, x, iterations, residual, has_converged):
        self.x, self.iterations = x, iterations
        self.residual, self.has_converged = residual, has_converged

    def __repr__(self):
        end = "converged" if self.has_converged else "did not converge"
        return f"<{end} after {self.iterations} iterations, residual {self.residual:.3g}>"


class _System:
    """A x = b with an optional preconditioner by the diagonal."""

    def __init__(self, a, b, x0, jacobi):
        self.a = a
        self.b = copy_to(a.row_vector("b"), b)
        self.x = copy_to(a.row_vector("x"), x0) if x0 is not None else a.row_vector("x")
        self.scales = compute(np.divide, [1, a.diagonal()]) if jacobi else None
        if jacobi and not np.isfinite(norm(self.scales)):
            raise _core.InvalidArgument(f"{a!r} has a zero on its diagonal\n  hint: jacobi=False")
        self.norm_of_b = norm(self.b)

    def precondition(self, r, out):
        if self.scales is None:
            _core._copy(r, out, False)
        else:
            compute(np.multiply, [r, self.scales], out=out)
        return out

    def residual(self):
        """b - A x."""
        r = self.a.dot(self.x)
        return add_scaled(1, self.b, -1, r, r)

    def relative(self, residual):
        """A residual's part of |b|; the residual itself if b is 0."""
        return residual / self.norm_of_b if self.norm_of_b else residual

    def solution(self, iterations, tolerance):
        relative = self.relative(norm(self.residual()))
        return Solution(self.x, iterations, relative, bool(relative <= 1.5 * tolerance))


def copy_to(result, values):
    """Copies a distributed or NumPy vector to another one."""
    source = values if isinstance(values, Array) else spread(result, values, result.dtype)
    if source.shape != result.shape:
        raise _core.InvalidArgument(f"a vector of {full(source.shape)}, not {full(result.shape)}")
    source = source if source.dtype == result.dtype else convert(source, result.dtype)
    _core._copy(source, result, False)
    return result


def cg(a, b, x0=None, tolerance=1e-8, max_iterations=None, jacobi=False, callback=None):
    """Conjugate gradients for a symmetric or Hermitian positive definite matrix. Returns a Solution.

    tolerance is of |b - A x| / |b|; jacobi=True preconditions by the diagonal; callback(iteration,
    residual) is called after each step.
    """
    system = _System(a, b, x0, jacobi)
    r = system.residual()
    z, p, ap = (copy(r) for _ in range(3))
    system.precondition(r, z)
    _core._copy(z, p, False)
    rz = vdot(r, z)
    enough = tolerance * system.norm_of_b
    steps = 0
    limit = max_iterations if max_iterations is not None else 10 * a.shape[0]
    while norm(r) > enough and steps < limit:
        a.dot(p, out=ap)
        curvature = vdot(p, ap)
        if not abs(curvature) > 0:
            break
        alpha = rz / curvature
        add_scaled(1, system.x, alpha, p, system.x)
        add_scaled(1, r, -alpha, ap, r)
        system.precondition(r, z)
        before, rz = rz, vdot(r, z)
        add_scaled(1, z, rz / before, p, p)
        steps += 1
        if callback is not None:
            callback(steps, system.relative(norm(r)))
    return system.solution(steps, tolerance)


def bicgstab(a, b, x0=None, tolerance=1e-8, max_iterations=None, jacobi=False, callback=None):
    """Stabilised biconjugate gradients for any square matrix. Arguments and result as of cg()."""
    system = _System(a, b, x0, jacobi)
    r = system.residual()
    shadow, p, p_hat, s_hat, v, t = (copy(r) for _ in range(6))
    rho = vdot(shadow, r)
    enough = tolerance * system.norm_of_b
    steps = 0
    limit = max_iterations if max_iterations is not None else 10 * a.shape[0]
    while norm(r) > enough and steps < limit:
        a.dot(system.precondition(p, p_hat), out=v)
        divisor = vdot(shadow, v)
        if not abs(divisor) > 0:
            break
        alpha = rho / divisor
        add_scaled(1, r, -alpha, v, r)
        add_scaled(1, system.x, alpha, p_hat, system.x)
        steps += 1
        a.dot(system.precondition(r, s_hat), out=t)
        tt = vdot(t, t)
        if not abs(tt) > 0:
            break
        omega = vdot(t, r) / tt
        add_scaled(1, system.x, omega, s_hat, system.x)
        add_scaled(1, r, -omega, t, r)
        before, rho = rho, vdot(shadow, r)
        if callback is not None:
            callback(steps, system.relative(norm(r)))
        if not abs(rho * omega) > 0:
            break
        beta = rho / before * (alpha / omega)
        add_scaled(1, p, -omega, v, p)
        add_scaled(1, r, beta, p, p)
    return system.solution(steps, tolerance)
