// SPDX-License-Identifier: BSD-3-Clause
//
// Random arrays with any distribution and known elements, for tests of collective operations.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "arrays/array.hpp"
#include "rma/element.hpp"
#include "tests/arrays/distribution_kinds.hpp"

namespace tessera::arrays::test {

using kinds::pick;
using kinds::pick_order;
using kinds::Random;

/// The same sequence on all ranks; printed if a test fails.
inline Random shared_random(std::uint64_t number) {
  return Random(static_cast<std::uint64_t>(::testing::UnitTest::GetInstance()->random_seed()) *
                    1000 +
                number);
}

/// Extents of all dimensions, for a grid with at most `most` entries.
inline Extents pick_grid(Random& random, int ndims, std::int64_t most) {
  Extents grid = Extents::filled(ndims, 1);
  for (int dim = 0; dim < ndims; ++dim) {
    grid[dim] = pick(random, 1, most);
    most /= grid[dim];
  }
  return grid;
}

inline BlockMap pick_block_map(Random& random, const Extents& blocks, std::int64_t ranks) {
  const MemoryOrder order = pick_order(random);
  switch (pick(random, 0, 2)) {
    case 0:
      return *BlockMap::round_robin(blocks, ranks, order);
    case 1:
      return *BlockMap::cyclic_grid(blocks, pick_grid(random, blocks.ndims(), ranks), ranks, order);
    default:
      break;
  }
  std::vector<rma::TeamRank> owners(static_cast<std::size_t>(volume(blocks)));
  for (auto& owner : owners) {
    owner.value = static_cast<std::int32_t>(pick(random, 0, ranks - 1));
  }
  return *BlockMap::table(blocks, owners, ranks, order);
}

/// Any distribution over `ranks` ranks.
inline Distribution pick_distribution(Random& random, const Extents& extents, std::int64_t ranks) {
  if (pick(random, 0, 2) == 0) {
    RegularOptions options;
    options.order = pick_order(random);
    options.ghosts = Extents::zeros(extents.ndims());
    options.ghosts[0] = pick(random, 0, 2);
    return Distribution::regular(extents, ranks, options).value();
  }
  std::vector<BlockPartition1D> partitions;
  Extents blocks = extents;
  for (int dim = 0; dim < extents.ndims(); ++dim) {
    partitions.push_back(kinds::pick_partition(random, extents[dim]));
    blocks[dim] = partitions.back().blocks();
  }
  const BlockMap block_map = pick_block_map(random, blocks, ranks);
  StorageOptions options;
  options.order = pick_order(random);
  if (block_map.kind() != BlockMapKind::table && block_map.kind() != BlockMapKind::round_robin &&
      pick(random, 0, 1) == 1) {
    options.storage = Storage::local_matrix;
  }
  return Distribution::create(partitions, block_map, options).value();
}

/// A small whole number as an element; never zero.
template <rma::Element T>
T pick_element(Random& random) {
  const std::int64_t whole = pick(random, 1, 9);
  if constexpr (rma::ComplexElement<T>) {
    using Real = typename T::value_type;
    return T(static_cast<Real>(whole), static_cast<Real>(pick(random, -9, 9)));
  } else if constexpr (std::is_unsigned_v<T>) {
    return static_cast<T>(whole);
  } else {
    return static_cast<T>(pick(random, 0, 1) == 0 ? whole : -whole);
  }
}

/// An array and its expected elements.
template <rma::Element T>
struct KnownArray {
  Array<T> array;
  std::vector<T> values;  // in row-major order

  T& at(const Index& index) {
    const Strides strides = dense_strides(array.extents());
    return values[static_cast<std::size_t>(distance(Index::zeros(index.ndims()), index, strides))];
  }
  /// Collective. True if all elements have the expected values.
  [[nodiscard]] ::testing::AssertionResult is_as_known() const {
    std::vector<T> got(values.size());
    if (const auto status = array.get(array.box(), got); !status.ok()) {
      return ::testing::AssertionFailure() << status.describe();
    }
    if (const auto status = array.sync(); !status.ok()) {
      return ::testing::AssertionFailure() << status.describe();
    }
    return got == values ? ::testing::AssertionSuccess()
                         : ::testing::AssertionFailure()
                               << "elements of " << array.describe() << " over "
                               << to_string(array.distribution());
  }
};

/// Collective. An array with random elements.
template <rma::Element T>
KnownArray<T> make_known(const rma::Job& job, const rma::Team& team, Random& random,
                         const Extents& extents, const std::string& name) {
  const Distribution distribution = pick_distribution(random, extents, team.size());
  KnownArray<T> known{Array<T>::create(job, distribution, {.name = name, .team = team}).value(),
                      {}};
  known.values.resize(static_cast<std::size_t>(volume(extents)));
  for (T& value : known.values) {
    value = pick_element<T>(random);
  }
  if (team.rank().value == 0) {
    EXPECT_TRUE(known.array.put(known.array.box(), known.values).ok());
  }
  EXPECT_TRUE(known.array.sync().ok());
  return known;
}

/// A random box of these extents in an array that may be larger.
inline Box pick_place(Random& random, const Extents& extents, const Extents& within) {
  Box box = Box::none(extents.ndims());
  for (int dim = 0; dim < extents.ndims(); ++dim) {
    const std::int64_t lo = pick(random, 0, within[dim] - extents[dim]);
    box.set(dim, lo, lo + extents[dim]);
  }
  return box;
}

}  // namespace tessera::arrays::test
