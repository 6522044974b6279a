# SPDX-License-Identifier: BSD-3-Clause
"""Jobs, teams, reductions; how arrays are made and freed; refusals."""

import gc
import os
import threading
import time
import weakref

import numpy as np

import tessera
from checks import DTYPES, Case, numbers


class Jobs(Case):
    def test_queries(self):
        job = self.job
        self.assertTrue(0 <= job.rank < job.size)
        self.assertEqual(job.world.rank, job.rank)
        self.assertEqual(job.world.ranks, list(range(job.size)))
        self.assertIn(f"rank {job.rank} of {job.size}", repr(job))
        self.assertTrue(0 <= job.node_of(job.rank) < job.node_count)
        self.assertEqual(len(job.world), job.size)
        with self.assertRefused(tessera.OutOfRange):
            job.node_of(job.size)
        with self.job.zeros(3) as array:
            before = job.traffic()["put"]
            array[0] = 1.0
            after = job.traffic()["put"]
            self.assertEqual(after[0] - before[0], 1)
            array.sync()

    def test_waits_release_the_interpreter_lock(self):
        # Another thread of the last rank counts while the others wait for it in a barrier.
        counted = []

        def count():
            for _ in range(20):
                time.sleep(0.005)
                counted.append(1)

        thread = threading.Thread(target=count)
        thread.start()
        if self.job.rank == self.job.size - 1:
            thread.join()
        self.job.barrier()
        thread.join()
        self.assertEqual(len(counted), 20)

    def test_children_are_refused(self):
        with self.job.full((3, 3), 4.0, name="C") as array:
            view = array.local
            array.sync()
            child = os.fork()
            if child == 0:
                code = 1
                try:
                    _ = view.sum()
                    for use in (lambda: array[0, 0], array.sync, self.job.barrier, lambda: self.job.zeros(3)):
                        try:
                            use()
                            code = 2
                            break
                        except tessera.Closed as error:
                            if "made by fork()" not in str(error):
                                code = 3
                                break
                    else:
                        code = 0
                finally:
                    os._exit(code)
            self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)
            self.assertHolds(array, np.full((3, 3), 4.0))


class Teams(Case):
    def test_reductions(self):
        world = self.job.world
        ranks = range(self.job.size)
        self.assertEqual(world.sum(self.job.rank), sum(ranks))
        self.assertIs(type(world.sum(self.job.rank)), int)
        self.assertEqual(world.sum(0.5), 0.5 * self.job.size)
        self.assertEqual(world.sum(1j), 1j * self.job.size)
        self.assertEqual(world.sum(True), self.job.size)
        self.assertEqual(world.max(self.job.rank), self.job.size - 1)
        self.assertEqual(world.min(-self.job.rank), 1 - self.job.size)
        self.assertEqual(world.prod(2), 2**self.job.size)
        self.assertEqual(world.bit_or(1 << self.job.rank), 2**self.job.size - 1)
        self.assertEqual(world.bit_and(3), 3)
        self.assertTrue(world.any(self.job.rank == 0))
        self.assertEqual(world.all(self.job.rank == 0), self.job.size == 1)
        for dtype in DTYPES:
            value = numbers((3, 4), dtype, seed=self.job.rank)
            self.assertEqualArrays(world.sum(value), sum(numbers((3, 4), dtype, seed=r) for r in ranks))
            self.assertEqualArrays(value, numbers((3, 4), dtype, seed=self.job.rank))  # unchanged
        self.assertEqualArrays(world.sum([1, 2]), np.array([1, 2]) * self.job.size)
        with self.assertRefused(tessera.WrongType, "values of dtype"):
            world.sum("text")

    def test_objects(self):
        world = self.job.world
        last = self.job.size - 1
        value = {"a": [1, 2.5], "b": numbers((5, 5))} if self.job.rank == last else None
        given = world.broadcast(value, root=last)
        self.assertEqual(given["a"], [1, 2.5])
        self.assertEqualArrays(given["b"], numbers((5, 5)))
        self.assertEqual(world.broadcast(3), 3)
        texts = world.allgather("x" * self.job.rank)
        self.assertEqual(texts, ["x" * rank for rank in range(self.job.size)])
        with self.assertRaises(tessera.Error):  # on all ranks, though only the root cannot pickle it
            world.broadcast(lambda: 0 if self.job.rank == 0 else None)
        with self.assertRefused(tessera.OutOfRange, f"root={self.job.size}"):
            world.broadcast(1, root=self.job.size)

    def test_parts_of_the_job(self):
        color = self.job.rank % 2
        team = self.job.world.split(color, key=-self.job.rank)
        members = [rank for rank in reversed(range(self.job.size)) if rank % 2 == color]
        self.assertEqual(team.ranks, members)
        self.assertEqual(team.sum(self.job.rank), sum(members))
        with self.job.zeros((4, 4), team=team, name=f"T{color}") as array:
            array.acc(..., 1)
            self.assertHolds(array, np.full((4, 4), float(team.size)))
            self.assertEqual(array.team.ranks, members)
        team.barrier()
        alone = self.job.world.split(None)
        self.assertEqual(alone.ranks, [self.job.rank])
        own = self.job.team([self.job.rank])
        self.assertEqual(own.broadcast("mine"), "mine")
        with self.assertRefused(tessera.InvalidArgument):
            self.job.team([])
        self.job.barrier()


