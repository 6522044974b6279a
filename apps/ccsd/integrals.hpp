// SPDX-License-Identifier: BSD-3-Clause
//
// Integrals: the two-electron integrals that CCSD needs, ⟨xy|zw⟩ = (xz|yw) of real orbitals, as
// distributed matrices with row x y and column z w; one for each kind of indices.
//
//     oooo  ⟨kl|ij⟩     ooov  ⟨kl|ic⟩     oovv  ⟨ij|ab⟩     ovov  ⟨ia|jb⟩ = (ij|ab)
//     ovvv  ⟨kb|cd⟩ = (kc|bd)             vvvv  ⟨ab|cd⟩ = (ac|bd), folded
//
// vvvv has rows for a ≥ b only. A row has the sums and differences that the ladder needs
// (fold_row()): first ⟨ab|cd⟩ + ⟨ab|dc⟩ for c ≥ d, then ⟨ab|cd⟩ − ⟨ab|dc⟩ for c > d. These are as
// many numbers as ⟨ab|cd⟩ has.
//
// IntegralCollector fills them: each rank passes it all integrals, and it keeps those of its own
// rows.
//
// Memory: V⁴/2 + O V³ + 2 O² V² + … elements over all ranks, and nothing else.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "apps/ccsd/orbital_space.hpp"
#include "apps/ccsd/row_matrix.hpp"
#include "rma/job.hpp"

namespace tessera::apps::ccsd {

struct Integrals {
  RowMatrix oooo;
  RowMatrix ooov;
  RowMatrix oovv;
  RowMatrix ovov;
  RowMatrix ovvv;
  RowMatrix vvvv;

  /// Collective. Makes integrals of zero.
  static rma::Result<Integrals> create(const rma::Job& job, const OrbitalSpace& space);
};

/// (pq|rs) of orbitals counted from 0, frozen ones too.
struct TwoElectron {
  std::int64_t p = 0;
  std::int64_t q = 0;
  std::int64_t r = 0;
  std::int64_t s = 0;
};

/// Calls `action` for the eight integrals with the same value; repeats some if orbitals are equal.
template <class Action>
rma::Status for_each_permutation(const TwoElectron& of, Action&& action) {
  for (const auto& [p, q, r, s] : {of, TwoElectron{of.r, of.s, of.p, of.q}}) {
    for (const TwoElectron& each : {TwoElectron{p, q, r, s}, TwoElectron{q, p, r, s},
                                    TwoElectron{p, q, s, r}, TwoElectron{q, p, s, r}}) {
      TESSERA_RETURN_IF_ERROR(action(each));
    }
  }
  return {};
}

/// Stores `value` if `element` has no value yet, which NaN marks. Errors: invalid_argument if it
/// has another value.
rma::Status store_once(double& element, double value, const TwoElectron& integral);

class IntegralCollector {
 public:
  /// Local. Orbital p of added integrals is the order[p]-th of `space`, or the p-th if `order` is
  /// empty. Requires: `integrals` outlives the collector.
  static rma::Result<IntegralCollector> create(Integrals& integrals, const OrbitalSpace& space,
                                               std::vector<std::int64_t> order = {});

  /// Local. Stores an integral in all elements of this rank that it determines. Errors:
  /// invalid_argument if it was added before with another value.
  rma::Status add(const TwoElectron& integral, double value);

  /// Local. Computes all elements of this rank.
  void fill(const std::function<double(const TwoElectron&)>& value_of);

  /// Local. Sets missing integrals to zero, and folds vvvv. The integrals may be used after a
  /// barrier.
  void finish();

 private:
  enum class Kind : std::uint8_t { occupied, virtuals };
  /// One of the matrices, and the kinds of its indices.
  struct Block {
    OwnRows rows;
    std::array<Kind, 4> kinds;
    bool is_packed = false;  ///< rows for x ≥ y only
  };

  IntegralCollector(const OrbitalSpace& space, std::vector<std::int64_t> order)
      : space_(space), order_(std::move(order)) {}
  [[nodiscard]] std::int64_t new_number(std::int64_t orbital) const noexcept {
    return order_.empty() ? orbital : order_[static_cast<std::size_t>(orbital)];
  }
  [[nodiscard]] std::int64_t extent(Kind kind) const noexcept {
    return kind == Kind::occupied ? space_.occupied : space_.virtuals;
  }
  [[nodiscard]] std::int64_t first_orbital(Kind kind) const noexcept {
    return kind == Kind::occupied ? space_.frozen : space_.doubly_occupied();
  }
  [[nodiscard]] double* element_of(const Block& block,
                                   const std::array<std::int64_t, 4>& xyzw) const;

  OrbitalSpace space_;
  std::vector<std::int64_t> order_;
  std::vector<Block> blocks_;
};

/// Local. Replaces a row x_cd of n × n elements by sums x_cd + x_dc for c > d, with `diagonal` x_cc
/// among them, and then differences x_cd − x_dc; `scratch` has n² elements.
void fold_row(double* row, std::int64_t n, double diagonal, double* scratch);

}  // namespace tessera::apps::ccsd
