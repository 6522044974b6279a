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
      .hint("let it have a pointer for each process of the group");
}

// Whether anybody has memory in the region.
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
  Status mine =
      pointers == nullptr ? null_array()
      : bytes < 0 ? Status::error(Code::invalid_argument, fmt::format("{} bytes of memory", bytes))
                  : Status();
  TESSERA_RETURN_IF_ERROR(team.agree(mine));
  TESSERA_ASSIGN_OR_RETURN(Region region, Region::allocate(team, static_cast<std::size_t>(bytes),
                                                           {.name = "ARMCI_Malloc"}));
  for (std::int32_t rank = 0; rank < team.size(); ++rank) {
    pointers[rank] = region.raw_pointer(TeamRank{rank});
  }
  if (is_empty(region)) {
    return region.free();  // nobody has a pointer with which to do it later
  }
  const std::lock_guard guard(mutex_);
  const std::uint32_t number = region.id().value;
  by_region_.emplace(number, Allocation{std::move(region), ARMCIX_MODE_ALL, {}});
  return {};
}

Result<Allocations::Allocation*> Allocations::find_own(Job& job, void* pointer) {
  TESSERA_ASSIGN_OR_RETURN(const RemoteAddress at, job.translate(job.rank(), pointer));
  const std::lock_guard guard(mutex_);
  const auto found = by_region_.find(at.region.value);
  if (found == by_region_.end()) {
    return Status::error(Code::invalid_argument,
                         fmt::format("{} is not memory of ARMCI_Malloc's", fmt::ptr(pointer)))
        .hint("give the pointer that ARMCI_Malloc set for this process");
  }
  return &found->second;
}

// All members take part whatever is wrong with their pointers, so that none waits for another.
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
  // The largest number, and by its negative the smallest of those that aren't 0.
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
        .hint("each gives its own pointer of one allocation, and all of them call");
  }
  return &found->second;
}

Status Allocations::free(Job& job, Team& team, void* pointer) {
  TESSERA_ASSIGN_OR_RETURN(Allocation* const found, agree_on(job, team, pointer));
  if (found == nullptr) {
    return {};
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
        .hint("call ARMCI_Access_begin before, once for each end");
  }
  Status ended = found->accesses.back().end();
  found->accesses.pop_back();
  return ended;
}

Status Allocations::set_mode(Job& job, Team& team, void* pointer, int mode) {
  constexpr int all_modes = ARMCIX_MODE_ALL | ARMCIX_MODE_CONFLICT_FREE | ARMCIX_MODE_NO_LOAD_STORE;
  const bool exists = mode > 0 && (mode & ~all_modes) == 0;
  TESSERA_RETURN_IF_ERROR(team.agree(
      exists ? Status()
             : Status::error(Code::invalid_argument,
                             fmt::format("{} is no combination of access modes", mode))
                   .hint("add ARMCIX_MODE_ALL, _CONFLICT_FREE and _NO_LOAD_STORE as needed")));
  TESSERA_ASSIGN_OR_RETURN(Allocation* const found, agree_on(job, team, pointer));
  if (found != nullptr) {
    found->mode = mode;
  }
  return {};
}

Result<int> Allocations::mode(Job& job, void* pointer) {
  TESSERA_ASSIGN_OR_RETURN(const Allocation* const found, find_own(job, pointer));
  return found->mode;
}

}  // namespace tessera::rma::armci
