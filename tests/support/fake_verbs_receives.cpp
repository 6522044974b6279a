// SPDX-License-Identifier: BSD-3-Clause
//
// Shared receive queues of FakeVerbs.
#include <cerrno>
#include <utility>

#include "tests/support/fake_verbs.hpp"
#include "tests/support/fake_verbs_network.hpp"

namespace tessera::rma::test {

using fake::failed;
using fake::QueuePair;
using fake::ReceiveQueue;

ibv_srq* FakeVerbs::create_srq(ibv_pd* domain, ibv_srq_init_attr& attributes) {
  const std::lock_guard guard(network_->mutex);
  if (!network_->domains.has(domain)) {
    return failed(network_->record_misuse(EINVAL, "create_srq: there is no such domain"));
  }
  if (const int error = network_->error_of(Call::create_srq, domain->context)) {
    return failed(error);
  }
  const ibv_device_attr& limits = fake::model_of(domain->context).attributes;
  if (attributes.attr.max_wr < 1 ||
      attributes.attr.max_wr > static_cast<std::uint32_t>(limits.max_srq_wr) ||
      attributes.attr.max_sge > static_cast<std::uint32_t>(limits.max_srq_sge)) {
    return failed(EINVAL);
  }
  auto queue = std::make_unique<ReceiveQueue>();
  queue->context = domain->context;
  queue->srq_context = attributes.srq_context;
  queue->pd = domain;
  queue->limits = attributes.attr;
  queue->limits.srq_limit = 0;
  return network_->receive_queues.add(std::move(queue));
}

int FakeVerbs::modify_srq(ibv_srq* face, ibv_srq_attr& attributes, int mask) {
  const std::lock_guard guard(network_->mutex);
  if (!network_->receive_queues.has(face)) {
    return network_->record_misuse(EINVAL, "modify_srq: there is no such queue");
  }
  if (const int error = network_->error_of(Call::modify_srq, face->context)) {
    return error;
  }
  auto& queue = *static_cast<ReceiveQueue*>(face);
  if (mask != IBV_SRQ_LIMIT || attributes.srq_limit > queue.limits.max_wr) {
    return EINVAL;
  }
  queue.limits.srq_limit = attributes.srq_limit;
  return 0;
}

int FakeVerbs::destroy_srq(ibv_srq* queue) {
  const std::lock_guard guard(network_->mutex);
  if (!network_->receive_queues.has(queue)) {
    return network_->record_misuse(EINVAL, "destroy_srq: there is no such queue");
  }
  const std::size_t users =
      network_->queue_pairs.count_if([&](const QueuePair& pair) { return pair.srq == queue; });
  if (const int error = network_->refuse_busy(users, "destroy_srq: it is in use")) {
    return error;
  }
  if (network_->unacknowledged[queue] != 0) {
    return network_->record_misuse(EBUSY, "destroy_srq: events were not acknowledged");
  }
  network_->withdraw_events(*queue->context, queue);
  network_->receive_queues.remove(queue);
  return 0;
}

int FakeVerbs::post_srq_recv(ibv_srq* face, ibv_recv_wr* list, ibv_recv_wr*& bad) {
  const std::lock_guard guard(network_->mutex);
  bad = list;
  if (!network_->receive_queues.has(face)) {
    return network_->record_misuse(EINVAL, "post_srq_recv: there is no such queue");
  }
  if (const int error = network_->error_of(Call::post_srq_recv, face->context)) {
    return error;
  }
  auto& queue = *static_cast<ReceiveQueue*>(face);
  for (; bad != nullptr; bad = bad->next) {
    if (bad->num_sge < 0 || static_cast<std::uint32_t>(bad->num_sge) > queue.limits.max_sge) {
      return EINVAL;
    }
    if (queue.receives.size() == queue.limits.max_wr) {
      return ENOMEM;
    }
    queue.receives.push_back(
        {bad->wr_id, std::vector<ibv_sge>(bad->sg_list, bad->sg_list + bad->num_sge)});
  }
  return 0;
}

}  // namespace tessera::rma::test
