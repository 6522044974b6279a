# SPDX-License-Identifier: BSD-3-Clause
"""Linear algebra of distributed matrices; NumPy computes what is expected."""
import numpy as np
import tessera
from checks import Case, job
from tessera import linalg

rng = np.random.default_rng(3)  # the same on all ranks
TYPES = ("f4", "f8", "c8", "c16")


def numbers(shape, dtype="f8"):
    values = rng.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        values = values + 1j * rng.standard_normal(shape)
    return values.astype(dtype)


def precision(dtype):
    return 2e-4 if np.dtype(dtype).itemsize <= 8 and np.dtype(dtype) != np.float64 else 1e-10


def close(got, expected):
    got = got[...] if isinstance(got, tessera.Array) else got
    expected = np.asarray(expected)
    scale = np.abs(expected).max() if expected.size else 1
    np.testing.assert_allclose(got, expected, rtol=0, atol=precision(expected.dtype) * (scale + 1))
    job().barrier()


class Products(Case):
    def test_all_types_and_transposes(self):
        for dtype in TYPES:
            x, y = numbers((13, 8), dtype), numbers((8, 11), dtype)
            a, b, at, bt = (job().from_numpy(each) for each in (x, y, x.T.copy(), y.conj().T.copy()))
            for left in (a, at.T):
                for right in (b, bt.H):
                    product = left @ right
                    self.assertEqual((product.shape, product.dtype), ((13, 11), np.dtype(dtype)))
                    close(product, x @ y)

    def test_transposes_copy_nothing(self):
        x = numbers((6, 9), "c16")
        a = job().from_numpy(x, name="A")
        self.assertIs(a.T.base, a)
        self.assertIs(a.T.T, a)
        self.assertIs(a.H.H, a)
        self.assertEqual((a.T.shape, a.T.dtype, a.T.ndim), ((9, 6), a.dtype, 2))
        close(a.T.copy(), x.T)
        close(a.H.copy(), x.conj().T)
        np.testing.assert_array_equal(a.H[2:5, 1], x.conj().T[2:5, 1])
        np.testing.assert_array_equal(a.T[...], x.T)
        close(a.T + a.H, x.T + x.conj().T)
        close(np.transpose(a) @ a.conj(), x.T @ x.conj())
        v = job().from_numpy(x[0])
        self.assertIs(v.T, v)
        t = numbers((3, 4, 5))
        close(job().from_numpy(t).T, t.T)
        close(job().from_numpy(t).transpose(1, 2, 0), t.transpose(1, 2, 0))
        with self.assertRaisesRegex(TypeError, "A.H is for matrices"):
            job().from_numpy(t).H

    def test_vectors_and_numpy_operands(self):
        x, v, w = numbers((7, 5)), numbers(5), numbers(7)
        a = job().from_numpy(x)
        close(a @ job().from_numpy(v), x @ v)
        close(job().from_numpy(w) @ a, w @ x)
        close(a.T @ job().from_numpy(w), x.T @ w)
        close(a @ v, x @ v)
        close(w @ a, w @ x)
        close(a @ x.T, x @ x.T)
        close(np.dot(a, x.T), x @ x.T)
        close(job().from_numpy(np.arange(12).reshape(3, 4)) @ np.arange(4), np.arange(12.0).reshape(3, 4) @ np.arange(4))

    def test_out_and_gemm(self):
        x, y, z = numbers((6, 7)), numbers((7, 4)), numbers((6, 4))
        a, b, c = (job().from_numpy(each) for each in (x, y, z))
        close(linalg.gemm(2.0, a, b, -1.0, c), 2 * x @ y - z)
        self.assertIs(np.matmul(a, b, out=c), c)
        close(c, x @ y)

    def test_bad_operands(self):
        a = job().from_numpy(numbers((3, 4)), name="A")
        with self.assertRaisesRegex(tessera.InvalidArgument, "@: 3 x 4 times 3 x 4: the inner extents differ"):
            a @ a
        with self.assertRaisesRegex(TypeError, "@ of an array of 3 dimensions"):
            a @ job().zeros((4, 2, 2))
        with self.assertRaisesRegex(tessera.InvalidArgument, "and C is 2 x 2"):
            np.matmul(a, a.T, out=job().zeros((2, 2)))
        close(a @ a.T, a[...] @ a[...].T)

    def test_contractions(self):
        x, y = numbers((3, 4, 5)), numbers((5, 6, 3))
        a, b = job().from_numpy(x), job().from_numpy(y)
        close(np.einsum("abc,cda->bd", a, b), np.einsum("abc,cda->bd", x, y))
        close(linalg.einsum("abc,cde", a, b), np.einsum("abc,cde", x, y))
        with self.assertRaisesRegex(tessera.InvalidArgument, "needs letters of"):
            np.einsum("abc,cda->bx", a, b)
        with self.assertRaisesRegex(tessera.InvalidArgument, "numpy.vdot"):
            linalg.einsum("abc,cde->", a, b)


