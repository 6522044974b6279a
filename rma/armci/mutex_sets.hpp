// SPDX-License-Identifier: BSD-3-Clause
//
// MutexSets: the set that an armcix_mutex_hdl_t stands for, so that an invalid handle is an error.
//
// A handle is the number of its set, in the order of creation, and is never reused. All processes
// of a set have created it in the same order relative to their other common sets, so they can free
// the remaining ones at the end.
//
// Threads: find from any; collective functions, one at a time.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>

#include "rma/armci/armcix.h"
#include "rma/base/result.hpp"
#include "rma/lock.hpp"
#include "rma/team.hpp"

namespace tessera::rma::armci {

/// A set of mutexes and the team of processes that hold them.
struct Mutexes {
  LockSet locks;
  Team team;

  /// Collective. `count` mutexes at this process. Errors: as LockSet::create.
  static Result<Mutexes> create(Team& team, int count);
};

class MutexSets {
 public:
  armcix_mutex_hdl_t add(Mutexes set);
  /// Errors: invalid_argument for an invalid handle.
  Result<Mutexes*> find(armcix_mutex_hdl_t handle);
  /// Collective over the processes of the set. Errors: as find, and as LockSet::free.
  Status free(armcix_mutex_hdl_t handle);
  /// Collective. Frees all remaining sets.
  void clear();

 private:
  std::mutex mutex_;
  std::map<std::uintptr_t, Mutexes> by_number_;  ///< the addresses of sets do not change
  std::uintptr_t last_ = 0;
};

}  // namespace tessera::rma::armci
