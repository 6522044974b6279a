// SPDX-License-Identifier: BSD-3-Clause
//
// How members of a team agree on one status.
#pragma once

#include "rma/base/status.hpp"
#include "rma/engine/team/collective_step.hpp"
#include "rma/team.hpp"

namespace tessera::rma::detail {

/// Collective. See Team::agree(). One step if all statuses are ok and all requests are the same.
Status agree(CollectiveStep& step, const Status& mine, const AgreedCall& asked);

}  // namespace tessera::rma::detail
