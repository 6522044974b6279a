// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/detail/block_snapshot.hpp"

#include <cstdint>
#include <cstring>

namespace tessera::arrays::detail {

BlockSnapshot::BlockSnapshot(const Patch& block, const std::byte* slice, std::size_t element_bytes,
                             SnapshotRoom room)
    : block_(block),
      slice_(slice),
      element_bytes_(element_bytes),
      row_dim_(block.order == MemoryOrder::row_major ? block.box.ndims() - 1 : 0),
      run_(block.strides[row_dim_] == 1 ? block.box.extent(row_dim_) : 1),
      copy_(std::move(room)) {
  const std::size_t bytes = static_cast<std::size_t>(block.box.volume()) * element_bytes;
  if (copy_.bytes < bytes) {
    copy_ = {std::make_unique_for_overwrite<std::byte[]>(bytes), bytes};
  }
  for_each_row([&](const Index& /*first*/, const std::byte* now, std::size_t at) {
    std::memcpy(copy_.memory.get() + at, now, static_cast<std::size_t>(run_) * element_bytes_);
  });
}

// Calls `body(first element, its offset in memory, its offset in the copy)`.
template <class Body>
void BlockSnapshot::for_each_row(Body&& body) const {
  if (block_.box.is_empty()) {
    return;
  }
  Extents counts = block_.box.extents();
  counts[row_dim_] /= run_;
  const Index origin = Index::zeros(counts.ndims());
  Index row = origin;
  std::size_t at = 0;
  do {
    Index first = block_.box.lo();
    for (int dim = 0; dim < counts.ndims(); ++dim) {
      first[dim] += row[dim];
    }
    const std::int64_t offset = block_.offset + distance(origin, row, block_.strides);
    body(first, slice_ + offset * static_cast<std::int64_t>(element_bytes_), at);
    at += static_cast<std::size_t>(run_) * element_bytes_;
  } while (advance(row, counts, block_.order));
}

namespace {

// Calls `found(begin, end)` for each run of changed elements among `count`. `is_changed(i)`
// compares one element.
template <class IsChanged, class Found>
void for_each_changed_run(std::int64_t count, const IsChanged& is_changed, const Found& found) {
  for (std::int64_t begin = 0; begin < count; ++begin) {
    if (!is_changed(begin)) {
      continue;
    }
    std::int64_t end = begin + 1;
    while (end < count && is_changed(end)) {
      ++end;
    }
    found(begin, end);
    begin = end;
  }
}

// Elements of one word are compared without a call.
template <class Word>
auto word_comparison(const std::byte* now, const std::byte* before) {
  return [=](std::int64_t element) {
    Word a = 0;
    Word b = 0;
    std::memcpy(&a, now + element * static_cast<std::int64_t>(sizeof(Word)), sizeof a);
    std::memcpy(&b, before + element * static_cast<std::int64_t>(sizeof(Word)), sizeof b);
    return a != b;
  };
}

}  // namespace

void BlockSnapshot::take_changes(const std::function<void(const Box& part)>& found, bool is_last) {
  for_each_row([&](const Index& first, const std::byte* now, std::size_t at) {
    std::byte* const before = copy_.memory.get() + at;
    const std::size_t bytes = static_cast<std::size_t>(run_) * element_bytes_;
    if (std::memcmp(now, before, bytes) == 0) {
      return;
    }
    const auto report = [&](std::int64_t begin, std::int64_t end) {
      Box part = Box::at(first);
      part.set(row_dim_, first[row_dim_] + begin, first[row_dim_] + end);
      found(part);
    };
    if (element_bytes_ == sizeof(std::uint64_t)) {
      for_each_changed_run(run_, word_comparison<std::uint64_t>(now, before), report);
    } else if (element_bytes_ == sizeof(std::uint32_t)) {
      for_each_changed_run(run_, word_comparison<std::uint32_t>(now, before), report);
    } else {
      const auto is_changed = [&](std::int64_t element) {
        const std::size_t offset = static_cast<std::size_t>(element) * element_bytes_;
        return std::memcmp(now + offset, before + offset, element_bytes_) != 0;
      };
      for_each_changed_run(run_, is_changed, report);
    }
    if (!is_last) {
      std::memcpy(before, now, bytes);
    }
  });
}

}  // namespace tessera::arrays::detail
