// SPDX-License-Identifier: BSD-3-Clause
#include "rma/armci/allocations.hpp"

#include <fmt/format.h>

#include <limits>
#include <span>
#include <utility>

#include "rma/armci/armcix.h"

namespace tessera::rma::armci {
namespace {

Status null_array() {
  return Status::error(Code::invalid_argument, "the array for the pointers is null")
      .hint("give an array with a pointer for each process of the group");
}

Status check_attach(const void* memory, std::int64_t bytes, void* const* pointers) {
  if (pointers == nullptr) {
    return null_array();
  }
  if (bytes < 0) {
    return Status::error(Code::invalid_argument, fmt::format("cannot attach {} bytes", bytes));
  }
  return memory == nullptr && bytes > 0
             ? Status::error(
                   Code::invalid_argument,
                   fmt::format("the {} bytes of memory to attach are at a null pointer", bytes))
                   .hint("give the address of the program's memory, or 0 bytes")
             : Status();
}

Status wrong_release_function(bool is_attached) {
  return is_attached
             ? Status::error(Code::invalid_argument, "the memory is the program's own")
                   .hint("detach it with ARMCIX_Detach")
             : Status::error(Code::invalid_argument, "the memory was allocated by ARMCI_Malloc")
                   .hint("free it with ARMCI_Free");
}

// Whether all slices of the region are empty.
bool is_empty(const Region& region) {
  for (std::int32_t rank = 0; rank < region.team().size(); ++rank) {
    if (region.bytes(TeamRank{rank}) > 0) {
      return false;
    }
  }
  return true;
}

}  // namespace

Status Allocations::allocate(Team& team, std::int64_t bytes, void* pointers[]) {
  Status checked = pointers == nullptr ? null_array()
                   : bytes < 0         ? Status::error(Code::invalid_argument,
                                                       fmt::format("cannot allocate {} bytes", bytes))
                                       : Status();
  TESSERA_RETURN_IF_ERROR(team.agree(checked));
  TESSERA_ASSIGN_OR_RETURN(Region region, Region::allocate(team, static_cast<std::size_t>(bytes),
                                                           {.name = "ARMCI_Malloc"}));
  return keep(std::move(region), false, pointers);
}

Status Allocations::attach(Team& team, void* memory, std::int64_t bytes, void* pointers[]) {
  TESSERA_RETURN_IF_ERROR(team.agree(check_attach(memory, bytes, pointers)));
  TESSERA_ASSIGN_OR_RETURN(
      Region region,
      Region::attach(team, memory, static_cast<std::size_t>(bytes), {.name = "ARMCIX_Attach"}));
  return keep(std::move(region), true, pointers);
}

// Collective.
Status Allocations::keep(Region region, bool is_attached, void* pointers[]) {
  for (std::int32_t rank = 0; rank < region.team().size(); ++rank) {
    pointers[rank] = region.raw_pointer(TeamRank{rank});
  }
  if (is_empty(region)) {
    return region.free();  // no process has a pointer to free it later
  }
  const std::lock_guard guard(mutex_);
  const std::uint32_t number = region.id().value;
  by_region_.emplace(number, Allocation{std::move(region), ARMCIX_MODE_ALL, is_attached, {}});
  return {};
}

Result<Allocations::Allocation*> Allocations::find_own(Job& job, void* pointer) {
  TESSERA_ASSIGN_OR_RETURN(const RemoteAddress at, job.translate(job.rank(), pointer));
  const std::lock_guard guard(mutex_);
  const auto found = by_region_.find(at.region.value);
  if (found == by_region_.end()) {
    return Status::error(Code::invalid_argument,
                         fmt::format("{} is not memory of ARMCI_Malloc", fmt::ptr(pointer)))
        .hint("give the pointer that ARMCI_Malloc set for this process");
  }
  return &found->second;
}

// All members take part, even with a wrong pointer, so that none waits for another.
Result<Allocations::Allocation*> Allocations::agree_on(Job& job, Team& team, void* pointer) {
  Status wrong;
  std::int64_t region = 0;
  Team members = team;
  if (pointer != nullptr) {
    auto own = find_own(job, pointer);
    if (!own.ok()) {
      wrong = std::move(own).status();
    } else if ((*own)->region.local() != pointer) {
      wrong = Status::error(Code::invalid_argument,
                            fmt::format("{} lies in this process's memory from {} on, but not at "
                                        "its start",
                                        fmt::ptr(pointer), fmt::ptr((*own)->region.local())))
                  .hint("give the pointer that ARMCI_Malloc set for this process");
    } else {
      region = (*own)->region.id().value;
      members = (*own)->region.team();
    }
  }
  TESSERA_RETURN_IF_ERROR(members.agree(wrong));
  // The largest number, and by its negative the smallest number that isn't 0.
  constexpr std::int64_t no_region = std::numeric_limits<std::int64_t>::min();
  std::int64_t bounds[2] = {region, region == 0 ? no_region : -region};
  TESSERA_RETURN_IF_ERROR(members.allreduce(std::span<std::int64_t>(bounds), Reduction::max));
  if (bounds[0] == 0) {
    return static_cast<Allocation*>(nullptr);
  }
  const std::lock_guard guard(mutex_);
  const auto found = by_region_.find(static_cast<std::uint32_t>(bounds[0]));
  if (bounds[0] != -bounds[1] || found == by_region_.end()) {
    return Status::error(Code::invalid_argument,
                         "the processes give pointers of different allocations")
        .hint("all processes of one allocation must call, each with its own pointer");
  }
  return &found->second;
}

Status Allocations::free(Job& job, Team& team, void* pointer) {
  return give_up(job, team, pointer, false);
}

Status Allocations::detach(Job& job, Team& team, void* pointer) {
  return give_up(job, team, pointer, true);
}

// Collective. All members know the result once they have agreed on it.
Status Allocations::give_up(Job& job, Team& team, void* pointer, bool is_attached) {
  TESSERA_ASSIGN_OR_RETURN(Allocation* const found, agree_on(job, team, pointer));
  if (found == nullptr) {
    return {};
  }
  if (found->is_attached != is_attached) {
    return wrong_release_function(found->is_attached);
  }
  TESSERA_RETURN_IF_ERROR(found->region.fence());
  const std::uint32_t number = found->region.id().value;
  Status freed = found->region.free();
  const std::lock_guard guard(mutex_);
  by_region_.erase(number);
  return freed;
}

Status Allocations::free_all() {
  Status all;
  for (auto& [number, each] : by_region_) {
    each.accesses.clear();
    if (Status freed = each.region.free(); all.ok()) {
      all = std::move(freed);
    }
  }
  by_region_.clear();
  return all;
}

Status Allocations::begin_access(Job& job, void* pointer) {
  TESSERA_ASSIGN_OR_RETURN(Allocation* const found, find_own(job, pointer));
  if ((found->mode & ARMCIX_MODE_NO_LOAD_STORE) != 0) {
    return Status::error(Code::invalid_argument,
                         fmt::format("the memory at {} is in a mode without loads and stores",
                                     fmt::ptr(pointer)))
        .hint("leave ARMCIX_MODE_NO_LOAD_STORE out of ARMCIX_Mode_set first");
  }
  TESSERA_ASSIGN_OR_RETURN(LocalAccess access, LocalAccess::begin(found->region));
  const std::lock_guard guard(mutex_);
  found->accesses.push_back(std::move(access));
  return {};
}

Status Allocations::end_access(Job& job, void* pointer) {
  TESSERA_ASSIGN_OR_RETURN(Allocation* const found, find_own(job, pointer));
  const std::lock_guard guard(mutex_);
  if (found->accesses.empty()) {
    return Status::error(Code::invalid_argument,
                         fmt::format("no access to the memory at {} was begun", fmt::ptr(pointer)))
        .hint("call ARMCI_Access_begin once before each ARMCI_Access_end");
  }
  Status ended = found->accesses.back().end();
  found->accesses.pop_back();
  return ended;
}

namespace {

Status check_mode(int mode) {
  constexpr int all_modes = ARMCIX_MODE_ALL | ARMCIX_MODE_CONFLICT_FREE |
                            ARMCIX_MODE_NO_LOAD_STORE | ARMCIX_MODE_READ_ONLY |
                            ARMCIX_MODE_ACCUMULATE_ONLY;
  if (mode <= 0 || (mode & ~all_modes) != 0) {
    return Status::error(Code::invalid_argument,
                         fmt::format("{} is not a combination of access modes", mode))
        .hint(
            "add ARMCIX_MODE_ALL, _CONFLICT_FREE, _NO_LOAD_STORE, _READ_ONLY and _ACCUMULATE_ONLY "
            "as needed");
  }
  constexpr int both = ARMCIX_MODE_READ_ONLY | ARMCIX_MODE_ACCUMULATE_ONLY;
  return (mode & both) == both
             ? Status::error(Code::invalid_argument,
                             "a mode that is read-only and accumulate-only allows nothing")
                   .hint("give one of the two")
             : Status();
}

// begin_access() enforces NO_LOAD_STORE when it is combined with another mode.
AccessMode access_mode_of(int mode) {
  return (mode & ARMCIX_MODE_READ_ONLY) != 0         ? AccessMode::read_only
         : (mode & ARMCIX_MODE_ACCUMULATE_ONLY) != 0 ? AccessMode::accumulate_only
         : (mode & ARMCIX_MODE_NO_LOAD_STORE) != 0   ? AccessMode::no_local_access
                                                     : AccessMode::any;
}

}  // namespace

Status Allocations::set_mode(Job& job, Team& team, void* pointer, int mode) {
  TESSERA_RETURN_IF_ERROR(team.agree(check_mode(mode)));
  TESSERA_ASSIGN_OR_RETURN(Allocation* const found, agree_on(job, team, pointer));
  if (found == nullptr) {
    return {};
  }
  const bool is_accessed = (mode & ARMCIX_MODE_NO_LOAD_STORE) != 0 && !found->accesses.empty();
  TESSERA_RETURN_IF_ERROR(found->region.team().agree(
      is_accessed ? Status::error(Code::invalid_argument,
                                  fmt::format("{} accesses to the memory have not ended",
                                              found->accesses.size()))
                        .hint("call ARMCI_Access_end for each ARMCI_Access_begin before")
                  : Status()));
  TESSERA_RETURN_IF_ERROR(found->region.set_access_mode(
      access_mode_of(mode),
      (mode & ARMCIX_MODE_CONFLICT_FREE) != 0 ? Conflicts::none : Conflicts::possible));
  found->mode = mode;
  return {};
}

Result<int> Allocations::mode(Job& job, void* pointer) {
  TESSERA_ASSIGN_OR_RETURN(const Allocation* const found, find_own(job, pointer));
  return found->mode;
}

}  // namespace tessera::rma::armci
