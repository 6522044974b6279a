# SPDX-License-Identifier: BSD-3-Clause
"""Distributed N-dimensional arrays on one-sided communication."""

from ._core import *  # noqa: F401,F403
from ._core import __version__  # noqa: F401
