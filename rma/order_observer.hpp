// SPDX-License-Identifier: BSD-3-Clause
//
// OrderObserver: learns of the calls of a rank that order its operations and other ranks'. The
// layer above looks for missing syncs with it (arrays/race_check.hpp). A job has none by default.
#pragma once

#include "rma/status.hpp"

namespace tessera::rma {

class Team;
namespace detail {
class TeamState;
}

class OrderObserver {
 public:
  OrderObserver() = default;
  virtual ~OrderObserver() = default;
  OrderObserver(const OrderObserver&) = delete;
  OrderObserver& operator=(const OrderObserver&) = delete;

  /// This rank takes or releases a lock, sends or awaits a flag or a notification, or changes a
  /// word in one step. From any thread.
  virtual void on_order() noexcept = 0;
  /// This rank is about to meet the other members of a team in a collective.
  virtual void on_meeting(const detail::TeamState& team) noexcept = 0;
  /// Collective, before Team::barrier(). Errors: become those of the barrier.
  virtual Status before_barrier(Team& team) = 0;
};

}  // namespace tessera::rma
