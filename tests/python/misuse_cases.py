# SPDX-License-Identifier: BSD-3-Clause
"""What newcomers try: each is done as NumPy does it, or refused with a text of Tessera."""

import copy
import ctypes
import gc
import pickle
import threading

import numpy as np

import tessera
from checks import Case, numbers


class Indices(Case):
    def test_numbers_of_numpy_are_integers(self):
        mirror = numbers((5, 6), "i4")
        with self.job.from_numpy(mirror, name="N") as array:
            for number in (np.int8(2), np.uint64(3), np.array(1), np.intp(-1)):
                self.assertEqualArrays(array[number], mirror[number], repr(number))
                self.assertEqualArrays(array[number:, 1], mirror[number:, 1], repr(number))
            self.assertEqualArrays(array[()], mirror)
            self.assertIs(type(array[2, 3]), np.int32)
            self.assertEqualArrays(array[2:3, 3:4], mirror[2:3, 3:4])
            array.sync()

    def test_what_is_not_an_index_is_refused(self):
        with self.job.zeros((5, 6), name="N") as array:
            for key in (np.True_, np.array(True), (np.False_, 0), np.float64(1), np.array(1.5), {1}, {"a": 1}, b"a",
                        1j, object(), (0, "x"), [None], [[1.5]], ["a"]):
                for use in (lambda k=key: array[k], lambda k=key: array.put(k, 0), lambda k=key: array.acc(k, 1)):
                    with self.assertRefused(tessera.WrongType, "array 'N' (float64, 5 x 6)"):
                        use()
            for key in (2**63, -2**63 - 1, (0, 2**64), np.uint64(2**63), -6, (0, 6), (-6, 0)):
                with self.assertRefused(tessera.OutOfRange, "array 'N' (float64, 5 x 6)"):
                    array[key]  # noqa: B018
            for key in ([2**70], [5], [-6], ([0], [6]), np.array([2**62])):
                with self.assertRefused(tessera.Error, "'N'"):
                    array[key]  # noqa: B018
            with self.assertRefused(tessera.OutOfRange, "3 indices for 2 dimensions"):
                array[0, 0, 0]  # noqa: B018
            self.assertEqual(array[2**62:2**63 - 1].shape, (0, 6))
            self.assertEqual(array[::2**62].shape, (1, 6))
            array.sync()

    def test_single_elements(self):
        with self.job.zeros((5, 6), "i8", name="E") as array:
            for use in (lambda: array.fetch_add(0), lambda: array.fetch_add((0, slice(1))), lambda: array.owner(0)):
                with self.assertRefused(tessera.InvalidArgument, "one element is needed, which takes 2 integers"):
                    use()
            with self.assertRefused(tessera.InvalidArgument, "is outside -9223372036854775808"):
                array.fetch_add((0, 0), 2**63)
            with self.assertRefused(tessera.WrongType, "float64 values"):
                array.swap((0, 0), 0.5)
            with self.assertRefused(tessera.OutOfRange, "'E'"):
                array.compare_and_swap((5, 0), 0, 1)
            with self.assertRefused(tessera.WrongType, "rank='a' is not an integer"):
                array.blocks("a")
            with self.assertRefused(tessera.OutOfRange, f"there is no rank {self.job.size} in its team of"):
                array.blocks(self.job.size)
            array.sync()
        with self.job.zeros(3, "f8", name="F") as array:
            with self.assertRefused(tessera.WrongType, "elements are not integers of 4 or 8 bytes"):
                array.fetch_add(0)


