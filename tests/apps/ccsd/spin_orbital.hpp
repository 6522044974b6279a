// SPDX-License-Identifier: BSD-3-Clause
//
// SpinOrbitalCcsd: coupled cluster in spin orbitals, dense, serial and as in textbooks; the
// reference calculation for the distributed, spin-adapted program, with which it shares no formula.
//
//     singles and doubles   Stanton, Gauss, Watts and Bartlett, J. Chem. Phys. 94, 4334 (1991),
//                           with any Fock matrix
//     triples               Raghavachari, Trucks, Pople and Head-Gordon, Chem. Phys. Lett. 157,
//                           479, with canonical orbitals
//
// Spin orbital 2 p + s has the spatial orbital p and the spin s. i j m n are occupied, a b e f
// virtual, each counted from 0; ⟨pq||rs⟩ = (pr|qs) − (ps|qr) where spins agree.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <vector>

namespace tessera::apps::ccsd::test {

/// (pq|rs) of spatial orbitals, the occupied ones first.
using SpatialIntegral =
    std::function<double(std::size_t p, std::size_t q, std::size_t r, std::size_t s)>;

/// Four indices, the last one fastest.
class Tensor4 {
 public:
  Tensor4() = default;
  Tensor4(std::size_t a, std::size_t b, std::size_t c, std::size_t d)
      : b_(b), c_(c), d_(d), values_(a * b * c * d) {}
  double& operator()(std::size_t a, std::size_t b, std::size_t c, std::size_t d) {
    return values_[((a * b_ + b) * c_ + c) * d_ + d];
  }
  double operator()(std::size_t a, std::size_t b, std::size_t c, std::size_t d) const {
    return values_[((a * b_ + b) * c_ + c) * d_ + d];
  }

 private:
  std::size_t b_ = 0;
  std::size_t c_ = 0;
  std::size_t d_ = 0;
  std::vector<double> values_;
};

class Matrix2 {
 public:
  Matrix2() = default;
  Matrix2(std::size_t rows, std::size_t columns) : columns_(columns), values_(rows * columns) {}
  double& operator()(std::size_t row, std::size_t column) {
    return values_[row * columns_ + column];
  }
  double operator()(std::size_t row, std::size_t column) const {
    return values_[row * columns_ + column];
  }

 private:
  std::size_t columns_ = 0;
  std::vector<double> values_;
};

/// t_i^a and t_ij^ab of spin orbitals.
struct SpinAmplitudes {
  Matrix2 t1;
  Tensor4 t2;
};

class SpinOrbitalCcsd {
 public:
  /// `fock` is the matrix of n spatial orbitals, n × n, the occupied ones first.
  SpinOrbitalCcsd(std::size_t occupied, std::size_t orbitals, const std::vector<double>& fock,
                  const SpatialIntegral& integral);

  [[nodiscard]] std::size_t occupied() const { return o_; }  ///< spin orbitals
  [[nodiscard]] std::size_t virtuals() const { return v_; }

  /// Those of a closed shell: t1(i, a) and t2(i, j, a, b) of spatial orbitals.
  [[nodiscard]] SpinAmplitudes from_closed_shell(const Matrix2& t1, const Tensor4& t2) const;
  [[nodiscard]] SpinAmplitudes guess() const;
  /// The amplitudes for the next step of Jacobi's iteration.
  [[nodiscard]] SpinAmplitudes next(const SpinAmplitudes& t) const;
  [[nodiscard]] double energy(const SpinAmplitudes& t) const;
  /// Iterates until the energy has converged to 1e-13.
  [[nodiscard]] SpinAmplitudes solve() const;
  [[nodiscard]] double triples(const SpinAmplitudes& t) const;

 private:
  using Three = std::array<std::size_t, 3>;
  struct Intermediates;
  [[nodiscard]] Intermediates intermediates(const SpinAmplitudes& t) const;
  void add_fock(const SpinAmplitudes& t, Intermediates& w) const;
  void add_one_body(const SpinAmplitudes& t, Intermediates& w) const;
  void add_ladders(const SpinAmplitudes& t, Intermediates& w) const;
  void add_rings(const SpinAmplitudes& t, Intermediates& w) const;
  [[nodiscard]] double singles(const SpinAmplitudes& t, const Intermediates& w, std::size_t i,
                               std::size_t a) const;
  [[nodiscard]] double doubles(const SpinAmplitudes& t, const Intermediates& w, std::size_t i,
                               std::size_t j, std::size_t a, std::size_t b) const;
  [[nodiscard]] double connected(const SpinAmplitudes& t, const Three& ijk, const Three& abc) const;
  [[nodiscard]] double disconnected(const SpinAmplitudes& t, const Three& ijk,
                                    const Three& abc) const;
  /// ⟨pq||rs⟩ of spin orbitals.
  [[nodiscard]] double g(std::size_t p, std::size_t q, std::size_t r, std::size_t s) const {
    return g_(p, q, r, s);
  }
  /// The virtual spin orbital a among all.
  [[nodiscard]] std::size_t at(std::size_t a) const { return o_ + a; }

  std::size_t o_;
  std::size_t v_;
  std::vector<double> e_;
  Matrix2 f_;  // without its diagonal, which is e_
  Tensor4 g_;
};

}  // namespace tessera::apps::ccsd::test
