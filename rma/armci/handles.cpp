// SPDX-License-Identifier: BSD-3-Clause
#include "rma/armci/handles.hpp"

#include <fmt/format.h>

#include <bit>
#include <random>
#include <utility>

namespace tessera::rma::armci {
namespace {

constexpr std::uint32_t aggregate_flag = 1U << 31U;

}  // namespace

Aggregate& Claim::aggregate_for(Job& job, const AggregateKind& kind) {
  if (!kept_) {
    kept_.emplace(job, Aggregate::Overlap::in_order);
  }
  if (kind_ != kind) {
    start();
    kind_ = kind;
  }
  return *kept_;
}

void Claim::start() {
  if (kept_ && kept_->pieces() > 0) {
    started_.collect(kept_->start());
  }
  kind_.reset();
}

bool Claim::done() {
  start();
  return started_.done();
}

Status Claim::wait() {
  start();
  return started_.wait();
}

HandleTable::HandleTable() {
  std::random_device random;
  secret_ = std::uint64_t{random()} << 32U | random();
}

// Mixes the bits (the finisher of MurmurHash3), so that a change of any part changes the seal.
std::uint64_t HandleTable::seal_of(std::uint32_t number, std::uint32_t generation) const noexcept {
  std::uint64_t mixed = secret_ ^ (std::uint64_t{number} << 32U | generation);
  mixed = (mixed ^ mixed >> 33U) * 0xff51afd7ed558ccdU;
  mixed = (mixed ^ mixed >> 33U) * 0xc4ceb9fe1a85ec53U;
  return mixed ^ mixed >> 33U;
}

HandleTable::Content HandleTable::read(const armci_hdl_t& handle) noexcept {
  return std::bit_cast<Content>(handle);
}

void HandleTable::write(armci_hdl_t& handle, std::uint32_t number,
                        std::uint32_t generation) const noexcept {
  handle = std::bit_cast<armci_hdl_t>(Content{number, generation, seal_of(number, generation)});
}

bool HandleTable::is_ours(const Content& content) const noexcept {
  return content.seal == seal_of(content.number, content.generation);
}

bool HandleTable::has_flag(const armci_hdl_t& handle) const noexcept {
  const Content content = read(handle);
  return (content.number & aggregate_flag) != 0 && is_ours(content);
}

Claim* HandleTable::at(std::uint32_t number) const noexcept {
  const std::uint32_t index = number - 1;
  Chunk* const chunk = chunks_[index / chunk_entries].load(std::memory_order_acquire);
  return &chunk->claims[index % chunk_entries];
}

Claim* HandleTable::find_sealed(const armci_hdl_t& handle) const noexcept {
  const Content content = read(handle);
  const std::uint32_t number = content.number & ~aggregate_flag;
  if (number == 0 || !is_ours(content)) {
    return nullptr;
  }
  Claim* const claim = at(number);
  return claim->generation_ == content.generation ? claim : nullptr;
}

Result<std::uint32_t> HandleTable::allocate_number() {
  const std::lock_guard guard(mutex_);
  if (!free_.empty()) {
    const std::uint32_t number = free_.back();
    free_.pop_back();
    return number;
  }
  if (used_ == max_chunks * chunk_entries) {
    return Status::error(Code::limit_exceeded,
                         fmt::format("{} handles have operations under way", used_))
        .hint("wait for some first");
  }
  if (used_ % chunk_entries == 0) {
    owned_.push_back(std::make_unique<Chunk>());
    chunks_[used_ / chunk_entries].store(owned_.back().get(), std::memory_order_release);
  }
  return ++used_;
}

void HandleTable::give_back(std::uint32_t number) {
  ++at(number)->generation_;
  const std::lock_guard guard(mutex_);
  free_.push_back(number);
}

Result<Claim*> HandleTable::claim_of(armci_hdl_t& handle) {
  if (Claim* const known = find(handle)) {
    return known;
  }
  const std::uint32_t flag = is_aggregate(handle) ? aggregate_flag : 0;
  TESSERA_ASSIGN_OR_RETURN(const std::uint32_t number, allocate_number());
  Claim* const claim = at(number);
  write(handle, number | flag, claim->generation_);
  return claim;
}

Status HandleTable::set_aggregate(armci_hdl_t& handle) {
  const Content content = find(handle) == nullptr ? Content() : read(handle);
  write(handle, content.number | aggregate_flag, content.generation);
  return {};
}

Status HandleTable::unset_aggregate(armci_hdl_t& handle) {
  Claim* const claim = find(handle);
  if (claim == nullptr) {
    handle = {};
    return {};
  }
  claim->start();
  const Content content = read(handle);
  write(handle, content.number & ~aggregate_flag, content.generation);
  return {};
}

Status HandleTable::wait(armci_hdl_t& handle) {
  Claim* const claim = find(handle);
  if (claim == nullptr) {
    return {};
  }
  Status waited = claim->wait();
  const Content content = read(handle);
  give_back(content.number & ~aggregate_flag);
  if ((content.number & aggregate_flag) != 0) {
    write(handle, aggregate_flag, 0);
  } else {
    handle = {};
  }
  return waited;
}

bool HandleTable::done(armci_hdl_t& handle) {
  Claim* const claim = find(handle);
  return claim == nullptr || claim->done();
}

void HandleTable::clear() {
  const std::lock_guard guard(mutex_);
  for (std::uint32_t number = 1; number <= used_; ++number) {
    at(number)->wait().ignore("the end of the job reports it");
    at(number)->kept_.reset();
  }
}

}  // namespace tessera::rma::armci
