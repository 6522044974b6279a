// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "rma/transport/verbs/library.hpp"

namespace tessera::rma::verbs {
namespace {

// Some providers return negative error numbers.
int error_number(int result) noexcept {
  return std::abs(result);
}

// The list that ibv_get_device_list(3) makes, while it is in use.
class DeviceList {
 public:
  DeviceList() : devices_(ibv_get_device_list(&count_)) {}
  ~DeviceList() {
    if (devices_ != nullptr) {
      ibv_free_device_list(devices_);
    }
  }
  DeviceList(const DeviceList&) = delete;
  DeviceList& operator=(const DeviceList&) = delete;
  [[nodiscard]] std::span<ibv_device* const> devices() const noexcept {
    return {devices_, devices_ == nullptr ? 0 : static_cast<std::size_t>(count_)};
  }

 private:
  int count_ = 0;
  ibv_device** devices_;
};

// Of all ports together.
std::size_t gid_table_length(ibv_context* device) {
  ibv_device_attr attributes{};
  if (ibv_query_device(device, &attributes) != 0) {
    return 0;
  }
  std::size_t length = 0;
  for (std::uint8_t port = 1; port != 0 && port <= attributes.phys_port_cnt; ++port) {
    ibv_port_attr port_attributes{};
    if (ibv_query_port(device, port, &port_attributes) == 0) {
      length += static_cast<std::size_t>(std::max(port_attributes.gid_tbl_len, 0));
    }
  }
  return length;
}

class RealLibrary final : public VerbsLibrary {
 public:
  std::vector<std::string> device_names() override {
    const DeviceList list;
    std::vector<std::string> names;
    for (ibv_device* device : list.devices()) {
      names.emplace_back(ibv_get_device_name(device));
    }
    return names;
  }

  ibv_context* open_device(const std::string& name) override {
    const DeviceList list;
    for (ibv_device* device : list.devices()) {
      if (name == ibv_get_device_name(device)) {
        return ibv_open_device(device);
      }
    }
    errno = ENODEV;
    return nullptr;
  }

  int close_device(ibv_context* device) override { return ibv_close_device(device); }
  int query_device(ibv_context* device, ibv_device_attr& attributes) override {
    return ibv_query_device(device, &attributes);
  }
  int query_port(ibv_context* device, std::uint8_t port, ibv_port_attr& attributes) override {
    return ibv_query_port(device, port, &attributes);
  }

  std::vector<ibv_gid_entry> query_gid_table(ibv_context* device) override {
    std::vector<ibv_gid_entry> table(std::max<std::size_t>(gid_table_length(device), 1));
    const ssize_t entries = ibv_query_gid_table(device, table.data(), table.size(), 0);
    if (entries < 0) {
      errno = static_cast<int>(-entries);
      return {};
    }
    table.resize(static_cast<std::size_t>(entries));
    return table;
  }

  int get_async_event(ibv_context* device, ibv_async_event& event) override {
    return ibv_get_async_event(device, &event);
  }
  void ack_async_event(ibv_async_event& event) override { ibv_ack_async_event(&event); }

  ibv_fork_status is_fork_initialized() override { return ibv_is_fork_initialized(); }
  int fork_init() override { return ibv_fork_init(); }
  ibv_pd* alloc_pd(ibv_context* device) override { return ibv_alloc_pd(device); }
  int dealloc_pd(ibv_pd* domain) override { return ibv_dealloc_pd(domain); }
  ibv_mr* reg_mr(ibv_pd* domain, void* address, std::size_t bytes, int access) override {
    return ibv_reg_mr(domain, address, bytes, static_cast<unsigned>(access));
  }
  int dereg_mr(ibv_mr* region) override { return ibv_dereg_mr(region); }

  ibv_comp_channel* create_comp_channel(ibv_context* device) override {
    return ibv_create_comp_channel(device);
  }
  int destroy_comp_channel(ibv_comp_channel* channel) override {
    return ibv_destroy_comp_channel(channel);
  }
  ibv_cq* create_cq(ibv_context* device, int entries, ibv_comp_channel* channel) override {
    return ibv_create_cq(device, entries, nullptr, channel, 0);
  }
  int destroy_cq(ibv_cq* queue) override { return ibv_destroy_cq(queue); }
  int poll_cq(ibv_cq* queue, std::span<ibv_wc> completions) override {
    return ibv_poll_cq(queue, static_cast<int>(completions.size()), completions.data());
  }
  int req_notify_cq(ibv_cq* queue) override { return ibv_req_notify_cq(queue, 0); }
  int get_cq_event(ibv_comp_channel* channel, ibv_cq*& queue) override {
    void* context = nullptr;
    return ibv_get_cq_event(channel, &queue, &context);
  }
  void ack_cq_events(ibv_cq* queue, unsigned count) override { ibv_ack_cq_events(queue, count); }

  ibv_srq* create_srq(ibv_pd* domain, ibv_srq_init_attr& attributes) override {
    return ibv_create_srq(domain, &attributes);
  }
  int modify_srq(ibv_srq* queue, ibv_srq_attr& attributes, int mask) override {
    return ibv_modify_srq(queue, &attributes, mask);
  }
  int destroy_srq(ibv_srq* queue) override { return ibv_destroy_srq(queue); }
  int post_srq_recv(ibv_srq* queue, ibv_recv_wr* list, ibv_recv_wr*& bad) override {
    return error_number(ibv_post_srq_recv(queue, list, &bad));
  }

  ibv_qp* create_qp(ibv_pd* domain, ibv_qp_init_attr& attributes) override {
    return ibv_create_qp(domain, &attributes);
  }
  int modify_qp(ibv_qp* queue, ibv_qp_attr& attributes, int mask) override {
    return ibv_modify_qp(queue, &attributes, mask);
  }
  int destroy_qp(ibv_qp* queue) override { return ibv_destroy_qp(queue); }
  int post_send(ibv_qp* queue, ibv_send_wr* list, ibv_send_wr*& bad) override {
    return error_number(ibv_post_send(queue, list, &bad));
  }
};

}  // namespace

std::shared_ptr<VerbsLibrary> real_library() {
  return std::make_shared<RealLibrary>();
}

}  // namespace tessera::rma::verbs
