# SPDX-License-Identifier: BSD-3-Clause
"""The temperature of a plate that cools, written for analysis: run.h5 for h5py, run.xdmf for ParaView.

A second run adds to the steps of the first.

    build/bin/tessera-run -n 4 python3 docs/examples/python/output.py run.h5 10
"""
import sys

import numpy as np
import tessera

n = 200
distance = 1.0 / (n - 1)


def main(path="run.h5", steps=10):
    job = tessera.Job()
    t = job.zeros((n, n), name="T")
    i, j = np.ogrid[t.local_slices]
    x, y = distance * i, distance * j
    with tessera.Output(job, path, "a") as out:
        out.set_grid(origin=(0, 0), spacing=(distance, distance))
        first = out.steps("fields/T")
        for step in range(first, first + int(steps)):
            t.local[...] = x * (1 - x) * y * (1 - y) / (1 + 0.1 * step)
            t.sync()
            out.append(t, "fields/T", compression=4, time=0.1 * step)
            out.append(t, "lines/middle", np.s_[n // 2, :], time=0.1 * step)
            out.flush()  # from now on others can read this step
        out.set_attribute("fields/T", "unit", "K")
    if job.rank == 0:
        print(f"{first + int(steps)} steps in {path}")


main(*sys.argv[1:])
