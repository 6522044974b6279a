// SPDX-License-Identifier: BSD-3-Clause
#include "rma/lock.hpp"

#include <fmt/format.h>

#include <exception>
#include <utility>

#include "rma/engine/job_state.hpp"
#include "rma/engine/lock_set_state.hpp"
#include "rma/engine/named.hpp"

namespace tessera::rma {

LockSet& LockSet::operator=(LockSet&& other) noexcept {
  if (this != &other) {
    free_silently();
    state_ = std::move(other.state_);
  }
  return *this;
}

LockSet::~LockSet() {
  free_silently();
}

// Handles errors as Region::free_silently does.
void LockSet::free_silently() noexcept {
  if (!state_) {
    return;
  }
  const bool is_unwinding = std::uncaught_exceptions() > 0;
  const Status status = state_->free(is_unwinding ? Label::free_by_exception : "free");
  if (status.code() == Code::invalid_argument) {
    state_->job().log().line(LogLevel::warning,
                             [&] { return "freeing a lock set: " + status.message(); });
  }
}

Result<LockSet> LockSet::create(Team& team, std::int64_t count) {
  const LabelScope scope(team, {.verb = "create", .kind = "lock set"});
  const detail::WaitScope wait(team.state().job().recorder(), detail::Wait::memory, WorldRank{-1},
                               0, team.state().label());
  TESSERA_ASSIGN_OR_RETURN(auto state,
                           team.state().job().name_rank(detail::LockSetState::create(team, count)));
  return LockSet(std::move(state));
}

Status LockSet::free() {
  return state_ ? state_->job().name_rank(state_->free("free")) : Status();
}

Status LockSet::lock(TeamRank owner, std::int64_t index) {
  return detail::named(state_->job(), [&] { return state_->lock(owner, index); });
}

Result<bool> LockSet::try_lock(TeamRank owner, std::int64_t index) {
  return detail::named(state_->job(), [&] { return state_->try_lock(owner, index); });
}

Status LockSet::unlock(TeamRank owner, std::int64_t index) {
  return detail::named(state_->job(), [&] { return state_->unlock(owner, index); });
}

std::int64_t LockSet::count(TeamRank owner) const noexcept {
  return state_->count(owner);
}

}  // namespace tessera::rma
