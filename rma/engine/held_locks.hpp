// SPDX-License-Identifier: BSD-3-Clause
//
// HeldLocks: the locks on other nodes that this rank holds, and by which of its threads.
//
// Threads: all functions may be called from any thread.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include "rma/base/rank.hpp"
#include "rma/base/status.hpp"

namespace tessera::rma::detail {

class HeldLocks {
 public:
  /// The owner of a lock, and its index there.
  using Key = std::pair<std::int32_t, std::int64_t>;
  using Table = std::map<Key, std::uint64_t>;
  /// One lock that was, or will be, held.
  using Entry = Table::node_type;

  /// An entry that add() can take without allocating. Made before the lock is requested, so that an
  /// allocation failure cannot prevent its release.
  struct Reserved {
    Table lock;
    std::set<NodeId> node;
  };
  static Reserved reserve(const Key& key, NodeId node, std::uint64_t thread) {
    Reserved reserved;
    reserved.lock.emplace(key, thread);
    reserved.node.insert(node);
    return reserved;
  }

  void add(Reserved& reserved) noexcept {
    const std::lock_guard guard(mutex_);
    held_.merge(reserved.lock);
    used_nodes_.merge(reserved.node);
  }
  /// Removes the entry and returns it; empty if this rank does not hold that lock.
  Entry remove(const Key& key) noexcept {
    const std::lock_guard guard(mutex_);
    return held_.extract(key);
  }
  /// Reverses remove().
  void put_back(Entry entry) noexcept {
    const std::lock_guard guard(mutex_);
    held_.insert(std::move(entry));
  }
  /// The thread of this rank that holds that lock; 0: none does.
  [[nodiscard]] std::uint64_t thread_holding(const Key& key) const {
    const std::lock_guard guard(mutex_);
    const auto found = held_.find(key);
    return found == held_.end() ? 0 : found->second;
  }
  /// Calls `ask` for each node on which this rank took locks since the last call, while other
  /// threads wait. Returns the first error.
  template <class Ask>
  Status ask_used_nodes(const Ask& ask) {
    const std::lock_guard guard(mutex_);
    Status first;
    for (const NodeId node : used_nodes_) {
      Status asked = ask(node);
      first = first.ok() ? std::move(asked) : std::move(first);
    }
    used_nodes_.clear();
    return first;
  }

 private:
  mutable std::mutex mutex_;
  Table held_;
  std::set<NodeId> used_nodes_;
};

}  // namespace tessera::rma::detail
