// SPDX-License-Identifier: BSD-3-Clause
//
// How elements stand in HDF5 files: the one place that maps types to types.
#pragma once

#include <string>

#include "arrays/checkpoint/catalog.hpp"
#include "arrays/checkpoint/hdf5_driver.hpp"

namespace tessera::arrays::detail {

/// The type of a data set: numbers as this machine has them, complex ones as {r, i} like h5py's,
/// all else as so many opaque bytes.
Hdf5Id type_of(const StoredArray& array);

/// Finds out what elements of an HDF5 type are: type, is_opaque, element_bytes and type_text;
/// or why they can't be read.
void recognise(hid_t type, StoredArray& array);

}  // namespace tessera::arrays::detail
