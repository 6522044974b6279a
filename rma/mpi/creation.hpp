// SPDX-License-Identifier: BSD-3-Clause
//
// Making communicators and windows, one at a time in a process, and while no other thread of the
// library lets MPI progress.
//
// Open MPI 4.1 knows a new communicator before it can receive for it: a message that another thread
// takes in just then ends the process. All members must come to MPI's call at once, though: a
// thread that waits for its turn there might wait for ever. So members first agree that each of
// them has the turn, and give it back and try again if not.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <utility>

#include "rma/result.hpp"
#include "rma/team.hpp"

namespace tessera::rma::mpi {

/// Of the process, as MPI is.
/// Threads: all functions may be called from any thread.
class CreationGate {
 public:
  static CreationGate& of_process() {
    static CreationGate gate;
    return gate;
  }
  CreationGate() = default;
  CreationGate(const CreationGate&) = delete;
  CreationGate& operator=(const CreationGate&) = delete;

  /// The turn to create; false where another thread has it.
  bool take_turn() noexcept { return !is_taken_.exchange(true); }
  void give_turn_back() noexcept { is_taken_.store(false); }

  /// Threads that let MPI progress hold it shared; a thread that creates holds it alone.
  [[nodiscard]] std::shared_mutex& progress() noexcept { return progress_; }

 private:
  std::atomic<bool> is_taken_{false};
  std::shared_mutex progress_;
};

/// Collective. Calls make() when all members have the turn; `agree(mine)` says whether all have.
template <class Agree, class Make>
Status create_in_turn(Agree&& agree, Make&& make) {
  constexpr std::chrono::microseconds longest_pause{2000};
  CreationGate& gate = CreationGate::of_process();
  std::chrono::microseconds pause{10};
  while (true) {
    const bool mine = gate.take_turn();
    const Result<bool> all = agree(mine);
    if (all.ok() && *all) {
      const std::unique_lock alone(gate.progress());
      make();
    }
    if (mine) {
      gate.give_turn_back();
    }
    if (!all.ok() || *all) {
      return all.status();
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, longest_pause);
  }
}

/// The same among the members of a team.
template <class Make>
Status create_in_turn(Team& team, Make&& make) {
  const auto agree = [&](bool mine) -> Result<bool> {
    TESSERA_ASSIGN_OR_RETURN(const std::int32_t all,
                             team.allreduce(std::int32_t{mine}, Reduction::min));
    return all != 0;
  };
  return create_in_turn(agree, std::forward<Make>(make));
}

}  // namespace tessera::rma::mpi
