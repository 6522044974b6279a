// SPDX-License-Identifier: BSD-3-Clause
//
// Diis: direct inversion in the iterative subspace (Pulay, Chem. Phys. Lett. 73, 393 (1980); for
// coupled cluster Scuseria, Lee and Schaefer, ibid. 130, 236 (1986)).
//
// It keeps the amplitudes of the last iterations and the steps that led to them. It returns the
// combination of amplitudes, with coefficients that add up to one, that has the shortest step.
//
// Memory: two arrays of doubles amplitudes for each kept iteration.
#pragma once

#include <cstddef>
#include <vector>

#include "apps/ccsd/equations.hpp"

namespace tessera::apps::ccsd {

class Diis {
 public:
  /// Collective. Keeps `depth` iterations.
  static rma::Result<Diis> create(const rma::Job& job, const OrbitalSpace& space,
                                  std::size_t depth);

  /// Collective. Adds amplitudes to which `step` has led, and replaces them by the combination.
  rma::Status extrapolate(Amplitudes& amplitudes, Amplitudes& step);

 private:
  struct Entry {
    Amplitudes amplitudes;
    Amplitudes step;
  };
  explicit Diis(std::vector<Entry> entries) : entries_(std::move(entries)) {}
  /// Fills one row and column of products_.
  rma::Status multiply_with(std::size_t index);
  [[nodiscard]] std::vector<double> coefficients() const;
  [[nodiscard]] double& product(std::size_t a, std::size_t b) {
    return products_[a * entries_.size() + b];
  }

  std::vector<Entry> entries_;
  std::vector<double> products_;  // of steps with each other
  std::size_t used_ = 0;          // entries in use
  std::size_t next_ = 0;          // the oldest, overwritten next
};

/// Collective. Σ t_i^a s_i^a + Σ t_ij^ab s_ij^ab.
rma::Result<double> inner_product(Amplitudes& t, Amplitudes& s);

/// Collective. t += s.
rma::Status add_step(Amplitudes& t, Amplitudes& s);

}  // namespace tessera::apps::ccsd
