// SPDX-License-Identifier: BSD-3-Clause
//
// Runs: contiguous pieces between this process and a window, and the MPI calls that move them.
//
// `request`: if it is not null, the call is one that MPI completes by a request.
//
// Threads: all functions may be called from any thread that may call MPI.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "rma/base/result.hpp"
#include "rma/element.hpp"
#include "rma/kernels/copy.hpp"
#include "rma/transport/mpi/calls.hpp"
#include "rma/transport/mpi/types.hpp"
#include "rma/transport/mpi/window.hpp"

namespace tessera::rma::mpi {

/// One contiguous run between this process and a window.
struct Run {
  const Window& window;
  int rank;
  std::uint64_t displacement;
  std::size_t bytes;

  [[nodiscard]] MPI_Win handle() const noexcept { return window.handle(); }
  /// The beginning of a list whose offsets count from here. Requires: it is not empty.
  [[nodiscard]] Run at_first(Fragments list) const noexcept {
    return {window, rank, displacement + list.front().remote_offset, bytes};
  }
  /// Accumulates store and load words that puts and gets might tear.
  [[nodiscard]] bool needs_accumulate() const noexcept {
    return is_word(displacement, bytes) && !window.keeps_words();
  }
  /// Gets might tear these words, though puts do not: such a word is read together with its
  /// neighbour and then copied. Not in epochs: there a get cannot complete before the epoch ends,
  /// and stays a plain get.
  [[nodiscard]] bool is_torn_by_gets() const noexcept {
    return is_word(displacement, bytes) && window.keeps_words() &&
           !window.gets_whole_words(bytes) && window.is_lock_all();
  }
};

// One call of MPI_Put, MPI_Get or MPI_Accumulate.
Status put_sides(const Run& run, const void* from, const Sides& sides, MPI_Request* request);
Status get_sides(const Run& run, void* to, const Sides& sides, MPI_Request* request);
Status update_sides(const Run& run, const void* from, const Sides& sides, MPI_Op op);

/// `request`: null, unless the run is one piece and not a guarded word.
Status put_run(const Run& run, const std::byte* from, MPI_Request* request);
Status get_run(const Run& run, std::byte* to, MPI_Request* request);
/// A put or a get, by its direction.
Status transfer_sides(const Run& run, std::byte* local, const Sides& sides,
                      kernels::Direction direction, MPI_Request* request);
Status transfer_run(const Run& run, std::byte* local, kernels::Direction direction,
                    MPI_Request* request);

/// Combines elements by MPI's operation; a factor was applied before.
Status accumulate_run(const Run& run, const std::byte* from, const Scale& scale);
/// Combines elements of 1 to 8 bytes one after another, by compare-and-swaps: MPI does not say what
/// its minimum and maximum make of a NaN, and some compare unsigned integers wrongly. Complete at
/// return, also at the target. Requires: an epoch; the window's compare-and-swaps are atomic with
/// its accumulates. Cost: two round trips an element, one if it stays as it is.
Status combine_by_swaps(const Run& run, const std::byte* from, const Scale& scale);
/// Adds by getting, adding locally, and putting: as many runs at a time as fit its buffer.
/// Requires: from the first add() to the end of finish() the caller holds the mutex of the slice's
/// owner, or the epoch keeps an exclusive lock. Added runs do not overlap, unless finish() is
/// called between them.
class OriginAccumulator {
 public:
  OriginAccumulator(const Scale& scale, const Epoch& epoch) : scale_(scale), epoch_(epoch) {}
  /// `from` is read until finish().
  Status add(const Run& run, const std::byte* from);
  /// Returns when all additions are complete at the target.
  Status finish();

 private:
  struct Piece {
    Run run;
    const std::byte* from;
    std::size_t at;  ///< in the buffer
  };
  Status add_piece(const Run& piece, const std::byte* from);

  Scale scale_;
  const Epoch& epoch_;
  std::vector<Piece> pieces_;
  std::unique_ptr<std::byte[]> buffer_;
  std::size_t used_ = 0;
};

}  // namespace tessera::rma::mpi
