// SPDX-License-Identifier: BSD-3-Clause
//
// VerbsPair: what the parts of suite "verbs" share: Tessera's side with local memory of both kinds,
// the bare loop, and how to measure a set of candidates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/baselines/verbs_baseline.hpp"
#include "bench/net/wire.hpp"
#include "bench/rma/tessera_candidate.hpp"
#include "bench/session.hpp"

namespace tessera::bench {

class VerbsPair {
 public:
  /// Collective. `bare` may be null.
  VerbsPair(Session& session, std::unique_ptr<VerbsBaseline> bare);

  [[nodiscard]] Session& session() const { return session_; }
  /// With a local buffer of Job::allocate_local.
  [[nodiscard]] TesseraCandidate& allocated() { return allocated_; }
  /// With a local buffer that is not registered.
  [[nodiscard]] TesseraCandidate& ordinary() { return ordinary_; }

  /// The bare loop for `c`, or with several outstanding; see VerbsBaseline.
  [[nodiscard]] std::optional<Candidate> bare(const Case& c) const;
  [[nodiscard]] std::optional<Candidate> bare_stream(Operation operation, std::size_t bytes,
                                                     std::int64_t messages) const;
  [[nodiscard]] std::optional<Candidate> bare_put_and_read(std::size_t bytes) const;
  [[nodiscard]] std::optional<Started> bare_started(Operation operation, std::size_t bytes) const;

  /// Collective. Measures, records, and adds line `line`; `size` is the payload.
  std::vector<Measured> measure(Topic& topic, const std::string& shape, std::int64_t size,
                                std::int64_t line, const std::vector<Candidate>& candidates,
                                Clock clock = now_ns) const;

 private:
  Session& session_;
  std::unique_ptr<VerbsBaseline> bare_;
  TesseraCandidate ordinary_;
  TesseraCandidate allocated_;
};

/// The `sizes` that lie within -m.
std::vector<std::size_t> requested(const Session& session, const std::vector<std::size_t>& sizes);

}  // namespace tessera::bench
