// SPDX-License-Identifier: BSD-3-Clause
//
// A VerbsLibrary of devices that a test describes. It moves no data: devices are opened and
// queried, objects are counted, and changes of queue pairs are recorded.
#pragma once

#include <arpa/inet.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "rma/transport/verbs/library.hpp"

namespace tessera::rma::test {

/// A GID of port 1: `text` is IPv6, or IPv4 after "::ffff:".
inline ibv_gid_entry gid_entry(std::uint32_t index, ibv_gid_type type, const char* text) {
  ibv_gid_entry entry{};
  inet_pton(AF_INET6, text, entry.gid.raw);
  entry.gid_index = index;
  entry.gid_type = type;
  entry.port_num = 1;
  return entry;
}

struct StubDevice {
  std::string name;
  ibv_transport_type transport = IBV_TRANSPORT_IB;
  int open_error = 0;
  ibv_device_attr attributes = {};
  std::vector<ibv_port_attr> ports;
  std::vector<ibv_gid_entry> gids;
  std::uint32_t max_inline = 400;  ///< larger requests are refused, as by soft RoCE
};

inline ibv_port_attr active_port(std::uint8_t link_layer) {
  ibv_port_attr port{};
  port.state = IBV_PORT_ACTIVE;
  port.active_mtu = IBV_MTU_4096;
  port.max_msg_sz = 1U << 23;
  port.link_layer = link_layer;
  return port;
}

/// With one active Ethernet port, and as GIDs a link-local one and, for RoCE v2, 10.77.0.1.
inline StubDevice roce_device(std::string name) {
  StubDevice device;
  device.name = std::move(name);
  device.attributes.max_qp_wr = 1024;
  device.attributes.max_sge = 32;
  device.attributes.max_cqe = 32'767;
  device.attributes.max_srq_wr = 500;
  device.attributes.max_srq_sge = 27;
  device.attributes.max_qp_rd_atom = 128;
  device.attributes.max_qp_init_rd_atom = 64;
  device.attributes.atomic_cap = IBV_ATOMIC_HCA;
  device.ports = {active_port(IBV_LINK_LAYER_ETHERNET)};
  device.gids = {gid_entry(0, IBV_GID_TYPE_ROCE_V2, "fe80::5054:ff:fe12:3456"),
                 gid_entry(1, IBV_GID_TYPE_ROCE_V2, "::ffff:10.77.0.1")};
  return device;
}

/// With one active port of InfiniBand.
inline StubDevice infiniband_device(std::string name) {
  StubDevice device = roce_device(std::move(name));
  device.ports = {active_port(IBV_LINK_LAYER_INFINIBAND)};
  device.ports[0].lid = 12;
  device.gids = {gid_entry(0, IBV_GID_TYPE_IB, "fe80::ec0d:9a03:1:1")};
  return device;
}

class DeviceStub final : public verbs::VerbsLibrary {
 public:
  struct Change {  ///< by modify_qp()
    ibv_qp_attr attributes;
    int mask;
  };

  std::vector<StubDevice> devices;
  std::deque<ibv_async_event> events;  ///< pending
  int last_event_error = EAGAIN;       ///< if none is pending
  std::vector<Change> changes;
  int modify_error = 0;  ///< in the state `failing_state`
  ibv_qp_state failing_state = IBV_QPS_UNKNOWN;
  std::vector<ibv_qp_init_attr> made_queue_pairs;
  std::vector<std::string> destroyed;  ///< in order
  int live = 0;                        ///< objects made and not destroyed
  int acknowledged = 0;
  bool has_domains = true;

