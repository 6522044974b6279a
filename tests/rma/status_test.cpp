// SPDX-License-Identifier: BSD-3-Clause
//
// Status and Result: codes, messages, contexts and hints.
#include "rma/base/status.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>

#include "rma/base/result.hpp"

namespace tessera::rma {
namespace {

TEST(Status, IsOnePointerAndSuccessIsNull) {
  EXPECT_EQ(sizeof(Status), sizeof(void*));
  const Status fine;
  EXPECT_TRUE(fine.ok());
  EXPECT_EQ(fine.code(), Code::ok);
  EXPECT_EQ(fine.message(), "ok");
  EXPECT_EQ(fine.describe(), "ok");
  EXPECT_FALSE(fine.rank());
}

TEST(Status, CarriesCodeSentenceRankHintAndLocation) {
  const Status status = Status::error_at(WorldRank{3}, Code::peer_lost, "rank 3 died")
                            .context("putting 8 bytes")
                            .context("updating array 'a'")
                            .hint("start it again")
                            .hint("a second hint changes nothing")
                            .at(WorldRank{7});
  EXPECT_EQ(status.code(), Code::peer_lost);
  EXPECT_EQ(status.rank(), WorldRank{3}) << "the first rank stays";
  EXPECT_EQ(status.message(),
            "updating array 'a': putting 8 bytes: rank 3 died\n  hint: start it again");
  EXPECT_TRUE(status.describe().starts_with("peer_lost: updating array 'a': putting 8 bytes"));
  EXPECT_NE(status.describe().find("status_test.cpp:"), std::string::npos);
}

TEST(Status, SuccessStaysSuccessWhateverIsAdded) {
  EXPECT_TRUE(Status().context("x").hint("y").at(WorldRank{1}).ok());
}

TEST(Status, CopiesAreIndependent) {
  const Status first = Status::error(Code::closed, "freed");
  const Status longer = Status(first).context("using it");
  EXPECT_EQ(first.message(), "freed");
  EXPECT_EQ(longer.message(), "using it: freed");
  Status third;
  third = longer;
  EXPECT_EQ(third.message(), longer.message());
  third = Status();
  EXPECT_TRUE(third.ok());
}

TEST(Code, HasANameForEachValue) {
  constexpr std::array names{"ok",          "invalid_argument", "out_of_range",   "closed",
                             "unsupported", "no_memory",        "limit_exceeded", "unreachable",
                             "peer_lost",   "timed_out",        "protocol",       "internal"};
  for (std::size_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(to_string(static_cast<Code>(i)), names[i]);
  }
  EXPECT_EQ(to_string(static_cast<Code>(names.size())), "unknown");
}

Status fail_if(bool fails) {
  return fails ? Status::error(Code::timed_out, "slow") : Status();
}

Result<int> twice(Result<int> value) {
  TESSERA_ASSIGN_OR_RETURN(const int plain, std::move(value));
  return 2 * plain;
}

Status both(bool first, bool second) {
  TESSERA_RETURN_IF_ERROR(fail_if(first));
  TESSERA_RETURN_IF_ERROR(fail_if(second).context("second"));
  return {};
}

TEST(Macros, ReturnTheFirstError) {
  EXPECT_TRUE(both(false, false).ok());
  EXPECT_EQ(both(true, true).message(), "slow");
  EXPECT_EQ(both(false, true).message(), "second: slow");
  EXPECT_EQ(twice(21).value(), 42);
  EXPECT_EQ(twice(fail_if(true)).status().code(), Code::timed_out);
}

TEST(Result, HoldsAValueOrAnError) {
  const Result<std::string> good("text");
  EXPECT_TRUE(good.ok());
  EXPECT_EQ(*good, "text");
  EXPECT_EQ(good->size(), 4U);
  EXPECT_TRUE(good.status().ok());
  const Result<std::string> bad(Status::error(Code::no_memory, "full"));
  EXPECT_FALSE(bad);
  EXPECT_EQ(bad.status().code(), Code::no_memory);
}

TEST(Result, TakesMoveOnlyValues) {
  Result<std::unique_ptr<int>> result(std::make_unique<int>(5));
  const std::unique_ptr<int> taken = std::move(result).take();
  EXPECT_EQ(*taken, 5);
}

TEST(Result, ValueThrowsTheStatusIfThereIsNone) {
  const Result<int> bad(Status::error_at(WorldRank{2}, Code::peer_lost, "gone"));
  try {
    static_cast<void>(bad.value());
    FAIL() << "value() of an error returned";
  } catch (const Error& error) {
    EXPECT_EQ(error.status().code(), Code::peer_lost);
    EXPECT_EQ(error.status().rank(), WorldRank{2});
    EXPECT_EQ(std::string(error.what()), bad.status().describe());
  }
  EXPECT_NO_THROW(require(Status()));
  EXPECT_NO_THROW(require(Result<int>(3)));
  EXPECT_THROW(require(Result<int>(Status::error(Code::closed, "gone"))), Error);
}

TEST(Result, OfASuccessWithoutAValueIsAnInternalError) {
  const Result<int> neither{Status()};
  EXPECT_EQ(neither.status().code(), Code::internal);
  EXPECT_EQ(neither.status().message(), "a result has neither value nor error");
}

}  // namespace
}  // namespace tessera::rma
