// SPDX-License-Identifier: BSD-3-Clause
#include "apps/ccsd/molecule.hpp"

#include <cstdint>
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

/// Local. What the Fock matrix is made of is not collected where there is no `fock`.
Status collect(Fcidump& file, IntegralCollector& integrals, FockCollector* fock) {
  return file.for_each([&](const FcidumpEntry& entry) -> Status {
    switch (entry.kind) {
      case Kind::two_electron: {
        const TwoElectron integral{entry.p, entry.q, entry.r, entry.s};
        TESSERA_RETURN_IF_ERROR(integrals.add(integral, entry.value));
        return fock == nullptr ? Status() : fock->add_two_electron(integral, entry.value);
      }
      case Kind::one_electron:
        return fock == nullptr ? Status() : fock->add_one_electron(entry.p, entry.q, entry.value);
      case Kind::core_energy:
        return fock == nullptr ? Status() : fock->add_core_energy(entry.value);
      case Kind::orbital_energy:
        break;  // they follow from the integrals
    }
    return {};
  });
}

/// Collective. Reads all of a file; `places` as of IntegralCollector.
Status keep_integrals(rma::Job& job, Fcidump& file, Integrals& integrals, const OrbitalSpace& space,
                      const std::vector<std::int64_t>& places, FockCollector* fock) {
  TESSERA_ASSIGN_OR_RETURN(auto collector, IntegralCollector::create(integrals, space, places));
  const Status collected = collect(file, collector, fock);
  TESSERA_RETURN_IF_ERROR(agree_on_input(job.world(), collected, file.line()));
  collector.finish();
  return check_same_file(job.world(), file.path(), file.mark());
}

std::vector<double> moved(const std::vector<double>& energies,
                          const std::vector<std::int64_t>& places) {
  std::vector<double> result(energies.size());
  for (std::size_t p = 0; p < energies.size(); ++p) {
    result[static_cast<std::size_t>(places[p])] = energies[p];
  }
  return result;
}

}  // namespace

Result<Molecule> read_molecule(rma::Job& job, Fcidump& file, const OrbitalSpace& space) {
  TESSERA_ASSIGN_OR_RETURN(auto integrals, Integrals::create(job, space));
  FockCollector fock(job, space);
  TESSERA_RETURN_IF_ERROR(keep_integrals(job, file, integrals, space, {}, &fock));
  Result<ReferenceState> state = fock.finish(job.world());
  if (!state.ok()) {
    return std::move(state).status().context(file.path());
  }
  // Which orbitals are the lowest only the Fock matrix tells. Files that are sorted by symmetry
  // have others in front; then the integrals of the wrong ones were kept.
  const auto places = places_of_orbitals(space, state->orbital_energies);
  if (!places.empty()) {
    auto again = Fcidump::open(file.path());
    TESSERA_RETURN_IF_ERROR(agree_on_input(job.world(), again.status()));
    TESSERA_RETURN_IF_ERROR(keep_integrals(job, *again, integrals, space, places, nullptr));
    state->orbital_energies = moved(state->orbital_energies, places);
  }
  TESSERA_RETURN_IF_ERROR(job.barrier());
  return Molecule{Model::create(space, state->orbital_energies), std::move(integrals),
                  state->energy};
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
