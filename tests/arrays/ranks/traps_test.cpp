// SPDX-License-Identifier: BSD-3-Clause
//
// Arrays in a thread with traps for invalid operations, divisions by zero and overflows: with
// finite numbers, transfers, operations, reductions and checkpoints raise none.
#include <gtest/gtest.h>

#include <cfenv>
#include <complex>
#include <cstdint>
#include <vector>

#include "arrays/elementwise.hpp"
#include "arrays/gather.hpp"
#include "arrays/matrix.hpp"
#include "arrays/random.hpp"
#include "arrays/reductions.hpp"
#include "arrays/scan.hpp"
#include "rma/element.hpp"
#include "tests/arrays/files/checkpoint_support.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/floating_point_traps.hpp"
#include "tests/support/rank_main.hpp"

namespace tessera::arrays {
namespace {

using rma::Job;
using rma::test::FloatingPointTraps;
using rma::test::ok;
using rma::test::on_ranks;

constexpr std::int64_t n = 37;

template <class T>
void transfer_alone(Array<T>& a) {
  std::vector<T> values(static_cast<std::size_t>(a.box().volume()), T{1e-30F});
  EXPECT_TRUE(ok(a.put(a.box(), values)));
  EXPECT_TRUE(ok(a.accumulate(a.box(), values, T{-0.5F})));
  EXPECT_TRUE(ok(a.accumulate(Box({1, 1}, {2, n}), values, T{1e-20F})));  // underflows
  const std::vector<Index> places{{0, 0}, {n - 1, 3}, {0, 0}};
  EXPECT_TRUE(ok(scatter_accumulate(a, places, values)));
  EXPECT_TRUE(ok(a.fence()));
  EXPECT_TRUE(ok(a.get(a.box(), values)));
}

// One rank after the other, as their boxes overlap.
template <class T>
void transfer(Array<T>& a) {
  for (std::int32_t turn = 0; turn < a.team().size(); ++turn) {
    if (a.team().rank().value == turn) {
      transfer_alone(a);
    }
    EXPECT_TRUE(ok(a.sync()));
  }
}

template <class T>
void compute(Array<T>& a, Array<T>& b) {
  EXPECT_TRUE(ok(fill_random(a, 7, {1, 2})));
  EXPECT_TRUE(ok(fill(b, T{3})));
  EXPECT_TRUE(ok(divide(a, b, b)));
  EXPECT_TRUE(ok(reciprocal(b)));
  EXPECT_TRUE(ok(add(T{2}, a, T{-1}, b, b)));
  EXPECT_TRUE(ok(absolute(b)));
  EXPECT_TRUE(ok(maximum(a, b, b)));
  EXPECT_TRUE(ok(symmetrize(a)));
  EXPECT_TRUE(ok(shift_diagonal(a, T{4})));
  for (const bool reproducible : {false, true}) {
    const ReduceOptions options{.reproducible = reproducible};
    EXPECT_TRUE(ok(sum(a, options)));
    EXPECT_TRUE(ok(dot(a, b, options)));
    EXPECT_TRUE(ok(norm1(a, options)));
    EXPECT_TRUE(ok(norm2(a, options)));
    EXPECT_TRUE(ok(norm_infinity(a, options)));
  }
  EXPECT_TRUE(ok(norm_max(a)));
  EXPECT_TRUE(ok(select_max(a)));
}

template <class T>
void expect_that_nothing_traps(Job& job) {
  auto a = Array<T>::create(job, {n, n}, {.name = "A"}).value();
  auto b = Array<T>::create(job, {n, n}, {.name = "B"}).value();
  transfer(a);
  compute(a, b);
  auto line = Array<T>::create(job, {n * n}, {.name = "line"}).value();
  EXPECT_TRUE(ok(enumerate(line, T{1}, T{2})));
}

TEST(FloatingPointTraps, AreNotMetByOperations) {
  on_ranks([](Job& job) {
    const FloatingPointTraps traps;
    expect_that_nothing_traps<float>(job);
    expect_that_nothing_traps<double>(job);
    expect_that_nothing_traps<std::complex<float>>(job);
    expect_that_nothing_traps<std::complex<double>>(job);
    EXPECT_EQ(std::fetestexcept(FloatingPointTraps::trapped), 0);
  });
}

TEST(FloatingPointTraps, AreNotMetByCheckpoints) {
  if (!test::has_hdf5()) {
    GTEST_SKIP() << "without HDF5";
  }
  on_ranks([](Job& job) {
    const FloatingPointTraps traps;
    const test::SharedFolder folder(job);
    auto a = Array<double>::create(job, {n, n}, {.name = "A"}).value();
    test::fill_with_fingerprints(a);
    const std::string path = folder.file("traps.h5");
    auto writer = CheckpointWriter::create(job, path).value();
    EXPECT_TRUE(ok(writer.add(a)));
    EXPECT_TRUE(ok(writer.add_attribute("time", 0.25)));
    EXPECT_TRUE(ok(writer.commit()));
    auto checkpoint = Checkpoint::open(job, path).value();
    EXPECT_EQ(checkpoint.attribute<double>("time").value(), 0.25);
    EXPECT_TRUE(ok(checkpoint.read<double>("A")));
    EXPECT_EQ(std::fetestexcept(FloatingPointTraps::trapped), 0);
    EXPECT_TRUE(ok(a.sync()));
  });
}

}  // namespace
}  // namespace tessera::arrays