class Values(Case):
    def test_integers_are_never_wrapped(self):
        with self.job.zeros(3, "i2", name="W") as array:
            for value in (40000, [1, 2, 40000], np.array([1, 2, -40000]), np.uint64(2**63), np.array([2**63], "u8"),
                          np.uint16(65535), -2**70):
                for use in (lambda v=value: array.put(..., v), lambda v=value: array.acc(..., v),
                            lambda v=value: array.put_async(..., v), lambda v=value: array.put([0], np.ravel(v)[-1:])):
                    with self.assertRaises(tessera.Error) as caught:
                        use()
                    self.assertIn("'W'", str(caught.exception))
            array[...] = np.array([7, 8, 9], "i8")
            self.assertHolds(array, np.array([7, 8, 9], "i2"))
            array[...] = [1, 2, -32768]
            self.assertHolds(array, np.array([1, 2, -32768], "i2"))
        with self.job.zeros(2, "u8", name="U") as array:
            array[...] = [2**64 - 1, 2**63]
            self.assertHolds(array, np.array([2**64 - 1, 2**63], "u8"))
        with self.job.zeros(1, "i8", name="L") as array:
            with self.assertRefused(tessera.InvalidArgument, "9223372036854775808 is outside"):
                array[...] = np.array([2**63], "u8")

    def test_random_sources_and_destinations(self):
        generator = np.random.default_rng(7)

        def view(shape, dtype):
            """Memory of that shape with any strides: steps, reversed, transposed, shifted."""
            order = generator.permutation(len(shape))
            steps = generator.integers(1, 4, len(shape))
            base = np.zeros([shape[dim] * steps[dim] + 3 for dim in order], dtype)
            whole = base.transpose(np.argsort(order))
            return whole[tuple(slice(first, first + n * step, step) for first, n, step in
                               zip(generator.integers(0, 3, len(shape)), shape, steps))][
                tuple(slice(None, None, int(generator.choice([1, -1]))) for _ in shape)]

        for turn in range(60):
            shape = tuple(int(n) for n in generator.integers(1, 7, int(generator.integers(1, 5))))
            mirror = numbers(shape, "f8", seed=turn)
            with self.job.zeros(shape, name=f"R{turn}") as array:
                source = view(shape, generator.choice(["f8", ">f8", "f4", "i2"]))
                source[...] = mirror
                source.flags.writeable = bool(generator.integers(0, 2))
                if self.job.rank == turn % self.job.size:
                    array[...] = source
                self.assertHolds(array, mirror, f"{turn}: {source.strides}")
                out = view(shape, "f8")
                array.get(out=out)
                self.assertEqualArrays(out, mirror, f"{turn}: {out.strides}")
                array.sync()

    def test_structures(self):
        record = np.dtype([("x", "f8"), ("n", "i4"), ("s", "S3")])
        swapped = np.dtype([("x", ">f8"), ("n", "<i4"), ("s", "S3")])
        mirror = np.array([(1.5, 2, b"abc"), (2.5, 3, b"")], record)
        with self.job.zeros(2, record, name="S") as array:
            if self.job.rank == 0:
                array[0] = mirror[0]
                array[1:] = mirror.astype(swapped)[1:]
            self.assertHolds(array, mirror)
            self.assertEqual(array[0]["n"], 2)
            for value in (np.zeros(2), (1, 2), "abc", np.zeros(2, [("x", "f8")])):
                with self.assertRaises(tessera.Error):
                    array[...] = value
            with self.assertRaises(tessera.Error):
                array.sum()
            with self.assertRaises(TypeError):
                array + array  # noqa: B018
            with self.assertRaises((tessera.Error, TypeError)):
                array["x"]  # noqa: B018
            self.assertHolds(array, mirror)
        with self.assertRefused(tessera.WrongType, "byte order"):
            self.job.zeros(2, swapped)
        with self.assertRefused(tessera.WrongType, "Python objects"):
            self.job.zeros(2, [("x", "f8"), ("o", object)])
        self.job.barrier()

    def test_factors(self):
        with self.job.zeros(3, "i4", name="F") as array:
            for scale in (0.5, "2", None, 2**40, 1j, [1], object()):
                with self.assertRefused(tessera.Error, "'F'"):
                    array.acc(..., 1, scale=scale)
            array.acc(..., np.int8(2), scale=np.int64(3))
            self.assertHolds(array, np.full(3, 6 * self.job.size, "i4"))

    def test_fills(self):
        with self.job.zeros(3, "f8", name="F") as array:
            for use in (lambda: tessera.add_scaled("a", array, 1, array, array),
                        lambda: tessera.add_scaled(1j, array, 1, array, array)):
                with self.assertRefused(tessera.WrongType, "is not a number of type float64"):
                    use()
            array.sync()


class Objects(Case):
    def test_are_not_copied_or_pickled(self):
        with self.job.zeros(3, name="P") as array:
            for thing in (array, self.job, self.job.world, array.halo, self.job.counter(), array.get_async()):
                for use in (pickle.dumps, copy.copy, copy.deepcopy):
                    with self.assertRaises(TypeError):
                        use(thing)
            array.sync()

    def test_members_cannot_be_set(self):
        with self.job.zeros(3, name="P") as array:
            for name in ("local", "shape", "dtype", "name", "T"):
                with self.assertRaises(AttributeError):
                    setattr(array, name, 1)
            with self.assertRaisesRegex(TypeError, "is distributed"):
                array[...] = array
            array.sync()

    def test_lists_of_handles(self):
        with self.job.zeros(3, name="H") as array:
            with self.assertRefused(tessera.WrongType, "wait_all: 1 is not a tessera.Handle"):
                tessera.wait_all([array.get_async(), 1])
            with self.assertRaises(TypeError):
                tessera.wait_all(3)
            self.assertEqual(tessera.wait_all([]), [])
            array.sync()

    def test_cycles_are_collected(self):
        array = self.job.zeros(1000, name="C")

        class Holder:
            pass

        holder = Holder()
        holder.array, holder.view, holder.handle, holder.own = array, array.local, array.get_async(), holder
        holder.counter = self.job.counter()
        del array, holder
        gc.collect()
        self.job.barrier()
        with self.job.zeros(1000) as other:
            self.assertHolds(other, np.zeros(1000))

    def test_accesses_begin_once(self):
        with self.job.zeros((4, 4), name="A") as array:
            access = array.access()
            access.__exit__(None, None, None)
            with access as view:
                view[...] = 1
                with self.assertRefused(tessera.InvalidArgument, "this access has begun"):
                    access.__enter__()
            self.assertHolds(array, np.ones((4, 4)))
            access = array.access()
            access.__enter__()
            del access
            array.sync()

    def test_locks(self):
        locks = self.job.locks(2)
        with self.assertRefused(tessera.Error, "lock"):
            locks[0].release()
        for number in (2, -3, 2**40):
            with self.assertRefused(tessera.OutOfRange, f"there is no lock {number}; there are 2"):
                locks[number]  # noqa: B018
        with self.assertRefused(tessera.InvalidArgument, "-1 locks"):
            self.job.locks(-1)
        with self.assertRaisesRegex(ZeroDivisionError, "on purpose"):
            with locks[1]:
                raise ZeroDivisionError("on purpose")
        with locks[1]:
            pass
        locks.free()
        with self.assertRaises(tessera.Error):
            locks[0].acquire()


