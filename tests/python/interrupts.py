#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Signals, during a wait and between: each test runs programs of its own.

    tests/python/interrupts.py [unittest's arguments]
"""
import signal
import textwrap
import time
import unittest

from programs import NODES, Programs


class Interrupts(Programs):
    def interrupt(self, process, seconds):
        time.sleep(seconds)
        process.send_signal(signal.SIGINT)

    def test_between_transfers(self):
        process = self.start("""
            job = tessera.Job()
            a = job.zeros((100, 100))
            print("ready", flush=True)
            try:
                while True:
                    with job.phase("turn"):
                        a[...]
                        a.acc(3, 1.0)
            except KeyboardInterrupt:
                assert a[0, 0] == 0
                with job.phase("turn"):
                    print("done")
            """)
        self.assertEqual(process.stdout.readline(), "ready\n")
        self.interrupt(process, 0.2)
        self.assertEqual(self.finish(process), ("done\n", ""))

    # Each program: rank 0 is interrupted while it waits for rank 1, which does its part only after rank 0 has
    # put 1 into a[0]. A wait that could not be interrupted would not end.
    PRELUDE = """
import signal, threading
job = tessera.Job()
a = job.zeros(2, name="A")
a.sync()

def interrupt(seconds=0.3, number=signal.SIGINT):
    threading.Timer(seconds, lambda: os.kill(os.getpid(), number)).start()

def report():
    a[0] = 1
    a.fence()

def wait_for_report():
    while a[0] == 0:
        time.sleep(0.01)
"""

    def assert_interrupted(self, program, ranks=2, settings=None):
        self.assert_quiet(self.PRELUDE + textwrap.dedent(program), ranks, settings)

    def test_in_a_barrier(self):
        for settings in {}, NODES:
            for ranks in 2, 3:
                self.assert_interrupted("""
                    if job.rank == 0:
                        interrupt()
                        try:
                            job.barrier()
                        except KeyboardInterrupt:
                            report()
                        else:
                            raise AssertionError("not interrupted")
                    else:
                        wait_for_report()
                    errors = []
                    for _ in range(2):  # the first one may succeed on another node
                        try:
                            job.barrier()
                        except tessera.Closed as error:
                            errors.append(str(error))
                    assert errors and all("rank 0 was interrupted in a collective" in each for each in errors), errors
                    assert a[0] == 1
                    report()
                    print("done")
                    """, ranks, settings)

    def test_in_a_sync_of_each_rank(self):
        # As Ctrl-C at a terminal: all ranks are interrupted.
        for settings in {}, NODES:
            self.assert_interrupted("""
                if job.rank < 2:
                    interrupt()
                    try:
                        a.sync()
                    except (KeyboardInterrupt, tessera.Closed):
                        try:
                            time.sleep(1)
                        except KeyboardInterrupt:
                            pass
                        print("done")
                else:
                    time.sleep(1)
                    print("done")
                """, 3, settings)

    def test_in_a_lock(self):
        self.assert_interrupted("""
            locks = job.locks(2)
            if job.rank == 1:
                locks[0].acquire()
                job.barrier()
                wait_for_report()
                locks[0].release()
            else:
                job.barrier()
                for _ in range(20):  # more than a lock has room for
                    interrupt(0.05)
                    try:
                        locks[0].acquire()
                    except KeyboardInterrupt:
                        pass
                    else:
                        raise AssertionError("not interrupted")
                report()
                with locks[0]:
                    assert not locks[0].try_acquire()
            job.barrier()
            assert job.rank == 1 or locks[0].try_acquire()
            print("done")
            """)

    def test_in_an_update_of_ghost_cells(self):
        for settings in {}, NODES:
            self.assert_interrupted("""
                b = job.zeros((8, 8), ghosts=1, name="B")
                b.halo.update()
                if job.rank == 0:
                    interrupt()
                    try:
                        b.halo.update()
                    except KeyboardInterrupt:
                        report()
                    else:
                        raise AssertionError("not interrupted")
                else:
                    wait_for_report()
                    try:
                        b.halo.update()
                    except tessera.TimedOut as error:
                        assert "rank 0 stopped exchanging ghost cells" in str(error), error
                    else:
                        raise AssertionError("no error")
                job.barrier()
                print("done")
                """, settings=settings)

    def test_by_a_handler_that_returns(self):
        # It runs during the wait, which continues. It may not use the job, which is in the middle of a collective.
        self.assert_interrupted("""
            texts = []

            def handle(number, frame):
                for act in lambda: a[0], job.barrier, job.stop, lambda: a.put(0, 1):
                    try:
                        act()
                    except tessera.InvalidArgument as error:
                        texts.append(str(error))
                open("handled", "w").close()

            if job.rank == 0:
                signal.signal(signal.SIGUSR1, handle)
                interrupt(number=signal.SIGUSR1)
                job.barrier()
                assert len(texts) == 4 and all("the handler of a signal" in text for text in texts), texts
            else:
                while not os.path.exists("handled"):
                    time.sleep(0.01)
                job.barrier()
            assert job.world.sum(1) == 2
            print("done")
            """)

    def test_by_a_handler_that_exits(self):
        out, err = self.run_program(self.PRELUDE + """
if job.rank == 0:
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(0))
    interrupt(number=signal.SIGTERM)
    job.barrier()
else:
    try:
        time.sleep(1)
        job.barrier()
    except tessera.Closed as error:
        assert "rank 0" in str(error), error
        print("done")
""", ranks=2)
        self.assertEqual((out, err), ("done\n", ""))

    def test_as_the_wait_ends(self):
        # The signal comes when rank 1 releases the lock. Its exception is raised once, and the lock is not lost.
        self.assert_interrupted("""
            locks = job.locks(1)

            def handle(number, frame):
                raise KeyboardInterrupt

            signal.signal(signal.SIGALRM, handle)
            for round in range(12):
                job.barrier()
                if job.rank == 1:
                    with locks[0]:
                        job.barrier()
                        time.sleep(0.09 + 0.002 * round)
                    continue
                job.barrier()
                count = 0
                try:
                    signal.setitimer(signal.ITIMER_REAL, 0.1)
                    locks[0].acquire()
                    time.sleep(5)
                except KeyboardInterrupt:
                    count += 1
                time.sleep(0.02)
                assert count == 1
                try:
                    locks[0].release()
                except tessera.InvalidArgument as error:
                    assert "which this rank does not hold" in str(error)
            print("done")
            """)

    def test_while_another_thread_keeps_the_job_from_its_stop(self):
        self.assert_quiet(self.PRELUDE + """
locks = job.locks(1)
locks[0].acquire()
thread = threading.Thread(target=locks[0].acquire)
thread.start()
time.sleep(0.2)
interrupt()
try:
    job.stop()
except KeyboardInterrupt:
    assert not job.is_stopped and a[0] == 0
    locks[0].release()
    thread.join()
    job.stop()
    print("done")
""")


if __name__ == "__main__":
    unittest.main()
