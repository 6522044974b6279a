# SPDX-License-Identifier: BSD-3-Clause
"""Sparse matrices; scipy.sparse computes what is expected. """
import unittest

import numpy as np
import tessera
from checks import Case, job
from tessera import sparse

try:
    import scipy.sparse
except ImportError:
    raise unittest.SkipTest("this Python has no scipy") from None

rng = np.random.default_rng(5)  # the same on all ranks


def random_matrix(rows, columns, dtype="f8", density=0.2):
    values = scipy.sparse.random(rows, columns, density, "csr", random_state=rng)
    if np.dtype(dtype).kind == "c":
        values = values + 1j * scipy.sparse.random(rows, columns, density, "csr", random_state=rng)
    values = values.tocsr() * (100 if np.dtype(dtype).kind == "i" else 1)
    return values.astype(dtype)


def laplacian(side):
    one = scipy.sparse.diags([-1, 2, -1], [-1, 0, 1], (side, side))
    return (scipy.sparse.kron(one, scipy.sparse.eye(side)) + scipy.sparse.kron(scipy.sparse.eye(side), one)).tocsr()


def equal(got, expected):
    np.testing.assert_array_equal(got.toarray(), expected.toarray())


class Conversions(Case):
    def test_from_and_to_scipy(self):
        for dtype in ("i4", "i8", "f4", "f8", "c8", "c16"):
            m = random_matrix(30, 20, dtype)
            a = sparse.from_scipy(job(), m, name="A")
            self.assertEqual((a.shape, a.nnz, a.dtype, a.name), ((30, 20), m.nnz, np.dtype(dtype), "A"))
            equal(a.to_scipy(), m)
            equal(a.rows(3, 9, (4, 12)), m[3:9, 4:12])
            first, own = a.own_rows()
            equal(own, m[first:first + own.shape[0]])
            self.assertRegex(repr(a), r"<sparse matrix 'A' \(.*, 30 x 20, \d+ entries\)>")
            job().barrier()

    def test_rows_of_each_rank(self):
        mine = scipy.sparse.random(2 + job().rank, 15, 0.3, "csr", random_state=job().rank)
        a = sparse.from_rows(job(), mine)
        first, own = a.own_rows()
        self.assertEqual(first, sum(2 + rank for rank in range(job().rank)))
        equal(own, mine)

    def test_entries_are_summed(self):
        at = np.arange(6)
        a = sparse.from_entries(job(), (6, 6), at, (at + 1) % 6, np.ones(6))
        expected = job().size * scipy.sparse.csr_matrix((np.ones(6), (at, (at + 1) % 6)), (6, 6))
        equal(a.to_scipy(), expected)

    def test_dense(self):
        m = random_matrix(12, 9)
        dense = job().from_numpy(m.toarray())
        a = sparse.from_dense(dense)
        equal(a.to_scipy(), m)
        np.testing.assert_array_equal(a.to_dense()[...], m.toarray())
        equal(sparse.from_dense(dense, threshold=0.5).to_scipy(), m.multiply(abs(m) > 0.5).tocsr())

    def test_unsorted_columns_and_repeated_entries(self):
        m = scipy.sparse.csr_matrix((np.arange(1.0, 5), [3, 0, 2, 2], [0, 2, 4, 4]), (3, 5))
        a = sparse.from_scipy(job(), m)
        np.testing.assert_array_equal(a.to_scipy().toarray(), m.toarray())

    def test_bad_input(self):
        with self.assertRaisesRegex(TypeError, "a sparse matrix from ndarray"):
            sparse.from_scipy(job(), np.eye(3))
        with self.assertRaisesRegex(TypeError, "no entries of dtype bool"):
            sparse.from_scipy(job(), scipy.sparse.eye(3, dtype=bool, format="csr"))
        with self.assertRaisesRegex(tessera.OutOfRange, "7"):
            sparse.from_entries(job(), (5, 5), 7, 1, 1.0)
        a = sparse.from_scipy(job(), random_matrix(6, 4))
        with self.assertRaisesRegex(tessera.InvalidArgument, "the inner extents differ"):
            a @ np.ones(6)
        with self.assertRaisesRegex(tessera.OutOfRange, "6 x 4"):
            a.rows(5, 9)
        job().barrier()
        a.free()
        with self.assertRaises(tessera.Closed):
            a.shape


