// SPDX-License-Identifier: BSD-3-Clause
//
// MutexSets: what an armcix_mutex_hdl_t stands for, so that one that stands for nothing is told.
//
// A handle is the number of its set, in the order of creation, and never used again. The processes
// of a set have created it in the same order among those that they share, and so can free what is
// left at the end.
//
// Threads: find from any; what is collective, one at a time.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>

#include "rma/armci/armcix.h"
#include "rma/lock.hpp"
#include "rma/result.hpp"
#include "rma/team.hpp"

namespace tessera::rma::armci {

/// A set of mutexes and the processes whose they are.
struct Mutexes {
  LockSet locks;
  Team team;

  /// Collective. `count` mutexes at this process. Errors: as LockSet::create.
  static Result<Mutexes> create(Team& team, int count);
};

class MutexSets {
 public:
  armcix_mutex_hdl_t add(Mutexes set);
  /// Errors: invalid_argument for a handle on nothing.
  Result<Mutexes*> find(armcix_mutex_hdl_t handle);
  /// Collective over the processes of the set. Errors: as find, and as LockSet::free.
  Status free(armcix_mutex_hdl_t handle);
  /// Collective. Frees what was never freed.
  void clear();

 private:
  std::mutex mutex_;
  std::map<std::uintptr_t, Mutexes> by_number_;  ///< whose addresses stay
  std::uintptr_t last_ = 0;
};

}  // namespace tessera::rma::armci
