// SPDX-License-Identifier: BSD-3-Clause
//
// Reads that a cache serves, and side effects of transfers on the program.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "arrays/array.hpp"
#include "tests/arrays/ranks/model_array.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/rank_main.hpp"

namespace tessera::arrays {
namespace {

using rma::AccessMode;
using rma::Job;
using rma::Op;
using rma::test::ok;
using rma::test::on_ranks;
using test::fingerprint;
using test::fingerprints;

constexpr std::size_t cache_bytes = 1 << 20;

Array<double> make_cached(Job& job) {
  auto array = Array<double>::create(job, {40, 30}, {.name = "cached"}).value();
  if (job.rank().value == 0) {
    EXPECT_TRUE(ok(array.put(array.box(), fingerprints(array.box()))));
  }
  EXPECT_TRUE(ok(array.set_access_mode(AccessMode::read_only, {.cache_bytes = cache_bytes})));
  return array;
}

// Global Arrays ignored the caller's leading dimension if it had cached the patch.
TEST(CachedReads, KeepTheLeadingDimensionOfTheCaller) {
  on_ranks([](Job& job) {
    auto array = make_cached(job);
    const Box box({3, 5}, {33, 12});
    const std::int64_t leading = 17;
    for (int round = 0; round < 3; ++round) {
      std::vector<double> buffer(std::size_t{30} * 17, -1.0);
      EXPECT_TRUE(
          ok(array.get(box, LocalView<double>(buffer.data(), {30, 7}, Strides{leading, 1}))));
      for (std::int64_t i = 0; i < 30; ++i) {
        for (std::int64_t j = 0; j < leading; ++j) {
          EXPECT_EQ(buffer[static_cast<std::size_t>(i * leading + j)],
                    j < 7 ? fingerprint({3 + i, 5 + j}) : -1.0)
              << "round " << round;
        }
      }
    }
    EXPECT_TRUE(ok(array.free()));
  });
}

// The bytes that this rank has received from other nodes so far.
std::uint64_t bytes_from_other_nodes(const Job& job) {
  std::uint64_t bytes = 0;
  for (const rma::PeerTraffic& peer : job.traffic().peers) {
    if (!job.shares_node(peer.peer)) {
      bytes += peer.by_op[static_cast<std::size_t>(Op::get)].bytes;
    }
  }
  return bytes;
}

// Boxes in one block and in several.
void read_all(const Array<double>& array) {
  for (std::int64_t i = 0; i < 40; i += 3) {
    const Box box({i, 2}, {std::min<std::int64_t>(i + 3, 40), 29});
    std::vector<double> got(static_cast<std::size_t>(box.volume()));
    EXPECT_TRUE(ok(array.get(box, got)));
    EXPECT_EQ(got, fingerprints(box));
  }
}

// Global Arrays' cache for ten patches kept only the last one.
TEST(CachedReads, KeepManyBoxes) {
  on_ranks([](Job& job) {
    auto array = make_cached(job);
    read_all(array);
    const std::uint64_t before = bytes_from_other_nodes(job);
    read_all(array);
    EXPECT_EQ(bytes_from_other_nodes(job), before) << "they were here already";
    EXPECT_TRUE(ok(array.free()));
  });
}

TEST(CachedReads, OfACopyOnTheNodeStayThere) {
  on_ranks([](Job& job) {
    auto array = make_cached(job);
    EXPECT_TRUE(ok(array.set_access_mode(AccessMode::read_only, {.copy_on_each_node = true})));
    const std::uint64_t before = bytes_from_other_nodes(job);
    read_all(array);
    EXPECT_EQ(bytes_from_other_nodes(job), before);
    EXPECT_TRUE(ok(array.free()));
  });
}

// The program's own random numbers: what the standard library returns after srand().
std::array<int, 8> draw() {
  std::array<int, 8> numbers{};
  for (int& number : numbers) {
    number = std::rand();  // NOLINT(concurrency-mt-unsafe,cert-msc50-cpp): it is what is tested
  }
  return numbers;
}
void begin_again() {
  std::srand(12'345);  // NOLINT(cert-msc51-cpp): the same each time on purpose
}

// Global Arrays called srand() and rand() in every transfer with several owners.
TEST(Transfers, DoNotChangeTheRandomNumbersOfTheProgram) {
  on_ranks([](Job& job) {
    auto array = Array<double>::create(job, {40, 30}, {.name = "A"}).value();
    std::vector<double> all(1'200, 1.0);
    if (job.rank().value == 0) {  // once for each process; ranks may be threads
      begin_again();
      const auto expected = draw();
      begin_again();
      EXPECT_TRUE(ok(array.put(array.box(), all)));
      EXPECT_TRUE(ok(array.get(array.box(), all)));
      EXPECT_TRUE(ok(array.accumulate(array.box(), all)));
      EXPECT_EQ(draw(), expected);
    }
    EXPECT_TRUE(ok(array.sync()));
  });
}

}  // namespace
}  // namespace tessera::arrays