class Collectives(Case):
    def test_values_of_reductions(self):
        world = self.job.world
        self.assertEqualArrays(world.sum(np.array([1, 2], ">i4")), np.array([1, 2], "i4") * np.int32(self.job.size))
        self.assertEqual(world.max(np.array(3.5)), 3.5)
        for value in (None, "a", object(), [1, "a"], 2**70, {1: 2}, np.array(["a"]), np.longdouble(1)):
            with self.assertRefused(tessera.Error):
                world.sum(value)
        with self.assertRefused(tessera.InvalidArgument, "ambiguous"):
            world.all(np.array([1, 0]))
        if self.job.size > 1:
            with self.assertRefused(tessera.Error):
                world.sum("a" if self.job.rank == 0 else 1)
            with self.assertRefused(tessera.Error):
                world.any(np.array([1, 0]) if self.job.rank == 0 else 1)
            with self.assertRefused(tessera.Error):
                world.sum([1, 2] if self.job.rank == 0 else 1)
        self.assertEqual(world.sum(1), self.job.size)

    def test_teams(self):
        for ranks in ([0, 0], [self.job.size], [-1], "a", None, [0.5]):
            with self.assertRefused(tessera.Error):
                self.job.team(ranks)
        for color in ("a", 0.5, 2**40):
            with self.assertRefused(tessera.InvalidArgument, "color="):
                self.job.world.split(color)
        self.job.barrier()

    def test_a_different_call_on_one_rank_is_an_error_on_all(self):
        if self.job.size == 1:
            self.skipTest("one rank")
        with self.job.zeros(4, name="D") as array, self.job.zeros(4, name="E") as other:
            for one, others in ((array.sync, self.job.barrier), (array.sync, other.sync), (array.sum, array.max),
                                (lambda: self.job.world.sum(1), lambda: self.job.world.broadcast(1)),
                                (lambda: array.fill(1), lambda: array.fill(2)),
                                (lambda: self.job.zeros(3), lambda: self.job.zeros(4))):
                with self.assertRaises(tessera.Error):
                    (one if self.job.rank == 0 else others)()
            self.job.barrier()


class Threads(Case):
    def test_transfers_of_many_threads(self):
        with self.job.zeros((8, 1000), "i8", name="T") as array:
            failures = []

            def work(row):
                try:
                    for turn in range(50):
                        array.acc(row, np.ones(1000, "i8"))
                        array[row, turn]  # noqa: B018
                        array.put_async((row, slice(0, 0)), 1).wait()
                except Exception as error:  # noqa: BLE001 (reported below)
                    failures.append(error)

            threads = [threading.Thread(target=work, args=(row,)) for row in range(8)]
            for each in threads:
                each.start()
            for each in threads:
                each.join()
            self.assertEqual(failures, [])
            self.assertHolds(array, np.full((8, 1000), 50 * self.job.size))

    def test_threads_wait_for_one_handle(self):
        with self.job.zeros((2000, 100), name="H") as array:
            for _ in range(10):
                handle = array.get_async()
                found = []
                threads = [threading.Thread(target=lambda: found.append(handle.wait().shape)) for _ in range(4)]
                for each in threads:
                    each.start()
                while not handle.done():
                    pass
                for each in threads:
                    each.join()
                self.assertEqual(found, [(2000, 100)] * 4)
            array.sync()

    def test_an_exception_in_a_thread_ends_only_that(self):
        with self.job.zeros(10, name="X") as array:
            # Raised in the thread between two transfers, as a debugger does.
            state = {"turns": 0}

            def work():
                try:
                    while True:
                        array.get()
                        state["turns"] += 1
                except ZeroDivisionError:
                    state["ended"] = True

            thread = threading.Thread(target=work)
            thread.start()
            while state["turns"] == 0:
                pass
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(ZeroDivisionError))
            thread.join(30)
            self.assertTrue(state.get("ended"))
            array.sync()
