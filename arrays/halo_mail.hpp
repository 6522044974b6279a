// SPDX-License-Identifier: BSD-3-Clause
//
// HaloMail: what one rank's neighbours write into its memory while ghost cells are updated, and
// where. As the plan from which it follows, every rank can work it out for every other one.
//
// Layers that fit a letter have two places for it, for the rounds in turns: a neighbour on another
// node leaves them there, packed, and needs not ask whether it may. It is never more than a round
// ahead (docs/decisions/0024), so the letter before the last has been read.
//
//     control memory of a rank:   | flags of neighbour 0 | flags of 1 | … | letters of 0 | … |
//
// Cost: O(pieces); memory O(neighbours), and two letters for each whose layers fit one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "arrays/halo_plan.hpp"
#include "rma/region.hpp"

namespace tessera::arrays {

class HaloMail {
 public:
  /// What comes from one neighbour.
  struct Sender {
    rma::TeamRank rank;
    std::vector<GhostPiece> pieces = {};
    std::uint64_t flags = 0;  ///< where they are; bytes from the control memory's start
    std::optional<std::uint64_t> letters = {};  ///< where the first of two is, if the pieces fit
    std::size_t letter_bytes = 0;               ///< from one to the other
  };

  /// For the ghost cells of `rank`. A letter has at most `largest_letter` bytes.
  HaloMail(const HaloPlan& plan, rma::TeamRank rank, std::size_t largest_letter);

  /// Ascending.
  [[nodiscard]] const std::vector<Sender>& senders() const noexcept { return senders_; }
  /// Requires: it is one of the senders.
  [[nodiscard]] const Sender& from(rma::TeamRank rank) const;
  /// Of control memory.
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  std::vector<Sender> senders_;
  std::size_t bytes_ = 0;
};

/// One copy between a letter and a slice.
struct LetterPiece {
  std::uint64_t in_letter = 0;  ///< bytes from its start
  std::uint64_t in_slice = 0;
  rma::CopyShape shape;  ///< local: the letter; remote: the slice
};

/// How the sender packs a letter from its slice, and how the receiver unpacks it into its own.
std::vector<LetterPiece> packing(const std::vector<GhostPiece>& pieces);
std::vector<LetterPiece> unpacking(const std::vector<GhostPiece>& pieces);

}  // namespace tessera::arrays
