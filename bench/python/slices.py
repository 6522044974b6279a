#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Times of transfers in Python beside NumPy's copy of the same slice, and of `import tessera`.

    PYTHONPATH=build/lib/python3 build/bin/tessera-run -n 2 bench/python/slices.py

Medians of interleaved pairs, in microseconds or as ratios; rank 0 gets from the last rank.
"""

import statistics
import subprocess
import sys
import time

import numpy as np

import tessera

ROUNDS = 31


def median_times(*calls, repeat):
    """Microseconds of one call of each, alternately."""
    times = [[] for _ in calls]
    for _ in range(ROUNDS):
        for call, of_call in zip(calls, times):
            start = time.perf_counter()
            for _ in range(repeat):
                call()
            of_call.append((time.perf_counter() - start) / repeat * 1e6)
    return [statistics.median(of_call) for of_call in times]


def import_time(statement):
    """Milliseconds of a new interpreter, the least of several."""
    command = [sys.executable, "-c",
               f"import time, numpy; start = time.perf_counter(); {statement}; print(time.perf_counter() - start)"]
    return min(float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
               for _ in range(5)) * 1e3


def main():
    if len(sys.argv) > 1:
        print(__doc__)
        return 0 if sys.argv[1] in ("-h", "--help") else 2
    job = tessera.Job()
    rows = 64 << 20 >> 10
    array = job.full((job.size * rows, 128), 1.0, grid=(job.size, 1))
    first = (job.size - 1) * rows
    mirror = np.ones((rows, 128))
    if job.rank == 0:
        row, rest = slice(first, first + 1), slice(first, first + rows)
        out = np.empty((rows, 128))
        copy = np.empty((rows, 128))
        value = np.ones((1, 128))
        get, put, numpys = median_times(lambda: array[row], lambda: array.put(row, value),
                                        lambda: mirror[0:1].copy(), repeat=2000)
        element, numpy_element = median_times(lambda: array[first, 3], lambda: mirror[0, 3], repeat=2000)
        large, numpy_large = median_times(lambda: array.get(rest, out=out), lambda: np.copyto(copy, mirror), repeat=1)
        print(f"get_1_kib: {get:.3f} us")
        print(f"put_1_kib: {put:.3f} us")
        print(f"numpy_copy_1_kib: {numpys:.3f} us")
        print(f"get_element: {element:.3f} us")
        print(f"numpy_element: {numpy_element:.3f} us")
        print(f"get_64_mib: {64 / 1024 / large * 1e6:.3f} GiB/s")
        print(f"get_64_mib_by_numpy_copy: {numpy_large / large:.3f} ratio")
        print(f"import: {import_time('import tessera'):.1f} ms")
    array.free()
    job.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
