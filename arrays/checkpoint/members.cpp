// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/checkpoint/members.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "arrays/call_signature.hpp"
#include "arrays/checkpoint/checksum.hpp"

namespace tessera::arrays::detail {

using rma::Code;
using rma::Status;

Status share(rma::Team& team, std::vector<std::byte>& bytes) {
  auto count = static_cast<std::uint64_t>(bytes.size());
  TESSERA_RETURN_IF_ERROR(team.broadcast_value(count, leader));
  bytes.resize(static_cast<std::size_t>(count));
  return bytes.empty() ? Status() : team.broadcast(bytes, leader);
}

Status share(rma::Team& team, std::string& text) {
  const auto* const first = reinterpret_cast<const std::byte*>(text.data());
  std::vector<std::byte> bytes(first, first + text.size());
  TESSERA_RETURN_IF_ERROR(share(team, bytes));
  text.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return {};
}

Status check_same_call(rma::Team& team, std::string_view what, std::string_view text,
                       std::uint64_t number) {
  const std::array<std::uint64_t, 2> mine = {checksum(std::as_bytes(std::span(text))), number};
  return check_same_on_all(team, mine, what);
}

Status check_array(const ArrayBase& array, const rma::Team& team, const Transfer& transfer) {
  TESSERA_RETURN_IF_ERROR(array.check_open());
  const auto theirs = array.team().members();
  const auto ours = team.members();
  if (!std::equal(theirs.begin(), theirs.end(), ours.begin(), ours.end())) {
    return Status::error(
               Code::invalid_argument,
               fmt::format("{} is on another team of ranks than the checkpoint", array.describe()))
        .hint("give the array's team when the checkpoint is created or opened");
  }
  return array.check_transfer(transfer).context(array.describe());
}

}  // namespace tessera::arrays::detail
