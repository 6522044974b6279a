# SPDX-License-Identifier: BSD-3-Clause
"""Adds the operations on whole arrays to tessera.Array, and NumPy's functions that take them."""

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from . import _core, _matrices, _reductions
from ._elementwise import compute, convert, full, refuse
from ._matrices import Transposed

Array = _core.Array

# Reductions by a ufunc: np.add.reduce(A) is A.sum().
_REDUCTIONS = {np.add: _reductions.sum, np.multiply: _reductions.prod, np.maximum: _reductions.max,
               np.minimum: _reductions.min, np.logical_and: _reductions.all,
               np.logical_or: _reductions.any}


def _array_ufunc(self, ufunc, method, *inputs, out=None, **options):
    inputs = [each.copy() if isinstance(each, Transposed) and ufunc is not np.matmul
              else np.asarray(each) if isinstance(each, (list, tuple)) else each for each in inputs]
    for each in inputs:
        if not isinstance(each, (Array, Transposed, np.ndarray, np.generic, int, float, complex)):
            return NotImplemented
    if out is not None:
        out = out[0]
    if ufunc is np.matmul and method == "__call__":
        return _matrices.multiply(*inputs, out=out, **options)
    if method == "__call__":
        return compute(ufunc, inputs, out, **options)
    if method == "reduce" and ufunc in _REDUCTIONS:
        return _REDUCTIONS[ufunc](inputs[0], options.pop("axis", 0), out=out, **options)
    return refuse(f"numpy.{ufunc.__name__}.{method} does not take distributed arrays",
                  "use it on A.local, or on A[...]")


def _array_function(self, function, types, arguments, options):
    handler = _FUNCTIONS.get(function)
    if handler is None:
        name = f"{function.__module__}.{function.__name__}".replace(".core.", ".")
        refuse(f"{name} does not take distributed arrays",
               "A[...] is a NumPy array of all elements, on each rank that asks; A.local has this rank's")
    return handler(*arguments, **options)


def _array(self, dtype=None):
    refuse(f"array '{self.name}' ({full(self.shape)}) is distributed: NumPy would copy all of it",
           "A[...] is a NumPy array of all elements, on each rank that asks; A.local has this rank's")


def copy(array, order="K", name=None):
    """Collective. A new array with the same elements, distribution and type."""
    result = _core._like(array, array.dtype, name or array.name)
    return copyto(result, array)


def copyto(to, given, casting="same_kind", where=True):
    """Collective. Copies between arrays of any distributions, or from a NumPy array or a number.

    A NumPy array must be the same on all ranks. From one distributed array to another it
    redistributes. Returns `to`.
    """
    if where is not True or not isinstance(to, Array):
        refuse("copyto to a NumPy array, or with where=", "use A[...], or A.local")
    if isinstance(given, Transposed):
        given = given.copy()
    if isinstance(given, Array) and given.dtype == to.dtype and given.shape == to.shape:
        if to.dtype.kind in "iufc":
            _core._copy(given, to, False)
            return to
    try:
        return compute(np.positive, [given], out=to, casting=casting)
    except TypeError:  # bool and opaque elements have no arithmetic, not even a sign
        if not isinstance(given, Array) or given.dtype != to.dtype or given.shape != to.shape:
            raise

    def body(lo, hi, views):
        views[0][...] = views[1]

    _core._transform("copy", [to, given], str(to.dtype), body)
    return to


def reshape_into(given, to):
    """Collective. Copies elements in row-major order to an array of another shape. Returns `to`."""
    _core._copy(given, to, True)
    return to


def fill(array, value):
    """Collective. Sets all elements. Returns the array."""
    if array.dtype.kind in "iufc" and not isinstance(value, np.ndarray):
        _core._fill(array, array.dtype.type(value).item())
        return array

    def body(lo, hi, views):
        views[0][...] = value

    _core._transform("fill", [array], repr(value), body)
    return array


def fill_random(array, seed=0, low=0.0, high=1.0):
    """Collective. Random elements in [low, high); the same on any number of ranks. Returns the array."""
    _core._fill_random(array, seed, low, high)
    return array


def add_scaled(alpha, a, beta, b, out):
    """Collective. out = alpha a + beta b in one pass; `out` may be a or b. Returns `out`."""
    _core._add_scaled(alpha, a, beta, b, out)
    return out


def _made_like(start):
    def make(array, dtype=None, order="K", subok=True, shape=None, name=None):
        if shape is None or tuple(np.atleast_1d(shape)) == array.shape:
            result = _core._like(array, dtype or array.dtype, name or array.name)
        else:
            result = _core._beside(array, [int(each) for each in np.atleast_1d(shape)],
                                   dtype or array.dtype, name or array.name)
        return result if start is None else fill(result, start)
    return make


