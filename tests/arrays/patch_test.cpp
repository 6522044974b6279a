// SPDX-License-Identifier: BSD-3-Clause
//
// The loop over the patches of a box, against brute force: every element of the box occurs once,
// where locate() says. Also the byte patterns made from patches, executed on small buffers.
#include "arrays/patch.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "arrays/distribution.hpp"
#include "tests/arrays/distribution_kinds.hpp"
#include "tests/arrays/printers.hpp"

namespace tessera::arrays {
namespace {

using kinds::for_each_index;
using kinds::pick;
using kinds::Random;

std::vector<Patch> patches_of(const Distribution& d, const Box& box, std::int64_t rotation = 0) {
  std::vector<Patch> list;
  Patches patches = d.patches(box, rotation);
  const std::int64_t count = patches.remaining();
  for (const Patch& patch : patches) {
    list.push_back(patch);
  }
  EXPECT_EQ(count, static_cast<std::int64_t>(list.size()));
  return list;
}

void expect_tiling(const Distribution& d, const Box& box) {
  SCOPED_TRACE(to_string(d) + ", box " + to_string(box));
  std::int64_t total = 0;
  std::vector<int> seen(static_cast<std::size_t>(box.volume()), 0);
  const Strides strides = dense_strides(box.extents());
  for (const Patch& patch : d.patches(box)) {
    ASSERT_FALSE(patch.box.is_empty());
    ASSERT_TRUE(box.contains(patch.box)) << to_string(patch.box);
    ASSERT_EQ(patch.order, d.order());
    total += patch.box.volume();
    for_each_index(patch.box, [&](const Index& index) {
      ++seen[static_cast<std::size_t>(distance(box.lo(), index, strides))];
      const ElementLocation place = d.locate(index);
      ASSERT_EQ(patch.owner, place.owner);
      ASSERT_EQ(patch.offset + distance(patch.box.lo(), index, patch.strides), place.offset);
    });
  }
  EXPECT_EQ(total, box.volume());
  EXPECT_TRUE(std::all_of(seen.begin(), seen.end(), [](int times) { return times == 1; }));
}

// All boxes of a small array, with the empty ones.
template <class Body>
void for_each_box(const Extents& extents, Body body) {
  Extents bounds = extents;
  for (int dim = 0; dim < extents.ndims(); ++dim) {
    ++bounds[dim];
  }
  for_each_index(Box::whole(bounds), [&](const Index& lo) {
    for_each_index(Box(lo, Index::from(bounds)), [&](const Index& hi) { body(Box(lo, hi)); });
  });
}

TEST(Patches, TileEveryBoxOfSmallVectors) {
  Random random(1);
  for (std::int64_t n = 0; n <= 12; ++n) {
    for (int round = 0; round < 60 && !HasFailure(); ++round) {
      const Distribution d = kinds::pick_distribution(random, {n});
      for_each_box(d.extents(), [&](const Box& box) { expect_tiling(d, box); });
    }
  }
}

TEST(Patches, TileEveryBoxOfSmallMatrices) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  for (int round = 0; round < 150 && !HasFailure(); ++round) {
    const Distribution d =
        kinds::pick_distribution(random, {pick(random, 1, 6), pick(random, 1, 6)});
    for_each_box(d.extents(), [&](const Box& box) { expect_tiling(d, box); });
  }
}

TEST(Patches, TileRandomBoxesOfManyDimensions) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  for (int round = 0; round < 400 && !HasFailure(); ++round) {
    const int ndims = static_cast<int>(pick(random, 3, max_dims));
    const Extents extents = kinds::pick_extents(random, ndims, ndims <= 4 ? 7 : 4);
    const Distribution d = kinds::pick_distribution(random, extents);
    expect_tiling(d, kinds::pick_box(random, extents));
  }
}

TEST(Patches, RotationChangesOnlyWhereTheWalkBegins) {
  const Distribution d = *Distribution::regular({12, 12, 12}, 27);
  const Box box({1, 1, 1}, {11, 11, 11});
  const std::vector<Patch> plain = patches_of(d, box);
  ASSERT_EQ(plain.size(), 27U);
  for (std::size_t rotation = 0; rotation < 60; ++rotation) {
    const auto rotated = patches_of(d, box, static_cast<std::int64_t>(rotation));
    ASSERT_EQ(rotated.size(), plain.size());
    for (std::size_t i = 0; i < plain.size(); ++i) {
      const Patch& expected = plain[(i + rotation) % plain.size()];
      EXPECT_EQ(rotated[i].box, expected.box);
      EXPECT_EQ(rotated[i].owner, expected.owner);
      EXPECT_EQ(rotated[i].offset, expected.offset);
      EXPECT_EQ(rotated[i].strides, expected.strides);
    }
  }
}

