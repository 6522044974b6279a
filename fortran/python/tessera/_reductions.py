# SPDX-License-Identifier: BSD-3-Clause
"""Sums, extremes and norms of whole arrays. All are collective and return the same on all ranks."""

import builtins

import numpy as np

try:
    from numpy.lib.array_utils import normalize_axis_index  # NumPy 2
except ImportError:
    from numpy.core.numeric import normalize_axis_index

from . import _core
from ._elementwise import compute, refuse

Array = _core.Array


def _whole(name, array, axis=None, keepdims=False, out=None, **others):
    """Refuses arguments of a reduction over some of the dimensions."""
    if axis is not None and not (array.ndim == 1 and axis in (0, -1)):
        refuse(f"{name} over one axis of a distributed array is not available",
               f"A.{name}() reduces all elements; A.sum(axis=…) and A.mean(axis=…) exist; or use A.local")
    if keepdims or out is not None or builtins.any(value is not None and value is not np._NoValue
                                                   for value in others.values()):
        refuse(f"{name} of a distributed array takes no keepdims, out, where or initial",
               f"use A.{name}()")


def _fold(name, array, local, combine, start, reduction):
    """Collective. Combines local(elements) of all chunks of all ranks."""
    values = [start]

    def body(lo, hi, views):
        values[0] = reduction[1](values[0], local(views[0]))

    _core._visit(name, [array], name, body)
    return combine(array, values[0], reduction[0])


_SUM = ("sum", lambda a, b: a + b)
_PRODUCT = ("product", lambda a, b: a * b)
_AND = ("logical_and", lambda a, b: int(bool(a) and bool(b)))
_OR = ("logical_or", lambda a, b: int(bool(a) or bool(b)))


def _wide(dtype):
    """The type in which NumPy adds up elements of a type."""
    if dtype.kind == "u":
        return np.dtype(np.uint64)
    return np.dtype(np.int64) if dtype.kind in "bi" else dtype


def _combiner(dtype):
    return {"i": _core._combine_int, "u": _core._combine_unsigned, "f": _core._combine_float,
            "c": _core._combine_complex}[dtype.kind]


def _check_numbers(name, array):
    if array.dtype.kind not in "biufc":
        refuse(f"{name} of array '{array.name}': elements of dtype {array.dtype} are not numbers",
               "use A.local")


def sum(array, axis=None, dtype=None, out=None, keepdims=False, reproducible=False, **others):
    """Collective. The sum of all elements, or along an axis as a new array.

    With reproducible=True the exact sum is rounded once: the same digits on any number of ranks.
    """
    _check_numbers("sum", array)
    if axis is not None and array.ndim > 1:
        return _sum_along(array, axis, dtype, out, keepdims, reproducible, others)
    _whole("sum", array, axis, keepdims, out, **others)
    wide = np.dtype(dtype) if dtype is not None else _wide(array.dtype)
    if wide == array.dtype:
        return wide.type(_core._sum(array, bool(reproducible)))
    total = _fold("sum", array, lambda part: part.sum(dtype=wide).item(), _combiner(wide),
                  wide.type(0).item(), _SUM)
    return wide.type(total)


def _sum_along(array, axis, dtype, out, keepdims, reproducible, others):
    wanted = axis if isinstance(axis, tuple) else (axis,)
    axes = {normalize_axis_index(each, array.ndim) for each in wanted}
    if len(axes) < len(wanted):
        raise _core.InvalidArgument(f"sum of array '{array.name}' over {axis}: an axis is named twice")
    if len(axes) == array.ndim:
        return sum(array, None, dtype, out, keepdims, reproducible, **others)
    _whole("sum", array, None, keepdims, out, **others)
    if reproducible:
        refuse("sum over an axis is not available with reproducible=True",
               "A.sum(reproducible=True) adds all elements")
    kept = [dim for dim in range(array.ndim) if dim not in axes]
    wide = np.dtype(dtype) if dtype is not None else _wide(array.dtype)
    result = _core._beside(array, [array.shape[dim] for dim in kept], wide, "sum")

    def body(lo, hi, views):
        part = views[0].sum(axis=tuple(axes), dtype=wide)
        result.acc(tuple(slice(lo[dim], hi[dim]) for dim in kept), part)

    _core._visit("sum", [array], f"sum over axes {sorted(axes)}", body)
    result.sync()
    return result


