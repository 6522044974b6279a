// SPDX-License-Identifier: BSD-3-Clause
//
// LastOne: who gives memory back that several ranks of a node use, when they cannot meet any more
// to agree on it, because one of them died or left? The last of them that lets go of it and lives.
//
// Stands in shared memory, a flag for each member. Flags are set and looked at under a lock of the
// node's, outside the memory in question: whoever completes the set is the one, and all others have
// finished with it by then. Valid after every store; a rank that dies while it lets go has let go
// or has ended, which is the same. Where the very last one dies before it lets go, the memory goes
// with the job.
//
// Cost: a lock, one load for each member that has let go, and one system call for the first one
// that hasn't.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "rma/node/node.hpp"
#include "rma/rank.hpp"

namespace tessera::rma::detail {

class LastOne {
 public:
  /// Bytes to reserve for so many members. They must be zero.
  static std::size_t bytes(std::size_t members) noexcept;

  /// Notes that the member of that index will not touch the memory again. True for exactly one
  /// member, at a time when all others have let go or their processes have ended: it gives the
  /// memory back, this object with it. Requires: all `members` are on this node.
  bool let_go(const Node& node, std::span<const WorldRank> members, std::size_t index) noexcept;

 private:
  [[nodiscard]] std::atomic<std::uint8_t>& flag(std::size_t index) noexcept;

  std::uint32_t unused_ = 0;  // The flags stand behind this object.
};

}  // namespace tessera::rma::detail
