// SPDX-License-Identifier: BSD-3-Clause
//
// The floors' one door to <shmem.h>: OpenSHMEM beside an MPI that runs, and memory of it that is
// given back. Its processing elements are MPI's ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "bench/floors/mpi_api.hpp"

extern "C" {
#include <shmem.h>
}

namespace tessera::bench::shmem {

// What shmem_long_… works on are the words that all floors count with.
static_assert(sizeof(long) == sizeof(std::int64_t));

/// Collective. Why OpenSHMEM can't be used among `ranks`; empty where it can, and then it is
/// started. A start that fails ends the job: OpenSHMEM has no other way.
std::string missing(int ranks);

/// Collective. Memory that every rank has, of one size; where it lies here names it on all of them.
class Symmetric {
 public:
  /// All zero.
  explicit Symmetric(std::size_t bytes);
  ~Symmetric();
  Symmetric(const Symmetric&) = delete;
  Symmetric& operator=(const Symmetric&) = delete;

  /// Null on all ranks where OpenSHMEM's heap has no such room.
  [[nodiscard]] std::byte* get() const { return bytes_; }
  [[nodiscard]] long* words() const { return reinterpret_cast<long*>(bytes_); }

 private:
  std::byte* bytes_;
};

/// What to do where the heap has no room.
std::string no_room(std::size_t bytes);

}  // namespace tessera::bench::shmem
