// SPDX-License-Identifier: BSD-3-Clause
//
// RandomStream: the random numbers of HPC Challenge's RandomAccess, from any position on: a shift
// register over GF(2) with the polynomial x⁶³ + x² + x + 1, of period 1317624576693539401.
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

class RandomStream {
 public:
  /// The first next() gives number `position` of the stream. Requires: 0 ≤ position < the period.
  explicit RandomStream(std::int64_t position) {
    // A step multiplies by x; so number n is xⁿ, computed by squaring and stepping along n's bits.
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

// Updates: the random updates of a table that is spread over all ranks, and their check.

/// The limit of HPC Challenge for updates that a rank works on at a time.
inline constexpr std::int64_t look_ahead = 1024;

/// The table, and the locations of its words.
struct GupsTable {
  std::int64_t words = 1;       ///< of all ranks, a power of two
  std::int64_t words_each = 1;  ///< the last ranks may have fewer

  /// At most `bytes_each` on each rank.
  static GupsTable create(std::int64_t bytes_each, std::int64_t ranks) {
    GupsTable table;
    const auto most = static_cast<std::uint64_t>(bytes_each) / sizeof(std::int64_t) *
                      static_cast<std::uint64_t>(ranks);
    table.words = static_cast<std::int64_t>(std::bit_floor(most));
    table.words_each = (table.words + ranks - 1) / ranks;
    return table;
  }

  [[nodiscard]] std::int64_t place_of(std::uint64_t random) const {
    return static_cast<std::int64_t>(random & static_cast<std::uint64_t>(words - 1));
  }
  [[nodiscard]] int owner(std::int64_t place) const { return static_cast<int>(place / words_each); }
  [[nodiscard]] std::size_t at(std::int64_t place) const {
    return static_cast<std::size_t>(place % words_each) * sizeof(std::int64_t);
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

/// This rank's updates of a table in some memory.
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
        places_(static_cast<std::size_t>(ranks)),
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

  /// Starts again from the first number.
  void begin_again() { stream_ = RandomStream(start()); }

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
  /// Ranks start so far apart in the stream that they use different numbers.
  [[nodiscard]] std::int64_t start() const {
    constexpr std::int64_t apart = std::int64_t{1} << 40;
    return rank_ * apart;
  }

  void one_by_one(std::int64_t sign) {
    for (std::int64_t i = 0; i < look_ahead; ++i) {
      const std::uint64_t random = stream_.next();
      const std::int64_t place = table_.place_of(random);
      memory_.add(table_.owner(place), table_.at(place), signed_value(random, sign));
    }
  }

  void by_lists(std::int64_t sign) {
    for (int rank = 0; rank < ranks_; ++rank) {
      places_[static_cast<std::size_t>(rank)].clear();
      values_[static_cast<std::size_t>(rank)].clear();
    }
    for (std::int64_t i = 0; i < look_ahead; ++i) {
      const std::uint64_t random = stream_.next();
      const std::int64_t place = table_.place_of(random);
      const auto owner = static_cast<std::size_t>(table_.owner(place));
      places_[owner].push_back(table_.at(place));
      values_[owner].push_back(signed_value(random, sign));
    }
    for (int rank = 0; rank < ranks_; ++rank) {
      const auto owner = static_cast<std::size_t>(rank);
      if (!values_[owner].empty()) {
        memory_.add(rank, places_[owner], values_[owner]);
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
  std::vector<std::vector<std::size_t>> places_;
  std::vector<std::vector<std::int64_t>> values_;
};

/// Enough updates for the check that each word changes several times, as HPC Challenge requires,
/// but not more than a few seconds between nodes.
inline std::int64_t batches_to_check(const GupsTable& table, int ranks) {
  constexpr std::int64_t updates_a_word = 4;
  constexpr std::int64_t most = 256;
  return std::clamp(updates_a_word * table.words / ranks / look_ahead, std::int64_t{1}, most);
}

/// Words that may be wrong after the check if ranks lose each other's updates: HPC Challenge's 1 %,
/// plus an allowance for small tables. An update is lost if another rank is updating the same word.
/// So the number of losses depends on how many updates processors hold back, not on the number of
/// words.
inline std::int64_t allowed_lost_words(const GupsTable& table, int ranks) {
  constexpr std::int64_t hpc_challenge_part = 100;
  constexpr std::int64_t in_hand = 256;  // loads and stores that a processor has begun
  const std::int64_t updates = batches_to_check(table, ranks) * look_ahead * ranks;
  const std::int64_t lost = updates * (ranks - 1) * in_hand / table.words;
  return std::min(table.words / hpc_challenge_part + lost, table.words / 2);
}

/// Collective. Updates, undoes that by `exact`, which loses no update, and counts the words that
/// are wrong then. Returns an error message if they exceed `wrong_allowed`, or an empty string.
template <class Memory, class Exact>
std::string verify_updates(RankGroup& group, Updates<Memory>& updates, Exact& exact,
                           const GupsTable& table, std::int64_t wrong_allowed) {
  const std::int64_t batches = batches_to_check(table, group.size());
  updates.fill();
  updates.begin_again();
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
