# SPDX-License-Identifier: BSD-3-Clause
"""Arrays in HDF5 files, written and read by all ranks together.

    tessera.save("run.h5", u, v, attributes={"step": 12})
    u = tessera.load(job, "run.h5", "u")                  # on any number of ranks

A file is complete: it replaces the old one when all of it is written. h5py and other programs read it;
elements have checksums, which are compared when they are read. All functions are collective except where
they say otherwise. The path is the same file on all ranks.
"""

import operator
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
        """Adds an attribute of the file, the same on all ranks; see tessera.Output.set_attribute."""
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


def _corners(key, shape, name):
    """The first and the last index + 1 of each dimension of a part."""
    entries = list(key) if isinstance(key, tuple) else [key]
    at = next((i for i, entry in enumerate(entries) if entry is ...), len(entries))
    entries[at:at + 1] = [slice(None)] * (len(shape) - len(entries) + (at < len(entries)))
    if len(entries) != len(shape):
        raise _core.OutOfRange(f"'{name}' has {len(shape)} dimensions: {key!r} has more")
    lo, hi = [], []
    for entry, extent in zip(entries, shape):
        if isinstance(entry, slice):
            start, stop, step = entry.indices(extent)
            if step != 1:
                raise _core.InvalidArgument(f"'{name}': step {step}; parts of files have step 1")
            stop = max(start, stop)
        else:
            try:
                start = operator.index(entry)
            except TypeError:
                raise _core.WrongType(f"'{name}': {entry!r} is not an index") from None
            if not -extent <= start < extent:
                raise _core.OutOfRange(f"'{name}': index {start} of a dimension that has 0 to {extent - 1}")
            start %= extent
            stop = start + 1
        lo.append(start)
        hi.append(stop)
    return lo, hi


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
        """Local. A dict: the array's shape, dtype, distribution, chunks; whether it has checksums, steps."""
        return self._core.info(name)

    @property
    def attributes(self):
        """Local. The attributes of the file, as a dict."""
        return self.attributes_of("/")

    def attributes_of(self, name):
        """Local. The attributes of an array or a group, as a dict; {} if there is none of that name."""
        return {each: self._core.attribute(name, each) for each in self._core.attribute_names(name)}

    def read(self, name, like=None):
        """A new array. Its distribution is that of `like`, or the one that it was written with."""
        return self._core.read(name, like)

    __getitem__ = read

    def read_into(self, name, array, key=...):
        """Reads into an array of the same type, with any distribution. Returns the array.

        `key`, of integers and slices, selects a part of what is stored: 7 is the time step 7. The
        array has the shape of the part; dimensions of length 1 may be left out.
        """
        if key is ...:
            self._core.read_into(name, array)
        else:
            self._core.read_part(name, *_corners(key, self.info(name)["shape"], name), array)
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
