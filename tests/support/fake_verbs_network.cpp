// SPDX-License-Identifier: BSD-3-Clause
#include "tests/support/fake_verbs_network.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace tessera::rma::test::fake {
namespace {

/// Whether packets of `from` with this address arrive at `to`.
bool leads_to(const Hardware& from, const ibv_ah_attr& path, const Hardware& to) {
  if (path.is_global == 0) {
    return path.dlid == to.model.port.lid;
  }
  const auto type = from.model.gids[path.grh.sgid_index].gid_type;
  return std::any_of(to.model.gids.begin(), to.model.gids.end(), [&](const ibv_gid_entry& entry) {
    return entry.gid_type == type && std::memcmp(&entry.gid, &path.grh.dgid, sizeof(ibv_gid)) == 0;
  });
}

bool is_up(const Hardware& device) {
  return !device.is_removed && device.model.port.state == IBV_PORT_ACTIVE;
}

bool grants(const Region& region, std::uint64_t address, std::uint64_t bytes, int access) {
  const auto begin = reinterpret_cast<std::uint64_t>(region.addr);
  return address >= begin && bytes <= region.length && address - begin <= region.length - bytes &&
         (region.access & access) == access;
}

}  // namespace

const void* subject_of(const ibv_async_event& event) {
  switch (event.event_type) {
    case IBV_EVENT_CQ_ERR:
      return event.element.cq;
    case IBV_EVENT_SRQ_ERR:
    case IBV_EVENT_SRQ_LIMIT_REACHED:
      return event.element.srq;
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
    case IBV_EVENT_QP_LAST_WQE_REACHED:
      return event.element.qp;
    default:
      return nullptr;
  }
}

Network::Network(std::vector<DeviceModel> models, std::uint64_t seed) : wire(*this, seed) {
  // The wire waits for a queue pair, so it may start before the devices exist.
  const std::lock_guard guard(mutex);
  std::uint16_t lid = 1;
  for (DeviceModel& model : models) {
    auto device = std::make_unique<Hardware>();
    device->model = std::move(model);
    device->model.port.gid_tbl_len = static_cast<int>(device->model.gids.size());
    if (device->model.port.link_layer == IBV_LINK_LAYER_INFINIBAND) {
      device->model.port.lid = lid++;
    }
    device->face.node_type = IBV_NODE_CA;
    device->face.transport_type = IBV_TRANSPORT_IB;
    device->model.name.copy(device->face.name, sizeof device->face.name - 1);
    hardware.push_back(std::move(device));
  }
}

int Network::error_of(FakeVerbs::Call call, const ibv_context* device) {
  if (!devices.has(device)) {
    return record_misuse(EINVAL, "a call on a device that is not open");
  }
  const int error = faults.take(call);
  const bool is_removed = static_cast<const Device*>(device)->hardware->is_removed;
  return error == 0 && is_removed ? EIO : error;
}

Hardware* Network::find_hardware(const std::string& name) {
  for (const auto& device : hardware) {
    if (device->model.name == name && !device->is_removed) {
      return device.get();
    }
  }
  return nullptr;
}

void Network::notify(Device& device, const ibv_async_event& event) {
  device.events.push(event);
}

void Network::notify(QueuePair& queue, ibv_event_type type) {
  ibv_async_event event{};
  event.element.qp = &queue;
  event.event_type = type;
  notify(queue.device(), event);
}

void Network::withdraw_events(ibv_context& device, const void* subject) {
  static_cast<Device&>(device).events.withdraw(
      [&](const ibv_async_event& event) { return subject_of(event) == subject; });
  unacknowledged.erase(subject);
}

QueuePair* Network::peer_of(const QueuePair& queue) {
  const auto found = numbers.find(queue.attributes.dest_qp_num);
  if (found == numbers.end()) {
    return nullptr;
  }
  QueuePair& peer = *found->second;
  Hardware* const here = queue.device().hardware;
  Hardware* const there = peer.device().hardware;
  const bool listens = peer.now == IBV_QPS_RTR || peer.now == IBV_QPS_RTS;
  const bool are_a_pair = peer.attributes.dest_qp_num == queue.qp_num;
  if (!listens || !are_a_pair || !is_up(*here) || !is_up(*there) ||
      disconnected.count(std::minmax(here, there)) > 0 ||
      !leads_to(*here, queue.attributes.ah_attr, *there) ||
      !leads_to(*there, peer.attributes.ah_attr, *here)) {
    return nullptr;
  }
  return &peer;
}

