// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <vector>

namespace tessera::bench {

/// Compresses as h5py's shuffle and gzip do, by bare calls of zlib. `doubles` are bytes; `result`
/// has the compressed ones, or the same if zlib is missing or can't make them fewer.
void compress_doubles(std::span<const char> doubles, int level, std::vector<char>& result);

}  // namespace tessera::bench
