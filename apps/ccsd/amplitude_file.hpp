// SPDX-License-Identifier: BSD-3-Clause
//
// Amplitudes in checkpoint files: arrays "t1" (i, a) and "t2" (ia, jb), and the numbers of
// orbitals.
#pragma once

#include <string>

#include "apps/ccsd/equations.hpp"
#include "rma/job.hpp"

namespace tessera::apps::ccsd {

/// Collective. Writes a new file, or replaces that of an earlier iteration atomically.
rma::Status save_amplitudes(const rma::Job& job, const std::string& path, const OrbitalSpace& space,
                            Amplitudes& amplitudes);

/// Collective. Tests whether save_amplitudes() can write that file, without changing anything.
/// Errors: those of checkpoints.
rma::Status try_amplitude_file(const rma::Job& job, const std::string& path);

/// Collective. Tests whether load_amplitudes() will find a file for these orbitals, before any
/// large allocation. Errors: as load_amplitudes().
rma::Status check_amplitude_file(const rma::Job& job, const std::string& path,
                                 const OrbitalSpace& space);

/// Collective. Reads a file written by any number of ranks. Errors: those of checkpoints;
/// invalid_argument if the file has other numbers of orbitals.
rma::Status load_amplitudes(const rma::Job& job, const std::string& path, const OrbitalSpace& space,
                            Amplitudes& amplitudes);

}  // namespace tessera::apps::ccsd
