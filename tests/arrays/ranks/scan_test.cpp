// SPDX-License-Identifier: BSD-3-Clause
//
// Scans, packing and enumeration of parts of vectors with any distributions, against loops; also
// random elements and printed arrays, which are the same for any distribution.
#include "arrays/scan.hpp"

#include <gtest/gtest.h>

#include <sstream>
#include <vector>

#include "arrays/print.hpp"
#include "arrays/random.hpp"
#include "arrays/reductions.hpp"
#include "tests/arrays/ranks/random_arrays.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/rank_main.hpp"

namespace tessera::arrays {
namespace {

using rma::Code;
using rma::Job;
using rma::Team;
using rma::test::fails;
using rma::test::ok;
using rma::test::on_team;
using test::KnownArray;
using test::make_known;
using test::pick;
using test::Random;

template <class T>
struct KnownVector {
  KnownArray<T> known;
  std::int64_t first = 0;
  std::int64_t length = 0;

  [[nodiscard]] Subarray<T> operand() const {
    return part(known.array, Box({first}, {first + length}));
  }
  T& operator[](std::int64_t i) { return known.values[static_cast<std::size_t>(first + i)]; }
};

template <class T>
KnownVector<T> make_vector(const Job& job, const Team& team, Random& random, std::int64_t length,
                           const char* name) {
  const std::int64_t first = pick(random, 0, 3);
  return {make_known<T>(job, team, random, {first + length + pick(random, 0, 3)}, name), first,
          length};
}

// A mask with few or many nonzero elements.
KnownVector<std::int32_t> make_mask(const Job& job, const Team& team, Random& random,
                                    std::int64_t length) {
  auto mask = make_vector<std::int32_t>(job, team, random, length, "mask");
  const std::int64_t density = pick(random, 0, 3);
  for (std::int32_t& flag : mask.known.values) {
    flag = pick(random, 0, 3) < density ? static_cast<std::int32_t>(pick(random, 1, 3)) << 16 : 0;
  }
  if (team.rank().value == 0) {
    EXPECT_TRUE(ok(mask.known.array.put(mask.known.array.box(), mask.known.values)));
  }
  EXPECT_TRUE(ok(mask.known.array.sync()));
  return mask;
}

template <class T>
void try_scans(const Job& job, const Team& team, Random& random, std::int64_t length) {
  auto from = make_vector<T>(job, team, random, length, "from");
  auto to = make_vector<T>(job, team, random, length, "to");
  auto mask = make_mask(job, team, random, length);
  EXPECT_TRUE(ok(scan_copy(from.operand(), mask.operand(), to.operand())));
  bool has_begun = false;
  T value{};
  for (std::int64_t i = 0; i < length; ++i) {
    has_begun = has_begun || mask[i] != 0;
    value = mask[i] != 0 ? from[i] : value;
    to[i] = has_begun ? value : to[i];
  }
  EXPECT_TRUE(to.known.is_as_known()) << "scan_copy";
  for (const ScanKind kind : {ScanKind::inclusive, ScanKind::exclusive}) {
    EXPECT_TRUE(ok(scan_add(from.operand(), mask.operand(), to.operand(), kind)));
    T sum{};
    for (std::int64_t i = 0; i < length; ++i) {
      const T before = mask[i] != 0 ? T{} : sum;
      sum = static_cast<T>(before + from[i]);
      to[i] = kind == ScanKind::inclusive ? sum : before;
    }
    EXPECT_TRUE(to.known.is_as_known()) << "scan_add";
  }
  EXPECT_TRUE(ok(enumerate(to.operand(), static_cast<T>(2), static_cast<T>(3))));
  T next = static_cast<T>(2);
  for (std::int64_t i = 0; i < length; ++i) {
    to[i] = next;
    next = static_cast<T>(next + static_cast<T>(3));
  }
  EXPECT_TRUE(to.known.is_as_known()) << "enumerate";
}

template <class T>
void try_packing(const Job& job, const Team& team, Random& random, std::int64_t length) {
  auto loose = make_vector<T>(job, team, random, length, "loose");
  auto packed = make_vector<T>(job, team, random, length + pick(random, 0, 5), "packed");
  auto mask = make_mask(job, team, random, length);
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < length; ++i) {
    if (mask[i] != 0) {
      packed[count++] = loose[i];
    }
  }
  EXPECT_EQ(pack(loose.operand(), mask.operand(), packed.operand()).value(), count);
  EXPECT_TRUE(packed.known.is_as_known()) << "pack";
  auto result = make_vector<T>(job, team, random, length, "result");
  EXPECT_EQ(unpack(packed.operand(), mask.operand(), result.operand()).value(), count);
  for (std::int64_t i = 0; i < length; ++i) {
    result[i] = mask[i] != 0 ? loose[i] : result[i];
  }
  EXPECT_TRUE(result.known.is_as_known()) << "unpack";
}

template <class T>
class ScansOf : public ::testing::Test {};
using ScannedTypes = ::testing::Types<std::int8_t, std::uint64_t, float, std::complex<double>>;
TYPED_TEST_SUITE(ScansOf, ScannedTypes);

TYPED_TEST(ScansOf, AgreeWithLoops) {
  on_team([](Job& job, Team& team) {
    Random random = test::shared_random(400 + sizeof(TypeParam));
    for (const std::int64_t length : {0, 1, 2, 7, 40, 41, 100}) {
      try_scans<TypeParam>(job, team, random, length);
      try_packing<TypeParam>(job, team, random, length);
    }
  });
}

TEST(Scans, GoInPieces) {
  on_team([](Job& job, Team& team) {
    const std::int64_t length = 150'001;
    auto from = Array<double>::create(job, {length}, {.name = "from", .team = team}).value();
    auto to = Array<double>::create(job, {length}, {.name = "to", .team = team}).value();
    auto mask = Array<std::uint8_t>::create(job, {length}, {.name = "mask", .team = team}).value();
    ASSERT_TRUE(ok(fill(from, 1.0)));
    ASSERT_TRUE(ok(fill(part(mask, Box({7}, {8})), std::uint8_t{1})));
    ASSERT_TRUE(ok(scan_add(from, mask, to)));
    EXPECT_EQ(to.get_element({6}).value(), 7.0);
    EXPECT_EQ(to.get_element({length - 1}).value(), static_cast<double>(length - 7));
    ASSERT_TRUE(ok(fill(mask, std::uint8_t{1})));
    EXPECT_EQ(pack(from, mask, to).value(), length);
    EXPECT_EQ(sum(to).value(), static_cast<double>(length));
    // In place.
    ASSERT_TRUE(ok(zero(mask)));
    ASSERT_TRUE(ok(scan_add(from, mask, from, ScanKind::exclusive)));
    EXPECT_EQ(from.get_element({length - 1}).value(), static_cast<double>(length - 1));
    EXPECT_TRUE(ok(from.sync()));
  });
}

TEST(Scans, SayWhatIsWrong) {
  on_team([](Job& job, Team& team) {
    auto from = Array<double>::create(job, {9}, {.name = "from", .team = team}).value();
    auto to = Array<double>::create(job, {5}, {.name = "to", .team = team}).value();
    auto mask = Array<std::int64_t>::create(job, {9}, {.name = "mask", .team = team}).value();
    auto matrix = Array<double>::create(job, {3, 3}, {.name = "matrix", .team = team}).value();
    ASSERT_TRUE(ok(fill(mask, std::int64_t{1})));
    EXPECT_TRUE(fails(pack(from, mask, to), Code::invalid_argument,
                      {"pack: the mask selects 9 elements, but [0,5) of array 'to' (float64, 5) "
                       "has 5"}));
    EXPECT_TRUE(fails(pack(from, from, to), Code::invalid_argument,
                      {"pack: the mask array 'from' (float64, 9) does not have integer elements"}));
    EXPECT_TRUE(
        fails(pack(part(from, Box({0}, {5})), part(mask, Box({0}, {5})), part(from, Box({4}, {9}))),
              Code::invalid_argument, {"pack: the result is in the memory of array 'from'"}));
    EXPECT_TRUE(
        ok(pack(part(from, Box({0}, {4})), part(mask, Box({0}, {4})), part(from, Box({4}, {9})))));
    EXPECT_TRUE(fails(pack(mask, mask, mask), Code::invalid_argument,
                      {"pack: the result is in the memory of array 'mask'"}));
    auto whole = Array<std::int64_t>::create(job, {9}, {.name = "whole", .team = team}).value();
    EXPECT_TRUE(fails(pack(whole, mask, mask), Code::invalid_argument,
                      {"pack: the result is in the memory of array 'mask'"}));
    EXPECT_TRUE(fails(scan_add(from, mask, to), Code::invalid_argument,
                      {"scan_add: extents differ: 5 of array 'to'"}));
    EXPECT_TRUE(fails(enumerate(matrix, 1.0, 1.0), Code::invalid_argument,
                      {"enumerate: array 'matrix' (float64, 3 x 3) has 2 dimensions"}));
    EXPECT_TRUE(ok(from.sync()));
  });
}

TEST(RandomElements, ArePhiloxs) {
  using Words = std::array<std::uint32_t, 4>;
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(RandomElements, DependOnSeedAndIndexAlone) {
  on_team([](Job& job, Team& team) {
    Random random = test::shared_random(8);
    const Extents extents{31, 17};
    auto alone = team.split(-1, 0).value();
    auto mine = Array<double>::create(job, extents, {.name = "mine", .team = alone}).value();
    ASSERT_TRUE(ok(fill_random(mine, 42)));
    std::vector<double> expected(std::size_t{31} * 17);
    ASSERT_TRUE(ok(mine.get(mine.box(), expected)));
    auto all = Array<double>::create(job, test::pick_distribution(random, extents, team.size()),
                                     {.name = "all", .team = team})
                   .value();
    ASSERT_TRUE(ok(fill_random(part(all, Box({0, 0}, {9, 17})), 42)));
    ASSERT_TRUE(ok(fill_random(part(all, Box({9, 0}, {31, 17})), 42)));
    std::vector<double> got(expected.size());
    ASSERT_TRUE(ok(all.get(all.box(), got)));
    EXPECT_EQ(got, expected);
    const double mean = sum(mine).value() / 527;
    EXPECT_NEAR(mean, 0.5, 0.06);
    EXPECT_GE(select_min(mine).value().value, 0.0);
    EXPECT_LT(select_max(mine).value().value, 1.0);
    auto dice = Array<std::int8_t>::create(job, {600}, {.name = "dice", .team = team}).value();
    ASSERT_TRUE(ok(fill_random(dice, 7, {.low = 1, .high = 6})));
    EXPECT_EQ(select_min(dice).value().value, 1);
    EXPECT_EQ(select_max(dice).value().value, 6);
    EXPECT_TRUE(fails(fill_random(dice, 7, {.low = 0, .high = 128}), Code::invalid_argument,
                      {"fill_random: random elements of type int8 can't be between 0 and 128"}));
    EXPECT_TRUE(fails(fill_random(all, 7, {.low = 1, .high = 1}), Code::invalid_argument));
    auto wide = Array<std::int64_t>::create(job, {7}, {.name = "wide", .team = team}).value();
    EXPECT_TRUE(fails(fill_random(wide, 7, {.low = -0x1p60, .high = -0x1p60 + 1024}),
                      Code::invalid_argument, {"at most 53 bits"}));
    auto narrow = Array<float>::create(job, {7}, {.name = "narrow", .team = team}).value();
    EXPECT_TRUE(fails(fill_random(narrow, 7, {.low = 0, .high = 1e39}), Code::invalid_argument,
                      {"random elements of type float32 can't be between 0 and 1e+39",
                       "both must fit the type"}));
    // Neither bound is a float: rounding must not give a number outside the range.
    ASSERT_TRUE(ok(fill_random(narrow, 7, {.low = 0.7, .high = 0.7000001})));
    EXPECT_GE(double{select_min(narrow).value().value}, 0.7);
    EXPECT_LT(double{select_max(narrow).value().value}, 0.7000001);
    EXPECT_TRUE(ok(all.sync()));
  });
}

TEST(Print, WritesRowsWhereverTheyLie) {
  on_team([](Job& job, Team& team) {
    Random random = test::shared_random(9);
    auto array =
        Array<std::int32_t>::create(job, test::pick_distribution(random, {2, 2, 3}, team.size()),
                                    {.name = "A", .team = team})
            .value();
    std::vector<std::int32_t> values{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, -11, 12};
    if (team.rank().value == 0) {
      ASSERT_TRUE(ok(array.put(array.box(), values)));
    }
    std::ostringstream out;
    ASSERT_TRUE(ok(print(array, out)));
    const std::string text =
        "array 'A' (int32, 2 x 2 x 3)\n"
        "(0, *, *)\n      1      2      3\n      4      5      6\n"
        "(1, *, *)\n      7      8      9\n     10    -11     12\n";
    EXPECT_EQ(out.str(), team.rank().value == 0 ? text : "");
    std::ostringstream part_out;
    ASSERT_TRUE(ok(print(part(array, Box({1, 0, 1}, {2, 2, 3})), part_out,
                         {.root = rma::TeamRank{team.size() - 1}, .most_lines = 1})));
    EXPECT_EQ(part_out.str(), team.rank().value == team.size() - 1
                                  ? "array 'A' (int32, 2 x 2 x 3), the elements [1,2) x [0,2) x "
                                    "[1,3)\n(1, *, *)\n      8      9\n... (1 of 2 lines)\n"
                                  : "");
    EXPECT_TRUE(fails(print(array, out, {.root = rma::TeamRank{99}}), Code::invalid_argument,
                      {"print: on rank", "the root is member 99"}));
    auto reals = Array<double>::create(job, {3}, {.name = "x", .team = team}).value();
    ASSERT_TRUE(ok(enumerate(reals, 0.5, 1.0)));
    std::ostringstream digits;
    ASSERT_TRUE(ok(print(reals, digits, {.digits = 3})));
    EXPECT_EQ(digits.str(), team.rank().value == 0
                                ? "array 'x' (float64, 3)\n       0.5       1.5       2.5\n"
                                : "");
  });
}

TEST(Print, TellsWhoOwnsWhat) {
  const auto distribution = Distribution::block_cyclic({5, 4}, {3, 4}, 3).value();
  std::ostringstream out;
  print_distribution(distribution, out);
  EXPECT_EQ(out.str(), to_string(distribution) +
                           "\nrank 0: [0,3) x [0,4)\nrank 1: [3,5) x [0,4)\nrank 2: nothing\n");
}

}  // namespace
}  // namespace tessera::arrays
