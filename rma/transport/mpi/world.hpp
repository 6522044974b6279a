// SPDX-License-Identifier: BSD-3-Clause
//
// World: a job's own use of MPI: two communicators of all its ranks, and the threads that may call
// MPI.
//
// One communicator is for messages, the other for windows and collectives, both separate from the
// program's. With MPI_THREAD_SERIALIZED all calls of the library take one lock; with a lower level
// only the thread that started MPI may call.
//
// Threads: all functions may be called from any thread, create() and close() from one.
#pragma once

#include <mpi.h>

#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "rma/base/rank.hpp"
#include "rma/base/result.hpp"
#include "rma/transport/mpi/library.hpp"

namespace tessera::rma::mpi {

class World {
 public:
  /// Collective over the communicator whose MPI_Comm_c2f value is `fortran_communicator`. Errors:
  /// unsupported (an MPI before 3.0), unreachable.
  static Result<std::shared_ptr<World>> create(int fortran_communicator);
  ~World() = default;
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  /// Collective. Frees the communicators.
  void close() noexcept;

  [[nodiscard]] MPI_Comm messages() const noexcept { return messages_; }
  [[nodiscard]] MPI_Comm windows() const noexcept { return windows_; }
  [[nodiscard]] const Library& library() const noexcept { return library_; }
  [[nodiscard]] WorldRank rank() const noexcept { return rank_; }
  [[nodiscard]] int size() const noexcept { return size_; }
  /// Whether MPI's accumulates and read-modify-writes are atomic with each other, by the self-test.
  [[nodiscard]] bool mixes_atomics() const noexcept { return mixes_atomics_; }
  void set_mixes_atomics(bool does) noexcept { mixes_atomics_ = does; }
  /// Whether MPI reports that these ranks can share memory.
  [[nodiscard]] bool are_on_one_machine(std::span<const WorldRank> ranks) const noexcept;

  /// Held around calls of MPI. Locks nothing with MPI_THREAD_MULTIPLE.
  [[nodiscard]] std::unique_lock<std::recursive_mutex> lock_calls() {
    return library_.is_multiple() ? std::unique_lock<std::recursive_mutex>()
                                  : std::unique_lock<std::recursive_mutex>(calls_mutex_);
  }
  /// Errors: unsupported if this thread may not call MPI.
  [[nodiscard]] Status check_thread() const {
    return library_.is_serialized() ? Status() : check_main_thread();
  }

 private:
  World() = default;
  [[nodiscard]] Status check_main_thread() const;
  Status find_machines();

  Library library_;
  MPI_Comm messages_ = MPI_COMM_NULL;
  MPI_Comm windows_ = MPI_COMM_NULL;
  WorldRank rank_{0};
  int size_ = 1;
  bool mixes_atomics_ = false;
  std::vector<int> first_on_machine_;  ///< by rank: the lowest rank of its machine
  std::recursive_mutex calls_mutex_;
};

}  // namespace tessera::rma::mpi
