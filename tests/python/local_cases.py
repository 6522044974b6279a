# SPDX-License-Identifier: BSD-3-Clause
"""NumPy arrays in a rank's own memory; ghost cells."""

import gc

import numpy as np

import tessera
from checks import Case, numbers


class LocalAccess(Case):
    def test_views_show_own_parts(self):
        mirror = numbers((12, 10))
        for order in "CF":
            with self.job.from_numpy(mirror, ghosts=(1, 2), order=order) as array:
                own = array.local
                self.assertEqualArrays(own, mirror[array.local_slices])
                self.assertEqual(own.shape, tuple(h - l for l, h in zip(array.lo, array.hi)))
                self.assertEqual(array.local_with_ghosts.shape,
                                 tuple(n + 2 * g if own.size else n for n, g in zip(own.shape, (1, 2))))
                self.assertEqualArrays(array[array.local_slices], own)
                own += 100 + self.job.rank
                expected = mirror.copy()
                for block in array.blocks():
                    expected[block.slices] += 100 + block.owner
                self.assertHolds(array, expected)

    def test_views_see_puts(self):
        with self.job.zeros((8, 3), "i4") as array:
            own = array.local
            array.sync()
            if self.job.rank == self.job.size - 1:
                array[...] = np.arange(24).reshape(8, 3)
            array.sync()
            self.assertEqualArrays(own, np.arange(24, dtype="i4").reshape(8, 3)[array.local_slices])
            array.sync()

    def test_several_blocks(self):
        mirror = numbers((10, 9))
        layout = tessera.Distribution.block_cyclic((10, 9), (3, 4), self.job.size)
        with self.job.from_numpy(mirror, distribution=layout) as array:
            self.assertEqual(array.distribution, layout)
            blocks = array.blocks(self.job.rank)
            views = array.local_blocks
            self.assertEqual(len(views), layout.block_count(self.job.rank))
            for block, view in zip(blocks, views):
                self.assertEqualArrays(view, mirror[block.slices])
            if not layout.is_one_block_per_rank:
                with self.assertRefused(tessera.Unsupported, "A.local_blocks"):
                    array.local  # noqa: B018
            with array.access() as parts:
                self.assertEqual(len(parts) if isinstance(parts, list) else 1, max(len(views), 1))
            array.sync()

    def test_access_in_a_block(self):
        with self.job.zeros((6, 6), ghosts=1) as array:
            with array.access() as view:
                view[...] = self.job.rank
            with array.access(ghosts=True) as view:
                self.assertEqual(view.shape, array.local_with_ghosts.shape)
            with array.access(write=False) as view:
                with self.assertRaises(ValueError):
                    view[...] = 1
            expected = np.empty((6, 6))
            for block in array.blocks():
                expected[block.slices] = block.owner
            self.assertHolds(array, expected)

    def test_views_outlive_arrays(self):
        array = self.job.full((40, 10), 2.5)
        view = array.local
        part = view[1:3] if view.size else view
        array.free()
        self.assertTrue(array.is_freed)
        with self.assertRefused(tessera.Closed, "was freed"):
            array[...]  # noqa: B018
        with self.assertRefused(tessera.Closed, "was freed"):
            array.local  # noqa: B018
        others = [self.job.full((40, 10), -1.0) for _ in range(4)]
        self.assertTrue((view == 2.5).all())
        del view
        gc.collect()
        others += [self.job.full((40, 10), -1.0) for _ in range(4)]
        self.assertTrue((part == 2.5).all())
        self.assertIn("freed", repr(array))
        for other in others:
            other.free()

    def test_read_only_arrays(self):
        with self.job.full((4, 4), 1.0, name="R") as array:
            array.set_mode("read_only", copy_on_each_node=True)
            self.assertFalse(array.local.flags.writeable)
            self.assertEqual(array[3, 3], 1.0)
            with self.assertRefused(tessera.InvalidArgument, "'R'", "read_only"):
                array[0, 0] = 2
            array.set_mode("any")
            with self.assertRefused(tessera.InvalidArgument, "'often' is not an access mode"):
                array.set_mode("often")


class Ghosts(Case):
    def grown(self, mirror, widths, periodic):
        """What each cell of an array with ghost cells is: the mirror, continued or with -1."""
        modes = ["wrap" if each else "constant" for each in periodic]
        for dim, (width, mode) in enumerate(zip(widths, modes)):
            pad = [(0, 0)] * mirror.ndim
            pad[dim] = (width, width)
            more = {"constant_values": -1} if mode == "constant" else {}
            mirror = np.pad(mirror, pad, mode=mode, **more)
        return mirror

    def test_updates_equal_a_padded_array(self):
        mirror = numbers((11, 8), "i8")
        for widths, periodic in (((1, 1), (False, False)), ((2, 1), (True, False)), ((1, 2), (True, True))):
            with self.job.from_numpy(mirror, ghosts=widths) as array:
                cells = array.local_with_ghosts
                own = array.local.copy()
                cells[...] = -1
                array.local[...] = own
                array.sync()
                array.halo.update(periodic=periodic)
                if own.size:
                    around = tuple(slice(l, h + 2 * w) for l, h, w in zip(array.lo, array.hi, widths))
                    self.assertEqualArrays(cells, self.grown(mirror, widths, periodic)[around],
                                           f"{widths} {periodic}")
                array.sync()

    def test_started_updates(self):
        with self.job.from_numpy(numbers((10, 10)), ghosts=1) as array:
            halo = array.halo
            for turn in range(3):
                array.local[...] += 1
                halo.post(periodic=True)
                halo.start(periodic=True)
                halo.finish()
                mirror = numbers((10, 10)) + turn + 1
                if array.local.size:
                    around = tuple(slice(l, h + 2) for l, h in zip(array.lo, array.hi))
                    self.assertEqualArrays(array.local_with_ghosts, np.pad(mirror, 1, "wrap")[around])
                array.sync()

    def test_refusals(self):
        with self.job.zeros((6, 6), name="G") as array:
            with self.assertRefused(tessera.InvalidArgument, "'G'"):
                array.halo.update()
        with self.job.zeros((6, 6), ghosts=1, name="H") as array:
            with self.assertRefused(tessera.InvalidArgument, "give True, False, or a tuple of 2 of them"):
                array.halo.update(periodic=(True,))
            with self.assertRefused(tessera.InvalidArgument, "no update of its ghost cells was started"):
                array.halo.finish()
            with self.assertRefused(tessera.InvalidArgument):
                array.halo.update(widths=2)
