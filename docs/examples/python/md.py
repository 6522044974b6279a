# SPDX-License-Identifier: BSD-3-Clause
"""Molecular dynamics: 108 atoms of a Lennard-Jones fluid in a periodic box.

Positions are shared; each rank moves its own atoms.

    build/bin/tessera-run -n 4 python3 docs/examples/python/md.py
"""
import numpy as np
import tessera

cells, steps = 3, 100
atoms = 4 * cells ** 3
box, time_step = 5.1, 0.004


def crystal():
    """Atoms of a face-centred cubic crystal, slightly out of place."""
    corners = np.array([[0, 0, 0], [0, 0.5, 0.5], [0.5, 0, 0.5], [0.5, 0.5, 0]])
    places = np.array(list(np.ndindex(cells, cells, cells)))
    x = (places[:, None, :] + corners[None, :, :]).reshape(atoms, 3) * box / cells
    return x + 0.01 * np.sin(7.0 * np.arange(atoms)[:, None] + 3.0 * np.arange(3))


def forces(x, own):
    """Forces on this rank's atoms, and their part of the energy."""
    d = x[own, None, :] - x[None, :, :]
    d -= box * np.rint(d / box)
    square = (d ** 2).sum(axis=2)
    pairs = (square <= 0.25 * box * box) & (square > 0)
    square = np.where(pairs, square, 1.0)
    sixth = np.where(pairs, 1 / (square * square * square), 0.0)
    energy = (2 * (sixth * sixth - sixth)).sum()  # a half for each atom of the pair
    return (((48 * sixth * sixth - 24 * sixth) / square)[:, :, None] * d).sum(axis=1), energy


def main():
    job = tessera.Job()
    x = job.from_numpy(crystal(), name="x", grid=(0, 1))
    v = np.zeros_like(x.local)
    for step in range(steps + 1):
        force, potential = forces(x[...], x.local_slices[0])
        middle = v if step == 0 else v + 0.5 * time_step * force
        kinetic = 0.5 * (middle ** 2).sum()
        v += (0.5 if step == 0 else 1) * time_step * force
        total = job.world.sum(potential + kinetic)  # now no rank reads positions any more
        if step == 0:
            first = total
        x.local[...] += time_step * v
        x.sync()
    potential = job.world.sum(potential)
    if job.rank == 0:
        print(f"first_energy: {first:.8f}\nenergy: {total:.8f}\npotential: {potential:.8f}")
    assert abs(total - first) < 1e-3 * abs(first)


main()
