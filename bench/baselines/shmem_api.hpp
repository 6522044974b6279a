// SPDX-License-Identifier: BSD-3-Clause
//
// The only file of the baselines that includes <shmem.h>: OpenSHMEM in a process in which MPI runs,
// and memory of it that is freed automatically. Its processing elements are MPI's ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "bench/baselines/mpi_api.hpp"

extern "C" {
#include <shmem.h>
}

namespace tessera::bench::shmem {

// shmem_long_… functions work on the words with which all baselines count.
static_assert(sizeof(long) == sizeof(std::int64_t));

/// Collective. Why OpenSHMEM can't be used among `ranks`; empty if it can, and then it is started.
/// A failed start ends the job; OpenSHMEM offers no other way.
std::string missing(int ranks);

/// Collective. Memory of the same size on every rank. The local address also identifies it on all
/// other ranks.
class Symmetric {
 public:
  /// All bytes are zero.
  explicit Symmetric(std::size_t bytes);
  ~Symmetric();
  Symmetric(const Symmetric&) = delete;
  Symmetric& operator=(const Symmetric&) = delete;

  /// Null on all ranks if OpenSHMEM's heap is too small.
  [[nodiscard]] std::byte* get() const { return bytes_; }
  [[nodiscard]] long* words() const { return reinterpret_cast<long*>(bytes_); }

 private:
  std::byte* bytes_;
};

/// The error message for a heap that is too small, with a remedy.
std::string no_room(std::size_t bytes);

}  // namespace tessera::bench::shmem
