// SPDX-License-Identifier: BSD-3-Clause
//
// The kernels that accumulate contiguous and strided data, compared with a plain model.
#include <gtest/gtest.h>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "rma/kernels/accumulate.hpp"
#include "tests/support/effort.hpp"
#include "tests/support/random_shape.hpp"

namespace tessera::rma::kernels {
namespace {

using test::random_in;
using test::Side;

/// A small whole number, so that sums and products are exact in every type and order.
template <Element T>
T random_element(std::mt19937_64& random) {
  const auto part = [&] { return static_cast<int>(random_in(random, -99, 99)); };
  if constexpr (std::is_same_v<T, std::complex<float>>) {
    return {static_cast<float>(part()), static_cast<float>(part())};
  } else if constexpr (std::is_same_v<T, std::complex<double>>) {
    return {static_cast<double>(part()), static_cast<double>(part())};
  } else {
    return static_cast<T>(part());
  }
}

template <Element T>
T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

template <Element T>
void fill(std::mt19937_64& random, Side& side, std::int64_t lowest, std::int64_t highest) {
  constexpr auto step = static_cast<std::int64_t>(sizeof(T));
  for (std::int64_t at = lowest; at + step <= highest; at += step) {
    const T value = random_element<T>(random);
    std::memcpy(side.at(at), &value, sizeof(T));
  }
}

template <Element T>
void accumulate_naively(Side& target, Side& source, const CopyShape& shape, T scale) {
  constexpr auto step = static_cast<std::int64_t>(sizeof(T));
  for (const test::Run& run : test::runs_of(shape)) {
    for (std::int64_t at = 0; at < static_cast<std::int64_t>(shape.run_bytes); at += step) {
      T sum = load<T>(target.at(run.remote + at));
      sum += scale * load<T>(source.at(run.local + at));
      std::memcpy(target.at(run.remote + at), &sum, sizeof(T));
    }
  }
}

template <class T>
class AccumulateKernels : public testing::Test {
 protected:
  /// Compares accumulate_shape, or accumulate_run if there are no levels, with the model once.
  void compare_with_model(const CopyShape& shape, T scale) {
    const test::Bounds bounds = test::bounds_of(shape);
    const auto shift = [&] { return static_cast<std::size_t>(random_in(random_, 0, 15)); };
    Side source = test::make_side(random_, bounds.local.lowest, bounds.local.highest, shift());
    Side target = test::make_side(random_, bounds.remote.lowest, bounds.remote.highest, shift());
    fill<T>(random_, source, bounds.local.lowest, bounds.local.highest);
    fill<T>(random_, target, bounds.remote.lowest, bounds.remote.highest);
    Side expected = target;
    accumulate_naively(expected, source, shape, scale);
    if (shape.levels == 0) {
      accumulate_run(target.at(0), source.at(0), shape.run_bytes, Scale::of(scale));
    } else {
      accumulate_shape(target.at(0), source.at(0), shape, Scale::of(scale));
    }
    ASSERT_EQ(target.bytes, expected.bytes) << test::describe(shape);
  }

  T scale(int round) { return round % 3 == 0 ? T{1} : random_element<T>(random_); }

