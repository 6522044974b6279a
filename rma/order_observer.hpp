// SPDX-License-Identifier: BSD-3-Clause
//
// OrderObserver: is called when a rank calls something that orders its operations and those of
// other ranks. The layer above uses it to find missing syncs (arrays/race_check.hpp). A job has
// none by default.
#pragma once

#include "rma/base/status.hpp"

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

  /// This rank takes or releases a lock, sends or waits for a flag or a notification, or does an
  /// atomic read-modify-write. Called from any thread.
  virtual void on_order() noexcept = 0;
  /// This rank is about to synchronise with the other members of a team in a collective.
  virtual void on_meeting(const detail::TeamState& team) noexcept = 0;
  /// Collective, called before Team::barrier(). The barrier returns its errors.
  virtual Status before_barrier(Team& team) = 0;
};

}  // namespace tessera::rma
