// SPDX-License-Identifier: BSD-3-Clause
//
// Link: a process's side of its conversation with the agent of another node. client.hpp has who
// reads the answers.
//
// Where agents share requests (clusters.hpp), the requests of a link go by the connection of
// another one, to the agent that passes them on: its way. Such a link has a connection of its own
// only while it needs one: for requests that are not passed on, and for direct answers. One that
// is not used for a while is closed. If the agent on the way is lost, what was under way there ends
// with peer_lost, and the link takes another way: by another agent of the cluster, at last none.
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
#include "rma/engine/fabric.hpp"
#include "rma/rank.hpp"
#include "rma/result.hpp"
#include "rma/server/changes.hpp"
#include "rma/server/gather.hpp"
#include "rma/server/packed_buffer.hpp"
#include "rma/server/packing_model.hpp"
#include "rma/server/parts.hpp"
#include "rma/server/stream.hpp"
#include "rma/server/wire.hpp"
#include "rma/shape.hpp"

namespace tessera::rma::server {

using detail::Channel;

class Client;

/// The operation id of deliveries to a team that may have been freed by then: nobody waits for
/// them, and that there is no such target is no error.
inline constexpr std::uint64_t unwatched_operation = ~std::uint64_t{0};

/// Where an answer's bytes go, when not behind each other.
struct Scattered {
  std::byte* base = nullptr;  ///< of `shape`, of which the local side counts
  CopyShape shape;
  std::vector<Fragment> fragments;  ///< or their local sides; none: `shape`
};

/// What an answer ends, and where its data go. One of the destinations, or none, is set.
struct Awaited {
  Completion* done = nullptr;    ///< ends with the answer
  std::int64_t* word = nullptr;  ///< receives a word, sign-extended from word_bytes
  int word_bytes = 8;
  std::byte* bytes = nullptr;  ///< receives `size` bytes
  std::size_t size = 0;
  std::unique_ptr<const Scattered> places;     ///< receive `size` bytes
  std::unique_ptr<GatheredGets> gets;          ///< likewise; they end in place of `done`
  std::shared_ptr<const void> held = nullptr;  ///< is needed until then
  std::uint64_t fenced = 0;                    ///< changes that are in effect then; 0: not a fence
  bool is_lock = false;                        ///< a `value` of 0 means that a lock is held

  void end(const Status& status) const;
};

/// The conversation with one node's agent.
class Link final : private FrameSink, public detail::Requests {
 public:
  /// `channel`: null for a link that connects when it needs to.
  Link(Client& client, NodeId node, std::unique_ptr<Channel> channel);
  ~Link() override;

  /// From now on requests go by the way that the client finds. Requires: nobody else knows this
  /// link yet. Errors: peer_lost.
  Status join_cluster();
  /// Other agents pass its requests on.
  [[nodiscard]] bool is_clustered() const noexcept { return is_clustered_; }
  /// It has a connection of its own.
  [[nodiscard]] bool is_connected() const noexcept { return is_connected_.load(); }
  /// Closes a connection that nobody needed for `longest`, if its requests have another way.
  void close_if_idle(std::chrono::steady_clock::duration longest);
  /// The process gives back a lock of that node.
  void note_unlocked() noexcept { --locks_held_; }
  /// `way` is lost: what goes by it ends with that.
  void note_lost_way(const Link& way, const Status& reason);

  using When = FrameWriter::When;
  /// When a small request should go that nobody waits for. It may wait for more where somebody
  /// looks at this link in any case, because answers are outstanding; and in a burst of requests,
  /// of which the communication thread sends the end unless this thread waits for something before.
  When when();

  /// Sends a request; `sent` ends when the memory of `body` may be reused. Waits while too much is
  /// kept already. Errors: peer_lost, no_memory; `sent` does not end then.
  Status post(const FrameHeader& header, std::span<const std::byte> descriptor,
              std::span<const iovec> body, Completion* sent, When when);
  /// The same with a packed body.
  Status post(const FrameHeader& header, std::span<const std::byte> descriptor,
              std::vector<std::byte> body, When when);
  /// The same with a body that may be reused at return: what there is no room for is copied.
  Status post_copy(const FrameHeader& header, std::span<const std::byte> body, When when);

  [[nodiscard]] const PackingLimits& limits() const noexcept;
  [[nodiscard]] const PartSizes& parts() const noexcept;
  /// Whether a contiguous operation of so many bytes at that offset may go together with others.
  [[nodiscard]] bool may_gather(std::uint64_t offset, std::size_t bytes) const noexcept;
  /// Lets it do so (gather.hpp); When::soon, and as post().
  Status gather(const FrameHeader& request, const Scale* scale, std::byte* local, std::size_t bytes,
                Completion* done);

