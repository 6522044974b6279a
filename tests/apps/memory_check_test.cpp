// SPDX-License-Identifier: BSD-3-Clause
//
// What the programs say when their ranks need more memory than a machine has.
#include "apps/common/memory_check.hpp"

#include <gtest/gtest.h>

#include <string>

#include "rma/memory.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/rank_main.hpp"

namespace tessera::apps {
namespace {

using rma::Code;
using rma::Job;
using rma::test::fails;
using rma::test::ok;
using rma::test::on_ranks;

TEST(MemoryCheck, AddsUpTheRanksOfAMachineWhateverNodesTheyAreOn) {
  on_ranks([](Job& job) {
    const auto available = static_cast<double>(rma::available_memory_bytes());
    EXPECT_TRUE(ok(check_memory(job, {0.5 * available / job.size(), "half of it", "none"})));
    const auto too_much =
        check_memory(job, {2.0 * available / job.size(), "Twice that", "take less"});
    EXPECT_TRUE(fails(too_much, Code::no_memory,
                      {"Twice that needs ",
                       " on this machine, for " + std::to_string(job.size()) + " of its ranks; ",
                       " are available, of which 90 % may be used", "take less"}));
  });
}

TEST(MemoryCheck, OneRankThatNeedsTooMuchIsToldToAll) {
  on_ranks([](Job& job) {
    const double bytes = job.rank().value == job.size() - 1 ? 0x1p100 : 0.0;
    const auto fits = check_memory(job, {bytes, "It", "take less"});
    EXPECT_TRUE(fails(fits, Code::no_memory, {"It needs 1.2e+21 GiB on this machine"}));
    // It is the machine's memory, not that of the rank that says so.
    EXPECT_TRUE(fits.message().starts_with("It needs ")) << fits.message();
  });
}

}  // namespace
}  // namespace tessera::apps
