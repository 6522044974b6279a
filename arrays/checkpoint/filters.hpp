// SPDX-License-Identifier: BSD-3-Clause
//
// The filters of chunks that Tessera applies itself, on all ranks at the same time: deflate,
// shuffle and fletcher32, as HDF5 defines them. This is the only use of zlib in this layer; builds
// without HDF5 have none.
//
// A chunk passes through the filters in their order when it is written, and in the opposite order
// when it is read. A bit of the chunk's mask says that it skipped a filter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "arrays/checkpoint/chunk_buffer.hpp"
#include "rma/base/result.hpp"

namespace tessera::arrays::detail {

enum class FilterKind : std::int32_t { deflate = 1, shuffle = 2, fletcher32 = 3 };

struct StoredFilter {
  FilterKind kind = FilterKind::deflate;
  std::uint32_t parameter = 0;  ///< deflate: the level; shuffle: bytes of an element
};

/// Applies the filters to the bytes of `chunk`; the result is in `chunk` again, and `spare` is used
/// on the way. Returns the mask: a deflate that doesn't make the chunk smaller is skipped. Errors:
/// no_memory.
rma::Result<std::uint32_t> apply_filters(std::span<const StoredFilter> filters, ChunkBuffer& chunk,
                                         ChunkBuffer& spare);

/// The opposite; the result has `chunk_bytes` bytes. Errors: protocol for bytes that are not those
/// of a chunk; no_memory.
rma::Status undo_filters(std::span<const StoredFilter> filters, std::uint32_t mask,
                         std::size_t chunk_bytes, ChunkBuffer& chunk, ChunkBuffer& spare);

}  // namespace tessera::arrays::detail
