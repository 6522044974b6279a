// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. VectorGather: elements of a distributed vector, wherever they lie, in one local buffer;
// and back, added to them. The buffer is filled batch by batch, a batch an owner:
//
//     stage 0        own elements and those of ranks whose slices are mapped here
//     stage 1, 2 …   one owner each, beginning with the next rank, so that not all begin at one
//
// By SpmvMode::push the stages from 1 are filled by their owners (vector_push.hpp). Where elements
// are copied or packed, what lies between two that are near each other comes along: it costs less
// than to leave it out.
//
// Threads: one at a time. Memory: 24 bytes a run of neighbouring elements, and as many for mapped
// slices; 16 an element and itself; up to 32 between two, where they are copied or packed.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "arrays/array.hpp"
#include "linalg/detail/vector_push.hpp"
#include "linalg/local_csr.hpp"
#include "linalg/spmv.hpp"
#include "rma/counters.hpp"
#include "rma/handle.hpp"
#include "rma/shape.hpp"

namespace tessera::linalg::detail {

std::vector<std::int64_t> sorted_unique(std::span<const std::int64_t> numbers);

template <SparseElement T>
class VectorGather {
 public:
  /// For vectors distributed as `like`. Requires: `indices` increase strictly and lie in it. By
  /// SpmvMode::push there is no buffer before prepare_push().
  VectorGather(arrays::Array<T>& like, std::vector<std::int64_t> indices,
               const SpmvOptions& options);
  /// Collective. Tells the owners what they are to send, from then on. Errors: no_memory,
  /// peer_lost.
  rma::Status prepare_push(arrays::Array<T>& like);

  /// The place of an index in buffer(). Requires: it is one of the indices.
  [[nodiscard]] std::size_t position_of(std::int64_t index) const noexcept;
  /// The stage after which a place of the buffer is filled.
  [[nodiscard]] std::size_t stage_of(std::size_t position) const noexcept;
  [[nodiscard]] std::size_t stages() const noexcept { return remote_.size() + 1; }
  [[nodiscard]] std::size_t buffer_elements() const noexcept { return filled_; }
  [[nodiscard]] std::span<T> buffer() noexcept { return buffer_; }
  /// Where the stages of the last start() are; with SpmvOptions::neighbours_only there are two
  /// buffers, in turns.
  [[nodiscard]] std::span<const T> arrived() const noexcept {
    return {buffer_.data() + shift(), buffer_.size()};
  }
  /// Elements of other ranks, and how many of them are in mapped slices.
  [[nodiscard]] std::int64_t from_others() const noexcept { return from_others_; }
  [[nodiscard]] std::int64_t shared() const noexcept { return shared_; }

  /// One-sided. Starts the stages from 1. By SpmvMode::push it is what other ranks wait for, and
  /// all must have met since they read their buffers; with SpmvOptions::neighbours_only, each rank
  /// its neighbours.
  rma::Status start(arrays::Array<T>& from);
  /// One-sided. Instead of start(), with SpmvOptions::neighbours_only: tells the neighbours that
  /// there will be no elements. Returns `reason`.
  rma::Status refuse(rma::Status reason) { return push_->refuse(std::move(reason)); }
  /// With SpmvOptions::neighbours_only, behind all stages: meets those that are left.
  rma::Status meet_neighbours() { return push_->wait_for_all(); }
  /// One-sided. Does stage 0.
  rma::Status copy_mapped(arrays::Array<T>& from);
  /// Waits for a stage from 1 that start() began. After an error all of them have ended.
  rma::Status wait(std::size_t stage);
  /// One-sided. All stages.
  rma::Status get(arrays::Array<T>& from);

  /// One-sided. Adds the buffer to the elements. Complete: locally at return.
  rma::Status accumulate(arrays::Array<T>& to);

 private:
  struct Batch {
    rma::TeamRank owner;
    bool has_room = false;              // in the buffer for what comes along
    std::vector<rma::Fragment> runs;    // of neighbouring elements, in the buffer too
    std::vector<std::size_t> places;    // of each run in the buffer, until that is there
    std::size_t end = 0;                // of its part of the buffer
    std::vector<rma::Fragment> copied;  // of a mapped slice: the runs with what comes along

    /// Where its elements are, once the buffer is there.
    void use(T* buffer) noexcept;

    /// Elements between the last run and what begins at `offset` that come along.
    [[nodiscard]] std::size_t room_before(std::uint64_t offset) const noexcept;
    /// The runs with what comes along.
    [[nodiscard]] std::vector<rma::Fragment> joined_runs() const;
  };
  void lay_out(arrays::Array<T>& like, std::span<const arrays::ElementPlace> found);
  std::size_t add(Batch& batch, std::int64_t offset);
  [[nodiscard]] std::size_t shift() const noexcept { return push_ ? push_->shift() : 0; }
  rma::Status read(arrays::Array<T>& from, const Batch& batch);
  using Wanted = typename VectorPush<T>::Wanted;
  /// What each owner is to send. The runs of all of them are put in `runs`.
  [[nodiscard]] std::vector<Wanted> wanted(arrays::Array<T>& like,
                                           std::vector<std::vector<rma::Fragment>>& runs) const;
  void use_buffer(std::span<T> buffer) noexcept;
  rma::Handle start_batch(rma::Op op, arrays::Array<T>& array, const Batch& batch) const;

  SpmvOptions options_;
  std::vector<std::int64_t> indices_;
  std::vector<std::size_t> positions_;  // of each index
  std::vector<T> own_buffer_;
  std::optional<VectorPush<T>> push_;  // has the buffer, if it is there
  std::span<T> buffer_;
  std::vector<Batch> mapped_;
  std::vector<Batch> remote_;
  std::vector<rma::Handle> under_way_;
  std::size_t filled_ = 0;  // of the buffer
  std::int64_t from_others_ = 0;
  std::int64_t shared_ = 0;
};

}  // namespace tessera::linalg::detail
