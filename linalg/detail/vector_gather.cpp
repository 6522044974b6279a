// SPDX-License-Identifier: BSD-3-Clause
#include "linalg/detail/vector_gather.hpp"

#include <algorithm>
#include <complex>
#include <cstring>
#include <functional>
#include <numeric>

#include "linalg/detail/vector_push.hpp"
#include "rma/aggregate.hpp"
#include "rma/transfer.hpp"

namespace tessera::linalg::detail {

using arrays::Array;
using rma::Handle;
using rma::Status;
using rma::TeamRank;

std::vector<std::int64_t> sorted_unique(std::span<const std::int64_t> numbers) {
  std::vector<std::int64_t> all(numbers.begin(), numbers.end());
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

namespace {

std::uint64_t end_of(const rma::Fragment& run) {
  return run.remote_offset + run.bytes;
}

template <SparseElement T>
bool is_mapped(const Array<T>& array, rma::Region& region, TeamRank owner,
               const SpmvOptions& options) {
  return owner == array.team().rank() || (options.share_memory && region.direct(owner) != nullptr);
}

Handle transfer(rma::Job& job, rma::Op op, rma::RemoteAddress at, rma::Fragments runs,
                const rma::Scale& one) {
  return op == rma::Op::get ? rma::get_async(job, at, runs)
                            : rma::accumulate_async(job, at, runs, one);
}

// Element by element, with a wait for each.
Handle transfer_one_by_one(rma::Job& job, rma::Op op, rma::RemoteAddress at, rma::Fragments runs,
                           const rma::Scale& one, std::size_t element_bytes) {
  for (const rma::Fragment& run : runs) {
    for (std::uint64_t done = 0; done < run.bytes; done += element_bytes) {
      const rma::RemoteAddress there = at + (run.remote_offset + done);
      void* const here = static_cast<std::byte*>(run.local) + done;
      Status status = op == rma::Op::get ? rma::get(job, there, here, element_bytes)
                                         : rma::accumulate(job, there, here, element_bytes, one);
      if (!status.ok()) {
        return Handle::failed(job, at.rank, std::move(status));
      }
    }
  }
  return {};
}

Handle transfer_singly(rma::Job& job, rma::Op op, rma::RemoteAddress at, rma::Fragments runs,
                       const rma::Scale& one) {
  Handle all;
  for (const rma::Fragment& run : runs) {
    const rma::RemoteAddress there = at + run.remote_offset;
    all.collect(op == rma::Op::get ? rma::get_async(job, there, run.local, run.bytes)
                                   : rma::accumulate_async(job, there, run.local, run.bytes, one));
  }
  return all;
}

Handle transfer_together(rma::Job& job, rma::Op op, rma::RemoteAddress at, rma::Fragments runs,
                         const rma::Scale& one) {
  rma::Aggregate all(job);
  for (const rma::Fragment& run : runs) {
    const rma::RemoteAddress there = at + run.remote_offset;
    Status added = op == rma::Op::get ? all.get(there, run.local, run.bytes)
                                      : all.accumulate(there, run.local, run.bytes, one);
    if (!added.ok()) {
      return Handle::failed(job, at.rank, std::move(added));
    }
  }
  return all.start();
}

}  // namespace

template <SparseElement T>
VectorGather<T>::VectorGather(Array<T>& like, std::vector<std::int64_t> indices,
                              const SpmvOptions& options)
    : options_(options), indices_(std::move(indices)), positions_(indices_.size()) {
  std::vector<arrays::ElementLocation> found;
  found.reserve(indices_.size());
  for (const std::int64_t index : indices_) {
    found.push_back(like.distribution().locate({index}));
  }
  lay_out(like, found);
  for (Batch& batch : mapped_) {
    batch.copied = batch.merged_runs();
  }
  if (options_.mode != SpmvMode::push) {
    own_buffer_.resize(filled_);
    use_buffer(own_buffer_);
  }
}

// Owners in the order of their stages; the elements of each in the order of their indices.
template <SparseElement T>
void VectorGather<T>::lay_out(Array<T>& like, std::span<const arrays::ElementLocation> found) {
  const std::int32_t ranks = like.team().size();
  const TeamRank self = like.team().rank();
  std::vector<bool> mapped(static_cast<std::size_t>(ranks));
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    mapped[static_cast<std::size_t>(rank)] = is_mapped(like, like.region(), {rank}, options_);
  }
  const auto turn = [&](TeamRank owner) {
    const std::int32_t steps = (owner.value - self.value + ranks) % ranks;
    return mapped[static_cast<std::size_t>(owner.value)] ? steps : steps + ranks;
  };
  std::vector<std::size_t> order(found.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return turn(found[a].owner) < turn(found[b].owner);
  });
  for (const std::size_t element : order) {
    const TeamRank owner = found[element].owner;
    const bool is_here = mapped[static_cast<std::size_t>(owner.value)];
    std::vector<Batch>& batches = is_here ? mapped_ : remote_;
    if (batches.empty() || batches.back().owner != owner) {
      batches.push_back({owner, is_here || options_.mode == SpmvMode::push, {}, {}, 0, {}});
    }
    positions_[element] = add(batches.back(), found[element].offset);
    from_others_ += owner == self ? 0 : 1;
    shared_ += owner != self && is_here ? 1 : 0;
  }
}

