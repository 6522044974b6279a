// SPDX-License-Identifier: BSD-3-Clause
//
// Collectives, teams, regions and locks if one rank has no memory left, and the first operations of
// a job.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "rma/lock.hpp"
#include "rma/team.hpp"
#include "rma/transfer.hpp"
#include "tests/contract/no_memory.hpp"

namespace tessera::rma {
namespace {

using test::neighbour;

// ---- Collectives

TEST(NoMemory, InBarriers) {
  expect_all_report([](Job& job) -> Operation {
    return {.prepare = nothing, .run = [&job] { return job.barrier(); }, .check = nothing};
  });
}

Operation broadcasting(Job& job, std::size_t bytes) {
  const auto data = std::make_shared<std::vector<std::byte>>(bytes);
  const TeamRank root{job.size() - 1};
  return {.prepare =
              [=] {
                const bool is_root = job.rank().value == root.value;
                std::fill(data->begin(), data->end(), is_root ? std::byte{7} : std::byte{0});
              },
          .run = [=, &job] { return job.world().broadcast(*data, root); },
          .check =
              [=] {
                EXPECT_EQ(std::count(data->begin(), data->end(), std::byte{7}),
                          static_cast<std::ptrdiff_t>(data->size()));
              }};
}

TEST(NoMemory, InBroadcasts) {
  for (const std::size_t bytes : {8U, 5'000U, 300'000U}) {
    expect_all_report([=](Job& job) { return broadcasting(job, bytes); });
  }
}

Operation gathering(Job& job, std::size_t numbers) {
  struct Data {
    std::vector<std::int64_t> mine;
    std::vector<std::int64_t> all;
  };
  const auto size = static_cast<std::size_t>(job.size());
  const auto data = std::make_shared<Data>();
  data->mine.assign(numbers, job.rank().value);
  data->all.resize(numbers * size);
  return {.prepare = [=] { std::fill(data->all.begin(), data->all.end(), -1); },
          .run =
              [=, &job] {
                return job.world().allgather(std::as_bytes(std::span(data->mine)),
                                             std::as_writable_bytes(std::span(data->all)));
              },
          .check =
              [=] {
                for (std::size_t at = 0; at < data->all.size(); ++at) {
                  ASSERT_EQ(data->all[at], static_cast<std::int64_t>(at / numbers));
                }
              }};
}

TEST(NoMemory, InAllgathers) {
  for (const std::size_t numbers : {1U, 600U, 40'000U}) {
    expect_all_report([=](Job& job) { return gathering(job, numbers); });
  }
}

TEST(NoMemory, InAllgathersOfValues) {
  expect_all_report([](Job& job) -> Operation {
    const auto got = std::make_shared<std::vector<WorldRank>>();
    return {.prepare = nothing,
            .run = [=, &job]() -> Status {
              TESSERA_ASSIGN_OR_RETURN(*got, job.world().allgather_value(job.rank()));
              return {};
            },
            .check = [=, &job] { EXPECT_EQ(got->back().value, job.size() - 1); }};
  });
}

Operation reducing(Job& job, std::size_t numbers, bool only_root) {
  const auto data = std::make_shared<std::vector<double>>(numbers);
  const TeamRank root{0};
  return {.prepare = [=] { std::iota(data->begin(), data->end(), 1.0); },
          .run =
              [=, &job] {
                const auto count = static_cast<std::int64_t>(numbers);
                return only_root ? job.world().reduce(data->data(), count, ElementType::f64,
                                                      Reduction::sum, root)
                                 : job.world().allreduce(std::span(*data), Reduction::sum);
              },
          .check =
              [=, &job] {
                const bool is_summed = !only_root || job.rank().value == root.value;
                for (std::size_t at = 0; at < numbers; ++at) {
                  ASSERT_EQ((*data)[at],
                            static_cast<double>(at + 1) * (is_summed ? job.size() : 1));
                }
              }};
}

TEST(NoMemory, InReductions) {
  for (const std::size_t numbers : {1U, 700U, 40'000U}) {
    for (const bool only_root : {false, true}) {
      expect_all_report([=](Job& job) { return reducing(job, numbers, only_root); });
    }
  }
}

TEST(NoMemory, InAgreements) {
  expect_all_report([](Job& job) -> Operation {
    return {.prepare = nothing, .run = [&job] { return job.world().agree({}); }, .check = nothing};
  });
}

// Whichever allocation fails, all members get the code of the first error.
TEST(NoMemory, InAgreementsOnErrors) {
  on_ranks([](Job& job) {
    disable_progress_delegate(job);
    EXPECT_TRUE(ok(job.world().agree({})));
    for (std::int64_t number = 1; number <= 20; ++number) {
      for (std::int32_t rank = 0; rank < job.size(); ++rank) {
        const Status mine =
            job.rank().value == 0 ? Status::error(Code::out_of_range, "too far") : Status();
        const FailingNew failing(job.rank().value == rank ? number : 0, {});
        const Status agreed = job.world().agree(mine);
        ASSERT_EQ(agreed.code(), Code::out_of_range);
      }
    }
    EXPECT_TRUE(ok(job.barrier()));
  });
}

// ---- Teams

Operation making_team(Job& job, std::function<Result<Team>()> make) {
  const auto team = std::make_shared<std::optional<Team>>();
  return {.prepare =
              [=, &job] {
                team->reset();
                EXPECT_TRUE(ok(job.barrier()));
              },
          .run = [=]() -> Status {
            TESSERA_ASSIGN_OR_RETURN(*team, make());
            return {};
          },
          .check = [=] { EXPECT_TRUE(ok((*team)->barrier())); }};
}

TEST(NoMemory, InTeams) {
  expect_all_report([](Job& job) {
    const auto members = std::make_shared<std::vector<WorldRank>>();
    for (std::int32_t rank = job.size(); rank > 0; --rank) {
      members->push_back(WorldRank{rank - 1});
    }
    return making_team(job, [=, &job] { return Team::create(job, *members); });
  });
}

TEST(NoMemory, InSplits) {
  expect_all_report([](Job& job) {
    return making_team(job, [&job] { return job.world().split(1, -job.rank().value); });
  });
}

// ---- Regions and locks

Operation making_region(Job& job, std::function<Result<Region>()> make) {
  const auto region = std::make_shared<std::optional<Region>>();
  return {.prepare =
              [=, &job] {
                region->reset();
                EXPECT_TRUE(ok(job.barrier()));
              },
          .run = [=]() -> Status {
            TESSERA_ASSIGN_OR_RETURN(*region, make());
            return {};
          },
          .check =
              [=, &job] {
                const RemoteAddress at = (*region)->at(neighbour(job), 8);
                EXPECT_TRUE(ok(put_value(job, at, job.rank().value)));
                EXPECT_EQ(get_value<std::int32_t>(job, at).value(), job.rank().value);
              }};
}

TEST(NoMemory, InAllocations) {
  expect_all_report([](Job& job) {
    const std::size_t bytes = 4096 + 64 * static_cast<std::size_t>(job.rank().value);
    return making_region(job, [=, &job] { return Region::allocate(job.world(), bytes); });
  });
}

TEST(NoMemory, InAttachments) {
  expect_all_report([](Job& job) {
    const auto memory = std::make_shared<std::vector<std::int64_t>>(100);
    return making_region(
        job, [=, &job] { return Region::attach(job.world(), memory->data(), memory->size() * 8); });
  });
}

TEST(NoMemory, InFreeingRegions) {
  expect_all_report([](Job& job) -> Operation {
    const auto region = std::make_shared<Region>();
    return {.prepare = [=, &job] { *region = Region::allocate(job.world(), 4096).value(); },
            .run = [=] { return region->free(); },
            .check =
                [=, &job] {
                  EXPECT_EQ(put_value(job, region->at(TeamRank{0}), 1).code(), Code::closed);
                }};
  });
}

TEST(NoMemory, InSetsOfLocks) {
  expect_all_report([](Job& job) -> Operation {
    const auto locks = std::make_shared<std::optional<LockSet>>();
    return {.prepare =
                [=, &job] {
                  locks->reset();
                  EXPECT_TRUE(ok(job.barrier()));
                },
            .run = [=, &job]() -> Status {
              TESSERA_ASSIGN_OR_RETURN(*locks, LockSet::create(job.world(), 3));
              return {};
            },
            .check =
                [=, &job] {
                  EXPECT_TRUE(ok((*locks)->lock(neighbour(job), 2)));
                  EXPECT_TRUE(ok((*locks)->unlock(neighbour(job), 2)));
                }};
  });
}

// ---- First operations of a job

// A new job for each failed allocation. If a connection cannot be set up for lack of memory, it is
// lost: then all ranks report that soon.
TEST(NoMemory, InTheFirstOperations) {
  for (std::int64_t number = 1; number <= 60; ++number) {
    on_ranks({.change = [](Settings& settings) { settings.liveness_ms = 20; }}, [=](Job& job) {
      disable_progress_delegate(job);
      Region region = Region::allocate(job.world(), 4096).value();
      const std::vector<std::int64_t> sent(100, 5);
      std::vector<std::int64_t> back(100);
      ASSERT_TRUE(ok(job.barrier()));
      Status status;
      bool has_failed = false;
      {
        const FailingNew failing(job.rank().value == 0 ? number : 0, {});
        status = put(job, region.at(neighbour(job), 64), sent.data(), 800);
        Status fenced = job.fence_all();
        status = status.ok() ? std::move(fenced) : std::move(status);
        Status got = get(job, region.at(neighbour(job), 64), back.data(), 800);
        status = status.ok() ? std::move(got) : std::move(status);
        has_failed = failing.has_failed();
      }
      EXPECT_TRUE(status.ok() || (has_failed && status.code() == Code::no_memory))
          << status.describe();
      if (status.ok()) {
        EXPECT_EQ(back, sent);
      }
      const Status met = job.barrier();
      EXPECT_TRUE(met.ok() || met.code() == Code::no_memory || met.code() == Code::peer_lost)
          << met.describe();
    });
  }
}

}  // namespace
}  // namespace tessera::rma
