// SPDX-License-Identifier: BSD-3-Clause
//
// The dressed Fock matrix, the one-electron intermediates of the doubles, and the singles.
#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <span>

#include "apps/ccsd/equations.hpp"
#include "apps/ccsd/local_product.hpp"

namespace tessera::apps::ccsd {
namespace {

using arrays::Box;
using rma::Result;
using rma::Status;

std::size_t size_of(std::int64_t rows, std::int64_t columns) {
  return static_cast<std::size_t>(rows * columns);
}

double dot(const double* a, const double* b, std::int64_t n) {
  double sum = 0.0;
  for (std::int64_t i = 0; i < n; ++i) {
    sum += a[i] * b[i];
  }
  return sum;
}

void add(std::vector<double>& to, const std::vector<double>& from) {
  std::transform(to.begin(), to.end(), from.begin(), to.begin(), std::plus<>());
}

/// Collective. Adds up the contributions of all ranks.
Status sum_over_ranks(rma::Team& team, std::span<std::vector<double>* const> parts) {
  std::vector<double> all;
  for (const auto* part : parts) {
    all.insert(all.end(), part->begin(), part->end());
  }
  TESSERA_RETURN_IF_ERROR(team.allreduce<double>(all, rma::Reduction::sum));
  auto from = all.cbegin();
  for (auto* part : parts) {
    std::copy_n(from, part->size(), part->begin());
    from += static_cast<std::ptrdiff_t>(part->size());
  }
  return {};
}

/// F̃ from the Fock matrix that is dressed only by its density.
Status dress(const std::vector<double>& t1, std::int64_t o, std::int64_t v, OneBody& f) {
  const ConstMatrix t = matrix(t1.data(), o, v);
  const ConstMatrix f_ov = matrix(f.f_ov.data(), o, v);
  // F̃_ac = F_ac − Σ_k t_k^a F_kc
  TESSERA_RETURN_IF_ERROR(add_product(matrix(f.f_vv.data(), v, v), -1.0, t.transposed(), f_ov));
  // F̃_ai = F_ai + Σ_c F̃_ac t_i^c − Σ_k t_k^a F_ki, with F_ki not yet dressed
  const Matrix f_vo = matrix(f.f_vo.data(), o, v);
  TESSERA_RETURN_IF_ERROR(add_product(f_vo, 1.0, t, matrix(f.f_vv.data(), v, v).transposed()));
  TESSERA_RETURN_IF_ERROR(add_product(f_vo, -1.0, matrix(f.f_oo.data(), o, o).transposed(), t));
  // F̃_ki = F_ki + Σ_c F_kc t_i^c
  return add_product(matrix(f.f_oo.data(), o, o), 1.0, f_ov, t.transposed());
}

}  // namespace

// F_pq − f_pq = Σ_kc t_k^c [2 (pq|kc) − (pc|kq)], for this rank's integrals.
Status CcsdEquations::add_fock_sums(const std::vector<double>& t1, OneBody& sums) {
  TESSERA_ASSIGN_OR_RETURN(const OwnRows v_rows, OwnRows::of(work_.v));
  TESSERA_ASSIGN_OR_RETURN(const OwnRows l_rows, OwnRows::of(work_.l));
  TESSERA_ASSIGN_OR_RETURN(const OwnRows ovov, OwnRows::of(integrals_.ovov));
  for (std::int64_t ia = v_rows.first(); ia < v_rows.last(); ++ia) {
    const auto index = static_cast<std::size_t>(ia);
    sums.f_ov[index] += dot(l_rows.row(ia), t1.data(), o() * v());
    sums.f_vo[index] +=
        2.0 * dot(v_rows.row(ia), t1.data(), o() * v()) - dot(ovov.row(ia), t1.data(), o() * v());
  }
  TESSERA_ASSIGN_OR_RETURN(const OwnRows ooov, OwnRows::of(integrals_.ooov));
  for (std::int64_t kl = ooov.first(); kl < ooov.last(); ++kl) {
    const std::int64_t k = kl / o();
    const std::int64_t l = kl % o();
    for (std::int64_t j = 0; j < o(); ++j) {
      const double* const integrals = ooov.row(kl) + j * v();  // (kj|lc)
      sums.f_oo[size_of(k, o()) + static_cast<std::size_t>(j)] +=
          2.0 * dot(integrals, t1.data() + l * v(), v());
      sums.f_oo[size_of(l, o()) + static_cast<std::size_t>(j)] -=
          dot(integrals, t1.data() + k * v(), v());
    }
  }
  TESSERA_ASSIGN_OR_RETURN(const OwnRows ovvv, OwnRows::of(integrals_.ovvv));
  for (std::int64_t ka = ovvv.first(); ka < ovvv.last(); ++ka) {
    const std::int64_t a = ka % v();
    const ConstMatrix t_k = matrix(t1.data() + ka / v() * v(), 1, v());
    const ConstMatrix integrals = matrix(ovvv.row(ka), v(), v());  // (kc|ab) at cb
    const Matrix f_a = matrix(sums.f_vv.data() + a * v(), 1, v());
    TESSERA_RETURN_IF_ERROR(add_product(f_a, 2.0, t_k, integrals));
    TESSERA_RETURN_IF_ERROR(add_product(f_a, -1.0, t_k, integrals.transposed()));
  }
  return {};
}

// Σ u_lj^cd (kd|lc) and Σ u_kl^bd (ld|kc), for this rank's pairs.
Status CcsdEquations::add_amplitude_sums(const std::vector<double>& t1, OneBody& sums) {
  TESSERA_ASSIGN_OR_RETURN(const OwnRows tau, OwnRows::of(work_.tau));
  TESSERA_ASSIGN_OR_RETURN(const OwnRows oovv, OwnRows::of(integrals_.oovv));
  const std::int64_t vv = v() * v();
  std::vector<double> u(static_cast<std::size_t>(vv));
  std::vector<double> block(size_of(o(), vv));
  return for_each_run(tau, o(), [&](const RowRun& run) -> Status {
    const std::int64_t l = run.x;
    TESSERA_RETURN_IF_ERROR(
        integrals_.oovv.get(Box({l * o(), 0}, {(l + 1) * o(), vv}), std::span<double>(block)));
    for (std::int64_t j = run.y_first; j < run.y_last; ++j) {
      const std::int64_t lj = l * o() + j;
      closed_shell_row(tau.row(lj), t1.data() + l * v(), t1.data() + j * v(), v(), u.data());
      // x_kj += Σ_cd ⟨lk|cd⟩ u_lj^cd
      const Matrix x_j{sums.x_oo.data() + j, o(), 1, o(), 1};
      TESSERA_RETURN_IF_ERROR(
          add_product(x_j, 1.0, matrix(block.data(), o(), vv), matrix(u.data(), vv, 1)));
      // x_bc += Σ_d u_lj^bd ⟨lj|cd⟩
      const ConstMatrix integrals = matrix(oovv.row(lj), v(), v());
      TESSERA_RETURN_IF_ERROR(add_product(matrix(sums.x_vv.data(), v(), v()), 1.0,
                                          matrix(u.data(), v(), v()), integrals.transposed()));
    }
    return {};
  });
}

Result<OneBody> CcsdEquations::form_one_body(const std::vector<double>& t1) {
  const auto zeros = [](std::int64_t rows, std::int64_t columns) {
    return std::vector<double>(size_of(rows, columns));
  };
  OneBody sums{zeros(o(), o()), zeros(o(), v()), zeros(v(), v()),
               zeros(o(), v()), zeros(o(), o()), zeros(v(), v())};
  Status status = add_fock_sums(t1, sums);
  if (status.ok()) {
    status = add_amplitude_sums(t1, sums);
  }
  TESSERA_RETURN_IF_ERROR(team().agree(status));
  const std::array<std::vector<double>*, 6> parts{&sums.f_oo, &sums.f_ov, &sums.f_vv,
                                                  &sums.f_vo, &sums.x_oo, &sums.x_vv};
  TESSERA_RETURN_IF_ERROR(sum_over_ranks(team(), parts));
  // All of f_pq: orbitals of a self-consistent field calculation are only approximately canonical,
  // and energies are linear in the remainder.
  add(sums.f_oo, model_.fock.oo);
  add(sums.f_ov, model_.fock.ov);
  add(sums.f_vv, model_.fock.vv);
  add(sums.f_vo, model_.fock.ov);
  TESSERA_RETURN_IF_ERROR(dress(t1, o(), v(), sums));
  return sums;
}

// Σ u_ki^cd (kc|ad) for this rank's integrals ⟨ka|cd⟩.
Status CcsdEquations::add_ovvv_singles(const std::vector<double>& t1, std::vector<double>& r1) {
  const std::int64_t vv = v() * v();
  TESSERA_ASSIGN_OR_RETURN(const OwnRows ovvv, OwnRows::of(integrals_.ovvv));
  std::vector<double> tau(size_of(o(), vv));
  std::vector<double> u(size_of(o(), vv));
  return for_each_run(ovvv, v(), [&](const RowRun& run) -> Status {
    const std::int64_t k = run.x;
    TESSERA_RETURN_IF_ERROR(
        work_.tau.get(Box({k * o(), 0}, {(k + 1) * o(), vv}), std::span<double>(tau)));
    for (std::int64_t i = 0; i < o(); ++i) {
      closed_shell_row(tau.data() + i * vv, t1.data() + k * v(), t1.data() + i * v(), v(),
                       u.data() + i * vv);
    }
    const ConstMatrix integrals = matrix(ovvv.row(k * v() + run.y_first), run.size(), vv);
    return add_product({r1.data() + run.y_first, o(), run.size(), v(), 1}, 1.0,
                       matrix(u.data(), o(), vv), integrals.transposed());
  });
}

// −Σ u_kl^ac ⟨kl|ic⟩~ for this rank's pairs, and Σ u_ik^ac F̃_kc for its rows ia.
Status CcsdEquations::add_row_singles(const std::vector<double>& t1, const OneBody& one_body,
                                      std::vector<double>& r1) {
  TESSERA_ASSIGN_OR_RETURN(const OwnRows tau, OwnRows::of(work_.tau));
  TESSERA_ASSIGN_OR_RETURN(const OwnRows ooov, OwnRows::of(work_.ooov_dressed));
  std::vector<double> u(size_of(v(), v()));
  for (std::int64_t kl = tau.first(); kl < tau.last(); ++kl) {
    closed_shell_row(tau.row(kl), t1.data() + kl / o() * v(), t1.data() + kl % o() * v(), v(),
                     u.data());
    TESSERA_RETURN_IF_ERROR(add_product(matrix(r1.data(), o(), v()), -1.0,
                                        matrix(ooov.row(kl), o(), v()),
                                        matrix(u.data(), v(), v()).transposed()));
  }
  TESSERA_ASSIGN_OR_RETURN(const OwnRows u_rows, OwnRows::of(work_.u));
  for (std::int64_t ia = u_rows.first(); ia < u_rows.last(); ++ia) {
    r1[static_cast<std::size_t>(ia)] += dot(u_rows.row(ia), one_body.f_ov.data(), o() * v());
  }
  return {};
}

Result<std::vector<double>> CcsdEquations::singles(const std::vector<double>& t1,
                                                   const OneBody& one_body) {
  std::vector<double> r1(t1.size());
  Status status = add_ovvv_singles(t1, r1);
  if (status.ok()) {
    status = add_row_singles(t1, one_body, r1);
  }
  TESSERA_RETURN_IF_ERROR(team().agree(status));
  TESSERA_RETURN_IF_ERROR(team().allreduce<double>(r1, rma::Reduction::sum));
  // F̃_ai, and the contribution of dressing a in (ad|kc): −Σ_l t_l^a Σ u_ki^cd (kc|ld)
  add(r1, one_body.f_vo);
  TESSERA_RETURN_IF_ERROR(add_product(matrix(r1.data(), o(), v()), -1.0,
                                      matrix(one_body.x_oo.data(), o(), o()).transposed(),
                                      matrix(t1.data(), o(), v())));
  for (std::int64_t ia = 0; ia < o() * v(); ++ia) {
    r1[static_cast<std::size_t>(ia)] /=
        model_.occupied_energies[static_cast<std::size_t>(ia / v())] -
        model_.virtual_energies[static_cast<std::size_t>(ia % v())];
  }
  return r1;
}

}  // namespace tessera::apps::ccsd
