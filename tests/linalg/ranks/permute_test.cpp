// SPDX-License-Identifier: BSD-3-Clause
//
// permute and transpose, element by element; and their errors.
#include "linalg/permute.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "tests/linalg/ranks/distributed.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/effort.hpp"
#include "tests/support/rank_main.hpp"
#include "tests/support/shared_seed.hpp"

namespace tessera::linalg {
namespace {

using rma::Code;
using rma::Job;
using rma::Team;
using rma::WorldRank;
using rma::test::fails;
using rma::test::ok;
using rma::test::on_ranks;
using test::Array;
using test::Box;
using test::Distribution;
using test::Extents;
using test::Index;
using test::Kind;
using test::MemoryOrder;
using test::Random;

Distribution any_distribution(Random& random, const Extents& extents, std::int64_t ranks) {
  const Kind kind = test::all_kinds[test::pick(random, 0, 5)];
  const auto order =
      test::pick(random, 0, 1) == 0 ? MemoryOrder::row_major : MemoryOrder::column_major;
  return test::make_distribution(kind, extents, ranks, test::pick(random, 1, 7), order, random);
}

template <class T>
void expect_permuted(Array<T>& out, const std::vector<int>& dims, std::uint64_t seed) {
  std::vector<T> values(static_cast<std::size_t>(out.box().volume()));
  ASSERT_TRUE(ok(out.get(out.box(), values)));
  Index at = Index::zeros(out.ndims());
  std::int64_t wrong = 0;
  for (const T& value : values) {
    Index from = at;
    for (int dim = 0; dim < out.ndims(); ++dim) {
      from[dims[static_cast<std::size_t>(dim)]] = at[dim];
    }
    wrong += value == test::element<T>(from, seed) ? 0 : 1;
    advance(at, out.extents(), MemoryOrder::row_major);
  }
  EXPECT_EQ(wrong, 0);
  ASSERT_TRUE(ok(out.sync()));
}

template <class T>
void expect_each_permutation(Job& job, Random& random, Extents extents) {
  std::vector<int> dims;
  for (int dim = 0; dim < extents.ndims(); ++dim) {
    dims.push_back(dim);
  }
  auto in =
      test::make_filled<T>(job, any_distribution(random, extents, job.size()), 1, {.name = "in"});
  do {
    Extents permuted = extents;
    for (int dim = 0; dim < extents.ndims(); ++dim) {
      permuted[dim] = extents[dims[static_cast<std::size_t>(dim)]];
    }
    auto out =
        Array<T>::create(job, any_distribution(random, permuted, job.size()), {.name = "out"})
            .value();
    const std::int64_t buffer_bytes = test::pick(random, 1, 4096);
    ASSERT_TRUE(ok(permute(in, out, dims, {.buffer_bytes = buffer_bytes})));
    expect_permuted(out, dims, 1);
  } while (std::next_permutation(dims.begin(), dims.end()));
}

TEST(Permute, PutsEachElementInPlace) {
  on_ranks([](Job& job) {
    const rma::test::SharedSeed seed(job);
    Random random = seed.generator(-1);
    expect_each_permutation<double>(job, random, {13});
    for (int round = 0; round < (tessera::test::is_sanitized ? 1 : 5); ++round) {
      expect_each_permutation<double>(job, random, {17, 23});
      expect_each_permutation<float>(job, random, {5, 9, 7});
    }
    expect_each_permutation<std::complex<double>>(job, random, {3, 6, 4, 2});
    expect_each_permutation<double>(job, random, {0, 4});
    expect_each_permutation<double>(job, random, {1, 40});
  });
}

TEST(Permute, OfLargerMatricesInSmallBuffers) {
  on_ranks([](Job& job) {
    Random random(3);
    auto in = test::make_filled<double>(job, any_distribution(random, {150, 210}, job.size()), 1,
                                        {.name = "in"});
    auto out = Array<double>::create(job, {210, 150}, {.name = "out"}).value();
    ASSERT_TRUE(ok(transpose(in, out, {.buffer_bytes = 20'000})));
    expect_permuted(out, {1, 0}, 1);
    auto back = Array<double>::create(job, {150, 210}, {.name = "back"}).value();
    ASSERT_TRUE(ok(transpose(out, back)));
    expect_permuted(back, {0, 1}, 1);
  });
}

TEST(Permute, ElementsOfAnySize) {
  on_ranks([](Job& job) {
    using Three = std::array<std::int32_t, 3>;
    auto in = Array<Three>::create(job, {6, 5}, {.name = "in"}).value();
    auto out = Array<Three>::create(job, {5, 6}, {.name = "out"}).value();
    std::vector<Three> values;
    for (std::int32_t i = 0; i < 30; ++i) {
      values.push_back({i, -i, 7 * i});
    }
    if (job.rank().value == 0) {
      ASSERT_TRUE(ok(in.put(in.box(), values)));
    }
    ASSERT_TRUE(ok(transpose(in, out)));
    EXPECT_EQ(out.get_element({3, 4}).value(), values[4 * 5 + 3]);
    EXPECT_EQ(out.get_element({0, 5}).value(), values[25]);
    ASSERT_TRUE(ok(out.sync()));
  });
}

TEST(Permute, TeamsOfSomeRanks) {
  on_ranks([](Job& job) {
    if (job.size() < 4) {
      GTEST_SKIP() << "needs 4 ranks";
    }
    Random random(9);
    auto in = test::make_filled<double>(job, any_distribution(random, {11, 13}, job.size()), 1,
                                        {.name = "in"});
    const std::vector<WorldRank> members{WorldRank{0}, WorldRank{2}, WorldRank{3}};
    if (std::find(members.begin(), members.end(), job.rank()) != members.end()) {
      const Team team = Team::create(job, members).value();
      auto out = Array<double>::create(job, {13, 11}, {.name = "out", .team = team}).value();
      ASSERT_TRUE(ok(transpose(in, out)));
      expect_permuted(out, {1, 0}, 1);
    }
    ASSERT_TRUE(ok(job.barrier()));
  });
}

/// The expected elements: inside `box` from `in`, elsewhere the old ones.
void expect_part(Array<double>& out, const Box& box,
                 const std::function<Index(const Index&)>& source) {
  std::vector<double> values(static_cast<std::size_t>(out.box().volume()));
  ASSERT_TRUE(ok(out.get(out.box(), values)));
  Index at = Index::zeros(out.ndims());
  std::int64_t wrong = 0;
  for (const double value : values) {
    const double expected =
        box.contains(at) ? test::element<double>(source(at), 1) : test::element<double>(at, 2);
    wrong += value == expected ? 0 : 1;
    advance(at, out.extents(), MemoryOrder::row_major);
  }
  EXPECT_EQ(wrong, 0) << to_string(box);
  ASSERT_TRUE(ok(out.sync()));
}

TEST(Permute, PartsOfMatricesLeaveTheRestAlone) {
  on_ranks([](Job& job) {
    const rma::test::SharedSeed seed(job);
    Random random = seed.generator(-1);
    for (int round = 0; round < tessera::test::rounds(12); ++round) {
      auto in = test::make_filled<double>(job, any_distribution(random, {9, 7}, job.size()), 1,
                                          {.name = "in"});
      auto out = test::make_filled<double>(job, any_distribution(random, {8, 11}, job.size()), 2,
                                           {.name = "out"});
      const Box from({4, 2}, {8, 5});
      const Box to({1, 6}, {4, 10});
      ASSERT_TRUE(ok(transpose(part(in, from), part(out, to))));
      expect_part(out, to, [](const Index& at) { return Index{at[1] - 6 + 4, at[0] - 1 + 2}; });
    }
  });
}

TEST(Permute, PlanesOfThreeDimensionsToMatricesAndBack) {
  on_ranks([](Job& job) {
    const rma::test::SharedSeed seed(job);
    Random random = seed.generator(-1);
    for (int round = 0; round < tessera::test::rounds(12); ++round) {
      auto cube = test::make_filled<double>(job, any_distribution(random, {5, 6, 4}, job.size()), 1,
                                            {.name = "cube"});
      auto plane = test::make_filled<double>(job, any_distribution(random, {6, 5}, job.size()), 2,
                                             {.name = "plane"});
      ASSERT_TRUE(ok(permute(part(cube, Box({0, 0, 2}, {5, 6, 3})), plane, {1, 0})));
      expect_part(plane, plane.box(), [](const Index& at) { return Index{at[1], at[0], 2}; });
      auto matrix = test::make_filled<double>(job, any_distribution(random, {6, 5}, job.size()), 1,
                                              {.name = "matrix"});
      auto other = test::make_filled<double>(job, any_distribution(random, {5, 6, 4}, job.size()),
                                             2, {.name = "other"});
      const Box written({0, 0, 3}, {5, 6, 4});
      ASSERT_TRUE(ok(permute(matrix, part(other, written), {1, 0, no_dim})));
      expect_part(other, written, [](const Index& at) { return Index{at[1], at[0]}; });
    }
  });
}

TEST(Permute, WithinOneArrayWherePartsAreApart) {
  on_ranks([](Job& job) {
    auto a = test::make_filled<double>(job, Distribution::regular({6, 6}, job.size()).value(), 1,
                                       {.name = "a"});
    ASSERT_TRUE(ok(transpose(part(a, Box({3, 0}, {6, 3})), part(a, Box({0, 3}, {3, 6})))));
    EXPECT_EQ(a.get_element({1, 5}).value(), test::element<double>(Index{5, 1}, 1));
    EXPECT_EQ(a.get_element({5, 1}).value(), test::element<double>(Index{5, 1}, 1));
    ASSERT_TRUE(ok(a.sync()));
    EXPECT_TRUE(fails(transpose(part(a, Box({2, 0}, {5, 3})), part(a, Box({0, 2}, {3, 5}))),
                      Code::invalid_argument,
                      {"[0,3) x [2,5) of array 'a'", "the target, and [2,5) x [0,3) of array 'a'",
                       "the source, share memory"}));
    EXPECT_TRUE(fails(transpose(part(a, Box({3, 0}, {6, 3})), part(a, Box({0, 3}, {3, 7}))),
                      Code::out_of_range, {"[0,3) x [3,7)"}));
  });
}

TEST(PermuteErrors, SayWhatDoesNotFit) {
  on_ranks([](Job& job) {
    auto in = Array<double>::create(job, {4, 5}, {.name = "in"}).value();
    auto out = Array<double>::create(job, {5, 4}, {.name = "out"}).value();
    EXPECT_TRUE(fails(permute(in, out, {1, 1}), Code::invalid_argument,
                      {"permute: ", "(1, 1) is not an order of the dimensions of array 'in'",
                       "each dimension of the source once"}));
    EXPECT_TRUE(
        fails(permute(in, out, {1, 0, 2}), Code::invalid_argument, {"(1, 0, 2) is not an order"}));
    EXPECT_TRUE(fails(permute(in, out, {0, 1}), Code::invalid_argument,
                      {"dimension 0 of array 'out' (float64, 5 x 4) has extent 5",
                       "dimension 0 of array 'in' (float64, 4 x 5) has 4"}));
    auto square = Array<double>::create(job, {4, 4}, {.name = "square"}).value();
    EXPECT_TRUE(fails(transpose(square, square), Code::invalid_argument,
                      {"array 'square' (float64, 4 x 4) is both source and target"}));
    auto other_type = Array<float>::create(job, {4, 4}, {.name = "single"}).value();
    arrays::ArrayBase& single = other_type;
    EXPECT_TRUE(fails(permute(square, single, std::vector<int>{1, 0}), Code::invalid_argument,
                      {"array 'single' (float32, 4 x 4) and array 'square' (float64, 4 x 4) have "
                       "elements of different types"}));
    EXPECT_TRUE(ok(in.free()));
    EXPECT_TRUE(fails(transpose(in, out), Code::closed, {"array 'in' (float64, 4 x 5) was freed"}));
    if (job.size() > 1) {
      auto cube = Array<double>::create(job, {4, 4}, {.name = "cube"}).value();
      const bool is_last = job.rank().value == job.size() - 1;
      EXPECT_TRUE(fails(is_last ? permute(cube, square, {0, 1}) : permute(cube, square, {1, 0}),
                        Code::invalid_argument,
                        {"called permute of array 'square' with other arguments than rank 0"}));
    }
  });
}

}  // namespace
}  // namespace tessera::linalg
