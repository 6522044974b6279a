// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. OrderTable: which objects (locks, flags, words, pairs of ranks) a rank acquired and
// released between two collectives of a team. OrderGraph: whether the calls of all members may have
// put an access of one member before an access of another, maybe through further members.
//
// Calls are numbered in the order in which a rank made them. A table keeps the first acquisition
// and the last release of each object: of an object that two ranks used, these permit the most. So
// the graph may see an order that never was, but misses none.
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
  std::uint64_t age = 0;                ///< how many collectives of the team followed
};
static_assert(std::is_trivially_copyable_v<OrderEntry>);

class OrderTable {
 public:
  static constexpr std::size_t max_entries = 4096;

  /// Collectives of the team so far, since any time.
  void begin_epoch() noexcept { ++epoch_; }
  /// If memory or the table's room runs out, or if the object is not known, the table is
  /// incomplete.
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
  std::vector<OrderEntry> entries_;   ///< their `age` is the epoch
  std::vector<std::uint16_t> slots_;  ///< by a hash: an index in entries_, plus one; 0: empty
};

/// A place in a member's sequence of calls: before call `number`.
struct OrderPlace {
  std::size_t member = 0;
  std::uint64_t number = 0;
};

class OrderGraph {
 public:
  /// Throws std::bad_alloc.
  explicit OrderGraph(std::vector<std::vector<OrderEntry>> by_member);

  /// Whether what the one member did from `from` on may come before what the other did before `to`,
  /// both that many collectives ago. Cost: the entries of all members, unless the last question
  /// was about the same `from`.
  [[nodiscard]] bool may_precede(const OrderPlace& from, const OrderPlace& to, std::uint64_t age);

 private:
  using Key = std::pair<std::uint64_t, std::uint64_t>;  // age and object
  struct Acquisition {
    std::size_t member = 0;
    std::uint64_t number = 0;
  };

  void reach(const OrderPlace& from, std::uint64_t age);

  std::vector<std::map<std::uint64_t, std::vector<OrderEntry>>> releases_;  ///< by member and age
  std::map<Key, std::vector<Acquisition>> acquisitions_;
  // The last question's answer: calls of each member from that number on come after `from_`.
  std::vector<std::uint64_t> reached_;
  OrderPlace from_;
  std::uint64_t age_ = OrderEntry::never;
};

}  // namespace tessera::arrays::detail
