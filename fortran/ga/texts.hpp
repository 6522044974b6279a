// SPDX-License-Identifier: BSD-3-Clause
//
// Pieces of GA's texts, for its printing functions and for messages.
#pragma once

#include <string>
#include <string_view>

#include "fortran/ga/outputs.hpp"
#include "fortran/ga/records.hpp"

namespace tessera::ga {

/// "double", "float (single) complex" and the like, as GA prints types.
std::string_view gas_name_of(Type type) noexcept;
/// "10x20", in the language's order.
std::string text_of_extents(const Extents& extents, Style style, std::string_view between);
/// "1:5,3:4": inclusive, in the language's order and from its first index.
std::string text_of_bounds(const Box& box, Style style);

}  // namespace tessera::ga
