// SPDX-License-Identifier: BSD-3-Clause
//
// The errors of programs whose ranks need more memory than a machine has.
#include "apps/common/memory_check.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <new>
#include <string>

#include "apps/common/exit_codes.hpp"
#include "rma/base/memory.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/effort.hpp"
#include "tests/support/rank_main.hpp"

namespace tessera::apps {
namespace {

using rma::Code;
using rma::Job;
using rma::test::fails;
using rma::test::ok;
using rma::test::on_ranks;

TEST(MemoryCheck, AddsUpTheRanksOfAMachineOverItsNodes) {
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

TEST(MemoryCheck, OneRankThatNeedsTooMuchIsReportedToAll) {
  on_ranks([](Job& job) {
    const double bytes = job.rank().value == job.size() - 1 ? 0x1p100 : 0.0;
    const auto fits = check_memory(job, {bytes, "It", "take less"});
    EXPECT_TRUE(fails(fits, Code::no_memory, {"It needs 1.2e+21 GiB on this machine"}));
    // It is the machine's memory, not that of the rank that prints.
    EXPECT_TRUE(fits.message().starts_with("It needs ")) << fits.message();
  });
}

// The limit applies to each process: ranks that are threads of one process share it.
TEST(MemoryCheck, AddsUpTheRanksOfAProcessIfItsAddressSpaceIsLimited) {
  if (test::is_sanitized) {
    GTEST_SKIP() << "a sanitizer needs address space of its own";
  }
  on_ranks([](Job& job) {
    rlimit usual{};
    EXPECT_EQ(getrlimit(RLIMIT_AS, &usual), 0);
    EXPECT_TRUE(ok(job.world().barrier()));
    const auto limited = [&] {
      constexpr rlim_t all = rlim_t{1} << 48U;  // far more than the arena
      const rlimit some{all, usual.rlim_max};
      return setrlimit(RLIMIT_AS, &some) == 0 ? static_cast<double>(all) : 0.0;
    }();
    EXPECT_TRUE(ok(check_memory(job, {1.0, "It", "none", limited / 100 / job.size()})));
    const auto fits = check_memory(job, {1.0, "It", "take less", limited});
    EXPECT_TRUE(fails(fits, Code::no_memory,
                      {"It needs ", " more address space in each process; ",
                       " are left of a limit of 256.0 TiB (ulimit -v)",
                       "hint: run `ulimit -v unlimited`, or take less"}));
    EXPECT_TRUE(ok(job.world().barrier()));
    setrlimit(RLIMIT_AS, &usual);
  });
}

TEST(MemoryCheck, NoMemoryIsAnExitCode) {
  on_ranks([](Job& job) {
    const auto body = [&]() -> int {
      if (job.rank().value == job.size() - 1) {
        throw std::bad_alloc();
      }
      return 7;
    };
    EXPECT_EQ(catch_bad_alloc("program", job, body),
              job.rank().value == job.size() - 1 ? exit_usage : 7);
  });
}

}  // namespace
}  // namespace tessera::apps
