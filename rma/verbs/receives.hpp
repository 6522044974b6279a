// SPDX-License-Identifier: BSD-3-Clause
//
// Receives: the buffers into which peers' messages come, shared by all paths of a fabric, so that
// what a process holds grows with what its peers may have under way and not with how many there are
// in the job.
//
// Buffers that are done with are posted again in batches, and at once when the device says that few
// are left.
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
  /// `most`: buffers, at most. Errors: no_memory, limit_exceeded.
  static Result<std::unique_ptr<Receives>> create(std::shared_ptr<Device> device,
                                                  Registrar& registrar, std::size_t bytes,
                                                  std::size_t most);

  /// Peers may have so many messages more under way. Errors: limit_exceeded, no_memory.
  Status add(std::size_t count);
  /// And so many fewer: peers that come get their buffers.
  void release(std::size_t count) noexcept;

  /// What a completion's number says.
  [[nodiscard]] std::byte* at(std::uint32_t buffer) const noexcept;
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  void give_back(std::uint32_t buffer);
  /// Posts all that were given back. The device said that few are left.
  void refill();

  [[nodiscard]] ibv_srq* get() const noexcept { return queue_.get(); }

 private:
  Receives(std::shared_ptr<Device> device, Registrar& registrar, std::size_t bytes,
           std::size_t most);
  Status add_chunk();
  Status post_spare();
  void arm_limit();

  std::shared_ptr<Device> device_;
  Registrar& registrar_;
  const std::size_t bytes_;
  const std::size_t most_;
  std::vector<std::unique_ptr<Buffers>> chunks_;  // room for all is reserved: none ever moves
  OwnedReceives queue_;
  std::mutex mutex_;
  std::size_t needed_ = 0;
  std::vector<std::uint32_t> spare_;  // not posted
};

}  // namespace tessera::rma::verbs
