// SPDX-License-Identifier: BSD-3-Clause
#include "rma/server/client/reply_receiver.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "rma/base/catch_bad_alloc.hpp"
#include "rma/kernels/copy.hpp"
#include "rma/kernels/walk.hpp"
#include "rma/server/client/client.hpp"
#include "rma/server/client/client_connection.hpp"
#include "rma/server/wire/parts.hpp"

namespace tessera::rma::server {
namespace {

std::int64_t sign_extended(std::uint64_t word, int bytes) noexcept {
  return bytes == 4 ? std::int64_t{static_cast<std::int32_t>(static_cast<std::uint32_t>(word))}
                    : static_cast<std::int64_t>(word);
}

void unpack(Fragments fragments, const std::byte* packed) noexcept {
  for (const Fragment& each : fragments) {
    kernels::copy_small(each.local, packed, each.bytes);
    packed += each.bytes;
  }
}

// Stores packed bytes at their destinations.
void unpack(const PendingReply& pending, const std::byte* packed) noexcept {
  if (pending.gets != nullptr) {
    unpack(pending.gets->fragments, packed);
  } else if (pending.scatter == nullptr) {
    if (pending.bytes != nullptr) {
      kernels::copy_small(pending.bytes, packed, pending.size);
    }
  } else if (pending.scatter->fragments.empty()) {
    kernels::copy_shape(pending.scatter->base, const_cast<std::byte*>(packed),
                        with_packed_remote(pending.scatter->shape),
                        kernels::Direction::from_remote);
  } else {
    unpack(pending.scatter->fragments, packed);
  }
}

}  // namespace

Status ReplyReceiver::begin(const FrameHeader& header, std::span<const std::byte>,
                            std::span<const std::byte> payload, std::vector<iovec>& into) {
  allocation_error_ = Status();
  payload_ = nullptr;
  if (header.kind == Kind::bye) {
    return Status::error(Code::closed, "it has left the job");
  }
  TESSERA_RETURN_IF_ERROR(check(header));
  owner_ = &link_.owner_of(header);
  Status placed = detail::catch_bad_alloc(
      [&]() -> Status {
        // For end(), which may keep the gets that it belongs to.
        failed_gets_.reserve(failed_gets_.size() + (header.kind == Kind::failed ? 1 : 0));
        if (header.kind == Kind::data) {
          TESSERA_RETURN_IF_ERROR(place_data(header, payload, into));
        } else if (!payload.empty()) {
          payload_ = payload.data();
        } else if (header.payload_bytes > 0) {
          into.push_back({packed_.take(header.payload_bytes), header.payload_bytes});
          payload_ = packed_.data();
        }
        if (!into.empty()) {
          into.reserve(into.size() + 1);
        }
        return {};
      },
      "this process has no memory for an answer");
  if (placed.code() == Code::no_memory) {
    into.clear();
    allocation_error_ = std::move(placed);
    return {};
  }
  return placed;
}

// An error here ends the connection: no correct agent sends such a frame.
Status ReplyReceiver::check(const FrameHeader& header) const {
  const Channel& channel = *link_.channel();
  if (!is_answer(header.kind)) {
    return Status::error(Code::protocol, fmt::format("{} sent a request ({}) where answers are "
                                                     "expected",
                                                     channel.peer(), to_string(header.kind)));
  }
  const std::size_t most = header.kind == Kind::data     ? max_direct_bytes
                           : header.kind == Kind::failed ? max_failure_bytes
                                                         : 0;
  if (header.payload_bytes > most) {
    return Status::error(Code::protocol,
                         fmt::format("{} sent {} bytes with {}; the limit is {}", channel.peer(),
                                     header.payload_bytes, to_string(header.kind), most));
  }
  if (header.descriptor_bytes > 0) {
    return Status::error(Code::protocol, fmt::format("{} sent a descriptor with an answer ({})",
                                                     channel.peer(), to_string(header.kind)));
  }
  return {};
}

Status ReplyReceiver::not_pending(std::uint64_t operation) const {
  return Status::error(Code::protocol, fmt::format("{} answered operation {:#x}, which is not "
                                                   "pending",
                                                   link_.channel()->peer(), operation));
}

// A reply that is no longer pending, because its route was given up, is ignored.
Status ReplyReceiver::place_data(const FrameHeader& header, std::span<const std::byte> payload,
                                 std::vector<iovec>& into) {
  const PendingReply* const pending = owner_->replies().claim(header.operation, link_);
  if (pending == nullptr) {
    return owner_->route().is_shared() ? Status() : not_pending(header.operation);
  }
  arriving_ = owner_ != &link_ ? header.operation : 0;
  if (pending->size != header.payload_bytes || header.payload_bytes == 0) {
    return Status::error(Code::protocol,
                         fmt::format("{} sent {} bytes; {} were requested", link_.channel()->peer(),
                                     header.payload_bytes, pending->size));
  }
  if (payload.empty()) {
    find_pieces(*pending, header.payload_bytes, into);
  } else {
    payload_ = payload.data();
  }
  return {};
}

void ReplyReceiver::find_pieces(const PendingReply& pending, std::size_t bytes,
                                std::vector<iovec>& into) {
  const PackingLimits& limits = link_.client().options().limits;
  const ScatterTarget* const scatter = pending.scatter.get();
  if (scatter == nullptr && pending.gets == nullptr &&
      (bytes >= limits.min_direct_row || bytes < min_piece_bytes)) {
    into.push_back({pending.bytes, bytes});
  } else if (scatter != nullptr && scatter->fragments.empty() &&
             scatter->shape.run_bytes >= limits.min_direct_row) {
    kernels::for_each_run(scatter->shape, [&](std::int64_t local, std::int64_t) {
      into.push_back({scatter->base + local, scatter->shape.run_bytes});
    });
  } else if (scatter != nullptr && !scatter->fragments.empty() &&
             are_long(scatter->fragments, limits)) {
    for (const Fragment& each : scatter->fragments) {
      into.push_back({each.local, each.bytes});
    }
  } else {
    into.push_back({packed_.take(bytes), bytes});
    payload_ = packed_.data();
  }
}

// A reply to an operation that nothing waits for.
Status ReplyReceiver::end_unasked(const FrameHeader& header) {
  if (header.kind != Kind::failed) {
    return {};
  }
  Status failure = allocation_error_.ok() ? failure_in(header) : allocation_error_;
  if (failure.code() == Code::protocol) {
    return failure;  // it closes this connection and gives the reason
  }
  if (header.operation == unmonitored_operation && failure.code() == Code::closed) {
    return {};
  }
  link_.client().options().stray_error(std::move(failure));
  return {};
}

Status ReplyReceiver::end(const FrameHeader& header) {
  ++count_;
  arriving_ = 0;
  owner_->route().record_reply(header);
  if (header.operation == 0 || header.operation == unmonitored_operation) {
    return end_unasked(header);
  }
  auto pending = owner_->replies().take(header.operation);
  if (!pending) {
    return owner_->route().is_shared() ? Status() : not_pending(header.operation);
  }
  Status result = !allocation_error_.ok()       ? allocation_error_
                  : header.kind == Kind::failed ? failure_in(header)
                                                : store(header, *pending);
  if (result.ok() && pending->fenced > 0) {
    owner_->changes().record_fenced(pending->fenced);
  }
  if (result.ok() && pending->is_lock && header.words[0] == 0) {
    owner_->route().record_locks(1);
  }
  const bool is_wrong = result.code() == Code::protocol;
  // Without room for it, all gets of the list end with the error of one.
  const bool has_room = failed_gets_.size() < failed_gets_.capacity();
  if (pending->gets != nullptr && !result.ok() && !is_wrong && pending->gets->done.size() > 1 &&
      has_room) {
    failed_gets_.push_back(std::move(pending->gets));
    return {};
  }
  pending->end(result);
  return is_wrong ? std::move(result) : Status();
}

void ReplyReceiver::end_arriving(const Status& reason) {
  if (arriving_ != 0) {
    if (const auto pending = owner_->replies().take(std::exchange(arriving_, 0))) {
      pending->end(reason);
    }
  }
}

// If an agent could not pass a request on, the node of this link counts as lost, for that reason.
Status ReplyReceiver::failure_in(const FrameHeader& header) const {
  Status failure = decode_failure({payload_, header.payload_bytes});
  return header.forwarder >= 0 && failure.code() == Code::peer_lost
             ? link_.client().links().loss_of(owner_->node(), failure)
             : failure;
}

// A reply must have the form that was requested, since the waiting thread uses its data.
Status ReplyReceiver::store(const FrameHeader& header, const PendingReply& pending) {
  alignas(8) std::uint64_t word = header.words[0];
  if (header.kind == Kind::data) {
    if (payload_ != nullptr) {
      unpack(pending, payload_);
    }
  } else if (header.kind == Kind::value && pending.word != nullptr) {
    *pending.word = sign_extended(word, pending.word_bytes);
  } else if (header.kind == Kind::value && pending.size > 0 && pending.size <= sizeof(word)) {
    unpack(pending, reinterpret_cast<std::byte*>(&word));
  } else if (header.kind != Kind::done || pending.size > 0 || pending.word != nullptr) {
    return Status::error(
        Code::protocol,
        fmt::format("{} answered with {} to a request for {}", link_.channel()->peer(),
                    to_string(header.kind),
                    pending.word != nullptr ? std::string("a word")
                                            : fmt::format("{} bytes", pending.size)));
  }
  return {};
}

}  // namespace tessera::rma::server
