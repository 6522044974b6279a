// SPDX-License-Identifier: BSD-3-Clause
//
// The header of an FCIDUMP file, which is a Fortran namelist: names, each with values.
#pragma once

#include <string>
#include <string_view>

#include "apps/ccsd/fcidump.hpp"

namespace tessera::apps::ccsd {

/// Local. In capitals.
std::string upper(std::string_view text);

/// Local. Whether a header ends within `line`, and where: at &END, $END or /.
std::size_t find_header_end(std::string_view line);

/// Local. What the namelist between "&FCI" and its end says.
/// Errors: invalid_argument for names that are unknown, missing, or ask for what is not supported.
rma::Result<FcidumpHeader> parse_header(const std::string& text);

}  // namespace tessera::apps::ccsd
