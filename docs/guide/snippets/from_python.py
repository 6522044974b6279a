# SPDX-License-Identifier: BSD-3-Clause
"""The code of docs/guide/13-python.md."""
import os

import numpy as np

# [start]
import tessera

job = tessera.Job()
A = job.zeros((1000, 600), dtype="f8", name="A")
print(f"rank {job.rank} of {job.size} has rows {A.lo[0]} to {A.hi[0]}")
# [/start]

# [slices]
if job.rank == 0:
    A[10:20, ::2] = 1.5           # put: any rank, any elements
A.sync()                          # collective: now all ranks see it
A.acc((slice(10, 12), slice(0, 4)), np.ones((2, 4)), scale=0.5)  # every rank adds 0.5
A.sync()
part = A[5:15, 0:4]               # get: a NumPy array
# [/slices]
assert part[5, 0] == 1.5 + 0.5 * job.size and part[0, 0] == 0
job.barrier()

# [local]
i, j = np.ogrid[A.local_slices]   # global indices of this rank's elements
A.local[...] = i - j              # NumPy works in Tessera's memory
A.sync()
# [/local]
assert A[7, 9] == -2
job.barrier()

# [ghosts]
u = job.zeros((200, 200), ghosts=1, name="u").fill_random(seed=1)
u.halo.update(periodic=True)
old = u.local_with_ghosts
smooth = (old[:-2, 1:-1] + old[2:, 1:-1] + old[1:-1, :-2] + old[1:-1, 2:]) / 4
# [/ghosts]
assert smooth.shape == u.local.shape

# [whole]
B = np.sqrt(abs(A)) + 2 * A       # a new array, distributed as A
B -= B.mean()
B[...]                            # all of it, as a NumPy array
inside = (B > 0).sum()
largest, where = B.max(), np.unravel_index(B.argmax(), B.shape)
# [/whole]
assert abs(B.sum()) < 1e-6 * A.size and B[tuple(where)] == largest and 0 < inside < B.size

# [copyto]
by_columns = job.zeros(A.shape, grid=(1, 0), name="by columns")
tessera.copyto(by_columns, A)
# [/copyto]
assert np.array_equal(by_columns, A)

# [linalg]
S = A.T @ A                       # A.T is a view: nothing is transposed
S = tessera.linalg.shift_diag(S, 1e6)
b = job.ones(600)
x = tessera.linalg.solve(S, b, assume_a="positive definite")
factors = tessera.linalg.cholesky(S)   # or lu(S), to solve often
values, vectors = tessera.linalg.eigh(S)  # values: a NumPy array, on all ranks
# [/linalg]
assert np.allclose(S @ x, b) and abs(factors.solve(b) - x).max() < 1e-12 and len(values) == 600

try:
    import scipy
except ImportError:
    scipy = None
if scipy is not None:
    # [sparse]
    import scipy.sparse
    M = tessera.sparse.from_scipy(job, scipy.sparse.diags([-1, 2, -1], [-1, 0, 1], (500, 500)))
    y = M @ M.row_vector().fill(1.0)  # a distributed vector; of a NumPy vector, a NumPy vector
    found = tessera.sparse.cg(M, y, tolerance=1e-10)
    # [/sparse]
    assert abs(found.x - 1).max() < 1e-6

try:
    # [files]
    tessera.save("run.h5", A, u, attributes={"step": 12})
    A2 = tessera.load(job, "run.h5", "A")   # on any number of ranks
    # [/files]
    assert np.array_equal(A2, A)
except tessera.Unsupported as error:
    print(f"not run: {error}")

try:
    # [output]
    with tessera.Output(job, "steps.h5", mode="w") as out:
        out.set_grid(origin=(0, 0), spacing=(0.1, 0.1))     # also writes steps.xdmf, for ParaView
        out.write(A, "edges/top", np.s_[:1])                # a part, in a group
        for step in range(3):
            u += 1
            out.append(u, "fields/u", compression=4, time=0.5 * step)  # u[step, :, :]
            out.flush()                                     # now others can read it
        out.set_attribute("fields/u", "unit", "K")
    # [/output]
    with tessera.checkpoint.Reader(job, "steps.h5") as reader:
        assert reader.info("fields/u")["shape"] == (3, 200, 200)
except tessera.Unsupported as error:
    print(f"not run: {error}")

# [phases]
with job.phase("smooth"):
    u.halo.update()
# [/phases]

done = 0
# [tasks]
tasks = job.counter()
while (task := tasks.next()) < 100:  # each number goes to one rank
    done += 1
# [/tasks]
assert job.world.sum(done) == 100

# [errors]
try:
    A[2000, 0]
except tessera.OutOfRange as error:  # also an IndexError
    text = str(error)
# [/errors]
assert "1000 x 600" in text
job.barrier()
for name in ("run.h5", "steps.h5", "steps.xdmf"):
    if job.rank == 0 and os.path.exists(name):
        os.remove(name)
