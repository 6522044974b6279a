// SPDX-License-Identifier: BSD-3-Clause
//
// ClientConnection: a process's connection to the agent of another node. client.hpp says which
// thread reads the replies.
//
// If agents share requests (clusters.hpp), a link's requests travel over the connection of another
// link, to the agent that passes them on. That link is its route. Such a link opens a connection of
// its own only when it needs one: for requests that are not passed on, and for direct replies. The
// connection is closed after it was unused for a while. If the agent on the route is lost, the
// operations in flight there end with peer_lost. The link then takes another route: by another
// agent of the cluster, or finally direct.
//
// Threads: all functions may be called from any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "rma/completion.hpp"
#include "rma/engine/channel.hpp"
#include "rma/engine/rdma.hpp"
#include "rma/rank.hpp"
#include "rma/result.hpp"
#include "rma/server/client/change_tracker.hpp"
#include "rma/server/client/operation_batch.hpp"
#include "rma/server/client/packing_model.hpp"
#include "rma/server/connection/packed_buffer.hpp"
#include "rma/server/connection/stream.hpp"
#include "rma/server/wire/parts.hpp"
#include "rma/server/wire/wire.hpp"
#include "rma/shape.hpp"

namespace tessera::rma::server {

using detail::Channel;

class Client;

/// The operation id of deliveries to a team that may already have been freed. No thread waits for
/// them, and a missing target is not an error.
inline constexpr std::uint64_t unmonitored_operation = ~std::uint64_t{0};

/// Where the bytes of a reply go if they are not contiguous.
struct Scattered {
  std::byte* base = nullptr;  ///< start of `shape`, whose local side is used
  CopyShape shape;
  std::vector<Fragment> fragments;  ///< or their local sides; if empty, `shape`
};

/// A pending reply: what it completes, and where its data go. At most one of the destinations is
/// set.
struct Awaited {
  Completion* done = nullptr;    ///< ends with the reply
  std::int64_t* word = nullptr;  ///< receives a word, sign-extended from word_bytes
  int word_bytes = 8;
  std::byte* bytes = nullptr;  ///< receives `size` bytes
  std::size_t size = 0;
  std::unique_ptr<const Scattered> places;  ///< receives `size` bytes
  std::unique_ptr<BatchedGets> gets;  ///< receives `size` bytes; its gets end instead of `done`
  std::shared_ptr<const void> held = nullptr;  ///< stays alive until the reply has come
  std::uint64_t fenced = 0;                    ///< changes that are in effect then; 0: not a fence
  bool is_lock = false;                        ///< a `value` of 0 means that a lock is held

  void end(const Status& status) const;
};

/// A reply that may fill the socket's buffers before a sleeping thread polls it.
inline constexpr std::size_t min_stream_bytes = std::size_t{64} * 1024;

/// The connection to one node's agent.
class ClientConnection final : private FrameSink, public detail::Requests {
 public:
  /// `channel`: null for a link that connects when it needs to.
  ClientConnection(Client& client, NodeId node, std::unique_ptr<Channel> channel);
  ~ClientConnection() override;

  /// From now on requests use the route that the client finds. Requires: no other thread has this
  /// link yet. Errors: peer_lost.
  Status join_cluster();
  /// Whether other agents pass on its requests.
  [[nodiscard]] bool is_clustered() const noexcept { return is_clustered_; }
  /// Whether it has a connection of its own.
  [[nodiscard]] bool is_connected() const noexcept { return is_connected_.load(); }
  /// Closes its own connection if that was unused for `longest` and requests have another route.
  void close_if_idle(std::chrono::steady_clock::duration longest);
  /// This process has released a lock of that node.
  void note_unlocked() noexcept { --locks_held_; }
  /// The connection of `way` is lost: operations that use it end with `reason`.
  void note_lost_way(const ClientConnection& way, const Status& reason);

  using When = FrameWriter::When;
  /// When to send a small request that no thread waits for. It may wait for others in two cases:
  /// replies are outstanding, so that a thread polls this link anyway; or it is part of a burst of
  /// requests. The progress thread sends the end of a burst unless this thread waits for something
  /// first.
  When when();

  /// Sends a request; `sent` ends when the memory of `body` may be reused. Waits while too many
  /// bytes are kept already. Errors: peer_lost, no_memory; `sent` does not end then.
  Status post(const FrameHeader& header, std::span<const std::byte> descriptor,
              std::span<const iovec> body, Completion* sent, When when);
  /// The same with a packed body, which the link keeps.
  Status post(const FrameHeader& header, std::span<const std::byte> descriptor,
              std::vector<std::byte> body, When when);
  /// The same with a body that may be reused at return: the part that cannot be sent at once is
  /// copied.
  Status post_copy(const FrameHeader& header, std::span<const std::byte> body, When when);

