// SPDX-License-Identifier: BSD-3-Clause
#include "tests/support/datagram_context.hpp"

#include <algorithm>
#include <random>
#include <utility>

namespace tessera::rma::test {

// A random number: the name of a closed socket may be used again by another one.
Result<std::unique_ptr<detail::RdmaConnection>> DatagramContext::open_connection() {
  static std::random_device numbers;
  const std::lock_guard guard(mutex_);
  const std::uint32_t number = numbers();
  auto made = std::make_unique<DatagramConnection>(*this, number);
  connections_.insert_or_assign(number, made.get());
  return std::unique_ptr<detail::RdmaConnection>(std::move(made));
}

// Counts what is held back, too, so that its owner polls again at once.
int DatagramContext::progress() {
  const std::lock_guard guard(mutex_);
  send_queued();
  socket_.receive();
  const int count = dispatch(socket_.take_due()) + socket_.held();
  send_queued();
  for (const auto& [number, connection] : connections_) {
    connection->offer_room();
  }
  return count;
}

void DatagramContext::deliver_all() {
  const std::lock_guard guard(mutex_);
  socket_.receive();
  while (socket_.held() > 0) {
    dispatch(socket_.take_all());
    socket_.receive();
  }
}

// Datagrams for a connection that has ended are dropped.
int DatagramContext::dispatch(std::vector<Datagram> datagrams) {
  for (const Datagram& each : datagrams) {
    if (const auto found = connections_.find(each.header.to); found != connections_.end()) {
      found->second->take(each);
    }
  }
  return static_cast<int>(datagrams.size());
}

void DatagramContext::send_queued() {
  for (const auto& [number, connection] : connections_) {
    connection->send_queued();
  }
}

std::vector<int> DatagramContext::take_ready_descriptors() {
  const std::lock_guard guard(mutex_);
  return std::exchange(arrivals_, {});
}

bool DatagramContext::arm() {
  const std::lock_guard guard(mutex_);
  send_queued();
  socket_.receive();
  return socket_.held() == 0 && arrivals_.empty();
}

void DatagramContext::record_arrival(int descriptor) {
  if (descriptor >= 0 &&
      std::find(arrivals_.begin(), arrivals_.end(), descriptor) == arrivals_.end()) {
    arrivals_.push_back(descriptor);
  }
}

bool DatagramContext::may_reach(std::uint64_t address, std::uint64_t bytes) const noexcept {
  const std::span<std::byte> all = memory_->bytes();
  const auto first = reinterpret_cast<std::uintptr_t>(all.data());
  return address >= first && bytes <= all.size() && address - first <= all.size() - bytes;
}

Result<detail::RemoteSpan> DatagramContext::expose(std::byte* from, std::uint64_t bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(from);
  if (bytes == 0 || !may_reach(address, bytes)) {
    return Status::error(Code::unsupported, "datagrams reach a node's arena only");
  }
  return detail::RemoteSpan{address, bytes, 1};
}

}  // namespace tessera::rma::test
