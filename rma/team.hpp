// SPDX-License-Identifier: BSD-3-Clause
//
// Team: an ordered list of ranks, with the collective operations among them.
//
// A team is made by its members only; ranks outside take no part and need not know. Collectives go
// through the node's shared memory, and between nodes over the transport; never through MPI. They
// agree: each succeeds on all members or fails on all with the same code. If members call different
// things, the same with different sizes, or the same on different objects, all get an error that
// says which rank called what. A destructor that frees counts as a call.
//
// Threads: one thread at a time may be in a collective of a given team.
// Ownership: a team is a value that shares its state; it must not outlive its Job.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <vector>

#include "rma/element.hpp"
#include "rma/label.hpp"
#include "rma/rank.hpp"
#include "rma/result.hpp"

namespace tessera::rma {

class Job;
namespace detail {
class TeamState;
}

/// How reduce and allreduce combine elements. Sums, products and the absolute value of integers
/// wrap: that of the most negative one is itself. For complex types sum and product only.
enum class Reduction : std::uint8_t {
  sum,
  product,
  min,
  max,
  abs_min,      ///< the smallest absolute value, |x|
  abs_max,      ///< the largest absolute value, |x|
  bit_and,      ///< of integers only
  bit_or,       ///< of integers only
  logical_and,  ///< 1 where no element is 0, else 0
  logical_or    ///< 1 where an element is not 0, else 0
};
inline constexpr int reduction_count = 10;

/// "abs_min" and the like, for messages.
std::string_view to_string(Reduction reduction) noexcept;

/// An operation and a hash of its arguments, which members compare in Team::agree().
struct Asked {
  std::uint64_t hash = 0;  ///< of all that members have to give alike
  Label label = {};        ///< what was called
};

class Team {
 public:
  /// No team; only assignment and destruction are allowed.
  Team() = default;
  explicit Team(std::shared_ptr<detail::TeamState> state) noexcept : state_(std::move(state)) {}

  /// Collective over the ranks of `members`, which all give the same list; the calling rank is in
  /// it. A TeamRank is a place in the list. Errors: invalid_argument (an empty list, a rank twice
  /// or outside the job, the caller missing), peer_lost; limit_exceeded (the lowest
  /// member of a node could not connect to the others for want of file descriptors; those that it
  /// couldn't tell so wait until it leaves the job); no_memory (a member, which is named, has none
  /// for the team. Memory to tell the others is kept since the job's start; should even that be
  /// gone, they wait until it leaves the job).
  static Result<Team> create(Job& job, std::span<const WorldRank> members);

  /// Collective on this team. Members that give the same `color` form a team, ordered by `key` and
  /// then by their place here. A negative color gives a team of the calling rank alone.
  [[nodiscard]] Result<Team> split(std::int32_t color, std::int32_t key);

  [[nodiscard]] TeamRank rank() const noexcept;
  [[nodiscard]] std::int32_t size() const noexcept;
  [[nodiscard]] std::span<const WorldRank> members() const noexcept;
  /// The world rank of a member. Requires: 0 ≤ rank < size().
  [[nodiscard]] WorldRank world_rank(TeamRank rank) const noexcept;
  /// The place of a world rank in the team; value −1 when it isn't a member. O(log size).
  [[nodiscard]] TeamRank team_rank(WorldRank rank) const noexcept;

  /// Collective. Returns when all members have come. What members wrote before is visible to all
  /// after it where it was complete at its target: behind a fence, which Job::barrier includes.
  /// Errors of this and all collectives: peer_lost (a member died), closed (a member has left the
  /// job), invalid_argument (members called different collectives, or with different sizes),
  /// no_memory (a member, which is named, has none for its part).
  Status barrier();

  /// Collective. Copies the root's bytes into everybody's.
  Status broadcast(std::span<std::byte> bytes, TeamRank root);

  /// Collective. Gathers equally many bytes of each member, in team order.
  /// Requires: all.size() == mine.size() * size().
  Status allgather(std::span<const std::byte> mine, std::span<std::byte> all);

  /// Collective. Combines `count` elements of each member, element by element and in team order,
  /// so that the result is the same each time and on all members; in place.
  Status allreduce(void* elements, std::int64_t count, ElementType type, Reduction reduction);
  /// As allreduce, but only the root's elements are changed.
  Status reduce(void* elements, std::int64_t count, ElementType type, Reduction reduction,
                TeamRank root);

  /// Typed forms.
  template <Element T>
  Status allreduce(std::span<T> elements, Reduction reduction) {
    return allreduce(elements.data(), static_cast<std::int64_t>(elements.size()), element_type<T>(),
                     reduction);
  }
  template <Element T>
  Result<T> allreduce(T value, Reduction reduction) {
    if (Status status = allreduce(&value, 1, element_type<T>(), reduction); !status.ok()) {
      return status;
    }
    return value;
  }
  template <class T>
  Status broadcast_value(T& value, TeamRank root) {
    return broadcast(std::as_writable_bytes(std::span(&value, 1)), root);
  }
  template <class T>
  Result<std::vector<T>> allgather_value(const T& value) {
    std::vector<T> all;
    try {
      all.resize(static_cast<std::size_t>(size()));
    } catch (const std::bad_alloc&) {
      return lack_memory();
    }
    if (Status status =
            allgather(std::as_bytes(std::span(&value, 1)), std::as_writable_bytes(std::span(all)));
        !status.ok()) {
      return status;
    }
    return all;
  }

  /// Collective. Makes the members' statuses one: ok() everywhere if all were, else everywhere the
  /// error of the lowest failing member, with its rank. Members may say what was called: if all are
  /// ok() and two differ, invalid_argument everywhere.
  Status agree(const Status& mine, const Asked& asked = {});

  /// As Job::name_rank().
  [[nodiscard]] Status name_rank(Status status) const noexcept;

  [[nodiscard]] detail::TeamState& state() const noexcept { return *state_; }
  [[nodiscard]] const std::shared_ptr<detail::TeamState>& shared_state() const noexcept {
    return state_;
  }
  explicit operator bool() const noexcept { return state_ != nullptr; }

 private:
  /// Collective, in place of what the others call.
  Status lack_memory() noexcept;

  std::shared_ptr<detail::TeamState> state_;
};

}  // namespace tessera::rma
