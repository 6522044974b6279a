// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. Reports an error that the library cannot see to the other members of a collective, so
// that they do not wait for this rank.
#pragma once

#include "rma/base/status.hpp"
#include "rma/team.hpp"

namespace tessera::capi {

/// Collective if `status` is an error, otherwise local. Returns `status` after reporting it to the
/// other members. They are in a collective of the team, and get this error or that of a mismatch.
inline rma::Status report_to_team(rma::Team& team, rma::Status status) {
  if (!status.ok()) {
    team.agree(status).ignore("this rank returns its own error");
  }
  return status;
}

}  // namespace tessera::capi
