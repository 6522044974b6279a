# SPDX-License-Identifier: BSD-3-Clause
"""Bad input, by the text of the exception; what exceptions are."""

import inspect

import numpy as np

import tessera
from checks import Case


class Refusals(Case):
    def test_keys(self):
        with self.job.zeros((10, 20), name="K") as array:
            for key, kind, texts in (
                    (10, tessera.OutOfRange, ("index 10 of dimension 0, which has 0 to 9",)),
                    ((0, -21), tessera.OutOfRange, ("index -21 of dimension 1, which has 0 to 19",)),
                    ((0, 0, 0), tessera.OutOfRange, ("3 indices for 2 dimensions",)),
                    ((..., ...), tessera.OutOfRange, ("'...' only once",)),
                    (slice(None, None, -1), tessera.InvalidArgument, ("step -1 in dimension 0", "[::-1]")),
                    ((0, None), tessera.WrongType, ("numpy.newaxis",)),
                    ((None, 0, 0), tessera.WrongType, ("numpy.newaxis",)),
                    ("a", tessera.WrongType, ("'a' is not an index",)),
                    (1.5, tessera.WrongType, ("1.5 is not an index",)),
                    (True, tessera.WrongType, ("True is not an index",))):
                for use in (lambda k=key: array[k], lambda k=key: array.put(k, 1.0),
                            lambda k=key: array.acc(k, 1.0), lambda k=key: array.get_async(k)):
                    with self.assertRefused(kind, "array 'K' (float64, 10 x 20)", *texts):
                        use()
            with self.assertRefused(tessera.WrongType, "'K'", "slice(1.5, 2, None) is not an index"):
                array[1.5:2]  # noqa: B018
            with self.assertRefused(tessera.InvalidArgument, "'K'", "step 0 in dimension 0"):
                array[::0]  # noqa: B018
            with self.assertRefused(tessera.OutOfRange, f"index {2**70} of dimension 0, which has 0 to 9"):
                array[2**70]  # noqa: B018
            with self.assertRefused(tessera.WrongType, "cannot be deleted"):
                del array[0]
            array.sync()

    def test_values(self):
        with self.job.zeros((3, 4), "i4", name="V") as array:
            for value, kind, texts in (
                    (0.5, tessera.WrongType, ("float64 values would be changed", "x.astype('int32')")),
                    (1j, tessera.WrongType, ("complex128 values",)),
                    (np.zeros((3, 4)), tessera.WrongType, ("float64 values",)),
                    ("text", tessera.WrongType, ("values would be changed",)),
                    (object(), tessera.WrongType, ("object values",)),
                    (2**31, tessera.InvalidArgument, ("2147483648 is outside -2147483648 to 2147483647",)),
                    ([1, 2, 3], tessera.InvalidArgument, ("values of shape (3,) do not fit", "shape (3, 4)")),
                    (np.zeros((2, 3, 4), "i4"), tessera.InvalidArgument, ("values of shape (2, 3, 4)",))):
                with self.assertRefused(kind, "put to array 'V' (int32, 3 x 4)", *texts):
                    array[...] = value
            with self.assertRefused(tessera.WrongType, "the factor of an accumulate to", "'V'"):
                array.acc(..., 1, scale=0.5)
            with self.assertRefused(tessera.InvalidArgument, "one number is needed"):
                array.acc(..., 1, scale=[1, 2])
            self.assertHolds(array, np.zeros((3, 4), "i4"))
        with self.job.zeros(3, "u2") as array:
            with self.assertRefused(tessera.InvalidArgument, "-1 is outside 0 to 65535"):
                array[0] = -1
            with self.assertRefused(tessera.InvalidArgument, "70000 is outside"):
                array[...] = [1, 2, 70000]
            array[...] = [1, 2, 65535]
            self.assertHolds(array, np.array([1, 2, 65535], "u2"))

    def test_out(self):
        with self.job.zeros((3, 4), name="O") as array:
            fixed = np.zeros((3, 4))
            fixed.flags.writeable = False
            for out, kind, text in (([0.0], tessera.WrongType, "out is not a NumPy array"),
                                    (np.zeros((3, 4), "f4"), tessera.WrongType, "out has dtype float32"),
                                    (np.zeros((4, 3)), tessera.InvalidArgument, "out has shape (4, 3) instead of (3, 4)"),
                                    (fixed, tessera.InvalidArgument, "out is read-only"),
                                    (np.broadcast_to(np.zeros(4), (3, 4)), tessera.InvalidArgument, "read-only")):
                with self.assertRefused(kind, text):
                    array.get(out=out)
            overlapping = np.lib.stride_tricks.as_strided(np.zeros(8), (3, 4), (8, 8))
            with self.assertRefused(tessera.InvalidArgument, "'O'"):
                array.get(out=overlapping)
            array.sync()

    def test_freed_objects(self):
        array = self.job.zeros((3, 3), "i4", name="D", ghosts=1)
        array.free()
        array.free()
        for use in (lambda: array[0, 0], lambda: array.put(0, 1), lambda: array.acc(0, 1), array.sync, array.fence,
                    lambda: array.halo.update(), lambda: array.gather([[0, 0]]), lambda: array.fetch_add((0, 0)),
                    lambda: array.owner(0, 0), lambda: array.like(), lambda: array.get_async()):
            with self.assertRefused(tessera.Closed, "'D'", "was freed"):
                use()
        self.assertEqual(array.shape, (3, 3))

    def test_objects_cannot_be_made_empty(self):
        for kind in (tessera.Array, tessera.Team, tessera.Handle, tessera.Counter, tessera.Distribution):
            with self.assertRaises(TypeError):
                kind()
            with self.assertRaises(TypeError):
                kind.__new__(kind)[0]


class Exceptions(Case):
    def test_classes(self):
        for name, also in (("InvalidArgument", ValueError), ("OutOfRange", IndexError), ("WrongType", TypeError),
                           ("WrongType", ValueError), ("Closed", RuntimeError), ("OutOfMemory", MemoryError),
                           ("Unsupported", NotImplementedError), ("PeerLost", ConnectionError),
                           ("Unreachable", ConnectionError), ("TimedOut", TimeoutError),
                           ("LimitExceeded", RuntimeError), ("ProtocolError", RuntimeError),
                           ("InternalError", RuntimeError)):
            kind = getattr(tessera, name)
            self.assertTrue(issubclass(kind, tessera.Error) and issubclass(kind, also), name)
            self.assertEqual(kind.__module__, "tessera")
            self.assertTrue(kind.__doc__)

    def test_attributes(self):
        with self.assertRaises(tessera.OutOfRange) as caught:
            self.job.node_of(-1)
        self.assertEqual(caught.exception.code, "out_of_range")
        self.assertIsNone(caught.exception.rank)

    def test_everything_has_help(self):
        for name in tessera.__all__:
            thing = getattr(tessera, name)
            self.assertTrue(inspect.getdoc(thing), name)
            if isinstance(thing, type) and not issubclass(thing, Exception):
                for member, value in vars(thing).items():
                    if not member.startswith("_") and callable(value):
                        self.assertTrue(inspect.getdoc(value), f"{name}.{member}")
