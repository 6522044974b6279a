// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. OrderTable: which objects (locks, flags, words, pairs of ranks) a rank acquired and
// released between two collectives of a team. OrderGraph: whether the calls of all members may have
// put an access of one member before an access of another, maybe through further members.
//
// Calls are numbered in the order in which a rank made them. For each object a table keeps the
// first acquisition and the last release, which permit the most orders. So the graph may find an
// order that did not exist, but it finds every order that existed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <type_traits>
#include <utility>
#include <vector>

#include "rma/order_observer.hpp"

namespace tessera::arrays::detail {

/// Sent between members as plain bytes.
struct OrderEntry {
  static constexpr std::uint64_t never = ~std::uint64_t{0};

  std::uint64_t object = 0;
  std::uint64_t first_acquire = never;  ///< number of the call
  std::uint64_t release_end = 0;        ///< number of the last release, plus one; 0: none
  std::uint64_t age = 0;                ///< number of the team's collectives since then
};
static_assert(std::is_trivially_copyable_v<OrderEntry>);

class OrderTable {
 public:
  static constexpr std::size_t max_entries = 4096;

  /// A collective of the team has ended an epoch, and begins the next one.
  void begin_epoch() noexcept { ++epoch_; }
  /// Records a call. The table is incomplete afterwards if it is full, if memory runs out, or if
  /// the call's object is not known.
  void add(const rma::OrderCall& call, std::uint64_t number) noexcept;
  [[nodiscard]] bool is_complete() const noexcept { return is_complete_; }
  /// Empties the table. Throws std::bad_alloc.
  [[nodiscard]] std::vector<OrderEntry> take();

 private:
  [[nodiscard]] std::size_t slot_of(std::uint64_t object, std::uint64_t epoch) const noexcept;
  OrderEntry* find_or_add(std::uint64_t object);
  void grow();

  std::uint64_t epoch_ = 0;
  bool is_complete_ = true;
  std::vector<OrderEntry> entries_;   ///< `age` holds the epoch until take()
  std::vector<std::uint16_t> slots_;  ///< by a hash: an index in entries_, plus one; 0: empty
};

/// A position in a member's sequence of calls: before call `number`.
struct CallPosition {
  std::size_t member = 0;
  std::uint64_t number = 0;
};

class OrderGraph {
 public:
  /// Throws std::bad_alloc.
  explicit OrderGraph(std::vector<std::vector<OrderEntry>> by_member);

  /// True if what one member did from `from` on may come before what the other member did before
  /// `to`. Both are in the epoch that ended `age` collectives ago. Cost: O(entries of all members),
  /// or O(1) if the last call had the same `from` and `age`.
  [[nodiscard]] bool may_precede(const CallPosition& from, const CallPosition& to,
                                 std::uint64_t age);

 private:
  using Key = std::pair<std::uint64_t, std::uint64_t>;  // age and object
  struct Acquisition {
    std::size_t member = 0;
    std::uint64_t number = 0;
  };

  void reach(const CallPosition& from, std::uint64_t age);

  std::vector<std::map<std::uint64_t, std::vector<OrderEntry>>> releases_;  ///< by member and age
  std::map<Key, std::vector<Acquisition>> acquisitions_;
  // The result for `from_` and `age_`: calls of each member from this number on may come after it.
  std::vector<std::uint64_t> reached_;
  CallPosition from_;
  std::uint64_t age_ = OrderEntry::never;
};

}  // namespace tessera::arrays::detail
