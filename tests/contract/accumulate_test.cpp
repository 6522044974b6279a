// SPDX-License-Identifier: BSD-3-Clause
//
// Accumulate: all element types, all forms, with and without a factor. One rank alone is compared
// with the model; then all ranks add to the same target at once, and integers must be exact.
#include <gtest/gtest.h>

#include <array>
#include <complex>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "rma/transfer.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/model_memory.hpp"
#include "tests/support/rank_main.hpp"
#include "tests/support/shared_seed.hpp"

namespace tessera::rma {
namespace {

using test::ModelMemory;
using test::neighbour;
using test::ok;
using test::on_ranks;
using test::random_in;
using test::SharedSeed;

constexpr std::size_t accumulate_slice_bytes = std::size_t{96} << 10;

// Converts a small whole number to an element.
template <class T>
T number(std::int64_t value) {
  if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<T>(value);
  } else {
    return T(static_cast<typename T::value_type>(value));
  }
}

std::string name_of(const testing::TestParamInfo<ElementType>& each) {
  constexpr std::array names{"I32", "I64", "F32", "F64", "C64", "C128",
                             "I8",  "I16", "U8",  "U16", "U32", "U64"};
  return names[static_cast<std::size_t>(each.param)];
}

class AccumulateOf : public testing::TestWithParam<ElementType> {};

// Compares an accumulate of whole elements of `type` with the model.
void compare_one(Job& job, const Region& region, TeamRank target, ElementType type, int round,
                 std::mt19937_64& random, ModelMemory& model) {
  const std::size_t element = size_of(type);
  const auto run =
      element * static_cast<std::size_t>(random_in(random, 0, 9) == 0 ? random_in(random, 1, 200)
                                                                      : random_in(random, 0, 5));
  const int levels = round % (max_stride_levels + 1);
  const CopyShape shape =
      test::random_disjoint_shape(random, levels, run, static_cast<std::int64_t>(element));
  const CopyShape::Extent local = shape.local_extent();
  const CopyShape::Extent remote = shape.remote_extent();
  if (remote.highest - remote.lowest > static_cast<std::int64_t>(accumulate_slice_bytes)) {
    return;
  }
  const auto whole = static_cast<std::int64_t>(element);
  const std::int64_t positions =
      (static_cast<std::int64_t>(accumulate_slice_bytes) - (remote.highest - remote.lowest)) /
      whole;
  const auto offset =
      static_cast<std::uint64_t>(-remote.lowest + whole * random_in(random, 0, positions));
  std::vector<std::byte> memory(static_cast<std::size_t>(local.highest - local.lowest) + element);
  test::fill_small(random, type, memory.data(), memory.size());
  const std::byte* const from = memory.data() - local.lowest;
  const Scale scale = test::random_scale(random, type);
  const RemoteAddress at = region.at(target, offset);
  const Status status = round % 2 == 0 ? accumulate(job, at, from, shape, scale)
                                       : accumulate_async(job, at, from, shape, scale).wait();
  ASSERT_TRUE(ok(status)) << test::describe(shape);
  model.accumulate(0, offset, from, shape, scale);
}

TEST_P(AccumulateOf, AgreesWithTheModelForRandomShapes) {
  on_ranks([](Job& job) {
    const SharedSeed seed(job);
    std::mt19937_64 random = seed.generator(job.rank().value);
    Region region = Region::allocate(job.world(), accumulate_slice_bytes).value();
    const TeamRank target = neighbour(job);
    ModelMemory model(1, accumulate_slice_bytes);
    test::fill_small(random, GetParam(), model.slice(0).data(), accumulate_slice_bytes);
    ASSERT_TRUE(ok(put(job, region.at(target), model.slice(0).data(), accumulate_slice_bytes)));
    for (int round = 0; round < 45; ++round) {
      compare_one(job, region, target, GetParam(), round, random, model);
      ASSERT_FALSE(testing::Test::HasFatalFailure());
    }
    std::vector<std::byte> slice(accumulate_slice_bytes);
    ASSERT_TRUE(ok(get(job, region.at(target), slice.data(), accumulate_slice_bytes)));
    ASSERT_EQ(slice, model.slice(0));
  });
}

TEST_P(AccumulateOf, AddsALongRunByAllRanksAtOnceExactly) {
  on_ranks([](Job& job) {
    dispatch(GetParam(), [&]<class T>(Tag<T>) {
      constexpr std::size_t count = 9001;
      Region region = Region::allocate(job.world(), (count + 1) * sizeof(T)).value();
      const std::vector<T> ones(count, T(1));
      const T factor = number<T>(job.rank().value + 1);
      constexpr int rounds = 8;
      for (int round = 0; round < rounds; ++round) {
        ASSERT_TRUE(ok(accumulate(job, region.at(TeamRank{0}, sizeof(T)), ones.data(),
                                  count * sizeof(T), Scale::of(factor))));
      }
      ASSERT_TRUE(ok(job.barrier()));
      std::vector<T> sums(count + 1);
      ASSERT_TRUE(ok(get(job, region.at(TeamRank{0}), sums.data(), sums.size() * sizeof(T))));
      std::vector<T> expected(count + 1, number<T>(rounds * job.size() * (job.size() + 1) / 2));
      expected[0] = T(0);
      EXPECT_EQ(sums, expected);
    });
  });
}

TEST_P(AccumulateOf, AddsOverlappingFragmentsEach) {
  on_ranks([](Job& job) {
    dispatch(GetParam(), [&]<class T>(Tag<T>) {
      Region region = Region::allocate(job.world(), 16 * sizeof(T)).value();
      std::vector<T> source(8, number<T>(3));
      const std::vector<Fragment> list{{source.data(), 4 * sizeof(T), 4 * sizeof(T)},
                                       {source.data(), 0, 0},
                                       {source.data(), 6 * sizeof(T), 8 * sizeof(T)},
                                       {source.data() + 1, 4 * sizeof(T), sizeof(T)}};
      const RemoteAddress at = region.at(neighbour(job));
      ASSERT_TRUE(ok(accumulate(job, at, list, Scale::of(T(2)))));
      ASSERT_TRUE(ok(accumulate_async(job, at, list, Scale::of(T(1))).wait()));
      std::vector<T> sums(16);
      ASSERT_TRUE(ok(get(job, at, sums.data(), 16 * sizeof(T))));
      const std::vector<int> times{0, 0, 0, 0, 2, 1, 2, 2, 1, 1, 1, 1, 1, 1, 0, 0};
      for (std::size_t i = 0; i < sums.size(); ++i) {
        EXPECT_EQ(sums[i], number<T>(9 * times[i])) << "element " << i;
      }
    });
  });
}

INSTANTIATE_TEST_SUITE_P(AllElementTypes, AccumulateOf,
                         testing::Values(ElementType::i32, ElementType::i64, ElementType::f32,
                                         ElementType::f64, ElementType::c64, ElementType::c128,
                                         ElementType::i8, ElementType::i16, ElementType::u8,
                                         ElementType::u16, ElementType::u32, ElementType::u64),
                         name_of);

TEST(Accumulate, MultipliesComplexNumbers) {
  on_ranks([](Job& job) {
    using Complex = std::complex<double>;
    Region region = Region::allocate(job.world(), 64).value();
    const RemoteAddress at = region.at(neighbour(job));
    const Complex source(2, 3);
    ASSERT_TRUE(ok(put_value(job, at, Complex(1, 1))));
    ASSERT_TRUE(ok(accumulate(job, at, &source, sizeof source, Scale::of(Complex(0, 1)))));
    EXPECT_EQ(get_value<Complex>(job, at).value(), Complex(-2, 3));
  });
}

TEST(Accumulate, WrapsIntegersAround) {
  on_ranks([](Job& job) {
    Region region = Region::allocate(job.world(), 64).value();
    const RemoteAddress at = region.at(neighbour(job));
    const std::int32_t one = 1;
    ASSERT_TRUE(ok(put_value(job, at, INT32_MAX)));
    ASSERT_TRUE(ok(accumulate(job, at, &one, 4, Scale::one(ElementType::i32))));
    EXPECT_EQ(get_value<std::int32_t>(job, at).value(), INT32_MIN);
  });
}

TEST(Accumulate, TakesElementsAtUnalignedAddresses) {
  on_ranks([](Job& job) {
    Region region = Region::allocate(job.world(), 40'000).value();
    std::vector<std::byte> memory(16'016);
    for (const std::uint64_t shift : {1U, 5U}) {
      for (std::size_t i = 0; i < 2000; ++i) {
        const auto value = static_cast<double>(i);
        std::memcpy(memory.data() + shift + 8 * i, &value, 8);
      }
      const RemoteAddress at = region.at(neighbour(job), 16'384 - 100 + shift);
      ASSERT_TRUE(ok(accumulate(job, at, memory.data() + shift, 16'000, Scale::of(2.0))));
      ASSERT_TRUE(ok(accumulate(job, at, memory.data() + shift, 16'000, Scale::of(1.0))));
      EXPECT_EQ(get_value<double>(job, at + std::uint64_t{8} * 1999).value(), 3.0 * 1999);
      const std::vector<std::byte> zeros(16'000);
      ASSERT_TRUE(ok(put(job, at, zeros.data(), zeros.size())));
    }
  });
}

TEST(Accumulate, ByAllRanksInShortRowsIsExact) {
  on_ranks([](Job& job) {
    constexpr std::int64_t rows = 700;
    Region region = Region::allocate(job.world(), rows * 48).value();
    const std::vector<std::int64_t> ones(2 * rows, 1);
    for (int round = 0; round < 20; ++round) {
      for (std::int32_t target = 0; target < job.size(); ++target) {
        ASSERT_TRUE(ok(accumulate(job, region.at(TeamRank{target}), ones.data(),
                                  CopyShape::rows(16, rows, 16, 48),
                                  Scale::of(std::int64_t{job.rank().value + 1}))));
      }
    }
    ASSERT_TRUE(ok(job.barrier()));
    const LocalAccess access = LocalAccess::begin(region).value();
    const std::int64_t sum = 20 * std::int64_t{job.size()} * (job.size() + 1) / 2;
    for (std::int64_t row = 0; row < rows; ++row) {
      std::array<std::int64_t, 6> words{};
      std::memcpy(words.data(), access.data() + row * 48, sizeof words);
      ASSERT_EQ(words, (std::array<std::int64_t, 6>{sum, sum, 0, 0, 0, 0})) << "row " << row;
    }
  });
}

}  // namespace
}  // namespace tessera::rma
