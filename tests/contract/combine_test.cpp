// SPDX-License-Identifier: BSD-3-Clause
//
// Accumulate by minimum, maximum and bitwise operations: each on every type that it is defined for,
// in all forms, compared with elements that the test combines itself; by all ranks at once; NaNs;
// and what is refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "rma/aggregate.hpp"
#include "rma/transfer.hpp"
#include "tests/support/checks.hpp"
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

constexpr std::size_t combined_bytes = std::size_t{48} << 10;

struct Combination {
  AccumulateOp op;
  ElementType type;
};

std::vector<Combination> combinations() {
  std::vector<Combination> all;
  for (int op = 1; op < accumulate_op_count; ++op) {
    for (int type = 0; type < element_type_count; ++type) {
      const Combination one{static_cast<AccumulateOp>(op), static_cast<ElementType>(type)};
      if (is_defined(one.type, one.op)) {
        all.push_back(one);
      }
    }
  }
  return all;
}

std::string name_of_combination(const testing::TestParamInfo<Combination>& each) {
  return std::string(to_string(each.param.op)) + "_" + std::string(to_string(each.param.type));
}

// The expected element.
template <class T>
T combined(AccumulateOp op, T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) || std::isnan(b)) {
      return std::numeric_limits<T>::quiet_NaN();
    }
    return op == AccumulateOp::min ? std::fmin(a, b) : std::fmax(a, b);
  } else if constexpr (std::is_integral_v<T>) {
    switch (op) {
      case AccumulateOp::min:
        return a <= b ? a : b;
      case AccumulateOp::max:
        return a >= b ? a : b;
      case AccumulateOp::bit_or:
        return static_cast<T>(a | b);
      case AccumulateOp::bit_and:
        return static_cast<T>(a & b);
      default:
        return static_cast<T>(a ^ b);
    }
  } else {
    return a;
  }
}

void combine_model(std::vector<std::byte>& slice, std::uint64_t offset, const std::byte* from,
                   const CopyShape& shape, const Combination& how) {
  dispatch(how.type, [&]<class T>(Tag<T>) {
    for (const test::Run& run : test::runs_of(shape)) {
      for (std::size_t at = 0; at < shape.run_bytes; at += sizeof(T)) {
        std::byte* const to = slice.data() + offset + run.remote + at;
        T old;
        T operand;
        std::memcpy(&old, to, sizeof(T));
        std::memcpy(&operand, from + run.local + at, sizeof(T));
        old = combined(how.op, old, operand);
        std::memcpy(to, &old, sizeof(T));
      }
    }
  });
}

// Any bits for integers; small whole numbers for others, which have no NaNs.
void fill_any(std::mt19937_64& random, ElementType type, std::vector<std::byte>& bytes) {
  if (is_integer(type)) {
    test::fill(random, bytes);
  } else {
    test::fill_small(random, type, bytes.data(), bytes.size());
  }
}

class Combine : public testing::TestWithParam<Combination> {};

TEST_P(Combine, AgreesWithTheModelForRandomShapes) {
  on_ranks([](Job& job) {
    const SharedSeed seed(job);
    std::mt19937_64 random = seed.generator(job.rank().value);
    const auto element = static_cast<std::int64_t>(size_of(GetParam().type));
    const Scale scale = Scale::by(GetParam().op, GetParam().type);
    Region region = Region::allocate(job.world(), combined_bytes).value();
    const TeamRank target = neighbour(job);
    std::vector<std::byte> model(combined_bytes);
    fill_any(random, GetParam().type, model);
    ASSERT_TRUE(ok(put(job, region.at(target), model.data(), combined_bytes)));
    for (int round = 0; round < 12; ++round) {
      const auto run = static_cast<std::size_t>(element * random_in(random, 1, 5));
      const CopyShape shape = test::random_disjoint_shape(random, round % 4, run, element);
      const CopyShape::Extent local = shape.local_extent();
      const CopyShape::Extent remote = shape.remote_extent();
      const std::int64_t room =
          static_cast<std::int64_t>(combined_bytes) - (remote.highest - remote.lowest);
      if (room < 0) {
        continue;
      }
      const auto offset = static_cast<std::uint64_t>(
          -remote.lowest + element * random_in(random, 0, room / element));
      std::vector<std::byte> memory(static_cast<std::size_t>(local.highest - local.lowest) + 16);
      fill_any(random, GetParam().type, memory);
      const std::byte* const from = memory.data() - local.lowest;
      const RemoteAddress at = region.at(target, offset);
      ASSERT_TRUE(ok(round % 2 == 0 ? accumulate(job, at, from, shape, scale)
                                    : accumulate_async(job, at, from, shape, scale).wait()))
          << test::describe(shape);
      combine_model(model, offset, from, shape, GetParam());
    }
    std::vector<std::byte> slice(combined_bytes);
    ASSERT_TRUE(ok(get(job, region.at(target), slice.data(), combined_bytes)));
    ASSERT_EQ(slice, model);
  });
}

