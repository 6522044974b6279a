// SPDX-License-Identifier: BSD-3-Clause
#include "rma/armci/mutex_sets.hpp"

#include <fmt/format.h>

#include <bit>
#include <utility>

namespace tessera::rma::armci {
namespace {

std::uintptr_t number_of(armcix_mutex_hdl_t handle) {
  return std::bit_cast<std::uintptr_t>(handle);
}

}  // namespace

Result<Mutexes> Mutexes::create(Team& team, int count) {
  TESSERA_ASSIGN_OR_RETURN(LockSet locks, LockSet::create(team, count));
  return Mutexes{std::move(locks), team};
}

armcix_mutex_hdl_t MutexSets::add(Mutexes set) {
  const std::lock_guard guard(mutex_);
  by_number_.emplace(++last_, std::move(set));
  return std::bit_cast<armcix_mutex_hdl_t>(last_);
}

Result<Mutexes*> MutexSets::find(armcix_mutex_hdl_t handle) {
  const std::lock_guard guard(mutex_);
  const auto found = by_number_.find(number_of(handle));
  if (found == by_number_.end()) {
    return Status::error(Code::invalid_argument,
                         handle == nullptr
                             ? std::string("the set of mutexes is null")
                             : fmt::format("there is no set of mutexes {:#x}", number_of(handle)))
        .hint("give what ARMCIX_Create_mutexes_hdl returned, before ARMCIX_Destroy_mutexes_hdl");
  }
  return &found->second;
}

Status MutexSets::free(armcix_mutex_hdl_t handle) {
  TESSERA_ASSIGN_OR_RETURN(Mutexes* const set, find(handle));
  Status freed = set->locks.free();
  const std::lock_guard guard(mutex_);
  by_number_.erase(number_of(handle));
  return freed;
}

void MutexSets::clear() {
  by_number_.clear();
}

}  // namespace tessera::rma::armci
