// SPDX-License-Identifier: BSD-3-Clause
//
// The floors' one door to <mpi.h>, and the few things that MPI leaves to its users: counts that
// fit an int, and types, windows and memory that are given back.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "bench/support/case.hpp"

namespace tessera::bench::mpi {

/// Whether MPI runs and has as many ranks as `ranks`.
bool is_running(int ranks);

/// Collective. Whether MPI makes windows among all ranks: Open MPI 4.1 does not over every network.
bool makes_windows();

/// Why a library on MPI can't be used among `ranks`; empty where it can.
std::string missing_ranks(int ranks);

/// Collective. Why a library on MPI's windows can't be used among `ranks`; empty where it can.
std::string missing_windows(int ranks);

/// Whether all that MPI would be told about the case fits its ints.
inline bool fits_int(const Case& c) {
  constexpr auto limit = static_cast<std::size_t>(std::numeric_limits<int>::max());
  return c.remote_span() + c.remote_stride < limit && c.local_span() + c.local_stride < limit;
}

/// A committed derived datatype.
class Datatype {
 public:
  /// Takes over `type`, and commits it.
  explicit Datatype(MPI_Datatype type) : type_(type) { MPI_Type_commit(&type_); }
  ~Datatype() { MPI_Type_free(&type_); }
  Datatype(const Datatype&) = delete;
  Datatype& operator=(const Datatype&) = delete;
  [[nodiscard]] MPI_Datatype get() const { return type_; }

 private:
  MPI_Datatype type_;
};

/// Collective. A window on MPI_COMM_WORLD, displacements in bytes: of MPI_Win_allocate, or with
/// `creates` of MPI_Win_create on memory of its own. With `lock_all` it stays in one passive epoch
/// until it is freed.
class Window {
 public:
  Window(std::size_t bytes, bool lock_all, bool creates = false);
  ~Window();
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;
  [[nodiscard]] MPI_Win get() const { return window_; }
  /// Where this rank's part begins.
  [[nodiscard]] const void* base() const { return base_; }

 private:
  MPI_Win window_ = MPI_WIN_NULL;
  std::vector<std::byte> own_;  ///< where it is created
  void* base_ = nullptr;
  bool lock_all_;
};

}  // namespace tessera::bench::mpi
