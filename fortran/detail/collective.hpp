// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. What a rank does that can't take part in a collective, because of arguments that the
// library never gets to see: the others are not left waiting for it.
#pragma once

#include "rma/status.hpp"
#include "rma/team.hpp"

namespace tessera::capi {

/// Collective where `mine` is an error, else local. Returns `mine`, after the other members have
/// been told: they are in a meeting of the team, and get this error or that of a mismatch.
inline rma::Status tell(rma::Team& team, rma::Status mine) {
  if (!mine.ok()) {
    team.agree(mine).ignore("what this rank did wrong is what it is told");
  }
  return mine;
}

}  // namespace tessera::capi
