// SPDX-License-Identifier: BSD-3-Clause
//
// Each selection × {put, get, accumulate} × {blocking, async} × {span, view} against a serial
// model: a vector with all elements of the array.
#include "arrays/selection.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <vector>

#include "arrays/array.hpp"
#include "tests/arrays/ranks/model_array.hpp"
#include "tests/arrays/ranks/random_arrays.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/rank_main.hpp"

namespace tessera::arrays {
namespace {

using rma::Job;
using rma::Status;
using rma::Team;
using rma::test::ok;
using rma::test::on_team;
using test::pick;
using test::Random;

struct Cell {
  std::int32_t kind = 0;
  double mass = 0;
  double position[2] = {};  // NOLINT(modernize-avoid-c-arrays): as users write them
};

// Each of these has a selection of an array of Element whose selected values are doubles: a random
// selection, the index in the array of a selected element, and the value of an element.
struct Boxes {
  using Element = double;
  static Box pick_one(Random& random, const Extents& extents) {
    return kinds::pick_box(random, extents);
  }
  static Index index_of(const Box& box, const Index& at, const Extents& /*extents*/) {
    Index index = at;
    for (int dim = 0; dim < at.ndims(); ++dim) {
      index[dim] += box.lo(dim);
    }
    return index;
  }
  static double& value(double& element) { return element; }
};

struct Sections {
  using Element = double;
  static Section pick_one(Random& random, const Extents& extents) {
    Extents steps = extents;
    for (int dim = 0; dim < extents.ndims(); ++dim) {
      steps[dim] = pick(random, 1, 4);
    }
    return {kinds::pick_box(random, extents), steps};
  }
  static Index index_of(const Section& section, const Index& at, const Extents& /*extents*/) {
    Index index = at;
    for (int dim = 0; dim < at.ndims(); ++dim) {
      index[dim] = section.box().lo(dim) + at[dim] * section.steps()[dim];
    }
    return index;
  }
  static double& value(double& element) { return element; }
};

struct PeriodicBoxes {
  using Element = double;
  // No element is in it twice, as a put of two values to one element may keep either.
  static PeriodicBox pick_one(Random& random, const Extents& extents) {
    Box box = Box::none(extents.ndims());
    for (int dim = 0; dim < extents.ndims(); ++dim) {
      const std::int64_t lo = pick(random, -12, 12);
      box.set(dim, lo, lo + pick(random, 0, extents[dim]));
    }
    return periodic(box);
  }
  static Index index_of(const PeriodicBox& where, const Index& at, const Extents& extents) {
    Index index = Boxes::index_of(where.box, at, extents);
    for (int dim = 0; dim < at.ndims(); ++dim) {
      index[dim] = (index[dim] % extents[dim] + extents[dim]) % extents[dim];
    }
    return index;
  }
  static double& value(double& element) { return element; }
};

struct Fields {
  using Element = Cell;
  static MemberBox<Cell, double> pick_one(Random& random, const Extents& extents) {
    return field(kinds::pick_box(random, extents), &Cell::mass);
  }
  static Index index_of(const FieldBox& where, const Index& at, const Extents& extents) {
    return Boxes::index_of(where.box, at, extents);
  }
  static double& value(Cell& element) { return element.mass; }
};

enum class Verb : std::uint8_t { put, get, accumulate };

struct Call {
  Verb verb;
  bool is_async;
};

constexpr double alpha = 2;

// The call with local memory of type Memory: a span, or a view.
template <class T, class Selection, class Memory>
Status perform(const Call& call, const Array<T>& array, const Selection& where, Memory memory) {
  switch (call.verb) {
    case Verb::put:
      return call.is_async ? array.put_async(where, memory).wait() : array.put(where, memory);
    case Verb::get:
      return call.is_async ? array.get_async(where, memory).wait() : array.get(where, memory);
    case Verb::accumulate:
      break;
  }
  return call.is_async ? array.accumulate_async(where, memory, alpha).wait()
                       : array.accumulate(where, memory, alpha);
}

// An array and all its elements, in row-major order.
template <class Kind>
struct Model {
  Array<typename Kind::Element> array;
  std::vector<typename Kind::Element> elements;

