// SPDX-License-Identifier: BSD-3-Clause
//
// `tessera doctor`: what stands in the way of jobs here, or makes them slow, and what to do.
//
// Run alone it looks at this machine; run under tessera-run, mpirun or srun it looks at all ranks
// and their nodes, and prints one table.
#pragma once

#include <string>

#include "apps/tool/checks.hpp"
#include "rma/result.hpp"

namespace tessera::tool {

/// Collective. Looks at everything: gathers, meets the other ranks, tries connections, and a job.
/// Errors: those of meeting the others; what is wrong with the surroundings is in the result.
rma::Result<Picture> take_picture();

/// The table for people; coloured with the sequences of terminals when `has_colour`.
std::string table_text(const Picture& picture, const std::vector<PlacedFinding>& lines,
                       bool has_colour);

/// The same for programs, as apps/tool/doctor.schema.json describes it.
nlohmann::ordered_json table_json(const Picture& picture, const std::vector<PlacedFinding>& lines);

/// The worst of all.
State worst_of(const std::vector<PlacedFinding>& lines);

}  // namespace tessera::tool