def _full_like(array, value, dtype=None, order="K", subok=True, shape=None, name=None):
    return fill(_made_like(None)(array, dtype, order, subok, shape, name), value)


def _clip(array, low=None, high=None, out=None, **options):
    result = array if low is None else compute(np.maximum, [array, low], out=out, **options)
    return result if high is None else compute(np.minimum, [result, high], out=out, **options)


def _dot(a, b, out=None):
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return compute(np.multiply, [a, b], out=out)
    return _matrices.multiply(a, b, out=out)


def _array_equal(a, b, equal_nan=False):
    if equal_nan:
        refuse("array_equal of distributed arrays takes no equal_nan", "compare the arrays without their NaNs")
    if np.shape(a) != np.shape(b):
        return False
    differs = compute(np.not_equal, [a, b])
    return not _reductions.any(differs)


def _allclose(a, b, rtol=1e-5, atol=1e-8, equal_nan=False):
    # |a - b| <= atol + rtol |b|, where equal infinities are close.
    close = compute(np.less_equal, [abs(a - b), atol + rtol * abs(b)])
    return bool(_reductions.all(compute(np.logical_or, [close, compute(np.equal, [a, b])])))


def _einsum(letters, *operands, out=None):
    from . import linalg
    return linalg.einsum(letters, *operands, out=out)


def scan_add(given, mask=None, out=None, exclusive=False):
    """Collective. Running sums of a vector; where the integer mask is not zero they begin again."""
    out = copy(given) if out is None else out
    if mask is None:
        mask = _made_like(0)(given, dtype=np.int32)
    _core._scan_add(given, mask, out, exclusive)
    return out


def scan_copy(given, mask, out=None):
    """Collective. Repeats the elements at which the integer mask is not zero up to the next of them."""
    out = copy(given) if out is None else out
    _core._scan_copy(given, mask, out)
    return out


def pack(given, mask, out):
    """Collective. Copies the elements with a mask that is not zero to the beginning of `out`.

    Returns their number.
    """
    return _core._pack(given, mask, out, False)


def unpack(given, mask, out):
    """Collective. The reverse of pack(): spreads elements to where the mask is not zero."""
    return _core._pack(given, mask, out, True)


def enumerate(array, start=0, step=1):  # noqa: A001 (the library's name)
    """Collective. Sets the elements of a vector to start, start + step, … Returns the array."""
    _core._enumerate(array, array.dtype.type(start).item(), array.dtype.type(step).item())
    return array


def _cumsum(array, axis=None, dtype=None, out=None):
    if array.ndim != 1:
        refuse("cumsum of an array of several dimensions is not available", "use A.local, or A[...]")
    if dtype is not None and np.dtype(dtype) != array.dtype:
        array = convert(array, dtype)
    return scan_add(array, out=out)


def _linalg(name):
    def call(*arguments, **options):
        from . import linalg
        return getattr(linalg, name)(*arguments, **options)
    return call


def _redistribute(array, like, name=None):
    """Collective. A new array with these elements and the distribution of another one."""
    return copyto(_core._like(like, array.dtype, name or array.name), array)


def _times(a, b):
    return _matrices.multiply(a, b)


_FUNCTIONS = {
    np.sum: _reductions.sum, np.mean: _reductions.mean, np.var: _reductions.var,
    np.std: _reductions.std, np.prod: _reductions.prod, np.all: _reductions.all,
    np.any: _reductions.any, np.amax: _reductions.max, np.amin: _reductions.min,
    np.max: _reductions.max, np.min: _reductions.min,  # from NumPy 1.25 on other functions than amax, amin
    np.argmax: _reductions.argmax, np.argmin: _reductions.argmin,
    np.count_nonzero: _reductions.count_nonzero, np.vdot: _reductions.vdot,
    np.inner: lambda a, b: _reductions.inner(a, b) if np.ndim(a) == 1 else _dot(a, b.T),
    np.dot: _dot, np.einsum: _einsum, np.trace: _linalg("trace"), np.diag: _linalg("diag"),
    np.diagonal: _linalg("diag"), np.transpose: _matrices.transpose, np.cumsum: _cumsum,
    np.copyto: lambda *arguments, **options: [copyto(*arguments, **options), None][1],
    np.copy: lambda array, order="K", subok=False: copy(array),
    np.zeros_like: _made_like(None), np.empty_like: _made_like(None), np.ones_like: _made_like(1),
    np.full_like: _full_like, np.clip: _clip, np.array_equal: _array_equal, np.allclose: _allclose,
    np.shape: lambda array: array.shape, np.ndim: lambda array: array.ndim,
    np.size: lambda array, axis=None: array.size if axis is None else array.shape[axis],
    np.iscomplexobj: lambda array: array.dtype.kind == "c",
    np.isrealobj: lambda array: array.dtype.kind != "c",
    np.result_type: lambda *given: np.result_type(*(getattr(each, "dtype", each) for each in given)),
    np.linalg.norm: _reductions.norm, np.linalg.solve: _linalg("solve"), np.linalg.inv: _linalg("inv"),
    np.linalg.eigh: _linalg("eigh"), np.linalg.eigvalsh: _linalg("eigvalsh"),
    np.linalg.svd: _linalg("svd"), np.linalg.det: _linalg("det"), np.linalg.slogdet: _linalg("slogdet"),
    np.linalg.cholesky: lambda a: _linalg("cholesky")(a).L,
}

