# SPDX-License-Identifier: BSD-3-Clause
"""Operations on whole arrays; NumPy computes what is expected."""
import operator
import numpy as np
import tessera
from checks import Case, job

rng = np.random.default_rng(7)  # the same on all ranks
TYPES = ("i1", "i4", "i8", "u1", "u8", "f4", "f8", "c8", "c16")


def numbers(shape, dtype):
    if np.dtype(dtype).kind in "iu":
        return rng.integers(1, 9, shape).astype(dtype)
    values = rng.standard_normal(shape)
    return (values + 1j * rng.standard_normal(shape)).astype(dtype) \
        if np.dtype(dtype).kind == "c" else values.astype(dtype)


def distributed(values, **options):
    return job().from_numpy(values, **options)


def layouts(values):
    """The same elements in different distributions."""
    yield distributed(values)
    yield distributed(values, grid=(1,) * (values.ndim - 1) + (0,))
    yield distributed(values, distribution=tessera.Distribution.block_cyclic(
        values.shape, (2,) * values.ndim, job().size))
    if values.ndim == 2:
        yield distributed(values, ghosts=1, order="F")


class Elementwise(Case):
    def check(self, result, expected):
        self.assertIsInstance(result, tessera.Array)
        self.assertEqual(result.dtype, expected.dtype)
        np.testing.assert_array_equal(result[...], expected)
        job().barrier()

    def test_binary_operators_of_all_types(self):
        for dtype in TYPES:
            x, y = numbers((7, 9), dtype), numbers((7, 9), dtype)
            a, b = distributed(x), distributed(y)
            for op in (operator.add, operator.sub, operator.mul, operator.truediv):
                self.check(op(a, b), op(x, y))
                self.check(op(a, 2), op(x, 2))
                self.check(op(3, a), op(3, x))

    def test_all_pairs_of_distributions(self):
        x, y = numbers((11, 6), "f8"), numbers((11, 6), "f8")
        for a in layouts(x):
            for b in layouts(y):
                self.check(a * b - a, x * y - x)
                self.assertEqual((a * b).distribution, a.distribution)

    def test_functions(self):
        x = np.abs(numbers((5, 8, 3), "f8")) + 0.5
        a = distributed(x)
        for f in (np.sqrt, np.exp, np.log, np.sin, np.negative, np.abs, np.floor, np.isfinite, np.square):
            self.check(f(a), f(x))
        self.check(abs(-a), x)
        self.check(a ** 2.5, x ** 2.5)
        self.check(np.maximum(a, 1.0), np.maximum(x, 1.0))
        self.check(np.minimum(a, 2 * a - 1), np.minimum(x, 2 * x - 1))
        self.check(np.hypot(a, 1.0), np.hypot(x, 1.0))
        self.check(np.clip(a, 0.7, 1.1), np.clip(x, 0.7, 1.1))
        self.check(a % 0.3, x % 0.3)

    def test_types_follow_numpy(self):
        i, f = numbers(13, "i4"), numbers(13, "f4")
        a, b = distributed(i), distributed(f)
        self.check(a + b, i + f)
        self.check(b * 2.5, f * 2.5)
        self.check(a + 2.5, i + 2.5)
        self.check(b + np.float64(1), f + np.float64(1))
        self.check(a / 2, i / 2)
        self.check(b.astype("i2"), f.astype("i2"))
        c = numbers(5, "c8")
        self.check(distributed(c).real, c.real)
        self.check(distributed(c).imag, c.imag)
        self.check(distributed(f).imag, np.zeros_like(f))

    def test_comparisons_are_arrays_of_bool(self):
        x, y = numbers((6, 7), "f8"), numbers((6, 7), "f8")
        a, b = distributed(x), distributed(y)
        for op in (operator.lt, operator.le, operator.eq, operator.ne, operator.gt, operator.ge):
            self.check(op(a, b), op(x, y))
            self.check(op(a, 0), op(x, 0))
        self.assertEqual((a > 0).sum(), (x > 0).sum())
        self.check((a > 0) & (b > 0), (x > 0) & (y > 0))

    def test_in_place_and_out(self):
        x = numbers((9, 9), "f8")
        a = distributed(x, ghosts=2)
        same = a
        a += 1
        a *= a
        a /= 3.0
        self.assertIs(a, same)
        self.check(a, (x + 1) * (x + 1) / 3.0)
        b = a.like("B")
        self.assertIs(np.add(a, 1, out=b), b)
        self.check(b, a[...] + 1)
        with self.assertRaisesRegex(TypeError, "Cannot cast ufunc 'add' output"):
            i = distributed(numbers((9, 9), "i4"))
            i += 0.5

    def test_broadcasting(self):
        x, row, column = numbers((8, 5), "f8"), numbers(5, "f8"), numbers((8, 1), "f8")
        a = distributed(x)
        self.check(a * distributed(row), x * row)
        self.check(distributed(row) - a, row - x)
        self.check(a + row, x + row)  # NumPy arrays broadcast in any way
        self.check(a + column, x + column)
        self.check(column + a + x, column + x + x)
        with self.assertRaisesRegex(tessera.InvalidArgument, "is 8 x 1, and the result 8 x 5"):
            a + distributed(column)
        with self.assertRaisesRegex(tessera.InvalidArgument, "operands of 8 x 5, 4 do not fit together"):
            a + np.ones(4)

    def test_what_is_refused(self):
        a = distributed(numbers((4, 4), "f8"))
        for call, text in (
                (lambda: np.asarray(a), "NumPy would copy all of it"),
                (lambda: np.sort(a), r"numpy\.sort does not take distributed arrays\n  hint: A\[\.\.\.\]"),
                (lambda: np.modf(a), "has several results"),
                (lambda: np.add.outer(a, a), r"numpy\.add\.outer does not take"),
                (lambda: np.add(a, 1, where=np.ones((4, 4), bool)), "where="),
                (lambda: np.add(a, 1, out=np.zeros((4, 4))), "the result of distributed arrays is"),
                (lambda: a.max(axis=0), "max over one axis"),
                (lambda: np.array_equal(a, a, equal_nan=True), "takes no equal_nan"),
                (lambda: np.bitwise_or(a, 1), "ufunc 'bitwise_or' not supported")):
            with self.assertRaisesRegex(TypeError, text):
                call()
            self.assertIsInstance(np.sqrt(a * a), tessera.Array)  # ranks are still in step

    def test_an_error_on_one_rank_reaches_all(self):
        a = distributed(np.arange(12.0))
        with self.assertRaises((FloatingPointError, tessera.InvalidArgument)):
            with np.errstate(divide="raise"):
                1 / a  # only the first element is zero
        self.assertEqual(a.sum(), 66)

    def test_different_calls_are_found(self):
        if job().size == 1:
            self.skipTest("one rank cannot differ")
        a = distributed(np.ones(8))
        with self.assertRaisesRegex(tessera.InvalidArgument, "add"):
            np.add(a, job().rank)
        self.assertEqual(a.sum(), 8)

    def test_freed_array(self):
        a = distributed(np.ones(8))
        a.free()
        with self.assertRaisesRegex(tessera.Closed, "was freed"):
            a + 1
        with self.assertRaisesRegex(tessera.Closed, "was freed"):
            a.sum()


