// SPDX-License-Identifier: BSD-3-Clause
//
// Preparation, the energy, and the order of one evaluation.
#include "apps/ccsd/equations.hpp"

#include <algorithm>
#include <utility>

#include "apps/ccsd/layouts.hpp"

namespace tessera::apps::ccsd {

using rma::Result;
using rma::Status;

namespace {

std::vector<double> diagonal(const std::vector<double>& values) {
  std::vector<double> matrix(values.size() * values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    matrix[i * values.size() + i] = values[i];
  }
  return matrix;
}

}  // namespace

Model Model::create(const OrbitalSpace& space, const std::vector<double>& orbital_energies) {
  const auto first = orbital_energies.begin() + space.frozen;
  const auto middle = orbital_energies.begin() + space.doubly_occupied();
  Model model{space, {first, middle}, {middle, orbital_energies.end()}, {}};
  model.fock.oo = diagonal(model.occupied_energies);
  model.fock.vv = diagonal(model.virtual_energies);
  model.fock.ov.resize(model.occupied_energies.size() * model.virtual_energies.size());
  return model;
}

Model Model::of_fock(const OrbitalSpace& space, const std::vector<double>& fock) {
  const auto element = [&](std::int64_t p, std::int64_t q) {
    return fock[static_cast<std::size_t>(pair_index(std::max(p, q), std::min(p, q)))];
  };
  std::vector<double> energies;
  for (std::int64_t p = 0; p < space.orbitals(); ++p) {
    energies.push_back(element(p, p));
  }
  Model model = create(space, energies);
  const auto fill = [&](std::vector<double>& block, std::int64_t p_first, std::int64_t p_last,
                        std::int64_t q_first, std::int64_t q_last) {
    auto next = block.begin();
    for (std::int64_t p = p_first; p < p_last; ++p) {
      for (std::int64_t q = q_first; q < q_last; ++q) {
        *next++ = element(p, q);
      }
    }
  };
  const std::int64_t middle = space.doubly_occupied();
  fill(model.fock.oo, space.frozen, middle, space.frozen, middle);
  fill(model.fock.ov, space.frozen, middle, middle, space.orbitals());
  fill(model.fock.vv, middle, space.orbitals(), middle, space.orbitals());
  return model;
}

Result<Amplitudes> Amplitudes::create(const rma::Job& job, const OrbitalSpace& space,
                                      const std::string& name) {
  const std::int64_t ov = space.occupied * space.virtuals;
  TESSERA_ASSIGN_OR_RETURN(auto t2, create_row_matrix(job, name, ov, ov));
  return Amplitudes{std::vector<double>(static_cast<std::size_t>(ov)), std::move(t2)};
}

Result<CcsdEquations> CcsdEquations::create(const Model& model, Integrals& integrals,
                                            Workspace& workspace, ContractionEngine& engine) {
  CcsdEquations equations(model, integrals, workspace, engine);
  TESSERA_RETURN_IF_ERROR(equations.prepare_constants());
  return equations;
}

Status CcsdEquations::prepare_constants() {
  const OrbitalSpace& space = model_.space;
  TESSERA_RETURN_IF_ERROR(to_ring(integrals_.oovv, work_.v, space));
  TESSERA_RETURN_IF_ERROR(swap_occupied(work_.v, work_.v_swapped, space));
  TESSERA_ASSIGN_OR_RETURN(const OwnRows l, OwnRows::of(work_.l));
  TESSERA_ASSIGN_OR_RETURN(const OwnRows v, OwnRows::of(work_.v));
  TESSERA_ASSIGN_OR_RETURN(const OwnRows v_swapped, OwnRows::of(work_.v_swapped));
  std::transform(v.all().begin(), v.all().end(), v_swapped.all().begin(), l.all().begin(),
                 [](double direct, double swapped) { return 2.0 * direct - swapped; });
  return work_.l.sync();
}

Status CcsdEquations::guess(Amplitudes& amplitudes) {
  std::fill(amplitudes.t1.begin(), amplitudes.t1.end(), 0.0);
  TESSERA_ASSIGN_OR_RETURN(const OwnRows t2, OwnRows::of(amplitudes.t2));
  TESSERA_ASSIGN_OR_RETURN(const OwnRows v, OwnRows::of(work_.v));
  std::copy(v.all().begin(), v.all().end(), t2.all().begin());
  divide_by_energies(model_, t2);
  return amplitudes.t2.sync();
}

Result<double> CcsdEquations::energy(Amplitudes& amplitudes) {
  TESSERA_ASSIGN_OR_RETURN(const OwnRows t2, OwnRows::of(amplitudes.t2));
  TESSERA_ASSIGN_OR_RETURN(const OwnRows l, OwnRows::of(work_.l));
  double energy = 0.0;
  for (std::int64_t ia = t2.first(); ia < t2.last(); ++ia) {
    const double* const l_row = l.row(ia);
    const double* const t_row = t2.row(ia);
    const double t_ia = amplitudes.t1[static_cast<std::size_t>(ia)];
    double row = 2.0 * model_.fock.ov[static_cast<std::size_t>(ia)] * t_ia;
    for (std::int64_t jb = 0; jb < t2.columns(); ++jb) {
      row += l_row[jb] * (t_row[jb] + t_ia * amplitudes.t1[static_cast<std::size_t>(jb)]);
    }
    energy += row;  // adding all numbers one after the other would lose digits
  }
  return team().allreduce(energy, rma::Reduction::sum);
}

Status CcsdEquations::step(Amplitudes& amplitudes, Amplitudes& step) {
  const std::vector<double>& t1 = amplitudes.t1;
  TESSERA_RETURN_IF_ERROR(form_amplitudes(amplitudes).context("forming 'tau' and 'u' of 't2'"));
  TESSERA_RETURN_IF_ERROR(dress_ooov(t1).context("dressing 'ooov'"));
  auto one_body = form_one_body(t1);
  if (!one_body.ok()) {
    return std::move(one_body).status().context("the dressed Fock matrix of 'ovvv' and 'oovv'");
  }
  auto r1 = singles(t1, *one_body);
  if (!r1.ok()) {
    return std::move(r1).status().context("the singles of 'ovvv' and 'tau'");
  }
  step.t1 = std::move(r1).take();

  TESSERA_RETURN_IF_ERROR(form_ring_dressing(t1).context("dressing 'ovvv'"));
  TESSERA_RETURN_IF_ERROR(begin_rings(t1).context("beginning 'm' and 'n'"));
  TESSERA_RETURN_IF_ERROR(begin_h().context("beginning 'h'"));
  TESSERA_RETURN_IF_ERROR(begin_z().context("beginning 'z'"));
  TESSERA_RETURN_IF_ERROR(contract_amplitudes());
  TESSERA_RETURN_IF_ERROR(contract_intermediates());
  TESSERA_RETURN_IF_ERROR(finish_x_pair(t1).context("adding 'ladder' and 'z' to 'x_pair'"));
  TESSERA_RETURN_IF_ERROR(finish_x(amplitudes, *one_body).context("adding to 'x'"));
  return finish_doubles(step).context("the doubles of 'x'");
}

void divide_by_energies(const Model& model, const OwnRows& rows) {
  const auto v = static_cast<std::int64_t>(model.virtual_energies.size());
  for (std::int64_t ia = rows.first(); ia < rows.last(); ++ia) {
    const double of_row = model.occupied_energies[static_cast<std::size_t>(ia / v)] -
                          model.virtual_energies[static_cast<std::size_t>(ia % v)];
    double* value = rows.row(ia);
    for (const double occupied : model.occupied_energies) {
      for (const double virtuals : model.virtual_energies) {
        *value++ /= of_row + occupied - virtuals;
      }
    }
  }
}

void closed_shell_row(const double* tau, const double* t_k, const double* t_l, std::int64_t v,
                      double* u) {
  for (std::int64_t c = 0; c < v; ++c) {
    for (std::int64_t d = 0; d < v; ++d) {
      u[c * v + d] = 2.0 * (tau[c * v + d] - t_k[c] * t_l[d]) - (tau[d * v + c] - t_k[d] * t_l[c]);
    }
  }
}

}  // namespace tessera::apps::ccsd
