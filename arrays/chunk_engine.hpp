// SPDX-License-Identifier: BSD-3-Clause
//
// The engine of all operations on whole arrays and parts of them. Each rank works on the elements
// of the first operand that it owns, and gets the corresponding elements of the other operands,
// whichever rank owns those.
//
//     first operand, box [2,8)       | own block of this rank: [4,6) |
//     second operand, box [0,6)                 its elements [2,4)
//
// Elements that lie contiguously in memory of this node are used in place. Others are fetched in
// chunks; the next chunk is fetched during the work on the current one. The body of an operation is
// called once for each chunk and doesn't depend on the distributions of its operands.
//
// A vector may be an operand of an operation on a matrix: it lies along one dimension of the first
// operand, and is repeated along the others.
//
// Cost: two buffers of chunk_bytes for each operand that must be fetched. The number of chunks is
// O(own blocks that overlap the box).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "arrays/array_base.hpp"
#include "arrays/box.hpp"
#include "arrays/call_signature.hpp"
#include "arrays/subarray.hpp"

namespace tessera::arrays {

/// The number of bytes of one operand that are fetched at once.
inline constexpr std::int64_t chunk_bytes = 256 << 10;
inline constexpr int max_operands = 6;

struct ChunkOperand {
  const ArrayBase* array = nullptr;
  Box box;
  bool is_written = false;
  /// For a vector: the dimension of the first operand along which it lies; otherwise −1.
  int along = -1;
};

/// An operand that the operation only reads; below, one that it also writes.
template <Operand A>
ChunkOperand reads(const A& operand) noexcept {
  return {&part(operand).array(), part(operand).box()};
}
template <Operand A>
ChunkOperand writes(const A& operand) noexcept {
  return {&part(operand).array(), part(operand).box(), true};
}
/// A vector that is read along dimension `dim` of the first operand.
template <Operand A>
ChunkOperand reads_along(int dim, const A& operand) noexcept {
  return {&part(operand).array(), part(operand).box(), false, dim};
}

/// Where the elements of a chunk are in memory of this process.
struct Chunk {
  struct Memory {
    std::byte* data = nullptr;  ///< the element at the lower corner
    Strides strides;            ///< in elements
  };
  Box box;  ///< indices of the first operand's array
  std::array<Memory, max_operands> operands;

  template <class T>
  [[nodiscard]] LocalView<T> view(int operand) const noexcept {
    const Memory& memory = operands[static_cast<std::size_t>(operand)];
    return LocalView<T>(reinterpret_cast<T*>(memory.data), box.extents(), memory.strides);
  }
};

using ChunkBody = std::function<rma::Status(const Chunk&)>;

/// Local. Checks that an operation `verb` may use the operands. Arrays must be open, boxes inside
/// them and of the first operand's extents, and access modes must allow the operation. An operand
/// that is written must not overlap one that is read. The first operand's team must be part of the
/// others' teams. Errors: invalid_argument, out_of_range, closed; each names both operands.
rma::Status check_operands(std::string_view verb, std::span<const ChunkOperand> operands);

/// Local. Calls `body` for all chunks of what this rank owns of the first operand; stops at the
/// first error. Requires: check_operands() succeeded; all writes to operands that may be fetched
/// are complete.
rma::Status for_each_chunk(std::span<const ChunkOperand> operands, const ChunkBody& body);

/// Collective over the team of the first operand: check_operands(), a synchronisation, the work,
/// and a synchronisation. Errors: those of any member, on all. `found` is an error that the caller
/// has found itself; its message already names `verb`. `beside` are operands that the caller
/// fetches itself. `given` has the other values that all members must give alike, such as scalars
/// and options.
rma::Status on_chunks(std::string_view verb, std::span<const ChunkOperand> operands,
                      const ChunkBody& body, rma::Status found = {},
                      std::span<const ChunkOperand> beside = {},
                      const detail::CallSignature& given = {});

/// Collective. The first half of on_chunks(): checks, and makes what other ranks wrote to the
/// operands visible. A member with an error of its own takes part too, so that no member waits for
/// it without end. An array that was moved from has no team, so its operation can't synchronise.
/// All members give the same operands, also in `beside`, and the same `given`. If no error is
/// found, all operands are open.
rma::Status begin_on_chunks(std::string_view verb, std::span<const ChunkOperand> operands,
                            rma::Status found = {}, std::span<const ChunkOperand> beside = {},
                            const detail::CallSignature& given = {});

/// The loops over a chunk's elements: innermost runs with one stride for each operand, and outer
/// levels, as few as the operands' strides allow. The run is along the first operand's fastest
/// dimension that has more than one element.
struct LoopNest {
  struct Level {
    std::int64_t count = 1;
    std::array<std::int64_t, max_operands> strides = {};
  };
  int levels = 0;  ///< outside the run
  Level run;
  std::array<Level, max_dims> level;
};
LoopNest loop_nest(const Chunk& chunk, int operands) noexcept;

/// Calls body(offsets) for each run. offsets[k] is in elements of operand k, counted from its
/// corner.
template <class Body>
void for_each_run(const LoopNest& nest, Body&& body) {
  std::array<std::int64_t, max_operands> offsets = {};
  std::array<std::int64_t, max_dims> at = {};
  while (true) {
    body(static_cast<const std::array<std::int64_t, max_operands>&>(offsets));
    int level = 0;
    for (; level < nest.levels; ++level) {
      const auto l = static_cast<std::size_t>(level);
      const LoopNest::Level& loop = nest.level[l];
      const bool goes_on = ++at[l] < loop.count;
      for (std::size_t k = 0; k < offsets.size(); ++k) {
        offsets[k] += goes_on ? loop.strides[k] : -loop.strides[k] * (loop.count - 1);
      }
      if (goes_on) {
        break;
      }
      at[l] = 0;
    }
    if (level == nest.levels) {
      return;
    }
  }
}

}  // namespace tessera::arrays
