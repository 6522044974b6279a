// SPDX-License-Identifier: BSD-3-Clause
#include "apps/ccsd/reference_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

namespace tessera::apps::ccsd {
namespace {

using rma::Code;
using rma::Result;
using rma::Status;

constexpr double not_given = std::numeric_limits<double>::quiet_NaN();
// The elements between orbitals that a converged self-consistent field calculation leaves. CCSD
// includes them. MP2 and (T) do not: they enter these linearly, times a density between orbitals of
// a few hundredths.
constexpr double canonical_tolerance = 1e-6;

double or_zero(double value) {
  return std::isnan(value) ? 0.0 : value;
}

}  // namespace

std::vector<std::int64_t> order_by_occupation(const OrbitalSpace& space,
                                              const std::vector<double>& energies) {
  const auto is_given = [](double energy) { return std::isfinite(energy); };
  if (space.doubly_occupied() == 0 || space.virtuals == 0 ||
      !std::ranges::all_of(energies, is_given)) {
    return {};
  }
  std::vector<double> sorted = energies;
  std::ranges::sort(sorted);
  const auto count = static_cast<std::size_t>(space.doubly_occupied());
  const double highest = sorted[count - 1];
  const auto is_occupied = [&](double energy) { return energy <= highest; };
  const bool has_gap = sorted[count] > highest + canonical_tolerance;
  if (!has_gap ||
      std::all_of(energies.begin(), energies.begin() + space.doubly_occupied(), is_occupied)) {
    return {};
  }
  std::vector<std::int64_t> occupied;
  for (std::size_t p = 0; p < energies.size(); ++p) {
    if (is_occupied(energies[p])) {
      occupied.push_back(static_cast<std::int64_t>(p));
    }
  }
  return order_by_list(space, occupied);
}

std::vector<std::int64_t> order_by_list(const OrbitalSpace& space,
                                        const std::vector<std::int64_t>& occupied) {
  if (occupied.empty() || occupied.back() + 1 == std::ssize(occupied)) {
    return {};  // they are already the first
  }
  std::vector<std::int64_t> order;
  std::int64_t next_virtual = space.doubly_occupied();
  auto next = occupied.begin();
  for (std::int64_t p = 0; p < space.orbitals(); ++p) {
    const bool is_next = next != occupied.end() && *next == p;
    order.push_back(is_next ? next - occupied.begin() : next_virtual++);
    next += is_next ? 1 : 0;
  }
  return order;
}

std::vector<std::int64_t> order_of_orbitals(const OrbitalSpace& space,
                                            const std::vector<double>& energies) {
  const auto frozen = energies.begin() + space.frozen;
  const auto occupied = energies.begin() + space.doubly_occupied();
  const bool are_in_order = space.frozen == 0 || space.occupied == 0 ||
                            *std::max_element(energies.begin(), frozen) <=
                                *std::min_element(frozen, occupied) + canonical_tolerance;
  if (are_in_order) {
    return {};
  }
  const auto energy = [&](std::int64_t p) { return energies[static_cast<std::size_t>(p)]; };
  std::vector<std::int64_t> orbitals(energies.size());
  std::iota(orbitals.begin(), orbitals.end(), std::int64_t{0});
  const auto first_active = orbitals.begin() + space.frozen;
  std::ranges::stable_sort(orbitals.begin(), orbitals.begin() + space.doubly_occupied(),
                           std::ranges::less(), energy);
  std::sort(first_active, orbitals.begin() + space.doubly_occupied());
  std::vector<std::int64_t> order(orbitals.size());
  for (std::size_t index = 0; index < orbitals.size(); ++index) {
    order[static_cast<std::size_t>(orbitals[index])] = static_cast<std::int64_t>(index);
  }
  return order;
}

FockCollector::FockCollector(const rma::Job& job, const OrbitalSpace& space, Occupation occupation)
    : space_(space),
      order_(std::move(occupation.order)),
      source_(occupation.source),
      core_energy_(not_given) {
  const std::int64_t pairs = pair_count(space.orbitals());
  first_pair_ = pairs * job.rank().value / job.size();
  last_pair_ = pairs * (job.rank().value + 1) / job.size();
  const auto own = static_cast<std::size_t>(last_pair_ - first_pair_);
  one_electron_.assign(own, not_given);
  coulomb_.assign(index(last_pair_, 0), not_given);
  exchange_.assign(index(last_pair_, 0), not_given);
}

Status FockCollector::add_two_electron(const TwoElectron& integral, double value) {
  const TwoElectron reordered{new_number(integral.p), new_number(integral.q),
                              new_number(integral.r), new_number(integral.s)};
  return for_each_permutation(reordered, [&](const TwoElectron& each) -> Status {
    const auto& [p, q, r, s] = each;
    if (r == s && r < space_.doubly_occupied() && p >= q && holds(pair_index(p, q))) {
      TESSERA_RETURN_IF_ERROR(store_once(coulomb_[index(pair_index(p, q), r)], value, integral));
    }
    if (q == s && q < space_.doubly_occupied() && p >= r && holds(pair_index(p, r))) {
      TESSERA_RETURN_IF_ERROR(store_once(exchange_[index(pair_index(p, r), q)], value, integral));
    }
    return {};
  });
}

Status FockCollector::add_one_electron(std::int64_t p, std::int64_t q, double value) {
  const auto [low, high] = std::minmax({new_number(p), new_number(q)});
  const std::int64_t pair = pair_index(high, low);
  if (!holds(pair)) {
    return {};
  }
  return store_once(one_electron_[static_cast<std::size_t>(pair - first_pair_)], value,
                    {p, q, -1, -1});
}

Status FockCollector::add_core_energy(double value) {
  return store_once(core_energy_, value, {-1, -1, -1, -1});
}

Result<ReferenceState> FockCollector::finish(rma::Team& team) {
  const auto pairs = static_cast<std::size_t>(pair_count(space_.orbitals()));
  std::vector<double> sums(pairs + 1);  // the Fock matrix by pairs, and the electrons' energy
  const std::span<double> fock(sums.data(), pairs);
  for (std::int64_t pair = first_pair_; pair < last_pair_; ++pair) {
    const double h = or_zero(one_electron_[static_cast<std::size_t>(pair - first_pair_)]);
    double f = h;
    for (std::int64_t k = 0; k < space_.doubly_occupied(); ++k) {
      f += 2.0 * or_zero(coulomb_[index(pair, k)]) - or_zero(exchange_[index(pair, k)]);
    }
    fock[static_cast<std::size_t>(pair)] = f;
    const auto [p, q] = pair_at(pair);
    if (p == q && p < space_.doubly_occupied()) {
      sums.back() += h + f;
    }
  }
  TESSERA_RETURN_IF_ERROR(team.allreduce<double>(sums, rma::Reduction::sum));
  ReferenceState state{core_energy_ + sums.back(), {}, {}};
  sums.pop_back();
  for (std::int64_t p = 0; p < space_.orbitals(); ++p) {
    state.orbital_energies.push_back(sums[static_cast<std::size_t>(pair_index(p, p))]);
  }
  state.fock = std::move(sums);
  if (!std::isfinite(state.energy) ||
      !std::ranges::all_of(state.fock, [](double f) { return std::isfinite(f); })) {
    return Status::error(Code::invalid_argument,
                         fmt::format("the integrals are too large: the energy of the reference "
                                     "({}) or an element of the Fock matrix exceeds 1.8e+308, the "
                                     "largest double",
                                     state.energy));
  }
  TESSERA_RETURN_IF_ERROR(check_canonical(state.fock));
  TESSERA_RETURN_IF_ERROR(check_order(state.orbital_energies));
  return state;
}

std::int64_t FockCollector::file_number(std::int64_t index) const {
  const auto found = std::ranges::find(order_, index);
  return found == order_.end() ? index + 1 : found - order_.begin() + 1;
}

std::string FockCollector::occupied_ones() const {
  const std::int64_t count = space_.doubly_occupied();
  switch (source_) {
    case Occupation::Source::energies:
      return fmt::format("the {} orbitals with the lowest energies in the file", count);
    case Occupation::Source::header:
      return fmt::format("the {} orbitals in the header's CLOSED or OCC", count);
    default:
      return fmt::format("the first {} orbitals of the file", count);
  }
}

Status FockCollector::check_canonical(const std::vector<double>& fock) const {
  OrbitalPair worst;
  double largest = 0.0;
  for (std::int64_t p = 0; p < space_.orbitals(); ++p) {
    for (std::int64_t q = 0; q < p; ++q) {
      const double f = fock[static_cast<std::size_t>(pair_index(p, q))];
      if (std::abs(f) > std::abs(largest)) {
        largest = f;
        worst = {p, q};
      }
    }
  }
  if (std::abs(largest) <= canonical_tolerance) {
    return {};
  }
  return Status::error(
             Code::invalid_argument,
             fmt::format("the orbitals are not canonical, or {} are not the occupied ones: the "
                         "Fock matrix has {} between {} and {}, its largest element off the "
                         "diagonal; at most {} is accepted",
                         occupied_ones(), largest, file_number(worst.y), file_number(worst.x),
                         canonical_tolerance))
      .hint(
          "write the file from a converged restricted Hartree-Fock calculation, its "
          "occupied orbitals first, or with the energies of all orbitals");
}

Status FockCollector::check_order(const std::vector<double>& energies) const {
  const auto first_virtual = energies.begin() + space_.doubly_occupied();
  if (first_virtual != energies.begin() && first_virtual != energies.end()) {
    const double highest = *std::max_element(energies.begin(), first_virtual);
    const double lowest = *std::min_element(first_virtual, energies.end());
    if (highest >= lowest) {
      return Status::error(
                 Code::invalid_argument,
                 fmt::format(
                     "{} are used as the occupied ones, but their highest energy, {}, is not "
                     "below the lowest energy of the others, {}: the occupied ones are elsewhere, "
                     "or "
                     "are not those of the ground state",
                     occupied_ones(), highest, lowest))
          .hint(
              "write the file with its occupied orbitals first, from a Hartree-Fock calculation "
              "that found the ground state");
    }
  }
  return {};
}

}  // namespace tessera::apps::ccsd
