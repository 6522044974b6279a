#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Threads that use a job when the program ends, forks or stops the job: each test runs programs of its own.

    tests/python/threads.py [unittest's arguments]
"""
import os
import unittest

from programs import LIMIT, NODES, Programs


class Threads(Programs):
    """Daemon threads that still use the job when the program ends, or when it stops the job."""

    def test_in_transfers(self):
        for settings in [{}] * 12 + [NODES] * 8:
            self.assert_quiet("""
                import threading
                job = tessera.Job()
                a = job.zeros((300, 300), name="A")

                def use():
                    part = np.ones((50, 50))
                    while True:
                        a[10:60, 20:70]
                        a.acc((slice(0, 50), slice(200, 250)), part)
                        a.put_async(np.s_[250:300, 250:300], part).wait()

                for _ in range(6):
                    threading.Thread(target=use, daemon=True).start()
                time.sleep(0.05)
                print("done", flush=True)
                """, ranks=2, settings=settings)

    def test_in_functions_that_a_call_runs(self):
        for _ in range(5):
            self.assert_quiet("""
                import threading
                job = tessera.Job()

                def use(array):
                    while True:
                        np.sqrt(array + 1.0, out=array)

                arrays = [job.zeros((100, 100), team=job.team([0])) for _ in range(6)]
                for array in arrays:
                    threading.Thread(target=use, args=(array,), daemon=True).start()
                time.sleep(0.05)
                print("done", flush=True)
                """)

    def test_in_waits(self):
        for settings in {}, NODES:
            # All ranks get the error of the first one, whose thread the exit takes out of the sum.
            closed = os.path.join(self.folder.name, "closed")
            if os.path.exists(closed):
                os.remove(closed)
            self.assert_quiet("""
                import threading
                job = tessera.Job()
                a = job.zeros(1, name="A")
                locks = job.locks(job.size)
                if job.rank == 0:
                    locks[0].acquire()
                    threads = [threading.Thread(target=locks[0].acquire, daemon=True),
                               threading.Thread(target=job.world.sum, args=(1,), daemon=True)]
                    for thread in threads:
                        thread.start()
                    time.sleep(0.3)
                    a[0] = 1
                    a.fence()
                elif job.rank == 1:
                    try:
                        job.world.sum(1)
                    except tessera.Closed as error:
                        assert "rank 0 was interrupted" in str(error) or "rank 0 has left" in str(error), error
                    open("closed", "w").close()
                else:
                    while a[0] == 0 or not os.path.exists("closed"):
                        time.sleep(0.01)
                print("done", flush=True)
                """, ranks=3, settings=settings)

    def test_in_a_wait_that_cannot_end(self):
        # For a lock of another node: the process ends without a stop of its job.
        process = self.start("""
            import threading
            job = tessera.Job()
            locks = job.locks(job.size)
            if job.rank == 1:
                locks[1].acquire()
                job.barrier()
                print("done", flush=True)
                time.sleep(8)
            else:
                job.barrier()
                threading.Thread(target=locks[1].acquire, daemon=True).start()
                time.sleep(0.3)
                print("done", flush=True)
            """, ranks=2, settings=NODES)
        out, err = process.communicate(timeout=LIMIT)
        self.assertEqual(out.split(), ["done", "done"])
        self.assertIn("the exit does not stop the job", err)
        self.assertNotIn("Traceback", err)
        self.assertNotIn("signal", err)

    def test_in_a_function_that_does_not_end(self):
        out, err = self.run_program("""
            import threading
            from tessera import _core
            job = tessera.Job()
            a = job.zeros((4, 4), name="A")

            def body(lo, hi, views):
                while True:
                    pass

            threading.Thread(target=_core._transform, args=("test", [a], "", body), daemon=True).start()
            time.sleep(0.2)
            print("done", flush=True)
            """)
        self.assertEqual(out, "done\n")
        self.assertIn("the exit does not stop the job", err)

    def test_while_the_job_stops(self):
        for settings in {}, NODES:
            self.assert_quiet("""
                import threading
                job = tessera.Job()
                a = job.zeros((300, 300), name="A")
                texts = []

                def use():
                    try:
                        while True:
                            a[10:60, 20:70]
                            a.acc(5, 1.0)
                    except tessera.Closed as error:
                        texts.append(str(error))

                threads = [threading.Thread(target=use) for _ in range(6)]
                for thread in threads:
                    thread.start()
                time.sleep(0.1)
                job.stop()
                for thread in threads:
                    thread.join()
                assert len(texts) == 6 and all("the job was stopped" in text for text in texts), texts
                print("done")
                """, ranks=2, settings=settings)

    def test_while_the_job_stops_and_a_call_waits_for_another(self):
        # The stop waits for the thread that waits for the lock, which another thread's call gives back.
        self.assert_quiet("""
            import threading
            job = tessera.Job()
            locks = job.locks(1)
            is_held, is_waited_for = threading.Event(), threading.Event()

            def hold():
                with locks[0]:
                    is_held.set()
                    time.sleep(0.5)

            def wait():
                is_held.wait()
                is_waited_for.set()
                locks[0].acquire()
                taken.append(1)

            taken = []
            threads = [threading.Thread(target=hold), threading.Thread(target=wait)]
            for thread in threads:
                thread.start()
            is_waited_for.wait()
            time.sleep(0.1)
            try:
                job.stop()
            finally:
                for thread in threads:
                    thread.join()
            assert taken == [1]
            print("done")
            """)

    def test_that_start_and_stop_jobs(self):
        self.assert_quiet("""
            import threading

            def use():
                while True:
                    with tessera.Job() as job:
                        job.zeros(3).sync()

            job = tessera.Job()
            for _ in range(3):
                threading.Thread(target=use, daemon=True).start()
            time.sleep(0.2)
            print("done", flush=True)
            """)

    def test_that_fork(self):
        # The child has none of the threads, so it must not wait for their calls.
        self.assert_quiet("""
            import threading
            job = tessera.Job()
            locks = job.locks(1)
            locks[0].acquire()
            threading.Thread(target=locks[0].acquire, daemon=True).start()
            time.sleep(0.2)
            child = os.fork()
            if child == 0:
                began = time.monotonic()
                import atexit
                atexit._run_exitfuncs()
                os._exit(7 if time.monotonic() - began < 4 else 8)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
            print("done", flush=True)
            """)

    def test_stop_in_a_function_that_a_call_runs(self):
        self.assert_quiet("""
            from tessera import _core
            job = tessera.Job()
            a = job.zeros((4, 4), name="A")

            def body(lo, hi, views):
                try:
                    job.stop()
                except tessera.InvalidArgument as error:
                    texts.append(str(error))
                views[0][...] = a.shape[0] + a[0, 0]

            texts = []
            _core._transform("test", [a], "", body)
            assert "job.stop() in a function that a call of the library runs" in texts[0], texts
            assert (a[...] == 4).all()
            print("done")
            """)

    def test_after_the_exit_began(self):
        # As handlers of the exit do that were registered before the package's.
        self.assert_quiet("""
            import atexit
            job = tessera.Job()
            a = job.full(3, 1.0)
            view, texts = a.local, []
            atexit._run_exitfuncs()
            for act in (tessera.Job, lambda: a[0], job.barrier, lambda: job.zeros(3)):
                try:
                    act()
                except tessera.Closed as error:
                    texts.append(str(error))
            job.stop()
            assert len(texts) == 4 and "the process ends" in texts[0] and view.sum() == 3, texts
            print("done")
            """)


if __name__ == "__main__":
    unittest.main()
