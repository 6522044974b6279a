// SPDX-License-Identifier: BSD-3-Clause
#include "bench/arrays/compress_doubles.hpp"

#ifndef TESSERA_BENCH_NO_ZLIB
#include <zlib.h>
#endif

namespace tessera::bench {

#ifndef TESSERA_BENCH_NO_ZLIB
void compress_doubles(std::span<const char> doubles, int level, std::vector<char>& result) {
  static thread_local std::vector<char> shuffled;
  shuffled.resize(doubles.size());
  const std::size_t count = doubles.size() / sizeof(double);
  for (std::size_t byte = 0; byte < sizeof(double); ++byte) {
    for (std::size_t i = 0; i < count; ++i) {
      shuffled[byte * count + i] = doubles[i * sizeof(double) + byte];
    }
  }
  uLongf size = compressBound(shuffled.size());
  result.resize(size);
  const int code =
      compress2(reinterpret_cast<Bytef*>(result.data()), &size,
                reinterpret_cast<const Bytef*>(shuffled.data()), shuffled.size(), level);
  if (code == Z_OK && size < doubles.size()) {
    result.resize(size);
  } else {
    result.assign(doubles.begin(), doubles.end());
  }
}
#else
void compress_doubles(std::span<const char> doubles, int, std::vector<char>& result) {
  result.assign(doubles.begin(), doubles.end());
}
#endif

}  // namespace tessera::bench
