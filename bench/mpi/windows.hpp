// SPDX-License-Identifier: BSD-3-Clause
//
// What the parts of suite "mpi" share: how to measure a line, and how to report it to a target.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bench/net/wire.hpp"
#include "bench/session.hpp"
#include "bench/support/case.hpp"

namespace tessera::bench {

/// The candidates of the libraries that support `c`: MPI, ARMCI-MPI.
std::vector<Candidate> library_candidates(Session& session, const Case& c);

/// Collective. Measures `c`, records, and adds line `line`.
std::vector<Measured> measure_on_windows(Session& session, Topic& topic, const Case& c,
                                         std::int64_t line,
                                         const std::vector<Candidate>& candidates);

/// Reports to `target` the ratio of the subject, which is the last candidate, to `reference`, in
/// the target's sense; or that its reference is missing. Does nothing if options choose modes other
/// than the default ones.
void observe_on_windows(const Session& session, const char* target, Target::Sense sense,
                        const std::string& where, const std::vector<Measured>& measured,
                        std::string_view reference);

}  // namespace tessera::bench
