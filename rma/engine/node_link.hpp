// SPDX-License-Identifier: BSD-3-Clause
//
// NodeLink: what teams and notifications need of other nodes: to put bytes into a mailbox in their
// memory, to wake their ranks, and to learn who is gone there. One for each rank; teams use that of
// the lowest member on each node.
//
// A node's memory is named from outside by a number that was published there (RegionId, drawn by
// JobState::draw_region_id), so that what comes late for memory that was given back is refused.
//
// Threads: all functions may be called from any thread of the rank.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "rma/engine/lock_outcome.hpp"
#include "rma/engine/remote_locks.hpp"
#include "rma/node/node_memory.hpp"
#include "rma/rank.hpp"
#include "rma/region.hpp"
#include "rma/result.hpp"

namespace tessera::rma::detail {

/// What became of a rank of another node. `unknown`: its node does not answer at present, and has
/// not been silent for so long that it counts as unreachable. Agents never answer that.
enum class Fate : std::uint8_t { here, left, died, unknown };

/// What is known of the connection to a node.
struct Contact {
  bool is_lost = false;  ///< there was one, and it has ended
  int error = 0;         ///< of the system: why it ended, or could not be made; 0: not known
};

/// Whether an error of a connection is that this process has no descriptor or memory for it.
inline bool is_own_lack(const Status& error) {
  return error.code() == Code::limit_exceeded || error.code() == Code::no_memory;
}

/// What act() returns; while that is an own lack, for a while, it is called again: others of this
/// process may give back what it lacks.
template <class Act>
Status insist(const Act& act) {
  constexpr std::chrono::milliseconds pause{10};
  constexpr std::chrono::seconds patience{2};
  const auto deadline = std::chrono::steady_clock::now() + patience;
  Status status = act();
  while (!status.ok() && is_own_lack(status) && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(pause);
    status = act();
  }
  return status;
}

/// Memory of a node that other nodes are told of.
struct PublishedMemory {
  std::uint64_t offset = 0;  ///< in the node's memory
  std::uint64_t bytes = 0;
  std::uint64_t lock_bytes = 0;  ///< queue locks of that size each; 0: mailboxes
};

class NodeLink {
 public:
  virtual ~NodeLink() = default;

  /// Local. Makes a piece of this node's memory known to other nodes by that number.
  /// Errors: no_memory, limit_exceeded.
  virtual Status publish(RegionId memory, const PublishedMemory& piece) = 0;
  /// Local. Ends that: when it returns, nothing from outside touches the memory any more. Any rank
  /// of the node may call it, after its job was stopped, too.
  virtual void withdraw(RegionId memory) noexcept = 0;

  /// Copies `bytes` to `offset` of the memory that `node` published as `memory`, then stores `flag`
  /// in the 64-bit word at `flag_offset` there (release) and wakes who sleeps on its low half.
  /// Complete: the source may be reused at return; what one thread delivers to a node takes effect
  /// there in order, and before its rank counts as having left.
  /// Errors: closed (no such memory there, or no longer), peer_lost, unreachable.
  virtual Status deliver(NodeId node, RegionId memory, std::uint64_t offset,
                         std::span<const std::byte> bytes, std::uint64_t flag_offset,
                         std::uint64_t flag) = 0;

  /// As Node::invite, for a rank of another node; the invitation names its sender.
  virtual Status invite(WorldRank rank, const Invitation& invitation) = 0;

  /// Stores a 32-bit word of a rank's slice behind all that this thread did to that rank before,
  /// and wakes the rank if it waits for it. Complete: at return the store is on its way.
  /// Errors: peer_lost, unreachable, closed.
  virtual Status raise_flag(WorldRank rank, RegionId region, std::uint64_t offset,
                            std::int32_t value) = 0;
  /// False if flags go by the endpoint, and ring() wakes the ranks that wait for them.
  [[nodiscard]] virtual bool raises_flags() const noexcept { return true; }
  /// Wakes a rank that listens. Errors: peer_lost, unreachable.
  virtual Status ring(WorldRank /*rank*/) { return {}; }
  /// As rma::Coalescing says, of this thread: from the first hold() to the last release() what
  /// changes memory and isn't answered may wait for what comes behind it; send_held() sends it.
  virtual void hold() noexcept {}
  virtual void release() noexcept {}
  virtual void send_held() noexcept {}
  /// Counts one more notification of this rank at another, behind all that this thread did to it
  /// before; returns how many they are. Errors: peer_lost (also of a rank that left), unreachable.
  virtual Result<std::uint64_t> notify(WorldRank rank) = 0;

  /// Waits for the queue lock at `offset` of the memory that `node` published as `memory`; calls
  /// `look` now and then.
  /// Errors: closed (no such locks), out_of_range (no such lock), peer_lost, unreachable.
  virtual Result<LockOutcome> lock(NodeId node, RegionId memory, std::uint64_t offset,
                                   const std::function<void()>& look) = 0;
  /// The same without waiting for it: it may be busy.
  virtual Result<LockOutcome> try_lock(NodeId node, RegionId memory, std::uint64_t offset) = 0;
  /// Gives it back, behind all that this thread did to that node before. Complete: at return the
  /// request is on its way. Requires: this rank holds it. Errors: as lock().
  virtual Status unlock(NodeId node, RegionId memory, std::uint64_t offset) = 0;

  /// Whether a team over several nodes gets its locks by make_locks(), and not by the three above.
  [[nodiscard]] virtual bool makes_locks() const noexcept { return false; }
  /// Collective on `team`: `counts` locks of each member.
  virtual Result<std::unique_ptr<RemoteLocks>> make_locks(
      Team& /*team*/, const std::vector<std::int64_t>& /*counts*/) {
    return Status::error(Code::internal, "these nodes keep their locks in node memory");
  }

  /// Costs a descriptor while it asks, which it does for some seconds at most where it has no
  /// connection; until the next attempt it knows what the last one found. `died` says that the
  /// process of the rank, or the one that served its node, has ended.
  /// Errors: peer_lost (the connection was lost, and its node does not answer now), unreachable and
  /// timed_out (its node was never reached, and has been silent for long), and what this process
  /// lacks, which says nothing of the rank: see is_own_lack().
  virtual Result<Fate> fate_of(WorldRank rank) = 0;
  /// True when that rank left or died, or nobody answers for it.
  [[nodiscard]] bool is_gone(WorldRank rank) {
    const auto fate = fate_of(rank);
    return fate.ok() ? *fate == Fate::left || *fate == Fate::died : !is_own_lack(fate.status());
  }
  /// Why operations on that node fail, where they do.
  [[nodiscard]] virtual Contact contact(NodeId /*node*/) noexcept { return {}; }
  /// Others found that this rank has died, or that their connection to it was lost: from now on a
  /// fate that is unknown counts as lost.
  virtual void note_loss(WorldRank /*rank*/, bool /*has_died*/) noexcept {}

  /// Makes the connection that deliver() and the others would make. Errors: as they have.
  virtual Status connect(NodeId node) = 0;

  /// The 32-bit word at `offset` of the memory that `node` published as `memory`; none if the
  /// node's agent, which there is a connection to, says nothing for some seconds: its process may
  /// be stopped. Errors: as deliver().
  virtual Result<std::optional<std::uint32_t>> read_word(NodeId node, RegionId memory,
                                                         std::uint64_t offset) = 0;
};

}  // namespace tessera::rma::detail
