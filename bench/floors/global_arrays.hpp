// SPDX-License-Identifier: BSD-3-Clause
//
// GlobalArrays: the library of that name, for parts that ask what its users would gain. This
// header includes nothing of it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/support/crew.hpp"

namespace tessera::bench {

/// Doubles in its own distribution. All by global indices, row-major, ends excluded.
class GlobalArray {
 public:
  struct Box {
    std::vector<std::int64_t> lo;
    std::vector<std::int64_t> hi;
  };

  /// Collective.
  virtual ~GlobalArray() = default;

  /// What a rank has.
  [[nodiscard]] virtual Box block_of(int rank) const = 0;

  /// Complete here. Requires: room for the box.
  virtual void put(const Box& box, const double* from) = 0;
  virtual void get(const Box& box, double* to) = 0;
  virtual void accumulate(const Box& box, const double* from, double alpha) = 0;

  /// `places` has the numbers of all places one after the other, as many places as values.
  virtual void gather(std::span<const std::int64_t> places, std::span<double> values) = 0;
  virtual void scatter(std::span<const std::int64_t> places, std::span<const double> values) = 0;
  virtual void scatter_accumulate(std::span<const std::int64_t> places,
                                  std::span<const double> values, double alpha) = 0;
};

/// A number that ranks draw from (NGA_Read_inc).
class GlobalCounter {
 public:
  /// Collective.
  virtual ~GlobalCounter() = default;
  /// Returns the number and adds `count` to it.
  virtual std::int64_t draw(std::int64_t count) = 0;
};

class GlobalArrays {
 public:
  static constexpr std::string_view name = "global arrays";

  /// Collective, as all else but what one array does. Null with the reason in `missing` where it
  /// isn't built in, or MPI doesn't run with these ranks. It can't be started twice in a process.
  static std::unique_ptr<GlobalArrays> start(Crew& crew, std::string& missing);
  virtual ~GlobalArrays() = default;

  /// All zero.
  [[nodiscard]] virtual std::unique_ptr<GlobalArray> create(
      std::span<const std::int64_t> extents) = 0;
  /// At 0, on rank 0.
  [[nodiscard]] virtual std::unique_ptr<GlobalCounter> create_counter() = 0;
  /// All that any rank has put is there, and all ranks have come.
  virtual void sync() = 0;
};

}  // namespace tessera::bench
