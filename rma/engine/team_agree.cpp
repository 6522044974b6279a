// SPDX-License-Identifier: BSD-3-Clause
//
// How members of a team agree on one status.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "rma/base/catch_bad_alloc.hpp"
#include "rma/engine/team_state.hpp"

namespace tessera::rma::detail {
namespace {

// All members know it if one of them had no memory for a text.
bool is_out_of_memory(const Result<std::string>& text) noexcept {
  return text.status().code() == Code::no_memory;
}

}  // namespace

// On several nodes, only a Verdict of each member travels to all; an error's text follows if there
// is an error.
Status TeamState::agree(const Status& mine, const Asked& asked) {
  const Payload payload{
      .kind = Payload::Kind::of_each, .bytes = sizeof(Verdict), .phase = phase_++};
  std::byte* const own = slot(payload.phase, order_);
  const std::string message = mine.ok() ? "" : mine.message();
  const Verdict verdict{.code = static_cast<std::uint32_t>(mine.code()),
                        .rank = mine.rank() ? mine.rank()->value : -1,
                        .text_bytes = static_cast<std::uint32_t>(
                            std::min(message.size(), slot_bytes_ - sizeof(Verdict))),
                        .asked = Label::mix(asked.hash, scope_ == nullptr ? 0 : scope_->hash())};
  std::memcpy(own, &verdict, sizeof verdict);
  message.copy(reinterpret_cast<char*>(own + sizeof verdict), verdict.text_bytes);
  own_error_ = &mine;
  Status met =
      catch_bad_alloc([&] { return meet({.kind = CollectiveCall::Kind::agree}, payload); });
  own_error_ = nullptr;
  TESSERA_RETURN_IF_ERROR(std::move(met));
  TeamRank first;
  TeamRank other;
  for (TeamRank member; member.value < size(); ++member.value) {
    const Verdict each = verdict_of(member, payload);
    if (each.code != static_cast<std::uint32_t>(Code::ok)) {
      return failure_of(member, payload);
    }
    if (other == first && each.asked != verdict_of(first, payload).asked) {
      other = member;
    }
  }
  return other == first ? Status() : different_requests(first, other);
}

TeamState::Verdict TeamState::verdict_of(TeamRank member, const Payload& payload) const noexcept {
  Verdict verdict;
  std::memcpy(&verdict, piece(member, payload), sizeof verdict);
  return verdict;
}

// Collective. The error of a member that failed.
Status TeamState::failure_of(TeamRank member, const Payload& payload) {
  const Verdict verdict = verdict_of(member, payload);
  Result<std::string> what = text_of(member, verdict, payload);
  if (is_out_of_memory(what)) {
    what = std::string();  // the code alone must suffice
  }
  TESSERA_RETURN_IF_ERROR(what.status());
  const WorldRank failing = members_[static_cast<std::size_t>(member.value)];
  const auto code = static_cast<Code>(verdict.code);
  try {
    return Status::error_at(
        verdict.rank >= 0 ? WorldRank{verdict.rank} : failing, code,
        fmt::format("on rank {}: {}", failing.value, what->empty() ? to_string(code) : *what));
  } catch (const std::bad_alloc&) {
    return Status::code_only(code);
  }
}

// Collective. Fetches the text of a member of another node. Empty if there is no memory for it.
Result<std::string> TeamState::text_of(TeamRank member, const Verdict& verdict, Payload payload) {
  const std::byte* said = piece(member, payload);
  if (nodes_) {
    payload.kind = Payload::Kind::of_root;
    payload.bytes = sizeof verdict + verdict.text_bytes;
    TESSERA_RETURN_IF_ERROR(meet({.kind = CollectiveCall::Kind::part, .root = member}, payload));
    said = piece_of_root(member, payload);
  }
  try {
    return std::string(reinterpret_cast<const char*>(said + sizeof verdict), verdict.text_bytes);
  } catch (const std::bad_alloc&) {
    return std::string();
  }
}

}  // namespace tessera::rma::detail
