# SPDX-License-Identifier: BSD-3-Clause
"""tessera.Output: files for analysis, read by h5py, by checkpoint.Reader, and as XDMF."""
import glob
import os
import pathlib
import unittest
import xml.etree.ElementTree as ET

import numpy as np
import tessera
from checks import DTYPES, Case, job, numbers
from tessera import checkpoint

try:
    import h5py
except ImportError:
    h5py = None


def path(name, suffix="h5"):
    return f"python_output_{name}_{job().size}.{suffix}"


def remove_files():
    job().barrier()
    if job().rank == 0:
        for each in glob.glob(path("*", "*")):
            os.remove(each)
    job().barrier()


def setUpModule():  # noqa: N802 (unittest's name)
    remove_files()
    try:
        tessera.Output(job(), path("probe")).close()
    except tessera.Unsupported as error:
        raise unittest.SkipTest(str(error)) from None


def tearDownModule():  # noqa: N802 (unittest's name)
    remove_files()


class OutputCase(Case):
    def on_first(self, act):
        """Rank 0 acts; its error fails all ranks. Collective."""
        failure = None
        if self.job.rank == 0:
            try:
                act()
            except Exception as error:  # noqa: BLE001 (reported to all)
                failure = f"{type(error).__name__}: {error}"
        failure = self.job.world.broadcast(failure)
        if failure:
            self.fail(f"on rank 0: {failure}")

    def with_h5py(self, name, act):
        """act(file) on rank 0."""
        def read():
            with h5py.File(path(name), "r") as file:
                act(file)
        self.on_first(read)


