// SPDX-License-Identifier: BSD-3-Clause
//
// Read-modify-write, and mutexes: ARMCI's single set, and the sets of armcix.h.
#include <cstring>

#include <fmt/format.h>

#include "rma/armci/armcix.h"
#include "rma/armci/call.hpp"
#include "rma/armci/parmci.h"
#include "rma/atomic.hpp"

namespace tessera::rma::armci {
namespace {

template <AtomicWord T>
Status fetch_and_add(Session& session, void* local, RawAddress remote, T increment) {
  TESSERA_ASSIGN_OR_RETURN(const T before, fetch_add(session.job, remote, increment));
  std::memcpy(local, &before, sizeof before);
  return {};
}

template <AtomicWord T>
Status exchange(Session& session, void* local, RawAddress remote) {
  T value{};
  std::memcpy(&value, local, sizeof value);
  TESSERA_ASSIGN_OR_RETURN(const T before, swap(session.job, remote, value));
  std::memcpy(local, &before, sizeof before);
  return {};
}

Status read_modify_write(Session& session, int op, void* local, const void* remote, int extra,
                         int proc) {
  if (local == nullptr) {
    return Status::error(Code::invalid_argument, "the pointer for the previous value is null")
        .hint("give the address of an int, or of a long for the …_LONG operations");
  }
  const RawAddress at{WorldRank{proc}, remote};
  switch (op) {
    case ARMCI_FETCH_AND_ADD:
      return fetch_and_add<std::int32_t>(session, local, at, extra);
    case ARMCI_FETCH_AND_ADD_LONG:
      return fetch_and_add<std::int64_t>(session, local, at, extra);
    case ARMCI_SWAP:
      return exchange<std::int32_t>(session, local, at);
    case ARMCI_SWAP_LONG:
      return exchange<std::int64_t>(session, local, at);
    default:
      return Status::error(Code::invalid_argument,
                           fmt::format("{} is not a read-modify-write operation", op))
          .hint("use ARMCI_FETCH_AND_ADD, ARMCI_SWAP or their …_LONG, from this armci.h");
  }
}

Result<Mutexes*> current_mutexes(Session& session) {
  if (!session.mutexes) {
    return Status::error(Code::invalid_argument, "there are no mutexes")
        .hint("call ARMCI_Create_mutexes first, on all processes");
  }
  return &*session.mutexes;
}

// ARMCI names a mutex by a process of the job.
Result<TeamRank> owner_of(const Mutexes& mutexes, int proc) {
  const TeamRank owner = mutexes.team.team_rank(WorldRank{proc});
  if (owner.value < 0) {
    return Status::error(Code::invalid_argument,
                         fmt::format("process {} is not one of those that have the mutexes", proc))
        .hint("name a process of the group that called ARMCI_Create_mutexes");
  }
  return owner;
}

template <class Act>
int with_set(const char* function, armcix_mutex_hdl_t mutexes, const Act& act) {
  return call(function, [&](Session& session) -> Status {
    TESSERA_ASSIGN_OR_RETURN(Mutexes* const set, session.mutex_sets.find(mutexes));
    return act(set->locks);
  });
}

}  // namespace
}  // namespace tessera::rma::armci

namespace armci = tessera::rma::armci;
using armci::Session;
using tessera::rma::Code;
using tessera::rma::LockSet;
using tessera::rma::Result;
using tessera::rma::Status;
using tessera::rma::TeamRank;