  /// Sends what a thread has held back so far (holding.hpp), or leaves it to others if it is long.
  void send_held() noexcept;

  /// Sends a request that is answered: `awaited.done` ends once, unless this returns an error.
  Status ask(FrameHeader header, std::span<const std::byte> descriptor, Awaited awaited);

  /// Asks the agent to go on over `path`, and does so; waits until `deadline` at most. Requires:
  /// nobody else knows this link yet. Errors: those of the agent, which can't: the link stays as it
  /// was; those of this end, and what ends the conversation: the link is lost.
  Status move_to(std::unique_ptr<detail::Path> path,
                 std::chrono::steady_clock::time_point deadline);
  /// Where it has moved to; null: nowhere.
  [[nodiscard]] detail::Path* path() const noexcept { return path_; }

  /// Says that nothing more comes, behind what is still to be sent.
  void say_bye();

  // As detail::Requests says.
  Result<detail::RemoteSpan> locate(WorldRank rank, RegionId region, std::uint64_t offset,
                                    const std::function<void()>& meanwhile) override;
  Status ask_to_push(const detail::PushRequest& request, Completion& done,
                     std::shared_ptr<const void> held) override;
  [[nodiscard]] bool is_fenced(WorldRank rank, RegionId region) const noexcept override {
    return changes_.is_fenced(rank, region);
  }
  void wait(Completion& done) override;
  void wait_a_little() override;
  [[nodiscard]] Status loss() const override;
  [[nodiscard]] Status loss_of(const Status& reason) const override;

  /// Reads what has come and sends what there is room for, if no other thread does just now;
  /// returns how many answers came.
  int progress();
  /// Sends what there is room for, also where it has to wait until another thread is through with
  /// that: nobody tells a thread that sleeps that another one has sent what it waits for.
  void flush();
  /// Looks whether the agent's machine still answers. To be called every second or so.
  void check_host();
  /// Gives back memory that wasn't used since the last call.
  void release_memory();

  /// For poll(): the socket, and what to wait for; and what to do when something came.
  [[nodiscard]] int descriptor() const noexcept { return descriptor_.load(); }
  [[nodiscard]] bool waits_for_room() const noexcept {
    return has_unsent() && shows_room_.load(std::memory_order_relaxed);
  }
  void heed_descriptor();
  /// Something has come by the path: progress() finds it.
  void note_arrival() noexcept { has_arrived_.store(true); }
  [[nodiscard]] bool is_worth_a_look() const noexcept {
    return has_arrived_.load() || has_unsent();
  }
  /// As Channel::error, of a link that is lost.
  [[nodiscard]] int error() const noexcept { return channel_->error(); }
  /// Ends what awaits an answer, with `reason`: this link is of no use any more.
  void give_up(const Status& reason) { end_all(reason); }
  [[nodiscard]] bool is_lost() const noexcept { return lost_.load(std::memory_order_acquire); }
  [[nodiscard]] bool has_unsent() const noexcept { return unsent_.load(); }
  [[nodiscard]] bool is_awaiting() const noexcept { return awaiting_.load() > 0; }
  /// Somebody looks at this link in any case, so what comes now may wait for more.
  [[nodiscard]] bool has_company() const noexcept { return is_awaiting() || has_unsent(); }
  /// Much is coming or going: whoever looks after this link should do so at once.
  [[nodiscard]] bool is_streaming() const noexcept {
    return streams_.load(std::memory_order_relaxed) > 0 || held_up_.load(std::memory_order_relaxed);
  }

  /// What was sent, or gathered to be, and is to be fenced.
  [[nodiscard]] const Changes& changes() const noexcept { return changes_; }

 private:
  Status begin(const FrameHeader& header, std::span<const std::byte> descriptor,
               std::vector<iovec>& into) override;
  Status begin_answer(const FrameHeader& header, std::vector<iovec>& into);
  Status end(const FrameHeader& header) override;