@unittest.skipIf(h5py is None, "no h5py")
class H5py(OutputCase):
    def test_reads_parts_groups_and_chunks(self):
        x = numbers((12, 17))
        with self.job.from_numpy(x, name="whole") as a, tessera.Output(self.job, path("parts")) as out:
            self.assertIn("parts", repr(out))
            out.write(a)
            out.write(a, "fields/deep/part", np.s_[2:9, 3:16])
            out.write(a, "fields/coarse", np.s_[1:11:3, ::4], chunks=(2, 3), compression=6)
            out.write(a, "line", np.s_[-1, ...])
            out.write(a, "plain", chunks=4, compression=np.int64(1), shuffle=False)
            out.write(a, "none", np.s_[5:5])
            out.create_group("empty/one")
            self.assertEqual(out.steps("whole"), 0)
        self.assertTrue(out.is_closed)

        def check(file):
            self.assertEqual(set(file), {"whole", "fields", "line", "plain", "none", "empty"})
            self.assertEqualArrays(file["whole"], x)
            self.assertEqualArrays(file["fields/deep/part"], x[2:9, 3:16])
            coarse = file["fields/coarse"]
            self.assertEqualArrays(coarse, x[1:11:3, ::4])
            self.assertEqual((coarse.chunks, coarse.compression, coarse.compression_opts, coarse.shuffle),
                             ((2, 3), "gzip", 6, True))
            self.assertEqualArrays(file["line"], x[-1:])
            self.assertEqualArrays(file["plain"], x)
            self.assertEqual((file["plain"].chunks, file["plain"].shuffle), ((4, 4), False))
            self.assertIsNone(file["whole"].chunks)
            self.assertEqual(file["none"].shape, (0, 17))
            self.assertEqual(list(file["empty/one"]), [])

        self.with_h5py("parts", check)

    def test_reads_all_dtypes(self):
        with tessera.Output(self.job, path("dtypes"), "w") as out:
            for dtype in DTYPES:
                with self.job.from_numpy(numbers((5, 6), dtype), order="F") as a:
                    out.write(a, dtype, compression=1)
        self.with_h5py("dtypes", lambda file: [self.assertEqualArrays(file[each], numbers((5, 6), each))
                                               for each in DTYPES])

    def test_reads_time_steps(self):
        shape = (7, 9)
        for session in range(2):
            with self.job.zeros(shape, name="T") as t, tessera.Output(self.job, path("steps"), "a") as out:
                self.assertEqual(out.steps("fields/T"), 3 * session)
                for step in range(3 * session, 3 * session + 3):
                    t.fill(0.5 * step)
                    out.append(t, "fields/T", chunks=(3, 4), compression=4, time=0.25 * step)
                    out.append(t, "corner", np.s_[:2, 1], time=step)
                out.flush()
                self.with_h5py("steps", lambda file: self.assertEqual(len(file["corner"]), 3 * session + 3))
                out.set_attribute("fields/T", "unit", "K")

        def check(file):
            steps = np.arange(6)
            t = file["fields/T"]
            self.assertEqual((t.shape, t.maxshape, t.chunks), ((6, 7, 9), (None, 7, 9), (1, 3, 4)))
            self.assertEqualArrays(t, np.broadcast_to(0.5 * steps[:, None, None], t.shape))
            self.assertEqualArrays(t.attrs["time"], 0.25 * steps)
            self.assertEqualArrays(file["corner"].attrs["time"], steps.astype(float))
            self.assertEqual(file["corner"].shape, (6, 2, 1))
            self.assertEqual(t.attrs["unit"], "K")

        self.with_h5py("steps", check)

    def test_reads_attributes(self):
        values = {"flag": True, "i8": np.int8(-8), "i16": np.int16(-16), "i32": np.int32(-32), "i64": -64,
                  "u8": np.uint8(8), "u16": np.uint16(65535), "u32": np.uint32(32), "u64": 2**64 - 1,
                  "f4": np.float32(0.5), "f8": 0.1, "c8": np.complex64(1 + 2j), "c16": 1 - 2j, "text": "π",
                  "bool": np.bool_(False), "zero_d": np.array(7, "i2"), "swapped": np.array(3, ">i4"),
                  "whole": [1, 2], "reals": (0.5, 1.5), "array": np.array([1, 2, 3], "u2"), "mixed": [1, 2.5]}
        types = {"flag": np.bool_, "i64": np.int64, "u64": np.uint64, "f8": np.float64, "c16": np.complex128,
                 "bool": np.bool_, "zero_d": np.int16, "swapped": np.int32}
        with self.job.zeros((2, 2), name="A") as a, tessera.Output(self.job, path("attributes"), "w") as out:
            out.write(a, "g/A")
            for name in ("/", "g", "g/A"):
                out.set_attribute(name, "i64", "replaced below")
                for each, value in values.items():
                    out.set_attribute(name, each, value)

        def check(file):
            for holder in (file, file["g"], file["g/A"]):
                for name, value in values.items():
                    found = holder.attrs[name]
                    if isinstance(value, (list, tuple)) or getattr(value, "ndim", 0) == 1:
                        self.assertEqual(list(found), list(value), name)
                        self.assertEqual(found.dtype, np.array(value).dtype if name != "array" else np.dtype("i8"))
                    else:
                        self.assertEqual(found, value, name)
                        self.assertIs(type(found), str if name == "text" else types.get(name, type(value)), name)

        self.with_h5py("attributes", check)
        with checkpoint.Reader(self.job, path("attributes")) as reader:
            found = reader.attributes_of("g/A")
            for name, value in values.items():
                self.assertEqual(np.array(found[name]).tolist(), np.array(value).tolist(), name)
            self.assertEqual([type(found[name]) for name in ("flag", "i8", "u64", "f4", "c16", "text")],
                             [bool, int, int, float, complex, str])
            with self.assertRefused(tessera.InvalidArgument, "'none'"):
                reader.attributes_of("none")


