// SPDX-License-Identifier: BSD-3-Clause
//
// Part "spmv.cg": conjugate gradients for a symmetric positive definite matrix, as HPCG has them
// but for its preconditioner, in alternation with as many local solutions at once: each rank's for
// the rows and columns that it has, by plain loops, which need nobody.
#pragma once

#include <string>
#include <vector>

#include "bench/session.hpp"

namespace tessera::bench {

/// What is wrong with a matrix of --matrix; empty when nothing is, as far as its name tells.
std::string check_matrix(const std::string& name);

void measure_cg(Session& session);

}  // namespace tessera::bench
