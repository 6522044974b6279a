// SPDX-License-Identifier: BSD-3-Clause
//
// Reads chunks on all ranks: each rank reads, decompresses and converts its own ones.
#pragma once

#include <span>

#include "arrays/checkpoint/array_part.hpp"
#include "arrays/checkpoint/catalog.hpp"
#include "arrays/checkpoint/chunk_place.hpp"
#include "arrays/checkpoint/element_converter.hpp"
#include "arrays/checkpoint/file.hpp"

namespace tessera::arrays::detail {

/// One-sided. Reads chunks, compares their checksums, and puts the elements of the part into it if
/// that is not null; complete locally. Memory: two chunks and a compressed one. Errors: protocol
/// for a damaged chunk, which is named and of which nothing was put.
rma::Status read_chunks(const File& file, const StoredArray& stored,
                        std::span<const ChunkPlace> chunks, const ArrayPart* part,
                        const ElementConverter& converter);

}  // namespace tessera::arrays::detail
