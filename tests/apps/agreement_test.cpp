// SPDX-License-Identifier: BSD-3-Clause
//
// Agreement of ranks on errors in their common input.
#include "apps/common/agreement.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "rma/job.hpp"
#include "tests/support/rank_main.hpp"

namespace tessera::apps {
namespace {

using rma::Code;
using rma::Job;
using rma::Status;
using rma::test::on_ranks;

TEST(AgreeOnInput, NothingIsWrong) {
  on_ranks([](Job& job) { EXPECT_TRUE(agree_on_input(job.world(), Status()).ok()); });
}

TEST(AgreeOnInput, TheLowestRanksErrorIsReportedToAllWithoutTheRank) {
  on_ranks([](Job& job) {
    const std::int32_t first = job.size() / 2;
    Status mine;
    if (job.rank().value >= first) {
      mine = Status::error(Code::unsupported, fmt::format("file:{}: is not so", job.rank().value))
                 .hint("look at it");
    }
    const Status all = agree_on_input(job.world(), mine);
    EXPECT_EQ(all.code(), Code::unsupported);
    EXPECT_EQ(all.message(), fmt::format("file:{}: is not so\n  hint: look at it", first));
  });
}

TEST(AgreeOnInput, TheLowestLinesErrorIsReportedWhicheverRankHasIt) {
  on_ranks([](Job& job) {
    const std::int64_t line = 100 - job.rank().value;
    const bool is_fine = job.rank().value == 0 && job.size() > 1;
    const Status mine =
        is_fine ? Status()
                : Status::error(Code::invalid_argument, fmt::format("file:{}: is not so", line));
    const Status all = agree_on_input(job.world(), mine, is_fine ? 1 : line);
    EXPECT_EQ(all.message(), fmt::format("file:{}: is not so", 101 - job.size()));
  });
}

TEST(AgreeOnInput, LongTextsAreCut) {
  on_ranks([](Job& job) {
    const Status all = agree_on_input(
        job.world(), Status::error(Code::invalid_argument, std::string(100'000, 'x')));
    EXPECT_EQ(all.message().substr(0, 4000), std::string(4000, 'x'));
    EXPECT_LT(all.message().size(), 5000U);
  });
}

TEST(AgreeOnInput, ALostPeerKeepsItsRank) {
  on_ranks([](Job& job) {
    const Status lost = Status::error_at(rma::WorldRank{0}, Code::peer_lost, "it died");
    EXPECT_EQ(agree_on_input(job.world(), lost).code(), Code::peer_lost);
    EXPECT_EQ(agree_on_input(job.world(), lost).rank(), rma::WorldRank{0});
  });
}

}  // namespace
}  // namespace tessera::apps
