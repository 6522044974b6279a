# SPDX-License-Identifier: BSD-3-Clause
"""A Fourier transform in three dimensions: two of them are complete on each rank, then copyto()
redistributes the array so that the third one is.

    build/bin/tessera-run -n 4 python3 docs/examples/python/fft.py
"""
import numpy as np
import tessera

n = 16


def main():
    job = tessera.Job()
    planes = job.zeros((n, n, n), dtype="c16", name="planes", grid=(0, 1, 1))
    columns = job.zeros((n, n, n), dtype="c16", name="columns", grid=(1, 0, 1))
    i, j, k = np.ogrid[planes.local_slices]
    number = 256.0 * i + 16 * j + k
    planes.local[...] = np.cos(0.01 * number * number) + 1j * np.sin(0.3 * number)
    planes.sync()
    before = planes.norm(reproducible=True)
    planes.local[...] = np.fft.fft2(planes.local, axes=(1, 2))
    tessera.copyto(columns, planes)  # all communication
    if columns.local.size:
        columns.local[...] = np.fft.fft(columns.local, axis=0)
    after = columns.norm(reproducible=True) / n ** 1.5
    mean, other = columns[0, 0, 0], columns[3, 5, 7]
    if job.rank == 0:
        print(f"norm: {after:.10f}\nelement 0 0 0: {mean.real:.8f} {mean.imag:.8f}\n"
              f"element 3 5 7: {other.real:.8f} {other.imag:.8f}")
    assert abs(after - before) < 1e-9


main()
