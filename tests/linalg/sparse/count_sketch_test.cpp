// SPDX-License-Identifier: BSD-3-Clause
//
// Sketches: the buckets of rows, and the resulting matrix.
#include "linalg/count_sketch.hpp"

#include "tests/linalg/sparse/sparse_model.hpp"

namespace tessera::linalg {
namespace {

using rma::Tag;
using rma::test::on_ranks;
using rma::test::SharedSeed;
using test::build;
using test::Dense;
using test::for_each_type;
using test::Job;
using test::ok;
using test::on_teams;
using test::Team;

// S, with a row for each bucket.
template <SparseElement T>
Dense<T> sketch_matrix(std::uint64_t seed, std::int64_t length, std::int64_t buckets) {
  Dense<T> s(buckets, length);
  for (std::int64_t i = 0; i < length; ++i) {
    const SketchBucket place = sketch_bucket(seed, i, buckets);
    s(place.bucket, i) = place.is_negative ? T{0} - T{1} : T{1};
  }
  return s;
}

TEST(CountSketch, SpreadsRowsOverBucketsAndSigns) {
  constexpr std::int64_t buckets = 10;
  constexpr int rows = 100000;
  std::vector<int> in_bucket(buckets, 0);
  int negative = 0;
  for (std::int64_t i = 0; i < rows; ++i) {
    const SketchBucket place = sketch_bucket(42, i, buckets);
    ASSERT_GE(place.bucket, 0);
    ASSERT_LT(place.bucket, buckets);
    ++in_bucket[static_cast<std::size_t>(place.bucket)];
    negative += place.is_negative ? 1 : 0;
  }
  constexpr auto of_each = rows / buckets;
  constexpr auto of_each_sign = rows / 2;
  // Within nine standard deviations.
  for (const int count : in_bucket) {
    EXPECT_NEAR(count, of_each, 900);
  }
  EXPECT_NEAR(negative, of_each_sign, 1450);
  EXPECT_NE(sketch_matrix<double>(1, 50, 7), sketch_matrix<double>(2, 50, 7));
}

TEST(CountSketch, IsTheProductWithTheSketchMatrix) {
  on_ranks([](Job& job) {
    const SharedSeed seed(job);
    on_teams(job, [&](Team& team) {
      for_each_type([&]<class T>(Tag<T>) {
        auto [matrix, model] = build<T>(job, team, 31, 22, 80, seed);
        auto rows = count_sketch(matrix, 5, {.seed = 9}).value();
        const Dense<T> sketched = sketch_matrix<T>(9, 31, 5) * model.dense;
        const auto got = rows.get(rows.box()).value();
        Dense<T> dense(5, 22);
        for (const Triplet<T>& entry : to_triplets(got)) {
          dense(entry.row, entry.column) = entry.value;
        }
        EXPECT_EQ(dense, sketched);

        auto columns = count_sketch(matrix, 6, {.seed = 9, .side = SketchSide::columns}).value();
        const Dense<T> right = model.dense * test::transposed(sketch_matrix<T>(9, 22, 6));
        dense = Dense<T>(31, 6);
        for (const Triplet<T>& entry : to_triplets(columns.get(columns.box()).value())) {
          dense(entry.row, entry.column) = entry.value;
        }
        EXPECT_EQ(dense, right);
        EXPECT_TRUE(ok(matrix.sync()));
      });
    });
  });
}

TEST(CountSketch, HasTheSameBitsForAnyTeam) {
  on_ranks([](Job& job) {
    constexpr std::int64_t n = 90;
    const auto bits = [&](Team& team) {
      auto builder = SparseBuilder<double>::create(job, n, 3, {.name = "A", .team = team}).value();
      for (std::int64_t i = team.rank().value; i < n; i += team.size()) {
        EXPECT_TRUE(ok(builder.add(i, i % 3, std::sin(static_cast<double>(i)))));
        EXPECT_TRUE(ok(builder.add(i, (i + 1) % 3, std::cos(static_cast<double>(i)))));
      }
      auto matrix = builder.assemble().value();
      auto sketch = count_sketch(matrix, 4).value();
      auto got = sketch.get(sketch.box()).value();
      EXPECT_TRUE(ok(sketch.sync()));
      return got;
    };
    Team alone = job.world().split(-1, 0).value();
    const auto expected = bits(alone);
    on_teams(job, [&](Team& team) { EXPECT_EQ(bits(team), expected); });
  });
}

}  // namespace
}  // namespace tessera::linalg
