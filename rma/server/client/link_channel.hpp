// SPDX-License-Identifier: BSD-3-Clause
//
// LinkChannel: the channel that a link uses: its connection, the RDMA connection that it moved
// to, or nothing while other agents pass on its requests.
//
// Threads: is_connected() and descriptor() may be called from any thread. replace() and move_to()
// need both mutexes of the link, or that no other thread has it. One thread at a time may call
// watch_by() and stop_watching().
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "rma/progress/poller.hpp"
#include "rma/transport/channel.hpp"
#include "rma/transport/rdma.hpp"

namespace tessera::rma::server {

using detail::Channel;

class LinkChannel {
 public:
  /// `channel`: null if there is no connection. Nothing arrives and nothing is sent then.
  explicit LinkChannel(std::unique_ptr<Channel> channel);

  [[nodiscard]] Channel& operator*() const noexcept { return *channel_; }
  [[nodiscard]] Channel* operator->() const noexcept { return channel_.get(); }
  /// The RDMA connection; null if the link has not moved to one.
  [[nodiscard]] detail::RdmaConnection* path() const noexcept { return path_; }
  /// Whether what is sent arrives after the writes that were posted before it.
  [[nodiscard]] bool has_ordered_writes() const noexcept { return has_ordered_writes_; }
  [[nodiscard]] bool is_connected() const noexcept { return is_connected_.load(); }
  [[nodiscard]] int descriptor() const noexcept { return descriptor_.load(); }

  /// Uses `channel`, or none, from now on. Returns the channel before, which must stay open until
  /// it is no longer watched: no other file must have its number.
  [[nodiscard]] std::unique_ptr<Channel> replace(std::unique_ptr<Channel> channel);
  /// The same for a path. It watches the connection before for its end.
  void move_to(std::unique_ptr<detail::RdmaConnection> path);

  /// Watches for arrivals, and for room if `waits_for_room`; not at all if `is_lost`. False if the
  /// system refuses.
  bool watch_by(const detail::Poller& poller, bool waits_for_room, bool is_lost);
  /// Ends that for a descriptor that the link used before.
  void stop_watching(const detail::Poller& poller, int before) noexcept;

 private:
  std::atomic<bool> is_connected_;
  std::unique_ptr<Channel> channel_;
  std::atomic<int> descriptor_;
  std::atomic<bool> shows_room_;  // its descriptor shows when there is room
  detail::RdmaConnection* path_ = nullptr;
  bool has_ordered_writes_ = true;
  int watched_ = -1;
  std::uint32_t watched_events_ = 0;
};

}  // namespace tessera::rma::server
