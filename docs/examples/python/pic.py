# SPDX-License-Identifier: BSD-3-Clause
"""A plasma wave: particles in cells of a periodic line.

Every rank accumulates the charge of its particles in the shared grid.

    build/bin/tessera-run -n 4 python3 docs/examples/python/pic.py
"""
import numpy as np
import tessera

cells, particles, steps = 64, 6400, 100
length = 2 * np.pi
cell, time_step = length / cells, 0.1
charge = -length / particles  # the plasma frequency is 1


def weight(x):
    """The cells to the left of particles, those to the right, and the share of these."""
    left = np.floor(x / cell).astype(int)
    return left % cells, (left + 1) % cells, x / cell - left


def field_of(density):
    """The field of a charge density whose mean is zero: its integral, also of mean zero."""
    field = np.cumsum(0.5 * cell * (np.roll(density, 1) + density))
    return field - field.mean()


def deposit(x, density):
    left, right, share = weight(x)
    grid = charge / cell * (np.bincount(left, 1 - share, cells) + np.bincount(right, share, cells))
    density.fill(1.0)  # the ions
    density.acc(slice(None), grid)
    density.sync()


def main():
    job = tessera.Job()
    density = job.zeros(cells, name="density")
    start = (np.arange(job.rank, particles, job.size) + 0.5) * length / particles
    x = start + 0.01 * np.cos(start)
    v = np.zeros_like(x)
    for step in range(steps):
        deposit(x, density)
        field = field_of(density[...])
        energy = 0.5 * cell * np.sum(field ** 2)
        if step == 0:
            first = energy
        left, right, share = weight(x)
        v -= time_step * ((1 - share) * field[left] + share * field[right])
        x = np.fmod(x + time_step * v + length, length)
        job.barrier()
    kinetic = job.world.sum(-0.5 * charge * np.sum(v ** 2))
    if job.rank == 0:
        print(f"first_field_energy: {first:.9e}\nfield_energy: {energy:.9e}\nkinetic_energy: {kinetic:.9e}")
    assert abs(kinetic + energy - first) < 0.1 * first


main()
