// SPDX-License-Identifier: BSD-3-Clause
//
// StripeLocks: the locks that make accumulates atomic. A node has one table of robust locks. The
// bytes of a region's slice are divided into stripes with a lock each, so that two ranks that add
// to one target seldom need the same lock. One lock per target process would halve the rate.
//
// The lock of a byte is found from (region, rank, offset), the same in all processes and on every
// transport. An element belongs to the stripe of its first byte.
#pragma once

#include <cstddef>
#include <cstdint>

#include "rma/base/rank.hpp"
#include "rma/node/node.hpp"
#include "rma/region.hpp"

namespace tessera::rma::detail {

class StripeLocks {
 public:
  /// Bytes guarded by one lock. Large enough that locking costs little beside the loop over the
  /// bytes, small enough that two ranks usually need different locks.
  static constexpr std::uint64_t stripe_bytes = 32 * 1024ULL;

  explicit StripeLocks(Node& node) noexcept : node_(node) {}

  /// The stripes of one slice.
  class Slice {
   public:
    /// The index of the lock; less than stripe_count.
    [[nodiscard]] std::size_t number(std::uint64_t offset) const noexcept {
      return (seed_ + offset / stripe_bytes) % stripe_count;
    }
    [[nodiscard]] RobustLock& at(std::size_t number) const noexcept { return locks_[number].lock; }
    [[nodiscard]] RobustLock& of(std::uint64_t offset) const noexcept { return at(number(offset)); }
    [[nodiscard]] const LockContext& context() const noexcept { return *context_; }
    /// The same for a slice on which ranks do not conflict. Requires: at() and of() are not called
    /// on it.
    [[nodiscard]] Slice without_locks() const noexcept { return {nullptr, seed_, context_}; }
    [[nodiscard]] bool has_locks() const noexcept { return locks_ != nullptr; }

   private:
    friend class StripeLocks;
    Slice(StripeLock* locks, std::uint64_t seed, const LockContext* context) noexcept
        : locks_(locks), seed_(seed), context_(context) {}
    StripeLock* locks_;
    std::uint64_t seed_;
    const LockContext* context_;
  };

  [[nodiscard]] Slice slice(RegionId region, WorldRank rank) const noexcept {
    // Multiplication by odd constants spreads neighbouring regions and ranks over the table.
    constexpr std::uint64_t region_step = 0x9E37'79B1;
    constexpr std::uint64_t rank_step = 0x85EB'CA6B;
    const std::uint64_t seed = std::uint64_t{region.value} * region_step +
                               static_cast<std::uint64_t>(rank.value) * rank_step;
    return {node_.memory().header().stripes.data(), seed, &node_.lock_context()};
  }

 private:
  Node& node_;
};

}  // namespace tessera::rma::detail
