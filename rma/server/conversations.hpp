// SPDX-License-Identifier: BSD-3-Clause
//
// Conversations: those that one thread of an agent has, with peers and with strangers, which have
// yet to introduce themselves. Each ends by itself: what one sends, or doesn't, costs the others
// nothing. Strangers are bounded in number and time.
//
// Threads: announce() and load() may be called from any; the rest by one at a time.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "rma/engine/fabric.hpp"
#include "rma/result.hpp"
#include "rma/server/agent_shared.hpp"
#include "rma/server/conversation.hpp"
#include "rma/server/event_queue.hpp"
#include "rma/server/lock_keeper.hpp"

namespace tessera::rma::server {

class Conversations final : private Askers {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  /// Those of the thread of that number. `events` tells the thread of their descriptors; both
  /// arguments outlive it.
  Conversations(AgentShared& shared, const EventQueue& events, int number);

  /// Peers may go on over `fabric`, which outlives them.
  void offer(detail::Fabric& fabric) noexcept {
    fabric_ = &fabric;
    if (forwarder_) {
      forwarder_->offer(fabric);
    }
  }

  /// One will begin.
  void announce() noexcept { load_.fetch_add(1, std::memory_order_relaxed); }
  /// How many there are, and are announced.
  [[nodiscard]] int load() const noexcept { return load_.load(std::memory_order_relaxed); }
  /// Begins one that was announced, with whoever is at the other end of `channel`.
  void begin(std::unique_ptr<Channel> channel);

  /// Hears the peer that was heard last, the likeliest to say something: asking its socket is
  /// cheaper than asking for all of them. Returns whether anything came.
  bool hear_active();
  [[nodiscard]] bool has_active() const noexcept { return active_ >= 0; }
  /// The descriptor of one of them has an event: something is to be read, or there is room. True
  /// where it is a peer's; strangers don't keep the agent awake.
  bool heed(int fd);
  /// Something has come for the one of that descriptor.
  void serve(int fd);
  /// Whether, since it was asked before, the active one told what a rank of this node may wait for.
  bool take_awaited() noexcept { return std::exchange(is_awaited_, false); }
  /// Likewise, whether requests came for which a peer, or a rank in a collective, waits.
  bool take_pressed() noexcept { return std::exchange(was_pressed_, false); }

  /// Tells peers of the locks that they got since.
  void answer_locks();
  /// How long that may wait.
  [[nodiscard]] std::chrono::milliseconds next_look() const { return locks_.next_look(); }
  /// Ends those with strangers that don't introduce themselves and with machines that don't answer;
  /// each after a time of its own.
  void look_after(TimePoint now);
  /// How many have ended: each leaves a descriptor free.
  [[nodiscard]] std::uint64_t ended() const noexcept { return ended_; }
  /// How many of them were strangers'.
  [[nodiscard]] std::uint64_t thrown_out() const noexcept { return thrown_out_; }
  /// Tells all peers that the agent ends in good order.
  void say_bye();

 private:
  struct Served {
    std::unique_ptr<Conversation> conversation;
    std::uint32_t expected = 0;  // events that the queue tells of
    TimePoint since;
    bool is_counted = false;   // among introduced_
    bool is_excluded = false;  // from those whom the agent waits for: another agent's
  };
  void pass_back(int asker, const FrameHeader& answer, std::vector<std::byte> payload) override;
  void resume(int asker) override { resumed_.push_back(asker); }
  void settle();
  void serve_one(int fd);
  Result<bool> advance(Conversation& conversation);
  void expect(Conversation& conversation);
  void count(Served& served);
  void finish(int fd, const Status& why);
  template <class Describe>
  void drop(int fd, bool is_stranger, Describe&& describe);
  void remove(int fd);
  [[nodiscard]] std::size_t most_strangers(int newest) const noexcept;
  void drop_silent(TimePoint now);
  void drop_one_of_many(int newest);
  void drop_dead(TimePoint now);

  AgentShared& shared_;
  const EventQueue& events_;
  const int number_;
  detail::Fabric* fabric_ = nullptr;  // null: there is none
  LockKeeper locks_;
  BufferPool buffers_{FrameReader::buffer_bytes};  // outlives the conversations
  std::optional<Forwarder> forwarder_;             // where the agent is in a cluster
  Replies replies_;
  std::vector<int> resumed_;  // conversations that may go on
  std::unordered_map<int, Served> served_;
  std::size_t introduced_ = 0;  // of them
  std::uint64_t ended_ = 0;
  std::uint64_t thrown_out_ = 0;
  std::atomic<int> load_{0};
  int active_ = -1;  // the descriptor of the one that was heard last
  bool is_awaited_ = false;
  bool was_pressed_ = false;
  TimePoint dropped_;         // when silent ones were looked for last
  TimePoint checked_;         // likewise machines that don't answer
  std::uint32_t checks_ = 0;  // so far
};

}  // namespace tessera::rma::server