Region* Network::find_local(const ibv_pd* domain, const ibv_sge& piece, int access) {
  const auto found = local_keys.find(piece.lkey);
  const bool is_good = found != local_keys.end() && found->second->pd == domain &&
                       grants(*found->second, piece.addr, piece.length, access);
  return is_good ? found->second : nullptr;
}

Region* Network::find_remote(const QueuePair& peer, std::uint32_t key, std::uint64_t address,
                             std::uint64_t bytes, int access) {
  const auto found = remote_keys.find(key);
  const bool is_allowed = (peer.attributes.qp_access_flags & static_cast<unsigned>(access)) != 0;
  const bool is_good = is_allowed && found != remote_keys.end() && found->second->pd == peer.pd &&
                       grants(*found->second, address, bytes, access);
  return is_good ? found->second : nullptr;
}

void Network::complete(CompletionQueue& queue, const Completion& completion) {
  const std::lock_guard guard(queue.guard);
  if (queue.is_broken) {
    return;
  }
  if (queue.completions.size() == static_cast<std::size_t>(queue.cqe)) {
    queue.is_broken = true;
    newly_broken.push_back(&queue);
    return;
  }
  queue.completions.push_back(completion);
  queue.count.store(queue.completions.size(), std::memory_order_release);
  if (queue.is_armed && queue.channel != nullptr) {
    queue.is_armed = false;
    static_cast<Channel*>(queue.channel)->events.push(&queue);
  }
}

void Network::complete(QueuePair& queue, const Request& request, ibv_wc_status status) {
  const bool is_good = status == IBV_WC_SUCCESS;
  if (is_good && !is_signalled(queue, request)) {
    return;
  }
  Completion completion;
  completion.wc.wr_id = request.wr.wr_id;
  completion.wc.status = status;
  completion.wc.qp_num = queue.qp_num;
  // With an error, the other members are undefined.
  completion.wc.opcode = is_good ? request.kind() : IBV_WC_DRIVER3;
  completion.wc.byte_len = is_good ? static_cast<std::uint32_t>(request.bytes) : UINT32_MAX;
  completion.wc.vendor_err = is_good ? 0 : static_cast<std::uint32_t>(status) + 0x80;
  completion.freed = queue.freed;
  completion.freed_until = request.number;
  complete(*static_cast<CompletionQueue*>(queue.send_cq), completion);
}

void Network::set_error(QueuePair& queue) {
  if (queue.now == IBV_QPS_ERR || queue.now == IBV_QPS_RESET) {
    return;
  }
  wire.land_pending_parts(queue);
  wire.forget(queue);
  queue.now = IBV_QPS_ERR;
  for (const Request& request : queue.requests) {
    complete(queue, request, IBV_WC_WR_FLUSH_ERR);
  }
  queue.requests.clear();
  queue.started = 0;
  if (queue.srq != nullptr) {
    notify(queue, IBV_EVENT_QP_LAST_WQE_REACHED);
  }
}

void Network::clear(QueuePair& queue) {
  wire.land_pending_parts(queue);
  wire.forget(queue);
  queue.requests.clear();
  queue.started = 0;
  queue.posted = 0;
  queue.freed = std::make_shared<std::atomic<std::uint64_t>>(0);
  for (ibv_cq* const face : {queue.send_cq, queue.recv_cq}) {
    auto& completions = *static_cast<CompletionQueue*>(face);
    const std::lock_guard guard(completions.guard);
    std::erase_if(completions.completions, [&](const Completion& completion) {
      return completion.wc.qp_num == queue.qp_num;
    });
    completions.count.store(completions.completions.size(), std::memory_order_release);
  }
}

void Network::fail_overflowed() {
  while (!newly_broken.empty()) {
    CompletionQueue* const broken = newly_broken.back();
    newly_broken.pop_back();
    ibv_async_event event{};
    event.element.cq = broken;
    event.event_type = IBV_EVENT_CQ_ERR;
    notify(*static_cast<Device*>(broken->context), event);
    queue_pairs.for_each([&](QueuePair& queue) {
      if ((queue.send_cq == broken || queue.recv_cq == broken) && queue.now != IBV_QPS_ERR &&
          queue.now != IBV_QPS_RESET) {
        set_error(queue);
        notify(queue, IBV_EVENT_QP_FATAL);
      }
    });
  }
}

int Network::record_misuse(int error, const std::string& what) {
  misuses.push_back(what);
  return error;
}

int Network::refuse_busy(std::size_t users, const std::string& what) {
  return users == 0 ? 0 : record_misuse(EBUSY, what);
}

}  // namespace tessera::rma::test::fake
