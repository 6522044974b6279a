# SPDX-License-Identifier: BSD-3-Clause
"""Checkpoints, also read by h5py if it is there."""
import glob
import os
import unittest

import numpy as np
import tessera
from checks import Case, job
from tessera import checkpoint

folder = os.environ.get("TESSERA_TEST_FOLDER", ".")


def path(name):
    return os.path.join(folder, f"python_checkpoint_{name}_{job().size}.h5")


def setUpModule():  # noqa: N802 (unittest's name)
    try:
        tessera.save(path("probe"), job().zeros(1, name="probe"))
    except tessera.Unsupported as error:
        raise unittest.SkipTest(str(error)) from None


def tearDownModule():  # noqa: N802 (unittest's name)
    job().barrier()
    if job().rank == 0:
        for each in glob.glob(path("*")):
            os.remove(each)


class Files(Case):
    def test_save_and_load(self):
        x = np.arange(60.0).reshape(6, 10)
        a = job().from_numpy(x, name="a", grid=(1, 0))
        b = job().from_numpy(x.astype("c8"), name="b")
        tessera.save(path("both"), a, again=b, attributes={"step": 12, "time": 0.5, "title": "x, y"})
        found = tessera.load(job(), path("both"))
        self.assertEqual(sorted(found), ["a", "again"])
        np.testing.assert_array_equal(found["a"][...], x)
        self.assertEqual(found["a"].distribution, a.distribution)
        self.assertEqual(found["again"].dtype, np.dtype("c8"))
        np.testing.assert_array_equal(tessera.load(job(), path("both"), "again")[...], x.astype("c8"))
        with checkpoint.Reader(job(), path("both")) as reader:
            self.assertEqual(reader.attributes, {"step": 12, "time": 0.5, "title": "x, y"})
            self.assertEqual([type(each) for each in reader.attributes.values()], [int, float, str])
            self.assertEqual(reader.info("a")["shape"], (6, 10))
            self.assertTrue("a" in reader and "c" not in reader)
            reader.verify("a")
            into = job().zeros((6, 10), grid=(0, 1))
            np.testing.assert_array_equal(reader.read_into("a", into)[...], x)
            like = reader.read("a", like=into)
            self.assertEqual(like.distribution, into.distribution)
            with self.assertRaisesRegex(tessera.InvalidArgument, "'c'"):
                reader.read("c")
        with self.assertRaisesRegex(tessera.InvalidArgument, "this checkpoint was closed"):
            reader.keys()

    def test_h5py_reads_it(self):
        try:
            import h5py
        except ImportError:
            self.skipTest("no h5py")
        x = np.arange(24, dtype="i4").reshape(4, 6)
        tessera.save(path("h5py"), job().from_numpy(x, name="x"), attributes={"step": 3})
        with h5py.File(path("h5py")) as file:
            np.testing.assert_array_equal(file["x"][...], x)
            self.assertEqual(file.attrs["step"], 3)
        job().barrier()
        if job().rank == 0:
            with h5py.File(path("foreign"), "w") as file:
                file["y"] = 2.0 * x
        job().barrier()
        y = tessera.load(job(), path("foreign"), "y")
        np.testing.assert_array_equal(y[...], 2.0 * x)

    def test_a_failed_block_keeps_the_old_file(self):
        a = job().full((5,), 1.0, name="a")
        tessera.save(path("old"), a)
        with self.assertRaisesRegex(ZeroDivisionError, "on purpose"):
            with checkpoint.Writer(job(), path("old")) as writer:
                writer.add(job().full((5,), 2.0), "a")
                raise ZeroDivisionError("on purpose")
        self.assertEqual(tessera.load(job(), path("old"), "a").sum(), 5)
        with self.assertRaisesRegex(tessera.InvalidArgument, "committed or closed"):
            writer.add(a)

    def test_bad_input(self):
        with self.assertRaisesRegex(tessera.InvalidArgument, "there is no array to write"):
            tessera.save(path("none"))
        a = job().zeros(3, name="a")
        with self.assertRaisesRegex(TypeError, "attribute 'map'"):
            tessera.save(path("none"), a, attributes={"map": {"a": 1}})
        with self.assertRaisesRegex(tessera.Error, "nowhere.h5"):
            tessera.load(job(), "nowhere.h5")
        job().barrier()
        if job().rank == 0:
            with open(path("text"), "w") as file:
                file.write("not a checkpoint")
        job().barrier()
        with self.assertRaisesRegex(tessera.Error, "text"):
            tessera.load(job(), path("text"))