TEST_P(Combine, AppliesEachFragmentOfAListAndOfAnAggregate) {
  on_ranks([](Job& job) {
    dispatch(GetParam().type, [&]<class T>(Tag<T>) {
      if constexpr (RealElement<T>) {
        Region region = Region::allocate(job.world(), 16 * sizeof(T)).value();
        const RemoteAddress at = region.at(neighbour(job));
        const Scale scale = Scale::by(GetParam().op, GetParam().type);
        std::vector<T> expected(16);
        std::vector<T> source(16);
        std::iota(expected.begin(), expected.end(), T{20});
        std::iota(source.begin(), source.end(), T{23});
        ASSERT_TRUE(ok(put(job, at, expected.data(), 16 * sizeof(T))));
        // The third fragment overlaps the first two.
        std::vector<Fragment> list;
        for (const auto [from, to, count] : {std::array{0, 3, 4}, {4, 9, 5}, {10, 5, 6}}) {
          list.push_back({&source[static_cast<std::size_t>(from)],
                          static_cast<std::uint64_t>(to) * sizeof(T),
                          static_cast<std::size_t>(count) * sizeof(T)});
          for (int i = 0; i < count; ++i) {
            T& element = expected[static_cast<std::size_t>(to + i)];
            element = combined(GetParam().op, element, source[static_cast<std::size_t>(from + i)]);
          }
        }
        ASSERT_TRUE(ok(accumulate(job, at, list, scale)));
        for (std::size_t i = 0; i < 16; ++i) {
          expected[i] = combined(GetParam().op, expected[i], T{30});
        }
        const std::vector<T> thirties(16, T{30});
        Aggregate kept(job);
        ASSERT_TRUE(ok(kept.accumulate(at, thirties.data(), 8 * sizeof(T), scale)));
        ASSERT_TRUE(ok(kept.accumulate(at + 8 * sizeof(T), thirties.data(), 8 * sizeof(T), scale)));
        ASSERT_TRUE(ok(kept.start().wait()));
        std::vector<T> found(16);
        ASSERT_TRUE(ok(get(job, at, found.data(), 16 * sizeof(T))));
        EXPECT_EQ(found, expected);
      }
    });
  });
}

TEST_P(Combine, ByAllRanksAtOnceLosesNothing) {
  on_ranks([](Job& job) {
    dispatch(GetParam().type, [&]<class T>(Tag<T>) {
      if constexpr (RealElement<T>) {
        constexpr std::size_t count = 700;
        constexpr int rounds = 6;
        Region region = Region::allocate(job.world(), count * sizeof(T)).value();
        const RemoteAddress at = region.at(TeamRank{0});
        std::vector<T> expected(count, T{16});
        if (job.rank().value == 0) {
          ASSERT_TRUE(ok(put(job, at, expected.data(), count * sizeof(T))));
        }
        ASSERT_TRUE(ok(job.barrier()));
        const auto value = [](std::int32_t rank, int round, std::size_t i) {
          return static_cast<T>((rank * 7 + round * 3 + static_cast<int>(i)) % 32);
        };
        std::vector<T> source(count);
        for (int round = 0; round < rounds; ++round) {
          for (std::size_t i = 0; i < count; ++i) {
            source[i] = value(job.rank().value, round, i);
          }
          ASSERT_TRUE(ok(accumulate(job, at, source.data(), count * sizeof(T),
                                    Scale::by(GetParam().op, GetParam().type))));
        }
        ASSERT_TRUE(ok(job.barrier()));
        for (std::int32_t rank = 0; rank < job.size(); ++rank) {
          for (int round = 0; round < rounds; ++round) {
            for (std::size_t i = 0; i < count; ++i) {
              expected[i] = combined(GetParam().op, expected[i], value(rank, round, i));
            }
          }
        }
        std::vector<T> found(count);
        ASSERT_TRUE(ok(get(job, at, found.data(), count * sizeof(T))));
        EXPECT_EQ(found, expected);
      }
    });
  });
}

