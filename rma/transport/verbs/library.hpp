// SPDX-License-Identifier: BSD-3-Clause
//
// VerbsLibrary: the only access to libibverbs. All calls to it go through an object of this class,
// so that tests can replace it with a simulated network and inject faults
// (tests/support/fake_verbs.hpp).
//
// Each function is the libibverbs call of its name, with its arguments, results and errors: null or
// an error number, and errno if the manual page says so. Manual pages: ibv_NAME(3).
//
// Threads: as libibverbs: all functions may be called from any thread, except destruction.
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tessera::rma::verbs {

class VerbsLibrary {
 public:
  virtual ~VerbsLibrary() = default;

  // --- devices
  /// The names of the devices; none if the machine has no RDMA.
  virtual std::vector<std::string> device_names() = 0;
  /// Null and errno if no such device exists, or it cannot be opened.
  virtual ibv_context* open_device(const std::string& name) = 0;
  virtual int close_device(ibv_context* device) = 0;
  virtual int query_device(ibv_context* device, ibv_device_attr& attributes) = 0;
  virtual int query_port(ibv_context* device, std::uint8_t port, ibv_port_attr& attributes) = 0;
  /// Empty and errno if the table cannot be read.
  virtual std::vector<ibv_gid_entry> query_gid_table(ibv_context* device) = 0;
  /// Waits unless the device's async_fd is non-blocking.
  virtual int get_async_event(ibv_context* device, ibv_async_event& event) = 0;
  virtual void ack_async_event(ibv_async_event& event) = 0;

  // --- memory
  virtual ibv_fork_status is_fork_initialized() = 0;
  virtual int fork_init() = 0;
  virtual ibv_pd* alloc_pd(ibv_context* device) = 0;
  virtual int dealloc_pd(ibv_pd* domain) = 0;
  virtual ibv_mr* reg_mr(ibv_pd* domain, void* address, std::size_t bytes, int access) = 0;
  virtual int dereg_mr(ibv_mr* region) = 0;

  // --- completions
  virtual ibv_comp_channel* create_comp_channel(ibv_context* device) = 0;
  virtual int destroy_comp_channel(ibv_comp_channel* channel) = 0;
  virtual ibv_cq* create_cq(ibv_context* device, int entries, ibv_comp_channel* channel) = 0;
  virtual int destroy_cq(ibv_cq* queue) = 0;
  virtual int poll_cq(ibv_cq* queue, std::span<ibv_wc> completions) = 0;
  virtual int req_notify_cq(ibv_cq* queue) = 0;
  /// Waits unless the channel's fd is non-blocking; returns only the event's queue.
  virtual int get_cq_event(ibv_comp_channel* channel, ibv_cq*& queue) = 0;
  virtual void ack_cq_events(ibv_cq* queue, unsigned count) = 0;

  // --- queues
  virtual ibv_srq* create_srq(ibv_pd* domain, ibv_srq_init_attr& attributes) = 0;
  virtual int modify_srq(ibv_srq* queue, ibv_srq_attr& attributes, int mask) = 0;
  virtual int destroy_srq(ibv_srq* queue) = 0;
  /// Posts a list of requests, linked by `next`; `bad` is the first that was not accepted.
  virtual int post_srq_recv(ibv_srq* queue, ibv_recv_wr* list, ibv_recv_wr*& bad) = 0;
  virtual ibv_qp* create_qp(ibv_pd* domain, ibv_qp_init_attr& attributes) = 0;
  virtual int modify_qp(ibv_qp* queue, ibv_qp_attr& attributes, int mask) = 0;
  virtual int destroy_qp(ibv_qp* queue) = 0;
  /// Posts a list of requests, linked by `next`; providers ring one doorbell for all. `bad` is the
  /// first that was not accepted. ENOMEM: the queue is full.
  virtual int post_send(ibv_qp* queue, ibv_send_wr* list, ibv_send_wr*& bad) = 0;

 protected:
  VerbsLibrary() = default;
  VerbsLibrary(const VerbsLibrary&) = default;
  VerbsLibrary& operator=(const VerbsLibrary&) = default;
};

/// libibverbs itself.
std::shared_ptr<VerbsLibrary> real_library();

}  // namespace tessera::rma::verbs
