// SPDX-License-Identifier: BSD-3-Clause
#include "bench/baselines/kernels.hpp"

#include <atomic>
#include <cstring>

namespace tessera::bench::kernels {
namespace {

// Only the operation determines the buffers' type: accumulate uses doubles.
double* doubles(std::byte* bytes) {
  return reinterpret_cast<double*>(bytes);
}
const double* doubles(const std::byte* bytes) {
  return reinterpret_cast<const double*>(bytes);
}

}  // namespace

void copy_rows(std::byte* to, std::size_t to_stride, const std::byte* from, std::size_t from_stride,
               std::size_t row_bytes, std::int64_t rows) {
  for (std::int64_t row = 0; row < rows; ++row) {
    std::memcpy(to, from, row_bytes);
    to += to_stride;
    from += from_stride;
  }
}

void copy_list(std::byte* const* to, const std::byte* const* from, std::size_t run_bytes,
               std::int64_t runs) {
  for (std::int64_t run = 0; run < runs; ++run) {
    std::memcpy(to[run], from[run], run_bytes);
  }
}

void axpy(double* y, const double* x, double a, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    y[i] += a * x[i];
  }
}

void axpy_rows(std::byte* y, std::size_t y_stride, const std::byte* x, std::size_t x_stride,
               double a, std::size_t row_bytes, std::int64_t rows) {
  for (std::int64_t row = 0; row < rows; ++row) {
    axpy(doubles(y), doubles(x), a, row_bytes / sizeof(double));
    y += y_stride;
    x += x_stride;
  }
}

void axpy_list(std::byte* const* y, const std::byte* const* x, double a, std::size_t run_bytes,
               std::int64_t runs) {
  for (std::int64_t run = 0; run < runs; ++run) {
    axpy(doubles(y[run]), doubles(x[run]), a, run_bytes / sizeof(double));
  }
}

std::int64_t fetch_add(std::int64_t& word, std::int64_t increment) {
  return std::atomic_ref<std::int64_t>(word).fetch_add(increment);
}

std::int64_t swap(std::int64_t& word, std::int64_t desired) {
  return std::atomic_ref<std::int64_t>(word).exchange(desired);
}

std::int64_t compare_swap(std::int64_t& word, std::int64_t expected, std::int64_t desired) {
  std::atomic_ref<std::int64_t>(word).compare_exchange_strong(expected, desired);
  return expected;
}

void lock_unlock(std::int64_t& word) {
  std::atomic_ref<std::int64_t> lock(word);
  std::int64_t free = 0;
  lock.compare_exchange_strong(free, 1, std::memory_order_acquire);
  lock.exchange(0, std::memory_order_release);
}

void triad(double* a, const double* b, const double* c, double scale, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    a[i] = b[i] + scale * c[i];
  }
}

}  // namespace tessera::bench::kernels
