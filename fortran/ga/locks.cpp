// SPDX-License-Identifier: BSD-3-Clause
//
// Synchronisation, and the one set of mutexes that a program may have at a time.
#include <fmt/format.h>

#include <utility>

#include "fortran/ga/operations.hpp"
#include "fortran/ga/session.hpp"

namespace tessera::ga {

namespace {

/// Mutex k is number k / size of process k % size.
struct MutexPlace {
  rma::TeamRank owner;
  std::int64_t number;
};

Result<rma::LockSet*> mutexes() {
  Session* const session = Session::current();
  if (session == nullptr) {
    return not_running();
  }
  if (!session->mutexes) {
    return Status::error(Code::invalid_argument, "there are no mutexes")
        .hint("call GA_Create_mutexes first");
  }
  return &*session->mutexes;
}

Result<MutexPlace> place_of_mutex(std::int64_t mutex) {
  const Session& session = *Session::current();
  if (mutex < 0 || mutex >= session.mutex_count) {
    return Status::error(Code::out_of_range, fmt::format("there is no mutex {}; {} were created",
                                                         mutex, session.mutex_count));
  }
  const std::int64_t size = session.job().size();
  return MutexPlace{{static_cast<std::int32_t>(mutex % size)}, mutex / size};
}

}  // namespace

Status sync() {
  return pgroup_sync(default_group());
}

Status pgroup_sync(Group& group) {
  TESSERA_RETURN_IF_ERROR(group.check_member());
  Status fenced = Session::current()->job().fence_all();
  Status met = group.team.barrier();
  return fenced.ok() ? std::move(met) : std::move(fenced);
}

Status msg_sync() {
  return msg_pgroup_sync(default_group());
}

Status msg_pgroup_sync(Group& group) {
  TESSERA_RETURN_IF_ERROR(group.check_member());
  return group.team.barrier();
}

Status fence() {
  Session* const session = Session::current();
  return session == nullptr ? not_running() : session->job().fence_all();
}

Status init_fence() {
  return {};
}

Result<bool> create_mutexes(std::int64_t count) {
  Session* const session = Session::current();
  if (session == nullptr) {
    return not_running();
  }
  if (session->mutexes) {
    return Status::error(Code::invalid_argument, "the program has mutexes already")
        .hint("call GA_Destroy_mutexes before others are created");
  }
  if (count < 1) {
    return Status::error(Code::invalid_argument, fmt::format("{} mutexes", count));
  }
  const std::int64_t size = session->job().size();
  const std::int64_t own = (count - session->job().rank().value + size - 1) / size;
  TESSERA_ASSIGN_OR_RETURN(session->mutexes, rma::LockSet::create(session->job().world(), own));
  session->mutex_count = count;
  return true;
}

Result<bool> destroy_mutexes() {
  TESSERA_ASSIGN_OR_RETURN(rma::LockSet* const locks, mutexes());
  Status freed = locks->free();
  Session::current()->mutexes.reset();
  TESSERA_RETURN_IF_ERROR(freed);
  return true;
}

Status lock(std::int64_t mutex) {
  TESSERA_ASSIGN_OR_RETURN(rma::LockSet* const locks, mutexes());
  TESSERA_ASSIGN_OR_RETURN(const MutexPlace at, place_of_mutex(mutex));
  return locks->lock(at.owner, at.number);
}

// GA's unlock begins with a fence: what the holder wrote is seen by the next one.
Status unlock(std::int64_t mutex) {
  TESSERA_ASSIGN_OR_RETURN(rma::LockSet* const locks, mutexes());
  TESSERA_ASSIGN_OR_RETURN(const MutexPlace at, place_of_mutex(mutex));
  TESSERA_RETURN_IF_ERROR(Session::current()->job().fence_all());
  return locks->unlock(at.owner, at.number);
}

}  // namespace tessera::ga
