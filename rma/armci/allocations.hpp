// SPDX-License-Identifier: BSD-3-Clause
//
// Allocations: the regions that ARMCI_Malloc made, by number, until ARMCI_Free.
//
// Threads: find and accesses from any; collective functions, one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "rma/base/result.hpp"
#include "rma/job.hpp"
#include "rma/region.hpp"
#include "rma/team.hpp"

namespace tessera::rma::armci {

class Allocations {
 public:
  /// Collective. Sets pointers[i] for the i-th member of `team`. All members succeed, or none.
  Status allocate(Team& team, std::int64_t bytes, void* pointers[]);

  /// Collective. The same with existing memory of the program, which it keeps until detach().
  Status attach(Team& team, void* memory, std::int64_t bytes, void* pointers[]);

  /// Collective over the processes that allocated. Each gives its own pointer. A process without
  /// bytes gives null and `team`, the team of the allocation (the scheme of [ARMCIMPI12] §V.B).
  /// Does nothing if all give null.
  Status free(Job& job, Team& team, void* pointer);
  /// The same for attached memory.
  Status detach(Job& job, Team& team, void* pointer);
  /// Collective. Frees all remaining allocations.
  Status free_all();

  /// Begin and end loads and stores to this process's slice that contains `pointer`.
  Status begin_access(Job& job, void* pointer);
  Status end_access(Job& job, void* pointer);

  /// See ARMCIX_Mode_set. Errors: invalid_argument for a mode that doesn't exist.
  Status set_mode(Job& job, Team& team, void* pointer, int mode);
  Result<int> mode(Job& job, void* pointer);

 private:
  struct Allocation {
    Region region;
    int mode;
    bool is_attached;
    std::vector<LocalAccess> accesses;
  };
  Status keep(Region region, bool is_attached, void* pointers[]);
  Status give_up(Job& job, Team& team, void* pointer, bool is_attached);
  /// Collective. The allocation that the members' pointers name; null if all pointers are.
  Result<Allocation*> agree_on(Job& job, Team& team, void* pointer);
  Result<Allocation*> find_own(Job& job, void* pointer);

  std::mutex mutex_;
  std::map<std::uint32_t, Allocation> by_region_;
};

}  // namespace tessera::rma::armci
