// SPDX-License-Identifier: BSD-3-Clause
//
// TriplesTask: the part of E(T) from three tiles of virtual orbitals; triples.hpp has the formulas.
//
// With p = (i,a), q = (j,b), r = (k,c) one of the six terms of W is one product of matrices,
//
//     W_ijk += L_ab R_c,   L_ab = [ (ia|bd) | t_il^ab ]       i by d and l
//                          R_c  = [ t_kj^cd | −(jl|kc) ]ᵀ     d and l by k j
//
// and the others are the same for the other orders of p, q, r. L and R of all orbitals of the tiles
// are assembled once for each task, and multiplied for each a and c, for all b at once.
//
// A slot is 0, 1 or 2: the tile of a, of b or of c. Orbitals of a tile are counted from its first.
//
// Threads: one. Ownership: buffers are reused from task to task.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "apps/ccsd/equations.hpp"
#include "apps/ccsd/triples_fetch.hpp"

namespace tessera::apps::ccsd {

class TriplesTask {
 public:
  /// Requires: the model outlives the task; ranges have at most `tile` orbitals.
  TriplesTask(const Model& model, const std::vector<double>& t1, std::int64_t tile);
  /// The elements of all buffers of a task, 8 bytes each.
  static std::int64_t elements(const OrbitalSpace& space, std::int64_t tile) noexcept;

  /// Local. Copies the fetched data, which are then no longer needed.
  void assemble(const TriplesFetch& fetched);

  /// Local. The energy of all a ≥ b ≥ c, each in its range. Requires: ranges are the same or in
  /// descending order.
  rma::Result<double> energy();

 private:
  using Triple = std::array<std::int64_t, 3>;
  /// One a, one c and `b_count` consecutive b. `indices` has a, the first b and c, counted from the
  /// first orbitals of their tiles.
  struct Stack {
    Triple indices;
    std::int64_t b_count = 0;
  };

  void assemble_right(const TriplesFetch& fetched, std::size_t slot);
  void assemble_left(const TriplesFetch& fetched, std::size_t x, std::size_t y);
  void assemble_integrals(const TriplesFetch& fetched, std::size_t x, std::size_t y);
  rma::Result<double> energy_between(std::int64_t a, std::int64_t c);
  rma::Status form_w(const Stack& stack);
  void form_v(const Triple& indices, const Triple& abc, const double* w);
  [[nodiscard]] double sum(const Triple& abc, const double* w) const;

  [[nodiscard]] std::int64_t o() const noexcept { return model_.space.occupied; }
  [[nodiscard]] std::int64_t v() const noexcept { return model_.space.virtuals; }
  /// The addresses of L_xy, R_x and the integrals (ix|jy), for orbitals x and y of their tiles.
  [[nodiscard]] double* left(std::size_t slot_x, std::size_t slot_y, std::int64_t x,
                             std::int64_t y);
  [[nodiscard]] double* right(std::size_t slot, std::int64_t x);
  [[nodiscard]] double* integrals_of(std::size_t slot_x, std::size_t slot_y, std::int64_t x,
                                     std::int64_t y);

  const Model& model_;
  const std::vector<double>& t1_;
  std::int64_t tile_;
  TripleRanges ranges_;
  std::vector<double> left_;
  std::vector<double> right_;
  std::vector<double> pair_integrals_;  ///< (ix|jy) at ij
  std::vector<double> w_;               ///< of all b of a stack
  std::vector<double> v_;
  std::vector<double> term_;
};

}  // namespace tessera::apps::ccsd
