# SPDX-License-Identifier: BSD-3-Clause
"""The names that the package has in addition to those of the extension module."""

from . import checkpoint, linalg, sparse
from ._matrices import Transposed
from ._whole import (add_scaled, copyto, enumerate, install, pack, reshape_into, scan_add, scan_copy,
                     unpack)
from .checkpoint import load, save
from .sparse import SparseMatrix

install()

__all__ = ["SparseMatrix", "Transposed", "add_scaled", "checkpoint", "copyto", "enumerate", "linalg",
           "load", "pack", "reshape_into", "save", "scan_add", "scan_copy", "sparse", "unpack"]
