// SPDX-License-Identifier: BSD-3-Clause
//
// HPC Challenge's RandomAccess (GUPS): RandomStream has its random numbers, GupsTable the layout of
// its table, and Updates the updates of one rank, with their check.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "bench/support/measure.hpp"

namespace tessera::bench {

/// A stream of random numbers that can start at any position: a shift register over GF(2) with the
/// polynomial x⁶³ + x² + x + 1, of period 1317624576693539401.
class RandomStream {
 public:
  /// The first next() gives number `position` of the stream. Requires: 0 ≤ position < the period.
  explicit RandomStream(std::int64_t position) {
    // A step multiplies by x, so number n is xⁿ. The bits of n say when to square and when to step.
    const auto bits = static_cast<std::uint64_t>(position);
    for (int bit = 63 - std::countl_zero(bits); bit >= 0; --bit) {
      state_ = squared(state_);
      if ((bits >> static_cast<unsigned>(bit) & 1U) != 0) {
        state_ = stepped(state_);
      }
    }
  }

  std::uint64_t next() {
    const std::uint64_t value = state_;
    state_ = stepped(state_);
    return value;
  }

 private:
  static std::uint64_t stepped(std::uint64_t state) {
    constexpr std::uint64_t polynomial = 7;
    return (state << 1U) ^ ((state >> 63U) != 0 ? polynomial : 0);
  }

  /// Squaring is linear: the sum of the squares x²ʲ of the powers xʲ in the state.
  static std::uint64_t squared(std::uint64_t state) {
    std::uint64_t sum = 0;
    std::uint64_t square = 1;
    for (; state != 0; state >>= 1U) {
      sum ^= (state & 1U) != 0 ? square : 0;
      square = stepped(stepped(square));
    }
    return sum;
  }

  std::uint64_t state_ = 1;
};

/// HPC Challenge's limit: a rank may collect this many updates before it makes them.
inline constexpr std::int64_t look_ahead = 1024;

/// A table of 64-bit words that is distributed over all ranks.
struct GupsTable {
  std::int64_t words = 1;       ///< of all ranks, a power of two
  std::int64_t words_each = 1;  ///< the last ranks may have fewer

  /// The largest table with at most `bytes_each` on each rank.
  static GupsTable create(std::int64_t bytes_each, std::int64_t ranks) {
    GupsTable table;
    const auto max_words = static_cast<std::uint64_t>(bytes_each) / sizeof(std::int64_t) *
                           static_cast<std::uint64_t>(ranks);
    table.words = static_cast<std::int64_t>(std::bit_floor(max_words));
    table.words_each = (table.words + ranks - 1) / ranks;
    return table;
  }

  /// The number of the word that a random number updates.
  [[nodiscard]] std::int64_t index_of(std::uint64_t random) const {
    return static_cast<std::int64_t>(random & static_cast<std::uint64_t>(words - 1));
  }
  [[nodiscard]] int owner(std::int64_t index) const { return static_cast<int>(index / words_each); }
  /// In the owner's memory, in bytes.
  [[nodiscard]] std::size_t offset_of(std::int64_t index) const {
    return static_cast<std::size_t>(index % words_each) * sizeof(std::int64_t);
  }
  [[nodiscard]] std::int64_t words_of(int rank) const {
    return std::clamp(words - rank * words_each, std::int64_t{0}, words_each);
  }
};

/// How the updates of a batch are made.
enum class Calls {
  each,    ///< one call each
  listed,  ///< sorted by owner, one list for each
};

/// This rank's updates of a table. `Memory` has the operations of one library: put, start_get, add
/// and their completion.
template <class Memory>
class Updates {
 public:
  Updates(Memory& memory, const GupsTable& table, Calls calls, int rank, int ranks)
      : memory_(memory),
        table_(table),
        calls_(calls),
        rank_(rank),
        ranks_(ranks),
        stream_(start()),
        offsets_(static_cast<std::size_t>(ranks)),
        values_(static_cast<std::size_t>(ranks)) {}

  void run(std::int64_t batches, std::int64_t sign = 1) {
    for (std::int64_t i = 0; i < batches; ++i) {
      if (calls_ == Calls::each) {
        one_by_one(sign);
      } else {
        by_lists(sign);
      }
      memory_.complete_all();
    }
  }

  /// Restarts at this rank's first random number.
  void restart() { stream_ = RandomStream(start()); }

  /// Sets word i to i.
  void fill() {
    std::vector<std::int64_t> words = expected();
    memory_.put(rank_, 0, words.data(), words.size() * sizeof(std::int64_t));
    memory_.complete(rank_);
  }
  /// The number of words that differ from fill()'s.
  [[nodiscard]] std::int64_t count_wrong() {
    const std::vector<std::int64_t> wanted = expected();
    std::vector<std::int64_t> found(wanted.size());
    memory_.start_get(rank_, 0, found.data(), found.size() * sizeof(std::int64_t));
    memory_.wait(rank_);
    std::int64_t wrong = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
      wrong += found[i] != wanted[i] ? 1 : 0;
    }
    return wrong;
  }

