// SPDX-License-Identifier: BSD-3-Clause
//
// Counters: how many operations of each kind this rank made, how many bytes they moved, and to
// which ranks.
//
// Counting costs two instructions per operation. Each thread counts in plain words of its own; it
// adds them to the rank's counts when it asks for counts and at its end (docs/decisions/0004).
// Counts of other running threads may therefore lag.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "rma/base/rank.hpp"

namespace tessera::rma {

enum class Op : std::uint8_t { put, get, accumulate, atomic, lock, notify };
inline constexpr std::size_t op_count = 6;

std::string_view to_string(Op op) noexcept;

/// How the bytes of a put, get or accumulate lie: in one run, in runs at equal distances, or as a
/// list describes. Other operations are contiguous.
enum class Form : std::uint8_t { contiguous, strided, scattered };
inline constexpr std::size_t form_count = 3;

std::string_view to_string(Form form) noexcept;

/// Operations and the bytes that they moved.
struct Tally {
  std::uint64_t operations = 0;
  std::uint64_t bytes = 0;
  Tally& operator+=(const Tally& other) noexcept {
    operations += other.operations;
    bytes += other.bytes;
    return *this;
  }
};

using OpTallies = std::array<Tally, op_count>;

/// This rank's operations to one peer.
struct PeerTraffic {
  WorldRank peer;
  OpTallies by_op{};
};

/// This rank's operations: one entry for each peer that it accessed, in rank order.
struct Traffic {
  std::vector<PeerTraffic> peers;

  /// Summed over all peers.
  [[nodiscard]] Tally total(Op op) const noexcept;
};

}  // namespace tessera::rma
