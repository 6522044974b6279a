// SPDX-License-Identifier: BSD-3-Clause
//
// Queue pairs of FakeVerbs: their states, and posting requests.
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "tests/support/fake_verbs.hpp"
#include "tests/support/fake_verbs_network.hpp"
#include "tests/support/fake_verbs_pieces.hpp"

namespace tessera::rma::test {
namespace {

using fake::failed;
using fake::memory_at;
using fake::Network;
using fake::QueuePair;
using fake::Request;

/// A transition between states of a reliable connection, and its attributes.
struct Transition {
  ibv_qp_state from;
  ibv_qp_state to;
  int required;
  int allowed;
};

constexpr int init_mask = IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
constexpr int rts_options = IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER;
constexpr std::array transitions = {
    Transition{IBV_QPS_RESET, IBV_QPS_INIT, init_mask, 0},
    Transition{IBV_QPS_INIT, IBV_QPS_INIT, 0, init_mask},
    Transition{IBV_QPS_INIT, IBV_QPS_RTR,
               IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                   IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
               IBV_QP_PKEY_INDEX | IBV_QP_ACCESS_FLAGS},
    Transition{IBV_QPS_RTR, IBV_QPS_RTS,
               IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                   IBV_QP_TIMEOUT,
               rts_options},
    Transition{IBV_QPS_RTS, IBV_QPS_RTS, 0, rts_options},
};

bool is_allowed(ibv_qp_state from, ibv_qp_state to, int mask) {
  mask &= ~IBV_QP_STATE;
  if (to == IBV_QPS_ERR || to == IBV_QPS_RESET) {
    return mask == 0;
  }
  return std::any_of(transitions.begin(), transitions.end(), [&](const Transition& step) {
    return step.from == from && step.to == to && (mask & step.required) == step.required &&
           (mask & ~(step.required | step.allowed)) == 0;
  });
}

bool are_valid_path(const DeviceModel& model, const ibv_qp_attr& attributes, int mask) {
  if ((mask & IBV_QP_AV) == 0) {
    return true;
  }
  const ibv_ah_attr& path = attributes.ah_attr;
  const bool needs_gid = model.port.link_layer == IBV_LINK_LAYER_ETHERNET;
  return path.port_num == 1 && (path.is_global != 0 || !needs_gid) &&
         (path.is_global == 0 || path.grh.sgid_index < model.gids.size());
}

bool are_valid(const DeviceModel& model, const ibv_qp_attr& attributes, int mask) {
  const auto is_at_most = [&](int bit, int value, int most) {
    return (mask & bit) == 0 || value <= most;
  };
  const ibv_device_attr& limits = model.attributes;
  return are_valid_path(model, attributes, mask) &&
         ((mask & IBV_QP_PORT) == 0 || attributes.port_num == 1) &&
         is_at_most(IBV_QP_PKEY_INDEX, attributes.pkey_index, model.port.pkey_tbl_len - 1) &&
         is_at_most(IBV_QP_PATH_MTU, attributes.path_mtu, model.port.active_mtu) &&
         is_at_most(IBV_QP_MAX_QP_RD_ATOMIC, attributes.max_rd_atomic,
                    limits.max_qp_init_rd_atom) &&
         is_at_most(IBV_QP_MAX_DEST_RD_ATOMIC, attributes.max_dest_rd_atomic,
                    limits.max_qp_rd_atom) &&
         is_at_most(IBV_QP_TIMEOUT, attributes.timeout, 31) &&
         is_at_most(IBV_QP_MIN_RNR_TIMER, attributes.min_rnr_timer, 31) &&
         is_at_most(IBV_QP_RETRY_CNT, attributes.retry_cnt, 7) &&
         is_at_most(IBV_QP_RNR_RETRY, attributes.rnr_retry, 7);
}

/// Copies the attributes that the mask names.
void assign(ibv_qp_attr& to, const ibv_qp_attr& from, int mask) {
  const auto take = [&](int bit, auto member) {
    if ((mask & bit) != 0) {
      to.*member = from.*member;
    }
  };
  take(IBV_QP_ACCESS_FLAGS, &ibv_qp_attr::qp_access_flags);
  take(IBV_QP_AV, &ibv_qp_attr::ah_attr);
  take(IBV_QP_DEST_QPN, &ibv_qp_attr::dest_qp_num);
  take(IBV_QP_MAX_DEST_RD_ATOMIC, &ibv_qp_attr::max_dest_rd_atomic);
  take(IBV_QP_MAX_QP_RD_ATOMIC, &ibv_qp_attr::max_rd_atomic);
  take(IBV_QP_TIMEOUT, &ibv_qp_attr::timeout);
  take(IBV_QP_RETRY_CNT, &ibv_qp_attr::retry_cnt);
  take(IBV_QP_RNR_RETRY, &ibv_qp_attr::rnr_retry);
}

bool knows(ibv_wr_opcode opcode, ibv_atomic_cap atomics) {
  switch (opcode) {
    case IBV_WR_RDMA_WRITE:
    case IBV_WR_RDMA_WRITE_WITH_IMM:
    case IBV_WR_SEND:
    case IBV_WR_SEND_WITH_IMM:
    case IBV_WR_RDMA_READ:
      return true;
    case IBV_WR_ATOMIC_CMP_AND_SWP:
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
      return atomics != IBV_ATOMIC_NONE;
    default:
      return false;
  }
}

/// The error for posting this request, or 0.
int posting_error(const QueuePair& queue, const Request& request) {
  if (queue.now != IBV_QPS_RTS && queue.now != IBV_QPS_ERR) {
    return EINVAL;
  }
  const DeviceModel& model = fake::model_of(queue.context);
  const bool is_inline = (request.wr.send_flags & IBV_SEND_INLINE) != 0;
  if (!knows(request.wr.opcode, model.attributes.atomic_cap) ||
      request.pieces.size() > queue.limits.max_send_sge ||
      (is_inline && (request.waits_for_reply() || request.bytes > queue.limits.max_inline_data))) {
    return EINVAL;
  }
  const std::uint64_t unfreed = queue.posted - queue.freed->load(std::memory_order_relaxed);
  return unfreed >= queue.limits.max_send_wr ? ENOMEM : 0;
}

Request request_from(const ibv_send_wr& wr) {
  Request request;
  request.wr = wr;
  request.wr.next = nullptr;
  request.wr.sg_list = nullptr;
  request.pieces.assign(wr.sg_list, wr.sg_list + wr.num_sge);
  for (const ibv_sge& piece : request.pieces) {
    request.bytes += piece.length;
  }
  return request;
}

/// The posting thread reads inline data, so that the memory may be reused at once.
void take_inline_data(Request& request) {
  for (const ibv_sge& piece : request.pieces) {
    const std::byte* const from = memory_at(piece.addr);
    request.payload.insert(request.payload.end(), from, from + piece.length);
  }
}

void trace(Network& network, const QueuePair& queue, const Request& request) {
  if (network.is_tracing) {
    network.trace.push_back({.queue_pair = queue.qp_num,
                             .opcode = request.wr.opcode,
                             .bytes = request.bytes,
                             .is_signalled = is_signalled(queue, request),
                             .is_inline = (request.wr.send_flags & IBV_SEND_INLINE) != 0,
                             .pieces = static_cast<int>(request.pieces.size()),
                             .batch = network.batches});
  }
}

int post(Network& network, QueuePair& queue, const ibv_send_wr& wr) {
  if (wr.num_sge < 0) {
    return EINVAL;
  }
  Request request = request_from(wr);
  if (const int error = posting_error(queue, request)) {
    return error;
  }
  if ((wr.send_flags & IBV_SEND_INLINE) != 0) {
    take_inline_data(request);
  }
  request.number = ++queue.posted;
  trace(network, queue, request);
  if (queue.now == IBV_QPS_ERR) {
    network.complete(queue, request, IBV_WC_WR_FLUSH_ERR);
    return 0;
  }
  queue.requests.push_back(std::move(request));
  network.wire.remember(queue);
  return 0;
}

bool are_valid(const DeviceModel& model, const ibv_qp_init_attr& wanted) {
  const ibv_device_attr& limits = model.attributes;
  return wanted.qp_type == IBV_QPT_RC &&
         wanted.cap.max_send_wr <= static_cast<std::uint32_t>(limits.max_qp_wr) &&
         wanted.cap.max_send_sge <= static_cast<std::uint32_t>(limits.max_sge) &&
         wanted.cap.max_inline_data <= model.max_inline_bytes;
}

}  // namespace

ibv_qp* FakeVerbs::create_qp(ibv_pd* domain, ibv_qp_init_attr& attributes) {
  const std::lock_guard guard(network_->mutex);
  if (!network_->domains.has(domain)) {
    return failed(network_->record_misuse(EINVAL, "create_qp: there is no such domain"));
  }
  if (const int error = network_->error_of(Call::create_qp, domain->context)) {
    return failed(error);
  }
  const ibv_device_attr& limits = fake::model_of(domain->context).attributes;
  if (!are_valid(fake::model_of(domain->context), attributes) ||
      !network_->completion_queues.has(attributes.send_cq) ||
      !network_->completion_queues.has(attributes.recv_cq) ||
      (attributes.srq != nullptr && !network_->receive_queues.has(attributes.srq))) {
    return failed(EINVAL);
  }
  const std::size_t existing = network_->queue_pairs.count_if(
      [&](const QueuePair& pair) { return pair.context->device == domain->context->device; });
  if (existing >= static_cast<std::size_t>(limits.max_qp)) {
    return failed(ENOMEM);
  }
  QueuePair* const queue = network_->queue_pairs.add(std::make_unique<QueuePair>());
  queue->context = domain->context;
  queue->qp_context = attributes.qp_context;
  queue->pd = domain;
  queue->send_cq = attributes.send_cq;
  queue->recv_cq = attributes.recv_cq;
  queue->srq = attributes.srq;
  queue->qp_type = attributes.qp_type;
  queue->limits = attributes.cap;
  queue->signals_all = attributes.sq_sig_all != 0;
  queue->qp_num = network_->next_number++;
  network_->numbers[queue->qp_num] = queue;
  return queue;
}

int FakeVerbs::modify_qp(ibv_qp* face, ibv_qp_attr& attributes, int mask) {
  const std::lock_guard guard(network_->mutex);
  if (!network_->queue_pairs.has(face)) {
    return network_->record_misuse(EINVAL, "modify_qp: there is no such queue pair");
  }
  if (const int error = network_->error_of(Call::modify_qp, face->context)) {
    return error;
  }
  auto& queue = *static_cast<QueuePair*>(face);
  const ibv_qp_state to = (mask & IBV_QP_STATE) != 0 ? attributes.qp_state : queue.now;
  if (!is_allowed(queue.now, to, mask) ||
      !are_valid(fake::model_of(face->context), attributes, mask)) {
    return EINVAL;
  }
  if (to == IBV_QPS_ERR) {
    network_->set_error(queue);
  } else if (to == IBV_QPS_RESET) {
    network_->clear(queue);
  } else {
    assign(queue.attributes, attributes, mask);
  }
  queue.now = to;
  queue.state = to;
  network_->fail_overflowed();
  network_->wire.wake();
  return 0;
}

int FakeVerbs::destroy_qp(ibv_qp* face) {
  const std::lock_guard guard(network_->mutex);
  if (!network_->queue_pairs.has(face)) {
    return network_->record_misuse(EINVAL, "destroy_qp: there is no such queue pair");
  }
  if (network_->unacknowledged[face] != 0) {
    return network_->record_misuse(EBUSY, "destroy_qp: events were not acknowledged");
  }
  network_->clear(*static_cast<QueuePair*>(face));
  network_->withdraw_events(*face->context, face);
  network_->numbers.erase(face->qp_num);
  network_->queue_pairs.remove(face);
  network_->fail_overflowed();
  return 0;
}

int FakeVerbs::post_send(ibv_qp* face, ibv_send_wr* list, ibv_send_wr*& bad) {
  const std::lock_guard guard(network_->mutex);
  bad = list;
  if (!network_->queue_pairs.has(face)) {
    return network_->record_misuse(EINVAL, "post_send: there is no such queue pair");
  }
  if (const int error = network_->error_of(Call::post_send, face->context)) {
    return error;
  }
  ++network_->batches;
  int error = 0;
  while (bad != nullptr && error == 0) {
    error = post(*network_, *static_cast<QueuePair*>(face), *bad);
    bad = error == 0 ? bad->next : bad;
  }
  network_->fail_overflowed();
  network_->wire.wake();
  return error;
}

}  // namespace tessera::rma::test
