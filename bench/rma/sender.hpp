// SPDX-License-Identifier: BSD-3-Clause
//
// Sender: messages from several ranks at once, each to one other rank, and their data check. Works
// on each memory of bench/rma/memories.hpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "bench/support/case.hpp"
#include "bench/support/rank_group.hpp"

namespace tessera::bench {

/// The destination of each rank's messages; −1 for a rank that sends nothing.
using Peers = std::vector<int>;

struct Traffic {
  Operation operation = Operation::put;  ///< or get
  std::size_t bytes = 8;                 ///< per message
  std::int64_t messages = 64;            ///< outstanding at once
  Peers peers;

  [[nodiscard]] std::size_t window_bytes() const {
    return bytes * static_cast<std::size_t>(messages);
  }
  [[nodiscard]] std::int64_t senders() const {
    return std::count_if(peers.begin(), peers.end(), [](int peer) { return peer >= 0; });
  }
};

/// The byte of rank `rank` at `place` before it sends, or before others get it.
inline std::byte sent_byte(int rank, std::size_t place) {
  return static_cast<std::byte>((place * 131 + place / 256 + static_cast<std::size_t>(rank) * 29) %
                                251);
}

/// The messages in one memory, from this rank's point of view.
template <class Memory>
class Sender {
 public:
  Sender(RankGroup& group, Memory& memory, const Traffic& traffic)
      : group_(group),
        memory_(memory),
        traffic_(traffic),
        rank_(group_.rank()),
        peer_(traffic.peers[static_cast<std::size_t>(rank_)]),
        buffer_(traffic.window_bytes()) {}

  void send(std::int64_t repetitions) {
    for (std::int64_t i = 0; i < repetitions && peer_ >= 0; ++i) {
      if (traffic_.operation == Operation::get) {
        for_each_message([&](std::size_t at) {
          memory_.start_get(peer_, at, buffer_.data() + at, traffic_.bytes);
        });
        memory_.wait(peer_);
      } else {
        for_each_message(
            [&](std::size_t at) { memory_.put(peer_, at, buffer_.data() + at, traffic_.bytes); });
        memory_.complete(peer_);
      }
    }
  }

  /// Collective. Runs once on known data; returns an error message, or an empty string.
  std::string verify() {
    const bool gets = traffic_.operation == Operation::get;
    fill_slice(gets ? rank_ : -1);
    fill_buffer(gets ? -1 : rank_);
    group_.barrier();
    send(1);
    group_.barrier();
    int source = peer_;
    if (!gets) {
      source = sender_to_me();
      read_slice();
    }
    std::string wrong = source < 0 ? "" : difference(source);
    group_.barrier();
    return wrong;
  }

 private:
  template <class Action>
  void for_each_message(Action action) {
    for (std::size_t at = 0; at < buffer_.size(); at += traffic_.bytes) {
      action(at);
    }
  }

  void fill_buffer(int like) {
    for (std::size_t i = 0; i < buffer_.size(); ++i) {
      buffer_[i] = like < 0 ? std::byte{255} : sent_byte(like, i);
    }
  }
  void fill_slice(int like) {
    fill_buffer(like);
    memory_.put(rank_, 0, buffer_.data(), buffer_.size());
    memory_.complete(rank_);
  }
  void read_slice() {
    memory_.start_get(rank_, 0, buffer_.data(), buffer_.size());
    memory_.wait(rank_);
  }
  [[nodiscard]] int sender_to_me() const {
    const auto found = std::find(traffic_.peers.begin(), traffic_.peers.end(), rank_);
    return found == traffic_.peers.end() ? -1 : static_cast<int>(found - traffic_.peers.begin());
  }
  [[nodiscard]] std::string difference(int source) const {
    for (std::size_t i = 0; i < buffer_.size(); ++i) {
      if (buffer_[i] != sent_byte(source, i)) {
        return fmt::format("byte {} of {} from rank {} arrived with a wrong value", i,
                           buffer_.size(), source);
      }
    }
    return "";
  }

  RankGroup& group_;
  Memory& memory_;
  Traffic traffic_;
  int rank_;
  int peer_;
  std::vector<std::byte> buffer_;
};

}  // namespace tessera::bench
