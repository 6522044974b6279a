// SPDX-License-Identifier: BSD-3-Clause
//
// Texts of messages. In those of rma::Status the remedy is on its own line.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace tessera::tool {

struct Advice {
  std::string message;
  std::string remedy;  ///< empty: none
};

inline Advice split_hint(std::string_view text) {
  constexpr std::string_view hint = "\n  hint: ";
  const std::size_t at = text.find(hint);
  return {std::string(text.substr(0, at)),
          std::string(at == std::string_view::npos ? "" : text.substr(at + hint.size()))};
}

/// "1 rank", "2 ranks".
inline std::string plural(std::int64_t number, std::string_view thing) {
  return fmt::format("{} {}{}", number, thing, number == 1 ? "" : "s");
}

}  // namespace tessera::tool
