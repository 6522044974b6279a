// SPDX-License-Identifier: BSD-3-Clause
//
// Receives: the buffers into which peers' messages come, shared by all paths of a fabric, so that
// what a process holds grows with what its peers have under way and not with how many there are in
// the job.
//
// Buffers come and go in slabs. At any time
//
//     buffers ≥ granted + reserve
//
// Granted are those that peers may fill with messages of any length (credits.hpp). The reserve is
// for brief messages, and for news about credits, which are taken out at once. It grows when few
// receives are left, by a count at each message and by the device's own event; unused slabs are
// given back as their buffers come out of the device's queue.
//
// Buffers that are done with are posted again in batches, and at once when few are left.
//
// Threads: all functions may be called from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "rma/result.hpp"
#include "rma/verbs/buffers.hpp"
#include "rma/verbs/device.hpp"
#include "rma/verbs/handles.hpp"

namespace tessera::rma::verbs {

/// A bit of the numbers of completions, which messages that came have and requests have not.
inline constexpr std::uint64_t is_receive = std::uint64_t{1} << 63U;

class Receives {
 public:
  /// `max`: buffers, at most. Errors: no_memory, limit_exceeded.
  static Result<std::unique_ptr<Receives>> create(std::shared_ptr<Device> device,
                                                  Registrar& registrar, std::size_t bytes,
                                                  std::size_t max);

  /// Takes the first slab, unless it has been taken. Errors: limit_exceeded, no_memory.
  Status start();
  /// Grants as many credits as there can be buffers for, `wanted` at most.
  std::size_t grant(std::size_t wanted);
  /// Grants exactly `count`, which one client keeps. Errors: limit_exceeded, no_memory.
  Status reserve_for_client(std::size_t count);
  /// So many credits are back.
  void release(std::size_t count) noexcept;
  /// More than half of what can be granted is: peers should return what they don't need.
  [[nodiscard]] bool are_scarce() const;

  /// What a completion's number says.
  [[nodiscard]] std::byte* at(std::uint32_t buffer) const noexcept;
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  /// A message came. May be called before give_back() only.
  void note_taken();
  /// Whether a brief message may stay in its buffer until it is read; note_read() follows then.
  [[nodiscard]] bool may_hold_brief();
  void note_brief_read() noexcept;
  void give_back(std::uint32_t buffer);
  /// The device said that few are left.
  void refill();
  /// To be called now and then: an unused part of the reserve goes.
  void look_after();

  [[nodiscard]] ibv_srq* get() const noexcept { return queue_.get(); }
  /// Now, and at most.
  [[nodiscard]] std::size_t count() const;
  [[nodiscard]] std::size_t max() const noexcept { return max_; }

 private:
  Receives(std::shared_ptr<Device> device, Registrar& registrar, std::size_t bytes,
           std::size_t max);
  Status grow_to(std::size_t count);
  Status add_slab();
  Status post_spare();
  void enlarge_reserve();
  [[nodiscard]] bool is_surplus(std::uint32_t buffer) const noexcept;
  void remove_left_slabs();
  [[nodiscard]] bool is_half_granted() const noexcept { return granted_ > (max_ - reserve_) / 2; }
  void arm_limit();

  std::shared_ptr<Device> device_;
  Registrar& registrar_;
  const std::size_t bytes_;
  const std::size_t slab_buffers_;
  const std::size_t max_;
  std::vector<std::unique_ptr<Buffers>> slabs_;  // room for all is reserved: none ever moves
  OwnedReceives queue_;
  mutable std::mutex mutex_;
  std::vector<std::size_t> left_;  // by slab: its buffers among leaving_
  std::size_t granted_ = 0;
  std::size_t reserve_;
  std::size_t posted_ = 0;              // as far as completions tell
  std::size_t least_posted_ = 0;        // since look_after()
  std::size_t held_ = 0;                // by brief messages
  std::vector<std::uint32_t> spare_;    // not posted
  std::vector<std::uint32_t> leaving_;  // not to be posted: the last slab goes if all of it leaves
};

}  // namespace tessera::rma::verbs
