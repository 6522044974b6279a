// SPDX-License-Identifier: BSD-3-Clause
//
// The header of an FCIDUMP file, which is a Fortran namelist: names, each with values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "apps/ccsd/fcidump.hpp"

namespace tessera::apps::ccsd {

/// Local. In capitals.
std::string upper(std::string_view text);

/// Local. A line without its comment, which begins with a `!` outside quotes.
std::string_view without_comment(std::string_view line);

/// The characters [first, last) of a line.
struct HeaderEnd {
  std::size_t first = std::string_view::npos;
  std::size_t last = std::string_view::npos;
};
/// Local. The end of a header within `line`, which has no comment, if it is there: &END, $END or /.
HeaderEnd find_header_end(std::string_view line);

/// The namelist between "&FCI" and its end, and its position.
struct HeaderText {
  std::string file;
  std::int64_t line = 1;   ///< of its first character
  std::size_t column = 1;  ///< of its first character
  std::string text = {};
};

/// Local. Parses the header. Errors: invalid_argument, with file, line and column, for names that
/// are unknown, missing (reported at the header's end), or select unsupported features.
rma::Result<FcidumpHeader> parse_header(const HeaderText& header);

}  // namespace tessera::apps::ccsd
