// SPDX-License-Identifier: BSD-3-Clause
#include <utility>

#include "arrays/counter.hpp"
#include "fortran/c/job.h"
#include "fortran/detail/arguments.hpp"
#include "fortran/detail/call.hpp"
#include "fortran/detail/collective.hpp"
#include "fortran/detail/handles.hpp"
#include "rma/lock.hpp"

namespace tessera::capi {
namespace {

using arrays::Counter;
using rma::LockSet;
using rma::Status;

/// Calls `act`, which returns a Status, with the locks and the member that owns them.
template <class Act>
int with_owner(const char* function, const tessera_locks* locks, std::int64_t owner,
               const Act& act) {
  return call_on(function, locks, [&](LocksContents& set) -> Status {
    TESSERA_ASSIGN_OR_RETURN(const auto member, team_rank(owner, set.team.size()));
    return act(set.locks, member);
  });
}

}  // namespace

extern "C" {

int tessera_locks_create(const tessera_team* team, int64_t count, tessera_locks** locks) {
  return call_on(__func__, team, [&](rma::Team& members) -> Status {
    TESSERA_RETURN_IF_ERROR(report_to_team(members, required(locks, "locks")));
    TESSERA_ASSIGN_OR_RETURN(LockSet made, LockSet::create(members, count));
    *locks = make_handle<tessera_locks>(job_of(team), {members, std::move(made)});
    return {};
  });
}

int tessera_locks_free(tessera_locks** locks) {
  return call(__func__, [&] {
    return free_handle(locks, [](LocksContents& set) { return set.locks.free(); });
  });
}

int tessera_locks_count(const tessera_locks* locks, int64_t owner, int64_t* count) {
  return with_owner(__func__, locks, owner, [&](const LockSet& set, rma::TeamRank of) -> Status {
    TESSERA_RETURN_IF_ERROR(required(count, "result"));
    *count = set.count(of);
    return {};
  });
}

int tessera_locks_lock(const tessera_locks* locks, int64_t owner, int64_t index) {
  return with_owner(__func__, locks, owner,
                    [&](LockSet& set, rma::TeamRank of) { return set.lock(of, index); });
}

int tessera_locks_try_lock(const tessera_locks* locks, int64_t owner, int64_t index, int* taken) {
  return with_owner(__func__, locks, owner, [&](LockSet& set, rma::TeamRank of) -> Status {
    TESSERA_RETURN_IF_ERROR(required(taken, "result"));
    TESSERA_ASSIGN_OR_RETURN(const bool is_taken, set.try_lock(of, index));
    *taken = is_taken ? 1 : 0;
    return {};
  });
}

int tessera_locks_unlock(const tessera_locks* locks, int64_t owner, int64_t index) {
  return with_owner(__func__, locks, owner,
                    [&](LockSet& set, rma::TeamRank of) { return set.unlock(of, index); });
}

int tessera_counter_create(const tessera_team* team, int64_t owner, tessera_counter** counter) {
  return call_on(__func__, team, [&](rma::Team& members) -> Status {
    const auto of = team_rank(owner, members.size());
    TESSERA_RETURN_IF_ERROR(
        report_to_team(members, of.ok() ? required(counter, "counter") : of.status()));
    TESSERA_ASSIGN_OR_RETURN(Counter made, Counter::create(*job_of(team)->contents, members, *of));
    *counter = make_handle<tessera_counter>(job_of(team), std::move(made));
    return {};
  });
}

int tessera_counter_free(tessera_counter** counter) {
  return call(__func__, [&] { return free_handle(counter, [](Counter& c) { return c.free(); }); });
}

int tessera_counter_next(const tessera_counter* counter, int64_t count, int64_t* value) {
  return call_on(__func__, counter, [&](const Counter& shared) -> Status {
    TESSERA_RETURN_IF_ERROR(required(value, "result"));
    TESSERA_ASSIGN_OR_RETURN(*value, shared.next(count));
    return {};
  });
}

int tessera_counter_reset(const tessera_counter* counter, int64_t value) {
  return call_on(__func__, counter, [&](Counter& shared) { return shared.reset(value); });
}

}  // extern "C"

}  // namespace tessera::capi
