// SPDX-License-Identifier: BSD-3-Clause
//
// The functions by which tests control and inspect FakeVerbs. The calls of the VerbsLibrary are in
// fake_verbs_devices.cpp, fake_verbs_completions.cpp and fake_verbs_queues.cpp.
#include "tests/support/fake_verbs.hpp"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include "tests/support/fake_verbs_network.hpp"

namespace tessera::rma::test {
namespace {

using fake::Device;
using fake::Hardware;
using fake::Network;
using fake::QueuePair;

void report_port_event(Network& network, Hardware& hardware, ibv_event_type type) {
  ibv_async_event event{};
  event.element.port_num = 1;
  event.event_type = type;
  network.devices.for_each([&](Device& device) {
    if (device.hardware == &hardware) {
      network.notify(device, event);
    }
  });
}

/// The device, or null after recording that the test named a missing one.
Hardware* named(Network& network, const std::string& name) {
  Hardware* const hardware = network.find_hardware(name);
  if (hardware == nullptr) {
    network.record_misuse(ENODEV, "no device " + name);
  }
  return hardware;
}

std::optional<std::pair<Hardware*, Hardware*>> link_between(Network& network,
                                                            const std::string& one,
                                                            const std::string& other) {
  Hardware* const first = named(network, one);
  Hardware* const second = named(network, other);
  if (first == nullptr || second == nullptr) {
    return std::nullopt;
  }
  return std::minmax(first, second);
}

void set_port(Network& network, const std::string& name, ibv_port_state state,
              ibv_event_type type) {
  const std::lock_guard guard(network.mutex);
  Hardware* const hardware = named(network, name);
  if (hardware == nullptr) {
    return;
  }
  hardware->model.port.state = state;
  report_port_event(network, *hardware, type);
  network.wire.wake();
}

}  // namespace

FakeVerbs::FakeVerbs(std::vector<DeviceModel> devices, std::uint64_t seed)
    : network_(std::make_unique<Network>(std::move(devices), seed)) {}

FakeVerbs::~FakeVerbs() = default;

// --- what goes wrong

void FakeVerbs::fail(Call call, int error, int after, int times) {
  network_->faults.fail(call, error, after, times);
}

void FakeVerbs::limit_memlock(std::size_t bytes) {
  const std::lock_guard guard(network_->mutex);
  network_->memlock_limit = bytes;
}

void FakeVerbs::watch_registrations(std::function<void(const Registration&)> watcher) {
  const std::lock_guard guard(network_->mutex);
  network_->watcher =
      watcher ? std::make_shared<const std::function<void(const Registration&)>>(std::move(watcher))
              : nullptr;
}

void FakeVerbs::set_fork_status(ibv_fork_status status) {
  const std::lock_guard guard(network_->mutex);
  network_->fork_status = status;
}

void FakeVerbs::break_queue_pair(std::uint32_t number) {
  const std::lock_guard guard(network_->mutex);
  const auto found = network_->numbers.find(number);
  if (found == network_->numbers.end()) {
    network_->record_misuse(EINVAL, "no queue pair " + std::to_string(number));
    return;
  }
  network_->set_error(*found->second);
  network_->notify(*found->second, IBV_EVENT_QP_FATAL);
  network_->fail_overflowed();
}

void FakeVerbs::break_next(ibv_wc_opcode kind, ibv_wc_status status) {
  network_->faults.break_next(kind, status);
}

void FakeVerbs::disconnect(const std::string& one, const std::string& other) {
  const std::lock_guard guard(network_->mutex);
  if (const auto link = link_between(*network_, one, other)) {
    network_->disconnected.insert(*link);
  }
}

void FakeVerbs::reconnect(const std::string& one, const std::string& other) {
  const std::lock_guard guard(network_->mutex);
  if (const auto link = link_between(*network_, one, other)) {
    network_->disconnected.erase(*link);
    network_->wire.wake();
  }
}

void FakeVerbs::remove_device(const std::string& name) {
  const std::lock_guard guard(network_->mutex);
  Hardware* const hardware = named(*network_, name);
  if (hardware == nullptr) {
    return;
  }
  hardware->is_removed = true;
  network_->queue_pairs.for_each([&](QueuePair& queue) {
    if (queue.device().hardware == hardware) {
      network_->set_error(queue);
    }
  });
  report_port_event(*network_, *hardware, IBV_EVENT_DEVICE_FATAL);
  network_->fail_overflowed();
}

void FakeVerbs::port_down(const std::string& name) {
  set_port(*network_, name, IBV_PORT_DOWN, IBV_EVENT_PORT_ERR);
}

void FakeVerbs::port_up(const std::string& name) {
  set_port(*network_, name, IBV_PORT_ACTIVE, IBV_EVENT_PORT_ACTIVE);
}

void FakeVerbs::hold(bool is_held) {
  const std::lock_guard guard(network_->mutex);
  network_->wire.hold(is_held);
}

void FakeVerbs::relax_all() {
  const std::lock_guard guard(network_->mutex);
  network_->relaxes_all = true;
}

void FakeVerbs::slow_down(Clock::duration each_message) {
  const std::lock_guard guard(network_->mutex);
  network_->wire.slow_down(each_message);
}

// --- what happened

FakeVerbs::Live FakeVerbs::live() const {
  const std::lock_guard guard(network_->mutex);
  return {.devices = network_->devices.size(),
          .domains = network_->domains.size(),
          .regions = network_->regions.size(),
          .channels = network_->channels.size(),
          .completion_queues = network_->completion_queues.size(),
          .receive_queues = network_->receive_queues.size(),
          .queue_pairs = network_->queue_pairs.size()};
}

std::size_t FakeVerbs::registered_bytes() const {
  const std::lock_guard guard(network_->mutex);
  return network_->registered_bytes;
}

std::uint64_t FakeVerbs::poll_count() const {
  return network_->poll_count.load(std::memory_order_relaxed);
}

std::size_t FakeVerbs::not_ready_count() const {
  const std::lock_guard guard(network_->mutex);
  return network_->not_ready_count;
}

std::vector<std::string> FakeVerbs::misuses() const {
  const std::lock_guard guard(network_->mutex);
  return network_->misuses;
}

void FakeVerbs::start_trace() {
  const std::lock_guard guard(network_->mutex);
  network_->is_tracing = true;
  network_->trace.clear();
}

std::vector<FakeVerbs::Posted> FakeVerbs::trace() const {
  const std::lock_guard guard(network_->mutex);
  return network_->trace;
}

}  // namespace tessera::rma::test
