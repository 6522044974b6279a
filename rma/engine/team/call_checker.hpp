// SPDX-License-Identifier: BSD-3-Clause
//
// CallChecker: compares what the members of a team call, and words the difference if they call
// different collectives.
//
// The first member that arrives at a step records the fingerprint of its call and labels. A member
// that finds another one there records its own beside it. So all members know after the step
// whether two calls differ, and which. Then two broadcasts bring what these two members called, in
// words. Both broadcasts are part of the failed collective on all members.
//
// Threads: one at a time, as collectives. Cost: one compare-and-swap in each step.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>

#include "rma/base/status.hpp"
#include "rma/engine/team/collective_call.hpp"
#include "rma/engine/team/team_control.hpp"
#include "rma/engine/team/team_members.hpp"
#include "rma/label.hpp"

namespace tessera::rma::detail {

class CallChecker {
 public:
  /// Collective. Sends the root's bytes to all members. Those that do not fit into a slot become
  /// zero, on the root too. Allocates no memory.
  using Broadcast = std::function<Status(TeamRank root, std::span<std::byte> bytes)>;

  explicit CallChecker(const TeamMembers& members) noexcept : members_(members) {}

  /// The labels of the collectives that this rank runs at present; null: there are none.
  [[nodiscard]] const LabelScope* scope() const noexcept { return scope_; }
  const LabelScope* exchange_scope(const LabelScope* scope) noexcept {
    return std::exchange(scope_, scope);
  }
  [[nodiscard]] std::uint64_t scope_hash() const noexcept {
    return scope_ == nullptr ? 0 : scope_->hash();
  }
  /// The outermost label, which names what the program called; null if there is none.
  [[nodiscard]] const Label* label() const noexcept {
    return scope_ == nullptr ? nullptr : outermost_label();
  }
  /// While it exists, this member reports the error in place of its call.
  class OwnErrorScope {
   public:
    OwnErrorScope(CallChecker& checker, const Status& error) noexcept : checker_(checker) {
      checker_.own_error_ = &error;
    }
    OwnErrorScope(const OwnErrorScope&) = delete;
    OwnErrorScope& operator=(const OwnErrorScope&) = delete;
    ~OwnErrorScope() { checker_.own_error_ = nullptr; }

   private:
    CallChecker& checker_;
  };

  /// On arrival at a step: records this member's call, or that it differs.
  void record(TeamControl::Check& check, const CollectiveCall& call) const noexcept;
  /// After the step: whether members called different things.
  [[nodiscard]] static bool is_different(const TeamControl::Check& check) noexcept {
    return check.odd.load(std::memory_order_relaxed) != 0;
  }
  /// What the members do in a step, for messages: the program's call, or what the first one called.
  [[nodiscard]] std::string describe(const TeamControl::Check& check) const;

  /// Between nodes: what this node's members called; and the result of all nodes, for them.
  [[nodiscard]] StepSummary summarise(const TeamControl::Check& check) const noexcept;
  static void record_summary(const StepSummary& summary, TeamControl::Check& check) noexcept;

  /// Collective, after a step in which is_different(). The error that all members get.
  Status explain(const TeamControl::Check& check, const CollectiveCall& own,
                 const Broadcast& broadcast) const noexcept;
  /// Collective among members that all found that these two passed different requests to agree().
  Status explain_requests(TeamRank first, TeamRank other, const Broadcast& broadcast) const;

 private:
  /// Two members that called different things, and what they called: the same on all members.
  struct Difference {
    WorldRank first;
    WorldRank odd;
    std::uint64_t first_call = 0;
    std::uint64_t odd_call = 0;
  };
  struct CallReport;

  [[nodiscard]] const Label* outermost_label() const noexcept;
  [[nodiscard]] static Status out_of_memory_status(const Difference& found);
  Status explain_difference(const Difference& found, const CollectiveCall& own,
                            const Broadcast& broadcast) const;
  Status exchange_call_reports(const Difference& found, const CollectiveCall& own,
                               const Broadcast& broadcast, CallReport& first,
                               CallReport& odd) const;
  [[nodiscard]] CallReport call_report_of(const CollectiveCall& own) const noexcept;
  [[nodiscard]] Status compare_call_reports(const Difference& found, const CallReport& first,
                                            const CallReport& odd) const;

  const TeamMembers& members_;
  const LabelScope* scope_ = nullptr;
  const Status* own_error_ = nullptr;
};

// In the header, since each step calls it.
inline void CallChecker::record(TeamControl::Check& check,
                                const CollectiveCall& call) const noexcept {
  const std::uint64_t mine = call.fingerprint(call.has_label() ? scope_hash() : 0);
  const std::int32_t self = members_.own_world_rank().value;
  std::uint64_t found = 0;
  // The fields of the first and the odd member are read after all members have arrived.
  if (check.fingerprint.compare_exchange_strong(found, mine)) {
    check.call.store(call.packed(), std::memory_order_relaxed);
    check.bytes.store(call.bytes, std::memory_order_relaxed);
    check.first.store(self, std::memory_order_relaxed);
    return;
  }
  std::uint32_t none = 0;
  if (found != mine &&
      check.odd.compare_exchange_strong(none, static_cast<std::uint32_t>(self) + 1)) {
    check.odd_call.store(call.packed(), std::memory_order_relaxed);
    check.odd_fingerprint.store(mine, std::memory_order_relaxed);
  }
}

}  // namespace tessera::rma::detail
