// SPDX-License-Identifier: BSD-3-Clause
//
// Mapping: page-aligned memory for buffers of baselines, allocated and touched.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "bench/baselines/baseline.hpp"
#include "bench/support/candidate.hpp"

namespace tessera::bench {

enum class Sharing {
  own,     ///< private anonymous memory, as a user's local buffers
  shared,  ///< a memfd mapped MAP_SHARED, as the ranks of a node share memory
};

class Mapping {
 public:
  /// Throws std::system_error if there is no memory. The memory begins `offset_bytes` after the
  /// start of a page, less than a page.
  Mapping(std::size_t bytes, Sharing sharing, std::size_t offset_bytes = 0);
  ~Mapping();
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  [[nodiscard]] std::span<std::byte> bytes() const { return bytes_; }

 private:
  std::span<std::byte> mapped_;
  std::span<std::byte> bytes_;
};

/// The offset of `address` in its cache line. Local buffers have the same offset as remote ones. On
/// some processors the C library's memcpy takes 25 times as long if the target lies a few bytes
/// further from a page's start than the source (measured on an AMD EPYC 9004 for 4 KiB and more).
/// Open MPI's windows begin 8 bytes after a page's start.
std::size_t line_offset(const void* address);

// The loops of the memory baseline, compiled separately, so that the compiler knows no length and
// can't merge a call with the next. (A single memcpy of run-time length is already a call into the
// C library.)

namespace kernels {

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

}  // namespace kernels

// MemoryBaseline: the baseline of plain loads and stores, on memory that ranks of a node can share.
//
// The least work that any library needs on one node: memcpy out of line with a length known at run
// time, a hand-written loop of memcpy for rows and lists, y[i] += a*x[i] without atomicity, one
// `lock xadd` or `xchg`, and the two atomic operations of a lock.

class MemoryBaseline : public Baseline {
 public:
  /// With its own buffers: private memory for the local one, a memfd for the remote one.
  explicit MemoryBaseline(const BaselineOptions& options);
  /// Uses the buffers of another candidate, so that both touch the same memory. Both must outlive
  /// this object and be aligned to 64 bytes; they may be overwritten. If ranks share `remote`, only
  /// one of them `verifies`.
  MemoryBaseline(std::span<std::byte> local, std::span<std::byte> remote, bool cold,
                 bool verifies = true);

  [[nodiscard]] std::string_view name() const override { return "memory"; }
  [[nodiscard]] std::optional<Candidate> candidate(const Case& c) override;

 private:
  template <class Once>
  [[nodiscard]] Candidate candidate_of(const Case& c, Once once) const;
  [[nodiscard]] Candidate contiguous(const Case& c) const;
  [[nodiscard]] Candidate rows(const Case& c) const;
  [[nodiscard]] Candidate list(const Case& c) const;
  [[nodiscard]] Candidate atomic(const Case& c) const;
  [[nodiscard]] Workspace workspace() const;

  std::unique_ptr<Mapping> own_local_;
  std::unique_ptr<Mapping> own_remote_;
  std::span<std::byte> local_;
  std::span<std::byte> remote_;
  bool cold_;
  bool verifies_ = true;
};

/// Collective when run. STREAM's triad on every rank at once, each on its own three arrays of
/// `elements` doubles, allocated by prepare(). `bytes` counts all ranks, as STREAM does: 24 per
/// element.
Candidate triad_candidate(RankGroup& group, std::size_t elements);

}  // namespace tessera::bench
