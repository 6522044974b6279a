// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/packed_halo_exchange.hpp"

#include <algorithm>

namespace tessera::arrays {
namespace {

// Two senders never write the same cache line.
constexpr std::size_t line_bytes = 64;

std::size_t round_up_to_cache_lines(std::size_t bytes) {
  return (bytes + line_bytes - 1) / line_bytes * line_bytes;
}

std::size_t total_bytes(const std::vector<GhostPiece>& pieces) {
  std::size_t bytes = 0;
  for (const GhostPiece& piece : pieces) {
    bytes += piece.shape.total_bytes();
  }
  return bytes;
}

// Lays pieces out one after another in a message; `stride` and `offset` select the slice's side of
// a piece.
std::vector<PackedPiece> pack_pieces(const std::vector<GhostPiece>& pieces,
                                     std::int64_t rma::CopyShape::Level::*stride,
                                     std::uint64_t GhostPiece::*offset) {
  std::vector<PackedPiece> all;
  std::uint64_t written = 0;
  for (const GhostPiece& piece : pieces) {
    rma::CopyShape shape = rma::CopyShape::contiguous(piece.shape.run_bytes);
    auto packed = static_cast<std::int64_t>(shape.run_bytes);
    for (int i = 0; i < piece.shape.levels; ++i) {
      const rma::CopyShape::Level& level = piece.shape.level[static_cast<std::size_t>(i)];
      shape.repeat(level.count, packed, level.*stride);
      packed *= level.count;
    }
    all.push_back({.packed_offset = written, .slice_offset = piece.*offset, .shape = shape});
    written += static_cast<std::uint64_t>(packed);
  }
  return all;
}

}  // namespace

PackedHaloExchange::PackedHaloExchange(const HaloPlan& plan, rma::TeamRank rank,
                                       std::size_t max_message_bytes) {
  for (const rma::TeamRank neighbour : plan.neighbours(rank)) {
    senders_.push_back({.rank = neighbour, .flags = bytes_});
    bytes_ += line_bytes;
  }
  for (const GhostPiece& piece : plan.pieces(rank)) {
    if (piece.source != rank) {
      const auto sender = std::ranges::lower_bound(senders_, piece.source, {}, &Sender::rank);
      sender->pieces.push_back(piece);
    }
  }
  for (Sender& sender : senders_) {
    const std::size_t bytes = total_bytes(sender.pieces);
    if (bytes <= max_message_bytes) {
      sender.message_offset = bytes_;
      sender.message_bytes = round_up_to_cache_lines(bytes);
      bytes_ += 2 * sender.message_bytes;
    }
  }
}

const PackedHaloExchange::Sender& PackedHaloExchange::from(rma::TeamRank rank) const {
  return *std::ranges::lower_bound(senders_, rank, {}, &Sender::rank);
}

std::vector<PackedPiece> packing(const std::vector<GhostPiece>& pieces) {
  return pack_pieces(pieces, &rma::CopyShape::Level::local_stride, &GhostPiece::from);
}

std::vector<PackedPiece> unpacking(const std::vector<GhostPiece>& pieces) {
  return pack_pieces(pieces, &rma::CopyShape::Level::remote_stride, &GhostPiece::to);
}

}  // namespace tessera::arrays
