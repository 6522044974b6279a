// SPDX-License-Identifier: BSD-3-Clause
#include "bench/baselines/verbs_baseline.hpp"

#include <infiniband/verbs.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/baselines/memory_baseline.hpp"
#include "bench/support/candidate.hpp"

namespace tessera::bench {
namespace {

// VerbsLoop: a reliable connection between two RDMA devices that uses libibverbs directly: post a
// request, poll for its completion.
//
// It shares no code with rma/transport/verbs/, which it is compared with, but uses the same device,
// port and GID: those of TESSERA_VERBS_DEVICE and TESSERA_VERBS_GID. By default that is the first
// active port, InfiniBand before Ethernet; on Ethernet, the RoCE v2 GID of an IPv4 address.
//
// Threads: one at a time. Failures throw std::system_error or std::runtime_error. The memory passed
// to it must outlive it.

/// Destroys an object of libibverbs.
template <auto Destroy>
struct VerbsDestroyer {
  template <class Object>
  void operator()(Object* object) const {
    (void)Destroy(object);
  }
};
using VerbsContext = std::unique_ptr<ibv_context, VerbsDestroyer<ibv_close_device>>;
using VerbsDomain = std::unique_ptr<ibv_pd, VerbsDestroyer<ibv_dealloc_pd>>;
using VerbsCompletions = std::unique_ptr<ibv_cq, VerbsDestroyer<ibv_destroy_cq>>;
using VerbsQueuePair = std::unique_ptr<ibv_qp, VerbsDestroyer<ibv_destroy_qp>>;
using VerbsMemory = std::unique_ptr<ibv_mr, VerbsDestroyer<ibv_dereg_mr>>;

/// An open device, the port to use, and its address.
struct VerbsPort {
  VerbsContext context;
  ibv_port_attr attributes = {};
  std::uint8_t port = 1;
  int gid_index = 0;
  ibv_gid gid = {};

  [[nodiscard]] bool is_ethernet() const {
    return attributes.link_layer == IBV_LINK_LAYER_ETHERNET;
  }
};

/// Throws std::runtime_error if there is no device, or not the requested one.
VerbsPort open_verbs_port();

/// What the other end needs for the connection.
struct VerbsAddress {
  ibv_gid gid = {};
  std::uint32_t queue_pair = 0;
  std::uint32_t key = 0;     ///< of the memory that it may read and write
  std::uint64_t memory = 0;  ///< start of that memory
  std::uint16_t lid = 0;
  std::uint8_t mtu = 0;    ///< as ibv_mtu
  std::uint8_t reads = 0;  ///< the number that may be outstanding
};

class VerbsLoop {
 public:
  /// The largest number of outstanding requests.
  static constexpr int depth = 128;

  /// `local` is the memory that this end's requests move; `exposed` is for the other end's
  /// requests.
  VerbsLoop(std::span<std::byte> local, std::span<std::byte> exposed);

  [[nodiscard]] VerbsAddress address() const;
  void connect(const VerbsAddress& other);

  /// Starts a write of `bytes` from `local` to the other end's memory at `offset`. Requires:
  /// `local` lies in the memory passed to the constructor; at most `depth` requests are
  /// outstanding.
  void write(const std::byte* local, std::size_t offset, std::size_t bytes);
  /// The same in the other direction.
  void read(std::byte* local, std::size_t offset, std::size_t bytes);
  /// A write without a completion; the completion of a later read covers it.
  void write_silently(const std::byte* local, std::size_t offset, std::size_t bytes);
  /// Polls until `count` requests have completed.
  void wait_for_completions(std::int64_t count);

 private:
  void create_queue_pair();
  void modify(ibv_qp_attr& attributes, int mask, const char* state);
  void to_init();
  void to_receive(const VerbsAddress& other);
  void to_send(const VerbsAddress& other);
  [[nodiscard]] unsigned inline_flag(std::size_t bytes) const {
    return bytes <= inline_bytes_ ? unsigned{IBV_SEND_INLINE} : 0U;
  }
  void post(ibv_wr_opcode opcode, const std::byte* local, std::size_t offset, std::size_t bytes,
            unsigned flags);

