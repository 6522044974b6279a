// SPDX-License-Identifier: BSD-3-Clause
//
// GlobalArrays: the Global Arrays library, for parts that compare Tessera with it. This header
// includes none of its headers.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/support/rank_group.hpp"

namespace tessera::bench {

/// An array of doubles in Global Arrays' own distribution. Boxes use global indices, row-major, and
/// exclude their ends.
class GlobalArray {
 public:
  struct Box {
    std::vector<std::int64_t> lo;
    std::vector<std::int64_t> hi;
  };

  /// Collective.
  virtual ~GlobalArray() = default;

  /// The block of a rank.
  [[nodiscard]] virtual Box block_of(int rank) const = 0;

  /// Locally complete on return. Requires: room for the box.
  virtual void put(const Box& box, const double* from) = 0;
  virtual void get(const Box& box, double* to) = 0;
  virtual void accumulate(const Box& box, const double* from, double alpha) = 0;

  /// `places` holds the indices of one element after the other, as many elements as values.
  virtual void gather(std::span<const std::int64_t> places, std::span<double> values) = 0;
  virtual void scatter(std::span<const std::int64_t> places, std::span<const double> values) = 0;
  virtual void scatter_accumulate(std::span<const std::int64_t> places,
                                  std::span<const double> values, double alpha) = 0;
};

/// A counter from which ranks draw numbers (NGA_Read_inc).
class GlobalCounter {
 public:
  /// Collective.
  virtual ~GlobalCounter() = default;
  /// Returns the counter's value and adds `count` to it.
  virtual std::int64_t draw(std::int64_t count) = 0;
};

class GlobalArrays {
 public:
  static constexpr std::string_view name = "global arrays";

  /// Collective, like all functions except those of a single array. Null, with the reason in
  /// `missing`, if this build lacks Global Arrays or MPI doesn't run with these ranks. It can't be
  /// started twice in a process.
  static std::unique_ptr<GlobalArrays> start(RankGroup& group, std::string& missing);
  virtual ~GlobalArrays() = default;

  /// All elements are zero.
  [[nodiscard]] virtual std::unique_ptr<GlobalArray> create(
      std::span<const std::int64_t> extents) = 0;
  /// Starts at 0; lives on rank 0.
  [[nodiscard]] virtual std::unique_ptr<GlobalCounter> create_counter() = 0;
  /// Returns after all ranks have called it, and all puts of all ranks have arrived.
  virtual void sync() = 0;
};

}  // namespace tessera::bench
