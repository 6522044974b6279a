// SPDX-License-Identifier: BSD-3-Clause
//
// Every element-wise operation on random parts of arrays with any distributions, against the same
// arithmetic on ordinary vectors.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "arrays/elementwise.hpp"
#include "arrays/transform.hpp"
#include "tests/arrays/ranks/model_array.hpp"
#include "tests/arrays/ranks/random_arrays.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/rank_main.hpp"

namespace tessera::arrays {
namespace {

using rma::Job;
using rma::Team;
using rma::test::ok;
using rma::test::on_team;
using test::KnownArray;
using test::make_known;
using test::pick;
using test::pick_place;
using test::Random;

template <class T>
using P = Subarray<T>;

// An operation of up to three operands: on parts, and on elements.
template <class T>
struct Operation {
  const char* name;
  std::function<rma::Status(const P<T>&, const P<T>&, const P<T>&, const P<T>&)> on_parts;
  std::function<T(T, T, T, T)> on_elements;  // arguments: a, b, c and the old result
};

template <class T>
T larger(T a, T b) {
  if constexpr (rma::ComplexElement<T>) {
    return std::abs(a) < std::abs(b) ? b : a;
  } else {
    return std::max(a, b);
  }
}
template <class T>
T smaller(T a, T b) {
  if constexpr (rma::ComplexElement<T>) {
    return std::abs(b) < std::abs(a) ? b : a;
  } else {
    return std::min(a, b);
  }
}
template <class T>
T size_of_element(T a) {
  if constexpr (std::is_unsigned_v<T>) {
    return a;
  } else {
    return static_cast<T>(std::abs(a));
  }
}

template <class T>
T t(int value) {
  if constexpr (rma::ComplexElement<T>) {
    return T(static_cast<typename T::value_type>(value));
  } else {
    return static_cast<T>(value);
  }
}

template <class T>
std::vector<Operation<T>> operations() {
  return {
      {"fill", [](auto&, auto&, auto&, auto& r) { return fill(r, t<T>(7)); },
       [](T, T, T, T) { return t<T>(7); }},
      {"zero", [](auto&, auto&, auto&, auto& r) { return zero(r); },
       [](T, T, T, T) { return T{}; }},
      {"scale", [](auto&, auto&, auto&, auto& r) { return scale(r, t<T>(3)); },
       [](T, T, T, T r) { return static_cast<T>(t<T>(3) * r); }},
      {"add_constant", [](auto&, auto&, auto&, auto& r) { return add_constant(r, t<T>(5)); },
       [](T, T, T, T r) { return static_cast<T>(r + t<T>(5)); }},
      {"absolute", [](auto&, auto&, auto&, auto& r) { return absolute(r); },
       [](T, T, T, T r) { return size_of_element(r); }},
      {"reciprocal", [](auto&, auto&, auto&, auto& r) { return reciprocal(r); },
       [](T, T, T, T r) { return static_cast<T>(t<T>(1) / r); }},
      {"copy", [](auto& a, auto&, auto&, auto& r) { return copy(a, r); },
       [](T a, T, T, T) { return a; }},
      {"add", [](auto& a, auto& b, auto&, auto& r) { return add(t<T>(2), a, t<T>(3), b, r); },
       [](T a, T b, T, T) { return static_cast<T>(t<T>(2) * a + t<T>(3) * b); }},
      {"add in place",
       [](auto& a, auto&, auto&, auto& r) { return add(t<T>(2), a, t<T>(1), r, r); },
       [](T a, T, T, T r) { return static_cast<T>(t<T>(2) * a + r); }},
      {"multiply", [](auto& a, auto& b, auto&, auto& r) { return multiply(a, b, r); },
       [](T a, T b, T, T) { return static_cast<T>(a * b); }},
      {"divide", [](auto& a, auto& b, auto&, auto& r) { return divide(a, b, r); },
       [](T a, T b, T, T) { return static_cast<T>(a / b); }},
      {"maximum", [](auto& a, auto& b, auto&, auto& r) { return maximum(a, b, r); },
       [](T a, T b, T, T) { return larger(a, b); }},
      {"minimum", [](auto& a, auto& b, auto&, auto& r) { return minimum(a, b, r); },
       [](T a, T b, T, T) { return smaller(a, b); }},
      {"transform",
       [](auto& a, auto& b, auto& c, auto& r) {
         return transform(
             r, [](T x, T y, T z) { return static_cast<T>(x + y * z); }, a, b, c);
       },
       [](T a, T b, T c, T) { return static_cast<T>(a + b * c); }},
  };
}

template <class T>
void try_operation(Job& job, const Team& team, Random& random, const Operation<T>& operation) {
  const int ndims = static_cast<int>(pick(random, 1, 4));
  const Extents part_extents = kinds::pick_extents(random, ndims, 6);
  std::vector<KnownArray<T>> arrays;
  std::vector<Box> boxes;
  for (const char* name : {"a", "b", "c", "result"}) {
    Extents extents = part_extents;
    for (int dim = 0; dim < ndims; ++dim) {
      extents[dim] += pick(random, 0, 3);
    }
    arrays.push_back(make_known<T>(job, team, random, extents, name));
    boxes.push_back(pick_place(random, part_extents, extents));
  }
  const auto operand = [&](std::size_t k) { return part(arrays[k].array, boxes[k]); };
  ASSERT_TRUE(ok(operation.on_parts(operand(0), operand(1), operand(2), operand(3))));
  test::for_each_index(Box::whole(part_extents), [&](const Index& at) {
    std::array<T*, 4> elements{};
    for (std::size_t k = 0; k < 4; ++k) {
      Index index = at;
      for (int dim = 0; dim < ndims; ++dim) {
        index[dim] += boxes[k].lo(dim);
      }
      elements[k] = &arrays[k].at(index);
    }
    *elements[3] = operation.on_elements(*elements[0], *elements[1], *elements[2], *elements[3]);
  });
  for (const KnownArray<T>& array : arrays) {
    ASSERT_TRUE(array.is_as_known()) << operation.name << " of " << to_string(part_extents);
  }
}

template <class T>
class ElementwiseOf : public ::testing::Test {};
using ElementwiseTypes = ::testing::Types<std::int8_t, std::uint16_t, std::int64_t, float, double,
                                          std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(ElementwiseOf, ElementwiseTypes);

TYPED_TEST(ElementwiseOf, AgreesWithVectorsOnPartsOfAnyDistributions) {
  on_team([](Job& job, Team& team) {
    Random random = test::shared_random(sizeof(TypeParam));
    for (const auto& operation : operations<TypeParam>()) {
      for (int round = 0; round < 4; ++round) {
        try_operation<TypeParam>(job, team, random, operation);
        if (::testing::Test::HasFatalFailure()) {
          return;
        }
      }
    }
  });
}

// Operands that must be fetched, in more than one chunk.
TEST(Elementwise, WorksInChunksWhereOperandsAreFar) {
  on_team([](Job& job, Team& team) {
    const Extents extents{700, 300};
    auto a = Array<double>::create(job, extents, {.name = "a", .team = team}).value();
    const std::vector<BlockPartition1D> partitions{BlockPartition1D::by_size(700, 64).value(),
                                                   BlockPartition1D::by_size(300, 32).value()};
    const Extents blocks{partitions[0].blocks(), partitions[1].blocks()};
    const auto cyclic =
        Distribution::create(partitions, BlockMap::round_robin(blocks, team.size()).value())
            .value();
    auto b = Array<double>::create(job, cyclic, {.name = "b", .team = team}).value();
    ASSERT_TRUE(ok(for_each_element(
        b, [](const Index& at, double& x) { x = static_cast<double>(at[0] * 1000 + at[1]); })));
    ASSERT_TRUE(ok(fill(a, 1.0)));
    ASSERT_TRUE(ok(add(2.0, a, 1.0, b, a)));
    std::vector<double> all(static_cast<std::size_t>(volume(extents)));
    ASSERT_TRUE(ok(a.get(a.box(), all)));
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::size_t added = i / 300 * 1000 + i % 300;
      ASSERT_EQ(all[i], 2.0 + static_cast<double>(added));
    }
    EXPECT_TRUE(ok(a.sync()));
  });
}

}  // namespace
}  // namespace tessera::arrays
