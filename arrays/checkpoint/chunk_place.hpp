// SPDX-License-Identifier: BSD-3-Clause
//
// Where the bytes of a chunk are in a file.
#pragma once

#include <cstdint>

namespace tessera::arrays::detail {

struct ChunkPlace {
  std::uint64_t number = 0;    ///< in the grid of its data set
  std::uint64_t offset = 0;    ///< in the file, in bytes
  std::uint64_t bytes = 0;     ///< 0: it was never written
  std::uint64_t mask = 0;      ///< bit i: filter i was skipped
  std::uint64_t checksum = 0;  ///< of its bytes in the file; only of new chunks
};

}  // namespace tessera::arrays::detail
