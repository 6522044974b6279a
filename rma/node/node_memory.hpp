// SPDX-License-Identifier: BSD-3-Clause
//
// NodeMemory: the memory that the ranks of one node share, and its layout.
//
// One memfd per node, which each process maps once. Its address space is as large as the arena may
// ever grow; its memory is only what was committed so far (docs/decisions/0002). It has no name in
// any file system, so nothing remains after the job, however it ends.
//
//     0            header: locks
//     records      of the ranks: presence, doorbell, inbox
//     notices      one counter for each pair of ranks (rma/notify.hpp)
//     bitmaps      one bit per granule of 64 KiB: allocated? memory kept?
//     arena        memory of regions, teams and locks (node/arena.hpp)
//
// Everything in it is addressed by offset, since processes map it at different addresses.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "rma/base/fd_passing.hpp"
#include "rma/base/rank.hpp"
#include "rma/base/result.hpp"
#include "rma/node/robust_lock.hpp"

namespace tessera::rma::detail {

inline constexpr std::size_t cache_line = 64;
inline constexpr std::uint64_t granule_bytes = 64 * 1024ULL;

/// The state of a rank. Only moves forward.
enum class Presence : std::uint32_t { absent, present, left };

/// The join message: the first rank of a new team sends it to the other members; it names the
/// team's memory.
struct JoinMessage {
  std::uint64_t key = 0;     ///< hash of the team's list of ranks
  std::uint64_t offset = 0;  ///< of the team's memory in the node's memory; unused between nodes
  std::int32_t sender = -1;  ///< its world rank; set by Node::send_join
  std::uint32_t memory = 0;  ///< between nodes: number of the team's memory; 0: none
};

/// The shared state of one rank of the node.
struct alignas(cache_line) RankRecord {
  std::atomic<std::uint32_t> presence{0};
  FutexWord doorbell{0};                    ///< rung when something arrived for this rank
  std::atomic<std::uint32_t> listeners{0};  ///< threads that sleep on the doorbell
  RobustLock inbox_lock;                    ///< protects the inbox
  std::uint32_t inbox_count = 0;
  std::array<JoinMessage, 64> inbox{};
  RobustLock attached_lock;  ///< held while words of memory that this rank attached are copied
};

/// One lock of the table that makes accumulates atomic; on a cache line of its own.
struct alignas(cache_line) StripeLock {
  RobustLock lock;
};
inline constexpr std::size_t stripe_count = 1024;

/// The header of the table that node/directory.hpp describes.
struct DirectoryHeader {
  /// The table's lock, in parts: a reader locks its own, a writer all of them, in order.
  struct alignas(cache_line) Shard {
    RobustLock lock;
  };
  static constexpr int shard_count = 8;
  std::array<Shard, shard_count> shards;
  std::uint64_t offset = 0;  ///< of the table in the arena; 0: none yet
  std::uint64_t used = 0;    ///< entries that are not empty
};

/// Wakes the node's agent, the thread that serves other nodes and sleeps in the kernel.
struct alignas(cache_line) AgentWakeup {
  std::atomic<std::uint32_t> rings{0};
  std::atomic<std::uint32_t> sleepers{0};  ///< threads of the agent that must be woken
};

/// The agent's record of a remote rank's peer state. Only moves forward.
enum class RemoteRankState : std::uint8_t { unknown, left, lost };

struct NodeHeader {
  std::uint64_t magic = 0;
  std::uint32_t layout_version = 0;
  std::uint32_t ranks = 0;
  std::uint64_t total_bytes = 0;                ///< of the mapping
  std::uint64_t records_offset = 0;             ///< of RankRecord[ranks]
  std::uint64_t notices_offset = 0;             ///< of counters [receiver][sender]
  std::uint64_t remote_notices_offset = 0;      ///< of counters [receiver][world rank]; 0: none
  std::uint64_t remote_rank_states_offset = 0;  ///< of RemoteRankState[world rank]; 0: none
  std::uint64_t world_ranks = 0;                ///< of the job, if these two tables exist
  std::uint64_t bitmap_offset = 0;  ///< of std::uint64_t[], one bit per granule from offset
                                    ///< 0
  std::uint64_t kept_offset = 0;    ///< the same: is the memory never given back?
  std::uint64_t arena_offset = 0;   ///< first byte that can be allocated; start of a granule
  alignas(cache_line) RobustLock bitmap_lock;
  std::uint64_t search_hint = 0;              ///< there is no free granule before it
  RobustLock shared_ref_count_lock;           ///< for SharedRefCount
  std::atomic<std::uint32_t> last_region{0};  ///< the number of the newest region
  AgentWakeup agent_bell;
  alignas(cache_line) DirectoryHeader directory;
  std::array<StripeLock, stripe_count> stripes;
};

class NodeMemory {
 public:
  /// Creates the memory of a node of `ranks` ranks with up to `reserve_bytes` of address space, or
  /// half of what the process may still use if that is less. Errors: no_memory, limit_exceeded.
  static Result<std::unique_ptr<NodeMemory>> create(int ranks, std::uint64_t reserve_bytes);

