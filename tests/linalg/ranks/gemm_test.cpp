// SPDX-License-Identifier: BSD-3-Clause
//
// gemm against plain loops on dense matrices: types, transpositions, distributions, patches, teams.
#include "linalg/gemm.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <cstdint>
#include <limits>
#include <vector>

#include "tests/linalg/ranks/distributed.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/effort.hpp"
#include "tests/support/rank_main.hpp"
#include "tests/support/shared_seed.hpp"

namespace tessera::linalg {
namespace {

using rma::Job;
using rma::Team;
using rma::WorldRank;
using rma::test::ok;
using rma::test::on_ranks;
using test::Array;
using test::Box;
using test::Dense;
using test::Distribution;
using test::Extents;
using test::Kind;
using test::MemoryOrder;
using test::Random;
using test::Wide;

constexpr std::uint64_t seed_a = 1;
constexpr std::uint64_t seed_b = 2;
constexpr std::uint64_t seed_c = 3;

Dense with_op(const Dense& matrix, MatrixOp op) {
  if (op == MatrixOp::none) {
    return matrix;
  }
  Dense result(matrix.columns, matrix.rows);
  for (std::int64_t i = 0; i < matrix.rows; ++i) {
    for (std::int64_t j = 0; j < matrix.columns; ++j) {
      result(j, i) = op == MatrixOp::transpose ? matrix(i, j) : std::conj(matrix(i, j));
    }
  }
  return result;
}

/// One operand of a product under test.
template <class T>
struct Operand {
  Array<T> array;
  Box box;
  MatrixDims dims;
  std::uint64_t seed;

