// SPDX-License-Identifier: BSD-3-Clause
//
// Combines elements in collectives.
#pragma once

#include <cstddef>

#include "rma/element.hpp"
#include "rma/team.hpp"

namespace tessera::rma::detail {

/// into[i] = into[i] ∘ from[i] for bytes / size_of(type) elements. Requires: both are aligned to
/// the element; is_defined(type, reduction).
void combine(std::byte* into, const std::byte* from, std::size_t bytes, ElementType type,
             Reduction reduction);

/// The result of a reduction in a team of one member, in place. Reductions of absolute values or
/// truth values change the elements even though there is no other element to combine them with.
void finish_alone(std::byte* elements, std::size_t bytes, ElementType type, Reduction reduction);

/// False for reductions of complex numbers that need an order, bits or truth values; for bits of
/// floating-point numbers; and for values outside the enumerations.
bool is_defined(ElementType type, Reduction reduction) noexcept;

}  // namespace tessera::rma::detail
