// SPDX-License-Identifier: BSD-3-Clause
//
// VerbsPair: what the parts of suite "verbs" share: Tessera's side with local memory of both kinds,
// the bare loop, and how to measure a set of candidates.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/baselines/verbs_baseline.hpp"
#include "bench/net/net_suite.hpp"
#include "bench/rma/tessera_candidate.hpp"

namespace tessera::bench {

namespace verbs_target {

inline constexpr const char* word = "verbs put, get 8 B: time / bare loop";
inline constexpr const char* large = "verbs from 64 KiB: speed / bare loop";
inline constexpr const char* local_patches = "verbs local patches: speed / dense rows";
inline constexpr const char* left = "verbs from 64 KiB: part left over";
inline constexpr const char* left_by_tessera = "verbs from 64 KiB: left, bare loop's aside";

}  // namespace verbs_target

class VerbsPair {
 public:
  /// Collective. `bare` may be null.
  VerbsPair(Session& session, std::unique_ptr<VerbsBaseline> bare)
      : session_(session),
        bare_(std::move(bare)),
        ordinary_(session.job(), net_options(session)),
        allocated_(session.job(), net_options(session), rma::TeamRank{1}, LocalMemory::allocated) {}

  [[nodiscard]] Session& session() const { return session_; }
  /// With a local buffer of Job::allocate_local.
  [[nodiscard]] TesseraCandidate& allocated() { return allocated_; }
  /// With a local buffer that is not registered.
  [[nodiscard]] TesseraCandidate& ordinary() { return ordinary_; }
  /// What `make` gets from the bare loop; empty without one.
  template <class Make>
  [[nodiscard]] auto bare(Make make) const {
    return bare_ ? make(*bare_) : std::nullopt;
  }
  [[nodiscard]] std::optional<Candidate> bare(const Case& c) const {
    return bare([&c](VerbsBaseline& loop) { return loop.candidate(c); });
  }

  /// Collective.
  std::vector<Measured> measure(Topic& topic, const Line& line,
                                const std::vector<Candidate>& candidates, Clock clock = now_ns);

 private:
  Session& session_;
  std::unique_ptr<VerbsBaseline> bare_;
  TesseraCandidate ordinary_;
  TesseraCandidate allocated_;
};

}  // namespace tessera::bench
