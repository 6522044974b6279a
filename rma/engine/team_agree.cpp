// SPDX-License-Identifier: BSD-3-Clause
//
// How members of a team make their statuses one.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "rma/engine/team_state.hpp"

namespace tessera::rma::detail {
namespace {

// That some member had no memory for a text is known to all of them.
bool is_lack(const Result<std::string>& text) noexcept {
  return text.status().code() == Code::no_memory;
}

}  // namespace

// On several nodes only what is said about success travels with all; texts follow when there is
// something to tell.
Status TeamState::agree(const Status& mine, const Asked& asked) {
  const Payload payload{.kind = Payload::Kind::of_each, .bytes = sizeof(Verdict), .turn = turn_++};
  std::byte* const own = slot(payload.turn, order_);
  const std::string message = mine.ok() ? "" : mine.message();
  const std::string_view text = mine.ok() ? asked.verb : message;
  const Verdict verdict{.code = static_cast<std::uint32_t>(mine.code()),
                        .rank = mine.rank() ? mine.rank()->value : -1,
                        .text_bytes = static_cast<std::uint32_t>(
                            std::min(text.size(), slot_bytes_ - sizeof(Verdict))),
                        .asked = asked.hash};
  std::memcpy(own, &verdict, sizeof verdict);
  text.copy(reinterpret_cast<char*>(own + sizeof verdict), verdict.text_bytes);
  TESSERA_RETURN_IF_ERROR(meet({.kind = CollectiveCall::Kind::agree}, payload));
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
  return other == first ? Status() : different_requests(first, other, payload);
}

TeamState::Verdict TeamState::verdict_of(TeamRank member, const Payload& payload) const noexcept {
  Verdict verdict;
  std::memcpy(&verdict, piece(member, payload), sizeof verdict);
  return verdict;
}

// Collective among members that all found the same two.
Status TeamState::different_requests(TeamRank first, TeamRank other, const Payload& payload) {
  const Verdict verdict = verdict_of(other, payload);  // what is fetched takes its place
  Result<std::string> first_verb = text_of(first, verdict_of(first, payload), payload);
  Result<std::string> verb = is_lack(first_verb) || first_verb.ok()
                                 ? text_of(other, verdict, payload)
                                 : first_verb.status();
  if (is_lack(verb) || is_lack(first_verb)) {
    verb = first_verb = std::string();
  }
  TESSERA_RETURN_IF_ERROR(verb.status());
  try {
    std::string differs = fmt::format("rank {} asked for something else than rank {}",
                                      members_[static_cast<std::size_t>(other.value)].value,
                                      members_[static_cast<std::size_t>(first.value)].value);
    if (*verb == *first_verb || verb->empty() || first_verb->empty()) {
      return Status::error(Code::invalid_argument, std::move(differs))
          .hint("all members must give the same arrays, boxes, scalars and options");
    }
    return Status::error(Code::invalid_argument,
                         fmt::format("{}: for {}, not for {}", differs, *verb, *first_verb))
        .hint("all members must call the same operations in the same order");
  } catch (const std::bad_alloc&) {
    return Status::without_text(Code::invalid_argument);
  }
}

// Collective. What a member said that failed.
Status TeamState::failure_of(TeamRank member, const Payload& payload) {
  const Verdict verdict = verdict_of(member, payload);
  Result<std::string> what = text_of(member, verdict, payload);
  if (is_lack(what)) {
    what = std::string();  // the code has to do
  }
  TESSERA_RETURN_IF_ERROR(what.status());
  const WorldRank failing = members_[static_cast<std::size_t>(member.value)];
  const auto code = static_cast<Code>(verdict.code);
  try {
    return Status::error_at(
        verdict.rank >= 0 ? WorldRank{verdict.rank} : failing, code,
        fmt::format("on rank {}: {}", failing.value, what->empty() ? to_string(code) : *what));
  } catch (const std::bad_alloc&) {
    return Status::without_text(code);
  }
}

// Collective. Of a member of another node it is fetched. Empty where there is no memory for it.
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