class Xdmf(OutputCase):
    # Which elements are in which.
    MODEL = {"Xdmf": {"Domain"}, "Domain": {"Grid"}, "Grid": {"Grid", "Time", "Topology", "Geometry", "Attribute"},
             "Time": set(), "Topology": set(), "Geometry": {"DataItem"}, "Attribute": {"DataItem"},
             "DataItem": {"DataItem"}}

    def check_model(self, element):
        for child in element:
            self.assertIn(child.tag, self.MODEL[element.tag])
            self.check_model(child)

    def test_describes_the_fields(self):
        with self.job.zeros((5, 4), name="points") as points, self.job.zeros((4, 3), "f4", name="cells") as cells, \
                tessera.Output(self.job, pathlib.Path(path("grid"))) as out:
            out.set_grid(origin=(1.5, -2), spacing=[0.5, np.float32(0.25)], points=(5, 4))
            out.write(points, "static")
            for step in range(2):
                out.append(cells, "fields/cells", time=0.125 * step)

        def check():
            root = ET.parse(path("grid", "xdmf")).getroot()
            self.assertEqual(root.tag, "Xdmf")
            self.check_model(root)
            grids = root.findall("Domain/Grid/Grid")
            self.assertEqual([float(grid.find("Time").get("Value")) for grid in grids], [0, 0.125])
            for grid in grids:
                self.assertEqual(grid.find("Topology").get("Dimensions").split()[-2:], ["5", "4"])
                origin, spacing = ([float(each) for each in item.text.split()] for item in grid.find("Geometry"))
                self.assertEqual((origin[-2:], spacing[-2:]), ([1.5, -2], [0.5, 0.25]))
                centres = {each.get("Name"): each.get("Center") for each in grid.findall("Attribute")}
                self.assertEqual(centres, {"static": "Node", "fields/cells": "Cell"})
            names = [item.text.strip() for item in root.iter("DataItem") if item.get("Format") == "HDF"]
            self.assertIn(f"{os.path.basename(path('grid'))}:/static", names)
            if h5py is not None:
                with h5py.File(path("grid"), "r") as file:
                    for name in names:
                        self.assertIn(name.split(":", 1)[1], file)

        self.on_first(check)


