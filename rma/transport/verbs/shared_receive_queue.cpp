// SPDX-License-Identifier: BSD-3-Clause
#include "rma/transport/verbs/shared_receive_queue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace tessera::rma::verbs {
namespace {

constexpr std::size_t max_slab = 64;
// Posted at once, if the reserve is large enough.
constexpr std::size_t max_batch = 16;
// This fraction of the reserve: if fewer receives are left, the reserve is too small.
constexpr std::size_t low = 4;

}  // namespace

SharedReceiveQueue::SharedReceiveQueue(std::shared_ptr<Device> device, Registrar& registrar,
                                       std::size_t bytes, std::size_t max)
    : device_(std::move(device)),
      registrar_(registrar),
      bytes_(bytes),
      slab_buffers_(std::min(max, max_slab)),
      max_(max / slab_buffers_ * slab_buffers_),
      reserve_(std::min(max_slab, max_ / 2)) {
  slabs_.reserve(max_ / slab_buffers_);
}

Result<std::unique_ptr<SharedReceiveQueue>> SharedReceiveQueue::create(
    std::shared_ptr<Device> device, Registrar& registrar, std::size_t bytes, std::size_t max) {
  const std::size_t possible = std::min<std::size_t>(max, device->limits().max_srq);
  constexpr std::size_t min = 2;  // one to grant, one in reserve
  if (possible < min) {
    return Status::error(Code::limit_exceeded,
                         fmt::format("device '{}' has shared receive queues of {} messages, and {} "
                                     "are needed",
                                     device->name(), possible, min));
  }
  std::unique_ptr<SharedReceiveQueue> pool(
      new SharedReceiveQueue(std::move(device), registrar, bytes, possible));
  ibv_srq_init_attr wanted{};
  wanted.attr.max_wr = static_cast<std::uint32_t>(pool->max_);
  wanted.attr.max_sge = 1;
  Device& used = *pool->device_;
  pool->queue_ =
      OwnedReceiveQueue(used.library(), used.library()->create_srq(used.domain(), wanted));
  if (!pool->queue_) {
    const int error = errno;
    return cannot_make(used, fmt::format("a shared receive queue of {} messages", pool->max_),
                       used.limits().receive_queues, error);
  }
  return pool;
}

// --- number of buffers

Status SharedReceiveQueue::start() {
  const std::lock_guard guard(mutex_);
  if (!slabs_.empty() && spare_.empty()) {
    return {};
  }
  TESSERA_RETURN_IF_ERROR(grow_to(granted_ + reserve_));
  TESSERA_RETURN_IF_ERROR(post_spare());
  min_posted_ = posted_;
  arm_limit();
  return {};
}

// Requires: mutex_ is locked.
Status SharedReceiveQueue::grow_to(std::size_t count) {
  if (count > slabs_.size() * slab_buffers_ - retired_.size()) {
    spare_.insert(spare_.end(), retired_.begin(), retired_.end());
    retired_.clear();
    std::fill(retired_counts_.begin(), retired_counts_.end(), std::size_t{0});
  }
  while (count > slabs_.size() * slab_buffers_) {
    TESSERA_RETURN_IF_ERROR(add_slab());
  }
  return {};
}

// Requires: mutex_ is locked.
Status SharedReceiveQueue::add_slab() {
  TESSERA_ASSIGN_OR_RETURN(auto slab,
                           RegisteredBufferPool::create(registrar_, slab_buffers_, bytes_));
  const std::size_t first = slabs_.size() * slab_buffers_;
  slabs_.push_back(std::move(slab));
  retired_counts_.push_back(0);
  for (std::size_t i = 0; i < slab_buffers_; ++i) {
    spare_.push_back(static_cast<std::uint32_t>(first + i));
  }
  return {};
}

// If buffers are scarce, one peer gets only a part of the rest.
std::size_t SharedReceiveQueue::grant_credits(std::size_t wanted) {
  constexpr std::size_t parts = 8;
  const std::lock_guard guard(mutex_);
  const std::size_t left = max_ - reserve_ - std::min(granted_, max_ - reserve_);
  std::size_t count = std::min(wanted, left);
  if (is_half_granted()) {
    count = std::min(count, std::max<std::size_t>(left / parts, 1));
  }
  if (count == 0 || !grow_to(granted_ + count + reserve_).ok() || !post_spare().ok()) {
    return 0;
  }
  granted_ += count;
  return count;
}

Status SharedReceiveQueue::reserve_for_client(std::size_t count) {
  const std::lock_guard guard(mutex_);
  if (granted_ + count + reserve_ > max_) {
    return Status::error(Code::limit_exceeded,
                         fmt::format("all {} receive buffers are reserved for other clients", max_))
        .hint(fmt::format("set TESSERA_TUNE=server_buffers=shared, or a larger "
                          "TESSERA_TUNE=verbs_receives and verbs_completions; device '{}' has "
                          "receive queues of {} at most",
                          device_->name(), device_->limits().max_srq));
  }
  TESSERA_RETURN_IF_ERROR(grow_to(granted_ + count + reserve_));
  TESSERA_RETURN_IF_ERROR(post_spare());
  granted_ += count;
  return {};
}

void SharedReceiveQueue::release_credits(std::size_t count) noexcept {
  const std::lock_guard guard(mutex_);
  granted_ -= std::min(count, granted_);
}