class Reductions(Case):
    def test_sums_of_all_types(self):
        for dtype in TYPES + ("?",):
            x = numbers((12, 17), "i4").astype(dtype) if dtype == "?" else numbers((12, 17), dtype)
            for a in layouts(x):
                got = a.sum()
                self.assertEqual(got.dtype, x.sum().dtype)
                np.testing.assert_allclose(got, x.sum(), rtol=1e-5 if dtype in ("f4", "c8") else 1e-13)

    def test_as_numpy_functions(self):
        x = numbers((9, 10), "f8")
        a = distributed(x)
        for f in (np.sum, np.mean, np.std, np.var, np.min, np.max, np.argmin, np.argmax, np.all, np.any,
                  np.count_nonzero, np.linalg.norm, np.trace):
            np.testing.assert_allclose(f(a), f(x), rtol=1e-13)
        np.testing.assert_allclose(np.prod(distributed(x[:2])), np.prod(x[:2]), rtol=1e-13)
        self.assertEqual(np.prod(distributed(np.arange(1, 60))), np.prod(np.arange(1, 60)))
        np.testing.assert_allclose(np.linalg.norm(a, 1), np.linalg.norm(x, 1), rtol=1e-13)
        np.testing.assert_allclose(np.linalg.norm(a, np.inf), np.linalg.norm(x, np.inf), rtol=1e-13)
        self.assertEqual(np.add.reduce(distributed(x[0])), distributed(x[0]).sum())
        self.assertEqual((np.shape(a), np.ndim(a), np.size(a)), ((9, 10), 2, 90))

    def test_along_axes(self):
        x = numbers((6, 7, 4), "f8")
        a = distributed(x)
        for axis in (0, 1, 2, -1, (0, 2)):
            np.testing.assert_allclose(a.sum(axis=axis)[...], x.sum(axis=axis), rtol=1e-12)
            np.testing.assert_allclose(a.mean(axis=axis)[...], x.mean(axis=axis), rtol=1e-12)
        np.testing.assert_allclose(a.sum(axis=(0, 1, 2)), x.sum(), rtol=1e-12)
        with self.assertRaises(np.AxisError):
            a.sum(axis=3)
        with self.assertRaisesRegex(tessera.InvalidArgument, "over \\(1, -2\\): an axis is named twice"):
            a.sum(axis=(1, -2))
        job().barrier()

    def test_reproducible_sums(self):
        x = numbers(1000, "f8") * 10.0 ** rng.integers(-12, 12, 1000)
        import math
        for a in layouts(x):
            self.assertEqual(a.sum(reproducible=True), math.fsum(x))

    def test_products_of_vectors(self):
        for dtype in ("f8", "c16", "i8"):
            x, y = numbers(50, dtype), numbers(50, dtype)
            a, b = distributed(x), distributed(y)
            np.testing.assert_allclose(np.dot(a, b), np.dot(x, y), rtol=1e-12)
            np.testing.assert_allclose(np.vdot(a, b), np.vdot(x, y), rtol=1e-12)
            np.testing.assert_allclose(a @ b, x @ y, rtol=1e-12)
        with self.assertRaisesRegex(TypeError, "vdot of a distributed array and ndarray"):
            np.vdot(a, y)

    def test_extremes(self):
        x = np.array([[3, 9, 1], [9, 1, 3]], dtype="i4")
        a = distributed(x)
        self.assertEqual((a.argmax(), a.argmin(), a.max(), a.min()), (1, 2, 9, 1))
        self.assertEqual((bool((a > 0).min()), bool((a > 8).max())), (True, True))
        with self.assertRaisesRegex(TypeError, "complex numbers have no order"):
            distributed(numbers(4, "c16")).max()


