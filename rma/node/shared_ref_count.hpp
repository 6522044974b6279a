// SPDX-License-Identifier: BSD-3-Clause
//
// SharedRefCount: decides which rank frees memory that several ranks of a node use, if they cannot
// synchronise any more because one of them died or left. It is the last living rank that releases
// the memory.
//
// It lies in shared memory, with a flag for each member. Flags are set and read under a lock of the
// node, outside the memory in question. The rank that completes the set frees the memory; all
// others have finished with it by then. Valid after every store: a rank that dies while it releases
// has either released or ended, which has the same effect. If the very last rank dies before it
// releases, the memory is freed with the job.
//
// Cost: a lock, one load for each member that has released, and one system call for the first one
// that has not.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "rma/base/rank.hpp"
#include "rma/node/node.hpp"

namespace tessera::rma::detail {

class SharedRefCount {
 public:
  /// Bytes to reserve for `members` members. They must be zero.
  static std::size_t bytes(std::size_t members) noexcept;

  /// Records that the member with this index will not access the memory again. Returns true for
  /// exactly one member, after all others have released it or their processes have ended. This
  /// member frees the memory, including this object. Requires: all `members` are on this node.
  bool let_go(const Node& node, std::span<const WorldRank> members, std::size_t index) noexcept;

 private:
  [[nodiscard]] std::atomic<std::uint8_t>& flag(std::size_t index) noexcept;

  std::uint32_t unused_ = 0;  // The flags follow this object.
};

}  // namespace tessera::rma::detail
