// SPDX-License-Identifier: BSD-3-Clause
#include "rma/engine/accumulate_turns.hpp"

#include <fmt/format.h>

#include <new>

#include "rma/engine/job_state.hpp"
#include "rma/engine/lock_set_state.hpp"
#include "rma/node/arena.hpp"
#include "rma/within_memory.hpp"

namespace tessera::rma::detail {
namespace {

// The world team has all ranks, in their order.
TeamRank owner_of(WorldRank target) noexcept {
  return TeamRank{target.value};
}

}  // namespace

AccumulateTurns::AccumulateTurns(Arena& arena, std::shared_ptr<LockSetState> locks) noexcept
    : arena_(arena), locks_(std::move(locks)) {}

Result<std::unique_ptr<AccumulateTurns>> AccumulateTurns::create(JobState& job) {
  TESSERA_ASSIGN_OR_RETURN(auto locks,
                           LockSetState::create(job.world_team, 1, LockSetState::Use::of_the_job));
  return std::unique_ptr<AccumulateTurns>(new AccumulateTurns(job.node->arena(), std::move(locks)));
}

// The locks are not freed: ranks of other nodes may still wait for them. They are freed with the
// node's memory.
AccumulateTurns::~AccumulateTurns() {
  for (const std::uint64_t offset : spare_) {
    arena_.free(offset, buffer_bytes);
  }
}

Status AccumulateTurns::begin(WorldRank target) {
  Status begun = locks_->lock(owner_of(target), 0);
  return begun.ok() ? std::move(begun)
                    : std::move(begun).context(
                          fmt::format("waiting to accumulate to rank {}", target.value));
}

Status AccumulateTurns::end(WorldRank target) noexcept {
  return within_memory([&] {
    Status ended = locks_->unlock(owner_of(target), 0);
    return ended.ok() ? std::move(ended)
                      : std::move(ended).context(
                            fmt::format("finishing an accumulate to rank {}", target.value));
  });
}

void AccumulateTurns::settle() {
  locks_->wait_for_unlocks().ignore("a node that doesn't answer has no waiting ranks");
}

Result<AccumulateTurns::Buffer> AccumulateTurns::lend() {
  {
    const std::lock_guard guard(spare_mutex_);
    if (!spare_.empty()) {
      Buffer lent(*this, spare_.back());
      spare_.pop_back();
      return lent;
    }
  }
  TESSERA_ASSIGN_OR_RETURN(const std::uint64_t offset, arena_.allocate(buffer_bytes));
  if (Status status = arena_.back(offset, buffer_bytes); !status.ok()) {
    arena_.free(offset, buffer_bytes);
    return std::move(status).context("allocating the temporary buffer of an accumulate");
  }
  return Buffer(*this, offset);
}

AccumulateTurns::Buffer::~Buffer() {
  if (from_ != nullptr) {
    const std::lock_guard guard(from_->spare_mutex_);
    try {
      from_->spare_.push_back(offset_);
    } catch (const std::bad_alloc&) {
      from_->arena_.free(offset_, buffer_bytes);
    }
  }
}

std::span<std::byte> AccumulateTurns::Buffer::bytes() const noexcept {
  return {from_->arena_.at(offset_), buffer_bytes};
}

}  // namespace tessera::rma::detail
