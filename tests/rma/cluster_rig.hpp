// SPDX-License-Identifier: BSD-3-Clause
//
// An emulated cluster without a network: the memories of several nodes in one machine, and a
// NodeControlChannel that writes to them directly. Ranks are threads, or processes forked after the
// cluster was made.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "rma/bootstrap.hpp"
#include "rma/engine/job_state.hpp"
#include "rma/transport/control_channel.hpp"
#include "tests/rma/node_rig.hpp"

namespace tessera::rma::detail {

/// State that all processes of a cluster share, in shared memory.
struct SharedClusterState {
  struct Entry {
    std::atomic<std::uint32_t> memory{0};
    std::int32_t node = 0;
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
  };
  RobustLock lock;
  std::array<Entry, 256> entries{};
  std::atomic<int> deliveries{0};
  std::atomic<int> refused{0};  ///< deliveries that would exceed the memory that they name
  /// By rank: true while the rank works in another node's memory on behalf of a rank of that node.
  /// In a real cluster an agent does that in its own process. So a test kills a rank only when this
  /// is false.
  std::array<std::atomic<bool>, 64> is_on_other_node{};
};

class Cluster {
 public:
  /// `node_of_rank` has the node of each rank; nodes are numbered in the order of their first
  /// ranks.
  explicit Cluster(const std::vector<std::uint64_t>& node_of_rank)
      : map_(node_of_rank, 0),
        group_(static_cast<std::int32_t>(node_of_rank.size())),
        size_(static_cast<std::int32_t>(node_of_rank.size())) {
    for (std::int32_t node = 0; node < map_.count(); ++node) {
      memories_.push_back(rig_memory(static_cast<int>(ranks_of(node).size()), 128ULL << 20));
    }
    void* const shared = mmap(nullptr, sizeof(SharedClusterState), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    shared_state_ = new (shared) SharedClusterState;
  }
  ~Cluster() { munmap(shared_state_, sizeof(SharedClusterState)); }
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  [[nodiscard]] std::int32_t size() const { return size_; }
  [[nodiscard]] const NodeMap& map() const { return map_; }
  [[nodiscard]] std::vector<WorldRank> ranks_of(std::int32_t node) const {
    return map_.ranks_of(NodeId{node});
  }
  [[nodiscard]] NodeMemory& memory(std::int32_t node) const {
    return *memories_[static_cast<std::size_t>(node)];
  }
  [[nodiscard]] SharedClusterState& shared_state() const { return *shared_state_; }
  [[nodiscard]] int published() const {
    int count = 0;
    for (const auto& entry : shared_state_->entries) {
      count += entry.memory.load() != 0 ? 1 : 0;
    }
    return count;
  }

  [[nodiscard]] std::unique_ptr<Node> node_of(WorldRank rank, bool one_process) const {
    const NodeId node = map_.node_of(rank);
    std::vector<WorldRank> ranks = map_.ranks_of(node);
    const auto local_rank =
        static_cast<int>(std::lower_bound(ranks.begin(), ranks.end(), rank) - ranks.begin());
    return std::make_unique<Node>(memories_[static_cast<std::size_t>(node.value)], std::move(ranks),
                                  local_rank, one_process,
                                  WaitPolicy{.spin = std::chrono::nanoseconds(200),
                                             .liveness_interval = rig_liveness_interval});
  }

  /// Creates a rank's part of the job and of its world team.
  [[nodiscard]] std::shared_ptr<JobState> start(WorldRank rank, bool one_process,
                                                std::int64_t slot_bytes);

 private:
  NodeMap map_;
  ThreadGroup group_;
  std::int32_t size_;
  std::vector<std::shared_ptr<NodeMemory>> memories_;
  SharedClusterState* shared_state_ = nullptr;
};

/// Copies directly into the other node's memory, sometimes after a delay, so that no test relies on
/// timing.
class ClusterControlChannel final : public NodeControlChannel, private Liveness {
 public:
  ClusterControlChannel(const Cluster& cluster, WorldRank self, bool one_process)
      : cluster_(cluster),
        own_node_(cluster.map().node_of(self).value),
        one_process_(one_process),
        context_{.place = self.value, .liveness = this, .liveness_interval = rig_liveness_interval},
        random_(static_cast<unsigned>(self.value) + 1) {}

