// SPDX-License-Identifier: BSD-3-Clause
//
// Transfers by (rank, pointer): they behave like transfers by RemoteAddress, and errors that only
// pointers can cause are found.
#include "rma/raw_transfer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "rma/transfer.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/effort.hpp"
#include "tests/support/model_memory.hpp"
#include "tests/support/rank_main.hpp"
#include "tests/support/shared_seed.hpp"

namespace tessera::rma {
namespace {

using test::fails;
using test::neighbour;
using test::ok;
using test::on_ranks;
using test::random_in;
using test::SharedSeed;

constexpr std::size_t raw_slice_bytes = std::size_t{128} * 1024;

// A region, and the addresses of its slices, as ARMCI programs use them.
struct Named {
  explicit Named(Job& job, std::size_t bytes = raw_slice_bytes)
      : region(Region::allocate(job.world(), bytes).value()) {
    for (std::int32_t rank = 0; rank < job.size(); ++rank) {
      pointers.push_back(static_cast<std::byte*>(region.raw_pointer(TeamRank{rank})));
    }
  }
  [[nodiscard]] std::byte* at(TeamRank rank, std::size_t offset = 0) const {
    return pointers[static_cast<std::size_t>(rank.value)] + offset;
  }
  [[nodiscard]] RawAddress raw(TeamRank rank, std::size_t offset = 0) const {
    return {WorldRank{rank.value}, at(rank, offset)};
  }
  Region region;
  std::vector<std::byte*> pointers;
};

std::vector<std::byte> random_bytes(std::mt19937_64& random, std::size_t count) {
  std::vector<std::byte> bytes(count);
  std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<std::byte>(random()); });
  return bytes;
}

// More regions than the slices that a thread caches, of unequal sizes; every other one is freed
// midway.
TEST(RawTransfer, FindsItsWayAmongManyRegions) {
  on_ranks([](Job& job) {
    constexpr std::size_t count = 150;
    const TeamRank next = neighbour(job);
    const auto value = [](std::int32_t rank, std::size_t i) {
      return 1000.0 * rank + static_cast<double>(i);
    };
    const auto bytes_of = [](std::size_t i) { return 8 + 8 * (i % 5); };
    std::vector<Named> regions;
    for (std::size_t i = 0; i < count; ++i) {
      regions.emplace_back(job, bytes_of(i));
    }
    const auto check = [&](std::size_t step) {
      for (std::size_t i = 0; i < count; i += step) {
        const double mine = value(job.rank().value, i);
        EXPECT_TRUE(ok(put(job, regions[i].raw(next), &mine, sizeof mine)));
      }
      EXPECT_TRUE(ok(job.barrier()));
      for (std::size_t i = 0; i < count; i += step) {
        double got = 0;
        EXPECT_TRUE(ok(get(job, regions[i].raw(next), &got, sizeof got)));
        ASSERT_EQ(got, value(job.rank().value, i)) << i;
        // A rank may have memory of another kind after its own slice.
        EXPECT_TRUE(job.size() == 1 ||
                    fails(get(job, regions[i].raw(next, bytes_of(i)), &got, sizeof got),
                          Code::out_of_range));
      }
      EXPECT_TRUE(ok(job.barrier()));
    };
    check(1);
    for (std::size_t i = 1; i < count; i += 2) {
      EXPECT_TRUE(ok(regions[i].region.free()));
    }
    check(2);
    double got = 0;
    EXPECT_TRUE(job.size() == 1 || fails(get(job, regions[1].raw(next), &got, sizeof got),
                                         Code::out_of_range, {"lies in no region"}));
    EXPECT_TRUE(ok(job.barrier()));
  });
}

