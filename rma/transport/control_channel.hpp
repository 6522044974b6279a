// SPDX-License-Identifier: BSD-3-Clause
//
// NodeControlChannel: what teams and notifications need from other nodes: write bytes into a
// mailbox in another node's memory, wake that node's ranks, and find out which of them have left or
// died. Each rank has one; a team uses that of the lowest member on each node.
//
// Other nodes name a piece of a node's memory by the number under which it was published (a
// RegionId from JobState::draw_region_id). A late message for memory that was freed meanwhile is
// therefore refused.
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

#include "rma/base/rank.hpp"
#include "rma/base/result.hpp"
#include "rma/engine/lock_outcome.hpp"
#include "rma/engine/remote_locks.hpp"
#include "rma/node/node_memory.hpp"
#include "rma/region.hpp"

namespace tessera::rma::detail {

/// The state of a rank of another node. `unknown`: its node does not answer at present, but has not
/// been silent long enough to be unreachable. Agents never answer `unknown`.
enum class PeerState : std::uint8_t { alive, left, died, unknown };

/// What is known about the connection to a node.
struct ConnectionLoss {
  bool is_lost = false;  ///< a connection existed and has ended
  int error = 0;         ///< system error: why it ended or could not be made; 0: not known
};

/// True if a connection failed because this process has no free descriptor or memory for it.
inline bool is_local_resource_error(const Status& error) {
  return error.code() == Code::limit_exceeded || error.code() == Code::no_memory;
}

/// Calls act() again for up to two seconds while it fails with a local resource error
/// (is_local_resource_error()), since other threads may release the resource. Returns the last
/// status.
template <class Act>
Status retry(const Act& act) {
  constexpr std::chrono::milliseconds pause{10};
  constexpr std::chrono::seconds timeout{2};
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  Status status = act();
  while (!status.ok() && is_local_resource_error(status) &&
         std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(pause);
    status = act();
  }
  return status;
}

/// A piece of a node's memory that other nodes may name.
struct PublishedMemory {
  std::uint64_t offset = 0;  ///< in the node's memory
  std::uint64_t bytes = 0;
  std::uint64_t lock_bytes = 0;  ///< size of each queue lock in it; 0: it holds mailboxes
};

class NodeControlChannel {
 public:
  virtual ~NodeControlChannel() = default;

  /// Local. Makes a piece of this node's memory known to other nodes under that number.
  /// Errors: no_memory, limit_exceeded.
  virtual Status publish(RegionId memory, const PublishedMemory& piece) = 0;
  /// Local. Ends publish(): after the return no other node's message touches the memory. Any rank
  /// of the node may call it, also after its job was stopped.
  virtual void withdraw(RegionId memory) noexcept = 0;

  /// Copies `bytes` to `offset` of the memory that `node` published as `memory`. Then stores `flag`
  /// in the 64-bit word at `flag_offset` there (release) and wakes the thread that sleeps on the
  /// word's low half.
  /// Complete: at return the source may be reused. What one thread delivers to a node takes effect
  /// there in order, and before the sending rank is reported as having left.
  /// Errors: closed (that memory is not published there), peer_lost, unreachable.
  virtual Status deliver(NodeId node, RegionId memory, std::uint64_t offset,
                         std::span<const std::byte> bytes, std::uint64_t flag_offset,
                         std::uint64_t flag) = 0;

  /// As Node::send_join, for a rank of another node. The join message names its sender.
  virtual Status send_join(WorldRank rank, const JoinMessage& message) = 0;

