// SPDX-License-Identifier: BSD-3-Clause
//
// Team: an ordered list of ranks, with the collective operations among them.
//
// Only the members create a team; other ranks take no part and need not know of it. Collectives use
// the node's shared memory and, between nodes, the transport; never MPI. Members agree: a
// collective succeeds on all members or fails on all with the same code. If members call different
// collectives, or the same one with different sizes or on different objects, all get an error that
// names which rank called what. A destructor that frees counts as a call.
//
// Threads: one thread at a time may be in a collective of a given team.
// Ownership: a team is a value that shares its state; it must not outlive its Job.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "rma/base/catch_bad_alloc.hpp"
#include "rma/base/rank.hpp"
#include "rma/base/result.hpp"
#include "rma/element.hpp"
#include "rma/label.hpp"

namespace tessera::rma {

class Job;
namespace detail {
class TeamState;
}

/// How reduce and allreduce combine elements. Integer sums, products and absolute values wrap; the
/// absolute value of the most negative integer is itself. Complex types: sum and product only.
enum class Reduction : std::uint8_t {
  sum,
  product,
  min,
  max,
  abs_min,      ///< the smallest absolute value, |x|
  abs_max,      ///< the largest absolute value, |x|
  bit_and,      ///< integers only
  bit_or,       ///< integers only
  logical_and,  ///< 1 if no element is 0, else 0
  logical_or    ///< 1 if any element is not 0, else 0
};
inline constexpr int reduction_count = 10;

/// The name, for example "abs_min", for messages.
std::string_view to_string(Reduction reduction) noexcept;

/// An operation and hashes of its arguments, compared among members in Team::agree().
struct AgreedCall {
  std::uint64_t hash = 0;     ///< of all arguments that must be equal on all members
  Label label = {};           ///< the operation that was called
  std::uint64_t scalars = 0;  ///< of the numbers it computes with; see TeamOptions
};

/// How members compare what they call.
struct TeamOptions {
  /// Numbers that an operation computes with, such as the value of a fill or the factors of an add,
  /// must be equal on all members. If false, each member uses its own for the elements that it
  /// owns, as in Global Arrays; operations, arrays and boxes are still compared.
  bool compare_scalars = true;
};

class Team {
 public:
  /// An empty team; only assignment and destruction are allowed.
  Team() = default;
  explicit Team(std::shared_ptr<detail::TeamState> state) noexcept : state_(std::move(state)) {}

  /// Collective over the ranks of `members`. All give the same list, and the calling rank is in it.
  /// A TeamRank is an index in this list.
  /// Errors: invalid_argument (an empty list, a rank that is listed twice or outside the job, the
  /// caller is missing); peer_lost; limit_exceeded (the lowest member of a node had no file
  /// descriptors to connect to the others; members that it could not notify wait until it leaves
  /// the job); no_memory (a member, which is named, has no memory for the team). The memory to
  /// notify the others of that is reserved when the job starts. If even this is gone, they wait
  /// until that member leaves the job.
  static Result<Team> create(Job& job, std::span<const WorldRank> members);

  /// Collective on this team. Members that give the same `color` form a team, ordered by `key` and
  /// then by their rank in this team. A negative color makes a team of the calling rank alone.
  /// Errors: those of create() and of barrier().
  [[nodiscard]] Result<Team> split(std::int32_t color, std::int32_t key);

  /// Local. All members set the same options before their next collective. Teams that split() makes
  /// afterwards begin with them.
  void set_options(const TeamOptions& options) noexcept;
  [[nodiscard]] const TeamOptions& options() const noexcept;

  /// The calling rank's index in the team.
  [[nodiscard]] TeamRank rank() const noexcept;
  /// The number of members.
  [[nodiscard]] std::int32_t size() const noexcept;
  /// The members' world ranks, in team order.
  [[nodiscard]] std::span<const WorldRank> members() const noexcept;
  /// The world rank of a member. Requires: 0 ≤ rank < size().
  [[nodiscard]] WorldRank world_rank(TeamRank rank) const noexcept;
  /// The index of a world rank in the team, or −1 if it is not a member. O(log size).
  [[nodiscard]] TeamRank team_rank(WorldRank rank) const noexcept;

  /// Collective. Returns after all members have entered it. What members wrote before is visible to
  /// all members afterwards if it was complete at its target, that is, after a fence. Job::barrier
  /// includes the fence.
  /// Errors of this and all collectives: peer_lost (a member died), closed (a member has left the
  /// job), invalid_argument (members called different collectives, or with different sizes),
  /// no_memory (a member, which is named, has no memory for its part).
  Status barrier();

  /// Collective. Copies the root's bytes to all members. Sizes are equal on all members.
  Status broadcast(std::span<std::byte> bytes, TeamRank root);

  /// Collective. Gathers the same number of bytes from each member, in team order.
  /// Requires: all.size() == own.size() * size().
  Status allgather(std::span<const std::byte> own, std::span<std::byte> all);

  /// Collective. Combines `count` elements of each member, element by element and in team order, in
  /// place. The result is the same on all members and in each run.
  Status allreduce(void* elements, std::int64_t count, ElementType type, Reduction reduction);
  /// As allreduce, but only the root's elements change.
  Status reduce(void* elements, std::int64_t count, ElementType type, Reduction reduction,
                TeamRank root);

  /// The same for elements of type T.
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
    return do_together([&]() -> Result<std::vector<T>> {
      std::vector<T> all(static_cast<std::size_t>(size()));
      TESSERA_RETURN_IF_ERROR(
          allgather(std::as_bytes(std::span(&value, 1)), std::as_writable_bytes(std::span(all))));
      return all;
    });
  }

  /// Collective. Combines the members' statuses. If all are ok(), returns ok() on all members; else
  /// returns the error of the lowest failing member, with its rank, on all members. Members may
  /// pass what they called: if all are ok() and two of these differ, all get invalid_argument.
  Status agree(const Status& status, const AgreedCall& asked = {});
  /// Collective. The same for what body() returns, a Status or a Result; no_memory if memory runs
  /// out in it. Returns this member's result if all are ok().
  template <std::invocable Body>
  std::invoke_result_t<Body> agree(Body&& body) {
    auto own = detail::catch_bad_alloc(std::forward<Body>(body));
    if constexpr (std::is_same_v<decltype(own), Status>) {
      return agree(own);
    } else {
      Status agreed = agree(own.status());
      return agreed.ok() ? std::move(own) : std::move(agreed);
    }
  }
  /// Collective. Returns what body() returns, a Status or a Result. If memory runs out in it, this
  /// member joins what the others call next, and all get no_memory with its rank.
  /// Requires: wherever memory may run out, the others have a collective of this team before them,
  /// and nothing that body() owns is freed by a collective.
  template <std::invocable Body>
  std::invoke_result_t<Body> do_together(Body&& body) {
    return detail::catch_bad_alloc(body, [this] { return report_no_memory(); });
  }

  /// As Job::name_rank().
  [[nodiscard]] Status name_rank(Status status) const noexcept;

  [[nodiscard]] detail::TeamState& state() const noexcept { return *state_; }
  [[nodiscard]] const std::shared_ptr<detail::TeamState>& shared_state() const noexcept {
    return state_;
  }
  explicit operator bool() const noexcept { return state_ != nullptr; }

 private:
  /// Collective, called in place of the operation that the other members call; reports no_memory to
  /// all of them.
  Status report_no_memory() noexcept;

  std::shared_ptr<detail::TeamState> state_;
};

}  // namespace tessera::rma
