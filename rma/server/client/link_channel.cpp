// SPDX-License-Identifier: BSD-3-Clause
#include "rma/server/client/link_channel.hpp"

#include <sys/epoll.h>

#include <span>
#include <utility>

namespace tessera::rma::server {
namespace {

// Stands for the connection while there is none: nothing arrives and nothing is sent.
class NullChannel final : public Channel {
 public:
  Result<std::size_t> send(std::span<const iovec>) override { return std::size_t{0}; }
  Result<std::size_t> receive(std::span<const iovec>) override { return std::size_t{0}; }
  [[nodiscard]] Status check() const override { return {}; }
  [[nodiscard]] int descriptor() const noexcept override { return -1; }
  [[nodiscard]] std::string peer() const override { return "an agent without a connection"; }
};

std::unique_ptr<Channel> or_none(std::unique_ptr<Channel> channel) {
  return channel != nullptr ? std::move(channel) : std::make_unique<NullChannel>();
}

}  // namespace

LinkChannel::LinkChannel(std::unique_ptr<Channel> channel)
    : is_connected_(channel != nullptr),
      channel_(or_none(std::move(channel))),
      descriptor_(channel_->descriptor()),
      shows_room_(channel_->shows_room()) {}

std::unique_ptr<Channel> LinkChannel::replace(std::unique_ptr<Channel> channel) {
  is_connected_ = channel != nullptr;
  std::unique_ptr<Channel> before = std::exchange(channel_, or_none(std::move(channel)));
  descriptor_ = channel_->descriptor();
  shows_room_ = channel_->shows_room();
  return before;
}

void LinkChannel::move_to(std::unique_ptr<detail::RdmaConnection> path) {
  path_ = path.get();
  has_ordered_writes_ = path_->has_ordered_writes();
  path_->watch(std::move(channel_));  // its descriptor is the path's from now on
  static_cast<void>(replace(std::move(path)));
}

bool LinkChannel::watch_by(const detail::Poller& poller, bool waits_for_room, bool is_lost) {
  const int wanted = is_lost ? -1 : descriptor();
  stop_watching(poller, watched_ == wanted ? -1 : watched_);
  if (wanted < 0) {
    return true;
  }
  const bool is_room_shown = waits_for_room && shows_room_.load(std::memory_order_relaxed);
  const std::uint32_t events = is_room_shown ? EPOLLIN | EPOLLOUT : EPOLLIN;
  if (watched_ == wanted && watched_events_ == events) {
    return true;
  }
  const bool is_watched =
      watched_ == wanted ? poller.change(wanted, events).ok() : poller.watch(wanted, events).ok();
  if (is_watched) {
    watched_ = wanted;
    watched_events_ = events;
  }
  return is_watched;
}

void LinkChannel::stop_watching(const detail::Poller& poller, int before) noexcept {
  if (before >= 0 && watched_ == before) {
    poller.leave(before);
    watched_ = -1;
  }
}

}  // namespace tessera::rma::server