  VerbsPort port_;
  ibv_device_attr device_ = {};
  VerbsDomain domain_;
  VerbsCompletions completions_;
  VerbsMemory local_;
  VerbsMemory exposed_;
  VerbsQueuePair queue_;
  std::size_t inline_bytes_ = 0;
  VerbsAddress other_;
};

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
  constexpr int max_reads = 16;
  return {.gid = port_.gid,
          .queue_pair = queue_->qp_num,
          .key = exposed_->rkey,
          .memory = reinterpret_cast<std::uintptr_t>(exposed_->addr),
          .lid = port_.attributes.lid,
          .mtu = static_cast<std::uint8_t>(port_.attributes.active_mtu),
          .reads = static_cast<std::uint8_t>(
              std::min({device_.max_qp_rd_atom, device_.max_qp_init_rd_atom, max_reads}))};
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

/// For the data checks, which can't use a case's own buffers.
constexpr std::size_t staging_bytes = std::size_t{256} * 1024;

/// Buffers and connection of ranks 0 and 1.
class Ends {
 public:
  Ends(std::size_t local_bytes, std::size_t remote_bytes)
      : local_(local_bytes + staging_bytes, Sharing::own),
        remote_(remote_bytes, Sharing::shared),
        loop_(local_.bytes(), remote_.bytes()) {}

  [[nodiscard]] VerbsLoop& loop() { return loop_; }
  [[nodiscard]] std::span<std::byte> local() const {
    return local_.bytes().first(local_.bytes().size() - staging_bytes);
  }

  /// Copies to the start of the remote buffer.
  void write_remote(std::span<const std::byte> bytes) {
    for (std::size_t done = 0; done < bytes.size(); done += staging_bytes) {
      const auto part = bytes.subspan(done, std::min(staging_bytes, bytes.size() - done));
      std::memcpy(staging(), part.data(), part.size());
      loop_.write(staging(), done, part.size());
      loop_.wait_for_completions(1);
    }
  }
  /// Copies from the start of the remote buffer.
  void read_remote(std::span<std::byte> bytes) {
    for (std::size_t done = 0; done < bytes.size(); done += staging_bytes) {
      const auto part = bytes.subspan(done, std::min(staging_bytes, bytes.size() - done));
      loop_.read(staging(), done, part.size());
      loop_.wait_for_completions(1);
      std::memcpy(part.data(), staging(), part.size());
    }
  }

 private:
  [[nodiscard]] std::byte* staging() const { return local().data() + local().size(); }

  Mapping local_;
  Mapping remote_;
  VerbsLoop loop_;  // destroyed before its memory
};

class BareVerbs final : public VerbsBaseline {
 public:
  /// `ends` on ranks 0 and 1.
  BareVerbs(RankGroup& group, const BaselineOptions& options, std::unique_ptr<Ends> ends)
      : group_(group), options_(options), is_origin_(group.rank() == 0), ends_(std::move(ends)) {}
  ~BareVerbs() override {
    group_.barrier();  // rank 1's memory must exist until rank 0 has finished
  }
  BareVerbs(const BareVerbs&) = delete;
  BareVerbs& operator=(const BareVerbs&) = delete;

  [[nodiscard]] std::string_view name() const override { return "bare loop"; }
  [[nodiscard]] std::optional<Candidate> candidate(const Case& c) override {
    const bool is_copy = c.operation == Operation::put || c.operation == Operation::get;
    return is_copy && c.layout == Layout::contiguous ? stream(c.operation, c.run_bytes, 1)
                                                     : std::nullopt;
  }
  [[nodiscard]] std::optional<Candidate> stream(Operation operation, std::size_t bytes,
                                                std::int64_t messages) override;
  [[nodiscard]] std::optional<Candidate> put_and_read(std::size_t bytes) override;
  [[nodiscard]] std::optional<Started> started(Operation operation, std::size_t bytes) override;

 private:
  [[nodiscard]] Workspace workspace() const;
  template <class Once>
  [[nodiscard]] std::optional<Candidate> transfer(const Case& c, Once once);
  void start(Operation operation, std::size_t local, std::size_t remote, std::size_t bytes) {
    std::byte* const here = ends_->local().data() + local;
    if (operation == Operation::put) {
      ends_->loop().write(here, remote, bytes);
    } else {
      ends_->loop().read(here, remote, bytes);
    }
  }

