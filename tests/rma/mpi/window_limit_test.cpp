// SPDX-License-Identifier: BSD-3-Clause
//
// Some MPI libraries support few windows: one beyond the limit is only an error, on all ranks.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "rma/region.hpp"
#include "rma/transfer.hpp"
#include "rma/transport/mpi/library.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/rank_main.hpp"

namespace tessera::rma::mpi {
namespace {

using test::fails;
using test::neighbour;
using test::ok;
using test::on_ranks;

void use(Job& job, const Region& region) {
  ASSERT_TRUE(ok(put_value(job, region.at(neighbour(job)), std::int64_t{7})));
  ASSERT_TRUE(ok(job.barrier()));
  EXPECT_EQ(get_value<std::int64_t>(job, region.at(TeamRank{job.rank().value})).value(), 7);
}

TEST(WindowLimit, IsAnErrorAndTheJobContinues) {
  on_ranks([](Job& job) {
    // More than MPICH supports; other libraries take too long to make this many.
    const bool is_mpich = find_library().window_limit_is_fatal;
    const std::size_t most = is_mpich ? 2100 : 40;
    const RegionOptions own_window{.sparse = true};
    std::vector<Region> regions;
    Status refused;
    while (refused.ok() && regions.size() < most) {
      auto region = Region::allocate(job.world(), 64, own_window);
      refused = region.status();
      if (region.ok()) {
        regions.push_back(std::move(region).take());
      }
    }
    EXPECT_EQ(refused.ok(), !is_mpich);
    if (!refused.ok()) {
      EXPECT_TRUE(fails(refused, Code::limit_exceeded, {"2048 windows and communicators"}));
      EXPECT_GT(regions.size(), 1900U);
    }
    use(job, regions.back());
    // Small regions fit the windows that they share.
    regions.resize(regions.size() - 10);
    Region small = Region::allocate(job.world(), 64).value();
    use(job, small);
  });
}

}  // namespace
}  // namespace tessera::rma::mpi
