// SPDX-License-Identifier: BSD-3-Clause
#include "apps/ccsd/molecule.hpp"

#include <utility>

#include "apps/ccsd/reference_state.hpp"
#include "apps/ccsd/synthetic.hpp"
#include "apps/common/agreement.hpp"

namespace tessera::apps::ccsd {
namespace {

using rma::Result;
using rma::Status;
using Kind = FcidumpEntry::Kind;

Status collect(Fcidump& file, IntegralCollector& integrals, FockCollector& fock) {
  return file.for_each([&](const FcidumpEntry& entry) -> Status {
    switch (entry.kind) {
      case Kind::two_electron: {
        const TwoElectron integral{entry.p, entry.q, entry.r, entry.s};
        TESSERA_RETURN_IF_ERROR(integrals.add(integral, entry.value));
        return fock.add_two_electron(integral, entry.value);
      }
      case Kind::one_electron:
        return fock.add_one_electron(entry.p, entry.q, entry.value);
      case Kind::core_energy:
        return fock.add_core_energy(entry.value);
      case Kind::orbital_energy:
        break;  // they follow from the integrals
    }
    return {};
  });
}

}  // namespace

Result<Molecule> read_molecule(rma::Job& job, Fcidump& file, const OrbitalSpace& space) {
  TESSERA_ASSIGN_OR_RETURN(auto integrals, Integrals::create(job, space));
  FockCollector fock(job, space);
  {
    TESSERA_ASSIGN_OR_RETURN(auto collector, IntegralCollector::create(integrals, space));
    TESSERA_RETURN_IF_ERROR(agree_on_input(job.world(), collect(file, collector, fock)));
    collector.finish();
  }
  Result<ReferenceState> state = fock.finish(job.world());
  if (!state.ok()) {
    return std::move(state).status().context(file.path());
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
