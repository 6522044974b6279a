// SPDX-License-Identifier: BSD-3-Clause
//
// Checks of attributes before they are written.
#pragma once

#include <cstdint>
#include <string>

#include "arrays/attribute_value.hpp"
#include "rma/base/status.hpp"

namespace tessera::arrays::detail {

/// Errors: invalid_argument for a reserved name, or a text with a zero byte, which HDF5 would cut.
rma::Status check_attribute(const std::string& name, const AttributeValue& value);

/// Equal for equal values of the same type.
std::uint64_t hash_of(const AttributeValue& value);

}  // namespace tessera::arrays::detail
