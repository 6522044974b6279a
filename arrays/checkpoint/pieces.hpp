// SPDX-License-Identifier: BSD-3-Clause
//
// The elements of an array on their way to a file and back.
//
// The array's row-major order is cut into pieces of equal length, and a member has as many
// consecutive ones as any other: its slab. While one piece is in the file system's hands the next
// is got from its owners, or the last is put to them; so there are two buffers.
#pragma once

#include <cstdint>
#include <vector>

#include "arrays/checkpoint.hpp"
#include "arrays/checkpoint/catalog.hpp"
#include "arrays/checkpoint/file.hpp"

namespace tessera::arrays::detail {

/// Pieces [first, last) of an array.
struct Slab {
  std::int64_t first = 0;
  std::int64_t last = 0;
};

/// Pieces of each member's slab, but for the last ones, which may have fewer.
std::int64_t pieces_per_member(const StoredArray& array, std::int64_t members) noexcept;
Slab slab_of(const StoredArray& array, rma::TeamRank member, std::int64_t members) noexcept;

/// One-sided. Writes a slab from the array into the file. Returns a checksum a piece.
rma::Result<std::vector<std::uint64_t>> write_slab(const File& file, const StoredArray& stored,
                                                   const Slab& slab, const ArrayBase& array);

/// One-sided. Reads a slab from the file, compares its checksums, and puts it into `array`,
/// if there is one; complete locally. Errors: protocol for a piece that differs, which is named,
/// and of which nothing was put.
rma::Status read_slab(const File& file, const StoredArray& stored, const Slab& slab,
                      const ArrayBase* array);

}  // namespace tessera::arrays::detail
