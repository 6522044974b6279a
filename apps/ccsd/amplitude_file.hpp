// SPDX-License-Identifier: BSD-3-Clause
//
// Amplitudes in checkpoint files: arrays "t1" (i, a) and "t2" (ia, jb), and the numbers of
// orbitals.
#pragma once

#include <string>

#include "apps/ccsd/equations.hpp"
#include "rma/job.hpp"

namespace tessera::apps::ccsd {

/// Collective. Writes a new file, or replaces that of an earlier iteration in one step.
rma::Status save_amplitudes(const rma::Job& job, const std::string& path, const OrbitalSpace& space,
                            Amplitudes& amplitudes);

/// Collective. Whether save_amplitudes() can write that file, tried without changing anything.
/// Errors: those of checkpoints.
rma::Status try_amplitude_file(const rma::Job& job, const std::string& path);

/// Collective. Whether load_amplitudes() finds a file for these orbitals, before anything large is
/// made for them. Errors: as load_amplitudes().
rma::Status check_amplitude_file(const rma::Job& job, const std::string& path,
                                 const OrbitalSpace& space);

/// Collective. Reads what any number of ranks have written.
/// Errors: those of checkpoints; invalid_argument when the file has other numbers of orbitals.
rma::Status load_amplitudes(const rma::Job& job, const std::string& path, const OrbitalSpace& space,
                            Amplitudes& amplitudes);

}  // namespace tessera::apps::ccsd
