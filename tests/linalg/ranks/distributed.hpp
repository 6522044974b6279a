// SPDX-License-Identifier: BSD-3-Clause
//
// Distributed arrays for linear algebra tests: every kind of distribution, filled with numbers
// determined by the index; and the dense oracle of any part of them.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "arrays/array.hpp"
#include "linalg/matrix_patch.hpp"
#include "tests/linalg/matrices.hpp"

namespace tessera::linalg::test {

using arrays::Array;
using arrays::BlockMap;
using arrays::BlockPartition1D;
using arrays::Box;
using arrays::Distribution;
using arrays::Extents;
using arrays::Index;
using arrays::MemoryOrder;
using arrays::Storage;
using Random = std::mt19937_64;

enum class Kind { regular, irregular, block_cyclic, scalapack, tiled, table };
inline constexpr Kind all_kinds[] = {Kind::regular,   Kind::irregular, Kind::block_cyclic,
                                     Kind::scalapack, Kind::tiled,     Kind::table};

inline std::int64_t pick(Random& random, std::int64_t lo, std::int64_t hi) {
  return std::uniform_int_distribution<std::int64_t>(lo, hi)(random);
}

inline std::vector<BlockPartition1D> partitions_by_size(const Extents& extents, std::int64_t size) {
  std::vector<BlockPartition1D> partitions;
  for (const std::int64_t extent : extents) {
    partitions.push_back(BlockPartition1D::by_size(extent, size).value());
  }
  return partitions;
}

inline Extents blocks_of(const std::vector<BlockPartition1D>& partitions) {
  Extents blocks = Extents::zeros(static_cast<int>(partitions.size()));
  for (int dim = 0; dim < blocks.ndims(); ++dim) {
    blocks[dim] = partitions[static_cast<std::size_t>(dim)].blocks();
  }
  return blocks;
}

/// A grid of at most `ranks` ranks: as many as possible along the first two dimensions.
inline Extents rank_grid(std::int64_t ranks, int ndims) {
  Extents grid = Extents::filled(ndims, 1);
  const std::int64_t rows = ranks >= 4 ? 2 : 1;
  grid[0] = ndims > 1 ? rows : ranks;
  if (ndims > 1) {
    grid[1] = ranks / rows;
  }
  return grid;
}

/// A distribution of this kind with blocks of about `size`.
inline Distribution make_distribution(Kind kind, const Extents& extents, std::int64_t ranks,
                                      std::int64_t size, MemoryOrder order, Random& random) {
  const std::vector<BlockPartition1D> partitions = partitions_by_size(extents, size);
  const Extents blocks = blocks_of(partitions);
  switch (kind) {
    case Kind::regular: {
      const Extents ghosts =
          pick(random, 0, 1) == 1 ? Extents::filled(extents.ndims(), 1) : Extents();
      return Distribution::regular(extents, ranks, {.ghosts = ghosts, .order = order}).value();
    }
    case Kind::irregular: {
      std::vector<std::vector<std::int64_t>> starts(static_cast<std::size_t>(extents.ndims()), {0});
      if (extents[0] > 2 && ranks > 1) {
        starts[0].push_back(pick(random, 1, extents[0] - 1));
      }
      return Distribution::irregular(extents, starts, ranks, {.order = order}).value();
    }
    case Kind::block_cyclic:
      return Distribution::create(partitions, BlockMap::round_robin(blocks, ranks, order).value(),
                                  {.order = order})
          .value();
    case Kind::scalapack:
    case Kind::tiled: {
      const BlockMap block_map =
          BlockMap::cyclic_grid(blocks, rank_grid(ranks, extents.ndims()), ranks, order).value();
      return Distribution::create(
                 partitions, block_map,
                 {.storage = kind == Kind::tiled ? Storage::block_by_block : Storage::local_matrix,
                  .order = order})
          .value();
    }
    case Kind::table:
      break;
  }
  std::vector<rma::TeamRank> owners(static_cast<std::size_t>(volume(blocks)));
  for (rma::TeamRank& owner : owners) {
    owner.value = static_cast<std::int32_t>(pick(random, 0, ranks - 1));
  }
  return Distribution::create(partitions, BlockMap::table(blocks, owners, ranks, order).value(),
                              {.order = order})
      .value();
}

/// The element at `index` of an array that was filled with `seed`.
template <class T>
T element(const Index& index, std::uint64_t seed) {
  std::uint64_t place = 1;
  for (const std::int64_t i : index) {
    place = place * 1009 + static_cast<std::uint64_t>(i);
  }
  return number<T>(place, seed);
}

/// Collective. An array filled with element() of all indices.
template <class T>
Array<T> make_filled(rma::Job& job, const Distribution& distribution, std::uint64_t seed,
                     const arrays::ArrayOptions& options) {
  auto array = Array<T>::create(job, distribution, options).value();
  for (const arrays::Patch& block : distribution.blocks(array.team().rank())) {
    std::vector<T> values;
    Index index = block.box.lo();
    for (std::int64_t i = 0; i < block.box.volume(); ++i) {
      values.push_back(element<T>(index, seed));
      for (int dim = index.ndims() - 1; dim >= 0; --dim) {
        if (++index[dim] < block.box.hi(dim)) {
          break;
        }
        index[dim] = block.box.lo(dim);
      }
    }
    rma::require(array.put(block.box, values));
  }
  rma::require(array.sync());
  return array;
}

/// The elements of a filled array that belong to a matrix.
template <class T>
Dense dense_part(const Box& box, const MatrixDims& dims, std::uint64_t seed) {
  Dense dense(box.extent(dims.rows), box.extent(dims.columns));
  for (std::int64_t i = 0; i < dense.rows; ++i) {
    for (std::int64_t j = 0; j < dense.columns; ++j) {
      Index index = box.lo();
      index[dims.rows] += i;
      index[dims.columns] += j;
      dense(i, j) = Wide(element<T>(index, seed));
    }
  }
  return dense;
}

/// One-sided. The matrix in a box of the array, as it is now.
template <class T>
Dense fetch(const Array<T>& array, const Box& box, const MatrixDims& dims) {
  Dense dense(box.extent(dims.rows), box.extent(dims.columns));
  std::vector<T> values(dense.values.size());
  arrays::Strides strides = arrays::Strides::zeros(box.ndims());
  strides[dims.rows] = dense.columns;
  strides[dims.columns] = 1;
  rma::require(array.get(box, arrays::LocalView<T>(values.data(), box.extents(), strides)));
  for (std::size_t i = 0; i < values.size(); ++i) {
    dense.values[i] = Wide(values[i]);
  }
  return dense;
}

template <class T>
Dense all_of(const Array<T>& array) {
  return fetch(array, array.box(), {});
}

/// The largest difference between two matrices; infinite if one has a NaN.
inline double largest_difference(const Dense& a, const Dense& b) {
  double most = a.values.size() == b.values.size() ? 0 : std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < a.values.size() && i < b.values.size(); ++i) {
    const double difference = std::abs(a.values[i] - b.values[i]);
    most = difference <= most
               ? most
               : (std::isnan(difference) ? std::numeric_limits<double>::infinity() : difference);
  }
  return most;
}

}  // namespace tessera::linalg::test
