// SPDX-License-Identifier: BSD-3-Clause
//
// The part of ServerConnection for networks other than TCP: how a connection continues there, and
// which of the node's memory its device can reach.
#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "rma/server/agent/server_connection.hpp"

namespace tessera::rma::server {
namespace {

// The number of bytes from the start of a slice that a device may access. It would pin all pages of
// a sparse slice, so for those only the part in use counts. It cannot access other processes'
// memory.
std::uint64_t bytes_for_device(const detail::DirectorySlice& slice) noexcept {
  return slice.process != 0 ? 0 : slice.sparse ? slice.in_use : slice.bytes;
}

// `end`: the end of the accessed bytes, as an offset in the slice.
Status check_for_device(const Place& place, std::uint64_t end) {
  return end <= bytes_for_device(place.slice)
             ? Status()
             : Status::error(Code::unsupported,
                             "sparse or attached memory can be reached only by requests");
}

}  // namespace

Status ServerConnection::execute_locate(const FrameHeader& header, const Place& place) {
  if (options_.fabric == nullptr) {
    return Status::error(Code::unsupported, "this node's agent has no network other than TCP");
  }
  if (place.offset >= place.slice.bytes) {
    return Status::error(Code::out_of_range,
                         fmt::format("there is no byte at offset {} of a slice of {} bytes",
                                     place.offset, place.slice.bytes));
  }
  TESSERA_RETURN_IF_ERROR(check_for_device(place, place.offset + 1));
  TESSERA_ASSIGN_OR_RETURN(const detail::RemoteSpan span,
                           options_.fabric->expose(place.start + place.offset,
                                                   bytes_for_device(place.slice) - place.offset));
  const auto bytes = encode(span);
  return answer_data(header, std::vector<std::byte>(bytes.begin(), bytes.end()));
}

// The reply follows the bytes; the path keeps the order.
Status ServerConnection::execute_push(const FrameHeader& header, const Place& place) {
  if (path_ == nullptr) {
    return Status::error(Code::unsupported, "only a path can write into another node's memory");
  }
  const auto& shape = std::get<CopyShape>(pattern_);
  const auto reach = static_cast<std::uint64_t>(shape.remote_extent().highest);
  TESSERA_RETURN_IF_ERROR(check_for_device(place, place.offset + reach));
  TESSERA_RETURN_IF_ERROR(path_->push(place.start + place.offset, shape,
                                      {.address = header.words[0], .key = header.words[1]}));
  return answer(header, Kind::done);
}

Status ServerConnection::read_address(std::span<const std::byte> descriptor) {
  if (descriptor.size() != peer_address_.size()) {
    return Status::error(Code::protocol,
                         fmt::format("{} sent an address of {} bytes; expected {}", peer(),
                                     descriptor.size(), peer_address_.size()));
  }
  std::copy(descriptor.begin(), descriptor.end(), peer_address_.begin());
  return {};
}

// The peer sends nothing until it has the reply, and then continues over the path.
Status ServerConnection::execute_path(const FrameHeader& header) {
  if (options_.fabric == nullptr || next_ != nullptr || !channel_->shows_room()) {
    return Status::error(Code::unsupported,
                         "this node's agent has no network other than TCP, or the "
                         "connection has already left TCP");
  }
  TESSERA_ASSIGN_OR_RETURN(auto path, options_.fabric->open_path());
  TESSERA_RETURN_IF_ERROR(path->connect(peer_address_));
  const detail::RdmaAddressBytes address = path->address();
  TESSERA_RETURN_IF_ERROR(
      answer_data(header, std::vector<std::byte>(address.begin(), address.end())));
  next_ = std::move(path);
  return {};
}

// Switches once nothing is left to be sent over the old channel.
Status ServerConnection::move_to_path() {
  if (!writer_.is_empty()) {
    return {};
  }
  if (reader_.is_inside_frame()) {
    return Status::error(Code::protocol, fmt::format("{} asked for a path and did not wait for the "
                                                     "answer",
                                                     peer()));
  }
  next_->watch(std::move(channel_));
  path_ = next_.get();
  channel_ = std::move(next_);
  writer_.move_to(*channel_);
  reader_.move_to(*channel_);
  return {};
}

}  // namespace tessera::rma::server
