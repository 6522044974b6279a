// SPDX-License-Identifier: BSD-3-Clause
//
// The engine of all operations on whole arrays and parts of them: each rank works on the elements
// of the first operand that it owns, and sees the corresponding elements of the others beside
// them, wherever those lie.
//
//     first operand, box [2,8)       | own block of this rank: [4,6) |
//     second operand, box [0,6)                 its elements [2,4)
//
// Elements that lie in memory of this node in one piece are used where they are. Others are
// fetched in chunks, the next one while the work on the last goes on. The body of an operation is
// called once for each chunk and never asks how its operands are distributed.
//
// A vector may be an operand of an operation on a matrix: it lies along one dimension of the first
// operand, and is repeated along the others.
//
// Cost: two buffers of chunk_bytes for each operand that must be fetched; O(own blocks that overlap
// the box) chunks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "arrays/array_base.hpp"
#include "arrays/box.hpp"
#include "arrays/part.hpp"
#include "arrays/request.hpp"

namespace tessera::arrays {

/// Of one operand's part that is fetched at once.
inline constexpr std::int64_t chunk_bytes = 256 << 10;
inline constexpr int max_operands = 6;

struct ChunkOperand {
  const ArrayBase* array = nullptr;
  Box box;
  bool is_written = false;
  /// Of a vector: the dimension of the first operand along which it lies; else −1.
  int along = -1;
};

/// The operand that an operation only reads, or also writes.
template <Operand A>
ChunkOperand reads(const A& operand) noexcept {
  return {&part(operand).array(), part(operand).box()};
}
template <Operand A>
ChunkOperand writes(const A& operand) noexcept {
  return {&part(operand).array(), part(operand).box(), true};
}
/// A vector that is read along one dimension of the first operand.
template <Operand A>
ChunkOperand reads_along(int dim, const A& operand) noexcept {
  return {&part(operand).array(), part(operand).box(), false, dim};
}

/// Where the elements of a chunk lie in memory of this process.
struct Chunk {
  struct Memory {
    std::byte* data = nullptr;  ///< the element at the lower corner
    Strides strides;            ///< in elements
  };
  Box box;  ///< of the first operand's array
  std::array<Memory, max_operands> operands;

  template <class T>
  [[nodiscard]] LocalView<T> view(int operand) const noexcept {
    const Memory& memory = operands[static_cast<std::size_t>(operand)];
    return LocalView<T>(reinterpret_cast<T*>(memory.data), box.extents(), memory.strides);
  }
};

using ChunkBody = std::function<rma::Status(const Chunk&)>;

/// Local. What makes operands fit for an operation `verb`: open arrays, boxes inside them and of
/// the same extents as the first, access modes that allow it, no operand that is written while
/// another part of it is read, and a first operand whose team is part of the others'.
/// Errors: invalid_argument, out_of_range, closed, which name both operands.
rma::Status check_operands(std::string_view verb, std::span<const ChunkOperand> operands);

/// Local. Calls `body` for all chunks of what this rank owns of the first operand; stops at the
/// first error. Requires: check_operands() found nothing; what is fetched is complete.
rma::Status for_each_chunk(std::span<const ChunkOperand> operands, const ChunkBody& body);

/// Collective over the team of the first operand: check_operands(), a synchronisation, the work,
/// and a synchronisation. Errors: of any member, on all. `found` is an error that the caller has
/// found itself; it names `verb` already.
/// `beside` are operands that it fetches itself, and `given` has all else that members must give
/// alike: scalars, options.
rma::Status on_chunks(std::string_view verb, std::span<const ChunkOperand> operands,
                      const ChunkBody& body, rma::Status found = {},
                      std::span<const ChunkOperand> beside = {}, const detail::Request& given = {});

/// Collective. The first half of on_chunks(): checks, and makes what others wrote to the operands
/// visible. A member with an error of its own meets the others, too, so that none waits for it.
/// Nobody can meet over an array that was moved from: it has no team.
/// All give the same operands, also `beside` them, and the same of what else is `given`; operands
/// are open where nothing is found.
rma::Status begin_on_chunks(std::string_view verb, std::span<const ChunkOperand> operands,
                            rma::Status found = {}, std::span<const ChunkOperand> beside = {},
                            const detail::Request& given = {});

/// The loops over a chunk's elements: runs with one stride an operand, and levels above them. As
/// few levels as the operands' strides allow; the run is along the first operand's fastest
/// dimension that has more than one element.
struct LoopNest {
  struct Level {
    std::int64_t count = 1;
    std::array<std::int64_t, max_operands> strides = {};
  };
  int levels = 0;  ///< above the run
  Level run;
  std::array<Level, max_dims> level;
};
LoopNest loop_nest(const Chunk& chunk, int operands) noexcept;

/// Calls body(offsets) for each run of the nest, where offsets[k] counts elements of operand k from
/// its corner.
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
