# SPDX-License-Identifier: BSD-3-Clause
# The Python code of docs/guide/14-with-other-libraries.md; the argument is a checkpoint.
import sys

if len(sys.argv) > 1:
    path = sys.argv[1]
else:
    path = "run.h5"
# [read]
import h5py

with h5py.File(path) as file:
    for name, data in file.items():
        print(name, data.shape, data.dtype, data[...].sum())
# [/read]