class Creation(Case):
    def test_ways_to_make_arrays(self):
        job = self.job
        with job.zeros((3, 4), "i2", name="Z") as array:
            self.assertEqual((array.shape, array.ndim, array.size, array.itemsize, array.nbytes, array.name),
                             ((3, 4), 2, 12, 2, 24, "Z"))
            self.assertHolds(array, np.zeros((3, 4), "i2"))
            self.assertIn("'Z' shape=(3, 4) dtype=int16", repr(array))
            self.assertEqual(sum(1 for _ in array.blocks()), len(array.patches(...)))
            with array.like("copy") as other:
                self.assertEqual((other.shape, other.dtype, other.name), ((3, 4), array.dtype, "copy"))
                self.assertEqual(other.distribution, array.distribution)
        with job.empty(5) as array:
            self.assertEqual(array.dtype, np.dtype("f8"))
        for dtype in ("f8", "f4", "c8", "i2", "u1", "?"):
            with job.ones((2, 3), dtype, name="ones") as array:
                self.assertHolds(array, np.ones((2, 3), dtype))
        with job.full((2, 2), 3) as array:
            self.assertHolds(array, np.full((2, 2), 3))
        with job.full((2, 2), 1, dtype=np.complex64) as array:
            self.assertHolds(array, np.ones((2, 2), "c8"))
        with job.array([[1, 2], [3, 4]]) as array:
            self.assertHolds(array, np.array([[1, 2], [3, 4]]))
        root = job.size - 1
        value = numbers((7, 3), "f4") if job.rank == root else None
        with job.from_numpy(value, root=root, ghosts=1) as array:
            self.assertEqual(array.ghosts, (1, 1))
            self.assertHolds(array, numbers((7, 3), "f4"))

    def test_layouts(self):
        job = self.job
        mirror = numbers((12, 8))
        for layout in (tessera.Distribution.regular((12, 8), job.size, grid=(job.size, 1)),
                       tessera.Distribution.block_cyclic((12, 8), 3, job.size, order="F"),
                       tessera.Distribution.tiled((12, 8), (5, 3), (job.size, 1), job.size),
                       tessera.Distribution.scalapack((12, 8), (2, 2), (1, job.size), job.size),
                       tessera.Distribution.irregular((12, 8), [[0], [0] if job.size == 1 else [0, 5]], job.size),
                       tessera.Distribution.restricted((12, 8), [job.size - 1], job.size)):
            with job.from_numpy(mirror, distribution=layout) as array:
                self.assertHolds(array, mirror, repr(layout))
                owners = np.empty((12, 8), int)
                for block in array.blocks():
                    owners[block.slices] = block.owner
                self.assertEqual(array.owner(11, 7), owners[11, 7])
                self.assertEqual(array.owner((-12, 0)), owners[0, 0])
        with job.zeros((12, 8), grid=(1, job.size), min_block=0) as array:
            self.assertEqual({block.lo[0] for block in array.blocks()}, {0})
        with job.zeros((12, 8), holders=[0]) as array:
            self.assertEqual([block.owner for block in array.blocks()], [0])

    def test_dropped_arrays_are_freed_by_later_calls(self):
        # 30 arrays of 64 MiB: without reuse they would take 1.9 GiB.
        for turn in range(30):
            array = self.job.zeros((8 << 20,), name="large")
            array.local[:1] = turn
            if turn % 2 == self.job.rank % 2:  # some ranks keep it a little longer
                kept = array  # noqa: F841
            del array
        kept = None  # noqa: F841
        self.job.barrier()

    def test_objects_do_not_keep_each_other(self):
        array = self.job.zeros(3, ghosts=1)
        array.halo.update()
        gone = weakref.ref(array)
        del array
        gc.collect()
        self.assertIsNone(gone())
        self.job.barrier()

    def test_refusals(self):
        job = self.job
        for make, kind, texts in (
                (lambda: job.zeros((2, -1)), tessera.InvalidArgument, ("-1",)),
                (lambda: job.zeros("abc"), tessera.WrongType, ("shape='abc'",)),
                (lambda: job.zeros((1,) * 9), tessera.InvalidArgument, ("dimensions",)),
                (lambda: job.zeros(3, "nonsense"), tessera.WrongType, ("'nonsense' is not a dtype",)),
                (lambda: job.zeros(3, object), tessera.WrongType, ("Python objects",)),
                (lambda: job.zeros(3, "U"), tessera.WrongType, ("no bytes", "hint")),
                (lambda: job.zeros(3, ">f8"), tessera.WrongType, ("byte order",)),
                (lambda: job.zeros(3, ghost=1), tessera.WrongType, ("no option 'ghost'", "ghosts")),
                (lambda: job.zeros((3, 3), ghosts=(1, 1, 1)), tessera.InvalidArgument, ("3 numbers for 2",)),
                (lambda: job.zeros(3, order="X"), tessera.InvalidArgument, ("order='X' is not a memory order",)),
                (lambda: job.zeros(3, distribution=1), tessera.WrongType, ("not a tessera.Distribution",)),
                (lambda: job.zeros(3, distribution=tessera.Distribution.regular(4, job.size)),
                 tessera.InvalidArgument, ("the shape is 3, and the distribution's 4",)),
                (lambda: job.zeros((1 << 62,), "i1"), tessera.OutOfMemory, ()),
                (lambda: job.full(3, 300, dtype="u1"), tessera.InvalidArgument, ("300 is outside 0 to 255",)),
                (lambda: job.zeros(3, team=1), tessera.WrongType, ("team=1 is not a tessera.Team",))):
            with self.assertRefused(kind, *texts):
                make()
        job.barrier()

    def test_one_rank_that_is_wrong_fails_all(self):
        if self.job.size > 1:
            with self.assertRefused(tessera.Error, "ghosts"):
                self.job.zeros((3, 3), ghosts=(1, 1, 1) if self.job.rank == 1 else 1)
            with self.assertRefused(tessera.InvalidArgument, "different"):
                if self.job.rank == 1:
                    self.job.world.barrier()
                else:
                    self.job.zeros((3, 3), name="W")
            self.job.barrier()
