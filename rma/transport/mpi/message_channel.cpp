// SPDX-License-Identifier: BSD-3-Clause
#include "rma/transport/mpi/message_channel.hpp"

#include <cstring>
#include <utility>

#include "rma/base/catch_bad_alloc.hpp"
#include "rma/base/floating_point_guard.hpp"
#include "rma/progress/waiter.hpp"
#include "rma/transport/mpi/error.hpp"

namespace tessera::rma::mpi {
namespace {

using detail::poll_yielding;

constexpr int tag = 1;
constexpr std::size_t max_sent = 1024;  // messages that have not left this process

}  // namespace

Result<std::unique_ptr<MessageChannel>> MessageChannel::create(std::shared_ptr<World> world,
                                                               Handler handler) {
  std::unique_ptr<MessageChannel> channel(new MessageChannel(std::move(world), std::move(handler)));
  channel->is_open_ = true;
  for (PendingMessage& each : channel->receives_) {
    each.bytes.resize(sizeof(MessageHeader) + max_bytes);
    TESSERA_RETURN_IF_ERROR(channel->post(each));
  }
  return channel;
}

// For a job that did not start; otherwise the channel is closed already.
MessageChannel::~MessageChannel() {
  if (is_open_) {
    close();
  }
}

Status MessageChannel::post(PendingMessage& receive) {
  const auto mpi_guard = world_->lock_calls();
  return check("MPI_Irecv",
               MPI_Irecv(receive.bytes.data(), static_cast<int>(receive.bytes.size()), MPI_BYTE,
                         MPI_ANY_SOURCE, tag, world_->messages(), &receive.request));
}

Status MessageChannel::send(WorldRank to, MessageHeader header, std::span<const std::byte> bytes) {
  TESSERA_RETURN_IF_ERROR(world_->check_thread());
  const FloatingPointGuard guard;
  header.origin = world_->rank().value;
  poll_yielding([&] {
    const bool is_room = has_room();
    if (!is_room) {
      poll();
    }
    return is_room;
  });
  const std::lock_guard one(send_mutex_);
  PendingMessage& message = sent_.emplace_back();
  message.bytes.resize(sizeof header + bytes.size());
  std::memcpy(message.bytes.data(), &header, sizeof header);
  if (!bytes.empty()) {
    std::memcpy(message.bytes.data() + sizeof header, bytes.data(), bytes.size());
  }
  const auto mpi_guard = world_->lock_calls();
  const int code = MPI_Isend(message.bytes.data(), static_cast<int>(message.bytes.size()), MPI_BYTE,
                             to.value, tag, world_->messages(), &message.request);
  if (code != MPI_SUCCESS) {
    sent_.pop_back();
    return error_of("MPI_Isend", code).at(to);
  }
  return {};
}

bool MessageChannel::has_room() {
  const std::lock_guard guard(send_mutex_);
  reap_sent();
  return sent_.size() < max_sent;
}

bool MessageChannel::has_sent_all() {
  const std::lock_guard guard(send_mutex_);
  reap_sent();
  return sent_.empty();
}

// Requires: the lock of the sent messages is held.
void MessageChannel::reap_sent() {
  while (!sent_.empty()) {
    const auto mpi_guard = world_->lock_calls();
    int is_done = 0;
    if (MPI_Test(&sent_.front().request, &is_done, MPI_STATUS_IGNORE) == MPI_SUCCESS &&
        is_done == 0) {
      return;
    }
    sent_.pop_front();
  }
}

int MessageChannel::poll() {
  if (is_polled_.exchange(true)) {
    return 0;
  }
  const FloatingPointGuard guard;
  const int count = is_open_ ? handle_arrivals() : 0;
  is_polled_.store(false);
  if (const std::unique_lock sending(send_mutex_, std::try_to_lock); sending.owns_lock()) {
    reap_sent();
  }
  return count;
}

int MessageChannel::handle_arrivals() {
  constexpr int max_at_once = 64;
  int count = 0;
  while (count < max_at_once && handle_oldest()) {
    ++count;
  }
  return count;
}

bool MessageChannel::handle_oldest() {
  PendingMessage& oldest = receives_[oldest_];
  int has_arrived = 0;
  int count = 0;
  {
    const auto mpi_guard = world_->lock_calls();
    MPI_Status status;
    if (MPI_Test(&oldest.request, &has_arrived, &status) != MPI_SUCCESS || has_arrived == 0) {
      return false;
    }
    MPI_Get_count(&status, MPI_BYTE, &count);
  }
  MessageHeader header;
  std::memcpy(&header, oldest.bytes.data(), sizeof header);
  const std::span<const std::byte> all(oldest.bytes.data(), static_cast<std::size_t>(count));
  detail::catch_bad_alloc([&] {
    handler_(header, all.subspan(sizeof header));
    return Status();
  }).ignore("the rank that waits for this message finds that it does not come");
  oldest_ = (oldest_ + 1) % receive_count;
  return post(oldest).ok();
}

void MessageChannel::finish_sending() {
  poll_yielding([&] {
    const bool is_over = has_sent_all();
    if (!is_over) {
      poll();
    }
    return is_over;
  });
}

void MessageChannel::close() noexcept {
  poll_yielding([&] { return !is_polled_.exchange(true); });
  is_open_ = false;
  is_polled_.store(false);
  const auto mpi_guard = world_->lock_calls();
  for (PendingMessage& each : receives_) {
    if (each.request != MPI_REQUEST_NULL) {
      MPI_Cancel(&each.request);
      MPI_Wait(&each.request, MPI_STATUS_IGNORE);
    }
  }
}

}  // namespace tessera::rma::mpi
