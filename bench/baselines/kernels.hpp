// SPDX-License-Identifier: BSD-3-Clause
//
// The loops of the memory baseline, compiled separately, so that the compiler knows no length and
// can't merge a call with the next. (A single memcpy of run-time length is already a call into the
// C library.)
#pragma once

#include <cstddef>
#include <cstdint>

#include "bench/support/case.hpp"

namespace tessera::bench::kernels {

/// A user's hand-written loop: one memcpy a row.
void copy_rows(std::byte* to, std::size_t to_stride, const std::byte* from, std::size_t from_stride,
               std::size_t row_bytes, std::int64_t rows);

/// One memcpy a run, with the addresses from two tables.
void copy_list(std::byte* const* to, const std::byte* const* from, std::size_t run_bytes,
               std::int64_t runs);

/// y[i] += a * x[i], plain: not atomic.
void axpy(double* y, const double* x, double a, std::size_t n);

/// axpy() row by row; strides in bytes.
void axpy_rows(std::byte* y, std::size_t y_stride, const std::byte* x, std::size_t x_stride,
               double a, std::size_t row_bytes, std::int64_t rows);

/// axpy() run by run, with the addresses from two tables.
void axpy_list(std::byte* const* y, const std::byte* const* x, double a, std::size_t run_bytes,
               std::int64_t runs);

/// One `lock xadd`.
std::int64_t fetch_add(std::int64_t& word, std::int64_t increment);

/// One `xchg`.
std::int64_t swap(std::int64_t& word, std::int64_t desired);

/// One `lock cmpxchg`: stores `desired` if the word is `expected`; returns the old value.
std::int64_t compare_swap(std::int64_t& word, std::int64_t expected, std::int64_t desired);

/// The two atomic operations that a free lock needs: compare-and-swap to acquire it, exchange to
/// release it.
void lock_unlock(std::int64_t& word);

/// a[i] = b[i] + scale * c[i], as in STREAM.
void triad(double* a, const double* b, const double* c, double scale, std::size_t n);

}  // namespace tessera::bench::kernels