  /// Maps memory that another process created and whose descriptors() arrived over a socket.
  /// Errors: protocol if it is of another version, no_memory.
  static Result<std::unique_ptr<NodeMemory>> adopt(Descriptor memory, Descriptor bell);

  ~NodeMemory();
  NodeMemory(const NodeMemory&) = delete;
  NodeMemory& operator=(const NodeMemory&) = delete;

  [[nodiscard]] int file() const noexcept { return memory_.get(); }
  /// The descriptors that another process needs to adopt this memory.
  static constexpr std::size_t descriptor_count = 2;
  [[nodiscard]] std::array<int, descriptor_count> descriptors() const noexcept {
    return {memory_.get(), bell_.get()};
  }
  [[nodiscard]] std::byte* base() const noexcept { return base_; }
  [[nodiscard]] std::uint64_t size() const noexcept { return header().total_bytes; }
  /// What a user may do to get more than size(), for a hint.
  [[nodiscard]] std::string hint_to_enlarge() const;
  [[nodiscard]] NodeHeader& header() const noexcept {
    return *reinterpret_cast<NodeHeader*>(base_);
  }
  [[nodiscard]] RankRecord& record(int local_rank) const noexcept {
    return reinterpret_cast<RankRecord*>(base_ + header().records_offset)[local_rank];
  }

  /// Number of notifications from the rank `sender` to the rank `receiver`.
  [[nodiscard]] std::atomic<std::uint64_t>& notices(int receiver, int sender) const noexcept {
    const auto ranks = static_cast<std::size_t>(header().ranks);
    return reinterpret_cast<std::atomic<std::uint64_t>*>(
        base_ + header().notices_offset)[static_cast<std::size_t>(receiver) * ranks +
                                         static_cast<std::size_t>(sender)];
  }

  /// The same for a sender on another node. Requires: remote_notices_offset is set.
  [[nodiscard]] std::atomic<std::uint64_t>& remote_notices(int receiver,
                                                           WorldRank sender) const noexcept {
    return reinterpret_cast<std::atomic<std::uint64_t>*>(
        base_ + header().remote_notices_offset)[static_cast<std::uint64_t>(receiver) *
                                                    header().world_ranks +
                                                static_cast<std::uint64_t>(sender.value)];
  }

  /// The peer state of a rank of another node. Requires: remote_rank_states_offset is set.
  [[nodiscard]] std::atomic<RemoteRankState>& remote_rank_state(WorldRank rank) const noexcept {
    return reinterpret_cast<std::atomic<RemoteRankState>*>(
        base_ + header().remote_rank_states_offset)[static_cast<std::size_t>(rank.value)];
  }

  /// Makes the agent check for changes made before the call; wakes it if it sleeps.
  void wake_agent() const noexcept;
  /// An eventfd that becomes readable when a sleeping agent is woken. It is never read: watch it
  /// edge-triggered.
  [[nodiscard]] int agent_bell() const noexcept { return bell_.get(); }

  /// Marks the calling process as that of the rank `local_rank`. The kernel removes the mark when
  /// the process ends, however it ends. Errors: internal.
  Status hold_liveness_lock(int local_rank) const;
  /// True if a process still has the mark of `local_rank`.
  [[nodiscard]] bool has_liveness_lock(int local_rank) const;

 private:
  NodeMemory(Descriptor memory, Descriptor bell, std::byte* base, std::uint64_t mapped) noexcept
      : memory_(std::move(memory)), bell_(std::move(bell)), base_(base), mapped_(mapped) {}
  void lay_out(int ranks, std::uint64_t bytes) const;

  Descriptor memory_;
  Descriptor bell_;
  std::byte* base_;
  std::uint64_t mapped_;
};

}  // namespace tessera::rma::detail
