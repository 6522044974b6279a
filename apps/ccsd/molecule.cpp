// SPDX-License-Identifier: BSD-3-Clause
#include "apps/ccsd/molecule.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "apps/ccsd/reference_state.hpp"
#include "apps/ccsd/synthetic.hpp"
#include "apps/common/agreement.hpp"
#include "apps/common/same_file.hpp"

namespace tessera::apps::ccsd {
namespace {

using rma::Result;
using rma::Status;
using Kind = FcidumpEntry::Kind;

using OrbitalOrder = std::vector<std::int64_t>;

/// Receivers of a file's numbers; null: not needed.
struct Receivers {
  IntegralCollector& integrals;
  FockCollector* fock = nullptr;
  std::vector<double>* stored_energies = nullptr;
};

/// Local.
Status collect(Fcidump& file, const Receivers& to) {
  return file.for_each([&](const FcidumpEntry& entry) -> Status {
    switch (entry.kind) {
      case Kind::two_electron: {
        const TwoElectron integral{entry.p, entry.q, entry.r, entry.s};
        TESSERA_RETURN_IF_ERROR(to.integrals.add(integral, entry.value));
        return to.fock == nullptr ? Status() : to.fock->add_two_electron(integral, entry.value);
      }
      case Kind::one_electron:
        return to.fock == nullptr ? Status()
                                  : to.fock->add_one_electron(entry.p, entry.q, entry.value);
      case Kind::core_energy:
        return to.fock == nullptr ? Status() : to.fock->add_core_energy(entry.value);
      case Kind::orbital_energy:
        if (to.stored_energies != nullptr) {
          (*to.stored_energies)[static_cast<std::size_t>(entry.p)] = entry.value;
        }
        break;
    }
    return {};
  });
}

/// Collective. Reads a whole file; `order` as in IntegralCollector.
Status keep_integrals(rma::Job& job, Fcidump& file, Integrals& integrals, const OrbitalSpace& space,
                      const OrbitalOrder& order, FockCollector* fock,
                      std::vector<double>* stored_energies = nullptr) {
  TESSERA_ASSIGN_OR_RETURN(auto collector, IntegralCollector::create(integrals, space, order));
  const Status collected = collect(file, {collector, fock, stored_energies});
  TESSERA_RETURN_IF_ERROR(agree_on_input(job.world(), collected, file.line()));
  collector.finish();
  return check_same_file(job.world(), file.path(), file.mark());
}

/// Collective. The same file from its beginning.
Result<Fcidump> open_again(rma::Job& job, const Fcidump& file) {
  auto again = Fcidump::open(file.path());
  TESSERA_RETURN_IF_ERROR(agree_on_input(job.world(), again.status()));
  return again;
}

/// Local. Adds the file's name to the front of an error.
Result<ReferenceState> named(Result<ReferenceState> state, const std::string& path) {
  if (state.ok()) {
    return state;
  }
  return std::move(state).status().context(path);
}

/// Local. The order of orbitals if the first ones of the file are not the occupied ones: from the
/// energies in the file or, if they are incomplete, from its header.
Occupation stored_occupation(const OrbitalSpace& space, const FcidumpHeader& header,
                             const std::vector<double>& energies) {
  OrbitalOrder order = order_by_occupation(space, energies);
  return order.empty()
             ? Occupation{order_by_list(space, header.occupied), Occupation::Source::header}
             : Occupation{std::move(order), Occupation::Source::energies};
}

/// Collective. Keeps the integrals of a file and computes its reference. `order` becomes the order
/// of orbitals with which that works: empty, or the file's own order if its first orbitals are not
/// a reference.
Result<ReferenceState> read_reference(rma::Job& job, Fcidump& file, Integrals& integrals,
                                      const OrbitalSpace& space, OrbitalOrder& order) {
  std::vector<double> stored_energies(static_cast<std::size_t>(space.orbitals()),
                                      std::numeric_limits<double>::quiet_NaN());
  Occupation occupation;
  {
    FockCollector fock(job, space);
    TESSERA_RETURN_IF_ERROR(
        keep_integrals(job, file, integrals, space, {}, &fock, &stored_energies));
    Result<ReferenceState> state = fock.finish(job.world());
    occupation =
        state.ok() ? Occupation() : stored_occupation(space, file.header(), stored_energies);
    if (occupation.order.empty()) {
      return named(std::move(state), file.path());
    }
  }
  order = occupation.order;
  TESSERA_ASSIGN_OR_RETURN(auto again, open_again(job, file));
  FockCollector fock(job, space, std::move(occupation));
  TESSERA_RETURN_IF_ERROR(keep_integrals(job, again, integrals, space, order, &fock));
  return named(fock.finish(job.world()), file.path());
}

/// The Fock matrix, by pairs, with reordered orbitals.
std::vector<double> moved(const std::vector<double>& fock, const OrbitalOrder& order) {
  std::vector<double> result(fock.size());
  auto element = fock.begin();
  for (std::size_t p = 0; p < order.size(); ++p) {
    for (std::size_t q = 0; q <= p; ++q) {
      const auto [low, high] = std::minmax(order[p], order[q]);
      result[static_cast<std::size_t>(pair_index(high, low))] = *element++;
    }
  }
  return result;
}

/// The order that results from `first` and then `then`.
OrbitalOrder after(const OrbitalOrder& first, const OrbitalOrder& then) {
  OrbitalOrder result;
  for (const std::int64_t number : first) {
    result.push_back(then[static_cast<std::size_t>(number)]);
  }
  return first.empty() ? then : result;
}

}  // namespace

Result<Molecule> read_molecule(rma::Job& job, Fcidump& file, const OrbitalSpace& space) {
  TESSERA_ASSIGN_OR_RETURN(auto integrals, Integrals::create(job, space));
  OrbitalOrder order;
  TESSERA_ASSIGN_OR_RETURN(auto state, read_reference(job, file, integrals, space, order));
  // Only the Fock matrix shows which orbitals are the lowest. Files sorted by symmetry have others
  // first; then the integrals of the wrong ones were kept.
  const OrbitalOrder lowest_first = order_of_orbitals(space, state.orbital_energies);
  if (!lowest_first.empty()) {
    TESSERA_ASSIGN_OR_RETURN(auto again, open_again(job, file));
    TESSERA_RETURN_IF_ERROR(
        keep_integrals(job, again, integrals, space, after(order, lowest_first), nullptr));
    state.fock = moved(state.fock, lowest_first);
  }
  TESSERA_RETURN_IF_ERROR(job.barrier());
  return Molecule{Model::of_fock(space, state.fock), std::move(integrals), state.energy};
}

Result<Molecule> make_synthetic_molecule(rma::Job& job, const OrbitalSpace& space) {
  TESSERA_ASSIGN_OR_RETURN(auto integrals, Integrals::create(job, space));
  {
    TESSERA_ASSIGN_OR_RETURN(auto collector, IntegralCollector::create(integrals, space));
    collector.fill(
        [&](const TwoElectron& integral) { return synthetic_integral(integral, space); });
    collector.finish();
  }
  TESSERA_RETURN_IF_ERROR(job.barrier());
  return Molecule{
      Model::create(space, synthetic_orbital_energies(space)), std::move(integrals), {}};
}

}  // namespace tessera::apps::ccsd
