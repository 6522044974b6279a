// SPDX-License-Identifier: BSD-3-Clause
//
// The report's page: one HTML file that needs nothing else, no script either, and is well-formed
// XML, too.
#pragma once

#include <string>

#include "bench/report/dataset.hpp"

namespace tessera::bench::report {

std::string page(const Dataset& dataset);

}  // namespace tessera::bench::report
