// SPDX-License-Identifier: BSD-3-Clause
//
// QueuePair: a reliable connection to one other queue pair.
//
// Both ends are created, send each other their address(), and connect(). From then on the device
// keeps order and retries; a queue pair that has failed stays so, and all that it had to do
// completes with an error.
//
// Threads: as libibverbs: requests may be posted from any thread, connecting is for one.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "rma/result.hpp"
#include "rma/verbs/device.hpp"
#include "rma/verbs/handles.hpp"
#include "rma/verbs/path_address.hpp"

namespace tessera::rma::verbs {

struct QueuePairOptions {
  ibv_cq* send_completions = nullptr;
  ibv_cq* receive_completions = nullptr;
  ibv_srq* receives = nullptr;     ///< shared; a queue pair has none of its own
  std::uint32_t depth = 128;       ///< requests that may be under way
  std::uint32_t send_sge = 1;      ///< pieces of local memory in a request
  std::uint32_t inline_bytes = 0;  ///< that a request may carry itself
};

/// How long the device tries by itself, in the encodings of InfiniBand.
struct QueuePairTimes {
  std::uint8_t timeout = 14;           ///< until a packet is sent again: 4.096 µs · 2^14 = 67 ms
  std::uint8_t retries = 7;            ///< of a packet; then the connection has failed
  std::uint8_t not_ready_delay = 12;   ///< what a target without receives asks for: 0.64 ms. The
                                       ///< encoding 0 means 655 ms, and is refused
  std::uint8_t not_ready_retries = 7;  ///< after such a delay; 7: for ever. A target that has died
                                       ///< doesn't ask for a delay: it doesn't answer
};

class QueuePair {
 public:
  /// Errors: invalid_argument for more than the device's limits; no_memory, limit_exceeded.
  static Result<QueuePair> create(std::shared_ptr<Device> device, const QueuePairOptions& options);

  /// What the other side needs to connect.
  [[nodiscard]] PathAddress address() const noexcept;

  /// Ready to send and to receive afterwards; the other side connects by itself.
  /// Errors: unreachable when the networks differ or the other side's address leads nowhere,
  /// invalid_argument for times that are refused, no_memory; the queue pair is of no use then.
  Status connect(const PathAddress& other, const QueuePairTimes& times = {});

  /// Ends what is under way: it completes with IBV_WC_WR_FLUSH_ERR. Errors: unreachable
  /// when the device is gone.
  Status to_error();

  [[nodiscard]] ibv_qp* get() const noexcept { return queue_.get(); }
  [[nodiscard]] std::uint32_t number() const noexcept { return queue_->qp_num; }
  /// What it was given, which is at least what was asked for.
  [[nodiscard]] const ibv_qp_cap& capacities() const noexcept { return capacities_; }

 private:
  QueuePair(std::shared_ptr<Device> device, OwnedQueuePair queue, const ibv_qp_cap& capacities,
            std::uint32_t first_packet) noexcept;
  Status to_init();
  Status to_receive(const PathAddress& other, const QueuePairTimes& times);
  Status to_send(const PathAddress& other, const QueuePairTimes& times);
  Status modify(ibv_qp_attr& attributes, int mask, std::string_view state);

  std::shared_ptr<Device> device_;
  OwnedQueuePair queue_;
  ibv_qp_cap capacities_;
  std::uint32_t first_packet_;
};

}  // namespace tessera::rma::verbs
