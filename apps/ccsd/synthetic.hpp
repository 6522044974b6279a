// SPDX-License-Identifier: BSD-3-Clause
//
// Artificial molecules of any size, for measurements: integrals with the eight symmetries of real
// ones, otherwise random, and so small that the iterations converge.
#pragma once

#include <vector>

#include "apps/ccsd/integrals.hpp"
#include "apps/ccsd/orbital_space.hpp"

namespace tessera::apps::ccsd {

/// (pq|rs) of an artificial molecule; the same on all ranks and in all runs.
double synthetic_integral(const TwoElectron& integral, const OrbitalSpace& space);

/// Occupied orbitals from −2 to −1, virtual ones from 1 to 2.
std::vector<double> synthetic_orbital_energies(const OrbitalSpace& space);

}  // namespace tessera::apps::ccsd
