// SPDX-License-Identifier: BSD-3-Clause
#include "rma/engine/accumulate_tickets.hpp"

#include <fmt/format.h>

#include "rma/base/catch_bad_alloc.hpp"
#include "rma/engine/job_state.hpp"
#include "rma/engine/lock_set_state.hpp"
#include "rma/node/arena.hpp"

namespace tessera::rma::detail {
namespace {

// The world team has all ranks, in their order.
TeamRank owner_of(WorldRank target) noexcept {
  return TeamRank{target.value};
}

}  // namespace

AccumulateTickets::AccumulateTickets(Arena& arena, std::shared_ptr<LockSetState> locks) noexcept
    : arena_(arena), locks_(std::move(locks)) {}

Result<std::unique_ptr<AccumulateTickets>> AccumulateTickets::create(JobState& job) {
  TESSERA_ASSIGN_OR_RETURN(auto locks,
                           LockSetState::create(job.world(), 1, LockSetState::Use::of_job));
  return std::unique_ptr<AccumulateTickets>(
      new AccumulateTickets(job.node().arena(), std::move(locks)));
}

// The locks are not freed: ranks of other nodes may still wait for them. They are freed with the
// node's memory.
AccumulateTickets::~AccumulateTickets() {
  for (const std::uint64_t offset : free_buffers_) {
    arena_.free(offset, buffer_bytes);
  }
}

Status AccumulateTickets::begin(WorldRank target) {
  Status begun = locks_->lock(owner_of(target), 0);
  return begun.ok() ? std::move(begun)
                    : std::move(begun).context(
                          fmt::format("waiting to accumulate to rank {}", target.value));
}

Status AccumulateTickets::end(WorldRank target) noexcept {
  return catch_bad_alloc([&] {
    Status ended = locks_->unlock(owner_of(target), 0);
    return ended.ok() ? std::move(ended)
                      : std::move(ended).context(
                            fmt::format("finishing an accumulate to rank {}", target.value));
  });
}

void AccumulateTickets::settle() {
  locks_->wait_for_unlocks().ignore("a node that doesn't answer has no waiting ranks");
}

Result<AccumulateTickets::Buffer> AccumulateTickets::allocate_buffer() {
  {
    const std::lock_guard guard(spare_mutex_);
    if (!free_buffers_.empty()) {
      Buffer lent(*this, free_buffers_.back());
      free_buffers_.pop_back();
      return lent;
    }
    free_buffers_.reserve(buffers_ + 1);
    ++buffers_;
  }
  TESSERA_ASSIGN_OR_RETURN(const std::uint64_t offset, arena_.allocate(buffer_bytes));
  if (Status status = arena_.back(offset, buffer_bytes); !status.ok()) {
    arena_.free(offset, buffer_bytes);
    return std::move(status).context("allocating the temporary buffer of an accumulate");
  }
  return Buffer(*this, offset);
}

AccumulateTickets::Buffer::~Buffer() {
  if (from_ != nullptr) {
    const std::lock_guard guard(from_->spare_mutex_);
    from_->free_buffers_.push_back(offset_);
  }
}

std::span<std::byte> AccumulateTickets::Buffer::bytes() const noexcept {
  return {from_->arena_.at(offset_), buffer_bytes};
}

}  // namespace tessera::rma::detail