// A separate run costs some nanoseconds, and in a message the same again on its sender and its
// reader.
template <SparseElement T>
std::size_t VectorGather<T>::Batch::gap_before(std::uint64_t offset) const noexcept {
  constexpr std::uint64_t most = 32;
  if (!has_room || runs.empty()) {
    return 0;
  }
  const std::uint64_t from = end_of(runs.back());
  return offset > from && offset - from <= most ? (offset - from) / sizeof(T) : 0;
}

// Runs have a gap between them in the buffer if the gap in the slice is copied too.
template <SparseElement T>
std::vector<rma::Fragment> VectorGather<T>::Batch::merged_runs() const {
  std::vector<rma::Fragment> joined;
  std::size_t filled = end;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (offsets[i] > filled) {
      joined.back().bytes = end_of(runs[i]) - joined.back().remote_offset;
    } else {
      joined.push_back(runs[i]);
    }
    filled = offsets[i] + runs[i].bytes / sizeof(T);
  }
  return joined;
}

// Adds the element at `offset` of the owner's slice; returns its position in the buffer.
template <SparseElement T>
std::size_t VectorGather<T>::add(Batch& batch, std::int64_t offset) {
  const std::uint64_t at = static_cast<std::uint64_t>(offset) * sizeof(T);
  if (!batch.runs.empty() && at == end_of(batch.runs.back())) {
    batch.runs.back().bytes += sizeof(T);
  } else {
    filled_ += batch.gap_before(at);
    batch.runs.push_back({nullptr, at, sizeof(T)});
    batch.offsets.push_back(filled_);
  }
  batch.end = ++filled_;
  return filled_ - 1;
}

template <SparseElement T>
auto VectorGather<T>::wanted(Array<T>& like, std::vector<std::vector<rma::Fragment>>& runs) const
    -> std::vector<Wanted> {
  std::vector<Wanted> all;
  runs.reserve(remote_.size());  // the result refers to them
  std::size_t position = mapped_.empty() ? 0 : mapped_.back().end;
  for (const Batch& batch : remote_) {
    all.push_back({batch.owner, runs.emplace_back(batch.merged_runs()), position});
    position = batch.end;
  }
  for (const Batch& batch : mapped_) {
    if (options_.neighbours_only && batch.owner != like.team().rank()) {
      all.push_back({batch.owner, {}, 0});
    }
  }
  return all;
}

template <SparseElement T>
Status VectorGather<T>::prepare_push(Array<T>& like) {
  std::vector<std::vector<rma::Fragment>> runs;
  const auto all = [&]() -> rma::Result<std::vector<Wanted>> { return wanted(like, runs); };
  const auto meeting = options_.neighbours_only ? VectorPush<T>::Meeting::neighbours
                                                : VectorPush<T>::Meeting::everybody;
  TESSERA_ASSIGN_OR_RETURN(push_, VectorPush<T>::create(like, filled_, std::cref(all), meeting));
  use_buffer(push_->buffer());
  return {};
}

// The copied ranges begin where some of the runs do, in the same order.
template <SparseElement T>
void VectorGather<T>::Batch::use(T* buffer) noexcept {
  auto part = copied.begin();
  for (std::size_t i = 0; i < runs.size(); ++i) {
    runs[i].local = buffer + offsets[i];
    if (part != copied.end() && part->remote_offset == runs[i].remote_offset) {
      part->local = runs[i].local;
      ++part;
    }
  }
  offsets = {};
}

// Uses memory that exists already, so that no member can fail here alone.
template <SparseElement T>
void VectorGather<T>::use_buffer(std::span<T> buffer) noexcept {
  buffer_ = buffer;
  for (std::vector<Batch>* const batches : {&mapped_, &remote_}) {
    for (Batch& batch : *batches) {
      batch.use(buffer.data());
    }
  }
}

