# SPDX-License-Identifier: BSD-3-Clause
"""Lists of elements, compared with NumPy's; atomic operations; counters and locks."""

import numpy as np

import tessera
from checks import Case, numbers


class IndexLists(Case):
    def test_gets_equal_numpys(self):
        mirror = numbers((9, 7, 5), "i8")
        rows = np.array([3, -1, 0, 3, 8])
        columns = np.array([0, 2, -7, 6, 1])
        planes = [4, 4, -5, 1, 0]
        mask = mirror % 3 == 0
        keys = ((rows, columns, planes), (rows[:, None], columns, 2), (list(rows), 1, -1),
                rows, ([2, 0],), (slice(None), columns), (..., planes), (slice(1, 8, 2), [1, -1], slice(0, 2)),
                mask, mask[:, 0, 0], (rows.reshape(1, 5, 1), 0, 0), np.array([], dtype=int), range(3))
        with self.job.from_numpy(mirror) as array:
            for key in keys:
                self.assertEqualArrays(array[key], mirror[key], str(key))
            array.sync()

    def test_puts_equal_numpys(self):
        mirror = np.zeros((9, 7))
        writes = ((([1, 2, 3], [4, 5, 6]), [1.0, 2.0, 3.0]), (([0, 8], 3), 7.0), ([4, -2], numbers((2, 7))),
                  ((slice(0, 3), [0, 6]), 5), ((slice(0, 9, 4), [1, 2]), numbers((3, 2))),
                  (np.eye(9, 7, dtype=bool), np.arange(7.0)))
        with self.job.zeros((9, 7)) as array:
            for turn, (key, value) in enumerate(writes):
                mirror[key] = value
                if turn % self.job.size == self.job.rank:
                    array[key] = value
                self.assertHolds(array, mirror, str(key))

    def test_gather_and_scatter(self):
        mirror = numbers((6, 8))
        places = np.array([[0, 0], [5, 7], [-1, -1], [3, 4], [0, 0]])
        with self.job.from_numpy(mirror) as array:
            self.assertEqualArrays(array.gather(places), mirror[places[:, 0], places[:, 1]])
            self.assertEqualArrays(array.gather(([1, 2], [3, 4])), mirror[[1, 2], [3, 4]])
            array.sync()
            if self.job.rank == 0:
                array.scatter(places[:4], [1.0, 2.0, 2.0, 4.0])
            mirror[0, 0], mirror[5, 7], mirror[3, 4] = 1, 2, 4
            self.assertHolds(array, mirror)
            array.scatter_acc(places, 1.0, scale=0.5)
            array.acc(([3, 3], [4, 4]), [1.0, 2.0])
            np.add.at(mirror, tuple(places.T), 0.5 * self.job.size)
            mirror[3, 4] += 3 * self.job.size
            self.assertHolds(array, mirror)
        with self.job.zeros(5, "i4") as line:
            line.scatter_acc([1, 3, 3], 1)
            self.assertHolds(line, np.array([0, 1, 0, 2, 0], "i4") * np.int32(self.job.size))

    def test_refusals(self):
        with self.job.zeros((4, 5), name="L") as array:
            with self.assertRefused(tessera.OutOfRange, "'L'"):
                array[[0, 4], [0, 0]]  # noqa: B018
            with self.assertRefused(IndexError, "'L'"):
                array.gather([[0, 0], [1, 5]])
            with self.assertRefused(tessera.OutOfRange, "index 4 of dimension 0"):
                array[[4]]  # noqa: B018
            with self.assertRefused(tessera.WrongType, "indices of dtype float64"):
                array[[0.5, 1.0]]  # noqa: B018
            with self.assertRefused(tessera.InvalidArgument, "the mask has shape (3,)"):
                array[np.zeros(3, bool)]  # noqa: B018
            with self.assertRefused(tessera.InvalidArgument, "different lengths"):
                array[[0, 1, 2], [0, 1]]  # noqa: B018
            with self.assertRefused(tessera.InvalidArgument, "values of shape (3,) for indices of shape (2,)"):
                array.scatter([[0, 0], [1, 1]], [1, 2, 3])
            with self.assertRefused(tessera.InvalidArgument, "indices of shape (2, 3)"):
                array.gather([[0, 0, 0], [1, 1, 1]])
            with self.assertRefused(tessera.InvalidArgument, "a list, slices and integers"):
                with self.job.zeros((2, 2, 2), team=self.job.team([self.job.rank])) as cube:
                    cube[0, :, [1]]  # noqa: B018
            array.sync()


