// SPDX-License-Identifier: BSD-3-Clause
//
// Products of sparse matrices with dense and with sparse ones, against dense ones.
#include "linalg/sparse_product.hpp"

#include "linalg/sparse_convert.hpp"
#include "linalg/sparse_dense.hpp"
#include "tests/linalg/sparse/sparse_model.hpp"

namespace tessera::linalg {
namespace {

using arrays::Array;
using rma::Tag;
using rma::test::on_ranks;
using rma::test::SharedSeed;
using test::build;
using test::Dense;
using test::distribute;
using test::elements;
using test::for_each_type;
using test::Job;
using test::matrix_distributions;
using test::ok;
using test::on_teams;
using test::random_numbers;
using test::Team;

TEST(SparseDense, BothProductsAgreeWithTheModel) {
  on_ranks([](Job& job) {
    const SharedSeed seed(job);
    on_teams(job, [&](Team& team) {
      for_each_type([&]<class T>(Tag<T>) {
        auto random = seed.generator(-1);
        constexpr std::int64_t m = 17;
        constexpr std::int64_t k = 21;
        constexpr std::int64_t n = 9;
        auto [sparse, model] = build<T>(job, team, m, k, 60, seed);
        const auto right = random_numbers<T>(k * n, random);
        const auto left = random_numbers<T>(n * m, random);
        for (std::size_t kind = 0; kind < 2; ++kind) {
          const auto at = [&](std::int64_t rows, std::int64_t columns) {
            return matrix_distributions({rows, columns}, team.size())[kind];
          };
          auto b = Array<T>::create(job, at(k, n), {.name = "B", .team = team}).value();
          auto c = Array<T>::create(job, at(m, n), {.name = "C", .team = team}).value();
          if (team.rank().value == 0) {
            EXPECT_TRUE(ok(b.put(b.box(), right)));
          }
          EXPECT_TRUE(ok(multiply(sparse, b, c)));
          const Dense<T> expected = model.dense * Dense(right, k, n);
          EXPECT_EQ(elements(c), expected.values);

          auto a = distribute(job, team, at(n, m), left, "A");
          auto d = Array<T>::create(job, at(n, k), {.name = "D", .team = team}).value();
          EXPECT_TRUE(ok(multiply(a, sparse, d)));
          const Dense<T> from_left = Dense(left, n, m) * model.dense;
          EXPECT_EQ(elements(d), from_left.values);
        }
      });
    });
  });
}

TEST(SparseDense, TakesMatricesWithoutElements) {
  on_ranks([](Job& job) {
    const SharedSeed seed(job);
    for (const auto& [m, k, n] : {std::tuple{0, 3, 4}, {3, 0, 4}, {3, 4, 0}, {0, 0, 0}}) {
      auto [sparse, model] = build<double>(job, job.world(), m, k, 10, seed);
      auto b = Array<double>::create(job, {k, n}, {.name = "B"}).value();
      auto c = Array<double>::create(job, {m, n}, {.name = "C"}).value();
      EXPECT_TRUE(ok(multiply(sparse, b, c)));
      EXPECT_EQ(elements(c), std::vector<double>(static_cast<std::size_t>(m * n), 0.0));
      auto a = Array<double>::create(job, {n, m}, {.name = "A"}).value();
      auto d = Array<double>::create(job, {n, k}, {.name = "D"}).value();
      EXPECT_TRUE(ok(multiply(a, sparse, d)));
      EXPECT_EQ(elements(d), std::vector<double>(static_cast<std::size_t>(n * k), 0.0));
    }
  });
}

TEST(SparseDense, GoesInPanelsOfRowsAndColumns) {
  on_ranks([](Job& job) {
    // More columns than a panel has, and a row with more entries than a panel has rows.
    const SharedSeed seed(job);
    auto random = seed.generator(-1);
    constexpr std::int64_t m = 5;
    constexpr std::int64_t k = 1500;
    constexpr std::int64_t n = 520;
    auto [sparse, model] = build<double>(job, job.world(), m, k, 12000 / job.size(), seed);
    const auto right = random_numbers<double>(k * n, random);
    auto b = distribute(job, job.world(), matrix_distributions({k, n}, job.size())[0], right, "B");
    auto c = Array<double>::create(job, {m, n}, {.name = "C"}).value();
    EXPECT_TRUE(ok(multiply(sparse, b, c)));
    const Dense<double> expected = model.dense * Dense(right, k, n);
    EXPECT_EQ(elements(c), expected.values);
  });
}

TEST(SparseDense, ReadsSparseRowsInBatches) {
  on_ranks([](Job& job) {
    // The sparse factor has more entries than a batch.
    constexpr std::int64_t k = 800;
    constexpr std::int64_t n = 400;
    auto dense = Array<float>::create(job, {k, n}, {.name = "D"}).value();
    auto a = Array<float>::create(job, {2, k}, {.name = "A"}).value();
    std::vector<float> all(static_cast<std::size_t>(k * n));
    std::vector<float> left(static_cast<std::size_t>(2 * k));
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i] = static_cast<float>(i % 7 + 1);
    }
    for (std::size_t i = 0; i < left.size(); ++i) {
      left[i] = static_cast<float>(i % 5);
    }
    if (job.rank().value == 0) {
      EXPECT_TRUE(ok(dense.put(dense.box(), all)));
      EXPECT_TRUE(ok(a.put(a.box(), left)));
    }
    auto sparse = from_dense(dense, {.name = "S"}).value();
    auto c = Array<float>::create(job, {2, n}, {.name = "C"}).value();
    EXPECT_TRUE(ok(multiply(a, sparse, c)));
    const Dense<float> expected = Dense(left, 2, k) * Dense(all, k, n);
    EXPECT_EQ(elements(c), expected.values);
  });
}

