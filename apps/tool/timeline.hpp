// SPDX-License-Identifier: BSD-3-Clause
//
// A page for browsers of the timeline that TESSERA_PROFILE=trace writes: one file, which needs no
// network and no program beside the browser.
#pragma once

#include <iosfwd>
#include <string>

#include "rma/result.hpp"

namespace tessera::tool {

/// The page. `name` is that of the file, for the title and messages. Keeps 32 bytes for each event.
/// Errors: invalid_argument (no trace of Tessera's, with the reason).
rma::Result<std::string> timeline_page(std::istream& trace, const std::string& name);

}  // namespace tessera::tool
