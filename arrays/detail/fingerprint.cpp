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
// Even cuts follow from extent and number of blocks, cuts by size from extent and largest block. If
// a cut of one kind looks like one of the other, the start of the last block distinguishes them.
void add_cut(Digest& digest, const BlockPartition1D& cut) noexcept {
  digest.add(cut.extent());
  digest.add(cut.blocks());
  digest.add(cut.largest());
  digest.add(cut.blocks() > 0 ? cut.lo(cut.blocks() - 1) : 0);
  if (cut.is_irregular()) {
    for (std::int64_t block = 0; block < cut.blocks(); ++block) {
      digest.add(cut.lo(block));
    }
  }
}

void add_block_map(Digest& digest, const Deal& deal) noexcept {
  digest.add(static_cast<std::int64_t>(deal.kind()));
  digest.add(static_cast<std::int64_t>(deal.order()));
  digest.add(deal.nranks());
  digest.add(deal.blocks());
  digest.add(deal.rank_grid());
  digest.add(deal.node_grid());
  if (deal.kind() != BlockMapKind::table || volume(deal.blocks()) == 0) {
    return;
  }
  Index block = Index::zeros(deal.ndims());
  do {
    digest.add(deal.owner(block).value);
  } while (advance(block, deal.blocks(), deal.order()));
}

}  // namespace

std::uint64_t fingerprint(const Distribution& distribution) noexcept {
  Digest digest;
  digest.add(distribution.extents());
  for (int dim = 0; dim < distribution.ndims(); ++dim) {
    add_cut(digest, distribution.cut(dim));
  }
  add_block_map(digest, distribution.deal());
  digest.add(static_cast<std::int64_t>(distribution.storage()));
  digest.add(static_cast<std::int64_t>(distribution.order()));
  digest.add(distribution.ghosts());
  return digest.value();
}

}  // namespace tessera::arrays