  template <class Post>
  Status post_by_way(FrameHeader header, When when, Post&& post_frame, bool goes_behind = true);
  template <class Post>
  std::optional<Status> post_with(Link& owner, const FrameHeader& header, When when,
                                  Post&& post_frame);
  Result<Link*> way_of(const FrameHeader& header);
  Result<Link*> find_way();
  Status connect();
  Status connect_now();
  Status introduce();
  static std::unique_ptr<Channel> no_channel();
  void put_channel(std::unique_ptr<Channel> channel) noexcept;
  Status settle_before(Kind kind);
  [[nodiscard]] Link& table_of(const FrameHeader& answer) noexcept;
  Status ask_for(std::span<std::byte> answer, const FrameHeader& header,
                 std::span<const std::byte> descriptor, Completion& done);
  Status send_gathered(When when);
  Status send_gets(Gather::List& list, When when);
  Result<bool> advance();
  void ask_again(const GatheredGets& gets);
  Result<std::uint64_t> enter(Awaited& awaited, const Link& way);
  [[nodiscard]] bool is_lack(const Status& status) const noexcept;
  Status add_slot();
  Result<Awaited> take(std::uint64_t operation);
  Result<Awaited*> look_at(std::uint64_t operation, const Link& receiver);
  Result<Awaited*> find(std::uint64_t operation);
  void place_payload(const Awaited& awaited, std::size_t bytes, std::vector<iovec>& into);
  Status check_answer(const FrameHeader& header) const;
  void note_answer(const FrameHeader& header) noexcept;
  [[nodiscard]] Status failure_in(const FrameHeader& header,
                                  std::span<const std::byte> payload) const;
  Status deliver(const FrameHeader& header, Awaited& awaited);
  void wait_for_room();
  void wait_a_little(std::chrono::nanoseconds period);
  void note_unsent();
  Status send_kept();
  void note_way(std::uint64_t operation, const Link& way);
  void end_slot(std::size_t at, const Status& reason);
  void end_all(const Status& reason);
  void lose(const Status& reason);

  Client& client_;
  NodeId node_;
  std::atomic<bool> is_connected_;    // the channel is a connection
  std::unique_ptr<Channel> channel_;  // changes with `sending_` and `receiving_` locked
  std::atomic<int> descriptor_{-1};   // of it
  std::atomic<bool> shows_room_{true};
  // Of a link whose requests have another way.
  bool is_clustered_ = false;
  std::mutex opening_;                   // whoever connects, or finds a way
  std::atomic<Link*> way_{nullptr};      // null: none is known
  std::atomic<std::int32_t> turn_{0};    // which of the ways that there are
  std::atomic<std::uint64_t> route_{0};  // how often that has changed
  std::atomic<bool> is_way_bad_{false};  // it failed to pass something on
  std::atomic<int> locks_held_{0};
  std::atomic<std::int64_t> last_used_{0};  // nanoseconds of the steady clock: its own connection
  detail::Path* path_ = nullptr;            // the channel, if it is one
  std::mutex sending_;
  FrameWriter writer_;
  Gather gather_;  // goes before what is posted next
  Changes changes_;
  bool is_held_back_ = false;  // what is unsent, by a thread that sends it when it likes: no other
                               // was told of it
  // What the writer and the gather say, for those without the lock.
  std::atomic<bool> unsent_{false};
  std::atomic<bool> held_up_{false};
  std::atomic<bool> crowded_{false};
  std::atomic<std::int64_t> last_request_{0};  // nanoseconds of the steady clock
  std::atomic<int> burst_{0};                  // requests so far that came one upon the other
  std::mutex receiving_;
  FrameReader reader_;
  PackedBuffer packed_;         // payload that is unpacked
  Link* table_link_ = nullptr;  // whose the answer is that comes
  std::uint64_t arriving_ = 0;  // its operation, where another link awaits it; 0: none
  bool is_ignored_ = false;     // nobody waits for it any more
  std::vector<std::byte> failure_;
  Status lack_;  // of memory for the answer that comes
  bool is_in_place_ = false;
  int answers_ = 0;
  std::atomic<bool> has_arrived_{true};               // on the path, and nobody has looked
  std::vector<std::unique_ptr<GatheredGets>> again_;  // lists that failed as a whole

  mutable std::mutex table_;
  struct Slot {
    Awaited awaited;
    std::uint32_t generation = 0;
    bool is_used = false;
    const Link* way = nullptr;       // by which it was asked for
    const Link* receiver = nullptr;  // by which its bytes come just now
  };
  std::deque<Slot> slots_;
  std::vector<std::uint32_t> free_slots_;
  std::atomic<std::int64_t> awaiting_{0};
  std::atomic<std::int64_t> streams_{0};  // long answers among them
  std::atomic<bool> lost_{false};
  Status reason_;
};

}  // namespace tessera::rma::server
