# SPDX-License-Identifier: BSD-3-Clause
"""The Poisson equation by Jacobi's method, with ghost cells, until nothing changes much.

    build/bin/tessera-run -n 4 python3 docs/examples/python/jacobi.py
"""
import numpy as np
import tessera

n = 48
h = 1.0 / (n + 1)  # -Δu = 1, u = 0 on the walls


def sweep(u, later):
    """One sweep over this rank's elements; returns the largest change."""
    u.halo.update()
    old = u.local_with_ghosts
    if old.size == 0:
        return 0.0
    later.local[...] = 0.25 * (((old[:-2, 1:-1] + old[2:, 1:-1])
                                + (old[1:-1, :-2] + old[1:-1, 2:])) + h * h)
    return np.max(np.abs(later.local - u.local))


def main():
    job = tessera.Job()
    u = job.zeros((n, n), ghosts=1, name="u")
    v = job.zeros((n, n), ghosts=1, name="v")
    change, sweeps = 1.0, 0
    while change > 1e-7:
        first = sweep(u, v)
        second = sweep(v, u)
        change = job.world.max(max(first, second))
        sweeps += 2
    u.sync()
    total = u.sum(reproducible=True) * h * h
    middle = u[n // 2, n // 2]
    if job.rank == 0:
        print(f"sweeps: {sweeps}\nintegral: {total:.12f}\nmiddle: {middle:.12f}")
    assert abs(middle - 0.0734) < 1e-3


main()
