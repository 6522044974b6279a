#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How processes end and fork: each test runs programs of its own.

    tests/python/processes.py [unittest's arguments]
"""
import os
import time
import unittest

from programs import LIMIT, Programs


class Ends(Programs):
    def test_in_any_order(self):
        self.assert_quiet("""
            job = tessera.Job()
            a = job.zeros((50, 50), ghosts=1)
            view, halo, handle, world, counter = a.local, a.halo, a.get_async(), job.world, job.counter()
            halo.update()
            del job
            a[0, 0] = 1
            assert a.job.rank == 0 and world.sum(1) == 1 and a.sum() == 1
            del a, world
            assert view.sum() == 1 and counter.next() == 0
            print("done")
            """)

    def test_with_everything_open(self):
        self.assert_quiet("""
            job = tessera.Job()
            a = job.zeros((50, 50), ghosts=1)
            view, handle, lock = a.local, a.get_async(), job.locks(job.size)[job.rank]
            lock.acquire()
            a.halo.start(periodic=True)
            job.begin_phase("open")
            access = a.access()
            access.__enter__()
            try:
                out = tessera.Output(job, "open.h5")
                out.write(a)
            except tessera.Unsupported:
                pass
            cycle = [a, view, job]
            cycle.append(cycle)
            print("done")
            """, ranks=2)
        self.assertEqual([name for name in os.listdir(self.folder.name) if "open" in name and ".py" not in name], [])

    def test_by_an_exception_on_one_rank(self):
        started = time.monotonic()
        process = self.start("""
            job = tessera.Job()
            a = job.zeros(10, name="A")
            if job.rank == 1:
                raise ZeroDivisionError("on purpose")
            try:
                a.sync()
            except tessera.Error as error:
                print(type(error).__name__, flush=True)
                raise
            """, ranks=2)
        out, err = process.communicate(timeout=LIMIT)
        self.assertNotEqual(process.returncode, 0)
        self.assertIn("ZeroDivisionError: on purpose", err)
        self.assertIn(out.strip(), ("Closed", "PeerLost", ""))
        self.assertLess(time.monotonic() - started, LIMIT / 2)

    def test_stopped_jobs(self):
        self.assert_quiet("""
            job = tessera.Job()
            a, world, counter, locks = job.zeros((4, 4), ghosts=1, name="A"), job.world, job.counter(), job.locks(1)
            view, halo = a.local, a.halo
            handle = a.get_async()
            job.stop()
            job.stop()
            for use in (lambda: a[0], lambda: a[[0]], lambda: a.put(0, 1), lambda: a.acc(0, 1), lambda: a.get_async().wait(), a.sync,
                        a.fence, a.sum, lambda: a + a, lambda: a @ a, lambda: a.local, halo.update, a.like, a.fill_random,
                        lambda: a.fill(1), lambda: world.sum(1), world.barrier, lambda: world.broadcast(1),
                        lambda: world.allgather(1), lambda: world.all(1), lambda: world.split(0), counter.next,
                        counter.reset, lambda: locks[0].acquire(), lambda: job.zeros(3), job.counter, job.barrier,
                        job.fence, lambda: job.team([0]), lambda: job.world, lambda: job.phase("x"),
                        lambda: job.begin_phase("x"), lambda: tessera.Output(job, "x.h5"),
                        lambda: tessera.save("x.h5", a), lambda: tessera.load(job, "x.h5"), lambda: a.access().__enter__(),
                        lambda: tessera.linalg.eigh(a)):
                try:
                    use()
                except tessera.Closed as error:
                    assert str(error), use
                else:
                    raise AssertionError("not refused")
            a.free()
            assert "stopped" in repr(job) and "'A'" in repr(a) and job.is_stopped
            assert a.shape == (4, 4) and view.sum() == 0 and (job.rank, job.size, world.size) == (0, 1, 1)
            print("done")
            """)

    def test_jobs_after_each_other(self):
        # As in a notebook whose first cell runs again.
        self.assert_quiet("""
            job = tessera.Job()
            a = job.full(3, 1.0)
            job = tessera.Job()
            b = job.full(3, 2.0)
            assert a.sum() == 3 and b.sum() == 6
            a = None
            with job:
                pass
            with tessera.Job() as job:
                assert job.full(3, 4.0).sum() == 12
            print("done")
            """)


class Forks(Programs):
    def test_children_may_exit(self):
        out, err = self.run_program("""
            job = tessera.Job()
            a = job.full(3, 1.0, name="A")
            view = a.local
            a.sync()
            child = os.fork()
            if child == 0:
                try:
                    a[0]
                except tessera.Closed as error:
                    assert "made by fork()" in str(error)
                    sys.exit(5)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 5
            a.acc(..., 1.0)
            a.sync()
            assert (a[...] == 1 + job.size).all()
            job.stop()
            print("done")
            """, ranks=2)
        self.assertEqual(out.split(), ["done", "done"])

    def test_multiprocessing(self):
        self.assert_quiet("""
            import multiprocessing

            def read(number):
                return array[number]

            def texts(number):
                try:
                    read(number)
                except tessera.Closed as error:
                    return str(error)

            if __name__ == "__main__":
                job = tessera.Job()
                array = job.full(3, 1.0, name="A")
                with multiprocessing.get_context("fork").Pool(2) as pool:
                    for text in pool.map(texts, range(3)):
                        assert "made by fork()" in text and "hint:" in text, text
                    try:
                        pool.map(read, range(3))
                    except tessera.Closed as error:  # which crossed the processes
                        assert "made by fork()" in str(error) and error.code == "closed", error
                    else:
                        raise AssertionError("not refused")
                assert array.sum() == 3
                print("done")
            """)


if __name__ == "__main__":
    unittest.main()
