// SPDX-License-Identifier: BSD-3-Clause
//
// How this Tessera was built; CMake fills in build_table.cpp.in.
#pragma once

#include <span>
#include <string_view>

namespace tessera::tool {

/// A line of the table that CMake prints when it configures.
struct Feature {
  std::string_view name;
  bool is_found;
  std::string_view detail;
};

struct Build {
  std::string_view compiler;
  std::string_view type;
  std::string_view processor;
  std::string_view sanitizers;  ///< empty: none
  std::span<const Feature> features;
};

Build build() noexcept;

}  // namespace tessera::tool
