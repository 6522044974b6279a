// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "rma/transport/verbs/library.hpp"

namespace tessera::rma::verbs {
namespace {

constexpr std::uint64_t built_operations = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_READ |
                                           IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM |
                                           IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |
                                           IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD;

// Some providers return negative error numbers.
int error_number(int result) noexcept {
  return std::abs(result);
}

ibv_qp_init_attr_ex extended(ibv_pd* domain, const ibv_qp_init_attr& plain) noexcept {
  ibv_qp_init_attr_ex attributes{};
  attributes.send_cq = plain.send_cq;
  attributes.recv_cq = plain.recv_cq;
  attributes.srq = plain.srq;
  attributes.cap = plain.cap;
  attributes.qp_type = plain.qp_type;
  attributes.sq_sig_all = plain.sq_sig_all;
  attributes.pd = domain;
  attributes.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
  attributes.send_ops_flags = built_operations;
  return attributes;
}

// If post_send() builds requests for a queue pair, its context is the builder: ibv_qp_to_qp_ex() is
// safe only if the provider is known to set the data that it reads.
ibv_qp_ex* builder_of(const ibv_qp* queue) noexcept {
  return static_cast<ibv_qp_ex*>(queue->qp_context);
}

// Null and errno if the provider has no builder for these operations.
ibv_qp* create_built(ibv_pd* domain, ibv_qp_init_attr& attributes) {
  ibv_qp_init_attr_ex wanted = extended(domain, attributes);
  ibv_qp* queue = ibv_create_qp_ex(domain->context, &wanted);
  if (queue == nullptr) {
    return nullptr;
  }
  queue->qp_context = ibv_qp_to_qp_ex(queue);
  if (queue->qp_context == nullptr) {
    ibv_destroy_qp(queue);
    errno = EOPNOTSUPP;
    return nullptr;
  }
  attributes.cap = wanted.cap;
  return queue;
}

bool has_no_builder(int error) noexcept {
  return error == EOPNOTSUPP || error == ENOSYS || error == EINVAL;
}

// False for an opcode that VerbsLibrary does not support.
bool build_operation(ibv_qp_ex* builder, const ibv_send_wr& request) {
  switch (request.opcode) {
    case IBV_WR_RDMA_WRITE:
      ibv_wr_rdma_write(builder, request.wr.rdma.rkey, request.wr.rdma.remote_addr);
      return true;
    case IBV_WR_RDMA_READ:
      ibv_wr_rdma_read(builder, request.wr.rdma.rkey, request.wr.rdma.remote_addr);
      return true;
    case IBV_WR_SEND:
      ibv_wr_send(builder);
      return true;
    case IBV_WR_SEND_WITH_IMM:
      ibv_wr_send_imm(builder, request.imm_data);
      return true;
    case IBV_WR_ATOMIC_CMP_AND_SWP:
      ibv_wr_atomic_cmp_swp(builder, request.wr.atomic.rkey, request.wr.atomic.remote_addr,
                            request.wr.atomic.compare_add, request.wr.atomic.swap);
      return true;
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
      ibv_wr_atomic_fetch_add(builder, request.wr.atomic.rkey, request.wr.atomic.remote_addr,
                              request.wr.atomic.compare_add);
      return true;
    default:
      return false;
  }
}

// Requires: at most one piece.
void build_data(ibv_qp_ex* builder, const ibv_send_wr& request) {
  if (request.num_sge == 0) {
    ibv_wr_set_sge_list(builder, 0, nullptr);
    return;
  }
  const ibv_sge& piece = *request.sg_list;
  if ((request.send_flags & IBV_SEND_INLINE) != 0) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): verbs give addresses as numbers
    ibv_wr_set_inline_data(builder, reinterpret_cast<void*>(piece.addr), piece.length);
  } else {
    ibv_wr_set_sge(builder, piece.lkey, piece.addr, piece.length);
  }
}

// Soft RoCE's builder adds the lengths of several pieces wrongly, inline or not (rdma-core before
// its pull requests 1744 and 1751). Lists with such requests use ibv_post_send, which the same
// queue pair accepts, and which on adapters also needs one doorbell.
bool can_be_built(const ibv_send_wr* list) noexcept {
  while (list != nullptr && list->num_sge <= 1) {
    list = list->next;
  }
  return list == nullptr;
}

// Posts all of the list, or nothing of it.
int post_built(ibv_qp_ex* builder, ibv_send_wr* list, ibv_send_wr*& bad) {
  ibv_wr_start(builder);
  for (ibv_send_wr* request = list; request != nullptr; request = request->next) {
    builder->wr_id = request->wr_id;
    // Also IBV_SEND_INLINE: soft RoCE checks this flag for the data, others ignore it here.
    builder->wr_flags = request->send_flags;
    if (!build_operation(builder, *request)) {
      ibv_wr_abort(builder);
      bad = request;
      return EINVAL;
    }
    build_data(builder, *request);
  }
  const int error = error_number(ibv_wr_complete(builder));
  if (error != 0) {
    bad = list;
  }
  // Soft RoCE's builder returns ENOSPC for what ibv_post_send(3) documents as ENOMEM.
  return error == ENOSPC ? ENOMEM : error;
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
  explicit RealLibrary(bool may_build) noexcept : may_build_(may_build) {}

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
    if (may_build_) {
      ibv_qp* queue = create_built(domain, attributes);
      if (queue != nullptr || !has_no_builder(errno)) {
        return queue;
      }
    }
    attributes.qp_context = nullptr;  // no builder
    return ibv_create_qp(domain, &attributes);
  }
  int modify_qp(ibv_qp* queue, ibv_qp_attr& attributes, int mask) override {
    return ibv_modify_qp(queue, &attributes, mask);
  }
  int destroy_qp(ibv_qp* queue) override { return ibv_destroy_qp(queue); }
  int post_send(ibv_qp* queue, ibv_send_wr* list, ibv_send_wr*& bad) override {
    if (ibv_qp_ex* builder = builder_of(queue); builder != nullptr && can_be_built(list)) {
      return post_built(builder, list, bad);
    }
    return error_number(ibv_post_send(queue, list, &bad));
  }

 private:
  bool may_build_;
};

}  // namespace

std::shared_ptr<VerbsLibrary> real_library(bool may_build) {
  return std::make_shared<RealLibrary>(may_build);
}

}  // namespace tessera::rma::verbs