class Copies(Case):
    def test_like_and_fill(self):
        a = distributed(numbers((5, 5), "f4"))
        for made, value in ((np.zeros_like(a), 0), (np.ones_like(a), 1), (np.full_like(a, 2.5), 2.5)):
            self.assertEqual((made.dtype, made.distribution), (a.dtype, a.distribution))
            np.testing.assert_array_equal(made[...], np.full((5, 5), value, "f4"))
        self.assertEqual(np.zeros_like(a, dtype=int).dtype, np.dtype(int))
        self.assertEqual(np.zeros_like(a, shape=(3, 2)).shape, (3, 2))
        b = a.copy()
        b.fill(0)
        self.assertEqual((b.sum(), a.copy().sum() == a.sum()), (0, True))

    def test_copyto_redistributes(self):
        x = numbers((12, 10), "c16")
        for a in layouts(x):
            for b in layouts(np.zeros_like(x)):
                self.assertIs(tessera.copyto(b, a), b)
                np.testing.assert_array_equal(b[...], x)
                job().barrier()
        c = a.redistribute(like=distributed(x, grid=(1, 0)))
        np.testing.assert_array_equal(c[...], x)
        mask = distributed(x.real > 0)
        np.testing.assert_array_equal(tessera.copyto(np.zeros_like(mask), mask)[...], x.real > 0)
        f = distributed(np.zeros((12, 10)))
        np.copyto(f, x.real)
        np.testing.assert_array_equal(f[...], x.real)
        np.copyto(f, np.arange(10.0))
        np.testing.assert_array_equal(f[...], np.broadcast_to(np.arange(10.0), (12, 10)))
        with self.assertRaisesRegex(TypeError, "Cannot cast"):
            np.copyto(f, a)

    def test_reshape_into(self):
        x = numbers((6, 4), "f8")
        b = tessera.reshape_into(distributed(x), job().zeros((3, 8)))
        np.testing.assert_array_equal(b[...], x.reshape(3, 8))

    def test_random_elements_depend_on_the_seed_only(self):
        a = job().zeros((40, 30)).fill_random(11, low=-1, high=1)
        b = job().zeros((40, 30), distribution=tessera.Distribution.block_cyclic(
            (40, 30), (3, 4), job().size)).fill_random(11, low=-1, high=1)
        self.assertTrue(np.array_equal(a, b))
        self.assertTrue(-1 <= a.min() < -0.9 and 0.9 < a.max() < 1)
        self.assertFalse(np.array_equal(a, b.fill_random(12, low=-1, high=1)))

    def test_comparisons_of_whole_arrays(self):
        x = numbers((5, 6), "f8")
        a = distributed(x)
        self.assertTrue(np.allclose(a, a + 1e-12))
        self.assertTrue(np.allclose(a, x))
        self.assertFalse(np.allclose(a, a + 1e-3))
        self.assertFalse(np.array_equal(a, distributed(x[:4])))


class Scans(Case):
    def test_sums(self):
        x = numbers(37, "f8")
        for a in layouts(x):
            np.testing.assert_allclose(np.cumsum(a)[...], np.cumsum(x), rtol=1e-12, atol=1e-12)
        exclusive = tessera.scan_add(a, exclusive=True)[...]
        np.testing.assert_allclose(exclusive, np.cumsum(x) - x, rtol=1e-12, atol=1e-12)

    def test_segments(self):
        mask = distributed(np.array([1, 0, 0, 1, 0, 1, 0], "i4"))
        a = distributed(np.array([5, 8, 7, 3, 2, 6, 9], "i8"))
        np.testing.assert_array_equal(tessera.scan_copy(a, mask)[...], [5, 5, 5, 3, 3, 6, 6])
        np.testing.assert_array_equal(tessera.scan_add(a, mask)[...], [5, 13, 20, 3, 5, 6, 15])
        out = job().zeros(5, dtype="i8")
        self.assertEqual(tessera.pack(a, mask, out), 3)
        np.testing.assert_array_equal(out[...], [5, 3, 6, 0, 0])
        back = np.zeros_like(a)
        self.assertEqual(tessera.unpack(out, mask, back), 3)
        np.testing.assert_array_equal(back[...], [5, 0, 0, 3, 0, 6, 0])
        job().barrier()
        np.testing.assert_array_equal(tessera.enumerate(out, 3, 2)[...], [3, 5, 7, 9, 11])
