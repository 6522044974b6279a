// SPDX-License-Identifier: BSD-3-Clause
#include "rma/transport/verbs/queue_pair.hpp"

#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

namespace tessera::rma::verbs {
namespace {

constexpr std::uint8_t max_timeout = 31;  // 2.4 hours
constexpr std::uint8_t max_retries = 7;
constexpr std::uint8_t max_delay = 31;   // 0.49 s
constexpr std::uint8_t max_hops = 64;    // routers between RoCE v2 ports
constexpr std::size_t prefix_bytes = 8;  // of a GID: the subnet

// Random, so that packets of an earlier connection are not accepted.
Result<std::uint32_t> random_packet_number() {
  std::uint32_t number = 0;
  if (getrandom(&number, sizeof(number), 0) != static_cast<ssize_t>(sizeof(number))) {
    return Status::error(Code::internal, "this system provides no random numbers");
  }
  return number & 0xff'ffffU;
}

Status check_limit(const Device& device, std::string_view what, std::uint32_t requested,
                   std::uint32_t limit) {
  if (requested <= limit) {
    return {};
  }
  return Status::error(Code::invalid_argument,
                       fmt::format("a queue pair with {} {} was requested; device '{}' has {} at "
                                   "most",
                                   requested, what, device.name(), limit));
}

Status check_options(const Device& device, const QueuePairOptions& options) {
  const DeviceLimits& limits = device.limits();
  TESSERA_RETURN_IF_ERROR(check_limit(device, "entries", options.depth, limits.max_queue_depth));
  TESSERA_RETURN_IF_ERROR(
      check_limit(device, "pieces in a request", options.send_sge, limits.max_send_sge));
  return check_limit(device, "inline bytes", options.inline_bytes, limits.max_inline);
}

Status check_times(const QueuePairTimes& times) {
  if (times.timeout < 1 || times.timeout > max_timeout || times.retries > max_retries ||
      times.not_ready_delay < 1 || times.not_ready_delay > max_delay ||
      times.not_ready_retries > max_retries) {
    return Status::error(
        Code::invalid_argument,
        fmt::format("the times of a queue pair are not usable: timeout {} (1 to 31), retries {} "
                    "(0 to 7), delay when not ready {} (1 to 31), retries then {} (0 to 7)",
                    times.timeout, times.retries, times.not_ready_delay, times.not_ready_retries));
  }
  return {};
}

Code code_of(int error) noexcept {
  switch (error) {
    case ENOMEM:
      return Code::no_memory;
    case EINVAL:
    case ETIMEDOUT:
    case EHOSTUNREACH:
    case ENETUNREACH:
    case ENODATA:
    case ENOENT:
    case EIO:
    case ENODEV:
      return Code::unreachable;
    default:
      return Code::internal;
  }
}

std::string_view meaning_of(int error) noexcept {
  switch (error) {
    case ENOMEM:
      return "the device has no memory left for it";
    case EINVAL:
      return "the device does not accept these attributes";
    case ETIMEDOUT:
    case EHOSTUNREACH:
    case ENETUNREACH:
    case ENODATA:
    case ENOENT:
      return "there is no route to the other side's address";
    case EIO:
    case ENODEV:
      return "the device has failed or was removed";
    default:
      return "the device refuses";
  }
}

std::string_view remedy_for(Network network) noexcept {
  return network == Network::infiniband
             ? "`ibv_devinfo` on both sides: the ports must be ACTIVE and of one subnet"
             : "`ping` the other side's address from this one's interface; TESSERA_VERBS_DEVICE "
               "and TESSERA_VERBS_GID choose another device or address";
}

// Routers and some switches need the GID on InfiniBand, too; otherwise the LID suffices.
bool needs_gid(const PortChoice& port, const ConnectionAddress& other) noexcept {
  return port.network != Network::infiniband ||
         (port.attributes.flags & IBV_QPF_GRH_REQUIRED) != 0 ||
         std::memcmp(port.gid.raw, other.gid.raw, prefix_bytes) != 0;
}

ibv_ah_attr path_to(const ConnectionAddress& other, const PortChoice& port) noexcept {
  ibv_ah_attr path{};
  path.dlid = other.lid;
  path.port_num = port.port;
  if (needs_gid(port, other)) {
    path.is_global = 1;
    path.grh.dgid = other.gid;
    path.grh.sgid_index = static_cast<std::uint8_t>(port.gid_index);
    path.grh.hop_limit = max_hops;
  }
  return path;
}

}  // namespace

QueuePair::QueuePair(std::shared_ptr<Device> device, OwnedQueuePair queue,
                     const ibv_qp_cap& capacities, std::uint32_t first_packet) noexcept
    : device_(std::move(device)),
      queue_(std::move(queue)),
      capacities_(capacities),
      first_packet_(first_packet) {}

Result<QueuePair> QueuePair::create(std::shared_ptr<Device> device,
                                    const QueuePairOptions& options) {
  TESSERA_RETURN_IF_ERROR(check_options(*device, options));
  TESSERA_ASSIGN_OR_RETURN(const std::uint32_t first_packet, random_packet_number());
  ibv_qp_init_attr attributes{};
  attributes.send_cq = options.send_completions;
  attributes.recv_cq = options.receive_completions;
  attributes.srq = options.receives;
  attributes.qp_type = IBV_QPT_RC;
  attributes.cap = {.max_send_wr = options.depth,
                    .max_recv_wr = 0,
                    .max_send_sge = options.send_sge,
                    .max_recv_sge = 0,
                    .max_inline_data = options.inline_bytes};
  OwnedQueuePair queue(device->library(),
                       device->library()->create_qp(device->domain(), attributes));
  if (!queue) {
    const int error = errno;
    return cannot_make(
        *device,
        fmt::format("a queue pair for {} requests, with {} pieces and {} inline bytes each",
                    options.depth, options.send_sge, options.inline_bytes),
        device->limits().queue_pairs, error);
  }
  // Devices round up; completion queues have room for the requested size only.
  attributes.cap.max_send_wr = std::min(attributes.cap.max_send_wr, options.depth);
  QueuePair pair(std::move(device), std::move(queue), attributes.cap, first_packet);
  TESSERA_RETURN_IF_ERROR(pair.to_init());
  return pair;
}

ConnectionAddress QueuePair::address() const noexcept {
  const PortChoice& port = device_->port();
  return {.network = port.network,
          .port = port.port,
          .mtu = port.attributes.active_mtu,
          .lid = port.attributes.lid,
          .reads_as_initiator = device_->limits().reads_as_initiator,
          .reads_as_target = device_->limits().reads_as_target,
          .queue_pair = number(),
          .first_packet = first_packet_,
          .gid = port.gid};
}

Status QueuePair::connect(const ConnectionAddress& other, const QueuePairTimes& times) {
  TESSERA_RETURN_IF_ERROR(check_times(times));
  const Network own = device_->port().network;
  if (own != other.network) {
    return Status::error(Code::unreachable,
                         fmt::format("device '{}' is on {}, the other side ({}) is not",
                                     device_->name(), to_string(own), other.describe()))
        .hint("TESSERA_VERBS_DEVICE and TESSERA_VERBS_GID choose a network that both sides have");
  }
  TESSERA_RETURN_IF_ERROR(to_receive(other, times));
  return to_send(other, times);
}

Status QueuePair::to_init() {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_INIT;
  attributes.port_num = device_->port().port;
  attributes.qp_access_flags =
      IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
      (device_->limits().has_atomics ? unsigned{IBV_ACCESS_REMOTE_ATOMIC} : 0U);
  return modify(attributes, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS,
                "INIT");
}

Status QueuePair::to_receive(const ConnectionAddress& other, const QueuePairTimes& times) {
  const PortChoice& port = device_->port();
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_RTR;
  attributes.path_mtu = std::min(port.attributes.active_mtu, other.mtu);
  attributes.dest_qp_num = other.queue_pair;
  attributes.rq_psn = other.first_packet;
  attributes.max_dest_rd_atomic =
      std::min(device_->limits().reads_as_target, other.reads_as_initiator);
  attributes.min_rnr_timer = times.not_ready_delay;
  attributes.ah_attr = path_to(other, port);
  return modify(attributes,
                IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                    IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
                "RTR")
      .context(fmt::format("connecting to {}", other.describe()));
}

Status QueuePair::to_send(const ConnectionAddress& other, const QueuePairTimes& times) {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_RTS;
  attributes.timeout = times.timeout;
  attributes.retry_cnt = times.retries;
  attributes.rnr_retry = times.not_ready_retries;
  attributes.sq_psn = first_packet_;
  attributes.max_rd_atomic = std::min(device_->limits().reads_as_initiator, other.reads_as_target);
  return modify(attributes,
                IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                    IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC,
                "RTS")
      .context(fmt::format("connecting to {}", other.describe()));
}

Status QueuePair::to_error() {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_ERR;
  return modify(attributes, IBV_QP_STATE, "ERROR");
}

Status QueuePair::modify(ibv_qp_attr& attributes, int mask, std::string_view state) {
  const int error = device_->library()->modify_qp(queue_.get(), attributes, mask);
  if (error == 0) {
    return {};
  }
  return Status::error(
             code_of(error),
             fmt::format("queue pair {} of device '{}' cannot go to state {}: {} ({})", number(),
                         device_->name(), state, meaning_of(error), std::strerror(error)))
      .hint(remedy_for(device_->port().network));
}

}  // namespace tessera::rma::verbs
