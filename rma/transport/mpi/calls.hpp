// SPDX-License-Identifier: BSD-3-Clause
//
// Types and completion of MPI calls: the datatypes of both sides, and how many calls complete
// together.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>

#include "rma/base/result.hpp"
#include "rma/transport/mpi/methods.hpp"
#include "rma/transport/mpi/types.hpp"
#include "rma/transport/mpi/window.hpp"

namespace tessera::rma::mpi {

/// The data of an MPI call on the local and on the remote side.
struct Sides {
  int count;
  MPI_Datatype local;
  MPI_Datatype remote;

  /// One word has a word's type, so that MPI copies it whole.
  static Sides of(std::uint64_t displacement, std::size_t bytes) noexcept {
    if (is_word(displacement, bytes)) {
      return {1, word_type(bytes), word_type(bytes)};
    }
    return {static_cast<int>(bytes), MPI_BYTE, MPI_BYTE};
  }
};

/// A period in which MPI calls may access one rank: the lifetime of a window that stays locked, or
/// an epoch of its own.
class Epoch {
 public:
  /// `keeps_lock`: also an epoch of its own keeps its lock when it is renewed. MPI-2 cannot do
  /// that.
  Epoch(const Window& window, int rank, int lock_type, bool keeps_lock = false) noexcept
      : window_(window), rank_(rank), lock_type_(lock_type), keeps_lock_(keeps_lock) {}

  [[nodiscard]] const Window& window() const noexcept { return window_; }
  [[nodiscard]] int rank() const noexcept { return rank_; }

  [[nodiscard]] Status begin() const {
    return window_.is_lock_all() ? Status() : window_.lock(lock_type_, rank_);
  }
  /// Completes the earlier calls: at the target, or else at least locally.
  [[nodiscard]] Status renew(bool at_target) const {
    if (window_.is_lock_all() || keeps_lock_) {
      return at_target ? window_.flush(rank_) : window_.flush_local(rank_);
    }
    TESSERA_RETURN_IF_ERROR(window_.unlock(rank_));
    return window_.lock(lock_type_, rank_);
  }
  /// Does nothing for a window that stays locked.
  [[nodiscard]] Status end() const {
    return window_.is_lock_all() ? Status() : window_.unlock(rank_);
  }

 private:
  const Window& window_;
  int rank_;
  int lock_type_;
  bool keeps_lock_;
};

/// Completes calls as the method requires: none here, after every batch, or each at the target.
class BatchCompleter {
 public:
  BatchCompleter(const Epoch& epoch, Method method, std::int64_t batch) noexcept
      : epoch_(epoch), method_(method), batch_(batch) {}
  [[nodiscard]] Status after_call() {
    if (method_ == Method::conservative) {
      return epoch_.renew(true);
    }
    if (method_ == Method::batched && batch_ > 0 && ++calls_ % batch_ == 0) {
      return epoch_.renew(false);
    }
    return {};
  }

 private:
  const Epoch& epoch_;
  Method method_;
  std::int64_t batch_;
  std::int64_t calls_ = 0;
};

}  // namespace tessera::rma::mpi
