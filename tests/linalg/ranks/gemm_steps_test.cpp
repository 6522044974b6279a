// SPDX-License-Identifier: BSD-3-Clause
//
// The steps of a product: they include all of C and of k once, for any distributions, and fit the
// buffers.
#include "linalg/detail/gemm_steps.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "linalg/detail/own_parts.hpp"
#include "linalg/detail/panel.hpp"
#include "tests/linalg/ranks/distributed.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/rank_main.hpp"
#include "tests/support/shared_seed.hpp"

namespace tessera::linalg {
namespace {

using detail::Factors;
using detail::Interval;
using detail::IntervalList;
using detail::MatrixMap;
using detail::OwnPart;
using detail::StepSizes;
using rma::Job;
using rma::TeamRank;
using rma::test::ok;
using rma::test::on_ranks;
using test::Array;
using test::Extents;
using test::Kind;
using test::MemoryOrder;
using test::Random;

TEST(IntervalList, SlicesAndMerges) {
  const IntervalList list{{0, 4}, {8, 12}, {12, 13}};
  EXPECT_EQ(detail::total_length(list), 9);
  EXPECT_EQ(detail::slice(list, 3, 6), (IntervalList{{3, 4}, {8, 10}}));
  EXPECT_EQ(detail::slice(list, 4, 4), IntervalList());
  EXPECT_EQ(detail::slice(list, 0, 9), list);
  EXPECT_EQ(detail::merged(list), (IntervalList{{0, 4}, {8, 13}}));
}

TEST(StepSizes, StayWithinTheBuffers) {
  for (const std::int64_t extent : {1, 7, 100, 5000, 100'000}) {
    for (const std::int64_t elements : {1 << 12, 1 << 17, 1 << 23}) {
      for (const bool has_scratch_tile : {false, true}) {
        const OwnPart part{.rows = {{0, extent}}, .columns = {{0, 3 * extent}}};
        const StepSizes sizes =
            detail::choose_step_sizes(part, 2 * extent, elements, has_scratch_tile);
        const std::int64_t tile = detail::padded(sizes.rows) * detail::padded(sizes.columns);
        const std::int64_t panels = 2 * detail::padded(sizes.inner) *
                                    (detail::padded(sizes.rows) + detail::padded(sizes.columns));
        EXPECT_LE(panels, elements) << extent;
        EXPECT_LE(has_scratch_tile ? tile : 0, 2 * elements) << extent;
        EXPECT_GE(sizes.rows, 1);
        EXPECT_GE(sizes.columns, 1);
        EXPECT_GE(sizes.inner, 1);
      }
    }
  }
}

/// Counts how often each row and column occurs.
class Cover {
 public:
  Cover(std::int64_t rows, std::int64_t columns)
      : columns_(columns), counts_(static_cast<std::size_t>(rows * columns)) {}
  void add(const IntervalList& rows, const IntervalList& columns) {
    for (const Interval& in_rows : rows) {
      for (std::int64_t i = in_rows.lo; i < in_rows.hi; ++i) {
        for (const Interval& in_columns : columns) {
          for (std::int64_t j = in_columns.lo; j < in_columns.hi; ++j) {
            ++counts_[static_cast<std::size_t>(i * columns_ + j)];
          }
        }
      }
    }
  }
  [[nodiscard]] bool is_once() const { return counts_ == std::vector<int>(counts_.size(), 1); }

 private:
  std::int64_t columns_;
  std::vector<int> counts_;
};

void expect_cover(Job& job, Random& random) {
  const auto make = [&](const Extents& extents) {
    const Kind kind = test::all_kinds[test::pick(random, 0, 5)];
    const auto order =
        test::pick(random, 0, 1) == 0 ? MemoryOrder::row_major : MemoryOrder::column_major;
    return Array<double>::create(
               job, test::make_distribution(kind, extents, job.size(), test::pick(random, 1, 9),
                                            order, random))
        .value();
  };
  auto a = make({41, 300});
  auto b = make({300, 37});
  auto c = make({41, 37});
  const MatrixMap map_c{&c, c.box(), 0, 1};
  const Factors factors{.a = {&a, a.box(), 0, 1}, .b = {&b, b.box(), 0, 1}};
  const StepSizes sizes{.rows = 10, .columns = 12, .inner = 50};
  Cover of_c(41, 37);
  for (std::int32_t rank = 0; rank < job.size(); ++rank) {
    for (const OwnPart& part : own_parts(map_c, TeamRank{rank})) {
      for (const OwnPart& tile : cut_into_tiles(factors, part, sizes)) {
        EXPECT_LE(detail::total_length(tile.rows), sizes.rows);
        EXPECT_LE(detail::total_length(tile.columns), sizes.columns);
        of_c.add(tile.rows, tile.columns);
      }
      Cover of_k(1, 300);
      for (const IntervalList& panel : inner_panels(factors, part, sizes)) {
        of_k.add({{0, 1}}, panel);
      }
      EXPECT_TRUE(of_k.is_once());
    }
  }
  EXPECT_TRUE(of_c.is_once());
  ASSERT_TRUE(ok(job.barrier()));
}

TEST(GemmSteps, MeetEachElementOnce) {
  on_ranks([](Job& job) {
    const rma::test::SharedSeed seed(job);
    Random random = seed.generator(-1);
    for (int round = 0; round < 20; ++round) {
      expect_cover(job, random);
    }
  });
}

}  // namespace
}  // namespace tessera::linalg
