// SPDX-License-Identifier: BSD-3-Clause
//
// QueuePair: a reliable connection to one other queue pair.
//
// Both ends create a queue pair, exchange their address(), and connect(). From then on the device
// keeps order and retries. A queue pair that has failed stays failed, and all its requests complete
// with an error.
//
// Threads: as libibverbs: any thread may post requests; connecting is for one.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "rma/base/result.hpp"
#include "rma/transport/verbs/connection_address.hpp"
#include "rma/transport/verbs/device.hpp"
#include "rma/transport/verbs/handles.hpp"

namespace tessera::rma::verbs {

struct QueuePairOptions {
  ibv_cq* send_completions = nullptr;
  ibv_cq* receive_completions = nullptr;
  ibv_srq* receives = nullptr;     ///< shared; the queue pair has none of its own
  std::uint32_t depth = 128;       ///< requests that may be under way
  std::uint32_t send_sge = 1;      ///< pieces of local memory in one request
  std::uint32_t inline_bytes = 0;  ///< largest request that carries its own data
};

/// How long the device retries by itself, in InfiniBand encodings.
struct QueuePairTimes {
  std::uint8_t timeout = 14;           ///< until a packet is sent again: 4.096 µs · 2^14 = 67 ms
  std::uint8_t retries = 7;            ///< of a packet; afterwards the connection has failed
  std::uint8_t not_ready_delay = 12;   ///< delay that a target without receives requests: 0.64 ms.
                                       ///< The encoding 0, for 655 ms, is refused
  std::uint8_t not_ready_retries = 7;  ///< after such a delay; 7: without limit. A dead target does
                                       ///< not request delays: it does not answer
};

class QueuePair {
 public:
  /// Errors: invalid_argument for more than the device's limits; no_memory, limit_exceeded.
  static Result<QueuePair> create(std::shared_ptr<Device> device, const QueuePairOptions& options);

  /// What the other end needs to connect.
  [[nodiscard]] ConnectionAddress address() const noexcept;

  /// Afterwards this end is ready to send and receive; the other end connects by itself. Errors:
  /// unreachable if the networks differ or the other end's address is not reachable,
  /// invalid_argument for times that are refused, no_memory. After an error the queue pair is
  /// unusable.
  Status connect(const ConnectionAddress& other, const QueuePairTimes& times = {});

  /// Ends all requests under way: they complete with IBV_WC_WR_FLUSH_ERR. Errors: unreachable if
  /// the device is gone.
  Status to_error();

  [[nodiscard]] ibv_qp* get() const noexcept { return queue_.get(); }
  [[nodiscard]] std::uint32_t number() const noexcept { return queue_->qp_num; }
  /// What the device granted: at least what was requested.
  [[nodiscard]] const ibv_qp_cap& capacities() const noexcept { return capacities_; }

 private:
  QueuePair(std::shared_ptr<Device> device, OwnedQueuePair queue, const ibv_qp_cap& capacities,
            std::uint32_t first_packet) noexcept;
  Status to_init();
  Status to_receive(const ConnectionAddress& other, const QueuePairTimes& times);
  Status to_send(const ConnectionAddress& other, const QueuePairTimes& times);
  Status modify(ibv_qp_attr& attributes, int mask, std::string_view state);

  std::shared_ptr<Device> device_;
  OwnedQueuePair queue_;
  ibv_qp_cap capacities_;
  std::uint32_t first_packet_;
};

}  // namespace tessera::rma::verbs
