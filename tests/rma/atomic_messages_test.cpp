// SPDX-License-Identifier: BSD-3-Clause
//
// How many messages lists of atomics take between nodes, counted at the calls to the kernel: what
// rma/atomic_list.hpp promises. Each rank is a process.
#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "rma/atomic_list.hpp"
#include "rma/team.hpp"
#include "rma/transfer.hpp"
#include "tests/rma/armci/request_count.h"
#include "tests/support/checks.hpp"
#include "tests/support/rank_main.hpp"

namespace tessera::rma {
namespace {

using test::ok;
using test::on_ranks;
using test::rank_count;

constexpr std::int64_t words_of_a_message = 4096;
constexpr std::int64_t words = 2 * words_of_a_message + 2;
constexpr std::uint64_t slice_bytes = words * sizeof(std::int64_t);

// Connects to each rank, and begins to count.
void begin_to_count(Job& job, const Region& region) {
  for (std::int32_t rank = 0; rank < job.size(); ++rank) {
    ASSERT_TRUE(ok(get_value<std::int64_t>(job, region.at(TeamRank{rank}))));
  }
  ASSERT_TRUE(ok(job.barrier()));
  forget_requests();
  ASSERT_TRUE(ok(job.barrier()));
}

// Checks the requests of this rank, and that all ranks together got as many replies.
void expect_messages(Job& job, std::int64_t expected) {
  EXPECT_EQ(requests_sent().atomics, expected);
  ASSERT_TRUE(ok(job.barrier()));
  std::vector<std::int64_t> counts{expected, data_replies()};
  ASSERT_TRUE(ok(job.world().allreduce(std::span(counts), Reduction::sum)));
  EXPECT_EQ(counts[1], counts[0]) << "replies";
}

std::int64_t ranks_of_other_nodes(const Job& job) {
  std::int64_t count = 0;
  for (std::int32_t rank = 0; rank < job.size(); ++rank) {
    count += job.shares_node(WorldRank{rank}) ? 0 : 1;
  }
  return count;
}

// The words of all ranks, with those of each rank far apart in the list.
std::vector<RemoteAddress> first_words(const Region& region, std::int64_t count) {
  std::vector<RemoteAddress> at;
  for (std::int64_t word = 0; word < count; ++word) {
    for (std::int32_t rank = 0; rank < rank_count(); ++rank) {
      at.push_back(region.at(TeamRank{rank}, static_cast<std::uint64_t>(word) * 8));
    }
  }
  return at;
}

// Adds one to each word of a list.
Handle start_adding(Job& job, const std::vector<RemoteAddress>& at,
                    std::vector<std::int64_t>& previous) {
  const std::vector<std::int64_t> ones(at.size(), 1);
  previous.resize(at.size());
  return atomics_async<std::int64_t>(
      job, {.op = AtomicOp::add, .at = at, .operands = ones, .previous = previous});
}

void expect_words(Job& job, const Region& region, std::int64_t count) {
  ASSERT_TRUE(ok(job.barrier()));
  const auto* const own = reinterpret_cast<const std::int64_t*>(region.local());
  for (std::int64_t word = 0; word < words; ++word) {
    ASSERT_EQ(own[word], word < count ? job.size() : 0) << "word " << word;
  }
}

class AtomicMessages : public testing::TestWithParam<Atomics> {};

TEST_P(AtomicMessages, OneForEachTarget) {
  on_ranks([](Job& job) {
    Region region = Region::allocate(job.world(), slice_bytes, {.atomics = GetParam()}).value();
    begin_to_count(job, region);
    std::vector<std::int64_t> previous;
    ASSERT_TRUE(ok(start_adding(job, first_words(region, 100), previous).wait()));
    expect_messages(job, ranks_of_other_nodes(job));
    expect_words(job, region, 100);
  });
}

TEST_P(AtomicMessages, OneForEach4096Words) {
  on_ranks([](Job& job) {
    Region region = Region::allocate(job.world(), slice_bytes, {.atomics = GetParam()}).value();
    begin_to_count(job, region);
    std::vector<std::int64_t> previous;
    ASSERT_TRUE(ok(start_adding(job, first_words(region, words_of_a_message), previous).wait()));
    expect_messages(job, ranks_of_other_nodes(job));
    expect_words(job, region, words_of_a_message);
    begin_to_count(job, region);
    ASSERT_TRUE(ok(start_adding(job, first_words(region, words), previous).wait()));
    expect_messages(job, 3 * ranks_of_other_nodes(job));
  });
}

INSTANTIATE_TEST_SUITE_P(All, AtomicMessages, testing::Values(Atomics::separate, Atomics::strict),
                         [](const auto& each) {
                           return each.param == Atomics::strict ? std::string("strict")
                                                                : std::string("separate");
                         });

TEST(AtomicMessagesOfRegions, OneForEachRegion) {
  on_ranks([](Job& job) {
    Region one = Region::allocate(job.world(), slice_bytes).value();
    Region other = Region::allocate(job.world(), slice_bytes).value();
    begin_to_count(job, one);
    std::vector<RemoteAddress> at = first_words(one, 50);
    const std::vector<RemoteAddress> more = first_words(other, 60);
    at.insert(at.end(), more.begin(), more.end());
    std::vector<std::int64_t> previous;
    ASSERT_TRUE(ok(start_adding(job, at, previous).wait()));
    expect_messages(job, 2 * ranks_of_other_nodes(job));
    expect_words(job, one, 50);
    expect_words(job, other, 60);
  });
}

}  // namespace
}  // namespace tessera::rma
