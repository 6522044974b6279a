// SPDX-License-Identifier: BSD-3-Clause
//
// Client: a process's side of its conversations with the agents of other nodes: one link a node,
// made when it is first needed.
//
// Answers are read by whichever thread waits for one. While nobody waits and something is
// outstanding, the communication thread reads them; else it sleeps. It calls no MPI and takes no
// signals.
//
// Threads: all functions may be called from any thread.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "rma/completion.hpp"
#include "rma/rank.hpp"
#include "rma/result.hpp"
#include "rma/server/channel.hpp"
#include "rma/server/handshake.hpp"
#include "rma/server/stream.hpp"
#include "rma/server/tcp.hpp"
#include "rma/server/wire.hpp"
#include "rma/shape.hpp"

namespace tessera::rma::server {

class Client;

/// The operation of requests that nobody waits for and whose target may be gone by right: what is
/// delivered to a team that has been given up. That it is gone is no error.
inline constexpr std::uint64_t unwatched_operation = ~std::uint64_t{0};

/// What an answer ends, and where its data go. One of the destinations, or none, is set.
struct Awaited {
  Completion* done = nullptr;    ///< ends with the answer
  std::int64_t* word = nullptr;  ///< receives a word, sign-extended from word_bytes
  int word_bytes = 8;
  std::byte* bytes = nullptr;  ///< receives the runs of `shape`, or `size` bytes
  std::size_t size = 0;
  CopyShape shape;  ///< its local side, when is_shaped
  bool is_shaped = false;
  std::vector<Fragment> fragments;  ///< their local sides
  std::uint64_t fenced = 0;         ///< Link::changes that are in effect then; 0: not a fence
};

/// The conversation with one node's agent.
class Link final : private FrameSink {
 public:
  Link(Client& client, NodeId node, std::unique_ptr<Channel> channel);
  ~Link() override;

  using When = FrameWriter::When;
  /// When a small request should go that nobody waits for. It may wait for more where somebody
  /// looks at this link in any case, because answers are outstanding; and in a burst of requests,
  /// of which the communication thread sends the end unless this thread waits for something before.
  When when();

  /// Sends a request; `sent` ends when the memory of `body` may be reused. Waits while too much is
  /// kept already. Errors: peer_lost; `sent` does not end then.
  Status post(const FrameHeader& header, std::span<const std::byte> descriptor,
              std::span<const iovec> body, Completion* sent, When when);
  /// The same with a packed body.
  Status post(const FrameHeader& header, std::span<const std::byte> descriptor,
              std::vector<std::byte> body, When when);

  /// Sends a request that is answered: `awaited.done` ends once, unless this returns an error.
  Status ask(FrameHeader header, std::span<const std::byte> descriptor, Awaited awaited);

  /// Says that nothing more comes, behind what is still to be sent.
  void say_bye();

  /// Returns when `done` has nothing under way.
  void wait(Completion& done);

  /// Reads what has come and sends what there is room for, if no other thread does just now;
  /// returns how many answers came.
  int progress();
  /// Looks whether the agent's machine still answers.
  void check_host();

  [[nodiscard]] int descriptor() const noexcept { return channel_->descriptor(); }
  [[nodiscard]] bool is_lost() const noexcept { return lost_.load(std::memory_order_acquire); }
  [[nodiscard]] bool has_unsent() const noexcept { return unsent_.load(std::memory_order_relaxed); }
  [[nodiscard]] bool is_awaiting() const noexcept { return awaiting_.load() > 0; }
  /// Much is coming or going: whoever looks after this link should do so at once.
  [[nodiscard]] bool is_streaming() const noexcept {
    return streams_.load(std::memory_order_relaxed) > 0 || held_up_.load(std::memory_order_relaxed);
  }

  /// Requests that changed something and were not yet covered by a fence.
  std::atomic<std::uint64_t> changes{0};
  std::atomic<std::uint64_t> fenced_changes{0};

 private:
  Status begin(const FrameHeader& header, std::span<const std::byte> descriptor,
               std::vector<iovec>& into) override;
  Status end(const FrameHeader& header) override;

  template <class Post>
  Status post_with(Post&& post_frame);
  std::uint64_t enter(Awaited awaited);
  Result<Awaited> take(std::uint64_t operation);
  void note_fenced(std::uint64_t count) noexcept;
  Result<Awaited*> look_at(std::uint64_t operation);
  void place_payload(Awaited& awaited, std::size_t bytes, std::vector<iovec>& into);
  Status check_answer(const FrameHeader& header) const;
  Status deliver(const FrameHeader& header, Awaited& awaited);
  void wait_for_room();
  void note_unsent();
  void lose(const Status& reason);
  [[nodiscard]] Status loss() const;