 private:
  /// This rank's position in the stream, so far from other ranks' that all numbers differ.
  [[nodiscard]] std::int64_t start() const {
    constexpr std::int64_t distance = std::int64_t{1} << 40;
    return rank_ * distance;
  }

  void one_by_one(std::int64_t sign) {
    for (std::int64_t i = 0; i < look_ahead; ++i) {
      const std::uint64_t random = stream_.next();
      const std::int64_t index = table_.index_of(random);
      memory_.add(table_.owner(index), table_.offset_of(index), signed_value(random, sign));
    }
  }

  void by_lists(std::int64_t sign) {
    for (int rank = 0; rank < ranks_; ++rank) {
      offsets_[static_cast<std::size_t>(rank)].clear();
      values_[static_cast<std::size_t>(rank)].clear();
    }
    for (std::int64_t i = 0; i < look_ahead; ++i) {
      const std::uint64_t random = stream_.next();
      const std::int64_t index = table_.index_of(random);
      const auto owner = static_cast<std::size_t>(table_.owner(index));
      offsets_[owner].push_back(table_.offset_of(index));
      values_[owner].push_back(signed_value(random, sign));
    }
    for (int rank = 0; rank < ranks_; ++rank) {
      const auto owner = static_cast<std::size_t>(rank);
      if (!values_[owner].empty()) {
        memory_.add(rank, offsets_[owner], values_[owner]);
      }
    }
  }

  /// 40 bits, so that sums don't overflow.
  static std::int64_t signed_value(std::uint64_t random, std::int64_t sign) {
    return sign * static_cast<std::int64_t>(random >> 24U);
  }

  [[nodiscard]] std::vector<std::int64_t> expected() const {
    std::vector<std::int64_t> words(static_cast<std::size_t>(table_.words_of(rank_)));
    for (std::size_t i = 0; i < words.size(); ++i) {
      words[i] = rank_ * table_.words_each + static_cast<std::int64_t>(i);
    }
    return words;
  }

  Memory& memory_;
  GupsTable table_;
  Calls calls_;
  int rank_;
  int ranks_;
  RandomStream stream_;
  std::vector<std::vector<std::size_t>> offsets_;
  std::vector<std::vector<std::int64_t>> values_;
};

/// The number of batches for the check. Each word should change several times, as HPC Challenge
/// requires, but the check should take only a few seconds between nodes.
inline std::int64_t batches_to_check(const GupsTable& table, int ranks) {
  constexpr std::int64_t updates_a_word = 4;
  constexpr std::int64_t max_batches = 256;
  return std::clamp(updates_a_word * table.words / ranks / look_ahead, std::int64_t{1},
                    max_batches);
}

/// How many words may be wrong after the check, for updates that are not atomic: HPC Challenge's
/// 1 %, plus an allowance for small tables. An update is lost if another rank updates the same word
/// meanwhile. So the number of losses depends on the updates that processors have in flight, and
/// not on the number of words.
inline std::int64_t allowed_lost_words(const GupsTable& table, int ranks) {
  constexpr std::int64_t hpc_challenge_part = 100;
  constexpr std::int64_t in_flight = 256;  // loads and stores of a processor
  const std::int64_t updates = batches_to_check(table, ranks) * look_ahead * ranks;
  const std::int64_t lost = updates * (ranks - 1) * in_flight / table.words;
  return std::min(table.words / hpc_challenge_part + lost, table.words / 2);
}

/// Collective. Makes the updates, reverts them through `exact`, which loses no update, and counts
/// the words that differ from their initial values. Returns an error message if these are more than
/// `wrong_allowed`, else an empty string.
template <class Memory, class Exact>
std::string verify_updates(RankGroup& group, Updates<Memory>& updates, Exact& exact,
                           const GupsTable& table, std::int64_t wrong_allowed) {
  const std::int64_t batches = batches_to_check(table, group.size());
  updates.fill();
  updates.restart();
  group.barrier();
  updates.run(batches);
  group.barrier();
  Updates<Exact>(exact, table, Calls::listed, group.rank(), group.size()).run(batches, -1);
  group.barrier();
  const std::int64_t wrong = updates.count_wrong();
  std::int64_t all = 0;
  for (int rank = 0; rank < group.size(); ++rank) {
    all += group.share(wrong, rank);
  }
  return all <= wrong_allowed
             ? ""
             : fmt::format("{} of {} words are wrong, {} may be", all, table.words, wrong_allowed);
}

}  // namespace tessera::bench