bool SharedReceiveQueue::is_scarce() const {
  const std::lock_guard guard(mutex_);
  return is_half_granted();
}

std::size_t SharedReceiveQueue::count() const {
  const std::lock_guard guard(mutex_);
  return slabs_.size() * slab_buffers_;
}

// Requires: mutex_ is locked. For bursts of messages.
void SharedReceiveQueue::grow_reserve() {
  const std::size_t larger = std::min(reserve_ + slab_buffers_, max_ / 2);
  if (larger > reserve_ && granted_ + larger <= max_ && grow_to(granted_ + larger).ok()) {
    reserve_ = larger;
  }
}

void SharedReceiveQueue::maintain() {
  const std::lock_guard guard(mutex_);
  const std::size_t smaller = reserve_ - std::min(reserve_, slab_buffers_);
  if (min_posted_ > 2 * slab_buffers_ && smaller >= slab_buffers_) {
    reserve_ = smaller;
  }
  min_posted_ = posted_;
}

// --- messages and buffers

// Requires: mutex_ is locked.
Status SharedReceiveQueue::post_spare() {
  std::array<ibv_recv_wr, max_slab> requests;
  std::array<ibv_sge, max_slab> pieces;
  while (!spare_.empty()) {
    const std::size_t count = std::min(spare_.size(), requests.size());
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint32_t buffer = spare_[spare_.size() - count + i];
      pieces[i] = {reinterpret_cast<std::uintptr_t>(at(buffer)), static_cast<std::uint32_t>(bytes_),
                   slabs_[buffer / slab_buffers_]->key()};
      requests[i] = {buffer | is_receive, i + 1 < count ? &requests[i + 1] : nullptr, &pieces[i],
                     1};
    }
    ibv_recv_wr* bad = requests.data();
    if (const int error = device_->library()->post_srq_recv(get(), requests.data(), bad);
        error != 0) {
      // The device has those before the bad one.
      const auto first = spare_.end() - static_cast<std::ptrdiff_t>(count);
      posted_ += static_cast<std::size_t>(bad - requests.data());
      spare_.erase(first, first + (bad - requests.data()));
      return Status::error(Code::internal, fmt::format("receive buffers cannot be posted: {}",
                                                       std::strerror(error)));
    }
    posted_ += count;
    spare_.resize(spare_.size() - count);
  }
  return {};
}

// Requests one event when few are left.
void SharedReceiveQueue::arm_limit() {
  ibv_srq_attr attributes{};
  attributes.srq_limit = static_cast<std::uint32_t>(std::max<std::size_t>(reserve_ / low, 1));
  // Without the event, receives are still counted at each message.
  static_cast<void>(device_->library()->modify_srq(get(), attributes, IBV_SRQ_LIMIT));
}

std::byte* SharedReceiveQueue::at(std::uint32_t buffer) const noexcept {
  return slabs_[buffer / slab_buffers_]->at(static_cast<int>(buffer % slab_buffers_));
}

void SharedReceiveQueue::record_received() {
  const std::lock_guard guard(mutex_);
  posted_ -= std::min<std::size_t>(posted_, 1);
  min_posted_ = std::min(min_posted_, posted_);
  if (posted_ <= reserve_ / low) {
    grow_reserve();
    post_spare().ignore("peers report errors if the queue accepts no receives");
  }
}

bool SharedReceiveQueue::try_to_hold_uncredited() {
  const std::lock_guard guard(mutex_);
  const bool may = held_ < reserve_ / 2;
  held_ += may ? 1U : 0U;
  return may;
}

void SharedReceiveQueue::record_uncredited_read() noexcept {
  const std::lock_guard guard(mutex_);
  --held_;
}

// Whether the buffer's slab isn't needed. One slab more than needed is kept for the next burst.
bool SharedReceiveQueue::is_surplus(std::uint32_t buffer) const noexcept {
  return buffer / slab_buffers_ * slab_buffers_ >= granted_ + reserve_ + slab_buffers_;
}

// Requires: mutex_ is locked.
void SharedReceiveQueue::free_retired_slabs() {
  const std::size_t before = slabs_.size();
  while (!slabs_.empty() && retired_counts_.back() == slab_buffers_) {
    slabs_.pop_back();
    retired_counts_.pop_back();
  }
  if (slabs_.size() < before) {
    std::erase_if(retired_,
                  [&](std::uint32_t each) { return each >= slabs_.size() * slab_buffers_; });
  }
}

void SharedReceiveQueue::return_buffer(std::uint32_t buffer) {
  const std::lock_guard guard(mutex_);
  if (is_surplus(buffer)) {
    retired_.push_back(buffer);
    ++retired_counts_[buffer / slab_buffers_];
    free_retired_slabs();
    return;
  }
  spare_.push_back(buffer);
  if (spare_.size() >= std::min(reserve_ / low, max_batch) || posted_ <= reserve_ / low) {
    post_spare().ignore("peers report errors if the queue accepts no receives");
  }
}

void SharedReceiveQueue::refill() {
  const std::lock_guard guard(mutex_);
  grow_reserve();
  post_spare().ignore("as when a buffer is returned");
  arm_limit();
}

}  // namespace tessera::rma::verbs
