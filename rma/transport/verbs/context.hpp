// SPDX-License-Identifier: BSD-3-Clause
//
// VerbsContext: the RDMA context: a completion queue, the connections that complete their requests
// in it, and their shared buffers.
//
// A thread that waits polls the queue, for all connections. If the queue is empty it sleeps on the
// descriptor of the completion channel, which arm() enables.
//
// Threads: all functions may be called from any thread.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "rma/transport/rdma.hpp"
#include "rma/transport/verbs/arena_registrations.hpp"
#include "rma/transport/verbs/buffer_pool.hpp"
#include "rma/transport/verbs/cost_model.hpp"
#include "rma/transport/verbs/device.hpp"
#include "rma/transport/verbs/handles.hpp"
#include "rma/transport/verbs/packing_losses.hpp"
#include "rma/transport/verbs/registration.hpp"
#include "rma/transport/verbs/shared_receive_queue.hpp"

namespace tessera::rma::verbs {

class VerbsConnection;

/// The smallest send queue: more requests than a batch has, and than there are between two signaled
/// ones.
inline constexpr std::uint32_t min_depth = 64;
/// Messages without credits that may arrive from a client: an uncredited one and a credit update.
inline constexpr std::uint32_t credit_messages = 3;

/// How a get of long rows is done.
enum class GetProtocol : std::uint8_t {
  by_cost,   ///< as the cost model chooses
  read,      ///< this end's device reads
  assisted,  ///< the agent writes, on request
};

struct VerbsContextOptions {
  std::uint32_t depth = 128;         ///< requests under way on each connection
  std::uint32_t window = 16;         ///< most credits of one peer
  std::uint32_t inline_bytes = 220;  ///< largest request that carries its own data
  std::size_t buffer_bytes = 8192;   ///< size of a message
  std::size_t min_row = 0;           ///< bytes; shorter rows are packed, as requests; 0: by cost
  GetProtocol get_protocol = GetProtocol::by_cost;
  bool words_by_device = true;  ///< up to 8 bytes go by the device, not as requests
  bool registers = true;        ///< ordinary memory; else it is copied through buffers
  std::size_t register_bytes = std::size_t{1} << 20;  ///< of it at a time, so that registered parts
                                                      ///< move while the next are registered; 0:
                                                      ///< all at once
  std::size_t send_buffers = 256;                     ///< for messages and small transfers
  std::size_t max_receive_buffers = 4096;
  std::uint32_t completions = 32 * 1024;  ///< entries of a completion queue
  bool reserves_for_clients = false;      ///< a window of buffers for each peer, for comparison
  std::uint64_t slab_bytes = 16U << 20U;  ///< of the arena, per registration
};

class VerbsContext;

/// Shared by the RDMA contexts of a process.
struct Adapter {
  /// The cost model of this device. The first call measures the device, which takes some
  /// milliseconds.
  [[nodiscard]] const CostModel& costs() const;
  /// Reads the device's events, for all contexts.
  void dispatch_events() const;

  std::shared_ptr<Device> device;
  VerbsContextOptions options;
  std::unique_ptr<Registrar> registrar;
  std::unique_ptr<ArenaRegistrations> arena;
  mutable PackingLosses packing_losses;
  mutable std::once_flag is_measured;
  mutable CostModel cost_model;
  mutable std::mutex contexts_mutex;
  mutable std::vector<VerbsContext*> contexts;
};

class VerbsContext final : public detail::RdmaContext {
 public:
  /// Errors: no_memory, limit_exceeded.
  static Result<std::unique_ptr<VerbsContext>> create(std::shared_ptr<const Adapter> adapter);
  ~VerbsContext() override;
  VerbsContext(const VerbsContext&) = delete;
  VerbsContext& operator=(const VerbsContext&) = delete;

  Result<std::unique_ptr<detail::RdmaConnection>> open_connection() override;
  int progress() override;
  [[nodiscard]] bool is_busy() const noexcept override { return under_way_.load() > 0; }
  std::vector<int> take_ready_descriptors() override;
  bool arm() override;
  [[nodiscard]] int descriptor() const noexcept override { return channel_->fd; }
  void maintain() override;
  Result<detail::RemoteSpan> expose(std::byte* from, std::uint64_t bytes) override;

