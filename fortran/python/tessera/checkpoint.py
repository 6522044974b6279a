# SPDX-License-Identifier: BSD-3-Clause
"""Arrays in HDF5 files, written and read by all ranks together.

    tessera.save("run.h5", u, v, attributes={"step": 12})
    u = tessera.load(job, "run.h5", "u")                  # on any number of ranks

A file is complete: it replaces the old one when all of it is written. h5py and other programs read it;
elements have checksums, which are compared when they are read. All functions are collective except where
they say otherwise. The path is the same file on all ranks.
"""

import os

from . import _core

__all__ = ["Reader", "Writer", "load", "save"]


class Writer:
    """Writes a checkpoint file. It exists after commit(), which the end of a `with` block calls."""

    def __init__(self, job, path, team=None, piece_bytes=1 << 20):
        self._core = _core._CheckpointWriter(job, os.fspath(path), team, piece_bytes)

    def add(self, array, name=None):
        """Writes an array, by its own name or another one."""
        self._core.add(array, name or array.name)

    def set_attribute(self, name, value):
        """Adds an attribute of the file: an int, a float or a str, the same on all ranks."""
        self._core.add_attribute(name, value)

    def commit(self):
        """Completes the file, and replaces an older one of that name."""
        self._core.commit()

    def close(self):
        """Local. Discards what was not committed."""
        self._core.close()

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if kind is None:
            self.commit()
        else:
            self.close()


class Reader:
    """Reads a checkpoint file, or data sets that other programs wrote. reader["u"] is an array."""

    def __init__(self, job, path, team=None):
        self._core = _core._CheckpointReader(job, os.fspath(path), team)

    def keys(self):
        """Local. The names of the arrays."""
        return self._core.names()

    def __iter__(self):
        return iter(self.keys())

    def __contains__(self, name):
        return name in self.keys()

    def info(self, name):
        """Local. A dict of the array's shape, dtype and distribution, and whether it has checksums."""
        return self._core.info(name)

    @property
    def attributes(self):
        """Local. The attributes of the file, as a dict."""
        return {name: self._core.attribute(name) for name in self._core.attribute_names()}

    def read(self, name, like=None):
        """A new array. Its distribution is that of `like`, or the one that it was written with."""
        return self._core.read(name, like)

    __getitem__ = read

    def read_into(self, name, array):
        """Reads into an array of the same shape and type, with any distribution. Returns the array."""
        self._core.read_into(name, array)
        return array

    def verify(self, name):
        """Compares the elements with their checksums."""
        self._core.verify(name)

    def close(self):
        """Local. Closes the file."""
        self._core.close()

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        self.close()


def save(path, *arrays, attributes=None, **named):
    """Writes arrays by their names, or by those of keywords, and attributes, to a file."""
    both = [(each.name, each) for each in arrays] + list(named.items())
    if not both:
        raise _core.InvalidArgument(f"save '{os.fspath(path)}': there is no array to write")
    with Writer(both[0][1].job, path) as writer:
        for name, array in both:
            writer.add(array, name)
        for name, value in (attributes or {}).items():
            writer.set_attribute(name, value)


def load(job, path, name=None, like=None):
    """Reads one array of a file, or without a name all of them as a dict."""
    with Reader(job, path) as reader:
        if name is not None:
            return reader.read(name, like)
        return {each: reader.read(each, like) for each in reader.keys()}
