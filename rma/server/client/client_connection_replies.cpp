// SPDX-License-Identifier: BSD-3-Clause
//
// The part of ClientConnection that keeps the table of pending replies and receives replies.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <new>
#include <utility>

#include "rma/catch_bad_alloc.hpp"
#include "rma/kernels/copy.hpp"
#include "rma/kernels/walk.hpp"
#include "rma/server/client/client.hpp"
#include "rma/server/client/client_connection.hpp"
#include "rma/server/wire/parts.hpp"

namespace tessera::rma::server {
namespace {

using Clock = std::chrono::steady_clock;
using detail::catch_bad_alloc;

std::int64_t sign_extended(std::uint64_t word, int bytes) noexcept {
  return bytes == 4 ? std::int64_t{static_cast<std::int32_t>(static_cast<std::uint32_t>(word))}
                    : static_cast<std::int64_t>(word);
}

// Stores packed bytes at their destinations.
void unpack(Fragments fragments, const std::byte* packed) noexcept {
  for (const Fragment& each : fragments) {
    kernels::copy_small(each.local, packed, each.bytes);
    packed += each.bytes;
  }
}

void unpack(const Awaited& awaited, std::byte* packed) noexcept {
  if (awaited.gets != nullptr) {
    unpack(awaited.gets->fragments, packed);
  } else if (awaited.places == nullptr) {
    if (awaited.bytes != nullptr) {
      kernels::copy_small(awaited.bytes, packed, awaited.size);
    }
  } else if (awaited.places->fragments.empty()) {
    kernels::copy_shape(awaited.places->base, packed, with_packed_remote(awaited.places->shape),
                        kernels::Direction::from_remote);
  } else {
    unpack(awaited.places->fragments, packed);
  }
}

}  // namespace

// Reserves memory so that freeing a slot needs none.
Status ClientConnection::add_slot() {
  return catch_bad_alloc([&]() -> Status {
    if (free_slots_.capacity() <= slots_.size()) {
      free_slots_.reserve(2 * slots_.size() + 1);
    }
    slots_.emplace_back();
    free_slots_.push_back(static_cast<std::uint32_t>(slots_.size() - 1));
    return {};
  });
}

// Moves the pending reply into a slot, unless there is no memory for another slot.
Result<std::uint64_t> ClientConnection::enter(Awaited& awaited, const ClientConnection& way) {
  const std::lock_guard guard(table_);
  if (free_slots_.empty()) {
    TESSERA_RETURN_IF_ERROR(add_slot());
  }
  const std::uint32_t at = free_slots_.back();
  free_slots_.pop_back();
  Slot& slot = slots_[at];
  streams_.fetch_add(awaited.size >= min_stream_bytes ? 1 : 0, std::memory_order_relaxed);
  slot.awaited = std::move(awaited);
  slot.is_used = true;
  slot.way = &way;
  slot.receiver = nullptr;
  // Never 0, which is the operation of requests without a reply on success.
  slot.generation = std::max(slot.generation + 1, std::uint32_t{1});
  pending_replies_.fetch_add(1);
  return std::uint64_t{slot.generation} << 32U | at;
}

// Requires: table_ is locked.
Result<Awaited*> ClientConnection::find(std::uint64_t operation) {
  const std::size_t at = operation & 0xffff'ffffU;
  if (at >= slots_.size() || !slots_[at].is_used || slots_[at].generation != operation >> 32U) {
    return Status::error(
        Code::protocol, fmt::format("{} answered operation {:#x}, which is not pending",
                                    is_clustered_ ? fmt::format("the agent of node {}", node_.value)
                                                  : channel_->peer(),
                                    operation));
  }
  return &slots_[at].awaited;  // elements of a deque do not move
}

// The reply's bytes come by `receiver` now: until they are complete only that link may end the
// operation.
Result<Awaited*> ClientConnection::look_at(std::uint64_t operation,
                                           const ClientConnection& receiver) {
  const std::lock_guard guard(table_);
  auto found = find(operation);
  if (found.ok()) {
    slots_[operation & 0xffff'ffffU].receiver = &receiver;
  }
  return found;
}

// Requires: table_ is locked.
void ClientConnection::end_pending(std::size_t at, const Status& reason) {
  Slot& slot = slots_[at];
  if (!std::exchange(slot.is_used, false)) {
    return;
  }
  slot.receiver = nullptr;
  free_slots_.push_back(static_cast<std::uint32_t>(at));
  pending_replies_.fetch_sub(1);
  streams_.fetch_sub(slot.awaited.size >= min_stream_bytes ? 1 : 0, std::memory_order_relaxed);
  std::exchange(slot.awaited, {}).end(reason);
}

Result<Awaited> ClientConnection::take(std::uint64_t operation) {
  const std::lock_guard guard(table_);
  TESSERA_ASSIGN_OR_RETURN(Awaited* const awaited, find(operation));
  const std::size_t at = operation & 0xffff'ffffU;
  slots_[at].is_used = false;
  slots_[at].receiver = nullptr;
  free_slots_.push_back(static_cast<std::uint32_t>(at));
  pending_replies_.fetch_sub(1);
  streams_.fetch_sub(awaited->size >= min_stream_bytes ? 1 : 0, std::memory_order_relaxed);
  return std::exchange(*awaited, {});
}

// An allocation failure fails only the operation that needed the memory.
Status ClientConnection::begin(const FrameHeader& header, std::span<const std::byte>,
                               std::vector<iovec>& into) {
  allocation_error_ = Status();
  try {
    TESSERA_RETURN_IF_ERROR(begin_answer(header, into));
    into.reserve(into.size() + 1);
  } catch (const std::bad_alloc&) {
    into.clear();
    allocation_error_ = Status::no_memory("this process has no memory for an answer");
  }
  return {};
}

Status ClientConnection::begin_answer(const FrameHeader& header, std::vector<iovec>& into) {
  if (header.kind == Kind::bye) {
    return Status::error(Code::closed, "it has left the job");
  }
  TESSERA_RETURN_IF_ERROR(check_answer(header));
  is_in_place_ = false;
  failure_.clear();
  reply_owner_ = &table_of(header);
  if (header.kind == Kind::data) {
    const auto found = reply_owner_->look_at(header.operation, *this);
    is_ignored_ = !found.ok() && reply_owner_->is_clustered_;
    if (is_ignored_) {
      return {};
    }
    TESSERA_RETURN_IF_ERROR(found.status());
    const Awaited* const awaited = *found;
    arriving_ = reply_owner_ != this ? header.operation : 0;
    if (awaited->size != header.payload_bytes || header.payload_bytes == 0) {
      return Status::error(Code::protocol,
                           fmt::format("{} sent {} bytes; {} were requested", channel_->peer(),
                                       header.payload_bytes, awaited->size));
    }
    set_destinations(*awaited, header.payload_bytes, into);
  } else if (header.payload_bytes > 0) {
    failure_.resize(header.payload_bytes);
    into.push_back({failure_.data(), failure_.size()});
  }
  return {};
}

// An error here ends the connection: no correct agent sends such a frame.
Status ClientConnection::check_answer(const FrameHeader& header) const {
  if (!is_answer(header.kind)) {
    return Status::error(Code::protocol, fmt::format("{} sent a request ({}) where answers are "
                                                     "expected",
                                                     channel_->peer(), to_string(header.kind)));
  }
  const std::size_t most = header.kind == Kind::data     ? max_direct_bytes
                           : header.kind == Kind::failed ? max_failure_bytes
                                                         : 0;
  if (header.payload_bytes > most) {
    return Status::error(Code::protocol,
                         fmt::format("{} sent {} bytes with {}; the limit is {}", channel_->peer(),
                                     header.payload_bytes, to_string(header.kind), most));
  }
  if (header.descriptor_bytes > 0) {
    return Status::error(Code::protocol, fmt::format("{} sent a descriptor with an answer ({})",
                                                     channel_->peer(), to_string(header.kind)));
  }
  return {};
}

void ClientConnection::set_destinations(const Awaited& awaited, std::size_t bytes,
                                        std::vector<iovec>& into) {
  const Scattered* const places = awaited.places.get();
  is_in_place_ = true;
  if (places == nullptr && awaited.gets == nullptr &&
      (bytes >= limits().min_direct_row || bytes < min_piece_bytes)) {
    into.push_back({awaited.bytes, bytes});
  } else if (places != nullptr && places->fragments.empty() &&
             places->shape.run_bytes >= limits().min_direct_row) {
    kernels::for_each_run(places->shape, [&](std::int64_t local, std::int64_t) {
      into.push_back({places->base + local, places->shape.run_bytes});
    });
  } else if (places != nullptr && !places->fragments.empty() &&
             are_long(places->fragments, limits())) {
    for (const Fragment& each : places->fragments) {
      into.push_back({each.local, each.bytes});
    }
  } else {
    is_in_place_ = false;
    into.push_back({packed_.take(bytes), bytes});
  }
}

// A reply that is no longer pending, because its route was given up, is ignored.
Status ClientConnection::end(const FrameHeader& header) {
  ++answers_;
  arriving_ = 0;
  reply_owner_->note_answer(header);
  if (header.operation == 0 || header.operation == unmonitored_operation) {
    if (header.kind != Kind::failed) {
      return {};
    }
    Status told =
        allocation_error_.ok() ? reply_owner_->failure_in(header, failure_) : allocation_error_;
    if (told.code() == Code::protocol) {
      return told;  // it closes this connection and gives the reason
    }
    if (header.operation == unmonitored_operation && told.code() == Code::closed) {
      return {};
    }
    client_.options().stray_error(std::move(told));
    return {};
  }
  auto taken = reply_owner_->take(header.operation);
  if (!taken.ok()) {
    return reply_owner_->is_clustered_ ? Status() : std::move(taken).status();
  }
  Awaited awaited = std::move(taken).take();
  Status result = !allocation_error_.ok()       ? allocation_error_
                  : header.kind == Kind::failed ? reply_owner_->failure_in(header, failure_)
                                                : deliver(header, awaited);
  if (result.ok() && awaited.fenced > 0) {
    reply_owner_->changes_.note_fenced(awaited.fenced);
  }
  if (result.ok() && awaited.is_lock && header.words[0] == 0) {
    ++reply_owner_->locks_held_;
  }
  const bool is_wrong = result.code() == Code::protocol;
  if (awaited.gets != nullptr && !result.ok() && !is_wrong && awaited.gets->done.size() > 1) {
    try {
      failed_batches_.push_back(std::move(awaited.gets));
      return {};
    } catch (const std::bad_alloc&) {
      // The gets stay in the list, and all of them end with the error of one.
    }
  }
  awaited.end(result);
  return is_wrong ? std::move(result) : Status();
}

// If an agent could not pass a request on, the node of this link counts as lost, for that reason.
Status ClientConnection::failure_in(const FrameHeader& header,
                                    std::span<const std::byte> payload) const {
  Status told = decode_failure(payload);
  return header.forwarder >= 0 && told.code() == Code::peer_lost ? loss_of(told) : told;
}

// An agent that could not pass a request on is not used again.
void ClientConnection::note_answer(const FrameHeader& header) noexcept {
  if (is_clustered_) {
    last_used_ = Clock::now().time_since_epoch().count();
    if (header.kind == Kind::failed && header.forwarder >= 0) {
      is_route_bad_ = true;
    }
  }
}

// A reply must have the form that was requested, since the waiting thread uses its data.
Status ClientConnection::deliver(const FrameHeader& header, Awaited& awaited) {
  alignas(8) std::uint64_t word = header.words[0];
  if (header.kind == Kind::data) {
    if (!is_in_place_) {
      unpack(awaited, packed_.data());
    }
  } else if (header.kind == Kind::value && awaited.word != nullptr) {
    *awaited.word = sign_extended(word, awaited.word_bytes);
  } else if (header.kind == Kind::value && awaited.size > 0 && awaited.size <= sizeof(word)) {
    unpack(awaited, reinterpret_cast<std::byte*>(&word));
  } else if (header.kind != Kind::done || awaited.size > 0 || awaited.word != nullptr) {
    return Status::error(Code::protocol, fmt::format("{} answered with {} to a request for {}",
                                                     channel_->peer(), to_string(header.kind),
                                                     awaited.word != nullptr
                                                         ? std::string("a word")
                                                         : fmt::format("{} bytes", awaited.size)));
  }
  return {};
}

}  // namespace tessera::rma::server