TEST(Patches, ComeInRowMajorOrderOfTheBlocks) {
  const Distribution d = *Distribution::regular({10, 10}, 4);
  const auto patches = patches_of(d, Box({3, 4}, {7, 6}));
  ASSERT_EQ(patches.size(), 4U);
  EXPECT_EQ(patches[0].box, Box({3, 4}, {5, 5}));
  EXPECT_EQ(patches[1].box, Box({3, 5}, {5, 6}));
  EXPECT_EQ(patches[2].box, Box({5, 4}, {7, 5}));
  EXPECT_EQ(patches[3].owner.value, 3);
  EXPECT_EQ(patches[3].offset, 0);
}

TEST(Patches, EmptyBoxesHaveNone) {
  const Distribution d = *Distribution::regular({10, 10}, 4);
  EXPECT_TRUE(patches_of(d, Box({3, 4}, {3, 6})).empty());
  EXPECT_TRUE(patches_of(d, Box({10, 10}, {10, 10}), 3).empty());
  EXPECT_TRUE(patches_of(*Distribution::regular({0, 10}, 4), Box({0, 0}, {0, 10})).empty());
}

// Executes a transfer run by run, as rma defines it.
void transfer(const rma::CopyShape& shape, int level, std::byte* local, const std::byte* remote) {
  if (level == 0) {
    std::memcpy(local, remote, shape.run_bytes);
    return;
  }
  const auto& at = shape.level[static_cast<std::size_t>(level - 1)];
  for (std::int64_t i = 0; i < at.count; ++i) {
    transfer(shape, level - 1, local + i * at.local_stride, remote + i * at.remote_stride);
  }
}

// Gathers random boxes from simulated slices whose elements contain their index.
TEST(CopyShape, MovesTheElementsOfThePatch) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  for (int round = 0; round < 400 && !HasFailure(); ++round) {
    const int ndims = static_cast<int>(pick(random, 1, max_dims));
    const Extents extents = kinds::pick_extents(random, ndims, ndims <= 4 ? 7 : 4);
    const Distribution d = kinds::pick_distribution(random, extents);
    SCOPED_TRACE(to_string(d));
    const Strides names = dense_strides(extents);
    std::vector<std::vector<std::int64_t>> slices(static_cast<std::size_t>(d.nranks()));
    for (std::size_t rank = 0; rank < slices.size(); ++rank) {
      slices[rank].assign(
          static_cast<std::size_t>(d.local_elements({static_cast<std::int32_t>(rank)})), -1);
    }
    const Index zero = Index::zeros(ndims);
    for_each_index(Box::whole(extents), [&](const Index& index) {
      const ElementLocation at = d.locate(index);
      slices[static_cast<std::size_t>(at.owner.value)][static_cast<std::size_t>(at.offset)] =
          distance(zero, index, names);
    });

    const Box box = kinds::pick_box(random, extents);
    const Strides local = dense_strides(box.extents(), kinds::pick_order(random));
    std::vector<std::int64_t> buffer(static_cast<std::size_t>(box.volume()), -1);
    for (const Patch& patch : d.patches(box, pick(random, 0, 20))) {
      const rma::CopyShape shape = copy_shape(patch, local, sizeof(std::int64_t));
      ASSERT_TRUE(shape.check().ok());
      EXPECT_EQ(shape, shape.normalised());
      EXPECT_EQ(static_cast<std::int64_t>(shape.total_bytes()), patch.box.volume() * 8);
      const auto& slice = slices[static_cast<std::size_t>(patch.owner.value)];
      transfer(
          shape, shape.levels,
          reinterpret_cast<std::byte*>(buffer.data() + distance(box.lo(), patch.box.lo(), local)),
          reinterpret_cast<const std::byte*>(slice.data() + patch.offset));
    }
    for_each_index(box, [&](const Index& index) {
      ASSERT_EQ(buffer[static_cast<std::size_t>(distance(box.lo(), index, local))],
                distance(zero, index, names));
    });
  }
}

TEST(CopyShape, HasAsFewLevelsAsPossible) {
  const Distribution d = *Distribution::regular({8, 8}, 1);
  const auto shape_of = [&](const Box& box, const Strides& local) {
    return copy_shape(patches_of(d, box).front(), local, 8);
  };
  EXPECT_EQ(shape_of(Box({2, 0}, {6, 8}), {8, 1}), rma::CopyShape::contiguous(256));
  EXPECT_EQ(shape_of(Box({2, 3}, {3, 6}), {3, 1}), rma::CopyShape::contiguous(24));
  EXPECT_EQ(shape_of(Box({2, 3}, {6, 6}), {3, 1}), rma::CopyShape::rows(24, 4, 24, 64));
  EXPECT_EQ(shape_of(Box({2, 3}, {6, 4}), {1, 1}), rma::CopyShape::rows(8, 4, 8, 64));
  EXPECT_EQ(shape_of(Box({0, 0}, {8, 8}), {2, 16}),
            rma::CopyShape::rows(8, 8, 128, 8).repeat(8, 16, 64));
  EXPECT_EQ(copy_shape({0, 5}, MemoryOrder::row_major, {5, 1}, {5, 1}, 8),
            rma::CopyShape::contiguous(0));
}

}  // namespace
}  // namespace tessera::arrays
