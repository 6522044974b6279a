// SPDX-License-Identifier: BSD-3-Clause
//
// The doubles: two-electron intermediates, and the residual.
#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "apps/ccsd/equations.hpp"
#include "apps/ccsd/layouts.hpp"
#include "apps/ccsd/local_product.hpp"

namespace tessera::apps::ccsd {
namespace {

using arrays::Box;
using arrays::LocalView;
using arrays::Section;
using arrays::Strides;
using rma::Status;

/// to += alpha from, element by element.
void add(std::span<double> to, double alpha, std::span<const double> from) {
  for (std::size_t i = 0; i < to.size(); ++i) {
    to[i] += alpha * from[i];
  }
}

std::vector<double> scratch_of(std::int64_t rows, std::int64_t columns) {
  return std::vector<double>(static_cast<std::size_t>(rows * columns));
}

/// Local. Fills this rank's rows with zeros.
Status clear(RowMatrix& matrix) {
  TESSERA_ASSIGN_OR_RETURN(const OwnRows rows, OwnRows::of(matrix));
  std::fill(rows.all().begin(), rows.all().end(), 0.0);
  return {};
}

/// Local. The part of x_ij^ab in a row of the ladder, for i ≥ j: half the sum of both parts for a ≥
/// b, half the difference for a < b. Adds `alpha` times that, or the same for x_ji^ab.
void add_unfolded(double* to, double alpha, const double* folded, std::int64_t v,
                  bool is_transposed) {
  const double* const sums = folded;
  const double* const differences = folded + pair_count(v);
  const double sign = is_transposed ? -1.0 : 1.0;
  for (std::int64_t a = 0; a < v; ++a) {
    to[a * v + a] += 0.5 * alpha * sums[pair_index(a, a)];
    for (std::int64_t b = 0; b < a; ++b) {
      const double sum = 0.5 * alpha * sums[pair_index(a, b)];
      const double difference = 0.5 * alpha * sign * differences[pair_index(a, b)];
      to[a * v + b] += sum + difference;
      to[b * v + a] += sum - difference;
    }
  }
}

}  // namespace

// t_swapped_ij^ab = t_ji^ab, u = 2 t − t_swapped, and τ in pair layout, plain and folded.
Status CcsdEquations::form_amplitudes(Amplitudes& amplitudes) {
  const std::vector<double>& t1 = amplitudes.t1;
  TESSERA_RETURN_IF_ERROR(swap_occupied(amplitudes.t2, work_.t_swapped, model_.space));
  TESSERA_RETURN_IF_ERROR(to_pair(amplitudes.t2, work_.tau, model_.space));
  TESSERA_ASSIGN_OR_RETURN(const OwnRows t, OwnRows::of(amplitudes.t2));
  TESSERA_ASSIGN_OR_RETURN(const OwnRows swapped, OwnRows::of(work_.t_swapped));
  TESSERA_ASSIGN_OR_RETURN(const OwnRows u, OwnRows::of(work_.u));
  std::transform(t.all().begin(), t.all().end(), swapped.all().begin(), u.all().begin(),
                 [](double direct, double exchanged) { return 2.0 * direct - exchanged; });
  TESSERA_ASSIGN_OR_RETURN(const OwnRows tau, OwnRows::of(work_.tau));
  for (std::int64_t ij = tau.first(); ij < tau.last(); ++ij) {
    TESSERA_RETURN_IF_ERROR(add_product(matrix(tau.row(ij), v(), v()), 1.0,
                                        matrix(t1.data() + ij / o() * v(), v(), 1),
                                        matrix(t1.data() + ij % o() * v(), 1, v())));
  }
  TESSERA_RETURN_IF_ERROR(work_.tau.sync());
  return work_.tau_folded.sync(fold_tau());
}

Status CcsdEquations::fold_tau() {
  TESSERA_ASSIGN_OR_RETURN(const OwnRows folded, OwnRows::of(work_.tau_folded));
  std::vector<double> scratch = scratch_of(v(), v());
  for (std::int64_t pair = folded.first(); pair < folded.last(); ++pair) {
    const auto [i, j] = pair_at(pair);
    const std::int64_t ij = i * o() + j;
    TESSERA_RETURN_IF_ERROR(
        work_.tau.get(Box({ij, 0}, {ij + 1, v() * v()}),
                      std::span<double>(folded.row(pair), static_cast<std::size_t>(v() * v()))));
    // Each sum c ≥ d counts for both orders, the diagonal for itself.
    fold_row(folded.row(pair), v(), 1.0, scratch.data());
  }
  return {};
}

// vo_dressing[jb,ki] = Σ_c (jb|kc) t_i^c;  ⟨kl|ic⟩~ = ⟨kl|ic⟩ + vo_dressing[lc,ki];
// vv_dressing[kb,ij] = Σ_d ⟨kb|id⟩ t_j^d;  h_half[kl,ij] = Σ_d ⟨kl|id⟩ t_j^d
Status CcsdEquations::dress_ooov(const std::vector<double>& t1) {
  const auto times_t1 = [&](RowMatrix& out, RowMatrix& in) -> Status {
    TESSERA_ASSIGN_OR_RETURN(const OwnRows to, OwnRows::of(out));
    TESSERA_ASSIGN_OR_RETURN(const OwnRows from, OwnRows::of(in));
    std::fill(to.all().begin(), to.all().end(), 0.0);
    for (std::int64_t row = to.first(); row < to.last(); ++row) {
      TESSERA_RETURN_IF_ERROR(add_product(matrix(to.row(row), o(), o()), 1.0,
                                          matrix(from.row(row), o(), v()),
                                          matrix(t1.data(), o(), v()).transposed()));
    }
    return {};
  };
  TESSERA_RETURN_IF_ERROR(work_.vo_dressing.sync(times_t1(work_.vo_dressing, work_.v)));
  TESSERA_RETURN_IF_ERROR(work_.vv_dressing.sync(times_t1(work_.vv_dressing, integrals_.ovov)));
  TESSERA_RETURN_IF_ERROR(work_.h_half.sync(times_t1(work_.h_half, integrals_.ooov)));
  const auto add_dressing = [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(const OwnRows to, OwnRows::of(work_.ooov_dressed));
    TESSERA_ASSIGN_OR_RETURN(const OwnRows bare, OwnRows::of(integrals_.ooov));
    for (std::int64_t kl = to.first(); kl < to.last(); ++kl) {
      const std::int64_t k = kl / o();
      const std::int64_t l = kl % o();
      // There as [c,i], here as [i,c].
      TESSERA_RETURN_IF_ERROR(
          work_.vo_dressing.get(Box({l * v(), k * o()}, {(l + 1) * v(), (k + 1) * o()}),
                                LocalView<double>(to.row(kl), {v(), o()}, Strides{1, v()})));
    }
    add(to.all(), 1.0, bare.all());
    return {};
  };
  return work_.ooov_dressed.sync(add_dressing());
}

// Σ_d (kc|ad) t_i^d and Σ_d (kd|ac) t_i^d, computed as [ka,ic] from rows of ⟨ka|cd⟩, into x and m
// as [ia,kc].
Status CcsdEquations::form_ring_dressing(const std::vector<double>& t1) {
  const auto form = [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(const OwnRows ovvv, OwnRows::of(integrals_.ovvv));
    TESSERA_ASSIGN_OR_RETURN(const OwnRows direct, OwnRows::of(work_.scratch_a));
    TESSERA_ASSIGN_OR_RETURN(const OwnRows exchange, OwnRows::of(work_.scratch_b));
    std::fill(direct.all().begin(), direct.all().end(), 0.0);
    std::fill(exchange.all().begin(), exchange.all().end(), 0.0);
    const ConstMatrix t = matrix(t1.data(), o(), v());
    for (std::int64_t ka = ovvv.first(); ka < ovvv.last(); ++ka) {
      const Matrix integrals = matrix(ovvv.row(ka), v(), v());
      TESSERA_RETURN_IF_ERROR(
          add_product(matrix(direct.row(ka), o(), v()), 1.0, t, integrals.transposed()));
      TESSERA_RETURN_IF_ERROR(add_product(matrix(exchange.row(ka), o(), v()), 1.0, t, integrals));
    }
    return {};
  };
  TESSERA_RETURN_IF_ERROR(work_.scratch_a.sync(form()));
  TESSERA_RETURN_IF_ERROR(swap_occupied(work_.scratch_a, work_.x, model_.space));
  return swap_occupied(work_.scratch_b, work_.m, model_.space);
}

// M begins with (ki~|a~c) = ⟨ia|kc⟩ + m − Σ_l t_l^a ⟨kl|ic⟩~, and
// N with L(a~i~|kc) = 2 (a~i~|kc) − (ki~|a~c), (a~i~|kc) = (ia|kc) + x − Σ_l t_l^a ⟨lk|ic⟩~.
Status CcsdEquations::begin_rings(const std::vector<double>& t1) {
  const std::int64_t oo = o() * o();
  const auto begin = [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(const OwnRows m, OwnRows::of(work_.m));
    TESSERA_ASSIGN_OR_RETURN(const OwnRows n, OwnRows::of(work_.n));
    TESSERA_ASSIGN_OR_RETURN(const OwnRows x, OwnRows::of(work_.x));
    TESSERA_ASSIGN_OR_RETURN(const OwnRows bare, OwnRows::of(work_.v));
    TESSERA_ASSIGN_OR_RETURN(const OwnRows ovov, OwnRows::of(integrals_.ovov));
    std::vector<double> block = scratch_of(oo, v());  // ⟨kl|ic⟩~ at klc
    const auto dress_run = [&](const RowRun& run) -> Status {
      const std::int64_t i = run.x;
      TESSERA_RETURN_IF_ERROR(
          work_.ooov_dressed.get(Box({0, i * v()}, {oo, (i + 1) * v()}), std::span<double>(block)));
      const std::int64_t first = i * v() + run.y_first;
      const ConstMatrix t_a{t1.data() + run.y_first, o(), run.size(), v(), 1};
      for (std::int64_t k = 0; k < o(); ++k) {
        const ConstMatrix of_k{block.data() + k * o() * v(), o(), v(), v(), 1};
        const Matrix m_k{m.row(first) + k * v(), run.size(), v(), o() * v(), 1};
        TESSERA_RETURN_IF_ERROR(add_product(m_k, -1.0, t_a.transposed(), of_k));
      }
      // n temporarily holds (a~i~|kc).
      for (std::int64_t row = first; row < first + run.size(); ++row) {
        std::transform(bare.row(row), bare.row(row) + o() * v(), x.row(row), n.row(row),
                       [](double integral, double dressing) { return integral + dressing; });
      }
      return add_product(matrix(n.row(first), run.size(), o() * v()), -1.0, t_a.transposed(),
                         matrix(block.data(), o(), o() * v()));
    };
    TESSERA_RETURN_IF_ERROR(for_each_run(m, v(), dress_run));
    add(m.all(), 1.0, ovov.all());
    std::transform(n.all().begin(), n.all().end(), m.all().begin(), n.all().begin(),
                   [](double direct, double exchange) { return 2.0 * direct - exchange; });
    return {};
  };
  TESSERA_RETURN_IF_ERROR(work_.m.sync(begin()));
  return work_.n.sync();
}

// H begins with (ki~|lj~) without its quadratic part, ⟨kl|ij⟩ + h_half[kl,ij] + h_half[lk,ji].
Status CcsdEquations::begin_h() {
  const auto begin = [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(const OwnRows h, OwnRows::of(work_.h));
    TESSERA_ASSIGN_OR_RETURN(const OwnRows half, OwnRows::of(work_.h_half));
    TESSERA_ASSIGN_OR_RETURN(const OwnRows bare, OwnRows::of(integrals_.oooo));
    for (std::int64_t kl = h.first(); kl < h.last(); ++kl) {
      const std::int64_t lk = kl % o() * o() + kl / o();
      TESSERA_RETURN_IF_ERROR(work_.h_half.get(Box({lk, 0}, {lk + 1, o() * o()}),
                                               LocalView<double>(h.row(kl), {1, o() * o()})));
      for (std::int64_t i = 0; i < o(); ++i) {
        for (std::int64_t j = 0; j < i; ++j) {
          std::swap(h.row(kl)[i * o() + j], h.row(kl)[j * o() + i]);
        }
      }
    }
    add(h.all(), 1.0, half.all());
    add(h.all(), 1.0, bare.all());
    return {};
  };
  return work_.h.sync(begin());
}

// Z begins with ⟨kj|ib⟩~ + Σ_d ⟨kb|id⟩ t_j^d.
Status CcsdEquations::begin_z() {
  const auto begin = [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(const OwnRows z, OwnRows::of(work_.z));
    std::vector<double> column = scratch_of(o(), v());
    for (std::int64_t ij = z.first(); ij < z.last(); ++ij) {
      const std::int64_t i = ij / o();
      const std::int64_t j = ij % o();
      const Section rows(Box({j, i * v()}, {(o() - 1) * o() + j + 1, (i + 1) * v()}), {o(), 1});
      TESSERA_RETURN_IF_ERROR(
          work_.ooov_dressed.get(rows, LocalView<double>(z.row(ij), {o(), v()})));
      TESSERA_RETURN_IF_ERROR(
          work_.vv_dressing.get(Box({0, ij}, {o() * v(), ij + 1}), std::span<double>(column)));
      add({z.row(ij), column.size()}, 1.0, column);
    }
    return {};
  };
  return work_.z.sync(begin());
}

// All products of amplitudes and integrals:
//   ladder_ij^ab = Σ_cd τ_ij^cd ⟨ab|cd⟩ (folded),    Z_ij^kb += Σ_cd τ_ij^cd ⟨kb|cd⟩
//   N_ik^ac += ½ Σ u_il^ad L(ld|kc),    M_ik^ac −= ½ Σ t_li^ad (kd|lc)
//   H_kl^ij += Σ_cd ⟨kl|cd⟩ τ_ij^cd
Status CcsdEquations::contract_amplitudes() {
  TESSERA_RETURN_IF_ERROR(work_.ladder.sync(clear(work_.ladder)));
  const std::int64_t sums = pair_count(v());
  const auto sums_of = [&](RowMatrix& folded) { return Factor::columns(folded, 0, sums); };
  const auto differences_of = [&](RowMatrix& folded) {
    return Factor::columns(folded, sums, folded.extents()[1]);
  };
  const std::array<Product, 6> products{{
      {sums_of(work_.ladder), 1.0, sums_of(work_.tau_folded),
       sums_of(integrals_.vvvv).transposed()},
      {Factor::of(work_.z), 1.0, Factor::of(work_.tau), Factor::of(integrals_.ovvv).transposed()},
      {Factor::of(work_.n), 0.5, Factor::of(work_.u), Factor::of(work_.l)},
      {Factor::of(work_.m), -0.5, Factor::of(work_.t_swapped), Factor::of(work_.v_swapped)},
      {differences_of(work_.ladder), 1.0, differences_of(work_.tau_folded),
       differences_of(integrals_.vvvv).transposed()},
      {Factor::of(work_.h), 1.0, Factor::of(integrals_.oovv), Factor::of(work_.tau).transposed()},
  }};
  return engine_.run(products);
}

// All products of intermediates:
//   scratch_a = S_ij^ab = Σ M_ik^ac t_jk^cb,    X_ij^ab += ½ Σ N_ik^ac u_kj^cb
//   x_pair_ij^ab = ½ Σ_kl H_kl^ij τ_kl^ab
Status CcsdEquations::contract_intermediates() {
  TESSERA_RETURN_IF_ERROR(work_.scratch_a.sync(clear(work_.scratch_a)));
  TESSERA_RETURN_IF_ERROR(work_.x_pair.sync(clear(work_.x_pair)));
  const std::array<Product, 3> products{{
      {Factor::of(work_.scratch_a), 1.0, Factor::of(work_.m), Factor::of(work_.t_swapped)},
      {Factor::of(work_.x), 0.5, Factor::of(work_.n), Factor::of(work_.u)},
      {Factor::of(work_.x_pair), 0.5, Factor::of(work_.h).transposed(), Factor::of(work_.tau)},
  }};
  return engine_.run(products);
}

// x_pair_ij^ab += ½ ladder_ij^ab − Σ_k t_k^a Z_ij^kb
Status CcsdEquations::finish_x_pair(const std::vector<double>& t1) {
  const auto finish = [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(const OwnRows x, OwnRows::of(work_.x_pair));
    TESSERA_ASSIGN_OR_RETURN(const OwnRows z, OwnRows::of(work_.z));
    const std::int64_t columns = work_.ladder.extents()[1];
    std::vector<double> folded = scratch_of(columns, 1);
    for (std::int64_t ij = x.first(); ij < x.last(); ++ij) {
      const std::int64_t i = ij / o();
      const std::int64_t j = ij % o();
      const std::int64_t pair = pair_index(std::max(i, j), std::min(i, j));
      TESSERA_RETURN_IF_ERROR(
          work_.ladder.get(Box({pair, 0}, {pair + 1, columns}), std::span<double>(folded)));
      add_unfolded(x.row(ij), 0.5, folded.data(), v(), i < j);
      TESSERA_RETURN_IF_ERROR(add_product(matrix(x.row(ij), v(), v()), -1.0,
                                          matrix(t1.data(), o(), v()).transposed(),
                                          matrix(z.row(ij), o(), v())));
    }
    return {};
  };
  return work_.x_pair.sync(finish());
}

// X −= ½ S_ij^ab + S_ji^ab;  X += Σ_c t_ij^ac F_bc − Σ_k t_ik^ab F_kj;  X += x_pair
Status CcsdEquations::finish_x(Amplitudes& amplitudes, const OneBody& one_body) {
  std::vector<double> f_vv = one_body.f_vv;
  add(f_vv, -1.0, one_body.x_vv);
  std::vector<double> f_oo = one_body.f_oo;
  add(f_oo, 1.0, one_body.x_oo);
  TESSERA_RETURN_IF_ERROR(swap_occupied(work_.scratch_a, work_.scratch_b, model_.space));
  const auto finish = [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(const OwnRows x, OwnRows::of(work_.x));
    TESSERA_ASSIGN_OR_RETURN(const OwnRows s, OwnRows::of(work_.scratch_a));
    TESSERA_ASSIGN_OR_RETURN(const OwnRows s_swapped, OwnRows::of(work_.scratch_b));
    TESSERA_ASSIGN_OR_RETURN(const OwnRows t2, OwnRows::of(amplitudes.t2));
    add(x.all(), -0.5, s.all());
    add(x.all(), -1.0, s_swapped.all());
    for (std::int64_t ia = x.first(); ia < x.last(); ++ia) {
      const Matrix x_row = matrix(x.row(ia), o(), v());
      const Matrix t_row = matrix(t2.row(ia), o(), v());
      TESSERA_RETURN_IF_ERROR(
          add_product(x_row, 1.0, t_row, matrix(f_vv.data(), v(), v()).transposed()));
      TESSERA_RETURN_IF_ERROR(
          add_product(x_row, -1.0, matrix(f_oo.data(), o(), o()).transposed(), t_row));
    }
    return {};
  };
  TESSERA_RETURN_IF_ERROR(work_.scratch_a.sync(finish()));
  TESSERA_RETURN_IF_ERROR(to_ring(work_.x_pair, work_.scratch_a, model_.space));
  const auto add_pairs = [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(const OwnRows x, OwnRows::of(work_.x));
    TESSERA_ASSIGN_OR_RETURN(const OwnRows pairs, OwnRows::of(work_.scratch_a));
    add(x.all(), 1.0, pairs.all());
    return {};
  };
  return work_.x.sync(add_pairs());
}

// R_ij^ab = (ia|jb) + X_ij^ab + X_ji^ba, divided by the energies.
Status CcsdEquations::finish_doubles(Amplitudes& step) {
  TESSERA_RETURN_IF_ERROR(transpose(work_.x, work_.scratch_a));
  const auto finish = [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(const OwnRows to, OwnRows::of(step.t2));
    TESSERA_ASSIGN_OR_RETURN(const OwnRows x, OwnRows::of(work_.x));
    TESSERA_ASSIGN_OR_RETURN(const OwnRows x_transposed, OwnRows::of(work_.scratch_a));
    TESSERA_ASSIGN_OR_RETURN(const OwnRows bare, OwnRows::of(work_.v));
    std::copy(bare.all().begin(), bare.all().end(), to.all().begin());
    add(to.all(), 1.0, x.all());
    add(to.all(), 1.0, x_transposed.all());
    divide_by_energies(model_, to);
    return {};
  };
  return step.t2.sync(finish());
}

}  // namespace tessera::apps::ccsd
