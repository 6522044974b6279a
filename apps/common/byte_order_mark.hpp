// SPDX-License-Identifier: BSD-3-Clause
//
// Some editors on Windows begin a UTF-8 text with a byte order mark.
#pragma once

#include <string_view>

namespace tessera::apps {

/// The first line of a text without the mark, if it has one.
constexpr std::string_view without_byte_order_mark(std::string_view line) noexcept {
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  return line.starts_with(mark) ? line.substr(mark.size()) : line;
}

}  // namespace tessera::apps