class Products(Case):
    def test_with_vectors(self):
        for dtype in ("f4", "f8", "c16", "i8"):
            m = random_matrix(25, 18, dtype)
            a = sparse.from_scipy(job(), m)
            x = rng.integers(1, 9, 18).astype(dtype)
            y = rng.integers(1, 9, 25).astype(dtype)
            tolerance = 1e-5 if dtype == "f4" else 1e-12
            product = a @ job().from_numpy(x)
            self.assertIsInstance(product, tessera.Array)
            np.testing.assert_allclose(product[...], m @ x, rtol=tolerance)
            got = a @ x
            self.assertIsInstance(got, np.ndarray)
            np.testing.assert_allclose(got, m @ x, rtol=tolerance)
            np.testing.assert_allclose((job().from_numpy(y) @ a)[...], m.T @ y, rtol=tolerance)
            np.testing.assert_allclose(y @ a, m.T @ y, rtol=tolerance)
            self.assertEqual(len(a._plans), len({key for key in a._plans}))

    def test_with_matrices(self):
        m, n = random_matrix(14, 10), random_matrix(10, 12)
        a, b = sparse.from_scipy(job(), m), sparse.from_scipy(job(), n)
        np.testing.assert_allclose((a @ b).to_scipy().toarray(), (m @ n).toarray())
        x, y = rng.standard_normal((10, 3)), rng.standard_normal((4, 14))
        np.testing.assert_allclose((a @ job().from_numpy(x))[...], m @ x)
        np.testing.assert_allclose((job().from_numpy(y) @ a)[...], y @ m)
        np.testing.assert_allclose((job().from_numpy(x.T.copy()).T.T @ a.T)[...], x.T @ m.T)
        np.testing.assert_allclose(a @ x, m @ x)
        equal(a.T.to_scipy(), m.T.tocsr())

    def test_in_place(self):
        m = random_matrix(11, 11) + scipy.sparse.eye(11)
        m = m.tocsr()
        a = sparse.from_scipy(job(), m)
        rows, columns = rng.random(11), rng.random(11)
        b = a.copy().scale(2).shift_diagonal(3)
        np.testing.assert_allclose(b.to_scipy().toarray(), (2 * m + 3 * scipy.sparse.eye(11)).toarray())
        b = a.copy().scale_rows(job().from_numpy(rows)).scale_columns(job().from_numpy(columns))
        np.testing.assert_allclose(b.to_scipy().toarray(), rows[:, None] * m.toarray() * columns)
        np.testing.assert_allclose(a.diagonal()[...], m.diagonal())


class Solvers(Case):
    def test_cg(self):
        m = laplacian(12)
        a = sparse.from_scipy(job(), m)
        known = rng.standard_normal(m.shape[0])
        for jacobi in (False, True):
            residuals = []
            found = sparse.cg(a, job().from_numpy(m @ known), tolerance=1e-11, jacobi=jacobi,
                              callback=lambda step, residual: residuals.append(residual))
            self.assertTrue(found.has_converged)
            self.assertEqual(len(residuals), found.iterations)
            np.testing.assert_allclose(found.x[...], known, atol=1e-8)
            self.assertRegex(repr(found), r"<converged after \d+ iterations")
            job().barrier()

    def test_bicgstab(self):
        for dtype in ("f8", "c16"):
            m = (random_matrix(60, 60, dtype, 0.1) + 6 * scipy.sparse.eye(60)).tocsr()
            a = sparse.from_scipy(job(), m)
            known = rng.standard_normal(60).astype(dtype)
            found = sparse.bicgstab(a, m @ known, tolerance=1e-11, jacobi=True)
            self.assertTrue(found.has_converged)
            np.testing.assert_allclose(found.x[...], known, atol=1e-8)
            job().barrier()

    def test_limits(self):
        a = sparse.from_scipy(job(), laplacian(12))
        found = sparse.cg(a, np.ones(144), max_iterations=3)
        self.assertEqual((found.iterations, found.has_converged), (3, False))
        residuals = []  # of b = 0, not divided by its norm
        for solve in (sparse.cg, sparse.bicgstab):
            solve(a, np.zeros(144), x0=np.ones(144), max_iterations=2,
                  callback=lambda step, residual: residuals.append(residual))
        self.assertTrue(np.isfinite(residuals).all() and len(residuals) == 4)
        zero = sparse.from_scipy(job(), scipy.sparse.csr_matrix(([1.0], ([0], [1])), (2, 2)))
        with self.assertRaisesRegex(tessera.InvalidArgument, "a zero on its diagonal"):
            with np.errstate(divide="ignore"):
                sparse.cg(zero, np.ones(2), jacobi=True)
