// SPDX-License-Identifier: BSD-3-Clause
//
// Memory with a slice on every rank. OwnMemory is Tessera's; PlainMemory uses plain loads and
// stores if slices are mapped; MpiMemory and ShmemMemory (bench/baselines/) are MPI's and
// OpenSHMEM's. They have the same functions, so that parts in which all ranks act are written once,
// as templates.
//
// Creation and destruction are collective. Their rank group is the session's: MPI needs targets
// that wait inside MPI.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/baselines/kernels.hpp"
#include "bench/baselines/mpi_memory.hpp"
#include "bench/baselines/shmem_memory.hpp"
#include "bench/session.hpp"
#include "bench/support/rank_group.hpp"
#include "rma/atomic.hpp"
#include "rma/job.hpp"
#include "rma/region.hpp"
#include "rma/transfer.hpp"

namespace tessera::bench {

class OwnMemory {
 public:
  static constexpr std::string_view name = "tessera";

  OwnMemory(rma::Job& job, std::size_t bytes_each);

  void put(int rank, std::size_t at, const void* from, std::size_t bytes) {
    rma::require(rma::put(job_, slice(rank) + at, from, bytes));
  }
  /// Starts a get; the data are here after wait().
  void start_get(int rank, std::size_t at, void* to, std::size_t bytes) {
    rma::get_async(job_, slice(rank) + at, to, bytes).detach();
  }
  /// Adds to one word.
  void add(int rank, std::size_t at, std::int64_t value) {
    rma::require(
        rma::accumulate(job_, slice(rank) + at, &value, sizeof value, rma::Scale::of(unit)));
  }
  /// Adds to one word for each value.
  void add(int rank, std::span<const std::size_t> at, std::span<const std::int64_t> values);
  void wait(int rank) { rma::require(job_.wait_rank(rma::WorldRank{rank})); }
  /// Returns when all that this rank put and added has arrived at the target.
  void complete(int rank) { rma::require(job_.fence(rma::WorldRank{rank})); }
  void complete_all() { rma::require(job_.fence_all()); }
  std::int64_t fetch_add(int rank, std::size_t at, std::int64_t increment) {
    return rma::fetch_add(job_, slice(rank) + at, increment).value();
  }

  [[nodiscard]] rma::Region& region() { return region_; }
  [[nodiscard]] std::byte* mine() const { return static_cast<std::byte*>(region_.local()); }

 private:
  static constexpr std::int64_t unit = 1;

  [[nodiscard]] const rma::RemoteAddress& slice(int rank) const {
    return slices_[static_cast<std::size_t>(rank)];
  }

  rma::Job& job_;
  rma::Region region_;
  std::vector<rma::RemoteAddress> slices_;
  std::vector<rma::Fragment> list_;
};

/// Loads and stores on the slices of an OwnMemory.
class PlainMemory {
 public:
  static constexpr std::string_view name = "plain loops";

  /// Collective. Null if some rank can't load and store all slices, or if --compare leaves memory
  /// out. `memory` must outlive it.
  static std::unique_ptr<PlainMemory> create(Session& session, OwnMemory& memory);

  void put(int rank, std::size_t at, const void* from, std::size_t bytes) {
    std::memcpy(slice(rank) + at, from, bytes);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  void start_get(int rank, std::size_t at, void* to, std::size_t bytes) {
    std::memcpy(to, slice(rank) + at, bytes);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  /// Not atomic: simultaneous additions of other ranks may be lost.
  void add(int rank, std::size_t at, std::int64_t value) { word(rank, at) += value; }
  void add(int rank, std::span<const std::size_t> at, std::span<const std::int64_t> values) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      word(rank, at[i]) += values[i];
    }
  }
  void wait(int) {}
  void complete(int) {}
  void complete_all() {}
  std::int64_t fetch_add(int rank, std::size_t at, std::int64_t increment) {
    return kernels::fetch_add(word(rank, at), increment);
  }

 private:
  explicit PlainMemory(std::vector<std::byte*> slices) : slices_(std::move(slices)) {}
  [[nodiscard]] std::byte* slice(int rank) const { return slices_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] std::int64_t& word(int rank, std::size_t at) const {
    return *reinterpret_cast<std::int64_t*>(slice(rank) + at);
  }

  std::vector<std::byte*> slices_;
};

/// All available memories, baselines first. They must outlive their candidates.
class Memories {
 public:
  Memories(Session& session, std::size_t bytes_each);

  [[nodiscard]] OwnMemory& own() { return own_; }

  /// A candidate for each memory, made by `make(memory)` and named after its memory; Tessera's is
  /// last.
  template <class Make>
  [[nodiscard]] std::vector<Candidate> candidates(Make make) {
    std::vector<Candidate> made;
    const auto add = [&](auto& memory) {
      made.push_back(make(memory));
      made.back().name = memory.name;
    };
    if (plain_) {
      add(*plain_);
    }
    if (mpi_) {
      add(*mpi_);
    }
    if (shmem_) {
      add(*shmem_);
    }
    add(own_);
    return made;
  }

 private:
  OwnMemory own_;
  std::unique_ptr<PlainMemory> plain_;
  std::unique_ptr<MpiMemory> mpi_;
  std::unique_ptr<ShmemMemory> shmem_;
};

/// Collective. Null if --compare doesn't name OpenSHMEM, or, with a remark, if it isn't available.
std::unique_ptr<ShmemMemory> make_shmem_memory(Session& session, std::size_t bytes_each);

// Checks that nothing is lost when several ranks change one target at the same time: sums, a count
// under a lock, tickets of a counter. All are collective, and return an error message
// or an empty string.

/// Doubles that ranks add to one target.
struct Sums {
  rma::Region& region;
  rma::TeamRank target;
  std::byte* from = nullptr;  ///< this rank's numbers; the check writes them
  std::size_t bytes = 0;      ///< per rank
  bool are_apart = false;     ///< true: rank r's begin at r × `bytes`; false: all begin at 0
  int adders = 0;             ///< the first `adders` ranks add; the others only watch
};

/// `add` adds this rank's numbers once; it is called on the ranks that add.
std::string verify_sums(RankGroup& group, rma::Job& job, const Sums& sums,
                        const std::function<void()>& add);

/// Whether at most one rank at a time is between `lock` and `unlock`. All ranks count in the word
/// at `word`, in steps that would lose counts of other ranks.
std::string verify_lock(RankGroup& group, rma::Job& job, const rma::RemoteAddress& word,
                        const std::function<void()>& lock, const std::function<void()>& unlock);

/// Whether `draw` returns each number exactly once.
std::string verify_draws(RankGroup& group, const std::function<std::int64_t()>& draw);

}  // namespace tessera::bench
