// SPDX-License-Identifier: BSD-3-Clause
#include "rma/transport/verbs/device.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "rma/base/memory.hpp"

namespace tessera::rma::verbs {
namespace {

// The vendor number of the kernel's soft RoCE; it copies by memcpy, which may copy byte by byte.
constexpr std::uint32_t soft_roce_vendor = 0xffffff;

// Longer inline data would make each entry of a send queue too large.
constexpr std::array<std::uint32_t, 6> inline_sizes = {512, 256, 128, 64, 32, 0};

std::uint32_t positive(int limit) noexcept {
  return static_cast<std::uint32_t>(std::max(limit, 0));
}

std::uint8_t in_a_byte(int limit) noexcept {
  return static_cast<std::uint8_t>(std::clamp(limit, 0, 255));
}

Status set_non_blocking(int descriptor) {
  const int flags = fcntl(descriptor, F_GETFL);
  if (flags < 0 || fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) != 0) {
    return Status::error(Code::internal,
                         fmt::format("cannot poll the device's events without waiting: "
                                     "{}",
                                     std::strerror(errno)));
  }
  return {};
}

std::string_view name_of(ibv_event_type type) noexcept {
  switch (type) {
    case IBV_EVENT_COMM_EST:
      return "a first packet arrived before the connection was ready";
    case IBV_EVENT_SQ_DRAINED:
      return "a send queue was drained";
    case IBV_EVENT_QP_LAST_WQE_REACHED:
      return "a queue pair in error took its last receive";
    case IBV_EVENT_LID_CHANGE:
      return "the port's LID changed";
    case IBV_EVENT_PKEY_CHANGE:
      return "the port's partitions changed";
    case IBV_EVENT_SM_CHANGE:
      return "the subnet manager changed";
    case IBV_EVENT_CLIENT_REREGISTER:
      return "the subnet manager requires clients to register again";
    case IBV_EVENT_GID_CHANGE:
      return "the port's GIDs changed";
    default:
      return "an unknown event occurred";
  }
}

std::string_view cause_of(ibv_event_type type) noexcept {
  switch (type) {
    case IBV_EVENT_QP_REQ_ERR:
      return "the other end sent an invalid request";
    case IBV_EVENT_QP_ACCESS_ERR:
      return "the other end requested memory that it may not use";
    case IBV_EVENT_PATH_MIG_ERR:
      return "its path could not be changed";
    default:
      return "the device could not continue it";
  }
}

}  // namespace

Status cannot_make(const Device& device, std::string_view what, std::uint32_t limit, int error) {
  const std::string at_most = limit == 0 ? "" : fmt::format("; its limit is {}", limit);
  const bool is_of_files = error == EMFILE || error == ENFILE;
  return Status::error(error == ENOMEM ? Code::no_memory : Code::limit_exceeded,
                       fmt::format("device '{}': cannot make {}: {}{}", device.name(), what,
                                   describe_system_error(error), at_most))
      .hint(is_of_files
                ? remedy_for_system_error(error)
                : "other processes may exhaust the device (`rdma resource show`) or its memory");
}

Device::Device(std::shared_ptr<VerbsLibrary> library, DeviceChoice choice) noexcept
    : library_(std::move(library)), choice_(std::move(choice)) {}

Result<std::shared_ptr<Device>> Device::open(std::shared_ptr<VerbsLibrary> library,
                                             const DeviceOptions& options) {
  TESSERA_ASSIGN_OR_RETURN(DeviceChoice choice, choose_device(library, options));
  const std::shared_ptr<Device> device(new Device(std::move(library), std::move(choice)));
  TESSERA_RETURN_IF_ERROR(device->prepare());
  return device;
}

Status Device::prepare() {
  TESSERA_RETURN_IF_ERROR(set_non_blocking(event_descriptor()));
  find_limits();
  domain_ = OwnedDomain(library_, library_->alloc_pd(context()));
  if (!domain_) {
    return cannot_make(*this, "a protection domain", limits_.domains, errno);
  }
  return find_inline_limit();
}

