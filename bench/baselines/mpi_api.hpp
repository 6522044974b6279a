// SPDX-License-Identifier: BSD-3-Clause
//
// The only file of the baselines that includes <mpi.h>. It also adds what MPI leaves to its users:
// owners that free types, windows and memory.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace tessera::bench::mpi {

/// Whether MPI runs, with `ranks` ranks.
bool is_running(int ranks);

/// Collective. Whether MPI can create windows among all ranks: Open MPI 4.1 can't over every
/// network.
bool makes_windows();

/// Why a library on MPI can't be used among `ranks`; empty if it can.
std::string missing_ranks(int ranks);

/// Collective. Why a library on MPI's windows can't be used among `ranks`; empty if it can.
std::string missing_windows(int ranks);

/// A committed derived datatype.
class Datatype {
 public:
  /// Takes ownership of `type`, and commits it.
  explicit Datatype(MPI_Datatype type) : type_(type) { MPI_Type_commit(&type_); }
  ~Datatype() { MPI_Type_free(&type_); }
  Datatype(const Datatype&) = delete;
  Datatype& operator=(const Datatype&) = delete;
  [[nodiscard]] MPI_Datatype get() const { return type_; }

 private:
  MPI_Datatype type_;
};

/// Collective. A window on MPI_COMM_WORLD, with displacements in bytes: of MPI_Win_allocate or,
/// with `creates`, of MPI_Win_create on its own memory. With `lock_all` it stays in one passive
/// epoch until it is freed.
class Window {
 public:
  Window(std::size_t bytes, bool lock_all, bool creates = false);
  ~Window();
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;
  [[nodiscard]] MPI_Win get() const { return window_; }
  /// The start of this rank's part.
  [[nodiscard]] const void* base() const { return base_; }

 private:
  MPI_Win window_ = MPI_WIN_NULL;
  std::vector<std::byte> own_;  ///< if created with MPI_Win_create
  void* base_ = nullptr;
  bool lock_all_;
};

}  // namespace tessera::bench::mpi
