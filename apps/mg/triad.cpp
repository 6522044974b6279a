// SPDX-License-Identifier: BSD-3-Clause
#include "apps/mg/triad.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <vector>

#include "apps/mg/buffers.hpp"

namespace tessera::apps::mg {
namespace {

constexpr double bytes_per_element = 24.0;
constexpr std::int64_t cache_multiple = 4;
constexpr std::int64_t assumed_cache_bytes = std::int64_t{32} << 20;

// A function of its own so that the compiler sees three distinct arrays and no repetition.
[[gnu::noinline]] void triad(double* __restrict a, const double* __restrict b,
                             const double* __restrict c, double q, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    a[i] = b[i] + q * c[i];
  }
}

}  // namespace

std::int64_t triad_elements(std::int64_t share) {
  const std::int64_t reported = sysconf(_SC_LEVEL3_CACHE_SIZE);
  const std::int64_t cache = reported > 0 ? reported : assumed_cache_bytes;
  return cache_multiple * cache / static_cast<std::int64_t>(sizeof(double)) / share;
}

TriadResult measure_triad(std::int64_t elements, int repeats) {
  const LineBuffer a(elements);
  const LineBuffer b(elements);
  const LineBuffer c(elements);
  std::fill_n(b.data(), elements, 2.0);
  std::fill_n(c.data(), elements, 1.0);
  std::vector<double> rates;
  for (int i = 0; i <= repeats; ++i) {
    const auto start = std::chrono::steady_clock::now();
    triad(a.data(), b.data(), c.data(), 3.0, elements);
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    if (i > 0) {
      rates.push_back(bytes_per_element * static_cast<double>(elements) / elapsed.count() * 1e-9);
    }
  }
  std::sort(rates.begin(), rates.end());
  return {rates.back(), rates[rates.size() / 2], elements};
}

}  // namespace tessera::apps::mg
