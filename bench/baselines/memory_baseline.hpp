// SPDX-License-Identifier: BSD-3-Clause
//
// MemoryBaseline: the baseline of plain loads and stores, on memory that ranks of a node can share.
//
// The least work that any library needs on one node: memcpy out of line with a length known at run
// time, a hand-written loop of memcpy for rows and lists, y[i] += a*x[i] without atomicity, one
// `lock xadd` or `xchg`, and the two atomic operations of a lock.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "bench/baselines/baseline.hpp"
#include "bench/baselines/mapping.hpp"
#include "bench/support/transfer.hpp"

namespace tessera::bench {

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

/// Elements per array, so that the three arrays of all ranks together have `bytes`.
std::size_t triad_elements(std::size_t bytes, int ranks);

}  // namespace tessera::bench
