// SPDX-License-Identifier: BSD-3-Clause
//
// Combining elements in collectives.
#pragma once

#include <cstddef>

#include "rma/element.hpp"
#include "rma/team.hpp"

namespace tessera::rma::detail {

/// into[i] = into[i] ∘ from[i] for bytes / size_of(type) elements. Requires: both are aligned to
/// the element; (type, reduction) is defined.
void combine(std::byte* into, const std::byte* from, std::size_t bytes, ElementType type,
             Reduction reduction);

/// False for min and max of complex numbers, which have no order, and for tags out of range.
bool is_defined(ElementType type, Reduction reduction) noexcept;

}  // namespace tessera::rma::detail