INSTANTIATE_TEST_SUITE_P(All, Combine, testing::ValuesIn(combinations()), name_of_combination);

constexpr std::size_t nan_count = 37;

// Each way to accumulate `nan_count` elements.
template <class T>
std::vector<std::function<Status(Job&, RemoteAddress, const T*, const Scale&)>> ways_to_combine() {
  constexpr auto stride = static_cast<std::int64_t>(2 * sizeof(T));
  const CopyShape every_second = CopyShape::rows(sizeof(T), nan_count / 2, stride, stride);
  return {
      [](Job& job, RemoteAddress at, const T* from, const Scale& scale) {
        return accumulate(job, at, from, nan_count * sizeof(T), scale);
      },
      [](Job& job, RemoteAddress at, const T* from, const Scale& scale) {
        return accumulate_async(job, at, from, nan_count * sizeof(T), scale).wait();
      },
      [every_second](Job& job, RemoteAddress at, const T* from, const Scale& scale) -> Status {
        constexpr std::size_t last = nan_count - 1;
        TESSERA_RETURN_IF_ERROR(accumulate(job, at, from, every_second, scale));
        TESSERA_RETURN_IF_ERROR(accumulate(job, at + sizeof(T), from + 1, every_second, scale));
        return accumulate(job, at + last * sizeof(T), from + last, sizeof(T), scale);
      },
      [](Job& job, RemoteAddress at, const T* from, const Scale& scale) {
        std::vector<Fragment> pieces;
        for (std::size_t i = 0; i < nan_count; ++i) {
          pieces.push_back({const_cast<T*>(from + i), i * sizeof(T), sizeof(T)});
        }
        return accumulate(job, at, pieces, scale);
      },
      [](Job& job, RemoteAddress at, const T* from, const Scale& scale) -> Status {
        Aggregate kept(job);
        for (std::size_t i = 0; i < nan_count; ++i) {
          TESSERA_RETURN_IF_ERROR(kept.accumulate(at + i * sizeof(T), from + i, sizeof(T), scale));
        }
        return kept.start().wait();
      }};
}

// A NaN wins on either side, in every form of an accumulate, on another rank and on this one.
template <class T>
void expect_nans_to_win(Job& job, AccumulateOp op) {
  const T nan = std::numeric_limits<T>::quiet_NaN();
  constexpr std::uint64_t bytes = nan_count * sizeof(T);
  Region region = Region::allocate(job.world(), 2 * bytes).value();
  std::vector<T> before;
  std::vector<T> source;
  for (std::size_t i = 0; i < nan_count; ++i) {
    before.push_back(i % 4 == 0 || i % 4 == 2 ? -nan : T{-1});
    source.push_back(i % 4 == 1 || i % 4 == 2 ? nan : static_cast<T>(i));
  }
  const Scale scale = Scale::by(op, element_type<T>());
  std::size_t way = 0;
  for (const auto& combine : ways_to_combine<T>()) {
    for (const RemoteAddress at :
         {region.at(neighbour(job)), region.at(neighbour(job, 0), bytes)}) {
      ASSERT_TRUE(ok(put(job, at, before.data(), bytes)));
      ASSERT_TRUE(ok(combine(job, at, source.data(), scale)));
      std::vector<T> found(before.size());
      ASSERT_TRUE(ok(get(job, at, found.data(), bytes)));
      for (std::size_t i = 0; i < nan_count; ++i) {
        const T element = found[i];
        const T greater = op == AccumulateOp::min ? T{-1} : static_cast<T>(i);
        EXPECT_TRUE(i % 4 == 3 ? element == greater : std::isnan(element))
            << "way " << way << ", rank " << at.rank.value << ", element " << i << " is "
            << element;
      }
    }
    ++way;
  }
}

