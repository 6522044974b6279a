// SPDX-License-Identifier: BSD-3-Clause
//
// Reader: gets of rank 0's data by all ranks, and their data check.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "bench/support/rank_group.hpp"

namespace tessera::bench {

/// The parts of rank 0's slice that ranks read: a different one each, or one for all.
enum class ReadTargets { apart, same };

inline std::byte read_byte(std::size_t place) {
  return static_cast<std::byte>((place * 131 + place / 256) % 251);
}

/// What this rank reads.
template <class Memory>
class Reader {
 public:
  Reader(RankGroup& group, Memory& memory, ReadTargets places, std::size_t bytes)
      : group_(group),
        memory_(memory),
        at_(places == ReadTargets::apart ? static_cast<std::size_t>(group_.rank()) * bytes : 0),
        buffer_(bytes) {}

  void read() {
    memory_.start_get(0, at_, buffer_.data(), buffer_.size());
    memory_.wait(0);
  }

  /// Collective.
  std::string verify() {
    if (group_.rank() == 0) {
      std::vector<std::byte> all(buffer_.size() * static_cast<std::size_t>(group_.size()));
      for (std::size_t i = 0; i < all.size(); ++i) {
        all[i] = read_byte(i);
      }
      memory_.put(0, 0, all.data(), all.size());
      memory_.complete(0);
    }
    std::fill(buffer_.begin(), buffer_.end(), std::byte{255});
    group_.barrier();
    read();
    group_.barrier();
    for (std::size_t i = 0; i < buffer_.size(); ++i) {
      if (buffer_[i] != read_byte(at_ + i)) {
        return fmt::format("byte {} of {} arrived with a wrong value", i, buffer_.size());
      }
    }
    return "";
  }

 private:
  RankGroup& group_;
  Memory& memory_;
  std::size_t at_;
  std::vector<std::byte> buffer_;
};

}  // namespace tessera::bench
