# SPDX-License-Identifier: BSD-3-Clause
"""NumPy's universal functions on whole arrays.

Each rank computes its own elements of the result, in place. Elements of operands with other
distributions are fetched in chunks meanwhile. Operands are distributed arrays, numbers, and NumPy
arrays that are the same on all ranks. Shapes broadcast as in NumPy, but of distributed arrays only a
vector does, along the last dimension.
"""

import numpy as np

from . import _core

Array = _core.Array


def full(shape):
    """"10 x 20", as errors write shapes."""
    return " x ".join(str(extent) for extent in shape) or "one number"


def refuse(what, instead):
    raise _core.WrongType(f"{what}\n  hint: {instead}")


class _Operands:
    """The inputs of one call: which are distributed, and how the result is made."""

    def __init__(self, name, inputs, out):
        self.name = name
        self.inputs = inputs
        arrays = [each for each in inputs if isinstance(each, Array)] + ([] if out is None else [out])
        try:
            shape = np.broadcast_shapes(*(each.shape if isinstance(each, Array) else np.shape(each)
                                          for each in (inputs if out is None else [*inputs, out])))
        except ValueError:
            shapes = ", ".join(full(getattr(each, "shape", ())) for each in inputs)
            raise _core.InvalidArgument(f"{name}: operands of {shapes} do not fit together") from None
        leaders = [each for each in arrays if each.shape == shape]
        for each in arrays:
            if each.shape != shape and (each is out or each.ndim != 1
                                        or each.shape[0] != shape[-1] or not leaders):
                raise _core.InvalidArgument(
                    f"{name}: array '{each.name}' is {full(each.shape)}, and the result {full(shape)}\n"
                    "  hint: a distributed operand has the result's shape, or is a vector along its last "
                    "dimension")
        self.leader = leaders[0] if out is None else out
        self.shape = shape

    def samples(self):
        """Empty inputs of the same types: NumPy's rules for types are asked with them."""
        return [np.empty(0, each.dtype) if isinstance(each, (Array, np.ndarray)) and each.ndim else each
                for each in self.inputs]

    def given(self):
        """What must be the same on all ranks."""
        return repr([each.dtype if isinstance(each, (Array, np.ndarray)) else each
                     for each in self.inputs])

    def compute(self, result, function):
        """Collective. result = function(*inputs, out=…), element by element."""
        distributed = [result]
        for each in self.inputs:
            if isinstance(each, Array) and not any(each is known for known in distributed):
                distributed.append(each)
        sources = []
        for each in self.inputs:
            if isinstance(each, Array):
                place = next(i for i, known in enumerate(distributed) if known is each)
                sources.append(lambda box, views, place=place: views[place])
            elif np.ndim(each) == 0:
                sources.append(lambda box, views, value=each: value)
            else:
                spread = np.broadcast_to(each, self.shape)
                sources.append(lambda box, views, spread=spread: spread[box])

        def body(lo, hi, views):
            box = tuple(map(slice, lo, hi))
            function(*(source(box, views) for source in sources), out=views[0])

        _core._transform(self.name, distributed, self.given(), body)
        return result


def compute(ufunc, inputs, out=None, where=True, **options):
    """Collective. The result of a ufunc, in a new array or in `out`."""
    name = ufunc.__name__
    if ufunc.nout != 1 or ufunc.signature is not None:
        refuse(f"numpy.{name} has several results or works on whole rows, so it does not take "
               "distributed arrays", "use it on A.local, or on A[...]")
    if where is not True:
        refuse(f"numpy.{name} with where= does not take distributed arrays",
               "multiply by a mask, or use it on A.local")
    if out is not None and not isinstance(out, Array):
        refuse(f"numpy.{name}: the result of distributed arrays is distributed, and out= is "
               f"{type(out).__name__}", "omit out=, and get what you need from the result")
    operands = _Operands(name, inputs, out)
    sample = np.empty(0, out.dtype) if out is not None else None
    try:
        result_type = ufunc(*operands.samples(), out=sample, **options).dtype
    except TypeError as error:
        raise _core.WrongType(f"numpy.{name}: {error}") from None
    result = out if out is not None else _core._like(operands.leader, result_type, name)
    return operands.compute(result, lambda *parts, out: ufunc(*parts, out=out, **options))


def convert(array, dtype, name=None):
    """Collective. A new array with the same elements, converted as by numpy.astype()."""
    result = _core._like(array, dtype, name or array.name)

    def body(lo, hi, views):
        np.copyto(views[0], views[1], casting="unsafe")

    _core._transform("astype", [result, array], str(result.dtype), body)
    return result


def spread(like, values, dtype=None, name="unnamed"):
    """Collective. A new array of the values of a NumPy array, which is the same on all ranks."""
    values = np.asarray(values)
    result = _core._beside(like, list(values.shape), dtype or values.dtype, name)

    def body(lo, hi, views):
        np.copyto(views[0], values[tuple(map(slice, lo, hi))], casting="unsafe")

    _core._transform("put", [result], full(values.shape), body)
    return result