  double& at(const Index& index) {
    const Strides strides = dense_strides(array.extents());
    const std::int64_t offset = distance(Index::zeros(index.ndims()), index, strides);
    return Kind::value(elements[static_cast<std::size_t>(offset)]);
  }
  // Collective.
  void expect_equal() {
    const auto got = array.get(array.box());
    ASSERT_TRUE(ok(got));
    for (std::size_t i = 0; i < elements.size(); ++i) {
      auto element = (*got)[i];
      EXPECT_EQ(Kind::value(element), Kind::value(elements[i])) << i;
      if constexpr (std::is_same_v<typename Kind::Element, Cell>) {
        EXPECT_EQ(element.kind, elements[i].kind);
        EXPECT_EQ(element.position[0], elements[i].position[0]);
      }
    }
    ASSERT_TRUE(ok(array.sync()));
  }
};

template <class Kind>
class Selections : public ::testing::Test {
 public:
  // One rank moves a random selection, and all check the result.
  static void try_call(Model<Kind>& model, const Call& call, bool is_view, Random& random) {
    const Extents& extents = model.array.extents();
    const auto where = Kind::pick_one(random, extents);
    const MemoryOrder order = is_view ? test::pick_order(random) : MemoryOrder::row_major;
    std::vector<double> values(static_cast<std::size_t>(volume(where.extents())));
    for (double& value : values) {
      value = test::pick_element<double>(random);
    }
    const LocalView<double> view(values.data(), where.extents(), order);
    const std::int64_t mover = pick(random, 0, model.array.team().size() - 1);
    if (model.array.team().rank().value == mover) {
      const Status status = is_view ? perform(call, model.array, where, view)
                                    : perform(call, model.array, where, std::span<double>(values));
      ASSERT_TRUE(ok(status)) << to_string(where);
    }
    test::for_each_index(Box::whole(where.extents()), [&](const Index& at) {
      double& element = model.at(Kind::index_of(where, at, extents));
      if (call.verb == Verb::get && model.array.team().rank().value == mover) {
        EXPECT_EQ(view[at], element) << to_string(where) << " at " << to_string(at);
      } else if (call.verb != Verb::get) {
        element = call.verb == Verb::put ? view[at] : element + alpha * view[at];
      }
    });
    ASSERT_TRUE(ok(model.array.sync()));
    model.expect_equal();
  }
};

using Kinds = ::testing::Types<Boxes, Sections, PeriodicBoxes, Fields>;
TYPED_TEST_SUITE(Selections, Kinds);

TYPED_TEST(Selections, AgreeWithASerialModel) {
  on_team([](Job& job, Team& team) {
    using Element = typename TypeParam::Element;
    Random random = test::shared_random(23);
    for (int ndims = 1; ndims <= 3; ++ndims) {
      const Extents extents = kinds::pick_extents(random, ndims, 7);
      const Distribution distribution = test::pick_distribution(random, extents, team.size());
      Model<TypeParam> model{
          Array<Element>::create(job, distribution, {.name = "A", .team = team}).value(),
          std::vector<Element>(static_cast<std::size_t>(volume(extents)))};
      for (const Verb verb : {Verb::put, Verb::accumulate, Verb::get}) {
        for (const bool is_async : {false, true}) {
          for (const bool is_view : {false, true}) {
            TestFixture::try_call(model, {verb, is_async}, is_view, random);
          }
        }
      }
    }
  });
}

// A get without local memory returns a vector.
TYPED_TEST(Selections, AreReturnedAsVectors) {
  on_team([](Job& job, Team& team) {
    using Element = typename TypeParam::Element;
    Random random = test::shared_random(29);
    const Extents extents{5, 6};
    const auto array = Array<Element>::create(job, extents, {.name = "A", .team = team}).value();
    const auto where = TypeParam::pick_one(random, extents);
    const std::vector<double> ones(static_cast<std::size_t>(volume(where.extents())), 1.0);
    if (team.rank().value == 0) {
      EXPECT_TRUE(ok(array.put(where, ones)));
    }
    EXPECT_TRUE(ok(array.sync()));
    EXPECT_EQ(array.get(where).value(), ones);
    EXPECT_TRUE(ok(array.sync()));
  });
}

}  // namespace
}  // namespace tessera::arrays