extern "C" {

int PARMCI_Rmw(int op, void* local, void* remote, int extra, int proc) {
  return armci::call("ARMCI_Rmw", [&](Session& session) {
    return armci::read_modify_write(session, op, local, remote, extra, proc);
  });
}
extern decltype(ARMCI_Rmw) ARMCI_Rmw [[gnu::weak, gnu::alias("PARMCI_Rmw")]];

int PARMCI_Create_mutexes(int num) {
  return armci::call("ARMCI_Create_mutexes", [&](Session& session) -> Status {
    if (session.mutexes) {
      return Status::error(Code::invalid_argument, "there is a set of mutexes already")
          .hint("call ARMCI_Destroy_mutexes first, or use ARMCIX_Create_mutexes_hdl");
    }
    TESSERA_ASSIGN_OR_RETURN(session.mutexes,
                             armci::Mutexes::create(session.groups.default_group().team, num));
    return {};
  });
}
extern decltype(ARMCI_Create_mutexes) ARMCI_Create_mutexes
    [[gnu::weak, gnu::alias("PARMCI_Create_mutexes")]];

int PARMCI_Destroy_mutexes(void) {
  return armci::call("ARMCI_Destroy_mutexes", [](Session& session) -> Status {
    TESSERA_ASSIGN_OR_RETURN(armci::Mutexes* const mutexes, armci::current_mutexes(session));
    Status freed = mutexes->locks.free();
    session.mutexes.reset();
    return freed;
  });
}
extern decltype(ARMCI_Destroy_mutexes) ARMCI_Destroy_mutexes
    [[gnu::weak, gnu::alias("PARMCI_Destroy_mutexes")]];

void PARMCI_Lock(int mutex, int proc) {
  armci::call("ARMCI_Lock", [&](Session& session) -> Status {
    TESSERA_ASSIGN_OR_RETURN(armci::Mutexes* const mutexes, armci::current_mutexes(session));
    TESSERA_ASSIGN_OR_RETURN(const TeamRank owner, armci::owner_of(*mutexes, proc));
    return mutexes->locks.lock(owner, mutex);
  });
}
extern decltype(ARMCI_Lock) ARMCI_Lock [[gnu::weak, gnu::alias("PARMCI_Lock")]];

void PARMCI_Unlock(int mutex, int proc) {
  armci::call("ARMCI_Unlock", [&](Session& session) -> Status {
    TESSERA_ASSIGN_OR_RETURN(armci::Mutexes* const mutexes, armci::current_mutexes(session));
    TESSERA_ASSIGN_OR_RETURN(const TeamRank owner, armci::owner_of(*mutexes, proc));
    return mutexes->locks.unlock(owner, mutex);
  });
}
extern decltype(ARMCI_Unlock) ARMCI_Unlock [[gnu::weak, gnu::alias("PARMCI_Unlock")]];

armcix_mutex_hdl_t ARMCIX_Create_mutexes_hdl(int count, ARMCI_Group* group) {
  return armci::call_for<armcix_mutex_hdl_t>(
      "ARMCIX_Create_mutexes_hdl", nullptr, [&](Session& session) -> Result<armcix_mutex_hdl_t> {
        TESSERA_ASSIGN_OR_RETURN(armci::Group* const owners, session.groups.find(group));
        TESSERA_ASSIGN_OR_RETURN(auto set, armci::Mutexes::create(owners->team, count));
        return session.mutex_sets.add(std::move(set));
      });
}

int ARMCIX_Destroy_mutexes_hdl(armcix_mutex_hdl_t mutexes) {
  return armci::call("ARMCIX_Destroy_mutexes_hdl",
                     [&](Session& session) { return session.mutex_sets.free(mutexes); });
}

void ARMCIX_Lock_hdl(armcix_mutex_hdl_t mutexes, int mutex, int proc) {
  armci::with_set("ARMCIX_Lock_hdl", mutexes,
                  [&](LockSet& locks) { return locks.lock(TeamRank{proc}, mutex); });
}

void ARMCIX_Unlock_hdl(armcix_mutex_hdl_t mutexes, int mutex, int proc) {
  armci::with_set("ARMCIX_Unlock_hdl", mutexes,
                  [&](LockSet& locks) { return locks.unlock(TeamRank{proc}, mutex); });
}

int ARMCIX_Trylock_hdl(armcix_mutex_hdl_t mutexes, int mutex, int proc) {
  bool is_taken = false;
  const int code = armci::with_set("ARMCIX_Trylock_hdl", mutexes, [&](LockSet& locks) -> Status {
    TESSERA_ASSIGN_OR_RETURN(is_taken, locks.try_lock(TeamRank{proc}, mutex));
    return {};
  });
  return code != 0 ? code : is_taken ? 0 : 1;
}

}  // extern "C"