  Client& client_;
  NodeId node_;
  std::unique_ptr<Channel> channel_;
  std::mutex sending_;
  FrameWriter writer_;
  std::atomic<bool> unsent_{false};
  std::atomic<bool> held_up_{false};
  std::atomic<std::int64_t> last_request_{0};  // nanoseconds of the steady clock
  std::atomic<int> burst_{0};                  // requests so far that came one upon the other
  std::mutex receiving_;
  FrameReader reader_;
  std::vector<std::byte> packed_;  ///< payload that is unpacked, or a failure's
  bool is_in_place_ = false;
  int answers_ = 0;

  mutable std::mutex table_;
  struct Slot {
    Awaited awaited;
    std::uint32_t generation = 0;
    bool is_used = false;
  };
  std::deque<Slot> slots_;
  std::vector<std::uint32_t> free_slots_;
  std::atomic<std::int64_t> awaiting_{0};
  std::atomic<std::int64_t> streams_{0};  // long answers among them
  std::atomic<bool> lost_{false};
  Status reason_;
};

struct ClientOptions {
  WorldRank rank;
  std::uint64_t job = 0;
  Secret secret;
  std::vector<TcpAddress> agents;   ///< by node
  std::vector<WorldRank> carriers;  ///< by node: the rank in whose process the agent is; or empty
  /// True when that node has left the job in good order.
  std::function<bool(NodeId)> has_left = [](NodeId) { return false; };
  std::chrono::milliseconds connect_timeout{10'000};
  std::chrono::nanoseconds spin{0};         ///< that a waiting thread stays awake
  std::function<void(Status)> stray_error;  ///< of requests that are not answered when they succeed
};

class Client {
 public:
  explicit Client(ClientOptions options);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  /// The link to `node`; connects when there is none, while others go on with other nodes.
  /// Errors: unreachable, timed_out, protocol, limit_exceeded; and for ever after peer_lost for a
  /// node whose agent is gone, closed for one that has left.
  Result<Link*> link_to(NodeId node);
  /// The same for who doesn't want to wait as long for an answer as connect_timeout.
  Result<Link*> link_to(NodeId node, std::chrono::milliseconds timeout);
  /// What to say of a node with which `reason` happened: names it, and the rank that carries it.
  [[nodiscard]] Status loss_of(NodeId node, const Status& reason) const;

  int progress();
  /// Sleeps until something came, or for `period` at most. Returns done.done().
  bool wait(Completion& done, std::chrono::nanoseconds period);
  /// Sees to it that what is outstanding goes on without anybody waiting.
  void stir();

  /// Ends all conversations in good order.
  void close() noexcept;

  [[nodiscard]] const ClientOptions& options() const noexcept { return options_; }

 private:
  // One for each node.
  struct Peer {
    std::atomic<Link*> ready{nullptr};
    std::mutex connecting;
    std::unique_ptr<Link> link;
    Status gone;  // an error: nobody will ever answer
  };
  Status connect(NodeId node, Peer& peer, std::chrono::milliseconds timeout);
  Result<std::unique_ptr<Channel>> introduce(NodeId node, std::chrono::milliseconds timeout) const;
  Status shake_hands(Channel& channel, NodeId node,
                     std::chrono::steady_clock::time_point deadline) const;
  [[nodiscard]] std::span<Link* const> links() const noexcept {
    return std::span(active_).first(active_count_.load(std::memory_order_acquire));
  }
  [[nodiscard]] bool is_busy() const;
  [[nodiscard]] bool is_waited_for() const;
  [[nodiscard]] bool is_streaming() const;
  void sleep_on_sockets(std::chrono::nanoseconds period);
  void check_hosts();
  void communicate() noexcept;

  ClientOptions options_;
  std::vector<Peer> by_node_;
  mutable std::mutex links_mutex_;
  std::vector<Link*> active_;  ///< in the order of connecting; as many as active_count_ says
  std::atomic<std::size_t> active_count_{0};
  std::atomic<int> waiting_{0};
  std::atomic<std::int64_t> last_waited_{0};                    // nanoseconds of the steady clock
  std::atomic<std::chrono::steady_clock::duration> checked_{};  ///< when check_hosts() looked last

  std::mutex sleep_mutex_;
  std::condition_variable work_;
  bool is_stirred_ = false;
  std::atomic<bool> is_asleep_{false};
  std::atomic<bool> is_ending_{false};
  std::thread thread_;
};

}  // namespace tessera::rma::server