  [[nodiscard]] const PackingLimits& limits() const noexcept;
  [[nodiscard]] const PartSizes& parts() const noexcept;
  /// Whether a contiguous operation of that offset and size may be sent together with others.
  [[nodiscard]] bool may_batch(std::uint64_t offset, std::size_t bytes) const noexcept;
  /// Adds the operation to the list of those that are sent together (gather.hpp). Acts as post()
  /// with When::soon.
  Status gather(const FrameHeader& request, const Scale* scale, std::byte* local, std::size_t bytes,
                Completion* done);

  /// Sends the requests that this thread has held back so far (coalesced_messages.hpp); if they are
  /// long, leaves that to other threads.
  void send_held() noexcept;

  /// Sends a request that gets a reply: its completion ends exactly once, unless this returns an
  /// error.
  Status ask(FrameHeader header, std::span<const std::byte> descriptor, Awaited awaited);

  /// Asks the agent to continue over `path` and switches to it; waits until `deadline` at most.
  /// Requires: no other thread has this link yet. Errors: if the agent refuses, its error, and the
  /// link stays as it was; if this end fails or the connection ends, that error, and the link is
  /// lost.
  Status move_to(std::unique_ptr<detail::RdmaConnection> path,
                 std::chrono::steady_clock::time_point deadline);
  /// The path that it has moved to; null if it has not moved.
  [[nodiscard]] detail::RdmaConnection* path() const noexcept { return path_; }

  /// Sends the frame `bye` after everything that is still unsent: no further requests follow.
  void say_bye();

  // As detail::Requests says.
  Result<detail::RemoteSpan> locate(WorldRank rank, RegionId region, std::uint64_t offset,
                                    const std::function<void()>& meanwhile) override;
  Status request_assisted_get(const detail::AssistedGetRequest& request, Completion& done,
                              std::shared_ptr<const void> held) override;
  [[nodiscard]] bool is_fenced(WorldRank rank, RegionId region) const noexcept override {
    return changes_.is_fenced(rank, region);
  }
  void wait(Completion& done) override;
  void wait_briefly() override;
  [[nodiscard]] Status loss() const override;
  [[nodiscard]] Status loss_of(const Status& reason) const override;

  /// Reads what has come and sends as much as fits, unless another thread is doing so.
  /// Returns the number of replies that came.
  int progress();
  /// Sends as much as the channel takes. If another thread is sending, waits for it, because a
  /// sleeping thread is not notified when another one sends what it waits for.
  void flush();
  /// Checks whether the agent's machine still responds. To be called about once a second.
  void check_host();
  /// Frees memory that was not used since the last call.
  void release_memory();

  /// For poll(): the socket, the events to wait for, and what to call when it is readable.
  [[nodiscard]] int descriptor() const noexcept { return descriptor_.load(); }
  [[nodiscard]] bool waits_for_room() const noexcept {
    return has_unsent() && shows_room_.load(std::memory_order_relaxed);
  }
  void on_readable();
  /// Something has come over the path: progress() finds it.
  void note_arrival() noexcept { has_arrived_.store(true); }
  [[nodiscard]] bool needs_progress() const noexcept { return has_arrived_.load() || has_unsent(); }
  /// As Channel::error, for a link that is lost.
  [[nodiscard]] int error() const noexcept { return channel_->error(); }
  /// Ends all pending replies with `reason`; the link is unusable afterwards.
  void give_up(const Status& reason) { end_all(reason); }
  [[nodiscard]] bool is_lost() const noexcept { return lost_.load(std::memory_order_acquire); }
  [[nodiscard]] bool has_unsent() const noexcept { return unsent_.load(); }
  [[nodiscard]] bool has_pending_replies() const noexcept { return pending_replies_.load() > 0; }
  /// A thread polls this link in any case, so a new small request may wait for others.
  [[nodiscard]] bool is_polled() const noexcept { return has_pending_replies() || has_unsent(); }
  /// Long transfers are under way, so they should be progressed at once.
  [[nodiscard]] bool is_streaming() const noexcept {
    return streams_.load(std::memory_order_relaxed) > 0 || held_up_.load(std::memory_order_relaxed);
  }

  /// The changes that were sent, or gathered for sending, and have to be fenced.
  [[nodiscard]] const Changes& changes() const noexcept { return changes_; }

 private:
  Status begin(const FrameHeader& header, std::span<const std::byte> descriptor,
               std::vector<iovec>& into) override;
  Status begin_answer(const FrameHeader& header, std::vector<iovec>& into);
  Status end(const FrameHeader& header) override;

