// SPDX-License-Identifier: BSD-3-Clause
#include "rma/kernels/stream.hpp"

#include <cstring>

#include "rma/kernels/words.hpp"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace tessera::rma::kernels {

#if defined(__SSE2__)
namespace {

constexpr std::size_t line_bytes = 64;

// Copies one cache line; `to` is aligned to it. Uses the widest stores, so that the line is
// complete before the processor could write back a part of it.
inline void stream_line(std::byte* to, const std::byte* from) noexcept {
#if defined(__AVX__)
  const auto* const source = reinterpret_cast<const __m256i_u*>(from);
  auto* const target = reinterpret_cast<__m256i*>(to);
  const __m256i first = _mm256_loadu_si256(source);
  const __m256i second = _mm256_loadu_si256(source + 1);
  _mm256_stream_si256(target, first);
  _mm256_stream_si256(target + 1, second);
#else
  const auto* const source = reinterpret_cast<const __m128i_u*>(from);
  auto* const target = reinterpret_cast<__m128i*>(to);
  for (int i = 0; i < 4; ++i) {
    _mm_stream_si128(target + i, _mm_loadu_si128(source + i));
  }
#endif
}

}  // namespace

void stream_run(void* to_run, const void* from_run, std::size_t bytes) noexcept {
  auto* const to = static_cast<std::byte*>(to_run);
  const auto* const from = static_cast<const std::byte*>(from_run);
  std::size_t at = -address_of(to) & (line_bytes - 1);
  if (bytes < at) {
    at = bytes;
  }
  std::memcpy(to, from, at);
  for (; bytes - at >= 2 * line_bytes; at += 2 * line_bytes) {
    stream_line(to + at, from + at);
    stream_line(to + at + line_bytes, from + at + line_bytes);
  }
  std::memcpy(to + at, from + at, bytes - at);
  // Streaming stores are not ordered with later stores, such as that of a flag that means "done".
  _mm_sfence();
}
#else
void stream_run(void* to, const void* from, std::size_t bytes) noexcept {
  std::memcpy(to, from, bytes);
}
#endif

}  // namespace tessera::rma::kernels
