// SPDX-License-Identifier: BSD-3-Clause
//
// Memory that runs out on one rank. One allocation of each rank after the other fails, until an
// operation is through without one that fails; then its result is right. Nothing is thrown, nobody
// waits for ever, and behind each failure the job goes on: of a collective all members hear, and of
// other operations the rank that called them.
//
// Only what ranks allocate themselves fails, and not what the threads behind them do.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "rma/aggregate.hpp"
#include "rma/atomic.hpp"
#include "rma/coalescing.hpp"
#include "rma/engine/job_state.hpp"
#include "rma/lock.hpp"
#include "rma/notify.hpp"
#include "rma/raw_transfer.hpp"
#include "rma/team.hpp"
#include "rma/transfer.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/effort.hpp"
#include "tests/support/failing_new.hpp"
#include "tests/support/rank_main.hpp"

namespace tessera::rma {
namespace {

using test::FailingNew;
using test::neighbour;
using test::ok;
using test::on_ranks;

// Of one rank, in one operation.
constexpr std::int64_t most_allocations = 5000;
// Of many that are alike, some: the next one is farther away by this part of their number.
constexpr std::int64_t part_left_out = tessera::test::rounds(16);

// What is tried, and what it needs.
struct Operation {
  std::function<void()> prepare;  // collective
  std::function<Status()> run;    // what is tried; allocates nothing itself
  std::function<void()> check;    // that what it leaves is right
  bool is_collective = true;      // else errors are this rank's only
};

struct Outcome {
  Code code = Code::ok;
  bool has_failed = false;  // the allocation
};

Outcome try_with_failure(const Operation& operation, std::int64_t number) {
  Outcome outcome;
  const FailingNew failing(number, {});
  outcome.code = operation.run().code();
  outcome.has_failed = failing.has_failed();
  return outcome;
}

// Collective. Whether that allocation of this rank was reached.
bool fail_allocation(Job& job, const Operation& operation, std::int32_t rank, std::int64_t number) {
  const bool fails_here = job.rank().value == rank;
  operation.prepare();
  const Outcome mine = try_with_failure(operation, fails_here ? number : 0);
  const std::vector<Outcome> all = job.world().allgather_value(mine).value();
  const Outcome& failed = all[static_cast<std::size_t>(rank)];
  // Where it can be done without, it is no error.
  EXPECT_TRUE(failed.code == Code::ok || (failed.has_failed && failed.code == Code::no_memory))
      << to_string(failed.code) << ", allocation " << number << " of rank " << rank;
  EXPECT_EQ(mine.code, operation.is_collective || fails_here ? failed.code : Code::ok)
      << "allocation " << number << " of rank " << rank;
  if (failed.code == Code::ok) {
    operation.check();
  }
  return failed.has_failed;
}

void fail_each_allocation(Job& job, const Operation& operation, std::int32_t rank) {
  std::int64_t number = 1;
  try {
    while (number <= most_allocations && fail_allocation(job, operation, rank, number)) {
      number += 1 + number / part_left_out;
    }
  } catch (const std::bad_alloc&) {
    ADD_FAILURE() << "an exception leaves it, of allocation " << number;
    throw;
  }
  EXPECT_LE(number, most_allocations);
}

// A turn of the agent's, which a waiting rank takes over, is no work of the rank's.
void leave_agent_alone(Job& job) {
  job.state().node->set_helper(nullptr);
}

void expect_all_told(const std::function<Operation(Job&)>& make) {
  on_ranks([&](Job& job) {
    leave_agent_alone(job);
    const Operation operation = make(job);
    // What is kept for the next time, connections and buffers of theirs, is there.
    operation.prepare();
    ASSERT_TRUE(ok(operation.run()));
    operation.check();
    for (std::int32_t rank = 0; rank < job.size(); ++rank) {
      fail_each_allocation(job, operation, rank);
    }
    operation.prepare();
    EXPECT_TRUE(ok(operation.run()));
    operation.check();
    EXPECT_TRUE(ok(job.barrier()));
  });
}

const auto nothing = [] {};

// ---- Collectives

TEST(NoMemory, InBarriers) {
  expect_all_told([](Job& job) -> Operation {
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
    expect_all_told([=](Job& job) { return broadcasting(job, bytes); });
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
    expect_all_told([=](Job& job) { return gathering(job, numbers); });
  }
}

TEST(NoMemory, InAllgathersOfValues) {
  expect_all_told([](Job& job) -> Operation {
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
      expect_all_told([=](Job& job) { return reducing(job, numbers, only_root); });
    }
  }
}

TEST(NoMemory, InAgreements) {
  expect_all_told([](Job& job) -> Operation {
    return {.prepare = nothing, .run = [&job] { return job.world().agree({}); }, .check = nothing};
  });
}

// Whatever there is no memory for, all know what kind of error it was.
TEST(NoMemory, InAgreementsOnErrors) {
  on_ranks([](Job& job) {
    leave_agent_alone(job);
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
  expect_all_told([](Job& job) {
    const auto members = std::make_shared<std::vector<WorldRank>>();
    for (std::int32_t rank = job.size(); rank > 0; --rank) {
      members->push_back(WorldRank{rank - 1});
    }
    return making_team(job, [=, &job] { return Team::create(job, *members); });
  });
}

TEST(NoMemory, InSplits) {
  expect_all_told([](Job& job) {
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
  expect_all_told([](Job& job) {
    const std::size_t bytes = 4096 + 64 * static_cast<std::size_t>(job.rank().value);
    return making_region(job, [=, &job] { return Region::allocate(job.world(), bytes); });
  });
}

TEST(NoMemory, InAttachments) {
  expect_all_told([](Job& job) {
    const auto memory = std::make_shared<std::vector<std::int64_t>>(100);
    return making_region(
        job, [=, &job] { return Region::attach(job.world(), memory->data(), memory->size() * 8); });
  });
}

TEST(NoMemory, InFreeingRegions) {
  expect_all_told([](Job& job) -> Operation {
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
  expect_all_told([](Job& job) -> Operation {
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

// ---- One-sided operations

constexpr std::size_t slice_bytes = std::size_t{3} << 20;

// A slice at a neighbour that only this rank works on, and as much local memory.
struct Slices {
  explicit Slices(Job& with)
      : job(with), region(Region::allocate(job.world(), slice_bytes).value()) {
    to = region.at(neighbour(job));
    std::iota(sent.begin(), sent.end(), job.rank().value);
  }
  void clear() {
    std::fill(received.begin(), received.end(), 0);
    EXPECT_TRUE(ok(put(job, to, received.data(), slice_bytes)));
    EXPECT_TRUE(ok(job.fence_all()));
  }
  void fill() {
    std::fill(received.begin(), received.end(), 0);
    EXPECT_TRUE(ok(put(job, to, sent.data(), slice_bytes)));
    EXPECT_TRUE(ok(job.fence_all()));
  }
  // The remote slice.
  std::vector<std::int32_t> there() {
    std::vector<std::int32_t> all(slice_bytes / 4);
    EXPECT_TRUE(ok(get(job, to, all.data(), slice_bytes)));
    return all;
  }
  Job& job;
  Region region;
  RemoteAddress to;
  std::vector<std::int32_t> sent = std::vector<std::int32_t>(slice_bytes / 4);
  std::vector<std::int32_t> received = std::vector<std::int32_t>(slice_bytes / 4);
};

// What a fence is to tell is told by this one, and not by the next operation's.
Status and_fence(Job& job, Status status) {
  Status fenced = job.fence_all();
  return status.ok() ? std::move(fenced) : std::move(status);
}

Operation on_slices(Job& job, const std::function<void(Slices&)>& prepare,
                    const std::function<Status(Slices&)>& run,
                    const std::function<void(Slices&)>& check) {
  const auto slices = std::make_shared<Slices>(job);
  return {.prepare = [=] { prepare(*slices); },
          .run = [=, &job] { return and_fence(job, run(*slices)); },
          .check = [=] { check(*slices); },
          .is_collective = false};
}

void clear(Slices& slices) {
  slices.clear();
}
void fill(Slices& slices) {
  slices.fill();
}

// The runs of `shape`, both sides alike, are what was sent, or twice that; all else is 0.
void expect_sent(const Slices& slices, const std::vector<std::int32_t>& found,
                 const CopyShape& shape, std::int32_t times = 1) {
  std::vector<std::int32_t> expected(found.size());
  const std::int64_t rows = shape.levels == 0 ? 1 : shape.level[0].count;
  const std::int64_t stride = shape.levels == 0 ? 0 : shape.level[0].remote_stride / 4;
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t at = 0; at < static_cast<std::int64_t>(shape.run_bytes / 4); ++at) {
      const auto place = static_cast<std::size_t>(row * stride + at);
      expected[place] = times * slices.sent[place];
    }
  }
  ASSERT_TRUE(found == expected);
}

std::vector<CopyShape> shapes() {
  std::vector<CopyShape> all;
  for (const std::size_t bytes : {4U, 8U, 12U, 64U, 516U, 2'048U, 20'000U, 70'004U, 1'100'000U}) {
    all.push_back(CopyShape::contiguous(bytes));
  }
  all.push_back(CopyShape::rows(8, 100, 24, 24));
  all.push_back(CopyShape::rows(12, 9'000, 200, 200));
  all.push_back(CopyShape::rows(40'000, 20, 40'960, 40'960));
  return all;
}

TEST(NoMemory, InPuts) {
  for (const CopyShape& shape : shapes()) {
    expect_all_told([&](Job& job) {
      return on_slices(
          job, clear,
          [=](Slices& slices) { return put(slices.job, slices.to, slices.sent.data(), shape); },
          [=](Slices& slices) { expect_sent(slices, slices.there(), shape); });
    });
  }
}

TEST(NoMemory, InGets) {
  for (const CopyShape& shape : shapes()) {
    expect_all_told([&](Job& job) {
      return on_slices(
          job, fill,
          [=](Slices& slices) { return get(slices.job, slices.to, slices.received.data(), shape); },
          [=](Slices& slices) { expect_sent(slices, slices.received, shape); });
    });
  }
}

TEST(NoMemory, InAccumulates) {
  for (const CopyShape& shape : shapes()) {
    expect_all_told([&](Job& job) {
      return on_slices(
          job, clear,
          [=](Slices& slices) {
            return accumulate(slices.job, slices.to, slices.sent.data(), shape,
                              Scale::of(std::int32_t{2}));
          },
          [=](Slices& slices) { expect_sent(slices, slices.there(), shape, 2); });
    });
  }
}

// Runs of `bytes`, `stride` apart.
std::vector<Fragment> fragments_of(std::vector<std::int32_t>& local, std::size_t count,
                                   std::size_t bytes, std::size_t stride) {
  std::vector<Fragment> list;
  for (std::size_t i = 0; i < count; ++i) {
    list.push_back({local.data() + i * stride / 4, i * stride, bytes});
  }
  std::reverse(list.begin(), list.end());
  return list;
}

Operation scattering(Job& job, Op op, std::size_t count, std::size_t bytes, std::size_t stride) {
  const auto slices = std::make_shared<Slices>(job);
  const auto list = std::make_shared<std::vector<Fragment>>(
      fragments_of(op == Op::get ? slices->received : slices->sent, count, bytes, stride));
  const CopyShape shape =
      CopyShape::rows(bytes, static_cast<std::int64_t>(count), static_cast<std::int64_t>(stride),
                      static_cast<std::int64_t>(stride));
  const auto run = [=, &job] {
    return op == Op::put   ? put(job, slices->to, *list)
           : op == Op::get ? get(job, slices->to, *list)
                           : accumulate(job, slices->to, *list, Scale::of(std::int32_t{1}));
  };
  return {
      .prepare = [=] { op == Op::get ? slices->fill() : slices->clear(); },
      .run = [=, &job] { return and_fence(job, run()); },
      .check =
          [=] { expect_sent(*slices, op == Op::get ? slices->received : slices->there(), shape); },
      .is_collective = false};
}

TEST(NoMemory, InScatteredTransfers) {
  for (const Op op : {Op::put, Op::get, Op::accumulate}) {
    expect_all_told([=](Job& job) { return scattering(job, op, 1000, 8, 24); });
    expect_all_told([=](Job& job) { return scattering(job, op, 30, 40'000, 40'960); });
  }
}

// Many at once: collected, detached and dropped.
TEST(NoMemory, InHandles) {
  constexpr std::int64_t count = 150;
  const auto each = [](Slices& slices, std::int64_t i) {
    return put_async(slices.job, slices.to + static_cast<std::uint64_t>(40 * i),
                     &slices.sent[static_cast<std::size_t>(10 * i)], 12);
  };
  const CopyShape all = CopyShape::rows(12, count, 40, 40);
  const auto check = [=](Slices& slices) { expect_sent(slices, slices.there(), all); };
  const std::vector<std::function<Status(Slices&)>> ways{
      [=](Slices& slices) {
        Handle handle;
        for (std::int64_t i = 0; i < count; ++i) {
          handle.collect(each(slices, i));
        }
        return handle.wait();
      },
      [=](Slices& slices) {
        for (std::int64_t i = 0; i < count; ++i) {
          each(slices, i).detach();
        }
        return slices.job.wait_all();
      },
      [=](Slices& slices) {
        for (std::int64_t i = 0; i < count; ++i) {
          const Handle dropped = each(slices, i);
        }
        return Status();
      }};
  for (const auto& way : ways) {
    expect_all_told([&](Job& job) { return on_slices(job, clear, way, check); });
  }
}

TEST(NoMemory, InHandlesOfGets) {
  constexpr std::int64_t count = 150;
  const CopyShape all = CopyShape::rows(12, count, 40, 40);
  expect_all_told([&](Job& job) {
    return on_slices(
        job, fill,
        [=](Slices& slices) {
          Handle handle;
          for (std::int64_t i = 0; i < count; ++i) {
            handle.collect(get_async(slices.job, slices.to + static_cast<std::uint64_t>(40 * i),
                                     &slices.received[static_cast<std::size_t>(10 * i)], 12));
          }
          return handle.wait();
        },
        [=](Slices& slices) { expect_sent(slices, slices.received, all); });
  });
}

TEST(NoMemory, InAggregates) {
  constexpr std::int64_t count = 150;
  const CopyShape all = CopyShape::rows(8, count, 40, 40);
  expect_all_told([&](Job& job) {
    return on_slices(
        job, clear,
        [=](Slices& slices) -> Status {
          Aggregate aggregate(slices.job);
          for (std::int64_t i = 0; i < count; ++i) {
            TESSERA_RETURN_IF_ERROR(aggregate.put(slices.to + static_cast<std::uint64_t>(40 * i),
                                                  &slices.sent[static_cast<std::size_t>(10 * i)],
                                                  CopyShape::rows(4, 2, 4, 4)));
          }
          return aggregate.wait();
        },
        [=](Slices& slices) { expect_sent(slices, slices.there(), all); });
  });
}

TEST(NoMemory, InCoalescing) {
  constexpr std::int64_t count = 40;
  const CopyShape all = CopyShape::rows(12, count, 40, 40);
  expect_all_told([&](Job& job) {
    return on_slices(
        job, clear,
        [=](Slices& slices) -> Status {
          const Coalescing together(slices.job);
          Status first;
          for (std::int64_t i = 0; i < count; ++i) {
            Status status = put(slices.job, slices.to + static_cast<std::uint64_t>(40 * i),
                                &slices.sent[static_cast<std::size_t>(10 * i)], 12);
            first = first.ok() ? std::move(status) : std::move(first);
          }
          return first;
        },
        [=](Slices& slices) { expect_sent(slices, slices.there(), all); });
  });
}

TEST(NoMemory, InAtomics) {
  for (const Atomics atomics : {Atomics::separate, Atomics::strict}) {
    expect_all_told([=](Job& job) -> Operation {
      const auto region =
          std::make_shared<Region>(Region::allocate(job.world(), 64, {.atomics = atomics}).value());
      const auto before = std::make_shared<std::int64_t>(0);
      const auto at = region->at(neighbour(job));
      return {.prepare = nothing,
              .run = [=, &job]() -> Status {
                TESSERA_ASSIGN_OR_RETURN(*before, fetch_add<std::int64_t>(job, at, 1));
                return swap<std::int32_t>(job, at + 8, 5).status();
              },
              .check =
                  [=, &job] {
                    EXPECT_EQ(get_value<std::int64_t>(job, at).value(), *before + 1);
                    EXPECT_EQ(get_value<std::int32_t>(job, at + 8).value(), 5);
                    static_cast<void>(region);
                  },
              .is_collective = false};
    });
  }
}

TEST(NoMemory, InLocks) {
  expect_all_told([](Job& job) -> Operation {
    const auto locks = std::make_shared<LockSet>(LockSet::create(job.world(), 1).value());
    const TeamRank owner{0};  // all want the same
    return {.prepare = nothing,
            .run = [=]() -> Status {
              TESSERA_RETURN_IF_ERROR(locks->lock(owner, 0));
              return locks->unlock(owner, 0);
            },
            .check = nothing,
            .is_collective = false};
  });
}

TEST(NoMemory, InFlagsAndNotifications) {
  expect_all_told([](Job& job) {
    return on_slices(
        job, clear,
        [](Slices& slices) -> Status {
          TESSERA_RETURN_IF_ERROR(put_with_flag(slices.job, slices.to, slices.sent.data(),
                                                CopyShape::contiguous(400), slices.to + 4000, 9));
          TESSERA_RETURN_IF_ERROR(raise_flag(slices.job, slices.to + 4004, 11));
          return notify(slices.job, slices.to.rank).status();
        },
        [](Slices& slices) {
          const auto there = slices.there();
          EXPECT_TRUE(std::equal(there.begin(), there.begin() + 100, slices.sent.begin()));
          EXPECT_EQ(there[1000], 9);
          EXPECT_EQ(there[1001], 11);
        });
  });
}

TEST(NoMemory, InTransfersByPointer) {
  const CopyShape shape = CopyShape::rows(12, 500, 40, 40);
  expect_all_told([&](Job& job) {
    return on_slices(
        job, clear,
        [=](Slices& slices) -> Status {
          TESSERA_ASSIGN_OR_RETURN(void* const there, slices.job.raw_pointer(slices.to));
          return put(slices.job, RawAddress{slices.to.rank, there}, slices.sent.data(), shape);
        },
        [=](Slices& slices) { expect_sent(slices, slices.there(), shape); });
  });
}

// ---- The first time

// In a job of its own each time. What a connection needs may be what there is no memory for, so
// that it is lost: then all say so, and soon.
TEST(NoMemory, InTheFirstOperations) {
  for (std::int64_t number = 1; number <= 60; ++number) {
    on_ranks({.change = [](Settings& settings) { settings.liveness_ms = 20; }}, [=](Job& job) {
      leave_agent_alone(job);
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
