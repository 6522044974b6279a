// SPDX-License-Identifier: BSD-3-Clause
//
// Writes chunks on all ranks. Each rank takes the next chunk from a counter, gets its elements,
// compresses them, reserves space in the file by another counter, and writes them there. So ranks
// wait for no other rank, and chunks that compress slowly cause no imbalance.
#pragma once

#include <cstdint>

#include "arrays/array.hpp"
#include "arrays/checkpoint/array_part.hpp"
#include "arrays/checkpoint/catalog.hpp"
#include "arrays/checkpoint/chunk_grid.hpp"
#include "arrays/checkpoint/chunk_place.hpp"
#include "arrays/checkpoint/file.hpp"
#include "arrays/counter.hpp"

namespace tessera::arrays::detail {

/// Places of chunks, in the memory of the leader: one row of ChunkPlace's words for each.
class PlaceTable {
 public:
  /// Collective.
  static rma::Result<PlaceTable> create(const rma::Job& job, const rma::Team& team,
                                        std::int64_t rows);
  /// One-sided. Complete after collect().
  rma::Status put(std::int64_t row, const ChunkPlace& place);
  /// Collective. All rows, on the leader; none on other members. Errors: those of any member.
  rma::Result<std::vector<ChunkPlace>> collect(rma::Status own_status);

 private:
  explicit PlaceTable(Array<std::uint64_t> rows) : rows_(std::move(rows)) {}
  Array<std::uint64_t> rows_;
};

/// One-sided. Writes chunks of a range until `next_chunk` says that all are taken; `end` is the end
/// of what the file holds. Row i of the table gets the i-th chunk of the range. Memory: three
/// chunks.
rma::Status write_chunks(const File& file, const StoredArray& stored, const ArrayPart& part,
                         const ChunkRange& range, const Counter& next_chunk, const Counter& end,
                         PlaceTable& table);

/// The extents of chunks for a part of an array: about 1 MiB each, whole blocks of the distribution
/// or equal parts of one, if possible.
Extents default_chunk(const ArrayBase& array, const Section& part);

}  // namespace tessera::arrays::detail
