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

#include "bench/support/rank_group.hpp"

namespace tessera::bench {

enum class Fencing { one, all };

/// Puts of this rank's number into its own word in other ranks' slices; the first `ranks` ranks
/// take part.
template <class Memory>
class Fencer {
 public:
  Fencer(RankGroup& group, Memory& memory, Fencing fencing, int ranks)
      : group_(group), memory_(memory), fencing_(fencing), ranks_(ranks) {
    const int rank = group_.rank();
    const int all = group_.size();
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
        memory_.put(target, place(group_.rank()), &value_, word);
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
    group_.barrier();
    fence(1);
    group_.barrier();
    std::string wrong;
    for (int sender = 0; sender < ranks_; ++sender) {
      const int distance = (group_.rank() - sender + group_.size()) % group_.size();
      const bool sends = fencing_ == Fencing::all ? distance != 0 : distance == 1 % group_.size();
      std::int64_t found = 0;
      memory_.start_get(group_.rank(), place(sender), &found, word);
      memory_.wait(group_.rank());
      if (sends && found != value_) {
        wrong =
            fmt::format("rank {} put {} and fenced, but this rank has {}", sender, value_, found);
      }
    }
    group_.barrier();
    return wrong;
  }

 private:
  static constexpr std::size_t word = sizeof(std::int64_t);

  static std::size_t place(int rank) { return static_cast<std::size_t>(rank) * word; }

  RankGroup& group_;
  Memory& memory_;
  Fencing fencing_;
  int ranks_;
  std::vector<int> targets_;
  std::int64_t value_ = 0;
};

}  // namespace tessera::bench
