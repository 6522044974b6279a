// SPDX-License-Identifier: BSD-3-Clause
//
// VerbsBaseline: the baseline of a bare RDMA connection between rank 0 and rank 1.
//
// The least work of any library on libibverbs: buffers are registered, and rank 0 posts a request
// and polls for its completion. Rank 1 does nothing.
//
//     put     RDMA write, up to 220 bytes within the request; then its completion
//     get     RDMA read; then its completion
//     stream  several of these posted at once; then all completions
//
// A write's completion means that the other end's device has the data, not that its processor can
// see them. put_and_read() also waits for that.
//
// Threads: rank 0 uses one candidate at a time. Failures throw std::system_error or
// std::runtime_error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "bench/baselines/baseline.hpp"
#include "bench/support/measure.hpp"

namespace tessera::bench {

class VerbsBaseline : public Baseline {
 public:
  /// `messages` puts or gets of `bytes` each, all outstanding, and a wait for all; empty if the
  /// buffers or the queue are too small.
  [[nodiscard]] virtual std::optional<Candidate> stream(Operation operation, std::size_t bytes,
                                                        std::int64_t messages) = 0;
  /// A put followed by a read, and the read's completion: then the bytes are in memory.
  [[nodiscard]] virtual std::optional<Candidate> put_and_read(std::size_t bytes) = 0;
  /// A put or get with separate start and wait.
  [[nodiscard]] virtual std::optional<Started> started(Operation operation, std::size_t bytes) = 0;
};

/// Collective. Connects ranks 0 and 1. Null on all ranks, with the reason in `missing`, if one of
/// them has no device, or there is only one rank.
std::unique_ptr<VerbsBaseline> make_verbs_baseline(RankGroup& group, const BaselineOptions& options,
                                                   std::string& missing);

}  // namespace tessera::bench
