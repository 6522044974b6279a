// SPDX-License-Identifier: BSD-3-Clause
//
// Completion at the targets: fences and barriers.
#include "rma/armci/call.hpp"
#include "rma/armci/message.h"
#include "rma/armci/parmci.h"

namespace tessera::rma::armci {
namespace {

Status fence_group(Session& session, const Group& group) {
  if (group.team.size() == session.job.size()) {
    return session.job.fence_all();
  }
  for (const WorldRank member : group.team.members()) {
    TESSERA_RETURN_IF_ERROR(session.job.fence(member));
  }
  return {};
}

// A process whose fence failed also joins the barrier, so that no other waits for it.
Status join_barrier(Team& team, Status fenced) {
  Status synchronised = team.barrier();
  return fenced.ok() ? std::move(synchronised) : std::move(fenced);
}

}  // namespace
}  // namespace tessera::rma::armci

namespace armci = tessera::rma::armci;
using armci::Session;
using tessera::rma::Status;
using tessera::rma::WorldRank;

extern "C" {

void PARMCI_Fence(int proc) {
  armci::call("ARMCI_Fence", [&](Session& session) { return session.job.fence(WorldRank{proc}); });
}
extern decltype(ARMCI_Fence) ARMCI_Fence [[gnu::weak, gnu::alias("PARMCI_Fence")]];

void PARMCI_AllFence(void) {
  armci::call("ARMCI_AllFence", [](Session& session) { return session.job.fence_all(); });
}
extern decltype(ARMCI_AllFence) ARMCI_AllFence [[gnu::weak, gnu::alias("PARMCI_AllFence")]];

void PARMCI_GroupFence(ARMCI_Group* group) {
  armci::call("ARMCI_GroupFence", [&](Session& session) -> Status {
    TESSERA_ASSIGN_OR_RETURN(armci::Group* const members, session.groups.find(group));
    return armci::fence_group(session, *members);
  });
}
extern decltype(ARMCI_GroupFence) ARMCI_GroupFence [[gnu::weak, gnu::alias("PARMCI_GroupFence")]];

void PARMCI_Barrier(void) {
  armci::call("ARMCI_Barrier", [](Session& session) {
    return armci::join_barrier(session.groups.default_group().team, session.job.fence_all());
  });
}
extern decltype(ARMCI_Barrier) ARMCI_Barrier [[gnu::weak, gnu::alias("PARMCI_Barrier")]];

void parmci_msg_barrier(void) {
  armci::call("armci_msg_barrier",
              [](Session& session) { return session.groups.default_group().team.barrier(); });
}
extern decltype(armci_msg_barrier) armci_msg_barrier
    [[gnu::weak, gnu::alias("parmci_msg_barrier")]];

void parmci_msg_group_barrier(ARMCI_Group* group) {
  armci::call("armci_msg_group_barrier", [&](Session& session) -> Status {
    TESSERA_ASSIGN_OR_RETURN(armci::Group* const members, session.groups.find(group));
    return members->team.barrier();
  });
}
extern decltype(armci_msg_group_barrier) armci_msg_group_barrier
    [[gnu::weak, gnu::alias("parmci_msg_group_barrier")]];

}  // extern "C"