class Files(OutputCase):
    def test_readers_get_steps_and_parts(self):
        x = numbers((6, 5), "i4")
        with self.job.from_numpy(x, name="x") as a, tessera.Output(self.job, path("read"), "w") as out:
            for step in range(3):
                a.fill(step)
                out.append(a, "g/x", compression=1)
        with checkpoint.Reader(self.job, path("read")) as reader, self.job.zeros((6, 5), "i4") as into, \
                self.job.zeros((2, 3, 5), "i8") as block, self.job.zeros(5, "i4", name="row") as row:
            info = reader.info("g/x")
            self.assertEqual((info["shape"], info["chunks"], info["has_steps"]), ((3, 6, 5), (1, 6, 5), True))
            self.assertHolds(reader.read_into("g/x", into, 2), np.full((6, 5), 2, "i4"))
            self.assertHolds(reader.read_into("g/x", into, np.s_[-2, ...]), np.full((6, 5), 1, "i4"))
            self.assertHolds(reader.read_into("g/x", row, np.s_[1, 3]), np.full(5, 1, "i4"))
            self.assertHolds(reader.read_into("g/x", block, np.s_[1:, 2:5]),
                             np.broadcast_to(np.array([1, 2])[:, None, None], (2, 3, 5)))
            for key, kind, text in ((3, tessera.OutOfRange, "'g/x': index 3 of a dimension that has 0 to 2"),
                                    ((0, 0, 0, 0), tessera.OutOfRange, "'g/x' has 3 dimensions"),
                                    (slice(0, 3, 2), tessera.InvalidArgument, "step 2"),
                                    ("a", tessera.WrongType, "'a' is not an index")):
                with self.assertRefused(kind, text):
                    reader.read_into("g/x", into, key)
            with self.assertRefused(tessera.InvalidArgument, "g/x"):
                reader.read_into("g/x", row, 0)

    def test_a_failed_block_leaves_the_last_flush(self):
        with self.job.full(4, 1.0, name="a") as a:
            with self.assertRaisesRegex(ZeroDivisionError, "on purpose"):
                with tessera.Output(self.job, path("failed"), "w") as out:
                    out.append(a)
                    out.flush()
                    out.append(a)
                    raise ZeroDivisionError("on purpose")
            with self.assertRefused(tessera.Closed, "failed", "was closed"):
                out.append(a)
            with tessera.Output(self.job, path("failed"), "a") as out:
                self.assertEqual(out.steps("a"), 1)

    def test_outputs_that_are_dropped_are_ended(self):
        with self.job.full(4, 1.0, name="a") as a:
            for _ in range(3):
                out = tessera.Output(self.job, path("dropped"), "w")
                out.write(a)
                out.flush()
                del out
            self.job.barrier()
            self.assertEqual(tessera.load(self.job, path("dropped"), "a").sum(), 4)

    def test_modes(self):
        with self.job.full(4, 1.0, name="a") as a:
            with tessera.Output(self.job, path("modes").encode()) as out:
                out.write(a)
                self.assertEqual(out.path, path("modes"))
            with self.assertRefused(tessera.InvalidArgument, "modes", "already exists", "hint:"):
                tessera.Output(self.job, path("modes"))
            with tessera.Output(self.job, path("modes"), "a") as out:
                with self.assertRefused(tessera.InvalidArgument, "another program writes it now"):
                    tessera.Output(self.job, path("modes"), "a")
                out.write(a, "b")
            self.assertEqual(sorted(tessera.load(self.job, path("modes"))), ["a", "b"])
            tessera.Output(self.job, path("modes"), mode="w").close()
            self.assertEqual(tessera.load(self.job, path("modes")), {})
        team = self.job.world.split(self.job.rank % 2)
        name = path(f"team{self.job.rank % 2}")
        with self.job.full(4, 2.0, name="t", team=team) as t, tessera.Output(self.job, name, team=team) as out:
            out.write(t, compression=9)
        self.job.barrier()
        self.assertEqual(tessera.load(self.job, path("team0"), "t").sum(), 8)

    def test_refusals(self):
        with self.job.zeros((6, 4), name="A") as a, tessera.Output(self.job, path("bad"), "w") as out:
            freed = self.job.zeros((6, 4), name="F")
            freed.free()
            for use, kind, texts in (
                    (lambda: out.write(np.zeros(3)), tessera.WrongType,
                     ("writing to output", "numpy.ndarray'> is not a tessera.Array", "job.from_numpy(x)")),
                    (lambda: out.write(a.T, "x"), tessera.WrongType, ("A.T.copy()",)),
                    (lambda: out.write(a, 3), tessera.WrongType, ("name=3 is not a text",)),
                    (lambda: out.write(a, "a//b"), tessera.InvalidArgument, ("'a//b' is not a valid name",)),
                    (lambda: out.write(a, "x", np.s_[::-1]), tessera.InvalidArgument, ("step -1 in dimension 0",)),
                    (lambda: out.write(a, "x", [0, 2]), tessera.WrongType, ("'A'", "a list of indices")),
                    (lambda: out.write(a, "x", 6), tessera.OutOfRange, ("index 6 of dimension 0",)),
                    (lambda: out.write(a, "x", 2**70), tessera.OutOfRange, ("of dimension 0",)),
                    (lambda: out.write(a, "x", compression="gzip"), tessera.WrongType, ("compression='gzip'", "0 is none")),
                    (lambda: out.write(a, "x", compression=True), tessera.WrongType, ("compression=True",)),
                    (lambda: out.write(a, "x", compression=10), tessera.InvalidArgument, ("compression is 10; 0 to 9",)),
                    (lambda: out.write(a, "x", chunks=(2,)), tessera.InvalidArgument, ("chunks has 1 numbers for 2",)),
                    (lambda: out.write(a, "x", chunks=(7, 1)), tessera.InvalidArgument, ("chunks of 7 x 1",)),
                    (lambda: out.write(a, "x", chunks=False), tessera.WrongType, ("chunks=False is not possible",)),
                    (lambda: out.append(a, "x", time="now"), tessera.WrongType, ("time='now' is not a number",)),
                    (lambda: out.write(freed, "x"), tessera.Closed, ("'F'", "was freed")),
                    (lambda: out.create_group(None), tessera.WrongType, ("name=None is not a text",)),
                    (lambda: out.steps(1), tessera.WrongType, ("name=1 is not a text",)),
                    (lambda: out.set_attribute("none", "x", 1), tessera.InvalidArgument, ("no data set or group 'none'",)),
                    (lambda: out.set_attribute("/", "x", None), tessera.WrongType, ("attribute 'x' is None", "hint:")),
                    (lambda: out.set_attribute("/", "x", b"text"), tessera.WrongType, ("attribute 'x' is b'text'",)),
                    (lambda: out.set_attribute("/", "x", 2**64), tessera.InvalidArgument, ("does not fit 64 bits",)),
                    (lambda: out.set_attribute("/", "x", [2**63]), tessera.InvalidArgument, ("lists hold integers up to",)),
                    (lambda: out.set_attribute("/", "x", []), tessera.WrongType, ("attribute 'x' has shape (0,)",)),
                    (lambda: out.set_attribute("/", "x", np.zeros((2, 2))), tessera.WrongType, ("shape (2, 2)",)),
                    (lambda: out.set_attribute("/", "x", ["a"]), tessera.WrongType, ("attribute 'x' is ['a']",)),
                    (lambda: out.set_attribute("/", "x", np.longdouble(1)), tessera.WrongType, ("attribute 'x'",)),
                    (lambda: out.set_attribute("/", "x", "\0"), tessera.InvalidArgument, ("zero byte",)),
                    (lambda: out.set_attribute("/", "tessera_x", 1), tessera.InvalidArgument, ("is reserved",)),
                    (lambda: out.set_grid("here", 1), tessera.WrongType, ("origin='here' is not a list of numbers",)),
                    (lambda: out.set_grid((0, 0), (1, 0)), tessera.InvalidArgument, ("dimension 1 of the grid",)),
                    (lambda: out.set_grid(0, 1, (3, 3)), tessera.InvalidArgument, ("points has 2 numbers for 1",)),
                    (lambda: tessera.Output(self.job, path("new"), "r"), tessera.InvalidArgument,
                     ("mode='r' is not a mode", "checkpoint.Reader reads")),
                    (lambda: tessera.Output(self.job, 3), tessera.WrongType, ("3 is not a path",)),
                    (lambda: tessera.Output(self.job, "nowhere/run.h5"), tessera.Error, ("nowhere",)),
                    (lambda: tessera.Output(self.job, path("new"), team=1), tessera.WrongType,
                     ("team=1 is not a tessera.Team",))):
                with self.assertRefused(kind, *texts):
                    use()
            out.write(a, "good")
        self.assertEqual(list(tessera.load(self.job, path("bad"))), ["good"])
        with self.assertRefused(tessera.Closed, "was closed", "hint:"):
            out.flush()
        out.close()

    def test_one_rank_that_is_wrong_fails_all(self):
        if self.job.size < 2:
            self.skipTest("one rank")
        wrong = self.job.rank == 1
        with self.job.zeros((6, 4), name="A") as a, tessera.Output(self.job, path("one"), "w") as out:
            with self.assertRefused(tessera.Error, "not a path"):
                tessera.Output(self.job, 3 if wrong else path("other"), "w")
            for use in (lambda: out.write(a, "x", chunks=False if wrong else None),
                        lambda: out.write(a, "x" if wrong else "y"),
                        lambda: out.set_attribute("/", "x", None if wrong else 1),
                        lambda: out.set_attribute("/", "x", 2 if wrong else 1)):
                with self.assertRaises(tessera.Error):
                    use()
            out.write(a)
        self.assertEqual(list(tessera.load(self.job, path("one"))), ["A"])