_METHODS = {
    "__array_ufunc__": _array_ufunc, "__array_function__": _array_function, "__array__": _array,
    "T": property(_matrices.transpose, doc="The transpose: of a matrix a view that products take as a "
                  "flag, of a vector itself, of more dimensions a copy."),
    "H": property(lambda self: transpose_conjugated(self), doc="The conjugate transpose of a matrix."),
    "transpose": lambda self, *axes: _matrices.transpose(
        self, None if not axes else axes[0] if np.ndim(axes[0]) else axes),
    "copy": copy, "astype": lambda self, dtype, name=None: convert(self, dtype, name),
    "fill": fill, "fill_random": fill_random, "redistribute": _redistribute, "clip": _clip,
    "sum": _reductions.sum, "mean": _reductions.mean, "var": _reductions.var, "std": _reductions.std,
    "prod": _reductions.prod, "all": _reductions.all, "any": _reductions.any, "max": _reductions.max,
    "min": _reductions.min, "argmax": _reductions.argmax, "argmin": _reductions.argmin,
    "dot": _dot, "inner": _reductions.inner, "vdot": _reductions.vdot, "norm": _reductions.norm, "trace": _linalg("trace"),
    "diagonal": _linalg("diag"), "conj": lambda self: compute(np.conjugate, [self]),
    "real": property(lambda self: _part(self, "real"), doc="Collective. A copy of the real parts."),
    "imag": property(lambda self: _part(self, "imag"), doc="Collective. A copy of the imaginary parts."),
}


# help() of those above that are not functions of their own.
_TEXTS = {
    "transpose": "Collective unless A is a matrix. A.T, or a copy with the dimensions in another order.",
    "astype": "Collective. A new array with these elements in another dtype and the same distribution.",
    "clip": "Collective. A new array with elements below `low` or above `high` replaced by these.",
    "dot": "Collective. The product of matrices and vectors, as numpy.dot.",
    "trace": "Collective. The sum of a matrix's diagonal.",
    "diagonal": "Collective. The diagonal of a matrix, as tessera.linalg.diag.",
    "conj": "Collective. A new array with the complex conjugates.",
}


def transpose_conjugated(array):
    """A.H, a view of a matrix that products take as a flag."""
    if array.ndim != 2:
        refuse(f"array '{array.name}' has {array.ndim} dimensions, and A.H is for matrices", "use A.conj()")
    return Transposed(array, True)


def _part(array, which):
    if array.dtype.kind != "c":
        return copy(array) if which == "real" else _made_like(0)(array)
    result = _core._like(array, np.zeros(0, array.dtype).real.dtype, array.name)

    def body(lo, hi, views):
        views[0][...] = getattr(views[1], which)

    _core._transform(which, [result, array], which, body)
    return result


def install():
    """Adds the methods and operators to the class."""
    for name, method in vars(NDArrayOperatorsMixin).items():
        if name.startswith("__") and callable(method) and name not in vars(object):
            setattr(Array, name, method)
    for name in ("__lt__", "__le__", "__eq__", "__ne__", "__gt__", "__ge__"):
        setattr(Array, name, vars(NDArrayOperatorsMixin)[name])
    Array.__hash__ = None
    Array.__matmul__ = _times
    Array.__rmatmul__ = lambda self, other: _matrices.multiply(other, self)
    Array.__imatmul__ = lambda self, other: refuse("A @= B", "use numpy.matmul(A, B, out=C)")
    for name, method in _METHODS.items():
        if name in _TEXTS:
            method.__doc__ = _TEXTS[name]
        setattr(Array, name, method)
