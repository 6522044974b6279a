// SPDX-License-Identifier: BSD-3-Clause
#include "apps/common/agreement.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace tessera::apps {
namespace {

using rma::Code;
using rma::Status;

// What travels of an error's text, the name of a file with it.
struct Text {
  static constexpr std::size_t most = 4608;
  char bytes[most] = {};  // NOLINT(modernize-avoid-c-arrays): copied as bytes
};

bool is_of_input(Code code) {
  return code != Code::peer_lost && code != Code::closed && code != Code::timed_out;
}

}  // namespace

Status agree_on_input(rma::Team team, const Status& mine) {
  TESSERA_ASSIGN_OR_RETURN(const auto codes, team.allgather_value(mine.code()));
  for (std::size_t rank = 0; rank < codes.size(); ++rank) {
    if (codes[rank] == Code::ok) {
      continue;
    }
    if (!is_of_input(codes[rank])) {
      return team.agree(mine);
    }
    Text text;
    mine.message().copy(text.bytes, Text::most - 1);
    const rma::TeamRank first{static_cast<std::int32_t>(rank)};
    TESSERA_RETURN_IF_ERROR(team.broadcast_value(text, first));
    return Status::error(codes[rank], text.bytes);
  }
  return {};
}

}  // namespace tessera::apps
