// SPDX-License-Identifier: BSD-3-Clause
//
// Part "spmv.cg": conjugate gradients for a symmetric positive definite matrix, as in HPCG but
// without its preconditioner. They alternate with simultaneous local solutions: each rank's for the
// rows and columns that it owns, by plain loops without communication.
#pragma once

#include <string>
#include <vector>

#include "bench/session.hpp"

namespace tessera::bench {

/// An error message for a matrix of --matrix, as far as its name shows; empty if there is no error.
std::string check_matrix(const std::string& name);

void measure_cg(Session& session);

}  // namespace tessera::bench
