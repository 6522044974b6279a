// SPDX-License-Identifier: BSD-3-Clause
//
// The main() of tests that run on several ranks, and on_ranks(), which they are written with.
//
//     TEST(Put, ArrivesAtTheTarget) {
//       on_ranks([](Job& job) { … EXPECT_TRUE(ok(put(job, …))); … });
//     }
//
// A body is written once and run as every rank, in whatever way the program was started:
//
//     PROGRAM --ranks 4                 ranks are threads; each test has jobs of its own
//     tessera-run -n 4 PROGRAM          ranks are processes that walk through the tests together,
//     mpirun -n 4 PROGRAM               with one job for the whole program
//     PROGRAM                           one rank, as if it were under tessera-run
//
// Tests of what teams do are written with on_team(), and run on all ranks or, with --team 0,2,3, on
// these: TeamRanks are other numbers then, and some ranks take no part.
//
// What a rank finds wrong is reported with its rank and fails the test on all ranks. A body that
// returns or throws early does not hang the others: collectives that they are in report a mismatch,
// until all ranks meet again at the end of the test. A test that hangs all the same ends the
// program after --limit seconds (60), with the names of the test and of the ranks that are in it.
//
// TESSERA_TRANSPORT chooses the transport; besides those of the library there is "toy". Skipped
// tests are listed with their reasons at the end; a program whose tests all are skipped exits with
// 77. Random tests take their seed from --gtest_random_seed, which is the same at all ranks, and
// printed when a test has failed.
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
  std::vector<TransportFactory> transports = {};  ///< besides those of the library and "toy"
  bool on_one_machine = false;                    ///< skips the test where the ranks are on several
};

/// Runs `body` as every rank and returns when all have done so. Without options, ranks that are
/// processes use the program's one job; with options the body gets a job of its own.
/// Skips the test with --team.
void on_ranks(const std::function<void(Job&)>& body);
void on_ranks(const RunOptions& options, const std::function<void(Job&)>& body);

/// Runs `body` as every member of the team that --team names, in that order; of all ranks, where it
/// names none. The others wait for the end of the test.
void on_team(const std::function<void(Job&, Team&)>& body);

/// How many ranks there are.
std::int32_t rank_count();

/// True when the ranks are threads of this process.
bool ranks_are_threads();

/// What TESSERA_TRANSPORT says.
std::string transport_name();
/// The transport between nodes that it names: the last one.
std::string network_name();

}  // namespace tessera::rma::test
