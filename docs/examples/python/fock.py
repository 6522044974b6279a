# SPDX-License-Identifier: BSD-3-Clause
"""Electrons of a chain of carbon atoms (the Pariser-Parr-Pople model) by self-consistent fields.

Ranks build the Fock matrix in tasks from a shared counter.

    build/bin/tessera-run -n 4 python3 docs/examples/python/fock.py
"""
import numpy as np
import tessera

n, tile = 40, 5
atoms = np.arange(n)
distance = 1.4 * abs(atoms[:, None] - atoms[None, :])
repulsion = 14.397 / np.sqrt(distance ** 2 + 1.677)  # of electrons on two atoms (Ohno), in eV
core = np.where(abs(atoms[:, None] - atoms[None, :]) == 1, -2.4, 0.0)  # electrons hop to neighbours
core -= np.diag(repulsion.sum(axis=1) - repulsion.diagonal())  # the nuclei attract them


def build_rows(first, density, fock):
    """A task computes some rows of F - H from the density, and adds them."""
    rows = slice(first, first + tile)
    f = -0.5 * density[rows, :] * repulsion[rows]
    charges = density.gather((atoms, atoms))
    f[np.arange(tile), atoms[rows]] += repulsion[rows] @ charges
    fock.acc((rows, slice(None)), f)


def main():
    job = tessera.Job()
    h = job.from_numpy(core, name="H")
    density = job.from_numpy(np.eye(n), name="D")
    fock = h.like("F")
    tasks = job.counter()
    energy, before, steps = 0.0, 1.0, 0
    while abs(energy - before) > 1e-11 and steps < 200:
        tessera.copyto(fock, h)
        tasks.reset()
        while (task := tasks.next()) < n // tile:
            build_rows(task * tile, density, fock)
        fock.sync()
        both = 0.5 * h + 0.5 * fock
        before, energy = energy, density.inner(both, reproducible=True)
        _, vectors = tessera.linalg.eigh(fock)
        occupied = vectors[:, :n // 2]
        tessera.copyto(density, 2 * occupied @ occupied.T)
        steps += 1
    if job.rank == 0:
        print(f"steps: {steps}\nelectronic_energy: {energy:.9f}")
    assert abs(energy - before) <= 1e-11


main()
