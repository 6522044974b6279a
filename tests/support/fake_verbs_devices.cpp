// SPDX-License-Identifier: BSD-3-Clause
//
// Devices and memory of FakeVerbs.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "tests/support/fake_verbs.hpp"
#include "tests/support/fake_verbs_network.hpp"

namespace tessera::rma::test {
namespace {

using fake::Device;
using fake::Domain;
using fake::failed;
using fake::Hardware;
using fake::Network;
using fake::QueuePair;
using fake::Region;
using fake::subject_of;

ibv_gid_entry gid_entry(std::uint32_t index, const std::uint8_t (&bytes)[16]) {
  ibv_gid_entry entry{};
  std::copy(std::begin(bytes), std::end(bytes), entry.gid.raw);
  entry.gid_index = index;
  entry.port_num = 1;
  entry.gid_type = IBV_GID_TYPE_ROCE_V2;
  return entry;
}

/// Whether all pages of it are mapped.
bool is_mapped(void* address, std::size_t bytes) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(address) & ~(page - 1);
  const auto end = reinterpret_cast<std::uintptr_t>(address) + bytes;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): pages are computed with as numbers
  return msync(reinterpret_cast<void*>(begin), end - begin, MS_ASYNC) == 0;
}

bool is_valid_access(int access) {
  constexpr int known = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                        IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_RELAXED_ORDERING;
  constexpr int writing = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;
  return (access & ~known) == 0 &&
         ((access & writing) == 0 || (access & IBV_ACCESS_LOCAL_WRITE) != 0);
}

/// The error for registering these bytes, or 0.
int registration_error(const Network& network, const ibv_pd* domain, void* address,
                       std::size_t bytes, int access) {
  if (!network.domains.has(domain) || bytes == 0 || !is_valid_access(access)) {
    return EINVAL;
  }
  if (network.registered_bytes + bytes > network.memlock_limit) {
    return ENOMEM;
  }
  return is_mapped(address, bytes) ? 0 : EFAULT;
}

ibv_mr* add_region(Network& network, ibv_pd* domain, void* address, std::size_t bytes, int access) {
  const std::lock_guard guard(network.mutex);
  int error = registration_error(network, domain, address, bytes, access);
  if (error == 0) {
    error = network.error_of(FakeVerbs::Call::reg_mr, domain->context);
  }
  if (error != 0) {
    return failed(error);
  }
  auto made = std::make_unique<Region>();
  Region* const region = network.regions.add(std::move(made));
  region->context = domain->context;
  region->pd = domain;
  region->addr = address;
  region->length = bytes;
  region->access = access | (network.relaxes_all ? IBV_ACCESS_RELAXED_ORDERING : 0);
  region->lkey = network.next_key++;
  region->rkey = network.next_key++;
  network.local_keys[region->lkey] = region;
  network.remote_keys[region->rkey] = region;
  network.registered_bytes += bytes;
  network.has_registered = true;
  return region;
}

void notify_watcher(Network& network, const FakeVerbs::Registration& registration) {
  std::unique_lock lock(network.mutex);
  const auto watcher = network.watcher;
  lock.unlock();
  if (watcher != nullptr) {
    (*watcher)(registration);
  }
}

}  // namespace

DeviceModel soft_roce(int number) {
  DeviceModel model;
  model.name = "fake" + std::to_string(number);
  ibv_device_attr& device = model.attributes;
  device.max_mr_size = UINT64_MAX;
  device.page_size_cap = 4096;
  device.phys_port_cnt = 1;
  device.max_qp = device.max_mr = device.max_cq = device.max_srq = device.max_pd = 1 << 20;
  device.max_qp_wr = device.max_srq_wr = 1 << 20;
  device.max_cqe = 32767;
  device.max_sge = device.max_sge_rd = 32;
  device.max_srq_sge = 27;
  device.max_qp_rd_atom = device.max_qp_init_rd_atom = 128;
  device.max_res_rd_atom = 258048;
  device.atomic_cap = IBV_ATOMIC_HCA;
  device.max_pkeys = 64;
  ibv_port_attr& port = model.port;
  port.state = IBV_PORT_ACTIVE;
  port.max_mtu = port.active_mtu = IBV_MTU_4096;
  port.max_msg_sz = 8U << 20;
  port.pkey_tbl_len = 1;
  port.link_layer = IBV_LINK_LAYER_ETHERNET;
  const auto last = static_cast<std::uint8_t>(number + 1);
  model.gids = {
      gid_entry(0, {0xfe, 0x80, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0xff, 0xfe, 0, 0, last}),
      gid_entry(1, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 77, 0, last}),
  };
  model.max_inline_bytes = 400;
  return model;
}

std::vector<DeviceModel> soft_roce_devices(int count) {
  std::vector<DeviceModel> models;
  for (int number = 0; number < count; ++number) {
    models.push_back(soft_roce(number));
  }
  return models;
}

// --- devices

std::vector<std::string> FakeVerbs::device_names() {
  const std::lock_guard guard(network_->mutex);
  std::vector<std::string> names;
  for (const auto& hardware : network_->hardware) {
    if (!hardware->is_removed) {
      names.push_back(hardware->model.name);
    }
  }
  return names;
}