  std::mt19937_64 random_ = test::make_random();
};

using Types = testing::Types<std::int32_t, std::int64_t, float, double, std::complex<float>,
                             std::complex<double>>;
TYPED_TEST_SUITE(AccumulateKernels, Types);

TYPED_TEST(AccumulateKernels, AgreeWithTheModelForEveryShortLength) {
  for (std::size_t elements = 0; elements <= 300; ++elements) {
    for (int round = 0; round < 6; ++round) {
      this->compare_with_model(CopyShape::contiguous(elements * sizeof(TypeParam)),
                               this->scale(round));
      ASSERT_FALSE(this->HasFatalFailure());
    }
  }
}

TYPED_TEST(AccumulateKernels, AgreeWithTheModelForRandomShapes) {
  constexpr auto step = static_cast<std::int64_t>(sizeof(TypeParam));
  for (int round = 0; round < tessera::test::rounds(1500); ++round) {
    const int levels = round % (max_stride_levels + 1);
    const auto run_bytes = static_cast<std::size_t>(step * random_in(this->random_, 0, 20));
    // Strides are whole elements, so that overlapping runs agree on where elements begin.
    const CopyShape shape = test::random_shape(this->random_, levels, run_bytes, step);
    this->compare_with_model(round % 2 == 0 ? shape : shape.normalised(), this->scale(round));
    ASSERT_FALSE(this->HasFatalFailure());
  }
}

TYPED_TEST(AccumulateKernels, AddEveryRunThatMeetsTheSameElement) {
  // The remote stride is 0: all rows add to the same row.
  for (std::size_t elements = 1; elements <= 9; ++elements) {
    const std::size_t row_bytes = elements * sizeof(TypeParam);
    this->compare_with_model(CopyShape::rows(row_bytes, 7, static_cast<std::int64_t>(row_bytes), 0),
                             random_element<TypeParam>(this->random_));
    ASSERT_FALSE(this->HasFatalFailure());
  }
}

TYPED_TEST(AccumulateKernels, MayReadTheTargetItself) {
  std::vector<TypeParam> values(1000);
  for (TypeParam& value : values) {
    value = random_element<TypeParam>(this->random_);
  }
  std::vector<TypeParam> expected = values;
  for (TypeParam& value : expected) {
    value += value;
  }
  accumulate_run(values.data(), values.data(), values.size() * sizeof(TypeParam),
                 Scale::of(TypeParam{1}));
  EXPECT_EQ(values, expected);
}

TYPED_TEST(AccumulateKernels, SplitRowsAddUpToTheWhole) {
  using T = TypeParam;
  const std::size_t row_bytes = 2 * sizeof(T);
  const auto stride = static_cast<std::int64_t>(3 * sizeof(T));
  std::vector<T> source(64, T{2});
  std::vector<T> target(96, T{5});
  const Scale scale = Scale::of(T{3});
  const AccumulateLine kernel = accumulate_line_kernel(row_bytes, scale);
  for (const std::int64_t first : {0, 12}) {
    kernel(reinterpret_cast<std::byte*>(target.data()) + first * stride,
           reinterpret_cast<const std::byte*>(source.data()) +
               first * static_cast<std::int64_t>(row_bytes),
           {first == 0 ? 12 : 20, static_cast<std::int64_t>(row_bytes), stride}, row_bytes, scale);
  }
  for (std::size_t i = 0; i < target.size(); ++i) {
    ASSERT_EQ(target[i], i % 3 == 2 ? T{5} : T{11}) << i;
  }
}

template <class T>
void expect_wrap() {
  std::vector<T> target(37, std::numeric_limits<T>::max());
  const std::vector<T> source(37, T{2});
  accumulate_run(target.data(), source.data(), 37 * sizeof(T), Scale::of(T{1}));
  for (const T value : target) {
    ASSERT_EQ(value, std::numeric_limits<T>::min() + 1);
  }
  accumulate_run(target.data(), source.data(), 37 * sizeof(T),
                 Scale::of(std::numeric_limits<T>::max()));
  for (const T value : target) {
    ASSERT_EQ(value, std::numeric_limits<T>::max());
  }
}

TEST(Accumulate, IntegersWrapAround) {
  expect_wrap<std::int32_t>();
  expect_wrap<std::int64_t>();
}

TEST(Accumulate, RoundsNotWorseThanAProductAndASum) {
  std::mt19937_64 random = test::make_random();
  std::uniform_real_distribution<double> real(-1, 1);
  std::vector<double> target(777);
  std::vector<double> source(777);
  for (std::size_t i = 0; i < target.size(); ++i) {
    target[i] = real(random);
    source[i] = real(random);
  }
  std::vector<double> result = target;
  const double scale = real(random);
  accumulate_run(result.data(), source.data(), result.size() * sizeof(double), Scale::of(scale));
  for (std::size_t i = 0; i < target.size(); ++i) {
    const double expected = target[i] + scale * source[i];
    ASSERT_NEAR(result[i], expected, 2 * std::numeric_limits<double>::epsilon());
  }
}

}  // namespace
}  // namespace tessera::rma::kernels
