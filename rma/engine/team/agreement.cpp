// SPDX-License-Identifier: BSD-3-Clause
//
// On several nodes, only a Verdict of each member travels to all; an error's text follows if there
// is an error.
#include "rma/engine/team/agreement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "rma/base/catch_bad_alloc.hpp"

namespace tessera::rma::detail {
namespace {

// What a member reports: a fixed prefix, then the text of its error.
struct Verdict {
  std::uint32_t code = 0;
  std::int32_t rank = -1;  // the rank that the status names, or −1
  std::uint32_t text_bytes = 0;
  std::uint32_t unused = 0;
  std::uint64_t asked = 0;
};

Verdict verdict_of(const CollectiveStep& step, TeamRank member, const StepPayload& payload) {
  Verdict verdict;
  std::memcpy(&verdict, step.piece(member, payload), sizeof verdict);
  return verdict;
}

// Collective. Fetches the text of a member, which may be on another node. It stays until the next
// step.
Result<std::string_view> text_of(CollectiveStep& step, TeamRank member, StepPayload payload) {
  const Verdict verdict = verdict_of(step, member, payload);
  const std::byte* report = step.piece(member, payload);
  if (step.members().has_other_nodes()) {
    payload.kind = StepPayload::Kind::of_root;
    payload.bytes = sizeof verdict + verdict.text_bytes;
    TESSERA_RETURN_IF_ERROR(
        step.meet({.kind = CollectiveCall::Kind::part, .root = member}, payload));
    report = step.piece_of_root(member, payload);
  }
  return std::string_view(reinterpret_cast<const char*>(report + sizeof verdict),
                          verdict.text_bytes);
}

// Collective. The error of a member that failed.
Status failure_of(CollectiveStep& step, TeamRank member, const StepPayload& payload) {
  const Verdict verdict = verdict_of(step, member, payload);
  Result<std::string_view> text = text_of(step, member, payload);
  if (text.status().code() == Code::no_memory) {  // on all members
    text = std::string_view();                    // the code alone must suffice
  }
  TESSERA_RETURN_IF_ERROR(text.status());
  const WorldRank failing = step.members().world_rank(member);
  const auto code = static_cast<Code>(verdict.code);
  return worded(code, [&] {
    return Status::error_at(
        verdict.rank >= 0 ? WorldRank{verdict.rank} : failing, code,
        fmt::format("on rank {}: {}", failing.value, text->empty() ? to_string(code) : *text));
  });
}

}  // namespace

Status agree(CollectiveStep& step, const Status& mine, const AgreedCall& asked) {
  const StepPayload payload{
      .kind = StepPayload::Kind::of_each, .bytes = sizeof(Verdict), .phase = step.next_phase()};
  std::byte* const own = step.own_slot(payload.phase);
  const std::string message = mine.ok() ? "" : mine.message();
  const Verdict verdict{
      .code = static_cast<std::uint32_t>(mine.code()),
      .rank = mine.rank() ? mine.rank()->value : -1,
      .text_bytes = static_cast<std::uint32_t>(
          std::min(message.size(), step.memory().slot_bytes() - sizeof(Verdict))),
      .asked = Label::mix(Label::mix(asked.hash, asked.scalars), step.checker().scope_hash())};
  std::memcpy(own, &verdict, sizeof verdict);
  message.copy(reinterpret_cast<char*>(own + sizeof verdict), verdict.text_bytes);
  TESSERA_RETURN_IF_ERROR(
      step.meet_with_error(mine, {.kind = CollectiveCall::Kind::agree}, payload));
  TeamRank first;
  TeamRank other;
  for (TeamRank member; member.value < step.members().size(); ++member.value) {
    const Verdict each = verdict_of(step, member, payload);
    if (each.code != static_cast<std::uint32_t>(Code::ok)) {
      return failure_of(step, member, payload);
    }
    if (other == first && each.asked != verdict_of(step, first, payload).asked) {
      other = member;
    }
  }
  return other == first ? Status() : step.explain_requests(first, other);
}

}  // namespace tessera::rma::detail
