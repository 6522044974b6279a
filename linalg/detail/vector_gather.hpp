// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. VectorGather: copies elements of a distributed vector from any ranks into one local
// buffer, or adds the buffer to them. The buffer is filled in batches, one for each owner:
//
//     stage 0        own elements and those of ranks whose slices are mapped here
//     stage 1, 2 …   one owner each, starting after this rank, so that ranks begin differently
//
// With SpmvMode::push the owners fill the stages from 1 on (vector_push.hpp). If elements are
// copied or packed, a short gap between two elements is copied too, since that costs less than to
// omit it.
//
// Threads: one at a time. Memory: 24 bytes for each run of neighbouring elements, and the same
// again for mapped slices; 16 bytes and the element itself for each element; up to 32 bytes for
// each gap that is copied or packed.
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
  /// For vectors with the distribution of `like`. Requires: `indices` increase strictly and are
  /// inside it. With SpmvMode::push there is no buffer before prepare_push().
  VectorGather(arrays::Array<T>& like, std::vector<std::int64_t> indices,
               const SpmvOptions& options);
  /// Collective. Sends the owners the lists of elements that they will push. Errors: no_memory,
  /// peer_lost.
  rma::Status prepare_push(arrays::Array<T>& like);

  /// The position of an index in buffer(). Requires: it is one of the indices.
  [[nodiscard]] std::size_t position_of(std::int64_t index) const noexcept;
  /// The stage that fills a position of the buffer.
  [[nodiscard]] std::size_t stage_of(std::size_t position) const noexcept;
  [[nodiscard]] std::size_t stages() const noexcept { return remote_.size() + 1; }
  [[nodiscard]] std::size_t buffer_elements() const noexcept { return filled_; }
  [[nodiscard]] std::span<T> buffer() noexcept { return buffer_; }
  /// The buffer that the last start() fills; with SpmvOptions::neighbours_only two buffers
  /// alternate.
  [[nodiscard]] std::span<const T> arrived() const noexcept {
    return {buffer_.data() + shift(), buffer_.size()};
  }
  /// The number of elements of other ranks; below, how many of them are in mapped slices.
  [[nodiscard]] std::int64_t from_others() const noexcept { return from_others_; }
  [[nodiscard]] std::int64_t shared() const noexcept { return shared_; }

  /// One-sided. Starts the stages from 1 on. With SpmvMode::push other ranks wait for this call,
  /// and all ranks must have synchronised since they last read their buffers; with
  /// SpmvOptions::neighbours_only each rank must have synchronised with its neighbours.
  rma::Status start(arrays::Array<T>& from);
  /// One-sided. Use instead of start(), with SpmvOptions::neighbours_only: notifies the neighbours
  /// that they get no elements. Returns `reason`.
  rma::Status refuse(rma::Status reason) { return push_->refuse(std::move(reason)); }
  /// With SpmvOptions::neighbours_only, after all stages: synchronises with the remaining
  /// neighbours.
  rma::Status synchronise_neighbours() { return push_->wait_for_all(); }
  /// One-sided. Performs stage 0.
  rma::Status copy_mapped(arrays::Array<T>& from);
  /// Waits for a stage from 1 on that start() began. After an error all stages have ended.
  rma::Status wait(std::size_t stage);
  /// One-sided. Performs all stages.
  rma::Status get(arrays::Array<T>& from);

  /// One-sided. Adds the buffer to the elements. Complete: locally at return.
  rma::Status accumulate(arrays::Array<T>& to);

 private:
  struct Batch {
    rma::TeamRank owner;
    bool has_room = false;              // the buffer has room for gaps that are copied too
    std::vector<rma::Fragment> runs;    // runs of neighbouring elements, also in the buffer
    std::vector<std::size_t> offsets;   // offset of each run in the buffer, until that exists
    std::size_t end = 0;                // end of its part of the buffer
    std::vector<rma::Fragment> copied;  // for a mapped slice: the runs, with gaps

    /// Sets the addresses of its elements, once the buffer exists.
    void use(T* buffer) noexcept;

    /// The elements in the gap between the last run and `offset`, if the gap is copied too; else 0.
    [[nodiscard]] std::size_t gap_before(std::uint64_t offset) const noexcept;
    /// The runs, merged over gaps.
    [[nodiscard]] std::vector<rma::Fragment> merged_runs() const;
  };
  void lay_out(arrays::Array<T>& like, std::span<const arrays::ElementLocation> found);
  std::size_t add(Batch& batch, std::int64_t offset);
  [[nodiscard]] std::size_t shift() const noexcept { return push_ ? push_->shift() : 0; }
  rma::Status read(arrays::Array<T>& from, const Batch& batch);
  using Wanted = typename VectorPush<T>::Wanted;
  /// The elements that each owner must send. `runs` stores the runs of all owners.
  [[nodiscard]] std::vector<Wanted> wanted(arrays::Array<T>& like,
                                           std::vector<std::vector<rma::Fragment>>& runs) const;
  void use_buffer(std::span<T> buffer) noexcept;
  rma::Handle start_batch(rma::Op op, arrays::Array<T>& array, const Batch& batch) const;

  SpmvOptions options_;
  std::vector<std::int64_t> indices_;
  std::vector<std::size_t> positions_;  // position of each index
  std::vector<T> own_buffer_;
  std::optional<VectorPush<T>> push_;  // owns the buffer, if it is set
  std::span<T> buffer_;
  std::vector<Batch> mapped_;
  std::vector<Batch> remote_;
  std::vector<rma::Handle> pending_gets_;
  std::size_t filled_ = 0;  // elements of the buffer
  std::int64_t from_others_ = 0;
  std::int64_t shared_ = 0;
};

}  // namespace tessera::linalg::detail
