// SPDX-License-Identifier: BSD-3-Clause
#include "rma/server/client/reply_table.hpp"

#include <algorithm>
#include <utility>

namespace tessera::rma::server {
namespace {

constexpr std::uint64_t slot_mask = 0xffff'ffffU;
constexpr unsigned slot_bits = 32;

}  // namespace

void PendingReply::end(const Status& status) const {
  if (gets == nullptr) {
    done->end(status);
    return;
  }
  for (Completion* const each : gets->done) {
    each->end(status);
  }
}

ReplyTable::Entry::~Entry() {
  if (operation_ != 0) {
    static_cast<void>(table_.take(operation_));
  }
}

ReplyTable::Entry ReplyTable::insert(PendingReply& pending, const ClientConnection& requester) {
  const std::lock_guard guard(mutex_);
  if (free_.empty()) {
    if (free_.capacity() <= slots_.size()) {
      free_.reserve(2 * slots_.size() + 1);  // so that freeing a slot needs no memory
    }
    slots_.emplace_back();
    free_.push_back(static_cast<std::uint32_t>(slots_.size() - 1));
  }
  const std::uint32_t at = free_.back();
  free_.pop_back();
  Slot& slot = slots_[at];
  streams_.fetch_add(pending.size >= min_stream_bytes ? 1 : 0, std::memory_order_relaxed);
  slot.pending = std::move(pending);
  slot.is_used = true;
  slot.requester = &requester;
  slot.receiver = nullptr;
  // Never 0, which is the operation of requests without a reply on success.
  slot.generation = std::max(slot.generation + 1, std::uint32_t{1});
  count_.fetch_add(1);
  return {*this, std::uint64_t{slot.generation} << slot_bits | at};
}

// Requires: mutex_ is locked.
ReplyTable::Slot* ReplyTable::find(std::uint64_t operation) {
  const std::size_t at = operation & slot_mask;
  const bool is_pending =
      at < slots_.size() && slots_[at].is_used && slots_[at].generation == operation >> slot_bits;
  return is_pending ? &slots_[at] : nullptr;
}

void ReplyTable::record_requester(std::uint64_t operation, const ClientConnection& requester) {
  const std::lock_guard guard(mutex_);
  if (Slot* const slot = find(operation)) {
    slot->requester = &requester;
  }
}

const PendingReply* ReplyTable::claim(std::uint64_t operation, const ClientConnection& receiver) {
  const std::lock_guard guard(mutex_);
  Slot* const slot = find(operation);
  if (slot == nullptr) {
    return nullptr;
  }
  slot->receiver = &receiver;
  return &slot->pending;
}

std::optional<PendingReply> ReplyTable::take(std::uint64_t operation) {
  const std::lock_guard guard(mutex_);
  Slot* const slot = find(operation);
  if (slot == nullptr) {
    return std::nullopt;
  }
  free_.push_back(static_cast<std::uint32_t>(operation & slot_mask));
  return release(*slot);
}

// Requires: mutex_ is locked.
PendingReply ReplyTable::release(Slot& slot) {
  slot.is_used = false;
  slot.receiver = nullptr;
  count_.fetch_sub(1);
  streams_.fetch_sub(slot.pending.size >= min_stream_bytes ? 1 : 0, std::memory_order_relaxed);
  return std::exchange(slot.pending, {});
}

template <class Predicate>
void ReplyTable::end_if(const ClientConnection& receiver, const Status& reason,
                        Predicate&& is_meant) {
  const std::lock_guard guard(mutex_);
  for (std::size_t at = 0; at < slots_.size(); ++at) {
    Slot& slot = slots_[at];
    const bool is_elsewhere = slot.receiver != nullptr && slot.receiver != &receiver;
    if (slot.is_used && !is_elsewhere && is_meant(slot)) {
      free_.push_back(static_cast<std::uint32_t>(at));
      release(slot).end(reason);
    }
  }
}

void ReplyTable::end_all(const ClientConnection& receiver, const Status& reason) {
  end_if(receiver, reason, [](const Slot&) { return true; });
}

void ReplyTable::end_requested_by(const ClientConnection& requester, const Status& reason) {
  end_if(requester, reason, [&](const Slot& slot) { return slot.requester == &requester; });
}

}  // namespace tessera::rma::server
