// SPDX-License-Identifier: BSD-3-Clause
//
// How ranks that read the same input become of one mind about it.
#pragma once

#include "rma/status.hpp"
#include "rma/team.hpp"

namespace tessera::apps {

/// Collective. As Team::agree(), but that the error's text doesn't name the rank: of what is wrong
/// with a file that all ranks read, it tells users nothing.
rma::Status agree_on_input(rma::Team team, const rma::Status& mine);

}  // namespace tessera::apps
