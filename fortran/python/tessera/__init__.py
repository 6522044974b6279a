# SPDX-License-Identifier: BSD-3-Clause
"""Distributed N-dimensional arrays on one-sided communication, for NumPy.

    import tessera

    job = tessera.Job()                                  # alone, under tessera-run, mpirun or srun
    A = job.zeros((1000, 1000), dtype="f8", name="A")    # collective: all ranks together
    A[10:20, ::2] = 1.5                                  # one-sided: any rank, any elements
    A.acc((slice(0, 2), slice(None)), 0.5)               # atomic additions
    A.sync()                                             # collective: all ranks see all writes
    print(A[:3, :3], A.local.shape)                      # a copy; this rank's part in place
    job.stop()

Collective functions are called by all ranks (of a team) in the same order; their help says so.
One-sided ones need no other rank. Waits and transfers release Python's interpreter lock. Ctrl-C ends
waits for other ranks: a collective's team is broken then, and a lock is not taken.

Errors are exceptions below tessera.Error, one class for each code in docs/errors.md: for example
OutOfRange is also an IndexError, InvalidArgument a ValueError, WrongType a TypeError.

A job belongs to the process that started it. In a child made by fork(), as multiprocessing does by
default, its objects raise Closed; use the start method "spawn", or ranks instead of processes.
"""

import numpy as _numpy  # noqa: F401  (the extension needs it)

from . import _core
from ._core import *  # noqa: F401,F403
from ._core import __version__  # noqa: F401

for _name in dir(_core):
    _object = getattr(_core, _name)
    if isinstance(_object, type):
        _object.__module__ = __name__
del _name, _object

__all__ = [name for name in dir(_core) if not name.startswith("_")]
from . import _operations  # noqa: E402
from ._operations import *  # noqa: E402,F401,F403

__all__ += _operations.__all__
