// SPDX-License-Identifier: BSD-3-Clause
//
// Agreement of ranks that read the same input on its errors.
#pragma once

#include <cstdint>

#include "rma/base/status.hpp"
#include "rma/team.hpp"

namespace tessera::apps {

/// Collective. As Team::agree(), but the error's text does not name the rank: for an error in a
/// file that all ranks read, the rank is of no use to users. Of several errors it reports the one
/// at the lowest `line` of the input, for any number of ranks; of errors at the same line, the one
/// of the lowest rank.
rma::Status agree_on_input(rma::Team team, const rma::Status& status, std::int64_t line = 0);

}  // namespace tessera::apps