TEST(CombineNaN, WinsOnEitherSide) {
  on_ranks([](Job& job) {
    for (const AccumulateOp op : {AccumulateOp::min, AccumulateOp::max}) {
      expect_nans_to_win<float>(job, op);
      expect_nans_to_win<double>(job, op);
    }
  });
}

TEST(CombineNaN, StaysWhateverOtherRanksCombine) {
  on_ranks([](Job& job) {
    constexpr std::int64_t count = 8;
    Region region = Region::allocate(job.world(), count * sizeof(double)).value();
    const RemoteAddress at = region.at(TeamRank{0});
    const Scale greatest = Scale::by(AccumulateOp::max, ElementType::f64);
    for (int round = 0; round < 20; ++round) {
      std::vector<double> numbers(count, job.rank().value + 10.0 * round);
      if (round == 10 && job.rank().value == job.size() - 1) {
        numbers[3] = std::numeric_limits<double>::quiet_NaN();
      }
      ASSERT_TRUE(ok(accumulate(job, at, numbers.data(), count * sizeof(double), greatest)));
    }
    ASSERT_TRUE(ok(job.barrier()));
    std::vector<double> found(count);
    ASSERT_TRUE(ok(get(job, at, found.data(), count * sizeof(double))));
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_TRUE(i == 3 ? std::isnan(found[i]) : found[i] == job.size() - 1 + 190.0)
          << "element " << i << " is " << found[i];
    }
    ASSERT_TRUE(ok(job.barrier()));
  });
}

TEST(CombineRefused, NamesTheOperationAndTheType) {
  on_ranks([](Job& job) {
    Region region = Region::allocate(job.world(), 64).value();
    const RemoteAddress at = region.at(neighbour(job));
    const std::complex<double> one{1, 1};
    const Scale least = Scale::by(AccumulateOp::min, ElementType::c128);
    EXPECT_TRUE(fails(accumulate(job, at, &one, 16, least), Code::unsupported,
                      {"accumulate by min of complex128 elements", "have no order"}));
    EXPECT_TRUE(fails(accumulate_async(job, at, &one, 16, least).wait(), Code::unsupported,
                      {"accumulate by min of complex128 elements"}));
    const Fragment piece{const_cast<std::complex<double>*>(&one), 0, 16};
    EXPECT_TRUE(fails(accumulate(job, at, Fragments(&piece, 1),
                                 Scale::by(AccumulateOp::bit_xor, ElementType::f64)),
                      Code::unsupported,
                      {"accumulate by bit_xor of float64 elements", "are for integers"}));
    EXPECT_TRUE(fails(accumulate(job, at, &one, CopyShape::rows(8, 2, 8, 16),
                                 Scale::by(AccumulateOp::bit_or, ElementType::f32)),
                      Code::unsupported, {"accumulate by bit_or of float32 elements"}));
    EXPECT_TRUE(fails(
        accumulate(job, at, &one, 8, Scale::by(static_cast<AccumulateOp>(17), ElementType::i32)),
        Code::invalid_argument, {"accumulate by operation 6, which does not exist"}));
    EXPECT_TRUE(fails(
        accumulate(job, at, &one, 8, Scale::by(AccumulateOp::max, static_cast<ElementType>(77))),
        Code::invalid_argument, {"element type 77, which does not exist"}));
    std::vector<std::byte> slice(64);
    ASSERT_TRUE(ok(get(job, at, slice.data(), 64)));
    EXPECT_EQ(slice, std::vector<std::byte>(64));
    ASSERT_TRUE(ok(job.barrier()));
  });
}

}  // namespace
}  // namespace tessera::rma
