// SPDX-License-Identifier: BSD-3-Clause
//
// The part of Wire that executes requests: writes, reads, atomics and sends. It checks what a
// device checks: keys, depths and posted receives.
#include <algorithm>
#include <cstring>
#include <thread>
#include <utility>

#include "tests/support/fake_verbs_memory.hpp"
#include "tests/support/fake_verbs_network.hpp"
#include "tests/support/fake_verbs_pieces.hpp"
#include "tests/support/fake_verbs_wire.hpp"

namespace tessera::rma::test::fake {
namespace {

/// A relaxed write lands in parts of at most this many 8-byte words.
constexpr std::size_t max_part_words = 32;

WireOrder order_of(const Request& request) {
  return request.bytes <= FakeVerbs::flag_bytes ? WireOrder::release_acquire : WireOrder::none;
}

/// IBV_ATOMIC_HCA: atomic only among the device's own requests. Between its read and its write, a
/// processor can access the word.
std::uint64_t execute_hca_atomic(std::uint64_t* word, const ibv_send_wr& wr) {
  const std::uint64_t before = __atomic_load_n(word, __ATOMIC_ACQUIRE);
  std::this_thread::yield();
  if (wr.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
    __atomic_store_n(word, before + wr.wr.atomic.compare_add, __ATOMIC_RELEASE);
  } else if (before == wr.wr.atomic.compare_add) {
    __atomic_store_n(word, wr.wr.atomic.swap, __ATOMIC_RELEASE);
  }
  return before;
}

/// IBV_ATOMIC_GLOB: also atomic with respect to processors.
std::uint64_t execute_global_atomic(std::uint64_t* word, const ibv_send_wr& wr) {
  if (wr.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
    return __atomic_fetch_add(word, wr.wr.atomic.compare_add, __ATOMIC_ACQ_REL);
  }
  std::uint64_t before = wr.wr.atomic.compare_add;
  __atomic_compare_exchange_n(word, &before, wr.wr.atomic.swap, false, __ATOMIC_ACQ_REL,
                              __ATOMIC_ACQUIRE);
  return before;
}

}  // namespace

Wire::Step Wire::execute(QueuePair& queue, QueuePair& peer, Request& request) {
  switch (request.wr.opcode) {
    case IBV_WR_RDMA_READ:
      return execute_read(queue, peer, request);
    case IBV_WR_ATOMIC_CMP_AND_SWP:
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
      return execute_atomic(queue, peer, request);
    case IBV_WR_SEND:
    case IBV_WR_SEND_WITH_IMM:
      return execute_send(queue, peer, request);
    default:
      return execute_write(queue, peer, request);
  }
}

Wire::Step Wire::execute_write(QueuePair& queue, QueuePair& peer, Request& request) {
  if (request.moved == 0 && request.has_immediate() &&
      (peer.srq == nullptr || static_cast<ReceiveQueue*>(peer.srq)->receives.empty())) {
    return wait_for_receive(queue, request);
  }
  if (request.bytes > 0) {
    const auto& to = request.wr.wr.rdma;
    const Region* const region =
        network_.find_remote(peer, to.rkey, to.remote_addr, request.bytes, IBV_ACCESS_REMOTE_WRITE);
    if (region == nullptr) {
      return refuse(queue, peer, IBV_WC_REM_ACCESS_ERR);
    }
    const std::size_t bytes = std::min(step_bytes, request.bytes - request.moved);
    in_transit_.resize(bytes);
    gather(request, request.moved, in_transit_);
    std::byte* const target = memory_at(to.remote_addr) + request.moved;
    if ((region->access & IBV_ACCESS_RELAXED_ORDERING) != 0) {
      split_relaxed_write(queue, target);
    } else {
      write_memory(target, in_transit_.data(), bytes, order_of(request));
    }
    request.moved += bytes;
  }
  if (request.moved == request.bytes) {
    if (request.has_immediate()) {
      land_pending_parts(queue);
      receive(peer, request, IBV_WC_SUCCESS);
    }
    finish(queue);
  }
  return Step::moved;
}

void Wire::split_relaxed_write(QueuePair& queue, std::byte* target) {
  for (std::size_t offset = 0; offset < in_transit_.size();) {
    const std::size_t words = 1 + random_below(max_part_words);
    const std::size_t bytes = std::min(8 * words, in_transit_.size() - offset);
    const auto first = in_transit_.begin() + static_cast<std::ptrdiff_t>(offset);
    queue.unordered.push_back(
        {target + offset, std::vector(first, first + static_cast<std::ptrdiff_t>(bytes))});
    offset += bytes;
  }
}

bool Wire::may_answer(QueuePair& queue, QueuePair& peer, const Request& request) {
  return request.moved > 0 || queue.outstanding_replies() < peer.attributes.max_dest_rd_atomic;
}

Wire::Step Wire::execute_read(QueuePair& queue, QueuePair& peer, Request& request) {
  if (!may_answer(queue, peer, request)) {
    return refuse(queue, peer, IBV_WC_REM_INV_REQ_ERR);
  }
  land_pending_parts(queue);
  if (request.bytes > 0) {
    const auto& from = request.wr.wr.rdma;
    if (network_.find_remote(peer, from.rkey, from.remote_addr, request.bytes,
                             IBV_ACCESS_REMOTE_READ) == nullptr) {
      return refuse(queue, peer, IBV_WC_REM_ACCESS_ERR);
    }
    const std::size_t bytes = std::min(step_bytes, request.bytes - request.moved);
    request.payload.resize(request.bytes);
    read_memory(request.payload.data() + request.moved, memory_at(from.remote_addr) + request.moved,
                bytes, order_of(request));
    request.moved += bytes;
  }
  if (request.moved == request.bytes) {
    request.moved = 0;
    ++queue.started;
  }
  return Step::moved;
}

Wire::Step Wire::execute_atomic(QueuePair& queue, QueuePair& peer, Request& request) {
  const auto& to = request.wr.wr.atomic;
  if (!may_answer(queue, peer, request) || to.remote_addr % sizeof(std::uint64_t) != 0) {
    return refuse(queue, peer, IBV_WC_REM_INV_REQ_ERR);
  }
  if (network_.find_remote(peer, to.rkey, to.remote_addr, sizeof(std::uint64_t),
                           IBV_ACCESS_REMOTE_ATOMIC) == nullptr) {
    return refuse(queue, peer, IBV_WC_REM_ACCESS_ERR);
  }
  land_pending_parts(queue);
  auto* const word = reinterpret_cast<std::uint64_t*>(memory_at(to.remote_addr));
  const bool is_global = peer.device().hardware->model.attributes.atomic_cap == IBV_ATOMIC_GLOB;
  const std::uint64_t before =
      is_global ? execute_global_atomic(word, request.wr) : execute_hca_atomic(word, request.wr);
  request.payload.resize(sizeof before);
  std::memcpy(request.payload.data(), &before, sizeof before);
  ++queue.started;
  return Step::moved;
}

Wire::Step Wire::execute_send(QueuePair& queue, QueuePair& peer, Request& request) {
  auto* const receives = static_cast<ReceiveQueue*>(peer.srq);
  if (receives == nullptr || receives->receives.empty()) {
    return wait_for_receive(queue, request);
  }
  const Receive& into = receives->receives.front();
  const auto is_registered = [&](const ibv_sge& piece) {
    return piece.length == 0 ||
           network_.find_local(peer.srq->pd, piece, IBV_ACCESS_LOCAL_WRITE) != nullptr;
  };
  if (request.bytes > total_bytes(into.pieces)) {
    receive(peer, request, IBV_WC_LOC_LEN_ERR);
    return refuse(queue, peer, IBV_WC_REM_INV_REQ_ERR);
  }
  if (!std::all_of(into.pieces.begin(), into.pieces.end(), is_registered)) {
    receive(peer, request, IBV_WC_LOC_PROT_ERR);
    return refuse(queue, peer, IBV_WC_REM_OP_ERR);
  }
  in_transit_.resize(request.bytes);
  gather(request, 0, in_transit_);
  scatter(into.pieces, 0, in_transit_);
  land_pending_parts(queue);
  receive(peer, request, IBV_WC_SUCCESS);
  finish(queue);
  return Step::moved;
}

void Wire::receive(QueuePair& peer, const Request& request, ibv_wc_status status) {
  auto& receives = *static_cast<ReceiveQueue*>(peer.srq);
  const bool is_good = status == IBV_WC_SUCCESS;
  const bool is_write = request.wr.opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
  Completion completion;
  completion.wc.wr_id = receives.receives.front().wr_id;
  completion.wc.status = status;
  completion.wc.qp_num = peer.qp_num;
  completion.wc.src_qp = peer.attributes.dest_qp_num;
  completion.wc.opcode = !is_good   ? IBV_WC_DRIVER3
                         : is_write ? IBV_WC_RECV_RDMA_WITH_IMM
                                    : IBV_WC_RECV;
  completion.wc.byte_len = is_good ? static_cast<std::uint32_t>(request.bytes) : UINT32_MAX;
  if (is_good && request.has_immediate()) {
    completion.wc.wc_flags = IBV_WC_WITH_IMM;
    completion.wc.imm_data = request.wr.imm_data;
  }
  receives.receives.pop_front();
  if (receives.receives.size() < receives.limits.srq_limit) {
    receives.limits.srq_limit = 0;
    ibv_async_event event{};
    event.element.srq = &receives;
    event.event_type = IBV_EVENT_SRQ_LIMIT_REACHED;
    network_.notify(*static_cast<Device*>(receives.context), event);
  }
  network_.complete(*static_cast<CompletionQueue*>(peer.recv_cq), completion);
}

}  // namespace tessera::rma::test::fake