def mean(array, axis=None, dtype=None, out=None, keepdims=False, reproducible=False, **others):
    """Collective. The mean of all elements, or along an axis as a new array."""
    wide = np.dtype(dtype or (array.dtype if array.dtype.kind in "fc" else np.float64))
    total = sum(array, axis, wide if wide != array.dtype else None, out, keepdims, reproducible, **others)
    if isinstance(total, Array):
        return compute(np.divide, (total, array.size // builtins.max(total.size, 1)), out=total)
    return wide.type(total / array.size) if array.size else wide.type(np.nan)


def var(array, axis=None, dtype=None, out=None, ddof=0, keepdims=False, **others):
    """Collective. The variance of all elements."""
    _check_numbers("var", array)
    _whole("var", array, axis, keepdims, out, dtype=dtype, **others)
    middle = mean(array)
    total = _fold("var", array, lambda part: float((np.abs(part - middle) ** 2).sum(dtype=np.float64)),
                  _core._combine_float, 0.0, _SUM)
    return np.float64(total / (array.size - ddof)) if array.size > ddof else np.float64(np.nan)


def std(array, *arguments, **options):
    """Collective. The standard deviation of all elements."""
    return np.sqrt(var(array, *arguments, **options))


def prod(array, axis=None, dtype=None, out=None, keepdims=False, **others):
    """Collective. The product of all elements."""
    _check_numbers("prod", array)
    _whole("prod", array, axis, keepdims, out, **others)
    wide = np.dtype(dtype) if dtype is not None else _wide(array.dtype)

    def multiply(a, b):
        with np.errstate(over="ignore"):  # integers wrap, as in NumPy
            return wide.type(a) * wide.type(b)

    return wide.type(_fold("prod", array, lambda part: part.prod(dtype=wide), _combiner(wide),
                           wide.type(1), ("product", multiply)))


def all(array, axis=None, out=None, keepdims=False, **others):  # noqa: A001 (NumPy's name)
    """Collective. Whether no element is zero."""
    _whole("all", array, axis, keepdims, out, **others)
    return np.bool_(_fold("all", array, lambda part: int(part.all()), _core._combine_int, 1, _AND))


def any(array, axis=None, out=None, keepdims=False, **others):  # noqa: A001
    """Collective. Whether an element is not zero."""
    _whole("any", array, axis, keepdims, out, **others)
    return np.bool_(_fold("any", array, lambda part: int(part.any()), _core._combine_int, 0, _OR))


def count_nonzero(array, axis=None, keepdims=False):
    """Collective. The number of elements that are not zero."""
    _whole("count_nonzero", array, axis, keepdims)
    return _fold("count_nonzero", array, lambda part: int(np.count_nonzero(part)), _core._combine_int, 0,
                 _SUM)


def _select(name, array, largest, axis, keepdims, out, others):
    _whole(name, array, axis, keepdims, out, **others)
    if array.dtype.kind == "c":
        refuse(f"{name} of array '{array.name}': complex numbers have no order", "use abs(A)")
    return _core._select(array, largest)


def max(array, axis=None, out=None, keepdims=False, **others):
    """Collective. The largest element. NaNs are ignored unless all elements are NaN."""
    if array.dtype.kind == "b":
        return any(array, axis, out, keepdims, **others)
    return array.dtype.type(_select("max", array, True, axis, keepdims, out, others)[0])


def min(array, axis=None, out=None, keepdims=False, **others):
    """Collective. The smallest element. NaNs are ignored unless all elements are NaN."""
    if array.dtype.kind == "b":
        return all(array, axis, out, keepdims, **others)
    return array.dtype.type(_select("min", array, False, axis, keepdims, out, others)[0])


def argmax(array, axis=None, out=None, keepdims=False):
    """Collective. The position of the largest element in row-major order, the first of equal ones."""
    at = _select("argmax", array, True, axis, keepdims, out, {})[1]
    return np.intp(np.ravel_multi_index(at, array.shape))


def argmin(array, axis=None, out=None, keepdims=False):
    """Collective. The position of the smallest element in row-major order, the first of equal ones."""
    at = _select("argmin", array, False, axis, keepdims, out, {})[1]
    return np.intp(np.ravel_multi_index(at, array.shape))


def vdot(a, b, reproducible=False):
    """Collective. The sum of conj(a) b over all elements of two arrays of one shape."""
    a, b = _same_type("vdot", a, b)
    return a.dtype.type(_core._dot(a, b, True, bool(reproducible)))


def inner(a, b, reproducible=False):
    """Collective. The sum of a b over all elements of two arrays of one shape."""
    a, b = _same_type("dot", a, b)
    return a.dtype.type(_core._dot(a, b, False, bool(reproducible)))


def _same_type(name, a, b):
    for each in (a, b):
        if not isinstance(each, Array):
            refuse(f"{name} of a distributed array and {type(each).__name__}",
                   "both must be distributed arrays")
    dtype = np.result_type(a.dtype, b.dtype)
    return tuple(each if each.dtype == dtype else each.astype(dtype) for each in (a, b))


def norm(array, ord=None, axis=None, keepdims=False, reproducible=False):
    """Collective. The 2-norm of a vector or the Frobenius norm; ord is None, 'fro', 1 or inf.

    ord=2 is for vectors only; of a matrix that is linalg.svdvals(A)[0].
    """
    _whole("norm", array, axis, keepdims)
    if array.dtype.kind in "biu":
        array = array.astype(np.float64)
    kinds = {None: "two", "fro": "two", 1: "one", np.inf: "infinity"}
    if ord == 2 and array.ndim == 1:
        ord = None
    if ord not in kinds or (ord == "fro" and array.ndim != 2):
        refuse(f"norm of order {ord!r} of {array.ndim} dimensions is not available",
               "None, 'fro', 1 or numpy.inf; for the 2-norm of a matrix tessera.linalg.svdvals(A)[0]")
    return np.float64(_core._norm(array, kinds[ord], bool(reproducible)))
