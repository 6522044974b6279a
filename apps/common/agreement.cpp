// SPDX-License-Identifier: BSD-3-Clause
#include "apps/common/agreement.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

namespace tessera::apps {
namespace {

using rma::Code;
using rma::Status;

// The part of an error's text that is sent to other ranks; it includes the name of a file.
struct Text {
  static constexpr std::size_t most = 4608;
  char bytes[most] = {};  // NOLINT(modernize-avoid-c-arrays): copied as bytes
};

bool is_of_input(Code code) {
  return code != Code::peer_lost && code != Code::closed && code != Code::timed_out;
}

// An error, and the line of the input that it is about.
struct InputError {
  std::int64_t line = 0;
  Code code = Code::ok;
};

bool comes_first(const InputError& a, const InputError& b) {
  return a.code != Code::ok && (b.code == Code::ok || a.line < b.line);
}

}  // namespace

Status agree_on_input(rma::Team team, const Status& status, std::int64_t line) {
  TESSERA_ASSIGN_OR_RETURN(const auto findings,
                           team.allgather_value(InputError{line, status.code()}));
  if (!std::ranges::all_of(findings, is_of_input, &InputError::code)) {
    return team.agree(status);
  }
  const auto first = std::ranges::min_element(findings, comes_first);
  if (first->code == Code::ok) {
    return {};
  }
  Text text;
  status.message().copy(text.bytes, Text::most - 1);
  const rma::TeamRank finder{static_cast<std::int32_t>(first - findings.begin())};
  TESSERA_RETURN_IF_ERROR(team.broadcast_value(text, finder));
  return Status::error(first->code, text.bytes);
}

}  // namespace tessera::apps