TEST(RawTransfer, MovesRunsOfAllLengthsBothWays) {
  on_ranks([](Job& job) {
    const SharedSeed seed(job);
    std::mt19937_64 random = seed.generator(job.rank().value);
    const Named memory(job);
    const TeamRank target = neighbour(job);
    for (const std::size_t bytes : {0U, 1U, 4U, 7U, 8U, 16U, 100U, 512U, 4096U, 90'000U}) {
      const auto sent = random_bytes(random, bytes);
      std::vector<std::byte> back(bytes);
      ASSERT_TRUE(ok(put(job, memory.raw(target, 8), sent.data(), bytes)));
      ASSERT_TRUE(ok(get(job, memory.raw(target, 8), back.data(), bytes)));
      ASSERT_EQ(back, sent);
      ASSERT_TRUE(ok(put_async(job, memory.raw(target, 24), sent.data(), bytes).wait()));
      ASSERT_TRUE(ok(get_async(job, memory.raw(target, 24), back.data(), bytes).wait()));
      ASSERT_EQ(back, sent);
    }
    ASSERT_TRUE(ok(job.barrier()));
  });
}

TEST(RawTransfer, AccumulatesRunsAndRows) {
  on_ranks([](Job& job) {
    const Named memory(job);
    const std::vector<double> ones(64, 1.0);
    const CopyShape rows = CopyShape::rows(16, 4, 16, 64);
    for (std::int32_t rank = 0; rank < job.size(); ++rank) {
      const RawAddress to = memory.raw(TeamRank{rank});
      ASSERT_TRUE(ok(accumulate(job, to, ones.data(), 512, Scale::of(2.0))));
      ASSERT_TRUE(ok(accumulate_async(job, to, ones.data(), 512, Scale::of(3.0)).wait()));
      ASSERT_TRUE(ok(accumulate(job, to, ones.data(), rows, Scale::of(10.0))));
      ASSERT_TRUE(ok(accumulate_async(job, to, ones.data(), rows, Scale::of(20.0)).wait()));
    }
    ASSERT_TRUE(ok(job.barrier()));
    std::vector<double> sums(64);
    ASSERT_TRUE(ok(get(job, memory.raw(neighbour(job)), sums.data(), 512)));
    for (std::size_t i = 0; i < 32; ++i) {
      const bool is_in_a_row = i % 8 < 2;
      ASSERT_EQ(sums[i], job.size() * (is_in_a_row ? 35.0 : 5.0)) << i;
    }
    ASSERT_TRUE(ok(job.barrier()));
  });
}

TEST(RawTransfer, MovesRandomShapesAsTheModelDoes) {
  on_ranks([](Job& job) {
    const SharedSeed seed(job);
    std::mt19937_64 random = seed.generator(job.rank().value);
    const Named memory(job);
    const TeamRank target = neighbour(job);
    test::ModelMemory model(1, raw_slice_bytes);
    for (int round = 0; round < tessera::test::rounds(40); ++round) {
      const CopyShape shape =
          test::random_disjoint_shape(random, round % (max_stride_levels + 1),
                                      static_cast<std::size_t>(random_in(random, 0, 40)), 4);
      const auto extent = shape.remote_extent();
      const auto local_extent = shape.local_extent();
      const auto offset = static_cast<std::uint64_t>(random_in(
          random, -extent.lowest, static_cast<std::int64_t>(raw_slice_bytes) - extent.highest));
      test::Side local = test::make_side(random, local_extent.lowest, local_extent.highest, 0);
      ASSERT_TRUE(ok(round % 2 == 0
                         ? put(job, memory.raw(target, offset), local.at(0), shape)
                         : put_async(job, memory.raw(target, offset), local.at(0), shape).wait()));
      model.put(0, offset, local.at(0), shape);
      std::vector<std::byte> slice(raw_slice_bytes);
      ASSERT_TRUE(ok(get(job, memory.raw(target), slice.data(), raw_slice_bytes)));
      ASSERT_EQ(slice, model.slice(0)) << test::describe(shape);
      test::Side expected = local;
      model.get(0, offset, expected.at(0), shape);
      ASSERT_TRUE(ok(get_async(job, memory.raw(target, offset), local.at(0), shape).wait()));
      ASSERT_EQ(local.bytes, expected.bytes);
    }
    ASSERT_TRUE(ok(job.barrier()));
  });
}

// The runs of a list, in a different order on each side.
struct Runs {
  Runs(std::mt19937_64& random, std::size_t count, std::size_t bytes, std::byte* remote,
       std::byte* local, bool in_order)
      : size(bytes) {
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (std::size_t i = 0; i < count; ++i) {
      here.push_back(local + i * bytes);
    }
    if (!in_order) {
      std::shuffle(order.begin(), order.end(), random);
    }
    for (const std::size_t index : order) {
      there.push_back(remote + index * (bytes + 8));
    }
  }
  [[nodiscard]] RunList list() const { return {there, here, size}; }
  std::vector<void*> there;
  std::vector<void*> here;
  std::size_t size;
};

TEST(RawTransfer, MovesListsInAnyOrder) {
  on_ranks([](Job& job) {
    const SharedSeed seed(job);
    std::mt19937_64 random = seed.generator(job.rank().value);
    const Named memory(job);
    const TeamRank target = neighbour(job);
    const WorldRank rank{target.value};
    for (const std::size_t bytes : {1U, 3U, 8U, 40U}) {
      for (const bool in_order : {true, false}) {
        constexpr std::size_t count = 300;
        auto sent = random_bytes(random, count * bytes);
        std::vector<std::byte> back(sent.size());
        const Runs out(random, count, bytes, memory.at(target), sent.data(), in_order);
        Runs in = out;
        for (std::size_t i = 0; i < count; ++i) {
          in.here[i] = back.data() + i * bytes;
        }
        const RunList put_list = out.list();
        const RunList get_list = in.list();
        ASSERT_TRUE(ok(put(job, rank, RunLists(&put_list, 1))));
        ASSERT_TRUE(ok(get(job, rank, RunLists(&get_list, 1))));
        ASSERT_EQ(back, sent) << bytes << ' ' << in_order;
        for (std::size_t i = 0; i < count; i += 7) {
          std::vector<std::byte> run(bytes);
          ASSERT_TRUE(ok(get(job, RawAddress{rank, out.there[i]}, run.data(), bytes)));
          ASSERT_EQ(std::memcmp(run.data(), out.here[i], bytes), 0);
        }
      }
    }
    ASSERT_TRUE(ok(job.barrier()));
  });
}

TEST(RawTransfer, MovesListsOfSeveralRegionsAndSizesAtOnce) {
  on_ranks([](Job& job) {
    const Named first(job);
    const Named second(job, 4096);
    const TeamRank target = neighbour(job);
    const WorldRank rank{target.value};
    std::array<std::int64_t, 4> words{1, 2, 3, 4};
    std::array<std::int32_t, 2> halves{5, 6};
    std::array<void*, 4> word_targets{second.at(target, 80), first.at(target, 8),
                                      second.at(target, 16), first.at(target, 800)};
    std::array<void*, 4> word_sources{&words[0], &words[1], &words[2], &words[3]};
    std::array<void*, 2> half_targets{first.at(target, 4), second.at(target, 4)};
    std::array<void*, 2> half_sources{&halves[0], &halves[1]};
    const std::array lists{RunList{word_targets, word_sources, 8},
                           RunList{half_targets, half_sources, 4}, RunList{{}, {}, 8}};
    ASSERT_TRUE(ok(put(job, rank, lists)));
    ASSERT_TRUE(ok(accumulate(job, rank, RunLists(lists).first(1), Scale::of(std::int64_t{10}))));
    ASSERT_TRUE(ok(job.fence(rank)));
    const auto old_words = words;
    words.fill(0);
    halves.fill(0);
    ASSERT_TRUE(ok(get_async(job, rank, lists).wait()));
    EXPECT_EQ(halves, (std::array<std::int32_t, 2>{5, 6}));
    for (std::size_t i = 0; i < words.size(); ++i) {
      EXPECT_EQ(words[i], 11 * old_words[i]);
    }
    ASSERT_TRUE(ok(job.barrier()));
  });
}

// A byte that is written twice holds what the last run of the list writes there.
TEST(RawTransfer, MovesRunsThatOverlapInTheirOrder) {
  on_ranks([](Job& job) {
    const Named memory(job);
    const TeamRank target = neighbour(job);
    const WorldRank rank{target.value};
    constexpr std::size_t runs = 300;
    std::vector<std::array<std::uint8_t, 5>> sources(runs);
    std::vector<void*> from;
    std::vector<void*> to;
    std::array<std::uint8_t, 64> model{};
    for (std::size_t i = 0; i < runs; ++i) {
      sources[i].fill(static_cast<std::uint8_t>(i + static_cast<std::size_t>(job.rank().value)));
      const std::size_t offset = i * 7 % (model.size() - sources[i].size());
      from.push_back(sources[i].data());
      to.push_back(memory.at(target, offset));
      std::copy(sources[i].begin(), sources[i].end(), model.begin() + offset);
    }
    const RunList list{to, from, sources[0].size()};
    ASSERT_TRUE(ok(put(job, rank, RunLists(&list, 1))));
    std::array<std::uint8_t, 64> seen{};
    ASSERT_TRUE(ok(get(job, memory.raw(target), seen.data(), seen.size())));
    EXPECT_EQ(seen, model);

    // All runs have the same local address.
    std::array<std::uint8_t, 5> last{};
    std::fill(from.begin(), from.end(), last.data());
    const RunList into_one{to, from, last.size()};
    ASSERT_TRUE(ok(get(job, rank, RunLists(&into_one, 1))));
    ASSERT_TRUE(ok(get(job, RawAddress{rank, to.back()}, seen.data(), last.size())));
    EXPECT_TRUE(std::equal(last.begin(), last.end(), seen.begin()));
    ASSERT_TRUE(ok(job.barrier()));
  });
}

TEST(RawTransfer, RefusesListsThatDontMatch) {
  on_ranks([](Job& job) {
    const Named memory(job);
    const TeamRank target = neighbour(job);
    const WorldRank rank{target.value};
    std::array<std::int64_t, 2> words{1, 2};
    std::array<void*, 2> sources{&words[0], &words[1]};
    std::array<void*, 2> targets{memory.at(target, 8), memory.at(target, 16)};
    const RunList unequal{std::span(targets).first(1), sources, 8};
    EXPECT_TRUE(fails(put(job, rank, RunLists(&unequal, 1)), Code::invalid_argument,
                      {"1 remote and 2 local runs"}));
    std::array<void*, 2> with_null{&words[0], nullptr};
    std::array<void*, 2> apart{memory.at(target, 8), memory.at(target, 64)};
    const RunList null_source{apart, with_null, 8};
    EXPECT_TRUE(fails(put(job, rank, RunLists(&null_source, 1)), Code::invalid_argument,
                      {"null local buffer"}));
    std::array<void*, 2> beyond{memory.at(target, 8), memory.at(target, raw_slice_bytes - 4)};
    const RunList too_far{beyond, sources, 8};
    EXPECT_TRUE(
        fails(put(job, rank, RunLists(&too_far, 1)), Code::out_of_range, {"do not lie in"}));
    std::int64_t seen = -1;
    ASSERT_TRUE(ok(get(job, memory.raw(target, 8), &seen, sizeof seen)));
    EXPECT_EQ(seen, 0) << "nothing was put";
    ASSERT_TRUE(ok(job.barrier()));
  });
}

TEST(RawTransfer, ReportsWhatIsWrongWithAnAddress) {
  on_ranks([](Job& job) {
    const Named memory(job);
    const TeamRank target = neighbour(job);
    std::int64_t word = 0;
    const WorldRank nobody{job.size()};
    EXPECT_TRUE(fails(put(job, RawAddress{nobody, memory.at(target)}, &word, 8),
                      Code::invalid_argument, {"there is no rank", "the job has ranks 0 to"}));
    EXPECT_TRUE(fails(put(job, RawAddress{WorldRank{-1}, memory.at(target)}, &word, 8),
                      Code::invalid_argument, {"there is no rank -1"}));
    EXPECT_TRUE(fails(put(job, memory.raw(target, raw_slice_bytes - 4), &word, 8),
                      Code::out_of_range, {"do not lie in"}));
    EXPECT_TRUE(fails(get(job, memory.raw(target), nullptr, 8), Code::invalid_argument,
                      {"null local buffer"}));
    if (job.size() > 1) {
      const WorldRank other{(job.rank().value + 1) % job.size()};
      EXPECT_TRUE(fails(get(job, RawAddress{other, &word}, &word, 8), Code::out_of_range,
                        {"lies in no region"}));
      EXPECT_TRUE(fails(put_async(job, RawAddress{other, nullptr}, &word, 8).wait(),
                        Code::out_of_range, {"lies in no region"}));
      EXPECT_TRUE(fails(put(job, RawAddress{other, memory.at(job.world().rank())}, &word, 8),
                        Code::out_of_range, {"'s slice"}));
    }
    EXPECT_TRUE(ok(put(job, RawAddress{WorldRank{0}, nullptr}, nullptr, 0)));
    ASSERT_TRUE(ok(job.barrier()));
  });
}

TEST(RawTransfer, ReachesARanksOwnOrdinaryMemory) {
  on_ranks([](Job& job) {
    std::array<double, 8> memory{};
    const std::array<double, 4> source{1, 2, 3, 4};
    const RawAddress own{job.rank(), memory.data()};
    EXPECT_TRUE(ok(put(job, own, source.data(), sizeof source)));
    EXPECT_EQ(memory[3], 4);
    EXPECT_TRUE(ok(accumulate(job, own, source.data(), sizeof source, Scale::of(2.0))));
    EXPECT_EQ(memory[3], 12);
    EXPECT_TRUE(ok(put(job, own, source.data(), CopyShape::rows(8, 4, 8, 16))));
    EXPECT_EQ(memory[6], 4);
    std::array<double, 4> back{};
    EXPECT_TRUE(ok(get_async(job, own, back.data(), CopyShape::rows(8, 4, 8, 16)).wait()));
    EXPECT_EQ(back, source);
    std::array<void*, 2> there{&memory[7], &memory[0]};
    std::array<void*, 2> here{&back[0], &back[1]};
    const RunList list{there, here, 8};
    EXPECT_TRUE(ok(put(job, job.rank(), RunLists(&list, 1))));
    EXPECT_EQ(memory[7], 1);
    EXPECT_EQ(memory[0], 2);
    EXPECT_TRUE(fails(put(job, RawAddress{job.rank(), nullptr}, source.data(), 8),
                      Code::invalid_argument, {"null pointer"}));
  });
}

TEST(RawTransfer, KnowsAddressesOfManyRegionsAndForgetsThem) {
  on_ranks([](Job& job) {
    constexpr std::size_t many = 200;
    std::vector<Named> all;
    for (std::size_t i = 0; i < many; ++i) {
      all.emplace_back(job, 64);
    }
    const TeamRank target = neighbour(job);
    for (std::size_t i = 0; i < many; ++i) {
      const auto value = static_cast<std::int64_t>(i);
      ASSERT_TRUE(ok(put(job, all[i].raw(target, 8), &value, sizeof value)));
    }
    ASSERT_TRUE(ok(job.barrier()));
    for (std::size_t i = 0; i < many; ++i) {
      std::int64_t value = 0;
      ASSERT_TRUE(ok(get(job, all[i].raw(target, 8), &value, sizeof value)));
      ASSERT_EQ(value, static_cast<std::int64_t>(i));
    }
    const RawAddress gone = all.back().raw(target, 8);
    all.pop_back();
    std::int64_t value = 0;
    if (target != job.world().rank()) {
      EXPECT_TRUE(
          fails(get(job, gone, &value, sizeof value), Code::out_of_range, {"lies in no region"}));
    }
    ASSERT_TRUE(ok(job.barrier()));
  });
}

// Source and destination overlap in one rank's slice; the result must be that of memmove.
TEST(OverlappingSides, MoveAsIfTheSourceWereReadFirst) {
  on_ranks([](Job& job) {
    constexpr std::size_t bytes = 8000;
    Region region = Region::allocate(job.world(), bytes).value();
    const TeamRank own = job.world().rank();
    std::vector<std::byte> model(bytes);
    const auto reset = [&] {
      for (std::size_t i = 0; i < bytes; ++i) {
        model[i] = static_cast<std::byte>(i * 7 + i / 256);
      }
      std::memcpy(region.local(), model.data(), bytes);
    };
    for (const std::size_t length : {8U, 60U, 200U, 4000U}) {
      for (const std::int64_t shift : {-1900, -130, -1, 1, 8, 129, 1900}) {
        const std::size_t from = 1950;
        const auto to = static_cast<std::size_t>(static_cast<std::int64_t>(from) + shift);
        reset();
        ASSERT_TRUE(ok(put(job, region.at(own, to), region.local() + from, length)));
        std::memmove(&model[to], &model[from], length);
        ASSERT_EQ(std::memcmp(region.local(), model.data(), bytes), 0) << length << ' ' << shift;
        reset();
        ASSERT_TRUE(ok(get(job, region.at(own, from), region.local() + to, length)));
        std::memmove(&model[to], &model[from], length);
        ASSERT_EQ(std::memcmp(region.local(), model.data(), bytes), 0) << length << ' ' << shift;
      }
    }
    ASSERT_TRUE(ok(job.barrier()));
  });
}

TEST(OverlappingSides, MoveShapesAsIfTheSourceWereReadFirst) {
  if (test::transport_name() == "toy") {
    GTEST_SKIP() << "toy moves runs one by one";
  }
  on_ranks([](Job& job) {
    constexpr std::size_t bytes = 4096;
    Region region = Region::allocate(job.world(), bytes).value();
    const TeamRank own = job.world().rank();
    const CopyShape rows = CopyShape::rows(24, 20, 40, 56);
    for (const std::int64_t shift : {-64, -8, 0, 16, 200}) {
      std::vector<std::byte> model(bytes);
      for (std::size_t i = 0; i < bytes; ++i) {
        model[i] = static_cast<std::byte>(i * 5 + i / 256);
      }
      std::memcpy(region.local(), model.data(), bytes);
      const std::size_t from = 500;
      const auto to = static_cast<std::size_t>(static_cast<std::int64_t>(from) + shift);
      ASSERT_TRUE(ok(put(job, region.at(own, to), region.local() + from, rows)));
      const std::vector<std::byte> before = model;
      for (std::size_t row = 0; row < 20; ++row) {
        std::memcpy(&model[to + row * 56], &before[from + row * 40], 24);
      }
      ASSERT_EQ(std::memcmp(region.local(), model.data(), bytes), 0) << shift;
    }
    ASSERT_TRUE(ok(job.barrier()));
  });
}

}  // namespace
}  // namespace tessera::rma
