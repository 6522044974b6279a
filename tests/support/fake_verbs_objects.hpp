// SPDX-License-Identifier: BSD-3-Clause
//
// The objects whose pointers FakeVerbs returns: each is libibverbs' structure, plus the fake's own
// data.
//
// Threads: guarded by the network's mutex, except where stated.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "tests/support/fake_verbs.hpp"
#include "tests/support/fake_verbs_events.hpp"

namespace tessera::rma::test::fake {

using Clock = FakeVerbs::Clock;

/// A device in the machine.
struct Hardware {
  DeviceModel model;
  ibv_device face{};
  bool is_removed = false;
};

/// An open device.
struct Device : ibv_context {
  Hardware* hardware = nullptr;
  EventQueue<ibv_async_event> events;  // has its own lock
};

struct Domain : ibv_pd {};

struct Region : ibv_mr {
  int access = 0;
};

struct Channel : ibv_comp_channel {
  EventQueue<ibv_cq*> events;  // has its own lock
};

/// A completion in its queue, and the number of requests of the send queue that polling it frees.
struct Completion {
  ibv_wc wc{};
  std::shared_ptr<std::atomic<std::uint64_t>> freed;
  std::uint64_t freed_until = 0;
};

/// Has its own lock, so that polling doesn't wait while the wire copies.
struct CompletionQueue : ibv_cq {
  std::mutex guard;
  std::deque<Completion> completions;
  std::atomic<std::size_t> count{0};
  bool is_armed = false;
  bool is_broken = false;
  std::int64_t unacknowledged = 0;
};

struct Receive {
  std::uint64_t wr_id = 0;
  std::vector<ibv_sge> pieces;
};

struct ReceiveQueue : ibv_srq {
  std::deque<Receive> receives;
  ibv_srq_attr limits{};  // srq_limit is 0 unless armed
};

/// A request between post_send and its completion.
struct Request {
  ibv_send_wr wr{};  // without its pointers
  std::vector<ibv_sge> pieces;
  std::vector<std::byte> payload;  // inline data, or the reply that is under way
  std::uint64_t number = 0;        // of its queue pair, from 1
  std::size_t bytes = 0;
  std::size_t moved = 0;     // bytes moved in the current phase
  bool is_answered = false;  // a read or an atomic with its reply in `payload`
  bool is_done = false;      // waits only for earlier requests to complete
  int rnr_retries = 0;
  std::optional<Clock::time_point> begun;     // when its turn came
  std::optional<Clock::time_point> due;       // the link or the receiver delays it until then
  std::optional<Clock::time_point> given_up;  // when an unreachable peer is given up

  bool waits_for_reply() const noexcept {
    return wr.opcode == IBV_WR_RDMA_READ || wr.opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
           wr.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
  }
  bool has_immediate() const noexcept {
    return wr.opcode == IBV_WR_RDMA_WRITE_WITH_IMM || wr.opcode == IBV_WR_SEND_WITH_IMM;
  }
  /// The opcode in its completion.
  ibv_wc_opcode kind() const noexcept {
    switch (wr.opcode) {
      case IBV_WR_RDMA_READ:
        return IBV_WC_RDMA_READ;
      case IBV_WR_ATOMIC_CMP_AND_SWP:
        return IBV_WC_COMP_SWAP;
      case IBV_WR_ATOMIC_FETCH_AND_ADD:
        return IBV_WC_FETCH_ADD;
      case IBV_WR_SEND:
      case IBV_WR_SEND_WITH_IMM:
        return IBV_WC_SEND;
      default:
        return IBV_WC_RDMA_WRITE;
    }
  }
};

/// A part of a write into relaxed memory that has not landed yet.
struct PendingPart {
  std::byte* to = nullptr;
  std::vector<std::byte> bytes;
};

struct QueuePair : ibv_qp {
  Device& device() const noexcept { return *static_cast<Device*>(context); }
  /// The number of outstanding reads and atomics.
  std::size_t outstanding_replies() const noexcept {
    std::size_t count = 0;
    for (std::size_t i = 0; i < started; ++i) {
      count += requests[i].waits_for_reply() && !requests[i].is_done ? 1U : 0U;
    }
    return count;
  }

  ibv_qp_state now = IBV_QPS_RESET;  // `state` is only what modify_qp has set
  ibv_qp_cap limits{};
  bool signals_all = false;
  ibv_qp_attr attributes{};
  std::deque<Request> requests;  // oldest first
  std::size_t started = 0;       // of these: sent, and waiting for a reply or for earlier ones
  std::uint64_t posted = 0;
  std::shared_ptr<std::atomic<std::uint64_t>> freed =
      std::make_shared<std::atomic<std::uint64_t>>(0);  // freed entries of the send queue
  std::vector<PendingPart> unordered;
};

inline bool is_signalled(const QueuePair& queue, const Request& request) noexcept {
  return queue.signals_all || (request.wr.send_flags & IBV_SEND_SIGNALED) != 0;
}

}  // namespace tessera::rma::test::fake
