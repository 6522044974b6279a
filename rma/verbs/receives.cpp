// SPDX-License-Identifier: BSD-3-Clause
#include "rma/verbs/receives.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace tessera::rma::verbs {
namespace {

constexpr std::size_t chunk_buffers = 64;
// Posted at a time; so many more than needed there are, or a peer could find none.
constexpr std::size_t batch = 16;

}  // namespace

Receives::Receives(std::shared_ptr<Device> device, Registrar& registrar, std::size_t bytes,
                   std::size_t most)
    : device_(std::move(device)), registrar_(registrar), bytes_(bytes), most_(most) {
  chunks_.reserve(most / chunk_buffers);
}

Result<std::unique_ptr<Receives>> Receives::create(std::shared_ptr<Device> device,
                                                   Registrar& registrar, std::size_t bytes,
                                                   std::size_t most) {
  const std::size_t possible = std::min<std::size_t>(most, device->limits().max_srq);
  std::unique_ptr<Receives> made(
      new Receives(std::move(device), registrar, bytes, possible / chunk_buffers * chunk_buffers));
  ibv_srq_init_attr wanted{};
  wanted.attr.max_wr = static_cast<std::uint32_t>(made->most_);
  wanted.attr.max_sge = 1;
  Device& used = *made->device_;
  made->queue_ = OwnedReceives(used.library(), used.library()->create_srq(used.domain(), wanted));
  if (!made->queue_) {
    const int error = errno;
    return cannot_make(used, fmt::format("a shared receive queue of {} messages", made->most_),
                       used.limits().receive_queues, error);
  }
  return made;
}

Status Receives::add(std::size_t count) {
  const std::lock_guard guard(mutex_);
  if (needed_ + count + batch > most_) {
    return Status::error(Code::limit_exceeded,
                         fmt::format("all {} receive buffers are taken by other peers", most_));
  }
  while (chunks_.size() * chunk_buffers < needed_ + count + batch) {
    TESSERA_RETURN_IF_ERROR(add_chunk());
  }
  TESSERA_RETURN_IF_ERROR(post_spare());
  needed_ += count;
  arm_limit();
  return {};
}

void Receives::release(std::size_t count) noexcept {
  const std::lock_guard guard(mutex_);
  needed_ -= count;
}

// Requires: mutex_ is locked.
Status Receives::add_chunk() {
  TESSERA_ASSIGN_OR_RETURN(auto chunk, Buffers::create(registrar_, chunk_buffers, bytes_));
  const std::size_t first = chunks_.size() * chunk_buffers;
  chunks_.push_back(std::move(chunk));
  for (std::size_t i = 0; i < chunk_buffers; ++i) {
    spare_.push_back(static_cast<std::uint32_t>(first + i));
  }
  return {};
}

// Requires: mutex_ is locked.
Status Receives::post_spare() {
  std::array<ibv_recv_wr, chunk_buffers> requests;
  std::array<ibv_sge, chunk_buffers> pieces;
  while (!spare_.empty()) {
    const std::size_t count = std::min(spare_.size(), requests.size());
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint32_t buffer = spare_[spare_.size() - count + i];
      pieces[i] = {reinterpret_cast<std::uintptr_t>(at(buffer)), static_cast<std::uint32_t>(bytes_),
                   chunks_[buffer / chunk_buffers]->key()};
      requests[i] = {buffer | is_receive, i + 1 < count ? &requests[i + 1] : nullptr, &pieces[i],
                     1};
    }
    ibv_recv_wr* bad = requests.data();
    if (const int error = device_->library()->post_srq_recv(get(), requests.data(), bad);
        error != 0) {
      // Those before the bad one are the device's.
      const auto first = spare_.end() - static_cast<std::ptrdiff_t>(count);
      spare_.erase(first, first + (bad - requests.data()));
      return Status::error(Code::internal, fmt::format("receive buffers cannot be posted: {}",
                                                       std::strerror(error)));
    }
    spare_.resize(spare_.size() - count);
  }
  return {};
}

// Tells that few are left, once.
void Receives::arm_limit() {
  ibv_srq_attr attributes{};
  attributes.srq_limit = batch;
  // Without, buffers still come back in batches.
  static_cast<void>(device_->library()->modify_srq(get(), attributes, IBV_SRQ_LIMIT));
}

std::byte* Receives::at(std::uint32_t buffer) const noexcept {
  return chunks_[buffer / chunk_buffers]->at(static_cast<int>(buffer % chunk_buffers));
}

void Receives::give_back(std::uint32_t buffer) {
  const std::lock_guard guard(mutex_);
  spare_.push_back(buffer);
  if (spare_.size() >= batch) {
    post_spare().ignore("a queue that takes nothing more is found by its peers' errors");
  }
}

void Receives::refill() {
  const std::lock_guard guard(mutex_);
  post_spare().ignore("likewise");
  arm_limit();
}

}  // namespace tessera::rma::verbs
