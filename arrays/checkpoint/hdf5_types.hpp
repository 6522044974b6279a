// SPDX-License-Identifier: BSD-3-Clause
//
// The types of elements in HDF5 files: the only mapping between the two kinds of types.
#pragma once

#include <string>

#include "arrays/checkpoint/catalog.hpp"
#include "arrays/checkpoint/hdf5_driver.hpp"
#include "rma/element.hpp"

namespace tessera::arrays::detail {

/// The type of a data set: numbers in this machine's format, complex ones as {r, i} like h5py's,
/// everything else as opaque bytes of the element's size.
Hdf5Id type_of(const StoredArray& array);

/// The type of an array's elements.
Hdf5Id type_of_element(rma::ElementType element);

/// Sets what describes the elements of an HDF5 type: type, is_opaque, is_native, compatible_types,
/// encoded_type, element_bytes and type_text; or unreadable_reason if they can't be read.
void recognise(hid_t type, StoredArray& array);

}  // namespace tessera::arrays::detail