ibv_context* FakeVerbs::open_device(const std::string& name) {
  const std::lock_guard guard(network_->mutex);
  if (const int error = network_->faults.take(Call::open_device)) {
    return failed(error);
  }
  Hardware* const hardware = network_->find_hardware(name);
  if (hardware == nullptr) {
    return failed(ENODEV);
  }
  auto device = std::make_unique<Device>();
  device->device = &hardware->face;
  device->hardware = hardware;
  device->async_fd = device->events.fd();
  device->cmd_fd = -1;
  device->num_comp_vectors = 1;
  return device->async_fd < 0 ? failed(errno) : network_->devices.add(std::move(device));
}

int FakeVerbs::close_device(ibv_context* device) {
  const std::lock_guard guard(network_->mutex);
  if (!network_->devices.has(device)) {
    return network_->record_misuse(EINVAL, "close_device: it is not open");
  }
  const auto is_here = [&](const auto& object) { return object.context == device; };
  const std::size_t users = network_->domains.count_if(is_here) +
                            network_->channels.count_if(is_here) +
                            network_->completion_queues.count_if(is_here);
  if (const int error = network_->refuse_busy(users, "close_device: it is in use")) {
    return error;
  }
  network_->devices.remove(device);
  return 0;
}

int FakeVerbs::query_device(ibv_context* device, ibv_device_attr& attributes) {
  const std::lock_guard guard(network_->mutex);
  if (const int error = network_->error_of(Call::query_device, device)) {
    return error;
  }
  attributes = static_cast<Device*>(device)->hardware->model.attributes;
  return 0;
}

int FakeVerbs::query_port(ibv_context* device, std::uint8_t port, ibv_port_attr& attributes) {
  const std::lock_guard guard(network_->mutex);
  if (const int error = network_->error_of(Call::query_port, device)) {
    return error;
  }
  if (port != 1) {
    return EINVAL;
  }
  attributes = static_cast<Device*>(device)->hardware->model.port;
  return 0;
}

std::vector<ibv_gid_entry> FakeVerbs::query_gid_table(ibv_context* device) {
  const std::lock_guard guard(network_->mutex);
  errno = network_->error_of(Call::query_gid_table, device);
  if (errno != 0) {
    return {};
  }
  return static_cast<Device*>(device)->hardware->model.gids;
}

int FakeVerbs::get_async_event(ibv_context* device, ibv_async_event& event) {
  // Without the lock, since it may wait.
  if (static_cast<Device*>(device)->events.pop(event) != 0) {
    return -1;
  }
  if (const void* const subject = subject_of(event)) {
    const std::lock_guard guard(network_->mutex);
    ++network_->unacknowledged[subject];
  }
  return 0;
}

void FakeVerbs::ack_async_event(ibv_async_event& event) {
  const void* const subject = subject_of(event);
  const std::lock_guard guard(network_->mutex);
  if (subject != nullptr && --network_->unacknowledged[subject] < 0) {
    network_->record_misuse(EINVAL, "ack_async_event: acknowledged twice");
  }
}

// --- memory

ibv_fork_status FakeVerbs::is_fork_initialized() {
  const std::lock_guard guard(network_->mutex);
  return network_->fork_status;
}

int FakeVerbs::fork_init() {
  const std::lock_guard guard(network_->mutex);
  if (const int error = network_->faults.take(Call::fork_init)) {
    return error;
  }
  if (network_->fork_status == IBV_FORK_DISABLED) {
    if (network_->has_registered) {
      return EINVAL;  // too late: some registered pages would be shared with a child
    }
    network_->fork_status = IBV_FORK_ENABLED;
  }
  return 0;
}

ibv_pd* FakeVerbs::alloc_pd(ibv_context* device) {
  const std::lock_guard guard(network_->mutex);
  if (const int error = network_->error_of(Call::alloc_pd, device)) {
    return failed(error);
  }
  auto domain = std::make_unique<Domain>();
  domain->context = device;
  return network_->domains.add(std::move(domain));
}

int FakeVerbs::dealloc_pd(ibv_pd* domain) {
  const std::lock_guard guard(network_->mutex);
  if (!network_->domains.has(domain)) {
    return network_->record_misuse(EINVAL, "dealloc_pd: there is no such domain");
  }
  const auto is_in = [&](const auto& object) { return object.pd == domain; };
  const std::size_t users = network_->regions.count_if(is_in) +
                            network_->receive_queues.count_if(is_in) +
                            network_->queue_pairs.count_if(is_in);
  if (const int error = network_->refuse_busy(users, "dealloc_pd: it is in use")) {
    return error;
  }
  network_->domains.remove(domain);
  return 0;
}

ibv_mr* FakeVerbs::reg_mr(ibv_pd* domain, void* address, std::size_t bytes, int access) {
  ibv_mr* const region = add_region(*network_, domain, address, bytes, access);
  if (region != nullptr) {
    notify_watcher(*network_, {.is_new = true, .address = address, .bytes = bytes});
  }
  return region;
}

int FakeVerbs::dereg_mr(ibv_mr* region) {
  std::unique_lock lock(network_->mutex);
  if (!network_->regions.has(region)) {
    return network_->record_misuse(EINVAL, "dereg_mr: there is no such region");
  }
  lock.unlock();
  notify_watcher(*network_, {.is_new = false, .address = region->addr, .bytes = region->length});
  lock.lock();
  // The wire's outstanding data for this memory land before the memory may be freed.
  network_->queue_pairs.for_each(
      [&](QueuePair& queue) { network_->wire.land_pending_parts(queue); });
  network_->local_keys.erase(region->lkey);
  network_->remote_keys.erase(region->rkey);
  network_->registered_bytes -= region->length;
  network_->regions.remove(region);
  network_->fail_overflowed();
  return 0;
}

}  // namespace tessera::rma::test
