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

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/baselines/memory_baseline.hpp"
#include "bench/baselines/mpi.hpp"
#include "bench/baselines/shmem.hpp"
#include "bench/session.hpp"
#include "bench/support/candidate.hpp"
#include "bench/support/measure.hpp"
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

// Sender: messages from several ranks at once, each to one other rank, and their data check. Works
// on each memory of bench/rma/memories.hpp.

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

// Reader: gets of rank 0's data by all ranks, and their data check.

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

// Fencer: puts of a word, each followed by a fence, and a check that the data have arrived after
// it.

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

// Drawing: tasks drawn from a shared counter, of one level or two, and a check that no task was
// drawn twice.

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