  template <class Post>
  Status post_by_route(FrameHeader header, When when, Post&& post_frame, bool goes_behind = true);
  template <class Post>
  std::optional<Status> post_with(ClientConnection& owner, const FrameHeader& header, When when,
                                  Post&& post_frame);
  Result<ClientConnection*> route_for(const FrameHeader& header);
  Result<ClientConnection*> find_route();
  Status connect();
  Status connect_now();
  Status introduce();
  static std::unique_ptr<Channel> no_channel();
  void put_channel(std::unique_ptr<Channel> channel) noexcept;
  Status order_before(Kind kind);
  [[nodiscard]] ClientConnection& table_of(const FrameHeader& answer) noexcept;
  Status request_bytes(std::span<std::byte> answer, const FrameHeader& header,
                       std::span<const std::byte> descriptor, Completion& done);
  Status send_batched(When when);
  Status send_gets(Gather::List& list, When when);
  Result<bool> advance();
  void send_again(const BatchedGets& gets);
  Result<std::uint64_t> enter(Awaited& awaited, const ClientConnection& way);
  [[nodiscard]] bool is_lack(const Status& status) const noexcept;
  Status add_slot();
  Result<Awaited> take(std::uint64_t operation);
  Result<Awaited*> look_at(std::uint64_t operation, const ClientConnection& receiver);
  Result<Awaited*> find(std::uint64_t operation);
  void set_destinations(const Awaited& awaited, std::size_t bytes, std::vector<iovec>& into);
  Status check_answer(const FrameHeader& header) const;
  void note_answer(const FrameHeader& header) noexcept;
  [[nodiscard]] Status failure_in(const FrameHeader& header,
                                  std::span<const std::byte> payload) const;
  Status deliver(const FrameHeader& header, Awaited& awaited);
  void wait_for_room();
  void wait_briefly(std::chrono::nanoseconds period);
  void note_unsent();
  Status send_kept();
  void note_route(std::uint64_t operation, const ClientConnection& way);
  void end_pending(std::size_t at, const Status& reason);
  void end_all(const Status& reason);
  void lose(const Status& reason);

  Client& client_;
  NodeId node_;
  std::atomic<bool> is_connected_;    // the channel is a connection
  std::unique_ptr<Channel> channel_;  // changes only with `sending_` and `receiving_` locked
  std::atomic<int> descriptor_{-1};   // of channel_
  std::atomic<bool> shows_room_{true};
  // For a link whose requests have another route.
  bool is_clustered_ = false;
  std::mutex opening_;                                  // held while connecting or choosing a route
  std::atomic<ClientConnection*> route_link_{nullptr};  // null: not known
  std::atomic<std::int32_t> iteration_mutex_{0};  // index of the route among the possible ones
  std::atomic<std::uint64_t> route_{0};           // how often the route has changed
  std::atomic<bool> is_route_bad_{false};         // it failed to pass something on
  std::atomic<int> locks_held_{0};
  // Nanoseconds of the steady clock: last use of its own connection.
  std::atomic<std::int64_t> last_used_{0};
  detail::RdmaConnection* path_ = nullptr;  // the channel, if it is a path
  std::mutex sending_;
  FrameWriter writer_;
  Gather operation_batch_;  // is sent before the next post
  Changes changes_;
  bool is_held_ = false;  // the unsent bytes belong to a thread that sends them later itself;
                          // no other thread was notified
  // The state of the writer and the gather, for threads without the lock.
  std::atomic<bool> unsent_{false};
  std::atomic<bool> held_up_{false};
  std::atomic<bool> crowded_{false};
  std::atomic<std::int64_t> last_request_{0};  // nanoseconds of the steady clock
  std::atomic<int> burst_{0};                  // requests in succession so far
  std::mutex receiving_;
  FrameReader reader_;
  PackedBuffer packed_;                      // the payload that is being unpacked
  ClientConnection* reply_owner_ = nullptr;  // the link that the arriving reply belongs to
  // Operation of the arriving reply, if it belongs to another link; 0: none.
  std::uint64_t arriving_ = 0;
  bool is_ignored_ = false;  // no operation waits for it any longer
  std::vector<std::byte> failure_;
  Status allocation_error_;  // no memory for the arriving reply
  bool is_in_place_ = false;
  int answers_ = 0;
  std::atomic<bool> has_arrived_{true};                       // on the path, and not yet read
  std::vector<std::unique_ptr<BatchedGets>> failed_batches_;  // lists that failed as a whole

  mutable std::mutex table_;
  struct Slot {
    Awaited awaited;
    std::uint32_t generation = 0;
    bool is_used = false;
    const ClientConnection* way = nullptr;       // the route by which it was requested
    const ClientConnection* receiver = nullptr;  // the link that is receiving its bytes
  };
  std::deque<Slot> slots_;
  std::vector<std::uint32_t> free_slots_;
  std::atomic<std::int64_t> pending_replies_{0};
  std::atomic<std::int64_t> streams_{0};  // long answers among them
  std::atomic<bool> lost_{false};
  Status reason_;
};

}  // namespace tessera::rma::server
