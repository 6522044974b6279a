// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/reshape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <vector>

#include "arrays/chunk_engine.hpp"

namespace tessera::arrays {

using rma::Code;
using rma::Handle;
using rma::Status;

namespace {

// Elements [first, first + count) of a box in row-major order form a few boxes: the end of a row,
// some whole rows, the beginning of a row, and so on in each dimension. Calls body(box, offset in
// the range).
using RangeBody = std::function<void(const Box&, std::int64_t)>;

class RangeBoxes {
 public:
  RangeBoxes(const Box& box, const RangeBody& body) : box_(box), body_(body), part_(box) {}

  void run(std::int64_t first, std::int64_t count) { cut(0, first, count); }

 private:
  // The dimensions before `dim` are fixed to one index each.
  void cut(int dim, std::int64_t first, std::int64_t count) {
    if (count == 0) {
      return;
    }
    std::int64_t inner = 1;  // elements for each index of this dimension
    for (int below = dim + 1; below < box_.ndims(); ++below) {
      inner *= box_.extent(below);
    }
    const std::int64_t head = std::min(count, (inner - first % inner) % inner);
    add_partial_index(dim, first, head);
    const std::int64_t rows = (count - head) / inner;
    if (rows > 0) {
      const std::int64_t lo = box_.lo(dim) + (first + head) / inner;
      part_.set(dim, lo, lo + rows);
      for (int below = dim + 1; below < box_.ndims(); ++below) {
        part_.set(below, box_.lo(below), box_.hi(below));
      }
      body_(part_, done_);
      done_ += rows * inner;
    }
    add_partial_index(dim, first + head + rows * inner, count - head - rows * inner);
  }

  // Less than one index of `dim`.
  void add_partial_index(int dim, std::int64_t first, std::int64_t count) {
    if (count == 0) {
      return;
    }
    std::int64_t inner = 1;
    for (int below = dim + 1; below < box_.ndims(); ++below) {
      inner *= box_.extent(below);
    }
    const std::int64_t lo = box_.lo(dim) + first / inner;
    part_.set(dim, lo, lo + 1);
    cut(dim + 1, first % inner, count);
  }

  const Box& box_;
  const RangeBody& body_;
  Box part_;
  std::int64_t done_ = 0;
};

// Fills this rank's part of `to`, row by row.
class Reshape {
 public:
  Reshape(const ChunkOperand& from, const ChunkOperand& to)
      : from_(from), to_(to), bytes_(static_cast<std::int64_t>(to.array->element_bytes())) {}

  Status fill(const Chunk& chunk) {
    const int last = chunk.box.ndims() - 1;
    Extents rows = chunk.box.extents();
    rows[last] = 1;
    const std::int64_t at_once = std::max<std::int64_t>(1, chunk_bytes / bytes_);
    Index at = Index::zeros(rows.ndims());
    do {
      for (std::int64_t j = 0; j < chunk.box.extent(last); j += at_once) {
        Index first = at;
        first[last] = j;
        TESSERA_RETURN_IF_ERROR(
            fill_run(chunk, first, std::min(at_once, chunk.box.extent(last) - j)));
      }
    } while (advance(at, rows, MemoryOrder::row_major));
    return {};
  }

 private:
  // `count` elements along the last dimension, from `first`, which is counted from the chunk's
  // corner.
  Status fill_run(const Chunk& chunk, const Index& first, std::int64_t count) {
    const Strides order = dense_strides(to_.box.extents());
    const Index origin = Index::zeros(first.ndims());
    const std::int64_t offset =
        distance(to_.box.lo(), chunk.box.lo(), order) + distance(origin, first, order);
    const Chunk::Memory& memory = chunk.operands[0];
    const std::int64_t stride = memory.strides[first.ndims() - 1];
    std::byte* const target = memory.data + distance(origin, first, memory.strides) * bytes_;
    buffer_.resize(static_cast<std::size_t>(stride == 1 ? 0 : count * bytes_));
    std::byte* const at = stride == 1 ? target : buffer_.data();
    Handle gets;
    const RangeBody get = [&](const Box& box, std::int64_t done) {
      gets.collect(
          from_.array->get_box_async(box, {at + done * bytes_, dense_strides(box.extents())}));
    };
    RangeBoxes(from_.box, get).run(offset, count);
    TESSERA_RETURN_IF_ERROR(gets.wait());
    for (std::int64_t i = 0; i < count && stride != 1; ++i) {
      std::memcpy(target + i * stride * bytes_, buffer_.data() + i * bytes_,
                  static_cast<std::size_t>(bytes_));
    }
    return {};
  }

  const ChunkOperand& from_;
  const ChunkOperand& to_;
  std::int64_t bytes_;
  std::vector<std::byte> buffer_;
};

Status check_counts(const ChunkOperand& from, const ChunkOperand& to) {
  if (from.box.volume() != to.box.volume()) {
    return Status::error(Code::invalid_argument,
                         fmt::format("{} of {} has {} elements, but {} of {} has {}",
                                     to_string(from.box), from.array->describe(), from.box.volume(),
                                     to_string(to.box), to.array->describe(), to.box.volume()));
  }
  const bool is_same_memory =
      from.array->region().shared_state() == to.array->region().shared_state();
  const bool is_apart = from.array->distribution() == to.array->distribution() &&
                        intersect(from.box, to.box).is_empty();
  return !is_same_memory || is_apart
             ? Status()
             : Status::error(Code::invalid_argument,
                             fmt::format("{} and {} of {} overlap", to_string(from.box),
                                         to_string(to.box), to.array->describe()))
                   .hint("copy the part that is read into another array first");
}

Status check_both(std::string_view verb, const ChunkOperand& from, const ChunkOperand& to) {
  TESSERA_RETURN_IF_ERROR(check_operands(verb, std::span(&from, 1)));
  TESSERA_RETURN_IF_ERROR(check_operands(verb, std::span(&to, 1)));
  return check_counts(from, to).context(verb);
}

}  // namespace

Status detail::copy_row_major(const ArrayBase& from, const Box& from_box, const ArrayBase& to,
                              const Box& to_box) {
  const std::string_view verb = "copy_in_order";
  const std::array source{ChunkOperand{&from, from_box}};
  const std::array result{ChunkOperand{&to, to_box, true}};
  Status own_status = check_both(verb, source[0], result[0]);
  own_status = own_status.ok() ? from.fence().context(verb) : std::move(own_status);
  const CallScope scope(verb, to);
  TESSERA_RETURN_IF_ERROR(begin_on_chunks(verb, result, std::move(own_status), source));
  Reshape reshape(source[0], result[0]);
  return to.sync(for_each_chunk(result, [&](const Chunk& chunk) { return reshape.fill(chunk); }))
      .context(std::string(verb));
}

}  // namespace tessera::arrays
