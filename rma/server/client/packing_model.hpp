// SPDX-License-Identifier: BSD-3-Clause
//
// PackingModel: chooses which rows tcp packs, and the part sizes, from measured times of sending,
// receiving and copying (tcp_times.hpp).
//
// A packed transfer passes three stages: packing and sending, the network, receiving and unpacking.
// Each stage takes a time per frame and a time per byte. If the transfer is split into parts, the
// stages work concurrently on different parts ([CLUSTERS02] §3), but each part costs its own frame.
// The model takes the longest parts that keep the total time near the minimum.
//
// The formulas are deliberately rough, as those of rma/transport/verbs/cost_model.hpp: two choices
// that differ by little are both good.
//
// Threads: immutable values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "rma/transport/tcp/tcp_times.hpp"

namespace tessera::rma::server {

/// Sizes of the parts of a transfer: the first one, and those after it.
struct Parts {
  std::size_t first = 0;
  std::size_t each = 0;
  friend bool operator==(const Parts&, const Parts&) = default;
};

/// Smallest and largest parts of a pipeline; the first part may be half as long.
inline constexpr std::size_t min_part_bytes = std::size_t{1} << 10U;
inline constexpr std::size_t max_part_bytes = std::size_t{256} << 10U;

class PackingModel {
 public:
  explicit PackingModel(const TcpTimes& times) noexcept : times_(times) {}

  [[nodiscard]] const TcpTimes& times() const noexcept { return times_; }

  /// Rows of this many bytes and more are better sent from their memory: two further pieces then
  /// cost less than copying. A power of two, 256 to 32768.
  [[nodiscard]] std::size_t min_direct_row() const noexcept;

  /// The time of a packed transfer in those parts, in nanoseconds. Requires: 0 < parts.first ≤
  /// parts.each. Cost: a few operations for each part.
  [[nodiscard]] double time_ns(std::size_t bytes, const Parts& parts) const noexcept;

  /// The fastest parts for a transfer of `bytes`: one part, or powers of two within the limits
  /// above. Of those that take at most 5 % more than the minimum, the longest.
  [[nodiscard]] Parts best_parts(std::size_t bytes) const noexcept;

 private:
  TcpTimes times_;
};

/// Part sizes of packed transfers by transfer size: a table that the model or settings fill.
class PartSizes {
 public:
  /// An eighth of a transfer, 32 to 256 KiB, with a first part of half that; up to 32 KiB in one
  /// part.
  PartSizes() noexcept;
  /// Filled by the model.
  explicit PartSizes(const PackingModel& model) noexcept;
  /// All parts have `bytes`, in transfers of more than 16 KiB.
  static PartSizes equal(std::size_t bytes) noexcept;
  /// Transfers of at least `bytes` are split into parts, shorter ones are not. If the table has
  /// only one part for a size, that is cut in two.
  void pipeline_from(std::size_t bytes) noexcept;

  /// The parts of a transfer of `bytes`.
  [[nodiscard]] Parts of(std::size_t bytes) const noexcept;
  /// The shortest transfers that are split, to the resolution of the table.
  [[nodiscard]] std::size_t min_pipelined() const noexcept;

  friend bool operator==(const PartSizes&, const PartSizes&) = default;

 private:
  // Entry i holds for transfers from 2^(first_class + i) bytes on.
  static constexpr unsigned first_class = 11;
  static constexpr unsigned classes = 11;
  [[nodiscard]] static std::size_t class_bytes(unsigned i) noexcept {
    return std::size_t{1} << (first_class + i);
  }

  std::array<Parts, classes> of_class_{};  // first = 0: one part
  std::size_t min_pipelined_ = 0;          // shorter transfers are never split
};

}  // namespace tessera::rma::server
