// SPDX-License-Identifier: BSD-3-Clause
//
// The report's page: one HTML file that needs no other file and no script, and is also well-formed
// XML.
#pragma once

#include <string>

#include "bench/report/dataset.hpp"

namespace tessera::bench::report {

std::string page(const Dataset& dataset);

}  // namespace tessera::bench::report