  std::vector<std::string> device_names() override {
    std::vector<std::string> names;
    for (const StubDevice& device : devices) {
      names.push_back(device.name);
    }
    return names;
  }
  ibv_context* open_device(const std::string& name) override {
    const auto found = std::find_if(devices.begin(), devices.end(),
                                    [&](const auto& device) { return device.name == name; });
    if (found == devices.end() || found->open_error != 0) {
      errno = found == devices.end() ? ENODEV : found->open_error;
      return nullptr;
    }
    auto made = std::make_unique<Opened>();
    made->description = *found;
    made->device.transport_type = found->transport;
    made->context.device = &made->device;
    made->context.async_fd = eventfd(0, EFD_CLOEXEC);
    ++live;
    ibv_context* context = &made->context;
    opened_[context] = std::move(made);
    return context;
  }
  int close_device(ibv_context* device) override {
    close(device->async_fd);
    opened_.erase(device);
    return gone("device");
  }
  int query_device(ibv_context* device, ibv_device_attr& attributes) override {
    attributes = opened(device).description.attributes;
    attributes.phys_port_cnt = static_cast<std::uint8_t>(opened(device).description.ports.size());
    return 0;
  }
  int query_port(ibv_context* device, std::uint8_t port, ibv_port_attr& attributes) override {
    attributes = opened(device).description.ports.at(port - 1U);
    return 0;
  }
  std::vector<ibv_gid_entry> query_gid_table(ibv_context* device) override {
    return opened(device).description.gids;
  }
  int get_async_event(ibv_context* /*device*/, ibv_async_event& event) override {
    if (events.empty()) {
      errno = last_event_error;
      return -1;
    }
    event = events.front();
    events.pop_front();
    return 0;
  }
  void ack_async_event(ibv_async_event& /*event*/) override { ++acknowledged; }

  ibv_fork_status is_fork_initialized() override { return IBV_FORK_UNNEEDED; }
  int fork_init() override { return 0; }
  ibv_pd* alloc_pd(ibv_context* device) override {
    if (!has_domains) {
      errno = ENOMEM;
      return nullptr;
    }
    ++live;
    return new ibv_pd{.context = device, .handle = 0};
  }
  int dealloc_pd(ibv_pd* domain) override {
    delete domain;
    return gone("domain");
  }
  ibv_mr* reg_mr(ibv_pd*, void*, std::size_t, int) override { return nullptr; }
  int dereg_mr(ibv_mr*) override { return EINVAL; }
  ibv_comp_channel* create_comp_channel(ibv_context*) override { return nullptr; }
  int destroy_comp_channel(ibv_comp_channel*) override { return EINVAL; }
  ibv_cq* create_cq(ibv_context* device, int, ibv_comp_channel*) override {
    ++live;
    auto* queue = new ibv_cq{};
    queue->context = device;
    return queue;
  }
  int destroy_cq(ibv_cq* queue) override {
    delete queue;
    return gone("completions");
  }
  int poll_cq(ibv_cq*, std::span<ibv_wc>) override { return 0; }
  int req_notify_cq(ibv_cq*) override { return 0; }
  int get_cq_event(ibv_comp_channel*, ibv_cq*&) override { return -1; }
  void ack_cq_events(ibv_cq*, unsigned) override {}
  ibv_srq* create_srq(ibv_pd*, ibv_srq_init_attr&) override { return nullptr; }
  int modify_srq(ibv_srq*, ibv_srq_attr&, int) override { return EINVAL; }
  int destroy_srq(ibv_srq*) override { return EINVAL; }
  int post_srq_recv(ibv_srq*, ibv_recv_wr*, ibv_recv_wr*&) override { return EINVAL; }

  ibv_qp* create_qp(ibv_pd* domain, ibv_qp_init_attr& attributes) override {
    if (attributes.cap.max_inline_data > opened(domain->context).description.max_inline) {
      errno = EINVAL;
      return nullptr;
    }
    made_queue_pairs.push_back(attributes);
    ++live;
    auto* queue = new ibv_qp{};
    queue->qp_num = next_number_++;
    return queue;
  }
  int modify_qp(ibv_qp* /*queue*/, ibv_qp_attr& attributes, int mask) override {
    changes.push_back({attributes, mask});
    return attributes.qp_state == failing_state ? modify_error : 0;
  }
  int destroy_qp(ibv_qp* queue) override {
    delete queue;
    return gone("queue pair");
  }
  int post_send(ibv_qp*, ibv_send_wr*, ibv_send_wr*&) override { return EINVAL; }

 private:
  struct Opened {
    ibv_context context = {};
    ibv_device device = {};
    StubDevice description;
  };
  Opened& opened(ibv_context* device) { return *opened_.at(device); }
  int gone(std::string what) {
    --live;
    destroyed.push_back(std::move(what));
    return 0;
  }

  std::map<ibv_context*, std::unique_ptr<Opened>> opened_;
  std::uint32_t next_number_ = 17;
};

}  // namespace tessera::rma::test
