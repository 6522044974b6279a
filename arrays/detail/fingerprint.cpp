// SPDX-License-Identifier: BSD-3-Clause
//
// The fingerprint of a distribution, from what operator== compares, part by part.
#include <bit>
#include <cstdint>

#include "arrays/distribution.hpp"

namespace tessera::arrays {
namespace {

// Adds one word after another, each mixed as by SplitMix64's finalizer, so that order matters.
class Digest {
 public:
  void add(std::int64_t word) noexcept {
    std::uint64_t mixed = std::rotl(hash_, 5) ^ static_cast<std::uint64_t>(word);
    mixed += 0x9e37'79b9'7f4a'7c15U;
    mixed = (mixed ^ mixed >> 30U) * 0xbf58'476d'1ce4'e5b9U;
    mixed = (mixed ^ mixed >> 27U) * 0x94d0'49bb'1331'11ebU;
    hash_ = mixed ^ mixed >> 31U;
  }
  template <class Kind>
  void add(const DimList<Kind>& list) noexcept {
    add(list.ndims());
    for (const std::int64_t entry : list) {
      add(entry);
    }
  }
  [[nodiscard]] std::uint64_t value() const noexcept { return hash_; }

 private:
  std::uint64_t hash_ = 0;
};

// Cuts that are not irregular are equal if these numbers are, regardless of how they were made.
// Even partitions follow from extent and number of blocks, those by size from extent and largest
// block. If a partition of one kind looks like one of the other, the start of the last block
// distinguishes them.
void add_partition(Digest& digest, const BlockPartition1D& partition) noexcept {
  digest.add(partition.extent());
  digest.add(partition.blocks());
  digest.add(partition.largest());
  digest.add(partition.blocks() > 0 ? partition.lo(partition.blocks() - 1) : 0);
  if (partition.is_irregular()) {
    for (std::int64_t block = 0; block < partition.blocks(); ++block) {
      digest.add(partition.lo(block));
    }
  }
}

void add_block_map(Digest& digest, const BlockMap& block_map) noexcept {
  digest.add(static_cast<std::int64_t>(block_map.kind()));
  digest.add(static_cast<std::int64_t>(block_map.order()));
  digest.add(block_map.nranks());
  digest.add(block_map.blocks());
  digest.add(block_map.rank_grid());
  digest.add(block_map.node_grid());
  if (block_map.kind() != BlockMapKind::table || volume(block_map.blocks()) == 0) {
    return;
  }
  Index block = Index::zeros(block_map.ndims());
  do {
    digest.add(block_map.owner(block).value);
  } while (advance(block, block_map.blocks(), block_map.order()));
}

}  // namespace

std::uint64_t fingerprint(const Distribution& distribution) noexcept {
  Digest digest;
  digest.add(distribution.extents());
  for (int dim = 0; dim < distribution.ndims(); ++dim) {
    add_partition(digest, distribution.partition(dim));
  }
  add_block_map(digest, distribution.block_map());
  digest.add(static_cast<std::int64_t>(distribution.storage()));
  digest.add(static_cast<std::int64_t>(distribution.order()));
  digest.add(distribution.ghosts());
  return digest.value();
}

}  // namespace tessera::arrays
