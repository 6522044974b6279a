// SPDX-License-Identifier: BSD-3-Clause
//
// The part of Link that receives replies: where their bytes go, and which operation they belong to.
#include <fmt/format.h>

#include <chrono>
#include <new>
#include <utility>

#include "rma/kernels/copy.hpp"
#include "rma/kernels/walk.hpp"
#include "rma/server/client.hpp"
#include "rma/server/link.hpp"
#include "rma/server/parts.hpp"

namespace tessera::rma::server {
namespace {

using Clock = std::chrono::steady_clock;

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

// An allocation failure fails only the operation that needed the memory.
Status Link::begin(const FrameHeader& header, std::span<const std::byte>,
                   std::vector<iovec>& into) {
  lack_ = Status();
  try {
    TESSERA_RETURN_IF_ERROR(begin_answer(header, into));
    into.reserve(into.size() + 1);
  } catch (const std::bad_alloc&) {
    into.clear();
    lack_ = Status::no_memory("this process has no memory for an answer");
  }
  return {};
}

Status Link::begin_answer(const FrameHeader& header, std::vector<iovec>& into) {
  if (header.kind == Kind::bye) {
    return Status::error(Code::closed, "it has left the job");
  }
  TESSERA_RETURN_IF_ERROR(check_answer(header));
  is_in_place_ = false;
  failure_.clear();
  table_link_ = &table_of(header);
  if (header.kind == Kind::data) {
    const auto found = table_link_->look_at(header.operation, *this);
    is_ignored_ = !found.ok() && table_link_->is_clustered_;
    if (is_ignored_) {
      return {};
    }
    TESSERA_RETURN_IF_ERROR(found.status());
    const Awaited* const awaited = *found;
    arriving_ = table_link_ != this ? header.operation : 0;
    if (awaited->size != header.payload_bytes || header.payload_bytes == 0) {
      return Status::error(Code::protocol,
                           fmt::format("{} sent {} bytes; {} were requested", channel_->peer(),
                                       header.payload_bytes, awaited->size));
    }
    place_payload(*awaited, header.payload_bytes, into);
  } else if (header.payload_bytes > 0) {
    failure_.resize(header.payload_bytes);
    into.push_back({failure_.data(), failure_.size()});
  }
  return {};
}

// An error here ends the connection: no correct agent sends such a frame.
Status Link::check_answer(const FrameHeader& header) const {
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

void Link::place_payload(const Awaited& awaited, std::size_t bytes, std::vector<iovec>& into) {
  const Scattered* const places = awaited.places.get();
  is_in_place_ = true;
  if (places == nullptr && awaited.gets == nullptr &&
      (bytes >= limits().least_direct_row || bytes < least_piece_bytes)) {
    into.push_back({awaited.bytes, bytes});
  } else if (places != nullptr && places->fragments.empty() &&
             places->shape.run_bytes >= limits().least_direct_row) {
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
Status Link::end(const FrameHeader& header) {
  ++answers_;
  arriving_ = 0;
  table_link_->note_answer(header);
  if (header.operation == 0 || header.operation == unwatched_operation) {
    if (header.kind != Kind::failed) {
      return {};
    }
    Status told = lack_.ok() ? table_link_->failure_in(header, failure_) : lack_;
    if (told.code() == Code::protocol) {
      return told;  // it closes this connection and gives the reason
    }
    if (header.operation == unwatched_operation && told.code() == Code::closed) {
      return {};
    }
    client_.options().stray_error(std::move(told));
    return {};
  }
  auto taken = table_link_->take(header.operation);
  if (!taken.ok()) {
    return table_link_->is_clustered_ ? Status() : std::move(taken).status();
  }
  Awaited awaited = std::move(taken).take();
  Status result = !lack_.ok()                   ? lack_
                  : header.kind == Kind::failed ? table_link_->failure_in(header, failure_)
                                                : deliver(header, awaited);
  if (result.ok() && awaited.fenced > 0) {
    table_link_->changes_.note_fenced(awaited.fenced);
  }
  if (result.ok() && awaited.is_lock && header.words[0] == 0) {
    ++table_link_->locks_held_;
  }
  const bool is_wrong = result.code() == Code::protocol;
  if (awaited.gets != nullptr && !result.ok() && !is_wrong && awaited.gets->done.size() > 1) {
    try {
      again_.push_back(std::move(awaited.gets));
      return {};
    } catch (const std::bad_alloc&) {
      // The gets stay in the list, and all of them end with the error of one.
    }
  }
  awaited.end(result);
  return is_wrong ? std::move(result) : Status();
}

// If an agent could not pass a request on, the node of this link counts as lost, for that reason.
Status Link::failure_in(const FrameHeader& header, std::span<const std::byte> payload) const {
  Status told = decode_failure(payload);
  return header.forwarder >= 0 && told.code() == Code::peer_lost ? loss_of(told) : told;
}

// An agent that could not pass a request on is not used again.
void Link::note_answer(const FrameHeader& header) noexcept {
  if (is_clustered_) {
    last_used_ = Clock::now().time_since_epoch().count();
    if (header.kind == Kind::failed && header.forwarder >= 0) {
      is_way_bad_ = true;
    }
  }
}

// A reply must have the form that was requested, since the waiting thread uses its data.
Status Link::deliver(const FrameHeader& header, Awaited& awaited) {
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
