// SPDX-License-Identifier: BSD-3-Clause
#include "rma/server/agent/lock_server.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tessera::rma::server {
namespace {

using detail::DirectorySlice;
using detail::LockOutcome;
using detail::QueueLock;

// While the ring of some lock is full: the polling period for requests without a ticket.
constexpr std::chrono::milliseconds pause_for_room{1};

// The number of locks that one rank may wait for at once: one a thread. More would only waste
// memory.
constexpr std::ptrdiff_t max_waiting = 1024;

}  // namespace

template <class Action>
Status RemoteLockServer::visit(const FrameHeader& request, Action&& action) const {
  Status refusal;
  const bool is_there =
      directory_.visit(request.region, request.target, [&](const DirectorySlice& slice) {
        const bool is_lock = slice.use == DirectorySlice::Use::locks &&
                             request.offset < slice.bytes && request.offset % slice.unit == 0;
        if (!is_lock) {
          refusal =
              Status::error(Code::out_of_range, fmt::format("there is no lock at {} of memory {}",
                                                            request.offset, request.region.value));
          return;
        }
        action(*reinterpret_cast<QueueLock*>(node_.arena().at(slice.location) + request.offset));
      });
  return is_there ? std::move(refusal) : Status::error(Code::closed, "the locks were freed");
}

Result<std::uint64_t> RemoteLockServer::try_lock(const FrameHeader& request) const {
  LockOutcome outcome_so_far{.is_acquired = false, .is_busy = true};
  TESSERA_RETURN_IF_ERROR(visit(request, [&](QueueLock& lock) {
    int dead_local_rank = -1;
    const int remote_rank = node_.remote_rank_slot(request.origin);
    if (const auto outcome = lock.try_lock(node_, remote_rank, dead_local_rank)) {
      outcome_so_far = detail::lock_outcome_of(node_, *outcome, dead_local_rank);
    }
  }));
  return lock_word(outcome_so_far);
}

void RemoteLockServer::lock(const FrameHeader& request, const Answer& answer) {
  if (request.words[0] == lock_without_waiting) {
    answer(request, try_lock(request));
    return;
  }
  const auto waits = [&](const Waiting& each) { return each.request.origin == request.origin; };
  if (std::count_if(waiting_.begin(), waiting_.end(), waits) >= max_waiting) {
    answer(
        request,
        Status::error(
            Code::limit_exceeded,
            fmt::format("rank {} already waits for {} locks of rank {}'s node, which is the limit",
                        request.origin.value, max_waiting, request.target.value)));
    return;
  }
  // Recorded before it gets a ticket: a ticket without a record would block all others.
  waiting_.push_back(
      {.request = request, .ticket = {.local_rank = node_.remote_rank_slot(request.origin)}});
  if (advance(waiting_.back(), answer)) {
    waiting_.pop_back();
  }
}

bool RemoteLockServer::advance(Waiting& waiting, const Answer& answer) {
  std::optional<QueueLock::Outcome> outcome;
  Status status = visit(waiting.request,
                        [&](QueueLock& lock) { outcome = lock.advance(node_, waiting.ticket); });
  if (!status.ok()) {
    answer(waiting.request, std::move(status));
    return true;
  }
  if (!outcome) {
    return false;
  }
  answer(waiting.request,
         lock_word(detail::lock_outcome_of(node_, *outcome, waiting.ticket.dead_local_rank)));
  return true;
}

Status RemoteLockServer::unlock(const FrameHeader& request) {
  bool was_held = false;
  TESSERA_RETURN_IF_ERROR(visit(request, [&](QueueLock& lock) {
    was_held = lock.unlock(node_, node_.remote_rank_slot(request.origin));
  }));
  return was_held ? Status()
                  : Status::error(Code::invalid_argument,
                                  fmt::format("rank {} unlocked a lock of rank {}'s node that it "
                                              "does not hold",
                                              request.origin.value, request.target.value));
}

void RemoteLockServer::answer_waiting(const Answer& answer) {
  std::erase_if(waiting_, [&](Waiting& each) { return advance(each, answer); });
}

std::chrono::milliseconds RemoteLockServer::max_delay() const {
  if (waiting_.empty()) {
    return std::chrono::milliseconds::max();
  }
  const bool is_ring_full = std::any_of(waiting_.begin(), waiting_.end(),
                                        [](const Waiting& each) { return !each.ticket.is_queued; });
  const auto liveness_interval =
      std::chrono::ceil<std::chrono::milliseconds>(node_.policy().liveness_interval);
  return is_ring_full ? pause_for_room : liveness_interval;
}

void RemoteLockServer::forget(WorldRank remote_rank) {
  std::erase_if(waiting_, [&](const Waiting& each) { return each.request.origin == remote_rank; });
}

}  // namespace tessera::rma::server
