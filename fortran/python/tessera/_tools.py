# SPDX-License-Identifier: BSD-3-Clause
"""The programs beside this package: the launcher and the command-line tool."""

import os
import shutil
import sys

_package = os.path.dirname(os.path.abspath(__file__))


def find_tool(name):
    """The path of a program of this installation: in a wheel, a prefix or a build; else on PATH."""
    for up in ("", "../../..", "../../../.."):  # a wheel, a build, a prefix
        path = os.path.normpath(os.path.join(_package, up, "bin", name))
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    return shutil.which(name)


def _become(name):
    path = os.path.join(_package, "bin", name)
    os.execv(path, [path, *sys.argv[1:]])


def run():
    """The program tessera-run of a wheel."""
    _become("tessera-run")


def tool():
    """The program tessera of a wheel."""
    _become("tessera")
