// SPDX-License-Identifier: BSD-3-Clause
//
// Drawing: tasks drawn from a shared counter, of one level or two, and a check that no task was
// drawn twice.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/rma/memories.hpp"
#include "bench/support/rank_group.hpp"
#include "rma/job.hpp"

namespace tessera::bench {

/// About 20 ns: a chain that the compiler must keep, since its result is used.
inline void work_on_task(std::int64_t task, std::uint64_t& state) {
  constexpr int steps = 16;  // one multiplication each
  for (int i = 0; i < steps; ++i) {
    state = state * 6364136223846793005U + static_cast<std::uint64_t>(task);
  }
}

/// One counter at rank 0.
template <class Memory>
class OneLevel {
 public:
  OneLevel(const rma::Job&, Memory& memory) : memory_(memory) {}
  std::int64_t draw(std::int64_t count) { return memory_.fetch_add(0, 0, count); }

 private:
  Memory& memory_;
};

/// A counter for each node, on the node's lowest rank, for pieces that the node has drawn from the
/// common counter. The rank that takes the first task of a piece draws the piece. It publishes the
/// piece in a slot, which the other ranks poll.
class TwoLevels {
 public:
  /// Collective. Begins without a piece: draws of another size may have left a part of one.
  TwoLevels(rma::Job& job, OwnMemory& memory)
      : memory_(memory), head_(job.node_ranks().front().value) {
    rma::require(job.barrier());
    if (job.rank().value == head_) {
      std::memset(memory.mine() + own_counter, 0, bytes - own_counter);
    }
    rma::require(job.barrier());
  }

  /// Requires: `count` is always the same, and divides a piece.
  std::int64_t draw(std::int64_t count) {
    const std::int64_t ticket = memory_.fetch_add(head_, own_counter, count);
    const std::int64_t number = ticket / piece;
    const std::int64_t place = ticket % piece;
    const std::size_t slot = slots_at + static_cast<std::size_t>(number % slots) * 2 * word;
    if (place == 0) {
      const std::array<std::int64_t, 2> refill = {memory_.fetch_add(0, 0, piece), number + 1};
      memory_.put(head_, slot, refill.data(), word);
      memory_.complete(head_);
      memory_.put(head_, slot + word, &refill[1], word);
      return refill[0];
    }
    std::int64_t told = 0;
    while (told != number + 1) {
      memory_.start_get(head_, slot + word, &told, word);
      memory_.wait(head_);
    }
    std::int64_t first = 0;
    memory_.start_get(head_, slot, &first, word);
    memory_.wait(head_);
    return first + place;
  }

  static constexpr std::int64_t piece = 1024;
  /// A slot is reused after this number of pieces: more than the ranks of a node can lag.
  static constexpr std::int64_t slots = 4096;
  static constexpr std::size_t own_counter = 64;
  static constexpr std::size_t slots_at = 128;
  static constexpr std::size_t word = sizeof(std::int64_t);
  static constexpr std::size_t bytes = slots_at + static_cast<std::size_t>(slots) * 2 * word;

 private:
  OwnMemory& memory_;
  int head_;
};

/// Draws from a counter by the first `ranks` ranks.
template <class Level>
class Drawing {
 public:
  Drawing(RankGroup& group, Level level, int ranks, std::int64_t chunk)
      : group_(group), level_(std::move(level)), acts_(group_.rank() < ranks), chunk_(chunk) {}

  void draw(std::int64_t repetitions) {
    for (std::int64_t i = 0; i < repetitions && acts_; ++i) {
      (void)level_.draw(chunk_);
    }
  }

  void draw_and_work(std::int64_t repetitions) {
    for (std::int64_t i = 0; i < repetitions && acts_; ++i) {
      const std::int64_t first = level_.draw(chunk_);
      for (std::int64_t task = first; task < first + chunk_; ++task) {
        work_on_task(task, state_);
      }
    }
  }

  /// Collective. Whether each task was drawn by one rank only.
  std::string verify() {
    std::array<std::int64_t, 16> mine = {};
    group_.barrier();
    for (std::int64_t& first : mine) {
      first = level_.draw(chunk_);
    }
    std::vector<std::int64_t> drawn;
    for (int rank = 0; rank < group_.size(); ++rank) {
      const auto theirs = group_.share(mine, rank);
      drawn.insert(drawn.end(), theirs.begin(), theirs.end());
    }
    std::sort(drawn.begin(), drawn.end());
    for (std::size_t i = 1; i < drawn.size(); ++i) {
      if (drawn[i] - drawn[i - 1] < chunk_) {
        return fmt::format("tasks from {} on were drawn, and from {} on, in chunks of {}",
                           drawn[i - 1], drawn[i], chunk_);
      }
    }
    return "";
  }

 private:
  RankGroup& group_;
  Level level_;
  bool acts_;
  std::int64_t chunk_;
  std::uint64_t state_ = 1;
};

}  // namespace tessera::bench