void Device::find_limits() {
  const ibv_device_attr& device = choice_.attributes;
  const ibv_port_attr& port = choice_.port.attributes;
  limits_.max_message = port.max_msg_sz;
  limits_.max_send_sge = positive(device.max_sge);
  limits_.max_queue_depth = positive(device.max_qp_wr);
  limits_.max_completions = positive(device.max_cqe);
  limits_.max_srq = positive(device.max_srq_wr);
  limits_.domains = positive(device.max_pd);
  limits_.completion_queues = positive(device.max_cq);
  limits_.queue_pairs = positive(device.max_qp);
  limits_.receive_queues = positive(device.max_srq);
  limits_.srq_sge = positive(device.max_srq_sge);
  limits_.reads_as_initiator = in_a_byte(device.max_qp_init_rd_atom);
  limits_.reads_as_target = in_a_byte(device.max_qp_rd_atom);
  limits_.has_atomics = device.atomic_cap == IBV_ATOMIC_HCA || device.atomic_cap == IBV_ATOMIC_GLOB;
  limits_.keeps_words = choice_.attributes.vendor_id != soft_roce_vendor;
  limits_.mtu = mtu_bytes(port.active_mtu);
  limits_.fork = library_->is_fork_initialized();
}

// No query returns it: it is what a new queue pair gets.
Status Device::find_inline_limit() {
  const OwnedCompletions completions(library_, library_->create_cq(context(), 1, nullptr));
  if (!completions) {
    return cannot_make(*this, "a completion queue", limits_.completion_queues, errno);
  }
  int error = 0;
  for (const std::uint32_t size : inline_sizes) {
    ibv_qp_init_attr attributes{};
    attributes.send_cq = completions.get();
    attributes.recv_cq = completions.get();
    attributes.qp_type = IBV_QPT_RC;
    attributes.cap = {.max_send_wr = 1,
                      .max_recv_wr = 1,
                      .max_send_sge = 1,
                      .max_recv_sge = 1,
                      .max_inline_data = size};
    const OwnedQueuePair queue(library_, library_->create_qp(domain(), attributes));
    if (queue) {
      limits_.max_inline = attributes.cap.max_inline_data;
      return {};
    }
    error = errno;
  }
  return cannot_make(*this, "a queue pair", limits_.queue_pairs, error);
}

std::string Device::describe() const {
  return fmt::format("{}:{}, {}, {} (GID {}), MTU {}", name(), choice_.port.port,
                     to_string(choice_.port.network), to_string(choice_.port.gid),
                     choice_.port.gid_index, limits_.mtu);
}

std::vector<DeviceEvent> Device::poll_events() {
  std::vector<DeviceEvent> events;
  ibv_async_event event{};
  while (!is_lost_) {
    if (library_->get_async_event(context(), event) == 0) {
      events.push_back(explain(event));
      library_->ack_async_event(event);  // not earlier: until then the event's objects exist
      is_lost_ = events.back().kind == EventKind::device_lost;
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      break;
    } else if (errno != EINTR) {
      // If a device is removed the kernel ends its events.
      is_lost_ = true;
      events.push_back({.kind = EventKind::device_lost,
                        .text = fmt::format("device '{}' reports no further events: {}", name(),
                                            std::strerror(errno))});
    }
  }
  return events;
}

DeviceEvent Device::explain(const ibv_async_event& event) const {
  const auto text_of = [this](std::string_view what) {
    return fmt::format("device '{}': {}", name(), what);
  };
  switch (event.event_type) {
    case IBV_EVENT_DEVICE_FATAL:
      return {.kind = EventKind::device_lost, .text = text_of("it has failed")};
    case IBV_EVENT_PORT_ERR:
    case IBV_EVENT_PORT_ACTIVE: {
      const bool is_up = event.event_type == IBV_EVENT_PORT_ACTIVE;
      const EventKind kind = is_up ? EventKind::port_up : EventKind::port_down;
      return {.kind = event.element.port_num == choice_.port.port ? kind : EventKind::other,
              .text = text_of(fmt::format("port {} is {}", event.element.port_num,
                                          is_up ? "ACTIVE again" : "DOWN"))};
    }
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
    case IBV_EVENT_PATH_MIG_ERR: {
      const std::uint32_t number = event.element.qp->qp_num;
      return {.kind = EventKind::queue_error,
              .queue_pair = number,
              .text = text_of(
                  fmt::format("queue pair {} has failed: {}", number, cause_of(event.event_type)))};
    }
    case IBV_EVENT_CQ_ERR:
      return {.kind = EventKind::completion_queue_error,
              .completions = event.element.cq,
              .text = text_of("a completion queue overflowed")};
    case IBV_EVENT_SRQ_ERR:
      return {.kind = EventKind::receive_queue_error,
              .receives = event.element.srq,
              .text = text_of("a shared receive queue has failed")};
    case IBV_EVENT_SRQ_LIMIT_REACHED:
      return {.kind = EventKind::low_on_receives,
              .receives = event.element.srq,
              .text = text_of("a shared receive queue is low on receives")};
    default:
      return {.kind = EventKind::other, .text = text_of(name_of(event.event_type))};
  }
}

}  // namespace tessera::rma::verbs
