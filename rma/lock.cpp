// SPDX-License-Identifier: BSD-3-Clause
#include "rma/lock.hpp"

#include <fmt/format.h>

#include <utility>

#include "rma/engine/job_state.hpp"
#include "rma/engine/lock_set_state.hpp"
#include "rma/within_memory.hpp"

namespace tessera::rma {

LockSet& LockSet::operator=(LockSet&& other) noexcept {
  if (this != &other) {
    free().ignore("locks that are overwritten are freed as by their destructor");
    state_ = std::move(other.state_);
  }
  return *this;
}

LockSet::~LockSet() {
  if (state_) {
    free().ignore("a destructor cannot report; free() does");
  }
}

Result<LockSet> LockSet::create(Team& team, std::int64_t count) {
  const detail::WaitScope wait(team.state().job().recorder, detail::Wait::memory);
  TESSERA_ASSIGN_OR_RETURN(auto state, detail::LockSetState::create(team, count));
  return LockSet(std::move(state));
}

Status LockSet::free() {
  return state_ ? state_->free() : Status();
}

Status LockSet::lock(TeamRank owner, std::int64_t index) {
  return detail::within_memory([&] { return state_->lock(owner, index); });
}

Result<bool> LockSet::try_lock(TeamRank owner, std::int64_t index) {
  return detail::within_memory([&] { return state_->try_lock(owner, index); });
}

Status LockSet::unlock(TeamRank owner, std::int64_t index) {
  return detail::within_memory([&] { return state_->unlock(owner, index); });
}

std::int64_t LockSet::count(TeamRank owner) const noexcept {
  return state_->count(owner);
}

}  // namespace tessera::rma
