// SPDX-License-Identifier: BSD-3-Clause
//
// The main() of tests that run on several ranks, and on_ranks(), with which tests are written.
//
//     TEST(Put, ArrivesAtTheTarget) {
//       on_ranks([](Job& job) { … EXPECT_TRUE(ok(put(job, …))); … });
//     }
//
// A body is written once and runs as every rank, however the program was started:
//
//     PROGRAM --ranks 4                 ranks are threads; each test has jobs of its own
//     tessera-run -n 4 PROGRAM          ranks are processes that walk through the tests together,
//     mpirun -n 4 PROGRAM               with one job for the whole program
//     PROGRAM                           one rank, as if it were under tessera-run
//
// Tests of teams are written with on_team(). They run on all ranks or, with --team 0,2,3, on these:
// then TeamRanks differ from WorldRanks, and some ranks do not take part.
//
// A failure on one rank is reported with its rank and fails the test on all ranks. A body that
// returns or throws early does not block the others: their collectives report a mismatch until all
// ranks meet at the end of the test. If a test nevertheless hangs, the program ends after --limit
// seconds (60), with the names of the test and of the ranks in it.
//
// TESSERA_TRANSPORT chooses the transport: one of the library's, or "toy". Skipped tests are listed
// with their reasons at the end; a program whose tests are all skipped exits with 77. Random tests
// take their seed from --gtest_random_seed, which is the same at all ranks, and printed after a
// failure.
//
// Threads: on_ranks from the test's own thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "rma/job.hpp"

namespace tessera::rma::test {

struct RunOptions {
  std::function<void(Settings&)> change = {};     ///< applied to the settings of the environment
  std::vector<TransportFactory> transports = {};  ///< in addition to those of the library and "toy"
  // skips the test if the ranks are on several machines
  bool on_one_machine = false;
};

/// Runs `body` as every rank and returns when all have finished. Without options, ranks that are
/// processes use the program's one job; with options, the body gets its own job. Skips the test
/// with --team.
void on_ranks(const std::function<void(Job&)>& body);
void on_ranks(const RunOptions& options, const std::function<void(Job&)>& body);

/// Runs `body` as every member of the team that --team names, in that order; by default of all
/// ranks. The others wait for the end of the test.
void on_team(const std::function<void(Job&, Team&)>& body);

/// The number of ranks.
std::int32_t rank_count();

/// True when the ranks are threads of this process.
bool ranks_are_threads();

/// The value of TESSERA_TRANSPORT.
std::string transport_name();
/// The transport between nodes in that value: the last one.
std::string network_name();

}  // namespace tessera::rma::test
