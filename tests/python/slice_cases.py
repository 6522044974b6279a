# SPDX-License-Identifier: BSD-3-Clause
"""A[key] and A[key] = x, compared with the same operations on a NumPy array."""

import numpy as np

import tessera
from checks import DTYPES, Case, numbers

SHAPES = ((37,), (13, 11), (7, 6, 5), (4, 3, 5, 2))


def random_slice(generator, extent):
    """A slice as programs write them: bounds may be left out, negative, or outside."""
    def bound():
        return generator.choice([None, int(generator.integers(-extent - 3, extent + 4))])
    step = generator.choice([None, 1, 2, 3, 7])
    return slice(bound(), bound(), step)


def random_key(generator, shape):
    """A key of slices, integers and maybe an ellipsis."""
    key = []
    for extent in shape:
        kind = generator.integers(0, 4)
        if kind == 0:
            key.append(int(generator.integers(-extent, extent)))
        elif kind == 1:
            key.append(np.int32(generator.integers(0, extent)))
        else:
            key.append(random_slice(generator, extent))
    cut = int(generator.integers(0, len(shape) + 1))
    if generator.integers(0, 3) == 0:
        key[cut:cut + int(generator.integers(0, 2))] = [...]
    elif generator.integers(0, 3) == 0:
        key = key[:max(cut, 1)]
    if len(key) == 1 and generator.integers(0, 2) == 0:
        return key[0]
    return tuple(key)


