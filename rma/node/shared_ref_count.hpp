// SPDX-License-Identifier: BSD-3-Clause
//
// SharedRefCount: decides which rank frees memory that several ranks of a node use, if they can no
// longer synchronise because one of them died or left. The last living rank that releases the
// memory frees it.
//
// The object is in shared memory, with a flag for each member. A lock of the node, outside the
// memory in question, protects the flags. The rank that finds all flags set, or their owners ended,
// frees the memory. A rank that dies in release() counts as ended, so the flags are valid after
// every store. If the last rank dies before it releases, the memory is freed with the job.
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
  bool release(const Node& node, std::span<const WorldRank> members, std::size_t index) noexcept;

 private:
  [[nodiscard]] std::atomic<std::uint8_t>& flag(std::size_t index) noexcept;

  std::uint32_t unused_ = 0;  // The flags follow this object.
};

}  // namespace tessera::rma::detail
