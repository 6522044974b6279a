// SPDX-License-Identifier: BSD-3-Clause
//
// Attributes of objects in HDF5 files.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "arrays/attribute_value.hpp"
#include "arrays/checkpoint/catalog.hpp"
#include "arrays/checkpoint/hdf5_driver.hpp"

namespace tessera::arrays::detail {

/// The error that libhdf5 "can't ACTION": internal, with its message.
rma::Status hdf5_failure(const std::string& action);

/// The same as H5S_UNLIMITED, which is written with a C cast.
inline constexpr hsize_t unlimited = std::numeric_limits<hsize_t>::max();

/// A data space of these extents; `is_extendible` makes the first one unlimited.
Hdf5Id space_of(const Extents& extents, bool is_extendible = false);

/// The value of an attribute; unset if there is none, or its type is none of AttributeValue.
std::optional<AttributeValue> read_attribute(hid_t object, const char* name);
/// All numbers of an attribute, converted to T = double, int64_t or uint64_t; empty if it is not a
/// list of numbers.
template <class T>
std::vector<T> read_list(hid_t object, const char* name);

/// Adds an attribute, or replaces one. Errors: internal, with libhdf5's message.
rma::Status write_attribute(hid_t object, const std::string& name, const AttributeValue& value);
rma::Status write_attribute(hid_t object, const std::string& name,
                            const std::vector<std::uint64_t>& list);

/// The names of all attributes, in the order of the alphabet.
std::vector<std::string> attribute_names(hid_t object);
/// The user's attributes that read_attribute() can read.
StoredAttributes read_attributes(hid_t object);
/// Copies all attributes, of any type. Errors: as above.
rma::Status copy_attributes(hid_t from, hid_t to);
/// The name of an attribute that can't be copied to another file; empty if there is none.
std::string attribute_not_copied(hid_t object);

}  // namespace tessera::arrays::detail
