// SPDX-License-Identifier: BSD-3-Clause
//
// A web page of the timeline that TESSERA_PROFILE=trace records: one file, which needs only a
// browser and no network.
#pragma once

#include <iosfwd>
#include <string>

#include "rma/base/result.hpp"

namespace tessera::tool {

/// The page. `name` is the file's name, for the title and messages. Uses 32 bytes for each event.
/// Errors: invalid_argument (not a trace of Tessera, with the reason).
rma::Result<std::string> timeline_page(std::istream& trace, const std::string& name);

}  // namespace tessera::tool
