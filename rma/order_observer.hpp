// SPDX-License-Identifier: BSD-3-Clause
//
// OrderObserver: is called when a rank calls something that orders its operations and those of
// other ranks. The layer above uses it to find missing syncs (arrays/race_check.hpp). A job has
// none by default.
#pragma once

#include <cstdint>
#include <span>

#include "rma/base/status.hpp"
#include "rma/label.hpp"
#include "rma/region.hpp"

namespace tessera::rma {

class Team;
namespace detail {
class TeamState;
}

/// A call that may order what this rank did before it, and what another rank does after its own
/// call for the same object.
struct OrderCall {
  /// release: earlier operations of this rank come before those of ranks that acquire later.
  enum class Kind : std::uint8_t { acquire, release, both };

  Kind kind = Kind::both;
  static constexpr std::uint64_t any_object = 0;

  /// The lock, flag, word or notification: the same number on all ranks. Different objects may have
  /// one number, with small probability. any_object: not known.
  std::uint64_t object = any_object;
};

namespace detail {

/// The members of a team, in its order.
[[nodiscard]] std::span<const WorldRank> members_of(const TeamState& team) noexcept;

/// A word that puts of one element and atomic operations release. These acquire it, and so do waits
/// for flags.
[[nodiscard]] inline std::uint64_t number_of_word(const RemoteAddress& at) noexcept {
  constexpr std::uint64_t words = 1;
  const std::uint64_t slice = Label::mix(
      words, std::uint64_t{at.region.value} << 32U | static_cast<std::uint32_t>(at.rank.value));
  return Label::mix(slice, at.offset);
}

/// A word that raise_flag() releases. Gets of one element and atomic operations acquire it.
[[nodiscard]] inline std::uint64_t number_of_raised(const RemoteAddress& at) noexcept {
  constexpr std::uint64_t raised = 2;
  return Label::mix(number_of_word(at), raised);
}

/// A flag with a value: raise_flag() releases it, and a wait that sees the value acquires it. So
/// the rounds of an exchange have an object each.
[[nodiscard]] inline std::uint64_t number_of_flag(const RemoteAddress& at,
                                                  std::int32_t value) noexcept {
  return Label::mix(number_of_raised(at), static_cast<std::uint32_t>(value));
}

/// The notification with this number from one rank to another.
[[nodiscard]] inline std::uint64_t number_of_notification(WorldRank from, WorldRank to,
                                                          std::uint64_t count) noexcept {
  constexpr std::uint64_t notifications = 5;
  const std::uint64_t sender = Label::mix(notifications, static_cast<std::uint32_t>(from.value));
  return Label::mix(Label::mix(sender, static_cast<std::uint32_t>(to.value)), count);
}

/// A lock of a set, which has the same number on all members of its team.
[[nodiscard]] inline std::uint64_t number_of_lock(std::uint64_t set, WorldRank owner,
                                                  std::int64_t index) noexcept {
  constexpr std::uint64_t locks = 3;
  return Label::mix(Label::mix(Label::mix(locks, set), static_cast<std::uint32_t>(owner.value)),
                    static_cast<std::uint64_t>(index));
}

}  // namespace detail

class OrderObserver {
 public:
  OrderObserver() = default;
  virtual ~OrderObserver() = default;
  OrderObserver(const OrderObserver&) = delete;
  OrderObserver& operator=(const OrderObserver&) = delete;

  /// This rank takes or releases a lock, sends or waits for a flag or a notification, or does an
  /// atomic read-modify-write. Called from any thread.
  virtual void on_order(const OrderCall& call) noexcept = 0;
  /// This rank is about to synchronise with the other members of a team in a collective.
  virtual void on_meeting(const detail::TeamState& team) noexcept = 0;
  /// Collective, called before Team::barrier(). The barrier returns its errors.
  virtual Status before_barrier(Team& team) = 0;
};

}  // namespace tessera::rma
