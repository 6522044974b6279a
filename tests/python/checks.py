# SPDX-License-Identifier: BSD-3-Clause
"""What the cases share: the job, random numbers, arrays with a copy of all elements."""

import contextlib
import unittest

import numpy as np

import tessera

DTYPES = ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8", "c8", "c16")

_job = None


def start(communicator=None):
    global _job  # noqa: PLW0603 (one job for all cases)
    _job = tessera.Job(communicator)


def job():
    return _job


def numbers(shape, dtype="f8", seed=0):
    """Small numbers, the same on all ranks, exact in every dtype."""
    generator = np.random.default_rng(seed)
    values = generator.integers(0, 50, size=shape)
    if np.dtype(dtype).kind == "c":
        return (values + 1j * generator.integers(0, 50, size=shape)).astype(dtype)
    return np.asarray(values).astype(dtype)


class Case(unittest.TestCase):
    """Tests that all ranks run together."""

    longMessage = True

    @property
    def job(self):
        return _job

    def assertEqualArrays(self, found, expected, message=""):
        found, expected = np.asarray(found), np.asarray(expected)
        self.assertEqual(found.shape, expected.shape, message)
        self.assertEqual(found.dtype, expected.dtype, message)
        np.testing.assert_array_equal(found, expected, message)

    def assertHolds(self, array, expected, message=""):
        """All ranks, after a sync, see the same elements as in `expected`. Collective."""
        array.sync()
        self.assertEqualArrays(array[...], expected, message)
        array.sync()

    @contextlib.contextmanager
    def assertRefused(self, kind, *texts):
        """The block raises an exception of a class, whose text contains all `texts`."""
        with self.assertRaises(kind) as caught:
            yield caught
        for text in texts:
            self.assertIn(text, str(caught.exception))
        self.assertIsInstance(caught.exception, tessera.Error)
