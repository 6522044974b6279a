// SPDX-License-Identifier: BSD-3-Clause
//
// FakeVerbs: libibverbs over a network within this process. Devices opened from one object reach
// each other through reliable connections. A thread, the wire, moves the data later than the call
// that posted them, as hardware does.
//
// It is strict. It checks each request for everything that the InfiniBand specification requires of
// the user: keys, bounds, access rights, depths of queues, states and attribute masks, limits of
// the device. If devices differ, it has the more difficult behaviour. Local and remote keys are
// different numbers. A completion with an error has no opcode. A full send queue has room again
// only after a later completion has been polled. Destroying a queue pair removes its completions.
// Tests can request each kind of failure.
//
// Order: requests of one queue pair take effect in order; those of different ones interleave, piece
// by piece. Replies to reads and atomics may arrive after later requests have started, unless these
// have IBV_SEND_FENCE. Writes of at most flag_bytes, into memory registered without
// IBV_ACCESS_RELAXED_ORDERING, release earlier writes of the same queue pair. Longer writes and
// those into relaxed memory do not; the latter land in random order.
//
// Times are short: an unreachable peer is given up after (retry_cnt + 1) × retry_interval unless
// `timeout` is 0, and a receiver that isn't ready is tried again each rnr_interval.
//
// Threads: all functions from any thread, as libibverbs. Unmapping registered memory is the user's
// mistake. Destroy all other objects before this one.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "rma/transport/verbs/library.hpp"

namespace tessera::rma::test {

namespace fake {
class Network;  // fake_verbs_network.hpp
}

/// The properties of a device, set before it is opened.
struct DeviceModel {
  std::string name;
  ibv_device_attr attributes{};
  ibv_port_attr port{};  ///< of its only port, number 1
  std::vector<ibv_gid_entry> gids;
  std::uint32_t max_inline_bytes = 0;
};

/// The device "fake<number>", with the limits of soft RoCE: messages of 8 MiB, 32 pieces, 400 bytes
/// inline, 128 reads at a time. GID 0 is link-local, GID 1 is 10.77.0.<number + 1>, both RoCE v2.
DeviceModel soft_roce(int number);
/// `count` of these devices, from number 0.
std::vector<DeviceModel> soft_roce_devices(int count);

class FakeVerbs final : public verbs::VerbsLibrary {
 public:
  using Clock = std::chrono::steady_clock;

  static constexpr Clock::duration retry_interval = std::chrono::microseconds(500);
  static constexpr Clock::duration rnr_interval = std::chrono::microseconds(100);
  /// The longest write that a thread may poll to detect earlier ones.
  static constexpr std::size_t flag_bytes = 64;

  /// The calls that can be made to fail.
  enum class Call : std::uint8_t {
    open_device,
    query_device,
    query_port,
    query_gid_table,
    fork_init,
    alloc_pd,
    reg_mr,
    create_comp_channel,
    create_cq,
    poll_cq,
    req_notify_cq,
    create_srq,
    modify_srq,
    post_srq_recv,
    create_qp,
    modify_qp,
    post_send,
  };

  /// The numbers of existing objects.
  struct Live {
    std::size_t devices = 0;
    std::size_t domains = 0;
    std::size_t regions = 0;
    std::size_t channels = 0;
    std::size_t completion_queues = 0;
    std::size_t receive_queues = 0;
    std::size_t queue_pairs = 0;
    bool operator==(const Live&) const = default;
  };

  /// A memory region is registered or deregistered.
  struct Registration {
    bool is_new = false;
    void* address = nullptr;
    std::size_t bytes = 0;
  };

  /// A request that post_send accepted.
  struct Posted {
    std::uint32_t queue_pair = 0;
    ibv_wr_opcode opcode = IBV_WR_RDMA_WRITE;
    std::size_t bytes = 0;
    bool is_signalled = false;
    bool is_inline = false;
    int pieces = 0;           ///< entries of its scatter/gather list
    std::uint64_t batch = 0;  ///< requests of one post_send have the same number
  };

  /// `seed` decides which queue pair proceeds next, and how relaxed writes land.
  explicit FakeVerbs(std::vector<DeviceModel> devices = soft_roce_devices(2),
                     std::uint64_t seed = 1);
  ~FakeVerbs() override;
  FakeVerbs(const FakeVerbs&) = delete;
  FakeVerbs& operator=(const FakeVerbs&) = delete;

  // --- what goes wrong

