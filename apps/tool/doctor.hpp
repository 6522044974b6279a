// SPDX-License-Identifier: BSD-3-Clause
//
// `tessera doctor`: finds what makes jobs fail or slow here, with remedies.
//
// Run alone it checks this machine; under tessera-run, mpirun or srun it checks all ranks and their
// nodes, and prints one table.
#pragma once

#include <string>

#include "apps/tool/checks.hpp"
#include "rma/base/result.hpp"

namespace tessera::tool {

/// Collective. Collects all values: gathers, contacts the other ranks, tests connections and a job.
/// Errors: those of contacting the others; problems of the environment are in the result.
rma::Result<Snapshot> take_snapshot();

/// The table as text; in colour, by terminal sequences, if `has_colour`.
std::string table_text(const Snapshot& snapshot, const std::vector<PlacedFinding>& lines,
                       bool has_colour);

/// The same as JSON, as in apps/tool/doctor.schema.json.
nlohmann::ordered_json table_json(const Snapshot& snapshot,
                                  const std::vector<PlacedFinding>& lines);

/// The worst state of all lines.
State worst_of(const std::vector<PlacedFinding>& lines);

}  // namespace tessera::tool