template <SparseElement T>
std::size_t VectorGather<T>::position_of(std::int64_t index) const noexcept {
  return positions_[static_cast<std::size_t>(
      std::lower_bound(indices_.begin(), indices_.end(), index) - indices_.begin())];
}

template <SparseElement T>
std::size_t VectorGather<T>::stage_of(std::size_t position) const noexcept {
  const std::size_t mapped_end = mapped_.empty() ? 0 : mapped_.back().end;
  if (position < mapped_end) {
    return 0;
  }
  const auto it =
      std::upper_bound(remote_.begin(), remote_.end(), position,
                       [](std::size_t at, const Batch& batch) { return at < batch.end; });
  return static_cast<std::size_t>(it - remote_.begin()) + 1;
}

template <SparseElement T>
Handle VectorGather<T>::start_batch(rma::Op op, Array<T>& array, const Batch& batch) const {
  const rma::Scale one = rma::Scale::of(T{1});
  const rma::RemoteAddress at = array.region().at(batch.owner);
  switch (options_.mode) {
    case SpmvMode::single:
      return transfer_one_by_one(array.job(), op, at, batch.runs, one, sizeof(T));
    case SpmvMode::plain:
      return transfer_singly(array.job(), op, at, batch.runs, one);
    case SpmvMode::aggregate:
      return transfer_together(array.job(), op, at, batch.runs, one);
    case SpmvMode::vector:
    case SpmvMode::push:  // for sums, and for slices that are mapped only in the plan's array
      break;
  }
  return transfer(array.job(), op, at, batch.runs, one);
}

template <SparseElement T>
Status VectorGather<T>::start(Array<T>& from) {
  if (push_) {
    return push_->send(from);
  }
  pending_gets_.clear();
  for (const Batch& batch : remote_) {
    pending_gets_.push_back(start_batch(rma::Op::get, from, batch));
  }
  return {};
}

// The owners of mapped slices are last in the list of owners to wait for.
template <SparseElement T>
Status VectorGather<T>::copy_mapped(Array<T>& from) {
  std::size_t number = remote_.size();
  for (const Batch& batch : mapped_) {
    if (options_.neighbours_only && batch.owner != from.team().rank()) {
      TESSERA_RETURN_IF_ERROR(push_->wait(number++));
    }
    TESSERA_RETURN_IF_ERROR(read(from, batch));
  }
  return {};
}

template <SparseElement T>
Status VectorGather<T>::read(Array<T>& from, const Batch& batch) {
  if (const std::byte* const slice = from.region().direct(batch.owner)) {
    for (const rma::Fragment& run : batch.copied) {
      copy_run<T>(static_cast<T*>(run.local) + shift(), slice + run.remote_offset, run.bytes);
    }
    return {};
  }
  // The slice was mapped for the array of the plan, but is not mapped for this one.
  TESSERA_RETURN_IF_ERROR(start_batch(rma::Op::get, from, batch).wait());
  if (shift() > 0) {
    for (const rma::Fragment& run : batch.runs) {
      std::memcpy(static_cast<T*>(run.local) + shift(), run.local, run.bytes);
    }
  }
  return {};
}

template <SparseElement T>
Status VectorGather<T>::wait(std::size_t stage) {
  if (push_) {
    return push_->wait(stage - 1);
  }
  Status status = pending_gets_[stage - 1].wait();
  if (!status.ok()) {
    for (rma::Handle& other : pending_gets_) {
      other.wait().ignore("the first error is returned");
    }
  }
  return status;
}

template <SparseElement T>
Status VectorGather<T>::get(Array<T>& from) {
  TESSERA_RETURN_IF_ERROR(start(from));
  Status status = copy_mapped(from);
  for (std::size_t stage = 1; stage < stages(); ++stage) {
    Status arrived = wait(stage);
    status = status.ok() ? std::move(arrived) : std::move(status);
  }
  return status;
}

template <SparseElement T>
Status VectorGather<T>::accumulate(Array<T>& to) {
  Handle all;
  for (const std::vector<Batch>* const batches : {&remote_, &mapped_}) {
    for (const Batch& batch : *batches) {
      all.collect(start_batch(rma::Op::accumulate, to, batch));
    }
  }
  return all.wait();
}

template class VectorGather<std::int32_t>;
template class VectorGather<std::int64_t>;
template class VectorGather<float>;
template class VectorGather<double>;
template class VectorGather<std::complex<float>>;
template class VectorGather<std::complex<double>>;

}  // namespace tessera::linalg::detail