class Slices(Case):
    def test_gets_equal_numpys(self):
        generator = np.random.default_rng(1)
        for number, shape in enumerate(SHAPES):
            mirror = numbers(shape, DTYPES[number * 3 % len(DTYPES)], seed=number)
            with self.job.from_numpy(mirror, name=f"S{number}") as array:
                for _ in range(60):
                    key = random_key(generator, shape)
                    self.assertEqualArrays(array[key], mirror[key], f"{shape} {key}")
                    entries = key if isinstance(key, tuple) else (key,)
                    if not any(entry is Ellipsis for entry in entries):  # NumPy then returns arrays of no dimension
                        self.assertEqual(type(array[key]), type(mirror[key]), f"{shape} {key}")
                array.sync()

    def test_puts_equal_numpys(self):
        generator = np.random.default_rng(2)
        for number, shape in enumerate(SHAPES):
            mirror = np.zeros(shape)
            with self.job.zeros(shape, name=f"P{number}", ghosts=1) as array:
                for turn in range(40):
                    key = random_key(generator, shape)
                    value = numbers(mirror[key].shape, seed=turn)
                    mirror[key] = value
                    if turn % self.job.size == self.job.rank:
                        array[key] = value
                    array.sync()
                self.assertHolds(array, mirror)

    def test_values_are_broadcast(self):
        mirror = np.zeros((6, 4, 5), dtype="i4")
        values = (3, [1, 2, 3, 4, 5], numbers((4, 1), "i4"), numbers((6, 1, 1), "i4"),
                  numbers((1, 1, 1, 5), "i4"), np.int32(7), np.array(9, dtype="i4"), True)
        with self.job.zeros(mirror.shape, "i4") as array:
            for turn, value in enumerate(values):
                mirror[...] = value
                mirror[1:3, ::2, 4] = np.asarray(value).reshape(-1)[0]
                if turn % self.job.size == self.job.rank:
                    array[...] = value
                    array[1:3, ::2, 4] = np.asarray(value).reshape(-1)[0]
                self.assertHolds(array, mirror, str(value))

    def test_sources_may_have_any_strides(self):
        base = numbers((12, 20), "f8")
        sources = (base[::2, ::3], base[::-1, :7][:6], base.T[:6, :7], base[:, 1:8][::2],
                   np.asfortranarray(base[:6, :7]), np.broadcast_to(base[0, :7], (6, 7)),
                   base.astype(">f8")[:6, :7], base[:6, :7].astype("f4"), base[:6, :7].astype("i8"))
        packed = np.zeros(6, dtype=[("a", "u1"), ("b", "f8", (7,))])
        packed["b"] = base[:6, :7]
        for number, source in enumerate((*sources, packed["b"])):
            with self.job.zeros((6, 7), name=f"V{number}") as array:
                if self.job.rank == 0:
                    array[...] = source
                self.assertHolds(array, source.astype("f8"), str(number))

    def test_gets_fill_out(self):
        mirror = numbers((9, 8), "f8")
        with self.job.from_numpy(mirror) as array:
            base = np.full((20, 20), -1.0)
            for out in (np.empty((9, 8)), base[1:10, 2:10], base[::2, ::2][:9, :8], base[::-1, :8][:9],
                        np.empty((8, 9)).T):
                self.assertIs(array.get(out=out), out)
                self.assertEqualArrays(out, mirror)
            out = np.empty((3, 4))
            array.get((slice(0, 9, 3), slice(1, 8, 2)), out=out)
            self.assertEqualArrays(out, mirror[0:9:3, 1:8:2])
            number = np.empty(())
            array.get((3, 4), out=number)
            self.assertEqual(number[()], mirror[3, 4])
            array.sync()

    def test_all_dtypes(self):
        for dtype in DTYPES:
            mirror = numbers((5, 9), dtype)
            with self.job.zeros((5, 9), dtype) as array:
                self.assertEqual(array.dtype, np.dtype(dtype))
                if self.job.rank == self.job.size - 1:
                    array[...] = mirror
                self.assertHolds(array, mirror, dtype)
                array.acc((slice(0, 2), slice(None)), mirror[:2], 2)
                expected = mirror.copy()
                expected[:2] += (2 * self.job.size * mirror[:2]).astype(dtype)
                self.assertHolds(array, expected, dtype)

    def test_dtypes_without_arithmetic(self):
        record = np.dtype([("x", "f8"), ("n", "i4")])
        for dtype, value in (("?", np.arange(12).reshape(3, 4) % 3 == 0),
                             ("S5", np.array([["a", "bcd"], ["efghi", ""]], dtype="S5")),
                             (record, np.array([(1.5, 2), (2.5, 3)], dtype=record)),
                             ("M8[s]", np.array(["2026-11-30", "1970-01-01"], dtype="M8[s]"))):
            with self.job.zeros(value.shape, dtype) as array:
                if self.job.rank == 0:
                    array[...] = value
                self.assertHolds(array, value)
                with self.assertRefused(tessera.WrongType, "cannot be computed with"):
                    array.acc(..., value)

    def test_accumulates_of_all_ranks_add_up(self):
        with self.job.zeros((8, 6)) as array:
            for _ in range(5):
                array.acc((slice(1, 7), slice(None, None, 2)), np.ones((6, 3)), 0.5)
                array.acc(..., 1.0)
            expected = np.full((8, 6), 5.0 * self.job.size)
            expected[1:7, ::2] += 2.5 * self.job.size
            self.assertHolds(array, expected)

    def test_empty_selections(self):
        with self.job.zeros((4, 0, 3)) as array:
            self.assertEqual(array[...].shape, (4, 0, 3))
            array[...] = 1
            self.assertEqual(array.size, 0)
            array.sync()
        with self.job.zeros((4, 3)) as array:
            self.assertEqual(array[3:1].shape, (0, 3))
            array[2:2] = 5
            self.assertHolds(array, np.zeros((4, 3)))

    def test_rows_can_be_iterated(self):
        mirror = numbers((3, 2))
        with self.job.from_numpy(mirror) as array:
            self.assertEqual(len(array), 3)
            with self.assertRaisesRegex(TypeError, "is distributed"):
                np.asarray(array)
            self.assertEqualArrays(np.stack(list(array)), mirror)
            with self.assertRefused(tessera.InvalidArgument, "is neither true nor false"):
                bool(array)
            array.sync()


class Handles(Case):
    def test_transfers_complete_at_wait(self):
        mirror = numbers((6, 6))
        with self.job.zeros((6, 6)) as array:
            if self.job.rank == 0:
                handles = [array.put_async(row, mirror[row]) for row in range(6)]
                self.assertEqual(tessera.wait_all(handles), [None] * 6)
                self.assertTrue(all(handle.done() for handle in handles))
            array.sync()
            handle = array.get_async((slice(1, 5), slice(None, None, 2)))
            self.assertEqualArrays(handle.wait(), mirror[1:5, ::2])
            self.assertEqualArrays(handle.wait(), mirror[1:5, ::2])
            out = np.empty((6, 6))
            self.assertIs(array.get_async(out=out).wait(), out)
            self.assertEqualArrays(out, mirror)
            array.sync()
            tessera.wait_all([array.acc_async(..., mirror, 2) for _ in range(3)])
            self.assertHolds(array, mirror * (1 + 6 * self.job.size))

    def test_handles_keep_memory(self):
        with self.job.zeros((1000,)) as array:
            handle = array.put_async(..., np.full(1000, 3.0))  # only the handle has the source
            del handle
            array.get_async()
            self.assertHolds(array, np.full(1000, 3.0))
