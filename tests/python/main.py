#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The tests of the Python package: every rank runs all *_cases.py of this folder.

    tessera-run -n 3 tests/python/main.py [--mpi4py] [--cases PATTERN]

--mpi4py starts the job from mpi4py's world. PATTERN selects tests: "test_slices*". Exits with 77 if
NumPy, or mpi4py for --mpi4py, is not installed.
"""

import argparse
import os
import sys
import unittest

sys.dont_write_bytecode = True
SKIPPED = 77

try:
    import numpy  # noqa: F401
except ImportError:
    print("SKIPPED: this Python has no NumPy")
    sys.exit(SKIPPED)

import checks


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--mpi4py", action="store_true")
    parser.add_argument("--cases", default="*")
    options = parser.parse_args()
    communicator = None
    if options.mpi4py:
        try:
            from mpi4py import MPI
        except ImportError:
            print("SKIPPED: mpi4py is not installed")
            return SKIPPED
        communicator = MPI.COMM_WORLD
    checks.start(communicator)
    loader = unittest.TestLoader()
    loader.testNamePatterns = [f"*{options.cases}*"]
    folder = os.path.dirname(os.path.abspath(__file__))
    suite = loader.discover(folder, pattern="*_cases.py")
    # All ranks report their failures, and the first one also what it ran.
    first = checks.job().rank == 0
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        runner = unittest.TextTestRunner(stream=sys.stderr if first else nowhere, verbosity=1)
        result = runner.run(suite)
        if not first:
            for test, text in result.failures + result.errors:
                print(f"rank {checks.job().rank}: {test}\n{text}", file=sys.stderr)
    if result.testsRun == 0:
        print(f"no test is named {options.cases}")
        return 1
    checks.job().stop()
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