  RankGroup& group_;
  BaselineOptions options_;
  bool is_origin_;
  std::unique_ptr<Ends> ends_;
};

Workspace BareVerbs::workspace() const {
  Workspace workspace;
  workspace.remote_bytes = options_.buffer_bytes();
  workspace.rotate = options_.cold;
  if (is_origin_) {
    workspace.local = ends_->local();
    workspace.write_remote = [ends = ends_.get()](auto bytes) { ends->write_remote(bytes); };
    workspace.read_remote = [ends = ends_.get()](auto bytes) { ends->read_remote(bytes); };
  }
  return workspace;
}

template <class Once>
std::optional<Candidate> BareVerbs::transfer(const Case& c, Once once) {
  if (std::max(c.local_span(), c.remote_span()) > options_.buffer_bytes()) {
    return std::nullopt;
  }
  if (is_origin_) {
    return transfer_candidate(std::string(name()), c, workspace(), true, once);
  }
  Candidate candidate;
  candidate.name = name();
  candidate.bytes = c.bytes();
  candidate.run = [](std::int64_t) {};
  return candidate;
}

std::optional<Candidate> BareVerbs::stream(Operation operation, std::size_t bytes,
                                           std::int64_t messages) {
  if (messages > VerbsLoop::depth) {
    return std::nullopt;
  }
  const Case whole = Case::contiguous(operation, bytes * static_cast<std::size_t>(messages));
  return transfer(whole, [=, this](std::size_t local, std::size_t remote) {
    for (std::int64_t i = 0; i < messages; ++i) {
      const std::size_t at = static_cast<std::size_t>(i) * bytes;
      start(operation, local + at, remote + at, bytes);
    }
    ends_->loop().wait_for_completions(messages);
  });
}

std::optional<Candidate> BareVerbs::put_and_read(std::size_t bytes) {
  const Case c = Case::contiguous(Operation::put, bytes);
  return transfer(c, [=, this](std::size_t local, std::size_t remote) {
    std::byte* const here = ends_->local().data();
    ends_->loop().write_silently(here + local, remote, bytes);
    // The read's data go after the buffer; they are not used.
    ends_->loop().read(here + ends_->local().size(), 0, 1);
    ends_->loop().wait_for_completions(1);
  });
}

std::optional<Started> BareVerbs::started(Operation operation, std::size_t bytes) {
  const Case c = Case::contiguous(operation, bytes);
  if (c.local_span() > options_.buffer_bytes()) {
    return std::nullopt;
  }
  Started started;
  started.name = name();
  started.bytes = bytes;
  if (is_origin_) {
    started.start = [=, this] { start(operation, 0, 0, bytes); };
    started.wait = [this] { ends_->loop().wait_for_completions(1); };
    started.verify = [c, places = workspace(), start = started.start, wait = started.wait] {
      return verify_transfer(c, places, [&] {
        start();
        wait();
      });
    };
  }
  return started;
}

}  // namespace

std::unique_ptr<VerbsBaseline> make_verbs_baseline(RankGroup& group, const BaselineOptions& options,
                                                   std::string& missing) {
  if (group.size() < 2) {
    missing = "verbs: needs two ranks";
    return nullptr;
  }
  const bool is_target = group.rank() == peer_rank;
  const bool is_end = group.rank() == 0 || is_target;
  std::unique_ptr<Ends> ends;
  std::string problem;
  const auto attempt = [&problem](auto action) {
    try {
      action();
    } catch (const std::exception& error) {
      problem = error.what();
    }
  };
  constexpr std::size_t a_page = 4096;
  VerbsAddress mine;
  if (is_end) {
    attempt([&] {
      ends = std::make_unique<Ends>(is_target ? a_page : options.buffer_bytes(),
                                    is_target ? options.buffer_bytes() : a_page);
      mine = ends->loop().address();
    });
  }
  const VerbsAddress of_origin = group.share(mine, 0);
  const VerbsAddress of_target = group.share(mine, peer_rank);
  const auto has_failed = [&] { return group.maximum(problem.empty() ? 0 : 1) > 0; };
  bool is_missing = has_failed();
  if (!is_missing && is_end) {
    attempt([&] { ends->loop().connect(is_target ? of_origin : of_target); });
  }
  is_missing = has_failed() || is_missing;
  if (is_missing) {
    missing = "verbs: " + (problem.empty() ? "another rank could not connect" : problem);
    return nullptr;
  }
  return std::make_unique<BareVerbs>(group, options, std::move(ends));
}

}  // namespace tessera::bench
