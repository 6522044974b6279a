// SPDX-License-Identifier: BSD-3-Clause
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <thread>
#include <utility>

#include "rma/kernels/copy.hpp"
#include "tests/support/datagram_context.hpp"
#include "tests/support/datagram_endpoint.hpp"

namespace tessera::rma::test {
namespace {

// Messages that the other end has not consumed.
constexpr std::uint64_t max_messages = 8;
// Datagrams for which the other end's socket has no room.
constexpr std::size_t max_queued = 32;
constexpr std::size_t max_operations = 32;
constexpr std::chrono::seconds timeout{1};

std::vector<std::byte> copy_of(const std::byte* from, std::size_t bytes) {
  std::vector<std::byte> copy(bytes);
  kernels::copy_small(copy.data(), from, bytes);
  return copy;
}

// The bytes of the next message, which begin after the first `taken` ones.
std::vector<std::byte> next_payload(std::span<const iovec> pieces, std::size_t taken) {
  std::vector<std::byte> payload;
  for (const iovec& piece : pieces) {
    const std::size_t skipped = std::min(taken, piece.iov_len);
    const std::size_t here =
        std::min(piece.iov_len - skipped, DatagramSocket::max_payload - payload.size());
    const auto* const from = static_cast<const std::byte*>(piece.iov_base) + skipped;
    payload.insert(payload.end(), from, from + here);
    taken -= skipped;
  }
  return payload;
}

}  // namespace

// The other end finds all that was sent, also after the end of the stream beside.
DatagramConnection::~DatagramConnection() {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  const auto has_sent_all = [this] {
    const std::lock_guard guard(context_.mutex());
    return queued_.empty();
  };
  while (!has_sent_all() && std::chrono::steady_clock::now() < deadline) {
    context_.progress();
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  const std::lock_guard guard(context_.mutex());
  lose(Status::error(Code::closed, "the connection was closed"));
  context_.remove(number_);
}

// --- connecting

detail::RdmaAddressBytes DatagramConnection::address() const {
  detail::RdmaAddressBytes bytes{};
  const DatagramName& name = context_.socket().name();
  static_assert(sizeof name + sizeof number_ <= sizeof bytes);
  std::memcpy(bytes.data(), &name, sizeof name);
  std::memcpy(bytes.data() + sizeof name, &number_, sizeof number_);
  return bytes;
}

Status DatagramConnection::connect(const detail::RdmaAddressBytes& other) {
  const std::lock_guard guard(context_.mutex());
  std::memcpy(&peer_name_, other.data(), sizeof peer_name_);
  std::memcpy(&peer_number_, other.data() + sizeof peer_name_, sizeof peer_number_);
  if (peer_name_.address.sun_family != AF_UNIX || peer_name_.length > sizeof(sockaddr_un)) {
    return Status::error(Code::protocol, "this is not the address of a datagram socket");
  }
  return {};
}

void DatagramConnection::watch(std::unique_ptr<detail::Channel> beside) {
  const std::lock_guard guard(context_.mutex());
  beside_ = std::move(beside);
  descriptor_ = beside_->descriptor();
  context_.record_arrival(descriptor_);  // messages may have arrived before
}

std::string DatagramConnection::peer() const {
  return beside_ == nullptr ? "a connection that is being opened" : beside_->peer();
}

std::unique_ptr<Endpoint> DatagramConnection::endpoint(WorldRank peer,
                                                       std::unique_ptr<Endpoint> by_requests,
                                                       detail::Requests& requests) {
  const std::lock_guard guard(context_.mutex());
  requests_ = &requests;
  return std::make_unique<DatagramEndpoint>(*this, peer, std::move(by_requests), requests);
}

// --- loss

Status DatagramConnection::check() const {
  if (is_lost_) {
    const std::lock_guard guard(context_.mutex());
    return loss_;
  }
  return beside_->check();
}

// At the end of the stream beside, what was sent before has arrived, and is read first.
Status DatagramConnection::on_readable() {
  std::byte byte{};
  const iovec room{&byte, 1};
  const auto received = beside_->receive(std::span(&room, 1));
  if (received.ok() && *received == 0) {
    return {};
  }
  Status reason = received.ok() ? Status::error(Code::protocol, peer() + " sent data beside a path")
                                : received.status();
  context_.deliver_all();
  const auto now = std::chrono::steady_clock::now();
  const std::lock_guard guard(context_.mutex());
  if (is_lost_) {
    return loss_;
  }
  ended_ = ended_ == std::chrono::steady_clock::time_point() ? now : ended_;
  if (!stream_.empty() && now - ended_ < timeout) {
    context_.record_arrival(descriptor_);
    return {};
  }
  lose(reason);
  return reason;
}

Status DatagramConnection::described(const Status& reason) const {
  return requests_ == nullptr ? reason : requests_->loss_of(reason);
}

void DatagramConnection::lose(const Status& reason) {
  if (is_lost_) {
    return;
  }
  loss_ = reason;
  is_lost_ = true;
  context_.count(-static_cast<std::int64_t>(operations_.size() + queued_.size()));
  queued_.clear();
  writes_ = 0;
  for (const auto& [number, operation] : std::exchange(operations_, {})) {
    operation.done->end(described(reason));
  }
  for (const Flush& each : std::exchange(flushes_, {})) {
    each.done->end(described(reason));
  }
  if (descriptor_ >= 0) {
    shutdown(descriptor_, SHUT_RDWR);  // so that the other end notices
    context_.record_arrival(descriptor_);
  }
}

// --- datagrams

void DatagramConnection::queue(DatagramKind kind, std::uint64_t number,
                               std::vector<std::byte> payload, std::uint64_t address,
                               std::uint64_t bytes) {
  queued_.push_back({{kind, peer_number_, number, address, bytes}, std::move(payload)});
  context_.count(1);
  send_queued();
}

// Returns whether the socket took it.
bool DatagramConnection::pass(const Datagram& datagram) {
  using Outcome = DatagramSocket::Outcome;
  const Outcome outcome = context_.socket().send(peer_name_, datagram);
  if (outcome == Outcome::gone) {
    lose(Status::error(Code::peer_lost, peer() + ": its datagram socket is gone"));
  }
  return outcome == Outcome::sent;
}

void DatagramConnection::send_queued() {
  while (!queued_.empty() && pass(queued_.front())) {
    queued_.pop_front();
    context_.count(-1);
  }
}

void DatagramConnection::offer_room() {
  if (queued_.empty() && std::exchange(wants_room_, false)) {
    context_.record_arrival(descriptor_);
  }
}

void DatagramConnection::take(const Datagram& datagram) {
  const DatagramHeader& header = datagram.header;
  if (is_lost_) {
    return;
  }
  switch (header.kind) {
    case DatagramKind::message:
      take_message(datagram);
      return;
    case DatagramKind::consumed:
      consumed_messages_ += header.number;
      context_.record_arrival(descriptor_);  // there is room
      return;
    case DatagramKind::write:
    case DatagramKind::read:
      serve(datagram);
      return;
    case DatagramKind::written:
    case DatagramKind::data:
      finish(datagram);
      return;
    case DatagramKind::refused:
      lose(Status::error(Code::peer_lost, peer() + " refused access to its memory"));
      return;
  }
}

// --- messages

// Takes only what the socket takes: the caller polls as long as something is left, and no thread
// might poll otherwise.
Result<std::size_t> DatagramConnection::send(std::span<const iovec> pieces) {
  const std::lock_guard guard(context_.mutex());
  send_queued();
  std::size_t taken = 0;
  while (!is_lost_ && sent_messages_ - consumed_messages_ < max_messages) {
    const Datagram message{{DatagramKind::message, peer_number_, sent_messages_ + 1, 0, 0},
                           next_payload(pieces, taken)};
    if (message.payload.empty()) {
      break;
    }
    if (!queued_.empty() || !pass(message)) {
      wants_room_ = true;
      break;
    }
    ++sent_messages_;
    taken += message.payload.size();
  }
  return is_lost_ ? Result<std::size_t>(loss_) : taken;
}

void DatagramConnection::take_message(const Datagram& datagram) {
  early_.emplace(datagram.header.number, datagram.payload);
  for (auto next = early_.begin(); next != early_.end() && next->first == received_messages_ + 1;
       next = early_.begin()) {
    ++received_messages_;
    stream_.push_back(std::move(next->second));
    early_.erase(next);
    context_.record_arrival(descriptor_);
  }
}

Result<std::size_t> DatagramConnection::receive(std::span<const iovec> into) {
  const std::lock_guard guard(context_.mutex());
  std::size_t taken = 0;
  std::uint64_t consumed = 0;
  bool has_room = false;
  for (const iovec& piece : into) {
    auto* to = static_cast<std::byte*>(piece.iov_base);
    std::size_t left = piece.iov_len;
    has_room = has_room || left > 0;
    while (left > 0 && !stream_.empty()) {
      const std::vector<std::byte>& first = stream_.front();
      const std::size_t here = std::min(left, first.size() - read_of_first_);
      kernels::copy_small(to, first.data() + read_of_first_, here);
      to += here;
      left -= here;
      taken += here;
      read_of_first_ += here;
      if (read_of_first_ == first.size()) {
        stream_.pop_front();
        read_of_first_ = 0;
        ++consumed;
      }
    }
  }
  if (consumed > 0 && !is_lost_) {
    queue(DatagramKind::consumed, consumed);
  }
  return taken == 0 && is_lost_ && has_room ? Result<std::size_t>(loss_) : taken;
}

// --- writes and reads

// At the target.
void DatagramConnection::serve(const Datagram& request) {
  const DatagramHeader& header = request.header;
  const bool is_write = header.kind == DatagramKind::write;
  const std::uint64_t bytes = is_write ? request.payload.size() : header.bytes;
  if (bytes > DatagramSocket::max_payload || !context_.may_reach(header.address, bytes)) {
    queue(DatagramKind::refused, header.number);
    return;
  }
  auto* const at = reinterpret_cast<std::byte*>(header.address);
  if (is_write) {
    kernels::copy_small(at, request.payload.data(), bytes);
    queue(DatagramKind::written, header.number);
  } else {
    queue(DatagramKind::data, header.number, copy_of(at, bytes));
  }
}

Result<bool> DatagramConnection::begin(DatagramKind kind, std::uint64_t address,
                                       const std::byte* from, const Operation& operation) {
  const std::lock_guard guard(context_.mutex());
  if (is_lost_) {
    return loss_;
  }
  if (operations_.size() >= max_operations || queued_.size() >= max_queued) {
    return false;
  }
  operation.done->begin();
  operations_.emplace(++last_operation_, operation);
  context_.count(1);
  if (kind == DatagramKind::write) {
    ++writes_;
    queue(kind, last_operation_, copy_of(from, operation.bytes), address);
  } else {
    queue(kind, last_operation_, {}, address, operation.bytes);
  }
  return true;
}

Result<bool> DatagramConnection::write(std::uint64_t address, const std::byte* from,
                                       std::size_t bytes, Completion& done) {
  return begin(DatagramKind::write, address, from, {.done = &done, .to = nullptr, .bytes = bytes});
}

Result<bool> DatagramConnection::read(std::uint64_t address, std::byte* to, std::size_t bytes,
                                      Completion& done) {
  return begin(DatagramKind::read, address, nullptr, {.done = &done, .to = to, .bytes = bytes});
}

// At the origin.
void DatagramConnection::finish(const Datagram& answer) {
  const auto found = operations_.find(answer.header.number);
  if (found == operations_.end()) {
    return;
  }
  const Operation operation = found->second;
  operations_.erase(found);
  context_.count(-1);
  if (operation.to == nullptr) {
    --writes_;
    end_flushes();
  } else {
    kernels::copy_small(operation.to, answer.payload.data(),
                        std::min(operation.bytes, answer.payload.size()));
  }
  operation.done->end({});
}

void DatagramConnection::end_flushes() {
  const auto first = std::find_if(operations_.begin(), operations_.end(),
                                  [](const auto& each) { return each.second.to == nullptr; });
  std::erase_if(flushes_, [&](const Flush& each) {
    const bool is_over = first == operations_.end() || first->first > each.until;
    if (is_over) {
      each.done->end({});
    }
    return is_over;
  });
}

Status DatagramConnection::wait_for_writes(detail::Requests& requests) {
  Completion done;
  {
    const std::lock_guard guard(context_.mutex());
    if (writes_ == 0 || is_lost_) {
      return is_lost_ ? described(loss_) : Status();
    }
    done.begin();
    flushes_.push_back({&done, last_operation_});
  }
  requests.wait(done);
  return done.take_error();
}

Status DatagramConnection::push(const std::byte*, const CopyShape&, const detail::RemoteSpan&) {
  return Status::error(Code::unsupported, "datagrams write into an agent's memory only");
}

}  // namespace tessera::rma::test
