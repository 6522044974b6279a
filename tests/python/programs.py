# SPDX-License-Identifier: BSD-3-Clause
"""What the tests share that run programs of their own: processes.py, threads.py and interrupts.py.

Every program must end by itself, with the stated exit code and without a crash.
"""
import os
import subprocess
import sys
import tempfile
import textwrap
import unittest

sys.dont_write_bytecode = True
try:
    import numpy  # noqa: F401
except ImportError:
    print("SKIPPED: this Python has no NumPy")
    sys.exit(77)

from tessera._tools import find_tool

LIMIT = 60
NODES = {"TESSERA_TRANSPORT": "shm,tcp", "TESSERA_RANKS_PER_NODE": "1"}
CLEAN = {name: value for name, value in os.environ.items()
         if not name.startswith(("TESSERA_", "OMPI_", "PMIX_", "PMI_", "SLURM_"))}


class Programs(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def start(self, program, ranks=0, settings=None, **options):
        path = os.path.join(self.folder.name, f"{self.id().rsplit('.', 1)[-1]}.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write("import os, sys, time\nimport numpy as np\nimport tessera\n" + textwrap.dedent(program))
        launcher = [find_tool("tessera-run"), "-n", str(ranks)] if ranks else []
        return subprocess.Popen([*launcher, sys.executable, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True, cwd=self.folder.name, env={**CLEAN, **(settings or {})}, **options)

    def finish(self, process, code=0):
        try:
            out, err = process.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            self.fail(f"does not end:\n{out}\n{err}")
        self.assertEqual(process.returncode, code, f"{out}\n{err}")
        return out, err

    def run_program(self, program, ranks=0, code=0, settings=None):
        return self.finish(self.start(program, ranks, settings), code)

    def assert_quiet(self, program, ranks=0, settings=None):
        """It prints "done" on each rank, and nothing else."""
        out, err = self.run_program(program, ranks, settings=settings)
        self.assertEqual((out.split(), err), (["done"] * max(ranks, 1), ""))
