// SPDX-License-Identifier: BSD-3-Clause
//
// How ranks that read the same input become of one mind about it.
#pragma once

#include <cstdint>

#include "rma/status.hpp"
#include "rma/team.hpp"

namespace tessera::apps {

/// Collective. As Team::agree(), but that the error's text doesn't name the rank: of what is wrong
/// with a file that all ranks read, it tells users nothing. Of several errors the one at the lowest
/// `line` of the input is told, however many ranks there are; of those at one line, the one of the
/// lowest rank.
rma::Status agree_on_input(rma::Team team, const rma::Status& mine, std::int64_t line = 0);

}  // namespace tessera::apps
