// SPDX-License-Identifier: BSD-3-Clause
#include "rma/engine/operation.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "rma/base/catch_bad_alloc.hpp"
#include "rma/base/free_list_allocator.hpp"
#include "rma/engine/job_state.hpp"

namespace tessera::rma::detail {

namespace {

// Such an operation no longer concerns a fence. An error is put back for the fence to report.
bool has_succeeded(Operation& operation) {
  if (!operation.has_ended()) {
    return false;
  }
  Status error = operation.wait();
  if (error.ok()) {
    return true;
  }
  operation.completion().begin();
  operation.completion().end(std::move(error));
  return false;
}

// Reserves room for `more` entries; grows by doubling, so that not every addition copies the list.
bool has_room_for(std::vector<std::shared_ptr<Operation>>& list, std::size_t more) noexcept {
  const std::size_t needed = list.size() + more;
  if (needed <= list.capacity()) {
    return true;
  }
  return catch_bad_alloc(
      [&] {
        list.reserve(std::max(needed, 2 * list.capacity()));
        return true;
      },
      [] { return false; });
}

// Removes operations that have ended well. A program may start operations for hours before it
// fences. Scans the list only after as many were added as were left by the last scan.
void make_room(std::vector<std::shared_ptr<Operation>>& adopted) {
  constexpr std::size_t few = 64;
  if (adopted.size() < std::max(adopted.capacity(), few)) {
    return;
  }
  std::erase_if(adopted, [](const auto& each) { return has_succeeded(*each); });
  if (2 * adopted.size() > adopted.capacity()) {
    has_room_for(adopted, adopted.capacity());
  }
}

}  // namespace

bool Operation::done() {
  if (job_ != nullptr) {
    if (job_->is_in_forked_child()) [[unlikely]] {
      wait_for_all();
    }
    job_->transports().progress();
  }
  return has_ended();
}

bool Operation::has_ended() const {
  return completion_.done() && std::all_of(collected_.begin(), collected_.end(),
                                           [](const auto& each) { return each->has_ended(); });
}

void Operation::collect(std::shared_ptr<Operation> other) noexcept {
  if (other->is_without_memory()) {
    record_error(other->wait());
    return;
  }
  std::vector<std::shared_ptr<Operation>> others = std::exchange(other->collected_, {});
  if (others.size() > collected_.size()) {
    collected_.swap(others);
  }
  if (!has_room_for(collected_, others.size() + 1)) {
    record_error(other->wait());
    for (const auto& each : others) {
      record_error(each->wait());
    }
    return;
  }
  collected_.push_back(std::move(other));
  std::move(others.begin(), others.end(), std::back_inserter(collected_));
}

// Records it as the error of a further part of this operation.
void Operation::record_error(Status error) noexcept {
  completion_.begin();
  completion_.end(std::move(error));
}

bool Operation::concerns(const TargetRanks& ranks) const {
  return is_without_memory_ || ranks.has(peer_) ||
         std::any_of(collected_.begin(), collected_.end(),
                     [&](const auto& each) { return each->concerns(ranks); });
}

void Operation::wait_for_own() {
  if (job_ != nullptr) {
    const WaitScope wait(completion_.done() ? nullptr : job_->recorder(), Wait::handle, peer_);
    job_->transports().complete(completion_, {what_, peer_});
  }
}

void Operation::wait_for_all() {
  wait_for_own();
  for (const auto& each : collected_) {
    each->wait_for_all();
  }
}

Status Operation::wait() {
  if (is_without_memory_) {
    return Status::no_memory("this process has no memory for an operation");
  }
  wait_for_own();
  Status first = completion_.take_error();
  for (const auto& each : collected_) {
    Status error = each->wait();
    if (first.ok()) {
      first = std::move(error);
    }
  }
  return first;
}

std::shared_ptr<Operation> make_operation(JobState* job, WorldRank peer) {
  return std::allocate_shared<Operation>(FreeListAllocator<Operation>(), job, peer);
}

// Returns null if it was added, else the oldest operation under way: there are too many.
std::shared_ptr<Operation> Outstanding::add_unless_full(
    const std::shared_ptr<Operation>& operation) {
  const std::lock_guard guard(mutex_);
  if (under_way_.size() >= next_cleanup_size_) {
    remove_ended();
  }
  if (under_way_.size() >= limit_) {
    return under_way_.front();
  }
  under_way_.push_back(operation);
  return nullptr;
}

// Scans the list only after as many were added as were left: a step or two for each.
void Outstanding::remove_ended() {
  constexpr std::size_t few = 64;
  std::erase_if(under_way_, [](const auto& each) { return each->completion().done(); });
  next_cleanup_size_ = std::min(std::max(few, 2 * under_way_.size()), limit_);
}

void Outstanding::add(const std::shared_ptr<Operation>& operation) {
  while (const auto oldest = add_unless_full(operation)) {
    oldest->wait_for_own();  // The list also has what it collected.
  }
}

void Outstanding::adopt(const std::shared_ptr<Operation>& operation) noexcept {
  if (keep_adopted(operation)) {
    return;
  }
  if (Status error = operation->wait(); !error.ok()) {
    defer_error(std::move(error));
  }
}

bool Outstanding::keep_adopted(const std::shared_ptr<Operation>& operation) noexcept {
  const std::lock_guard guard(mutex_);
  make_room(adopted_);
  if (!has_room_for(adopted_, 1)) {
    return false;
  }
  adopted_.push_back(operation);
  update_concerns_fences();
  return true;
}

// All stay in the list until they have ended, so that another thread that comes meanwhile waits for
// them, too.
Status Outstanding::complete_adopted(const TargetRanks& ranks) {
  const std::vector<std::shared_ptr<Operation>> adopted = adopted_to(ranks);
  for (const auto& each : adopted) {
    each->wait_for_all();
  }
  return adopted.empty() ? Status() : remove_adopted(ranks);
}

std::vector<std::shared_ptr<Operation>> Outstanding::adopted_to(const TargetRanks& ranks) {
  std::vector<std::shared_ptr<Operation>> found;
  const std::lock_guard guard(mutex_);
  std::copy_if(adopted_.begin(), adopted_.end(), std::back_inserter(found),
               [&](const auto& each) { return each->concerns(ranks); });
  return found;
}

// One thread gets the first error.
Status Outstanding::remove_adopted(const TargetRanks& ranks) {
  Status first;
  const std::lock_guard guard(mutex_);
  std::erase_if(adopted_, [&](const auto& each) {
    if (!each->has_ended() || !each->concerns(ranks)) {
      return false;
    }
    Status error = each->wait();
    first = first.ok() ? std::move(error) : std::move(first);
    return true;
  });
  update_concerns_fences();
  return first;
}

void Outstanding::defer_error(Status error) {
  const std::lock_guard guard(mutex_);
  if (deferred_.ok()) {
    deferred_ = std::move(error);
  }
  update_concerns_fences();
}

Status Outstanding::take_deferred_error() {
  const std::lock_guard guard(mutex_);
  Status taken = std::exchange(deferred_, Status());
  update_concerns_fences();
  return taken;
}

// Requires: mutex_ is locked.
void Outstanding::update_concerns_fences() noexcept {
  concerns_fences_.store(!adopted_.empty() || !deferred_.ok(), std::memory_order_release);
}

}  // namespace tessera::rma::detail
