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

/// What a reduction makes of the elements of a team's only member: those that look at an absolute
/// value or a truth change them, though there is nothing to combine them with. In place.
void finish_alone(std::byte* elements, std::size_t bytes, ElementType type, Reduction reduction);

/// False for what needs an order, bits or a truth of complex numbers, for bits of floating-point
/// numbers, and for tags out of range.
bool is_defined(ElementType type, Reduction reduction) noexcept;

}  // namespace tessera::rma::detail