// The entries of a product are those of the product of the patterns.
template <SparseElement T>
test::Model<T> product_of(const test::Model<T>& a, const test::Model<T>& b) {
  test::Model<T> product(a.dense.rows, b.dense.columns);
  product.dense = a.dense * b.dense;
  product.is_entry = a.is_entry * b.is_entry;
  return product;
}

TEST(SparseProduct, AgreesWithTheModelInEveryTypeAndShape) {
  on_ranks([](Job& job) {
    const SharedSeed seed(job);
    on_teams(job, [&](Team& team) {
      for_each_type([&]<class T>(Tag<T>) {
        for (const auto& [m, k, n] :
             {std::tuple{19, 23, 17}, {1, 40, 90}, {30, 1, 30}, {0, 3, 3}, {3, 0, 3}}) {
          auto [a, model_a] = build<T>(job, team, m, k, 80, seed);
          auto [b, model_b] = build<T>(job, team, k, n, 80, seed);
          auto c = multiply(a, b, "C").value();
          EXPECT_EQ(c.row_distribution(), a.row_distribution());
          EXPECT_EQ(c.get(c.box()).value(), product_of(model_a, model_b).csr());
          EXPECT_TRUE(ok(c.sync()));
        }
      });
    });
  });
}

TEST(SparseProduct, ReadsRowsInBatches) {
  on_ranks([](Job& job) {
    // One row of the first factor needs more entries of the second than fit a batch.
    constexpr std::int64_t k = 700;
    auto dense = Array<std::int64_t>::create(job, {k, k}, {.name = "D"}).value();
    std::vector<std::int64_t> all(static_cast<std::size_t>(k * k));
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i] = static_cast<std::int64_t>(i % 13 + 1);
    }
    if (job.rank().value == 0) {
      EXPECT_TRUE(ok(dense.put(dense.box(), all)));
    }
    auto b = from_dense(dense, {.name = "B"}).value();
    const SharedSeed seed(job);
    auto [a, model] = build<std::int64_t>(job, job.world(), 3, k, 4000 / job.size(), seed);
    auto c = multiply(a, b, "C").value();
    const Dense<std::int64_t> expected = model.dense * Dense(all, k, k);
    EXPECT_EQ(c.get(c.box()).value().value, expected.values);
    EXPECT_TRUE(ok(c.sync()));
  });
}

// A matrix for which each order of summation has different last digits.
SparseMatrix<double> rough_matrix(Job& job, Team& team, std::int64_t n) {
  auto builder = SparseBuilder<double>::create(job, n, n, {.name = "A", .team = team}).value();
  for (std::int64_t i = team.rank().value; i < n; i += team.size()) {
    for (std::int64_t k = 0; k < 20; ++k) {
      EXPECT_TRUE(ok(builder.add(i, (i * 5 + k * k) % n, std::cos(static_cast<double>(i + k)))));
    }
  }
  return builder.assemble().value();
}

TEST(SparseProduct, HasTheSameBitsForAnyTeam) {
  on_ranks([](Job& job) {
    constexpr std::int64_t n = 60;
    const auto bits = [&](Team& team) {
      auto a = rough_matrix(job, team, n);
      auto c = multiply(a, a, "C").value();
      auto dense = Array<double>::create(job, {n, n}, {.name = "D", .team = team}).value();
      auto product = Array<double>::create(job, {n, n}, {.name = "P", .team = team}).value();
      EXPECT_TRUE(ok(to_dense(c, dense)));
      std::vector<std::vector<double>> all{elements(dense)};
      EXPECT_TRUE(ok(multiply(a, dense, product)));
      all.push_back(elements(product));
      EXPECT_TRUE(ok(multiply(dense, a, product)));
      all.push_back(elements(product));
      return all;
    };
    Team alone = job.world().split(-1, 0).value();
    const auto expected = bits(alone);
    on_teams(job, [&](Team& team) { EXPECT_EQ(bits(team), expected); });
  });
}

}  // namespace
}  // namespace tessera::linalg
