// SPDX-License-Identifier: BSD-3-Clause
//
// PackedHaloExchange: which parts of a rank's control memory its neighbours write while ghost cells
// are updated. It follows from the plan, so every rank can compute it for every other rank.
//
// Layers that fit a packed message have two buffers for it, used alternately. A neighbour on
// another node writes the packed elements there without asking first. It is never more than one
// round ahead (docs/decisions/0024), so the message before the last one has been read.
//
//     control memory of a rank:   | flags of neighbour 0 | flags of 1 | … | buffers of 0 | … |
//
// Cost: O(pieces) time; O(neighbours) memory, and two buffers for each neighbour whose layers fit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "arrays/halo_plan.hpp"
#include "rma/region.hpp"

namespace tessera::arrays {

class PackedHaloExchange {
 public:
  /// What one neighbour writes.
  struct Sender {
    rma::TeamRank rank;
    std::vector<GhostPiece> pieces = {};
    std::uint64_t flags = 0;  ///< offset of the flags in control memory, in bytes
    std::optional<std::uint64_t> message_offset =
        {};                         ///< offset of the first buffer, if the pieces fit
    std::size_t message_bytes = 0;  ///< from the first buffer to the second
  };

  /// The senders for the ghost cells of `rank`. A packed message has at most `max_message_bytes`
  /// bytes.
  PackedHaloExchange(const HaloPlan& plan, rma::TeamRank rank, std::size_t max_message_bytes);

  /// In ascending order of ranks.
  [[nodiscard]] const std::vector<Sender>& senders() const noexcept { return senders_; }
  /// Requires: `rank` is one of the senders.
  [[nodiscard]] const Sender& from(rma::TeamRank rank) const;
  /// The size of the control memory.
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  std::vector<Sender> senders_;
  std::size_t bytes_ = 0;
};

/// One copy between a packed message and a slice.
struct PackedPiece {
  std::uint64_t packed_offset = 0;  ///< bytes from the start of the message
  std::uint64_t slice_offset = 0;
  rma::CopyShape shape;  ///< local: the message; remote: the slice
};

/// How the sender packs a message from its slice; below, how the receiver unpacks it into its own.
std::vector<PackedPiece> packing(const std::vector<GhostPiece>& pieces);
std::vector<PackedPiece> unpacking(const std::vector<GhostPiece>& pieces);

}  // namespace tessera::arrays
