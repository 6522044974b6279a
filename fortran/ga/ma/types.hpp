// SPDX-License-Identifier: BSD-3-Clause
//
// MA's element types: sizes, names, and base arrays.
//
// Threads: set_commons() while no other thread is in MA.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fortran/ga/include/macdecls.h"

namespace tessera::ga::ma {

struct ElementKind {
  std::string_view name;  ///< as in the headers
  std::size_t bytes = 0;  ///< a power of two
  std::byte* base = nullptr;
};

/// Null if `code` is not one of MA's.
const ElementKind* find_kind(Integer code) noexcept;

/// Replaces the base arrays of MT_F_BYTE to MT_F_DCPL, in this order. For a library that was loaded
/// without its symbols being joined to the program's.
void set_commons(const std::array<void*, 7>& commons) noexcept;

}  // namespace tessera::ga::ma