class Systems(Case):
    def test_solve(self):
        for dtype in TYPES:
            x = numbers((12, 12), dtype) + 6 * np.eye(12, dtype=dtype)
            a = job().from_numpy(x)
            for side in (numbers((12, 3), dtype), numbers(12, dtype)):
                b = job().from_numpy(side)
                close(linalg.solve(a, b), np.linalg.solve(x, side))
                np.testing.assert_array_equal(b[...], side)  # operands keep their values
            np.testing.assert_array_equal(a[...], x)
        close(np.linalg.solve(a, b), np.linalg.solve(x, side))
        close(linalg.inv(a), np.linalg.inv(x))

    def test_factors(self):
        for dtype in TYPES:
            x = numbers((10, 10), dtype)
            x = x @ x.conj().T + 10 * np.eye(10, dtype=dtype)
            side = numbers((10, 2), dtype)
            a, b = job().from_numpy(x), job().from_numpy(side)
            factor = linalg.cholesky(a)
            close(factor.L, np.linalg.cholesky(x))
            close(np.linalg.cholesky(a), np.linalg.cholesky(x))
            close(factor.solve(b), np.linalg.solve(x, side))
            close(factor.inverse(), np.linalg.inv(x))
            close(linalg.solve(a, b, assume_a="positive definite"), np.linalg.solve(x, side))
            lu = linalg.lu(a)
            close(lu.solve(b), np.linalg.solve(x, side))
            close(lu.solve(b, trans="transpose"), np.linalg.solve(x.T, side))
            order = np.arange(10)
            for i, j in enumerate(lu.pivots):
                order[[i, j]] = order[[j, i]]
            close(lu.L @ lu.U, x[order])
            sign, logarithm = linalg.slogdet(a)
            np.testing.assert_allclose(logarithm, np.linalg.slogdet(x)[1], rtol=1e-4)
            np.testing.assert_allclose(sign, 1, rtol=1e-4)
            close(linalg.solve_triangular(factor.L, b, lower=True),
                  np.linalg.solve(np.linalg.cholesky(x), side))

    def test_qr_and_least_squares(self):
        x, side = numbers((15, 6)), numbers((15, 2))
        a, b = job().from_numpy(x), job().from_numpy(side)
        r = linalg.qr(a).R[...][:6]
        close(np.abs(r), np.abs(np.linalg.qr(x)[1]))
        close(linalg.lstsq(a, b), np.linalg.lstsq(x, side, rcond=None)[0])
        close(linalg.lstsq(a, job().from_numpy(side[:, 0])), np.linalg.lstsq(x, side[:, 0], rcond=None)[0])

    def test_bad_systems(self):
        a = job().zeros((4, 4), name="A")
        b = job().zeros(4, name="b")
        with self.assertRaisesRegex(tessera.InvalidArgument, "column 0|pivot|singular"):
            linalg.solve(a, b)
        with self.assertRaisesRegex(tessera.InvalidArgument, "positive definite"):
            linalg.cholesky(a)
        self.assertEqual(linalg.det(a), 0)
        with self.assertRaisesRegex(tessera.InvalidArgument, "there is no method 'best'"):
            linalg.solve(a, b, method="best")
        with self.assertRaisesRegex(tessera.InvalidArgument, "'b' has 1 dimensions and is not a matrix"):
            linalg.solve(b, b)
        with self.assertRaisesRegex(TypeError, "a right-hand side of type ndarray"):
            linalg.solve(a, np.ones(4))


class Spectra(Case):
    def test_eigenvalues(self):
        for dtype in TYPES:
            x = numbers((9, 9), dtype)
            x = x + x.conj().T
            a = job().from_numpy(x)
            values, vectors = linalg.eigh(a)
            self.assertIsInstance(values, np.ndarray)
            close(values, np.linalg.eigvalsh(x))
            close(linalg.eigvalsh(a), np.linalg.eigvalsh(x))
            close(a @ vectors, (vectors * values)[...])
            close(vectors.H @ vectors, np.eye(9, dtype=dtype))

    def test_generalised(self):
        x, y = numbers((7, 7)), numbers((7, 7))
        x, y = x + x.T, y @ y.T + 7 * np.eye(7)
        a, b = job().from_numpy(x), job().from_numpy(y)
        values, vectors = linalg.eigh(a, b)
        close(linalg.eigvalsh(a, b), values)
        close(a @ vectors, ((b @ vectors) * values)[...])

    def test_singular_values(self):
        for shape in ((9, 5), (4, 8)):
            x = numbers(shape)
            a = job().from_numpy(x)
            u, s, vh = linalg.svd(a)
            close(s, np.linalg.svd(x, compute_uv=False))
            close(linalg.svdvals(a), s)
            close((u * s) @ vh, x)
        with self.assertRaisesRegex(TypeError, "full_matrices"):
            linalg.svd(a, full_matrices=True)

    def test_diagonals(self):
        x, v = numbers((6, 6)), numbers(6)
        a, d = job().from_numpy(x), job().from_numpy(v)
        close(np.diag(a), np.diag(x))
        close(linalg.diag(d), np.diag(v))
        close(linalg.diag(a.T), np.diag(x))
        np.testing.assert_allclose(np.trace(a), np.trace(x))
        close(linalg.shift_diag(a.copy(), 2.0), x + 2 * np.eye(6))
        close(linalg.shift_diag(a.copy(), d), x + np.diag(v))
        close(linalg.scale_rows(a.copy(), d), v[:, None] * x)
        close(linalg.scale_columns(a.copy(), d), x * v)
        close(linalg.symmetrize(a.copy()), (x + x.T) / 2)
        np.testing.assert_allclose(linalg.norm(a, np.inf), np.linalg.norm(x, np.inf))
        with self.assertRaisesRegex(TypeError, "norm of order 2 of 2 dimensions"):
            linalg.norm(a, 2)
