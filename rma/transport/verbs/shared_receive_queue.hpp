// SPDX-License-Identifier: BSD-3-Clause
//
// SharedReceiveQueue: the receive buffers for messages of peers, shared by all connections of an
// RDMA context. So their number depends on what peers have under way, not on the number of peers in
// the job.
//
// Buffers are added and removed in slabs. At any time
//
//     buffers ≥ granted + reserve
//
// Granted buffers are those that peers may fill with messages of any length (credits.hpp). The
// reserve is for brief messages and credit updates, which are copied out at once. It grows when few
// posted receives are left, by a count at each message and by the device's own event. Unused slabs
// are freed as their buffers leave the device's queue.
//
// Used buffers are posted again in batches, and at once when few are left.
//
// Threads: all functions may be called from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "rma/base/result.hpp"
#include "rma/transport/verbs/buffer_pool.hpp"
#include "rma/transport/verbs/device.hpp"
#include "rma/transport/verbs/handles.hpp"

namespace tessera::rma::verbs {

/// This bit of a completion's number is set for received messages and clear for requests.
inline constexpr std::uint64_t is_receive = std::uint64_t{1} << 63U;

class SharedReceiveQueue {
 public:
  /// `max`: most buffers. Errors: no_memory, limit_exceeded.
  static Result<std::unique_ptr<SharedReceiveQueue>> create(std::shared_ptr<Device> device,
                                                            Registrar& registrar, std::size_t bytes,
                                                            std::size_t max);

  /// Allocates the first slab, if that is not done. Errors: limit_exceeded, no_memory.
  Status start();
  /// Grants up to `wanted` credits, as many as there can be buffers for.
  std::size_t grant(std::size_t wanted);
  /// Grants exactly `count`, which one client keeps. Errors: limit_exceeded, no_memory.
  Status reserve_for_client(std::size_t count);
  /// Takes back that many credits.
  void release(std::size_t count) noexcept;
  /// More than half of what can be granted is granted: peers should return what they don't need.
  [[nodiscard]] bool is_scarce() const;

  /// The buffer of the number in a completion.
  [[nodiscard]] std::byte* at(std::uint32_t buffer) const noexcept;
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  /// Records that a message arrived. May be called before give_back() only.
  void record_received();
  /// Whether a brief message may stay in its buffer until it is read; record_uncredited_read()
  /// follows then.
  [[nodiscard]] bool may_hold_uncredited();
  void record_uncredited_read() noexcept;
  void give_back(std::uint32_t buffer);
  /// Posts receives, after the device has reported that few are left.
  void refill();
  /// Called periodically: frees an unused part of the reserve.
  void maintain();

  [[nodiscard]] ibv_srq* get() const noexcept { return queue_.get(); }
  /// Number now, and at most.
  [[nodiscard]] std::size_t count() const;
  [[nodiscard]] std::size_t max() const noexcept { return max_; }

 private:
  SharedReceiveQueue(std::shared_ptr<Device> device, Registrar& registrar, std::size_t bytes,
                     std::size_t max);
  Status grow_to(std::size_t count);
  Status add_slab();
  Status post_spare();
  void grow_reserve();
  [[nodiscard]] bool is_surplus(std::uint32_t buffer) const noexcept;
  void free_retired_slabs();
  [[nodiscard]] bool is_half_granted() const noexcept { return granted_ > (max_ - reserve_) / 2; }
  void arm_limit();

  std::shared_ptr<Device> device_;
  Registrar& registrar_;
  const std::size_t bytes_;
  const std::size_t slab_buffers_;
  const std::size_t max_;
  std::vector<std::unique_ptr<RegisteredBufferPool>>
      slabs_;  // reserved for the maximum: no element ever moves
  OwnedReceiveQueue queue_;
  mutable std::mutex mutex_;
  std::vector<std::size_t> retired_counts_;  // by slab: how many of its buffers are in retired_
  std::size_t granted_ = 0;
  std::size_t reserve_;
  std::size_t posted_ = 0;              // as far as completions show
  std::size_t min_posted_ = 0;          // since maintain()
  std::size_t held_ = 0;                // by brief messages
  std::vector<std::uint32_t> spare_;    // not posted
  std::vector<std::uint32_t> retired_;  // never posted again: the last slab is freed when all its
                                        // buffers are here
};

}  // namespace tessera::rma::verbs