class Atomics(Case):
    def test_every_ticket_is_drawn_once(self):
        for dtype in ("i4", "i8", "u4", "u8"):
            with self.job.zeros((2, 3), dtype) as array:
                drawn = [array.fetch_add((1, -1)) for _ in range(20)]
                everybody = sum(self.job.world.allgather(drawn), [])
                self.assertEqual(sorted(everybody), list(range(20 * self.job.size)), dtype)
                self.assertEqual(array[1, 2], 20 * self.job.size)
                array.sync()

    def test_swap_and_compare_and_swap(self):
        with self.job.full(3, -5, dtype="i8") as array:
            if self.job.rank == 0:
                self.assertEqual(array.swap(0, 7), -5)
                self.assertEqual(array.compare_and_swap(0, 8, 9), 7)
                self.assertEqual(array.compare_and_swap(0, 7, 9), 7)
                self.assertEqual(array.read_inc((0,), -4), 9)
            self.assertHolds(array, np.array([5, -5, -5]))

    def test_refusals(self):
        with self.job.zeros((2, 2), name="F") as array:
            with self.assertRefused(tessera.WrongType, "fetch_add of", "'F'", "integers of 4 or 8 bytes"):
                array.fetch_add((0, 0))
            array.sync()
        with self.job.zeros((2, 2), "i4", name="N") as array:
            with self.assertRefused(tessera.InvalidArgument, "one element is needed, which takes 2 integers"):
                array.fetch_add(0)
            with self.assertRefused(tessera.OutOfRange, "index 2 of dimension 1, which has 0 to 1"):
                array.fetch_add((0, 2))
            with self.assertRefused(tessera.WrongType, "float64 values would be changed"):
                array.fetch_add((0, 0), 0.5)
            with self.assertRefused(tessera.InvalidArgument, "4294967296 is outside"):
                array.swap((0, 0), 2**32)
            array.sync()


class CountersAndLocks(Case):
    def test_tasks_are_dealt_once(self):
        counter = self.job.counter()
        mine = []
        while (task := counter.next()) < 100:
            mine.append(task)
        everybody = sum(self.job.world.allgather(mine), [])
        self.assertEqual(sorted(everybody), list(range(100)))
        counter.reset(7)
        self.assertEqual(sorted(self.job.world.allgather(counter.next(3))),
                         list(range(7, 7 + 3 * self.job.size, 3)))
        self.job.barrier()
        counter.free()
        with self.assertRefused(tessera.Closed):
            counter.next()

    def test_locks_exclude(self):
        locks = self.job.locks(5)
        self.assertEqual(len(locks), 5)
        with self.job.zeros(5, "f8") as array:
            for turn in range(25):
                with locks[turn % 5]:
                    array[turn % 5] = array[turn % 5] + 1
                    array.fence()
            self.assertHolds(array, np.full(5, 5.0 * self.job.size))
        if self.job.rank == 0:
            with locks[-1]:
                with self.assertRefused(tessera.InvalidArgument):
                    locks[4].acquire()
            self.assertTrue(locks[0].try_acquire())
            locks[0].release()
            with self.assertRefused(tessera.InvalidArgument):
                locks[0].release()
        with self.assertRefused(IndexError, "there is no lock 5; there are 5"):
            locks[5]  # noqa: B018
        self.job.barrier()
        locks.free()