  /// Stores a 32-bit word in a rank's slice after all that this thread did to that rank before, and
  /// wakes the rank if it waits for the word. Complete: at return the store is on its way.
  /// Errors: peer_lost, unreachable, closed.
  virtual Status raise_flag(WorldRank rank, RegionId region, std::uint64_t offset,
                            std::int32_t value) = 0;
  /// False if flags are stored through the endpoint; then ring() wakes the ranks that wait for
  /// them.
  [[nodiscard]] virtual bool can_raise_flags() const noexcept { return true; }
  /// Wakes a rank that waits for a flag. Errors: peer_lost, unreachable.
  virtual Status ring(WorldRank /*rank*/) { return {}; }
  /// Coalescing for this thread, see rma::CoalescingScope. From the first hold() to the matching
  /// release(), requests that change memory and need no reply may wait for later ones. send_held()
  /// sends them.
  virtual void hold() noexcept {}
  virtual void release() noexcept {}
  virtual void send_held() noexcept {}
  /// Adds one notification of this rank at another rank, after all that this thread did to it
  /// before. Returns how many there have been. Errors: peer_lost (also if the rank has left),
  /// unreachable.
  virtual Result<std::uint64_t> notify(WorldRank rank) = 0;

  /// Waits for the queue lock at `offset` of the memory that `node` published as `memory`. Calls
  /// `report_wait` at intervals while it waits.
  /// Errors: closed (no such locks), out_of_range (no such lock), peer_lost, unreachable.
  virtual Result<LockOutcome> lock(NodeId node, RegionId memory, std::uint64_t offset,
                                   const std::function<void()>& report_wait) = 0;
  /// The same without waiting: the outcome may be "busy".
  virtual Result<LockOutcome> try_lock(NodeId node, RegionId memory, std::uint64_t offset) = 0;
  /// Releases the lock, after all that this thread did to that node before. Complete: at return the
  /// request is on its way. Requires: this rank holds it. Errors: as lock().
  virtual Status unlock(NodeId node, RegionId memory, std::uint64_t offset) = 0;

  /// False if the library may use these functions in the program's threads only.
  [[nodiscard]] virtual bool allows_background_threads() const noexcept { return true; }
  /// True if a team over several nodes gets its locks from make_locks() instead of the three
  /// functions above.
  [[nodiscard]] virtual bool has_network_locks() const noexcept { return false; }
  /// Collective on `team`. Makes `counts[m]` locks for each member m.
  virtual Result<std::unique_ptr<RemoteLocks>> make_locks(
      Team& /*team*/, const std::vector<std::int64_t>& /*counts*/) {
    return Status::error(Code::internal, "these nodes keep their locks in node memory");
  }

  /// The state of a rank of another node. `died` means that the process of the rank, or the one
  /// that ran its node's agent, has ended.
  /// Cost: without a connection, a descriptor and up to some seconds; the result is kept until the
  /// next attempt.
  /// Errors: peer_lost (the connection was lost, and the node does not answer now); unreachable and
  /// timed_out (the node was never reached, and has been silent for long). Local resource errors
  /// say nothing about the rank: see is_local_resource_error().
  virtual Result<PeerState> peer_state_of(WorldRank rank) = 0;
  /// True if that rank left or died, or if its node does not answer.
  [[nodiscard]] bool is_gone(WorldRank rank) {
    const auto state = peer_state_of(rank);
    return state.ok() ? *state == PeerState::left || *state == PeerState::died
                      : !is_local_resource_error(state.status());
  }
  /// Why operations on that node fail, if they do.
  [[nodiscard]] virtual ConnectionLoss contact(NodeId /*node*/) noexcept { return {}; }
  /// Records that other ranks found that this rank has died, or that their connection to it was
  /// lost. From then on an unknown state is reported as lost.
  virtual void record_loss(WorldRank /*rank*/, bool /*has_died*/) noexcept {}

  /// Makes the connection that deliver() and the other functions need. Errors: as theirs.
  virtual Status connect(NodeId node) = 0;

  /// Reads the 32-bit word at `offset` of the memory that `node` published as `memory`. Nothing if
  /// the node's agent is connected but has not answered for some seconds: its process may be
  /// stopped. Errors: as deliver().
  virtual Result<std::optional<std::uint32_t>> read_word(NodeId node, RegionId memory,
                                                         std::uint64_t offset) = 0;
};

}  // namespace tessera::rma::detail