  // For its connections.
  [[nodiscard]] const Adapter& adapter() const noexcept { return *adapter_; }
  [[nodiscard]] const std::shared_ptr<Device>& device() const noexcept { return adapter_->device; }
  [[nodiscard]] ibv_cq* completions() const noexcept { return completions_.get(); }
  [[nodiscard]] SharedReceiveQueue& receive_queue() const noexcept { return *receive_queue_; }
  [[nodiscard]] RegisteredBufferPool& buffers() const noexcept { return *buffers_; }
  /// A byte that others may read, and that no process writes.
  [[nodiscard]] detail::RemoteSpan flush_target() const noexcept {
    return {reinterpret_cast<std::uintptr_t>(flush_target_buffer_->at(0)), 1,
            flush_target_buffer_->remote_key()};
  }
  /// From now on completions of that queue pair go to `connection`, until remove_connection().
  void add_connection(std::uint32_t queue_pair, VerbsConnection& connection);
  /// Returns when no thread is inside the connection's take_completion().
  void remove_connection(std::uint32_t queue_pair);
  /// Records that something arrived for the owner of that descriptor.
  void record_arrival(int descriptor);
  /// Records that the connection of that queue pair has requests to post; post_unposted() follows
  /// soon.
  void record_unposted(std::uint32_t queue_pair);
  /// Takes entries of the completion queue for `count` requests. Returns false if other connections
  /// use them; the connection of that queue pair then tries again as soon as some are free.
  [[nodiscard]] bool take_entries(std::uint32_t count, std::uint32_t queue_pair);
  /// The same for a connection's last request: a few entries are reserved for these.
  void take_last_entry() noexcept { entries_used_.fetch_add(1); }
  void give_back_entries(std::uint64_t count);
  /// More than half are in use: each request should be signaled.
  [[nodiscard]] bool are_entries_scarce() const noexcept {
    return entries_used_.load(std::memory_order_relaxed) > entries_ / 2;
  }
  /// A buffer for a message. Returns −1 if none is free, and then notifies the owner of that
  /// descriptor as soon as one is.
  int take_buffer(int descriptor);
  void give_back_buffer(int buffer);
  /// Handles an event of the device.
  void handle_event(const DeviceEvent& event);
  /// Counts operations that a thread may wait for.
  void count_begun() noexcept { under_way_.fetch_add(1); }
  void count_ended(std::int64_t count) noexcept { under_way_.fetch_sub(count); }

 private:
  explicit VerbsContext(std::shared_ptr<const Adapter> adapter) noexcept
      : adapter_(std::move(adapter)) {}
  Status make();
  int read_completions();
  void dispatch(const ibv_wc& completion);
  void fail_all(const std::string& reason);
  void take_events();
  void post_unposted();

  std::shared_ptr<const Adapter> adapter_;
  std::unique_ptr<RegisteredBufferPool> buffers_;
  std::unique_ptr<RegisteredBufferPool> flush_target_buffer_;
  OwnedChannel channel_;
  OwnedCompletions completions_;
  std::unique_ptr<SharedReceiveQueue> receive_queue_;

  std::mutex reading_;  // protects polling of the completion queue
  bool is_armed_ = false;
  std::atomic<bool> has_failed_{false};
  std::mutex connections_mutex_;
  std::unordered_map<std::uint32_t, VerbsConnection*>
      connections_;  // by the number of the queue pair
  std::mutex arrivals_mutex_;
  std::vector<int> arrivals_;
  std::vector<bool> is_arrival_;  // by descriptor: whether it is in arrivals_
  std::atomic<bool> has_arrivals_{false};
  std::vector<int> without_buffer_;  // descriptors; under the same lock
  std::atomic<bool> is_short_of_buffers_{false};
  std::vector<std::uint32_t> unposted_;  // queue pairs; under the same lock
  std::atomic<bool> has_unposted_{false};
  std::vector<std::uint32_t> without_entries_;  // queue pairs; under the same lock
  std::atomic<bool> is_short_of_entries_{false};
  std::int64_t entries_ = 0;  // for requests; the others are for messages
  std::atomic<std::int64_t> entries_used_{0};
  std::atomic<std::int64_t> under_way_{0};
};

}  // namespace tessera::rma::verbs
