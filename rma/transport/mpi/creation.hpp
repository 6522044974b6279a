// SPDX-License-Identifier: BSD-3-Clause
//
// Creation of communicators and windows: one at a time in a process, and while no other thread of
// the library lets MPI progress.
//
// Open MPI 4.1 registers a new communicator before it can receive for it: a message that another
// thread receives at that moment ends the process. But all members must enter MPI's call together,
// and a thread that waits for a local lock might then wait forever. So members first agree that
// each of them has its local lock, and otherwise release it and try again.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <utility>

#include "rma/base/catch_bad_alloc.hpp"
#include "rma/base/result.hpp"
#include "rma/team.hpp"

namespace tessera::rma::mpi {

/// One for the process, as MPI is.
/// Threads: all functions may be called from any thread.
class CreationLock {
 public:
  static CreationLock& of_process() {
    static CreationLock lock;
    return lock;
  }
  CreationLock() = default;
  CreationLock(const CreationLock&) = delete;
  CreationLock& operator=(const CreationLock&) = delete;

  /// Takes the right to create; false if another thread has it.
  bool try_lock() noexcept { return !is_taken_.exchange(true); }
  void unlock() noexcept { is_taken_.store(false); }

  /// Shared while threads let MPI progress; exclusive while a thread creates.
  [[nodiscard]] std::shared_mutex& progress() noexcept { return progress_; }

 private:
  std::atomic<bool> is_taken_{false};
  std::shared_mutex progress_;
};

/// Collective. Sets `own` to what make() returns, a Status or a Result, or to no_memory. Calls
/// make() when all members have the right to create; `agree(has_lock)` returns whether all have.
template <class Agree, class Own, class Make>
Status create_exclusively(Agree&& agree, Own& own, Make&& make) {
  constexpr std::chrono::microseconds max_pause{2000};
  CreationLock& lock = CreationLock::of_process();
  std::chrono::microseconds pause{10};
  while (true) {
    const bool has_lock = lock.try_lock();
    const Result<bool> all = agree(has_lock);
    if (all.ok() && *all) {
      const std::unique_lock exclusive(lock.progress());
      own = detail::catch_bad_alloc(make);
    }
    if (has_lock) {
      lock.unlock();
    }
    if (!all.ok() || *all) {
      return all.status();
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, max_pause);
  }
}

/// The same for the members of a team.
template <class Own, class Make>
Status create_exclusively(Team& team, Own& own, Make&& make) {
  const auto agree = [&](bool has_lock) -> Result<bool> {
    TESSERA_ASSIGN_OR_RETURN(const std::int32_t all,
                             team.allreduce(std::int32_t{has_lock}, Reduction::min));
    return all != 0;
  };
  return create_exclusively(agree, own, std::forward<Make>(make));
}

}  // namespace tessera::rma::mpi
