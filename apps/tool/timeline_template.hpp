// SPDX-License-Identifier: BSD-3-Clause
//
// apps/tool/timeline.html, as a text in the program.
#pragma once

#include <string_view>

namespace tessera::tool {

/// Where the page has this word, its data belong.
inline constexpr std::string_view timeline_data_mark = "@TIMELINE_DATA@";

/// The whole file.
std::string_view timeline_template() noexcept;

}  // namespace tessera::tool
