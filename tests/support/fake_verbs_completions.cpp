// SPDX-License-Identifier: BSD-3-Clause
//
// Completion channels and completion queues of FakeVerbs.
#include <algorithm>
#include <cerrno>
#include <utility>

#include "tests/support/fake_verbs.hpp"
#include "tests/support/fake_verbs_network.hpp"

namespace tessera::rma::test {
namespace {

using fake::Channel;
using fake::Completion;
using fake::CompletionQueue;
using fake::Device;
using fake::failed;
using fake::QueuePair;

/// Removes events that were not fetched, since their queue is destroyed.
void withdraw_events(CompletionQueue& queue) {
  if (queue.channel != nullptr) {
    static_cast<Channel*>(queue.channel)->events.withdraw([&](const ibv_cq* event) {
      return event == &queue;
    });
    --queue.channel->refcnt;
  }
}

}  // namespace

ibv_comp_channel* FakeVerbs::create_comp_channel(ibv_context* device) {
  const std::lock_guard guard(network_->mutex);
  if (const int error = network_->error_of(Call::create_comp_channel, device)) {
    return failed(error);
  }
  auto channel = std::make_unique<Channel>();
  channel->context = device;
  channel->fd = channel->events.fd();
  return channel->fd < 0 ? failed(errno) : network_->channels.add(std::move(channel));
}

int FakeVerbs::destroy_comp_channel(ibv_comp_channel* channel) {
  const std::lock_guard guard(network_->mutex);
  if (!network_->channels.has(channel)) {
    return network_->record_misuse(EINVAL, "destroy_comp_channel: there is no such channel");
  }
  const auto users = static_cast<std::size_t>(channel->refcnt);
  if (const int error = network_->refuse_busy(users, "destroy_comp_channel: it is in use")) {
    return error;
  }
  network_->channels.remove(channel);
  return 0;
}

ibv_cq* FakeVerbs::create_cq(ibv_context* device, int entries, ibv_comp_channel* channel) {
  const std::lock_guard guard(network_->mutex);
  if (const int error = network_->error_of(Call::create_cq, device)) {
    return failed(error);
  }
  const DeviceModel& model = static_cast<Device*>(device)->hardware->model;
  const bool is_good_channel =
      channel == nullptr || (network_->channels.has(channel) && channel->context == device);
  if (entries < 1 || entries > model.attributes.max_cqe || !is_good_channel) {
    return failed(EINVAL);
  }
  auto queue = std::make_unique<CompletionQueue>();
  queue->context = device;
  queue->channel = channel;
  queue->cqe = entries;
  if (channel != nullptr) {
    ++channel->refcnt;
  }
  return network_->completion_queues.add(std::move(queue));
}

int FakeVerbs::destroy_cq(ibv_cq* face) {
  const std::lock_guard guard(network_->mutex);
  if (!network_->completion_queues.has(face)) {
    return network_->record_misuse(EINVAL, "destroy_cq: there is no such queue");
  }
  auto& queue = *static_cast<CompletionQueue*>(face);
  const std::size_t users = network_->queue_pairs.count_if(
      [&](const QueuePair& pair) { return pair.send_cq == face || pair.recv_cq == face; });
  if (const int error = network_->refuse_busy(users, "destroy_cq: it is in use")) {
    return error;
  }
  if (queue.unacknowledged != 0 || network_->unacknowledged[face] != 0) {
    // libibverbs would wait for ever.
    return network_->record_misuse(EBUSY, "destroy_cq: events were not acknowledged");
  }
  withdraw_events(queue);
  network_->withdraw_events(*queue.context, face);
  network_->completion_queues.remove(face);
  return 0;
}

int FakeVerbs::poll_cq(ibv_cq* face, std::span<ibv_wc> completions) {
  network_->poll_count.fetch_add(1, std::memory_order_relaxed);
  if (const int error = network_->faults.take(Call::poll_cq)) {
    return -error;
  }
  auto& queue = *static_cast<CompletionQueue*>(face);
  if (queue.count.load(std::memory_order_acquire) == 0) {
    return 0;
  }
  const std::lock_guard guard(queue.guard);
  const std::size_t count = std::min(completions.size(), queue.completions.size());
  for (std::size_t i = 0; i < count; ++i) {
    Completion& completion = queue.completions.front();
    completions[i] = completion.wc;
    if (completion.freed != nullptr) {
      completion.freed->store(completion.freed_until, std::memory_order_relaxed);
    }
    queue.completions.pop_front();
  }
  queue.count.store(queue.completions.size(), std::memory_order_release);
  return static_cast<int>(count);
}

int FakeVerbs::req_notify_cq(ibv_cq* face) {
  if (const int error = network_->faults.take(Call::req_notify_cq)) {
    return error;
  }
  auto& queue = *static_cast<CompletionQueue*>(face);
  const std::lock_guard guard(queue.guard);
  queue.is_armed = true;
  return 0;
}

int FakeVerbs::get_cq_event(ibv_comp_channel* channel, ibv_cq*& queue) {
  // Without a lock, since it may wait.
  if (static_cast<Channel*>(channel)->events.pop(queue) != 0) {
    return -1;
  }
  auto& from = *static_cast<CompletionQueue*>(queue);
  const std::lock_guard guard(from.guard);
  ++from.unacknowledged;
  return 0;
}

void FakeVerbs::ack_cq_events(ibv_cq* face, unsigned count) {
  auto& queue = *static_cast<CompletionQueue*>(face);
  std::unique_lock lock(queue.guard);
  queue.unacknowledged -= count;
  const bool is_too_many = queue.unacknowledged < 0;
  lock.unlock();
  if (is_too_many) {
    const std::lock_guard guard(network_->mutex);
    network_->record_misuse(EINVAL, "ack_cq_events: more than were fetched");
  }
}

}  // namespace tessera::rma::test
