// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. Reads pieces of many ranks' slices, with one list for each rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "rma/handle.hpp"
#include "rma/job.hpp"
#include "rma/region.hpp"

namespace tessera::linalg::detail {

struct Piece {
  rma::TeamRank owner;
  std::uint64_t offset = 0;  ///< bytes from the start of the owner's slice
  void* to = nullptr;
  std::size_t bytes = 0;
};

/// One-sided. Starts to read all pieces. Requires: pieces of one owner are neighbours in the list,
/// and no two of them write the same memory. Cost: one list for each owner; pieces that are
/// contiguous on both sides are merged.
rma::Handle get_pieces(rma::Job& job, const rma::Region& region, std::span<const Piece> pieces);

}  // namespace tessera::linalg::detail
