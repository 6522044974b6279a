// SPDX-License-Identifier: BSD-3-Clause
#include "bench/baselines/verbs_loop.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace tessera::bench {
namespace {

/// The library's own limit, so that the same requests carry their data inline.
constexpr std::uint32_t max_inline = 220;
constexpr std::uint32_t first_packet = 0;

[[noreturn]] void fail(int error, const std::string& what) {
  throw std::system_error(error, std::generic_category(), what);
}

/// Returns an object that libibverbs made, or throws an exception that names what it could not
/// make.
template <class Object>
Object* made(Object* object, const char* what) {
  if (object == nullptr) {
    fail(errno, what);
  }
  return object;
}

/// The device and address that TESSERA_VERBS_DEVICE and TESSERA_VERBS_GID choose.
struct RequestedDevice {
  std::string device;
  int port = 0;        ///< 0: any
  int gid_index = -1;  ///< −1: any
};

int number(std::string_view text, int otherwise) {
  int value = otherwise;
  (void)std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::string_view variable(const char* name) {
  const char* const text = std::getenv(name);
  return text == nullptr ? std::string_view() : std::string_view(text);
}

// The job has checked both when it started.
RequestedDevice requested_device() {
  const std::string_view device = variable("TESSERA_VERBS_DEVICE");
  const std::size_t colon = device.find(':');
  RequestedDevice found;
  found.device = device.substr(0, colon);
  if (colon != std::string_view::npos) {
    found.port = number(device.substr(colon + 1), 0);
  }
  found.gid_index = number(variable("TESSERA_VERBS_GID"), -1);
  return found;
}

bool is_ipv4(const ibv_gid& gid) {
  constexpr std::array<std::uint8_t, 12> mapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  return std::equal(mapped.begin(), mapped.end(), gid.raw);
}

/// Valid on one link only: fe80::, 169.254.0.0/16.
bool is_of_one_link(const ibv_gid& gid) {
  return (gid.raw[0] == 0xfe && (gid.raw[1] & 0xc0) == 0x80) ||
         (is_ipv4(gid) && gid.raw[12] == 169 && gid.raw[13] == 254);
}

/// Smaller is better.
int priority_of(const ibv_gid_entry& entry) {
  if (is_of_one_link(entry.gid)) {
    return 3;
  }
  if (entry.gid_type != IBV_GID_TYPE_ROCE_V2) {
    return 2;
  }
  return is_ipv4(entry.gid) ? 0 : 1;
}

std::vector<ibv_gid_entry> gids_of(ibv_context* context, std::uint8_t port) {
  constexpr std::size_t most = 1024;  // of all ports
  std::vector<ibv_gid_entry> all(most);
  const ssize_t count = ibv_query_gid_table(context, all.data(), all.size(), 0);
  all.resize(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  std::erase_if(all, [port](const ibv_gid_entry& each) { return each.port_num != port; });
  return all;
}

/// Empty if the port has no suitable address; InfiniBand's LID needs none.
std::optional<ibv_gid_entry> gid_for(const VerbsPort& port, int asked) {
  std::vector<ibv_gid_entry> gids = gids_of(port.context.get(), port.port);
  if (asked >= 0) {
    std::erase_if(gids, [asked](const ibv_gid_entry& each) {
      return each.gid_index != static_cast<std::uint32_t>(asked);
    });
  } else if (port.is_ethernet()) {
    std::stable_sort(gids.begin(), gids.end(),
                     [](const auto& a, const auto& b) { return priority_of(a) < priority_of(b); });
  }
  return gids.empty() ? std::nullopt : std::optional(gids.front());
}

/// That port of the device, if it can be used.
std::optional<VerbsPort> try_port(ibv_device* device, std::uint8_t number,
                                  const RequestedDevice& requested_device) {
  VerbsPort port;
  port.context.reset(ibv_open_device(device));
  port.port = number;
  if (!port.context || ibv_query_port(port.context.get(), number, &port.attributes) != 0 ||
      port.attributes.state != IBV_PORT_ACTIVE) {
    return std::nullopt;
  }
  const auto gid = gid_for(port, requested_device.gid_index);
  if (!gid && (port.is_ethernet() || requested_device.gid_index >= 0)) {
    return std::nullopt;
  }
  if (gid) {
    port.gid = gid->gid;
    port.gid_index = static_cast<int>(gid->gid_index);
  }
  return port;
}

std::uint8_t ports_of(ibv_device* device) {
  const VerbsContext context(ibv_open_device(device));
  ibv_device_attr attributes = {};
  const bool is_known = context && ibv_query_device(context.get(), &attributes) == 0;
  return is_known ? attributes.phys_port_cnt : 0;
}

/// libibverbs' list of devices, freed at the end of its scope.
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
  [[nodiscard]] std::span<ibv_device* const> devices() const {
    return {devices_, devices_ == nullptr ? 0 : static_cast<std::size_t>(count_)};
  }

 private:
  int count_ = 0;  // declared before devices_, whose initialiser sets it
  ibv_device** devices_;
};

}  // namespace

VerbsPort open_verbs_port() {
  const DeviceList list;
  if (list.devices().empty()) {
    throw std::runtime_error("there is no RDMA device");
  }
  const RequestedDevice asked = requested_device();
  std::optional<VerbsPort> best;
  for (ibv_device* const device : list.devices()) {
    if (!asked.device.empty() && asked.device != ibv_get_device_name(device)) {
      continue;
    }
    for (int number = 1; number <= ports_of(device); ++number) {
      if (asked.port != 0 && asked.port != number) {
        continue;
      }
      auto port = try_port(device, static_cast<std::uint8_t>(number), asked);
      if (port && (!best || (best->is_ethernet() && !port->is_ethernet()))) {
        best = std::move(port);
      }
    }
  }
  if (!best) {
    throw std::runtime_error(
        "no RDMA device has an active port with the requested address (TESSERA_VERBS_DEVICE, "
        "TESSERA_VERBS_GID)");
  }
  return std::move(*best);
}

VerbsLoop::VerbsLoop(std::span<std::byte> local, std::span<std::byte> exposed)
    : port_(open_verbs_port()) {
  ibv_context* const context = port_.context.get();
  if (const int error = ibv_query_device(context, &device_); error != 0) {
    fail(error, "ibv_query_device");
  }
  domain_.reset(made(ibv_alloc_pd(context), "ibv_alloc_pd"));
  completions_.reset(made(ibv_create_cq(context, depth, nullptr, nullptr, 0), "ibv_create_cq"));
  local_.reset(made(ibv_reg_mr(domain_.get(), local.data(), local.size(), IBV_ACCESS_LOCAL_WRITE),
                    "ibv_reg_mr; raise the limit of locked memory (`ulimit -l`)"));
  exposed_.reset(
      made(ibv_reg_mr(domain_.get(), exposed.data(), exposed.size(),
                      IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE),
           "ibv_reg_mr; raise the limit of locked memory (`ulimit -l`)"));
  create_queue_pair();
  to_init();
}

void VerbsLoop::create_queue_pair() {
  ibv_qp_init_attr attributes = {};
  attributes.send_cq = completions_.get();
  attributes.recv_cq = completions_.get();
  attributes.qp_type = IBV_QPT_RC;
  attributes.cap = {.max_send_wr = depth,
                    .max_recv_wr = 1,
                    .max_send_sge = 1,
                    .max_recv_sge = 1,
                    .max_inline_data = max_inline};
  queue_.reset(ibv_create_qp(domain_.get(), &attributes));
  if (!queue_) {
    attributes.cap.max_inline_data = 0;
    queue_.reset(made(ibv_create_qp(domain_.get(), &attributes), "ibv_create_qp"));
  }
  inline_bytes_ = std::min(attributes.cap.max_inline_data, max_inline);
}

VerbsAddress VerbsLoop::address() const {
  constexpr int most_reads = 16;
  return {.gid = port_.gid,
          .queue_pair = queue_->qp_num,
          .key = exposed_->rkey,
          .memory = reinterpret_cast<std::uintptr_t>(exposed_->addr),
          .lid = port_.attributes.lid,
          .mtu = static_cast<std::uint8_t>(port_.attributes.active_mtu),
          .reads = static_cast<std::uint8_t>(
              std::min({device_.max_qp_rd_atom, device_.max_qp_init_rd_atom, most_reads}))};
}

void VerbsLoop::connect(const VerbsAddress& other) {
  other_ = other;
  to_receive(other);
  to_send(other);
}

void VerbsLoop::modify(ibv_qp_attr& attributes, int mask, const char* state) {
  if (const int error = ibv_modify_qp(queue_.get(), &attributes, mask); error != 0) {
    fail(error, fmt::format("a queue pair to {}", state));
  }
}

void VerbsLoop::to_init() {
  ibv_qp_attr attributes = {};
  attributes.qp_state = IBV_QPS_INIT;
  attributes.port_num = port_.port;
  attributes.qp_access_flags = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;
  modify(attributes, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS, "INIT");
}

void VerbsLoop::to_receive(const VerbsAddress& other) {
  ibv_qp_attr attributes = {};
  attributes.qp_state = IBV_QPS_RTR;
  attributes.path_mtu = std::min(port_.attributes.active_mtu, static_cast<ibv_mtu>(other.mtu));
  attributes.dest_qp_num = other.queue_pair;
  attributes.rq_psn = first_packet;
  attributes.max_dest_rd_atomic = std::min(address().reads, other.reads);
  attributes.min_rnr_timer = 12;  // 0.64 ms; nothing here needs a receive
  attributes.ah_attr.port_num = port_.port;
  attributes.ah_attr.dlid = other.lid;
  if (port_.is_ethernet() || (port_.attributes.flags & IBV_QPF_GRH_REQUIRED) != 0) {
    attributes.ah_attr.is_global = 1;
    attributes.ah_attr.grh.dgid = other.gid;
    attributes.ah_attr.grh.sgid_index = static_cast<std::uint8_t>(port_.gid_index);
    attributes.ah_attr.grh.hop_limit = 64;
  }
  modify(attributes,
         IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
             IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
         "RTR");
}

void VerbsLoop::to_send(const VerbsAddress& other) {
  ibv_qp_attr attributes = {};
  attributes.qp_state = IBV_QPS_RTS;
  attributes.timeout = 14;  // 67 ms
  attributes.retry_cnt = 7;
  attributes.rnr_retry = 7;
  attributes.sq_psn = first_packet;
  attributes.max_rd_atomic = std::min(address().reads, other.reads);
  modify(attributes,
         IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
             IBV_QP_MAX_QP_RD_ATOMIC,
         "RTS");
}

void VerbsLoop::post(ibv_wr_opcode opcode, const std::byte* local, std::size_t offset,
                     std::size_t bytes, unsigned flags) {
  ibv_sge piece = {reinterpret_cast<std::uintptr_t>(local), static_cast<std::uint32_t>(bytes),
                   local_->lkey};
  ibv_send_wr request = {};
  request.sg_list = &piece;
  request.num_sge = 1;
  request.opcode = opcode;
  request.send_flags = flags;
  request.wr.rdma = {other_.memory + offset, other_.key};
  ibv_send_wr* bad = nullptr;
  if (const int error = ibv_post_send(queue_.get(), &request, &bad); error != 0) {
    fail(error, "ibv_post_send");
  }
}

void VerbsLoop::write(const std::byte* local, std::size_t offset, std::size_t bytes) {
  post(IBV_WR_RDMA_WRITE, local, offset, bytes, IBV_SEND_SIGNALED | inline_flag(bytes));
}

void VerbsLoop::write_silently(const std::byte* local, std::size_t offset, std::size_t bytes) {
  post(IBV_WR_RDMA_WRITE, local, offset, bytes, inline_flag(bytes));
}

void VerbsLoop::read(std::byte* local, std::size_t offset, std::size_t bytes) {
  post(IBV_WR_RDMA_READ, local, offset, bytes, IBV_SEND_SIGNALED);
}

void VerbsLoop::wait_for_completions(std::int64_t count) {
  while (count > 0) {
    ibv_wc completion = {};
    const int found = ibv_poll_cq(completions_.get(), 1, &completion);
    if (found < 0 || (found > 0 && completion.status != IBV_WC_SUCCESS)) {
      throw std::runtime_error(
          fmt::format("a request failed: {}", ibv_wc_status_str(completion.status)));
    }
    count -= found;
  }
}

}  // namespace tessera::bench
