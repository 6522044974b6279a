# SPDX-License-Identifier: BSD-3-Clause
"""Products of matrices, and transposes that copy nothing."""

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from . import _core
from ._elementwise import convert, full, refuse, spread

Array = _core.Array


class Transposed(NDArrayOperatorsMixin):
    """The transpose of a matrix, A.T, or its conjugate, A.H.

    Nothing is copied: products pass it on as a flag. copy() makes an array of it, and so does
    arithmetic with other arrays.
    """

    def __init__(self, base, is_conjugated=False):
        self.base = base
        self.is_conjugated = is_conjugated and base.dtype.kind == "c"

    ndim = 2
    dtype = property(lambda self: self.base.dtype)
    shape = property(lambda self: self.base.shape[::-1])
    size = property(lambda self: self.base.size)
    name = property(lambda self: f"{self.base.name}.{'H' if self.is_conjugated else 'T'}")

    @property
    def T(self):  # noqa: N802 (NumPy's name)
        return self.base if not self.is_conjugated else np.conjugate(self.base)

    @property
    def H(self):  # noqa: N802
        return self.base if self.is_conjugated or self.dtype.kind != "c" else np.conjugate(self.base)

    def conj(self):
        """The same transpose, conjugated; nothing is copied."""
        return Transposed(self.base, not self.is_conjugated)

    conjugate = conj

    def copy(self, name=None):
        """Collective. The transpose as an array of its own."""
        result = _core._beside(self.base, list(self.shape), self.dtype, name or self.name)
        _core._permute(self.base, result, [1, 0])
        return np.conjugate(result, out=result) if self.is_conjugated else result

    def __getitem__(self, key):
        """One-sided. Elements as a NumPy array, as from a matrix."""
        if key is Ellipsis or key == slice(None):
            key = (slice(None), slice(None))
        if not isinstance(key, tuple) or len(key) != 2 or Ellipsis in key:
            refuse(f"{self.name}[…] takes two indices or slices", "for example A.T[0:10, :]")
        part = np.transpose(self.base[key[1], key[0]])
        return part.conj() if self.is_conjugated else part

    def __matmul__(self, other):
        return multiply(self, other)

    def __rmatmul__(self, other):
        return multiply(other, self)

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        copies = [each.copy() if isinstance(each, Transposed) else each for each in inputs]
        if ufunc is np.matmul and method == "__call__":
            return multiply(*inputs, **options)
        return getattr(ufunc, method)(*copies, **options)

    def __array__(self, dtype=None):
        refuse(f"{self.name} is distributed: NumPy would copy all of it", "use A[...].T")

    def __repr__(self):
        return f"<transpose of {self.base!r}>"


def transpose(array, axes=None):
    """A.T: lazily for a matrix, itself for a vector; for more dimensions a copy (collective)."""
    if isinstance(array, Transposed):
        return array.T if axes is None or tuple(axes) == (1, 0) else array
    order = tuple(range(array.ndim))[::-1] if axes is None else tuple(axes)
    if sorted(order) != list(range(array.ndim)):
        raise _core.InvalidArgument(f"transpose: axes {order} of an array of {array.ndim} dimensions")
    if order == tuple(range(array.ndim)):
        return array
    if array.ndim == 2:
        return Transposed(array)
    result = _core._beside(array, [array.shape[dim] for dim in order], array.dtype, array.name)
    _core._permute(array, result, list(order))
    return result


def as_column(vector):
    """Collective. A vector as a matrix of one column, which is a copy."""
    column = _core._beside(vector, [vector.shape[0], 1], vector.dtype, vector.name)
    _core._copy(vector, column, True)
    return column


def as_vector(column, name):
    """Collective. A matrix of one column or one row as a vector."""
    vector = _core._beside(column, [column.size], column.dtype, name)
    _core._copy(column, vector, True)
    return vector


def _operand(given, like, dtype):
    """A factor as an array of a type, and the operation that is applied to it."""
    base, op = given, "none"
    if isinstance(given, Transposed):
        base, op = given.base, "conjugate_transpose" if given.is_conjugated else "transpose"
    elif not isinstance(given, Array):
        base = spread(like, given, dtype)
    if base.dtype != dtype:
        base = convert(base, dtype)
    return base, op


def multiply(a, b, out=None, **options):
    """Collective. a @ b: matrices, their transposes, vectors; one of them may be a NumPy array."""
    if isinstance(out, tuple):
        out = out[0]
    if options:
        refuse(f"matmul of distributed arrays does not take {', '.join(options)}", "use A @ B")
    # Another class may know how to multiply: sparse matrices do.
    if hasattr(b, "_multiply_from_right"):
        return b._multiply_from_right(a)
    like = next(each for each in (a, b, out) if isinstance(each, (Array, Transposed)))
    like = like.base if isinstance(like, Transposed) else like
    a, b = (each if isinstance(each, (Array, Transposed)) else np.asarray(each) for each in (a, b))
    for each in (a, b):
        if each.ndim not in (1, 2):
            refuse(f"@ of an array of {each.ndim} dimensions", "numpy.einsum contracts any two arrays")
    if a.shape[-1] != b.shape[0]:
        raise _core.InvalidArgument(f"@: {full(a.shape)} times {full(b.shape)}: the inner extents differ")
    dtype = np.result_type(a.dtype, b.dtype)
    if dtype.kind not in "fc" or dtype.itemsize > 16:
        dtype = np.dtype(np.float64)
    if a.ndim == 1 and b.ndim == 1:
        from ._reductions import inner
        return inner(*(_operand(each, like, dtype)[0] for each in (a, b)))
    (left, left_op), (right, right_op) = (_operand(each, like, dtype) for each in (a, b))
    if a.ndim == 1:  # a row
        left, left_op = as_column(left), "transpose"
    if b.ndim == 1:
        right = as_column(right)
    shape = [1 if a.ndim == 1 else a.shape[0], 1 if b.ndim == 1 else b.shape[1]]
    is_vector = a.ndim == 1 or b.ndim == 1
    result = out if out is not None and not is_vector else _core._beside(like, shape, dtype, "product")
    _core._gemm(1, left, left_op, right, right_op, 0, result)
    if not is_vector:
        return result
    if out is None:
        return as_vector(result, "product")
    _core._copy(result, out, True)
    return out
