// SPDX-License-Identifier: BSD-3-Clause
//
// The transfer of an array's elements to a file and back.
//
// The array's row-major order is cut into pieces of equal length. Each member handles an equal
// number of consecutive pieces, its slab. While the file system handles one piece, the next is
// fetched from its owners, or the last is put to them; so there are two buffers.
#pragma once

#include <cstdint>
#include <vector>

#include "arrays/checkpoint.hpp"
#include "arrays/checkpoint/array_part.hpp"
#include "arrays/checkpoint/catalog.hpp"
#include "arrays/checkpoint/element_converter.hpp"
#include "arrays/checkpoint/file.hpp"

namespace tessera::arrays::detail {

/// Pieces [first, last) of an array.
struct Slab {
  std::int64_t first = 0;
  std::int64_t last = 0;
};

/// The number of pieces in each member's slab; the last members may have fewer.
std::int64_t pieces_per_member(const StoredArray& array, std::int64_t members) noexcept;
Slab slab_of(const StoredArray& array, rma::TeamRank member, std::int64_t members) noexcept;
/// The same for the pieces that have elements of a box, which is not empty.
Slab slab_of(const StoredArray& array, const Box& box, rma::TeamRank member,
             std::int64_t members) noexcept;

/// One-sided. Writes a slab from the array into the file. Returns a checksum for each piece.
rma::Result<std::vector<std::uint64_t>> write_slab(const File& file, const StoredArray& stored,
                                                   const Slab& slab, const ArrayPart& part);

/// One-sided. Reads a slab from the file, compares its checksums, and puts the elements of the part
/// into it if that is not null; complete locally. Errors: protocol for a piece with a different
/// checksum, which is named and of which nothing was put.
rma::Status read_slab(const File& file, const StoredArray& stored, const Slab& slab,
                      const ArrayPart* part, const ElementConverter& converter);

}  // namespace tessera::arrays::detail
