// SPDX-License-Identifier: BSD-3-Clause
//
// Molecule: the data of a molecule before CCSD begins, from a file or artificial.
#pragma once

#include <optional>

#include "apps/ccsd/equations.hpp"
#include "apps/ccsd/fcidump.hpp"
#include "apps/ccsd/integrals.hpp"
#include "rma/job.hpp"

namespace tessera::apps::ccsd {

struct Molecule {
  Model model;
  Integrals integrals;
  std::optional<double> reference_energy;  ///< artificial molecules have none
};

/// Collective. Every rank reads the whole file and keeps the integrals of its rows. It reads the
/// file again if the occupied orbitals, and again if those to be frozen, are not the first ones.
/// Errors, on all ranks: those of the file on any, and invalid_argument if it is not the same on
/// all.
rma::Result<Molecule> read_molecule(rma::Job& job, Fcidump& file, const OrbitalSpace& space);

/// Collective.
rma::Result<Molecule> make_synthetic_molecule(rma::Job& job, const OrbitalSpace& space);

}  // namespace tessera::apps::ccsd
