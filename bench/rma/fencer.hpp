// SPDX-License-Identifier: BSD-3-Clause
//
// Fencer: puts of a word, each followed by a fence, and a check that the data have arrived after
// it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "bench/support/crew.hpp"

namespace tessera::bench {

enum class Fencing { one, all };

/// Puts of this rank's number into its own word in other ranks' slices; the first `ranks` ranks
/// take part.
template <class Memory>
class Fencer {
 public:
  Fencer(RankGroup& crew, Memory& memory, Fencing fencing, int ranks)
      : crew_(crew), memory_(memory), fencing_(fencing), ranks_(ranks) {
    const int rank = crew_.rank();
    const int all = crew_.size();
    if (rank < ranks_) {
      const int targets = fencing_ == Fencing::one ? 1 : std::max(all - 1, 1);
      for (int distance = 1; distance <= targets; ++distance) {
        targets_.push_back((rank + distance) % all);
      }
    }
  }

  void fence(std::int64_t repetitions) {
    for (std::int64_t i = 0; i < repetitions && !targets_.empty(); ++i) {
      for (const int target : targets_) {
        memory_.put(target, place(crew_.rank()), &value_, word);
      }
      if (fencing_ == Fencing::one) {
        memory_.complete(targets_.front());
      } else {
        memory_.complete_all();
      }
    }
  }

  /// Collective. Each target checks that the numbers have arrived.
  std::string verify() {
    ++value_;
    crew_.barrier();
    fence(1);
    crew_.barrier();
    std::string wrong;
    for (int sender = 0; sender < ranks_; ++sender) {
      const int distance = (crew_.rank() - sender + crew_.size()) % crew_.size();
      const bool sends = fencing_ == Fencing::all ? distance != 0 : distance == 1 % crew_.size();
      std::int64_t found = 0;
      memory_.start_get(crew_.rank(), place(sender), &found, word);
      memory_.wait(crew_.rank());
      if (sends && found != value_) {
        wrong =
            fmt::format("rank {} put {} and fenced, but this rank has {}", sender, value_, found);
      }
    }
    crew_.barrier();
    return wrong;
  }

 private:
  static constexpr std::size_t word = sizeof(std::int64_t);

  static std::size_t place(int rank) { return static_cast<std::size_t>(rank) * word; }

  RankGroup& crew_;
  Memory& memory_;
  Fencing fencing_;
  int ranks_;
  std::vector<int> targets_;
  std::int64_t value_ = 0;
};

}  // namespace tessera::bench
