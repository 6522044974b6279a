// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. Reads pieces of many ranks' slices by one list a rank.
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

/// One-sided. Starts reading all pieces. Requires: those of one owner are neighbours in the list,
/// and no two write the same memory. Cost: a list for each owner; pieces that follow each other on
/// both sides go as one.
rma::Handle get_pieces(rma::Job& job, const rma::Region& region, std::span<const Piece> pieces);

}  // namespace tessera::linalg::detail
