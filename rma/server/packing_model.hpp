// SPDX-License-Identifier: BSD-3-Clause
//
// PackingModel: which rows tcp packs, and into parts of which size, from what sending, receiving
// and copying were measured to take (tcp_times.hpp).
//
// What is packed passes three stages: it is packed and sent; it crosses the network; it is received
// and unpacked. Each takes a time for each frame and one for each byte. In parts the stages work at
// the same time, on different parts ([CLUSTERS02] §3); each part costs its frames. The model takes
// the longest parts that make the whole time nearly the least.
//
// The formulas are rough on purpose, as those of rma/verbs/cost_model.hpp: two ways that differ by
// little are both good.
//
// Threads: values that don't change.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "rma/server/tcp_times.hpp"

namespace tessera::rma::server {

/// Sizes of the parts of a transfer: the first one, and those after it.
struct Parts {
  std::size_t first = 0;
  std::size_t each = 0;
  friend bool operator==(const Parts&, const Parts&) = default;
};

/// Least and greatest parts of a pipeline, but the first, which may be half as long.
inline constexpr std::size_t min_part_bytes = std::size_t{1} << 10U;
inline constexpr std::size_t max_part_bytes = std::size_t{256} << 10U;

class PackingModel {
 public:
  explicit PackingModel(const TcpTimes& times) noexcept : times_(times) {}

  [[nodiscard]] const TcpTimes& times() const noexcept { return times_; }

  /// Rows of this many bytes and more are better sent from where they lie: two pieces cost
  /// less than to copy them. A power of two, 256 to 32768.
  [[nodiscard]] std::size_t min_direct_row() const noexcept;

  /// What a packed transfer takes in those parts, in nanoseconds. Requires: 0 < parts.first ≤
  /// parts.each. Cost: some operations for each part.
  [[nodiscard]] double time_ns(std::size_t bytes, const Parts& parts) const noexcept;

  /// The parts in which so many bytes take the least time: one, or powers of two within the limits
  /// above; the longest of those that take at most 5 % more.
  [[nodiscard]] Parts best_parts(std::size_t bytes) const noexcept;

 private:
  TcpTimes times_;
};

/// The parts of packed transfers by their size: a table that a model or settings filled.
class PartSizes {
 public:
  /// An eighth of a transfer, 32 to 256 KiB, and half of that first; up to 32 KiB in one part.
  PartSizes() noexcept;
  /// As the model says.
  explicit PartSizes(const PackingModel& model) noexcept;
  /// All parts have `bytes`, in transfers of more than 16 KiB.
  static PartSizes equal(std::size_t bytes) noexcept;
  /// Transfers from `bytes` on go in several parts, shorter ones in one. Where the table has one
  /// part only, it is cut in two.
  void pipeline_from(std::size_t bytes) noexcept;

  /// Of a transfer of so many bytes.
  [[nodiscard]] Parts of(std::size_t bytes) const noexcept;
  /// The shortest transfers that go in several parts, as far as the table knows them apart.
  [[nodiscard]] std::size_t min_pipelined() const noexcept;

  friend bool operator==(const PartSizes&, const PartSizes&) = default;

 private:
  // Of transfers from 2^(first_class + i) bytes on.
  static constexpr unsigned first_class = 11;
  static constexpr unsigned classes = 11;
  [[nodiscard]] static std::size_t class_bytes(unsigned i) noexcept {
    return std::size_t{1} << (first_class + i);
  }

  std::array<Parts, classes> of_class_{};  // first = 0: one part
  std::size_t min_pipelined_ = 0;          // shorter ones go in one part in any case
};

}  // namespace tessera::rma::server