  // Teams use neither flags, notifications nor locks.
  Status raise_flag(WorldRank, RegionId, std::uint64_t, std::int32_t) override {
    return Status::error(Code::unsupported, "the test rig has no flags");
  }
  Result<std::uint64_t> notify(WorldRank) override {
    return Status::error(Code::unsupported, "the test rig has no notifications");
  }

  Result<LockOutcome> lock(NodeId, RegionId, std::uint64_t,
                           const std::function<void()>& /*look*/) override {
    return Status::error(Code::unsupported, "the test rig has no locks");
  }
  Result<LockOutcome> try_lock(NodeId, RegionId, std::uint64_t) override {
    return Status::error(Code::unsupported, "the test rig has no locks");
  }
  Status unlock(NodeId, RegionId, std::uint64_t) override {
    return Status::error(Code::unsupported, "the test rig has no locks");
  }

  Status publish(RegionId memory, const PublishedMemory& piece) override {
    const RobustGuard guard(cluster_.shared_state().lock, context_);
    for (auto& entry : cluster_.shared_state().entries) {
      if (entry.memory.load() == 0) {
        entry.node = own_node_;
        entry.offset = piece.offset;
        entry.bytes = piece.bytes;
        entry.memory.store(memory.value);
        return {};
      }
    }
    return Status::error(Code::limit_exceeded, "the rig's board is full");
  }
  void withdraw(RegionId memory) noexcept override {
    const RobustGuard guard(cluster_.shared_state().lock, context_);
    if (auto* entry = find(memory, own_node_)) {
      entry->memory.store(0);
    }
  }

  Status deliver(NodeId node, RegionId memory, std::uint64_t offset,
                 std::span<const std::byte> bytes, std::uint64_t flag_offset,
                 std::uint64_t flag) override {
    if (random_() % 8 == 0) {
      std::this_thread::sleep_for(std::chrono::microseconds(random_() % 200));
    }
    const RobustGuard guard(cluster_.shared_state().lock, context_);
    TESSERA_ASSIGN_OR_RETURN(std::byte* const start,
                             memory_at(node, memory, offset, bytes.size(), flag_offset));
    std::copy(bytes.begin(), bytes.end(), start + offset);
    auto& word = *reinterpret_cast<std::atomic<std::uint64_t>*>(start + flag_offset);
    word.store(flag, std::memory_order_release);
    futex_wake_all(reinterpret_cast<FutexWord&>(word));
    cluster_.shared_state().deliveries.fetch_add(1);
    return {};
  }
  Status send_join(WorldRank rank, const JoinMessage& join_message) override {
    const auto node = open_node(rank);
    std::atomic<bool>& is_on_other_node =
        cluster_.shared_state().is_on_other_node[static_cast<std::size_t>(context_.place)];
    is_on_other_node = true;
    Status status = node->send_join(node->local_rank_of(rank), join_message);
    is_on_other_node = false;
    return status;
  }
  Result<PeerState> peer_state_of(WorldRank rank) override { return state_of(rank); }
  Status connect(NodeId) override { return {}; }
  Result<std::optional<std::uint32_t>> read_word(NodeId node, RegionId memory,
                                                 std::uint64_t offset) override {
    const RobustGuard guard(cluster_.shared_state().lock, context_);
    TESSERA_ASSIGN_OR_RETURN(const std::byte* const start, memory_at(node, memory, offset, 4, 0));
    return std::optional(
        reinterpret_cast<const std::atomic<std::uint32_t>*>(start + offset)->load());
  }