  [[nodiscard]] MatrixPatch<T> patch() { return MatrixPatch<T>(array, box, dims); }
  [[nodiscard]] Dense dense() const { return test::dense_part<T>(box, dims, seed); }
};

/// The expected product, compared with the actual one.
template <class T>
void expect_product(Operand<T>& c, Operand<T>& a, Operand<T>& b, const GemmOptions<T>& options) {
  const Dense left = with_op(a.dense(), options.op_a);
  const Dense right = with_op(b.dense(), options.op_b);
  const Dense expected =
      test::product(Wide(options.alpha), left, right, Wide(options.beta), c.dense());
  ASSERT_TRUE(ok(gemm(a.patch(), b.patch(), c.patch(), options)));
  const double difference = test::largest_difference(test::fetch(c.array, c.box, c.dims), expected);
  const double size = std::abs(Wide(options.alpha)) * left.largest() * right.largest() +
                      std::abs(Wide(options.beta));
  EXPECT_LE(difference, test::bound<T>(left.columns, size));
  ASSERT_TRUE(ok(c.array.sync()));
}

template <class T>
Operand<T> whole(Job& job, const Distribution& distribution, std::uint64_t seed, const char* name) {
  return {test::make_filled<T>(job, distribution, seed, {.name = name}),
          Box::whole(distribution.extents()),
          {},
          seed};
}

Extents shape_of(MatrixOp op, std::int64_t rows, std::int64_t columns) {
  return op == MatrixOp::none ? Extents{rows, columns} : Extents{columns, rows};
}

template <class T>
void expect_transposed_products(Job& job) {
  const std::int64_t m = 13;
  const std::int64_t n = 11;
  const std::int64_t k = 17;
  for (const MatrixOp op_a : {MatrixOp::none, MatrixOp::transpose, MatrixOp::conjugate_transpose}) {
    for (const MatrixOp op_b :
         {MatrixOp::none, MatrixOp::transpose, MatrixOp::conjugate_transpose}) {
      for (unsigned orders = 0; orders < 8; ++orders) {
        const auto regular = [&](const Extents& extents, bool is_column_major) {
          return Distribution::regular(extents, job.size(),
                                       {.order = is_column_major ? MemoryOrder::column_major
                                                                 : MemoryOrder::row_major})
              .value();
        };
        auto a = whole<T>(job, regular(shape_of(op_a, m, k), (orders & 1U) != 0), seed_a, "A");
        auto b = whole<T>(job, regular(shape_of(op_b, k, n), (orders & 2U) != 0), seed_b, "B");
        auto c = whole<T>(job, regular({m, n}, (orders & 4U) != 0), seed_c, "C");
        expect_product<T>(c, a, b, {.alpha = T(2), .beta = T(-0.5), .op_a = op_a, .op_b = op_b});
      }
    }
  }
}

TEST(Gemm, FloatTakesEachTranspositionAndOrder) {
  on_ranks(expect_transposed_products<float>);
}
TEST(Gemm, DoubleTakesEachTranspositionAndOrder) {
  on_ranks(expect_transposed_products<double>);
}
TEST(Gemm, FloatComplexTakesEachTranspositionAndOrder) {
  on_ranks(expect_transposed_products<std::complex<float>>);
}
TEST(Gemm, DoubleComplexTakesEachTranspositionAndOrder) {
  on_ranks(expect_transposed_products<std::complex<double>>);
}

// Each kind of distribution of one array with each kind of the others.
TEST(Gemm, DistributionsOfAllThreeMayDiffer) {
  on_ranks([](Job& job) {
    Random random(7);
    const auto make = [&](Kind kind, const Extents& extents, std::uint64_t seed, const char* name) {
      const auto order =
          test::pick(random, 0, 1) == 0 ? MemoryOrder::row_major : MemoryOrder::column_major;
      const std::int64_t size = test::pick(random, 1, 9);
      return whole<double>(
          job, test::make_distribution(kind, extents, job.size(), size, order, random), seed, name);
    };
    for (std::size_t of_c = 0; of_c < std::size(test::all_kinds); ++of_c) {
      for (std::size_t of_a = 0; of_a < std::size(test::all_kinds); ++of_a) {
        auto a = make(test::all_kinds[of_a], {23, 19}, seed_a, "A");
        auto b = make(test::all_kinds[(of_c + of_a) % std::size(test::all_kinds)], {19, 29}, seed_b,
                      "B");
        auto c = make(test::all_kinds[of_c], {23, 29}, seed_c, "C");
        expect_product<double>(c, a, b, {.alpha = 1.5, .beta = 1, .buffer_bytes = 16 << 10});
      }
    }
  });
}

TEST(Gemm, ShapesAndBuffersOfAnySize) {
  on_ranks([](Job& job) {
    const rma::test::SharedSeed seed(job);
    Random random = seed.generator(-1);
    const std::int64_t extents[] = {0, 1, 2, 3, 7, 31, 64, 97};
    for (int round = 0; round < (tessera::test::is_sanitized ? 8 : 40); ++round) {
      const auto size = [&] { return extents[test::pick(random, 0, 7)]; };
      const std::int64_t m = size();
      const std::int64_t n = size();
      const std::int64_t k = size();
      const auto make = [&](const Extents& shape, std::uint64_t of, const char* name) {
        const Kind kind = test::all_kinds[test::pick(random, 0, 5)];
        const auto order =
            test::pick(random, 0, 1) == 0 ? MemoryOrder::row_major : MemoryOrder::column_major;
        return whole<double>(job,
                             test::make_distribution(kind, shape, job.size(),
                                                     test::pick(random, 1, 20), order, random),
                             of, name);
      };
      auto a = make({m, k}, seed_a, "A");
      auto b = make({k, n}, seed_b, "B");
      auto c = make({m, n}, seed_c, "C");
      expect_product<double>(c, a, b,
                             {.alpha = 1,
                              .beta = static_cast<double>(test::pick(random, -1, 1)),
                              .buffer_bytes = test::pick(random, 1, 200) << 10});
    }
  });
}

TEST(Gemm, LargeBlocksAreUpdatedOneByOne) {
  on_ranks([](Job& job) {
    Random random(3);
    const auto make = [&](const Extents& shape, std::int64_t size, std::uint64_t of) {
      return whole<float>(job,
                          test::make_distribution(Kind::tiled, shape, job.size(), size,
                                                  MemoryOrder::row_major, random),
                          of, "A");
    };
    auto a = make({600, 9}, 100, seed_a);
    auto b = make({9, 550}, 7, seed_b);
    auto c = make({600, 550}, 275, seed_c);
    expect_product<float>(c, a, b, {.alpha = 1, .beta = 2});
    expect_product<float>(c, a, b, {.alpha = 1, .beta = 0});
  });
}

TEST(Gemm, PatchesLeaveTheRestOfCAlone) {
  on_ranks([](Job& job) {
    Random random(11);
    for (const Kind kind : test::all_kinds) {
      const auto make = [&](const Extents& shape, const Box& box, std::uint64_t of) {
        auto operand = whole<double>(
            job,
            test::make_distribution(kind, shape, job.size(), 5, MemoryOrder::column_major, random),
            of, "A");
        operand.box = box;
        return operand;
      };
      auto a = make({30, 40}, Box({3, 5}, {20, 17}), seed_a);   // 17 x 12
      auto b = make({33, 21}, Box({10, 1}, {22, 20}), seed_b);  // 12 x 19
      auto c = make({25, 35}, Box({2, 9}, {19, 28}), seed_c);   // 17 x 19
      expect_product<double>(c, a, b, {.alpha = 1, .beta = 0});
      Dense after = test::fetch(c.array, c.array.box(), {});
      const Dense before = test::dense_part<double>(c.array.box(), {}, seed_c);
      for (std::int64_t i = 0; i < after.rows; ++i) {
        for (std::int64_t j = 0; j < after.columns; ++j) {
          if (c.box.contains(arrays::Index{i, j})) {
            after(i, j) = before(i, j);
          }
        }
      }
      EXPECT_EQ(test::largest_difference(after, before), 0);
      ASSERT_TRUE(ok(c.array.sync()));
    }
  });
}

TEST(Gemm, PlanesOfArraysOfMoreDimensions) {
  on_ranks([](Job& job) {
    Random random(5);
    for (const Kind kind : test::all_kinds) {
      for (const MemoryOrder order : {MemoryOrder::row_major, MemoryOrder::column_major}) {
        const auto make = [&](const Extents& shape, const Box& box, const MatrixDims& dims,
                              std::uint64_t of) {
          auto operand = whole<double>(
              job, test::make_distribution(kind, shape, job.size(), 3, order, random), of, "A");
          operand.box = box;
          operand.dims = dims;
          return operand;
        };
        auto a = make({4, 9, 8}, Box({2, 1, 0}, {3, 8, 8}), {.rows = 2, .columns = 1}, seed_a);
        auto b = make({7, 3, 10}, Box({0, 1, 2}, {7, 2, 9}), {.rows = 0, .columns = 2}, seed_b);
        auto c =
            make({8, 7, 2, 2}, Box({0, 0, 1, 0}, {8, 7, 2, 1}), {.rows = 0, .columns = 1}, seed_c);
        expect_product<double>(c, a, b, {.alpha = 1, .beta = 1});
      }
    }
  });
}

TEST(Gemm, BetaZeroDoesNotReadC) {
  on_ranks([](Job& job) {
    Random random(2);
    for (const Kind kind : test::all_kinds) {
      for (const std::int64_t k : {0, 5}) {
        const auto make = [&](const Extents& shape) {
          return test::make_distribution(kind, shape, job.size(), 4, MemoryOrder::row_major,
                                         random);
        };
        auto a = whole<double>(job, make({12, k}), seed_a, "A");
        auto b = whole<double>(job, make({k, 14}), seed_b, "B");
        auto c = whole<double>(job, make({12, 14}), seed_c, "C");
        const std::vector<double> nans(std::size_t{12} * 14,
                                       std::numeric_limits<double>::quiet_NaN());
        if (job.rank().value == 0) {
          ASSERT_TRUE(ok(c.array.put(c.box, nans)));
        }
        ASSERT_TRUE(ok(c.array.sync()));
        expect_product<double>(c, a, b, {.alpha = 1, .beta = 0});
      }
    }
  });
}

TEST(Gemm, AlphaZeroDoesNotReadAOrB) {
  on_ranks([](Job& job) {
    const auto regular = Distribution::regular({9, 9}, job.size()).value();
    auto a = whole<double>(job, regular, seed_a, "A");
    auto c = whole<double>(job, regular, seed_c, "C");
    const std::vector<double> nans(81, std::numeric_limits<double>::quiet_NaN());
    if (job.rank().value == 0) {
      ASSERT_TRUE(ok(a.array.put(a.box, nans)));
    }
    ASSERT_TRUE(ok(gemm(a.array, a.array, c.array, {.alpha = 0, .beta = 3})));
    const Dense after = test::fetch(c.array, c.box, {});
    Dense expected = c.dense();
    for (Wide& value : expected.values) {
      value *= 3;
    }
    EXPECT_LE(test::largest_difference(after, expected), 1e-15);
    ASSERT_TRUE(ok(c.array.sync()));
  });
}

TEST(Gemm, SeesWhatMembersPutJustBefore) {
  on_ranks([](Job& job) {
    auto a = Array<double>::create(job, {20, 20}, {.name = "A"}).value();
    auto b = Array<double>::create(job, {20, 20}, {.name = "B"}).value();
    auto c = Array<double>::create(job, {20, 20}, {.name = "C"}).value();
    if (job.rank().value == job.size() - 1) {
      EXPECT_TRUE(ok(a.put(a.box(), std::vector<double>(400, 2.0))));
      EXPECT_TRUE(ok(b.put(b.box(), std::vector<double>(400, 3.0))));
      EXPECT_TRUE(ok(c.put(c.box(), std::vector<double>(400, 1.0))));
    }
    EXPECT_TRUE(ok(gemm(a, b, c, {.beta = 1})));
    std::vector<double> all(400);
    EXPECT_TRUE(ok(c.get(c.box(), all)));
    EXPECT_EQ(all, std::vector<double>(400, 121.0));
    EXPECT_TRUE(ok(c.sync()));
  });
}

TEST(Gemm, DisjointBoxesOfOneArrayMayBeMultiplied) {
  on_ranks([](Job& job) {
    auto all = whole<double>(job, Distribution::regular({20, 30}, job.size()).value(), 1, "A");
    const auto part = [&](const Box& box) { return MatrixPatch<double>(all.array, box); };
    const Box box_a({0, 0}, {10, 12});
    const Box box_b({5, 12}, {17, 20});
    const Box box_c({0, 20}, {10, 28});
    const Dense expected = test::product(1, test::dense_part<double>(box_a, {}, 1),
                                         test::dense_part<double>(box_b, {}, 1), 0,
                                         test::dense_part<double>(box_c, {}, 1));
    ASSERT_TRUE(ok(gemm(part(box_a), part(box_b), part(box_c))));
    EXPECT_LE(test::largest_difference(test::fetch(all.array, box_c, {}), expected), 1e-13);
    ASSERT_TRUE(ok(all.array.sync()));
  });
}

// On the team of `members`, with A and B on that of all ranks.
void expect_on_team(Job& job, const std::vector<WorldRank>& members) {
  Random random(4);
  const auto make = [&](const Extents& shape, std::int64_t ranks) {
    return test::make_distribution(Kind::block_cyclic, shape, ranks, 4, MemoryOrder::row_major,
                                   random);
  };
  auto a = whole<double>(job, make({18, 21}, job.size()), seed_a, "A");
  auto b = whole<double>(job, make({21, 16}, job.size()), seed_b, "B");
  if (std::find(members.begin(), members.end(), job.rank()) != members.end()) {
    Team team = Team::create(job, members).value();
    for (const Kind kind : test::all_kinds) {
      const auto distribution = test::make_distribution(kind, {18, 16}, team.size(), 3,
                                                        MemoryOrder::column_major, random);
      Operand<double> c{
          test::make_filled<double>(job, distribution, seed_c, {.name = "C", .team = team}),
          Box::whole({18, 16}),
          {},
          seed_c};
      expect_product<double>(c, a, b, {.alpha = 1, .beta = 1});
    }
  }
  ASSERT_TRUE(ok(job.barrier()));
}

TEST(Gemm, TeamsOfSomeRanks) {
  on_ranks([](Job& job) {
    if (job.size() < 4) {
      GTEST_SKIP() << "needs 4 ranks";
    }
    expect_on_team(job, {WorldRank{2}, WorldRank{3}});
    expect_on_team(job, {WorldRank{0}, WorldRank{2}, WorldRank{3}});
    expect_on_team(job, {WorldRank{3}, WorldRank{1}});
  });
}

}  // namespace
}  // namespace tessera::linalg
