// SPDX-License-Identifier: BSD-3-Clause
//
// SharedReceiveQueue: the receive buffers for messages of peers, shared by all connections of an
// RDMA context. So their number depends on the messages in flight, not on the number of peers in
// the job.
//
// Buffers are allocated and freed in slabs. At any time
//
//     buffers ≥ granted + reserve
//
// A peer with a credit may fill a granted buffer with a message of any length (credits.hpp). The
// reserve is for uncredited messages and credit updates. It grows if few posted receives are left:
// each message counts them, and the device sends an event. A slab is freed after all its buffers
// have left the device's queue.
//
// Buffers that were read are posted again in batches, or at once if few posted ones are left.
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
  /// `bytes`: size of a buffer; `max`: most buffers. Errors: no_memory, limit_exceeded.
  static Result<std::unique_ptr<SharedReceiveQueue>> create(std::shared_ptr<Device> device,
                                                            Registrar& registrar, std::size_t bytes,
                                                            std::size_t max);

  /// Allocates the first slab, unless a previous call did. Errors: limit_exceeded, no_memory.
  Status start();
  /// Grants up to `wanted` credits, one for each buffer that can be posted, and returns the number.
  std::size_t grant_credits(std::size_t wanted);
  /// Grants exactly `count`, which one client keeps. Errors: limit_exceeded, no_memory.
  Status reserve_for_client(std::size_t count);
  /// Ends `count` granted credits: their buffers may be granted to other peers.
  void release_credits(std::size_t count) noexcept;
  /// More than half of what can be granted is granted: peers should return what they don't need.
  [[nodiscard]] bool is_scarce() const;

  /// The buffer with that number, which completions contain.
  [[nodiscard]] std::byte* at(std::uint32_t buffer) const noexcept;
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  /// Records that a message arrived. Call it once for each, before return_buffer().
  void record_received();
  /// Returns whether an uncredited message may stay in its buffer until it is read. If so, call
  /// record_uncredited_read() after that.
  [[nodiscard]] bool try_to_hold_uncredited();
  void record_uncredited_read() noexcept;
  /// Posts the buffer again, or frees it if it is not needed.
  void return_buffer(std::uint32_t buffer);
  /// Posts receives, after the device has reported that few are left.
  void refill();
  /// Called periodically: shrinks the reserve by a slab if it was not needed.
  void maintain();

  [[nodiscard]] ibv_srq* get() const noexcept { return queue_.get(); }
  /// Number of buffers now, and at most.
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
  std::size_t held_ = 0;                // by uncredited messages
  std::vector<std::uint32_t> spare_;    // not posted
  std::vector<std::uint32_t> retired_;  // never posted again: the last slab is freed when all its
                                        // buffers are here
};

}  // namespace tessera::rma::verbs
