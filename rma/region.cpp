// SPDX-License-Identifier: BSD-3-Clause
#include "rma/region.hpp"

#include <exception>
#include <utility>

#include "rma/engine/access.hpp"
#include "rma/engine/job_state.hpp"
#include "rma/engine/named.hpp"
#include "rma/engine/region_state.hpp"

namespace tessera::rma {

namespace {

// The label of the collectives that create a region.
Label creation_label(std::string_view verb, const RegionOptions& options) noexcept {
  return {.verb = verb, .kind = options.kind, .name = options.name};
}

Status begin_access(const detail::RegionState& state) {
  if (state.is_freed()) {
    return Status::error(Code::closed, "local access to a region that was freed");
  }
  if (state.options().access_mode == AccessMode::no_local_access) {
    return detail::forbidden("local access to " + state.describe(), AccessMode::no_local_access);
  }
  return state.segment().begin_access();
}

}  // namespace

Region& Region::operator=(Region&& other) noexcept {
  if (this != &other) {
    free_silently();
    state_ = std::move(other.state_);
    is_borrowed_ = other.is_borrowed_;
  }
  return *this;
}

Region::~Region() {
  if (state_ && !is_borrowed_ && !state_->is_freed()) {
    free_silently();
  }
}

// Errors go to the log, as a destructor cannot return them. A rank that frees while an exception
// leaves its scope does not synchronise with the others, which free in the normal way.
void Region::free_silently() noexcept {
  if (!state_ || is_borrowed_) {
    state_.reset();
    return;
  }
  const bool is_unwinding = std::uncaught_exceptions() > 0;
  const Status status = state_->free(is_unwinding ? Label::free_by_exception : "free");
  if (status.ok() || status.code() == Code::closed) {
    return;
  }
  const bool is_mistake = status.code() == Code::invalid_argument;
  state_->job().log().line(is_mistake ? LogLevel::warning : LogLevel::info, [&] {
    return std::string("freeing ") + std::string(state_->options().kind) + " '" +
           state_->options().name + "': " + status.message();
  });
}

Result<Region> Region::allocate(Team& team, std::size_t my_bytes, const RegionOptions& options) {
  const Label label = creation_label("allocate", options);
  const LabelScope scope(team, label);
  const detail::WaitScope wait(team.state().job().recorder(), detail::Wait::memory, WorldRank{-1},
                               my_bytes, team.state().label());
  TESSERA_ASSIGN_OR_RETURN(auto state, team.state().job().name_rank(detail::RegionState::create(
                                           team, nullptr, my_bytes, options, false)));
  return Region(std::move(state));
}

Result<Region> Region::attach(Team& team, void* memory, std::size_t my_bytes,
                              const RegionOptions& options) {
  const Label label = creation_label("attach", options);
  const LabelScope scope(team, label);
  const detail::WaitScope wait(team.state().job().recorder(), detail::Wait::memory, WorldRank{-1},
                               my_bytes, team.state().label());
  TESSERA_RETURN_IF_ERROR(team.agree([&] {
    return memory == nullptr && my_bytes > 0
               ? Status::error(Code::invalid_argument, "the memory to attach is null")
               : Status();
  }));
  TESSERA_ASSIGN_OR_RETURN(auto state, team.state().job().name_rank(detail::RegionState::create(
                                           team, memory, my_bytes, options, true)));
  return Region(std::move(state));
}

Region Region::borrow() const {
  Region region(state_);
  region.is_borrowed_ = true;
  return region;
}

Status Region::free() {
  if (is_borrowed_) {
    state_.reset();
  }
  return state_ ? state_->job().name_rank(state_->free("free")) : Status();
}

Label Region::label(std::string_view verb) const noexcept {
  return state_->label(verb);
}
RegionId Region::id() const noexcept {
  return state_->id();
}
Team& Region::team() const noexcept {
  return state_->team();
}
const RegionOptions& Region::options() const noexcept {
  return state_->options();
}
Atomics Region::atomics() const noexcept {
  return state_->atomics();
}
std::size_t Region::bytes(TeamRank rank) const noexcept {
  return state_->bytes(rank);
}

RemoteAddress Region::at(TeamRank rank, std::uint64_t offset) const noexcept {
  return {state_->team().world_rank(rank), state_->id(), offset};
}

std::byte* Region::local() const noexcept {
  return state_->is_freed() ? nullptr : state_->segment().local();
}

std::byte* Region::direct(TeamRank rank) const noexcept {
  return state_->is_freed() ? nullptr : state_->direct(rank);
}

void* Region::raw_pointer(TeamRank rank) const noexcept {
  if (state_->is_freed()) {
    return nullptr;
  }
  const auto pointer = detail::named(state_->job(), [&] { return state_->raw_pointer(rank); });
  return pointer.ok() ? *pointer : nullptr;
}

Status Region::fence() {
  return detail::named(state_->job(), [&] { return state_->fence(); });
}

Status Region::set_access_mode(AccessMode mode, Conflicts conflicts) {
  if (!state_ || state_->is_freed()) {
    return Status::error(Code::closed, "cannot set the access mode of a region that was freed");
  }
  return state_->job().name_rank(state_->set_access_mode(mode, conflicts));
}

void Region::set_in_use_bytes(std::uint64_t bytes) noexcept {
  if (!state_->is_freed()) {
    state_->set_in_use_bytes(bytes);
  }
}

Result<LocalAccess> LocalAccess::begin(Region& region) {
  const auto& state = region.shared_state();
  if (!state) {
    return Status::error(Code::closed, "local access to a region that was freed");
  }
  return detail::named(state->job(), [&]() -> Result<LocalAccess> {
    TESSERA_RETURN_IF_ERROR(begin_access(*state));
    return LocalAccess(state, state->segment().local(), state->bytes(state->team().rank()));
  });
}

LocalAccess::LocalAccess(std::shared_ptr<detail::RegionState> state, std::byte* data,
                         std::size_t size) noexcept
    : state_(std::move(state)), data_(data), size_(size) {}

LocalAccess::LocalAccess(LocalAccess&& other) noexcept
    : state_(std::move(other.state_)), data_(other.data_), size_(other.size_) {}

LocalAccess::~LocalAccess() {
  if (state_) {
    detail::JobState& job = state_->job();
    if (const Status status = end(); !status.ok()) {
      job.log().line(LogLevel::warning,
                     [&] { return "ending a local access: " + status.message(); });
    }
  }
}

Status LocalAccess::end() {
  const auto state = std::exchange(state_, nullptr);
  if (!state || state->is_freed()) {
    return {};
  }
  return state->job().name_rank(state->segment().end_access());
}

}  // namespace tessera::rma
