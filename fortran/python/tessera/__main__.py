# SPDX-License-Identifier: BSD-3-Clause
"""python -m tessera: what this installation is, and what this machine has for it.

    python -m tessera              versions, and the command-line tool's `doctor`
    python -m tessera info         its `info`: settings and their defaults
    python -m tessera ARGUMENTS    any of its commands
"""

import os
import shutil
import subprocess
import sys

import numpy

import tessera
from tessera._tools import find_tool


def print_versions():
    print(f"tessera: {tessera.__version__} ({os.path.dirname(tessera.__file__)})")
    print(f"python: {sys.version.split()[0]} ({sys.executable})")
    print(f"numpy: {numpy.__version__}")
    try:
        import mpi4py
        print(f"mpi4py: {mpi4py.__version__}")
    except ImportError:
        print("mpi4py: not installed; tessera.Job(comm) needs it, tessera.Job() does not")


def try_job():
    """A job of this process alone."""
    try:
        with tessera.Job() as job:
            array = job.full((4, 4), 1.0, name="trial")
            array.acc(..., array[...])
            total = array[...].sum()
            print(f"job: {job!r}, trial {'passed' if total == 32 else 'FAILED'}")
            return 0 if total == 32 else 1
    except tessera.Error as error:
        print(f"job: {error}")
        return 1


def main(arguments):
    failed = 0
    if not arguments:
        print_versions()
        failed = try_job()
        arguments = ["doctor"]
        sys.stdout.flush()
    tool = find_tool("tessera")
    if tool is None:
        print("tool: tessera is neither in this package nor on PATH")
        return failed or (1 if shutil.which("tessera") is None and sys.argv[1:] else 0)
    return subprocess.run([tool, *arguments], check=False).returncode or failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
