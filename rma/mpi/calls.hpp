// SPDX-License-Identifier: BSD-3-Clause
//
// What calls of MPI are made with: the types on both sides, and how many complete together.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>

#include "rma/mpi/methods.hpp"
#include "rma/mpi/types.hpp"
#include "rma/mpi/window.hpp"
#include "rma/result.hpp"

namespace tessera::rma::mpi {

/// What a call of MPI moves on one side, and on the other.
struct Sides {
  int count;
  MPI_Datatype local;
  MPI_Datatype remote;

  /// Words as such, so that MPI copies them whole.
  static Sides of(std::uint64_t displacement, std::size_t bytes) noexcept {
    if (is_word(displacement, bytes)) {
      return {1, word_type(bytes), word_type(bytes)};
    }
    return {static_cast<int>(bytes), MPI_BYTE, MPI_BYTE};
  }
};

/// The time in which calls of MPI reach one rank: all of a lasting window's, or an epoch of its
/// own.
class Epoch {
 public:
  Epoch(const Window& window, int rank, int lock_type) noexcept
      : window_(window), rank_(rank), lock_type_(lock_type) {}

  [[nodiscard]] const Window& window() const noexcept { return window_; }
  [[nodiscard]] int rank() const noexcept { return rank_; }

  [[nodiscard]] Status begin() const {
    return window_.is_lasting() ? Status() : window_.lock(lock_type_, rank_);
  }
  /// What was called is complete at the target, or, if that is not asked for, here at least.
  [[nodiscard]] Status renew(bool at_target) const {
    if (window_.is_lasting()) {
      return at_target ? window_.flush(rank_) : window_.flush_local(rank_);
    }
    TESSERA_RETURN_IF_ERROR(window_.unlock(rank_));
    return window_.lock(lock_type_, rank_);
  }
  /// Of a lasting window nothing ends.
  [[nodiscard]] Status end() const {
    return window_.is_lasting() ? Status() : window_.unlock(rank_);
  }

 private:
  const Window& window_;
  int rank_;
  int lock_type_;
};

/// Completes calls as the method says: none here, every so many, or each at the target.
class Pacer {
 public:
  Pacer(const Epoch& epoch, Method method, std::int64_t batch) noexcept
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
