// SPDX-License-Identifier: BSD-3-Clause
#include "rma/engine/team/collective_step.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "rma/engine/job_state.hpp"

namespace tessera::rma::detail {

CollectiveStep::CollectiveStep(JobState& job, const TeamState& team, const TeamMembers& members)
    : job_(job),
      team_(team),
      members_(members),
      memory_(job, members),
      checker_(members),
      liveness_(job, members, memory_),
      barrier_(job, members, memory_, liveness_, checker_),
      exchange_(job, members, memory_, liveness_, barrier_) {}

Status CollectiveStep::meet(const CollectiveCall& call, const StepPayload& payload) {
  if (OrderObserver* const observer = job_.observers().current()) [[unlikely]] {
    observer->on_meeting(team_);
  }
  if (job_.is_stopped()) {
    return job_.stopped_error();
  }
  TeamControl& control = memory_.control();
  const std::uint32_t generation = control.generation.load();
  if (control.broken.load() != 0 || (generation & TeamControl::given_up_bit) != 0) {
    return barrier_.broken();
  }
  TeamControl::Check& check = control.check[generation % 2];
  checker_.record(check, call);
  if (members_.has_other_nodes()) {
    TESSERA_RETURN_IF_ERROR(meet_over_nodes(generation, call, payload));
  } else if (barrier_.is_last_to_arrive()) {
    TESSERA_RETURN_IF_ERROR(barrier_.finish(generation));
  } else {
    TESSERA_RETURN_IF_ERROR(barrier_.wait_for_end(generation));
  }
  if (CallChecker::is_different(check)) [[unlikely]] {
    return explain(check, call);
  }
  return {};
}

Status CollectiveStep::meet_over_nodes(std::uint32_t generation, const CollectiveCall& call,
                                       const StepPayload& payload) {
  exchange_.begin(generation);
  if (members_.is_leader()) {
    return lead(generation, call, payload);
  }
  barrier_.arrive_for_leader();
  return barrier_.wait_for_end(generation);
}

Status CollectiveStep::lead(std::uint32_t generation, const CollectiveCall& call,
                            StepPayload payload) {
  TeamControl& control = memory_.control();
  TeamControl::Check& check = control.check[generation % 2];
  if (!exchange_.reserve(payload)) {
    checker_.record(check, {.kind = CollectiveCall::Kind::without_memory});
    payload = StepPayload();
  }
  if (!barrier_.wait_for_arrivals(generation)) {
    exchange_.send_failure(control.broken.load(), 0);
    return barrier_.broken();
  }
  control.entered.store(TeamControl::after(generation));
  StepSummary summary = checker_.summarise(check);
  summary.slot_bytes = memory_.slot_bytes();
  if (const std::uint32_t word = exchange_.run(summary, call, payload); word != 0) {
    return barrier_.give_up(generation, word);
  }
  if (payload.leaders_work != nullptr && !summary.odd.is_known()) {
    if (const std::uint32_t word = (*payload.leaders_work)(); word != 0) {
      return barrier_.give_up(generation, word);
    }
  }
  if (!memory_.is_formed()) {
    control.slot_bytes = summary.slot_bytes;
  }
  CallChecker::record_summary(summary, check);
  return barrier_.finish(generation);
}

Status CollectiveStep::explain(const TeamControl::Check& check,
                               const CollectiveCall& call) noexcept {
  // Members may have used different numbers of slots so far; all of them restart.
  phase_ = 0;
  return checker_.explain(check, call, [this](TeamRank root, std::span<std::byte> report) {
    return broadcast_report(root, report);
  });
}

Status CollectiveStep::explain_requests(TeamRank first, TeamRank other) {
  return checker_.explain_requests(first, other,
                                   [this](TeamRank root, std::span<std::byte> report) {
                                     return broadcast_report(root, report);
                                   });
}

Status CollectiveStep::broadcast_report(TeamRank root, std::span<std::byte> report) {
  const StepPayload payload{.kind = StepPayload::Kind::of_root,
                            .bytes = std::min(memory_.slot_bytes(), report.size()),
                            .phase = next_phase()};
  if (root == members_.self()) {
    std::memcpy(own_slot(payload.phase), report.data(), payload.bytes);
  }
  TESSERA_RETURN_IF_ERROR(meet({.kind = CollectiveCall::Kind::account, .root = root}, payload));
  std::memcpy(report.data(), piece_of_root(root, payload), payload.bytes);
  std::fill(report.begin() + static_cast<std::ptrdiff_t>(payload.bytes), report.end(),
            std::byte{0});
  return {};
}

Status CollectiveStep::meet_with_error(const Status& error, const CollectiveCall& call,
                                       const StepPayload& payload) {
  const CallChecker::OwnErrorScope scope(checker_, error);
  return meet(call, payload);
}

Status CollectiveStep::refuse(Status error) {
  meet_with_error(error, {.kind = CollectiveCall::Kind::refused})
      .ignore("this member's own error comes first; the others get theirs from the step");
  return error;
}

Status CollectiveStep::report_no_memory() noexcept {
  Status met = meet({.kind = CollectiveCall::Kind::without_memory});
  return met.ok() ? Status::no_memory("no member has memory for its part of a collective")
                  : std::move(met);
}

}  // namespace tessera::rma::detail