  /// After `after` more calls of this kind, the next `times` fail with `error`; all of them if
  /// `times` is negative.
  void fail(Call call, int error, int after = 0, int times = 1);
  /// Registrations that would make registered_bytes() exceed this fail with ENOMEM.
  void limit_memlock(std::size_t bytes);
  /// Called after each reg_mr and before each dereg_mr, by the thread that calls it. Null removes
  /// it.
  void watch_registrations(std::function<void(const Registration&)> watcher);
  /// The result of is_fork_initialized().
  void set_fork_status(ibv_fork_status status);
  /// The queue pair fails: its requests are flushed, and IBV_EVENT_QP_FATAL is raised.
  void break_queue_pair(std::uint32_t number);
  /// The next request of that kind that the wire executes ends with `status`.
  void break_next(ibv_wc_opcode kind, ibv_wc_status status);
  /// Nothing gets through between the two devices, in either direction, until reconnect().
  void disconnect(const std::string& one, const std::string& other);
  void reconnect(const std::string& one, const std::string& other);
  /// The device is gone: IBV_EVENT_DEVICE_FATAL, and calls fail with EIO; destroying works.
  void remove_device(const std::string& name);
  /// The port's link is lost, and comes back; IBV_EVENT_PORT_ERR and _ACTIVE are raised.
  void port_down(const std::string& name);
  void port_up(const std::string& name);
  /// While true, the wire moves no data, and the only completions are those that flush a queue pair
  /// after break_queue_pair().
  void hold(bool is_held);
  /// Memory registered from now on behaves as with IBV_ACCESS_RELAXED_ORDERING: some machines'
  /// firmware enforces it.
  void relax_all();
  /// Each message takes this much longer, including those under way.
  void slow_down(Clock::duration each_message);

  // --- what happened

  Live live() const;
  std::size_t registered_bytes() const;
  /// The number of polls of completion queues.
  std::uint64_t poll_count() const;
  /// How often an arriving message found no receive.
  std::size_t not_ready_count() const;
  /// A sentence for each mistake that a call detected: destroying an object in use, an event
  /// without acknowledgement, an object that does not exist.
  std::vector<std::string> misuses() const;
  /// Starts a new trace of posted requests.
  void start_trace();
  /// The requests posted since start_trace().
  std::vector<Posted> trace() const;

  // --- verbs::VerbsLibrary
  std::vector<std::string> device_names() override;
  ibv_context* open_device(const std::string& name) override;
  int close_device(ibv_context* device) override;
  int query_device(ibv_context* device, ibv_device_attr& attributes) override;
  int query_port(ibv_context* device, std::uint8_t port, ibv_port_attr& attributes) override;
  std::vector<ibv_gid_entry> query_gid_table(ibv_context* device) override;
  int get_async_event(ibv_context* device, ibv_async_event& event) override;
  void ack_async_event(ibv_async_event& event) override;

  ibv_fork_status is_fork_initialized() override;
  int fork_init() override;
  ibv_pd* alloc_pd(ibv_context* device) override;
  int dealloc_pd(ibv_pd* domain) override;
  ibv_mr* reg_mr(ibv_pd* domain, void* address, std::size_t bytes, int access) override;
  int dereg_mr(ibv_mr* region) override;

  ibv_comp_channel* create_comp_channel(ibv_context* device) override;
  int destroy_comp_channel(ibv_comp_channel* channel) override;
  ibv_cq* create_cq(ibv_context* device, int entries, ibv_comp_channel* channel) override;
  int destroy_cq(ibv_cq* queue) override;
  int poll_cq(ibv_cq* queue, std::span<ibv_wc> completions) override;
  int req_notify_cq(ibv_cq* queue) override;
  int get_cq_event(ibv_comp_channel* channel, ibv_cq*& queue) override;
  void ack_cq_events(ibv_cq* queue, unsigned count) override;

  ibv_srq* create_srq(ibv_pd* domain, ibv_srq_init_attr& attributes) override;
  int modify_srq(ibv_srq* queue, ibv_srq_attr& attributes, int mask) override;
  int destroy_srq(ibv_srq* queue) override;
  int post_srq_recv(ibv_srq* queue, ibv_recv_wr* list, ibv_recv_wr*& bad) override;
  ibv_qp* create_qp(ibv_pd* domain, ibv_qp_init_attr& attributes) override;
  int modify_qp(ibv_qp* queue, ibv_qp_attr& attributes, int mask) override;
  int destroy_qp(ibv_qp* queue) override;
  int post_send(ibv_qp* queue, ibv_send_wr* list, ibv_send_wr*& bad) override;

 private:
  const std::unique_ptr<fake::Network> network_;
};

/// How connect() sets up both sides.
struct ConnectOptions {
  std::uint8_t gid_index = 1;
  ibv_mtu mtu = IBV_MTU_4096;
  unsigned access = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
  std::uint8_t reads_at_a_time = 16;  ///< max_rd_atomic and max_dest_rd_atomic
  std::uint8_t timeout = 14;
  std::uint8_t retry_count = 7;
  std::uint8_t rnr_retry = 7;
};

/// Brings `queue` from RESET to RTS, connected with `other`, which needs the same call. Returns 0,
/// or the error number of the step that failed. Works on any library.
int connect_to(verbs::VerbsLibrary& library, ibv_qp* queue, ibv_qp* other,
               const ConnectOptions& options = {});
/// Both of them; a queue pair may be connected with itself.
int connect(verbs::VerbsLibrary& library, ibv_qp* one, ibv_qp* other,
            const ConnectOptions& options = {});

}  // namespace tessera::rma::test
