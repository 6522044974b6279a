// SPDX-License-Identifier: BSD-3-Clause
//
// One-sided operations if one rank has no memory left.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "rma/aggregate.hpp"
#include "rma/atomic.hpp"
#include "rma/coalescing_scope.hpp"
#include "rma/lock.hpp"
#include "rma/notify.hpp"
#include "rma/raw_transfer.hpp"
#include "rma/team.hpp"
#include "rma/transfer.hpp"
#include "tests/contract/no_memory.hpp"

namespace tessera::rma {
namespace {

using test::neighbour;

constexpr std::size_t slice_bytes = std::size_t{3} << 20;

// A slice of a neighbour that only this rank uses, and as much local memory.
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
  // The present content of the remote slice.
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

// Fences after the operation, so that this fence reports its late errors and not the fence of the
// next operation.
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

// Checks that the runs of `shape`, the same on both sides, hold the data that was sent, or twice
// that; all else is 0.
void expect_sent(const Slices& slices, const std::vector<std::int32_t>& found,
                 const CopyShape& shape, std::int32_t times = 1) {
  std::vector<std::int32_t> expected(found.size());
  const std::int64_t rows = shape.levels == 0 ? 1 : shape.level[0].count;
  const std::int64_t stride = shape.levels == 0 ? 0 : shape.level[0].remote_stride / 4;
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t at = 0; at < static_cast<std::int64_t>(shape.run_bytes / 4); ++at) {
      const auto index = static_cast<std::size_t>(row * stride + at);
      expected[index] = times * slices.sent[index];
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
    expect_all_report([&](Job& job) {
      return on_slices(
          job, clear,
          [=](Slices& slices) { return put(slices.job, slices.to, slices.sent.data(), shape); },
          [=](Slices& slices) { expect_sent(slices, slices.there(), shape); });
    });
  }
}

TEST(NoMemory, InGets) {
  for (const CopyShape& shape : shapes()) {
    expect_all_report([&](Job& job) {
      return on_slices(
          job, fill,
          [=](Slices& slices) { return get(slices.job, slices.to, slices.received.data(), shape); },
          [=](Slices& slices) { expect_sent(slices, slices.received, shape); });
    });
  }
}

TEST(NoMemory, InAccumulates) {
  for (const CopyShape& shape : shapes()) {
    expect_all_report([&](Job& job) {
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

// A list of runs of `bytes` each, `stride` apart.
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
    expect_all_report([=](Job& job) { return scattering(job, op, 1000, 8, 24); });
    expect_all_report([=](Job& job) { return scattering(job, op, 30, 40'000, 40'960); });
  }
}

// Many operations at once, whose handles are collected, detached and dropped.
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
    expect_all_report([&](Job& job) { return on_slices(job, clear, way, check); });
  }
}

TEST(NoMemory, InHandlesOfGets) {
  constexpr std::int64_t count = 150;
  const CopyShape all = CopyShape::rows(12, count, 40, 40);
  expect_all_report([&](Job& job) {
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
  expect_all_report([&](Job& job) {
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
  expect_all_report([&](Job& job) {
    return on_slices(
        job, clear,
        [=](Slices& slices) -> Status {
          const CoalescingScope together(slices.job);
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
    expect_all_report([=](Job& job) -> Operation {
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
  expect_all_report([](Job& job) -> Operation {
    const auto locks = std::make_shared<LockSet>(LockSet::create(job.world(), 1).value());
    const TeamRank owner{0};  // all ranks request the same lock
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
  expect_all_report([](Job& job) {
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
  expect_all_report([&](Job& job) {
    return on_slices(
        job, clear,
        [=](Slices& slices) -> Status {
          TESSERA_ASSIGN_OR_RETURN(void* const there, slices.job.raw_pointer(slices.to));
          return put(slices.job, RawAddress{slices.to.rank, there}, slices.sent.data(), shape);
        },
        [=](Slices& slices) { expect_sent(slices, slices.there(), shape); });
  });
}

}  // namespace
}  // namespace tessera::rma
