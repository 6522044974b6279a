// SPDX-License-Identifier: BSD-3-Clause
//
// TriplesFetch: fetches the amplitudes and integrals of a task of the triples while the task before
// it is computed.
//
// Slots 0, 1 and 2 are the tiles of a, b and c. Pieces have the layout of the arrays.
//
// Threads: one. Ownership: one buffer, which every start() reuses.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "apps/ccsd/equations.hpp"
#include "rma/handle.hpp"

namespace tessera::apps::ccsd {

struct VirtualRange {
  std::int64_t first = 0;
  std::int64_t last = 0;
  [[nodiscard]] std::int64_t size() const noexcept { return last - first; }
};
using TripleRanges = std::array<VirtualRange, 3>;

/// The number of an ordered pair of different slots, 0 to 5, and of a pair x < y, 0 to 2.
constexpr std::size_t ordered_pair(std::size_t x, std::size_t y) noexcept {
  return 2 * x + y - (y > x ? 1 : 0);
}
constexpr std::size_t unordered_pair(std::size_t x, std::size_t y) noexcept {
  return x + y - 1;
}

class TriplesFetch {
 public:
  /// Requires: the arguments outlive this object; ranges have at most `tile` orbitals.
  TriplesFetch(const OrbitalSpace& space, Integrals& integrals, Amplitudes& amplitudes,
               std::int64_t tile);
  static std::int64_t elements(const OrbitalSpace& space, std::int64_t tile) noexcept;

  /// One-sided. Starts to fetch. Requires: data fetched before are no longer needed.
  void start(const TripleRanges& ranges);
  /// One-sided. Returns when all data have arrived. Errors: those of gets.
  rma::Status wait() { return fetching_.wait(); }

  [[nodiscard]] const TripleRanges& ranges() const noexcept { return ranges_; }
  /// t_kj^cd of one k, c in the slot's range: [c][j][d].
  [[nodiscard]] const double* amplitudes(std::size_t slot, std::int64_t k) const noexcept {
    return data_.data() + amplitude_offset(slot, k);
  }
  /// (jl|kc) of one l: [j][k][c].
  [[nodiscard]] const double* ooov(std::size_t slot, std::int64_t l) const noexcept {
    return data_.data() + ooov_offset(slot, l);
  }
  /// (ia|bd) of one i, a in the range of x and b in that of y: [b][a][d]. Requires: x ≠ y.
  [[nodiscard]] const double* ovvv(std::size_t x, std::size_t y, std::int64_t i) const noexcept {
    return data_.data() + ovvv_offset(x, y, i);
  }
  /// (ia|jb) of one a, by its index in the range of x: [i][j][b]. Requires: x < y.
  [[nodiscard]] const double* oovv(std::size_t x, std::size_t y, std::int64_t a) const noexcept {
    return data_.data() + oovv_offset(x, y, a);
  }

 private:
  [[nodiscard]] std::size_t amplitude_offset(std::size_t slot, std::int64_t k) const noexcept;
  [[nodiscard]] std::size_t ooov_offset(std::size_t slot, std::int64_t l) const noexcept;
  [[nodiscard]] std::size_t ovvv_offset(std::size_t x, std::size_t y,
                                        std::int64_t i) const noexcept;
  [[nodiscard]] std::size_t oovv_offset(std::size_t x, std::size_t y,
                                        std::int64_t a) const noexcept;
  void fetch(RowMatrix& matrix, const arrays::Box& box, std::size_t offset);

  OrbitalSpace space_;
  Integrals& integrals_;
  Amplitudes& amplitudes_;
  std::int64_t tile_;
  TripleRanges ranges_;
  std::vector<double> data_;
  rma::Handle fetching_;
};

}  // namespace tessera::apps::ccsd