 private:
  // The liveness of holders of the board's lock, where local ranks are world ranks.
  [[nodiscard]] bool has_ended(int local_rank) const override {
    return state_of(WorldRank{local_rank}) == PeerState::died;
  }
  [[nodiscard]] PeerState state_of(WorldRank rank) const {
    const auto node = open_node(rank);
    const int local_rank = node->local_rank_of(rank);
    if (node->has_left(local_rank)) {
      return PeerState::left;
    }
    const bool has_entered = node->memory().record(local_rank).presence.load() != 0;
    return has_entered && !one_process_ && !node->memory().has_liveness_lock(local_rank)
               ? PeerState::died
               : PeerState::alive;
  }
  [[nodiscard]] std::unique_ptr<Node> open_node(WorldRank rank) const {
    return cluster_.node_of(cluster_.ranks_of(cluster_.map().node_of(rank).value).front(),
                            one_process_);
  }
  [[nodiscard]] SharedClusterState::Entry* find(RegionId memory, std::int32_t node) const {
    for (auto& entry : cluster_.shared_state().entries) {
      if (entry.memory.load() == memory.value && entry.node == node) {
        return &entry;
      }
    }
    return nullptr;
  }
  Result<std::byte*> memory_at(NodeId node, RegionId memory, std::uint64_t offset,
                               std::uint64_t bytes, std::uint64_t flag_offset) const {
    const auto* const entry = find(memory, node.value);
    if (entry == nullptr) {
      return Status::error(Code::closed, "no such memory");
    }
    if (offset + bytes > entry->bytes || flag_offset + 8 > entry->bytes) {
      cluster_.shared_state().refused.fetch_add(1);
      return Status::error(Code::out_of_range, "beyond the memory");
    }
    return cluster_.memory(node.value).base() + entry->offset;
  }

  const Cluster& cluster_;
  std::int32_t own_node_;
  bool one_process_;
  LockContext context_;
  std::minstd_rand random_;
};

inline std::shared_ptr<JobState> Cluster::start(WorldRank rank, bool one_process,
                                                std::int64_t slot_bytes) {
  Settings settings;
  settings.collective_slot_bytes = slot_bytes;
  auto job = std::make_shared<JobState>(settings, group_.member(rank), map_);
  EXPECT_TRUE(job->enter_node(node_of(rank, one_process)).ok());
  job->transports().set_link(std::make_unique<ClusterControlChannel>(*this, rank, one_process));
  return job;
}

inline Result<Team> world_of(JobState& job) {
  std::vector<WorldRank> all_ranks;
  for (std::int32_t rank = 0; rank < job.size(); ++rank) {
    all_ranks.push_back(WorldRank{rank});
  }
  TESSERA_ASSIGN_OR_RETURN(auto state, TeamState::create(job, nullptr, std::move(all_ranks)));
  return Team(std::move(state));
}

/// Runs `body` as every rank, each in a thread, and returns when all have returned.
inline void on_cluster(Cluster& cluster, std::int64_t slot_bytes,
                       const std::function<void(JobState&, Team&)>& body) {
  std::vector<std::thread> threads;
  std::vector<std::shared_ptr<JobState>> jobs;
  for (std::int32_t rank = 0; rank < cluster.size(); ++rank) {
    jobs.push_back(cluster.start(WorldRank{rank}, true, slot_bytes));
  }
  for (std::int32_t rank = 0; rank < cluster.size(); ++rank) {
    threads.emplace_back([&, rank] {
      JobState& job = *jobs[static_cast<std::size_t>(rank)];
      {
        auto world = world_of(job);
        if (!world.ok()) {
          ADD_FAILURE() << "rank " << rank << ": " << world.status().describe();
        } else {
          body(job, *world);
        }
      }
      job.node().leave();
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(cluster.published(), 0);
  EXPECT_EQ(cluster.shared_state().refused.load(), 0);
}

}  // namespace tessera::rma::detail
