// SPDX-License-Identifier: BSD-3-Clause
#include "linalg/detail/scattered_get.hpp"

#include <vector>

#include "rma/transfer.hpp"

namespace tessera::linalg::detail {

namespace {

bool follows(const rma::Fragment& last, const Piece& piece) {
  return last.remote_offset + last.bytes == piece.offset &&
         static_cast<std::byte*>(last.local) + last.bytes == piece.to;
}

}  // namespace

rma::Handle get_pieces(rma::Job& job, const rma::Region& region, std::span<const Piece> pieces) {
  rma::Handle all;
  std::vector<rma::Fragment> fragments;
  for (std::size_t i = 0; i < pieces.size();) {
    const rma::TeamRank owner = pieces[i].owner;
    fragments.clear();
    for (; i < pieces.size() && pieces[i].owner == owner; ++i) {
      if (!fragments.empty() && follows(fragments.back(), pieces[i])) {
        fragments.back().bytes += pieces[i].bytes;
      } else if (pieces[i].bytes > 0) {
        fragments.push_back({pieces[i].to, pieces[i].offset, pieces[i].bytes});
      }
    }
    if (!fragments.empty()) {
      all.collect(rma::get_async(job, region.at(owner), fragments));
    }
  }
  return all;
}

}  // namespace tessera::linalg::detail
