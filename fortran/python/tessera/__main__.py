# SPDX-License-Identifier: BSD-3-Clause
"""python -m tessera: what this installation has, and whether a job starts here."""
