// SPDX-License-Identifier: BSD-3-Clause
#include "rma/progress/poller.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <fstream>

#include "rma/base/memory.hpp"
#include "rma/progress/waiter.hpp"

namespace tessera::rma::detail {

namespace {

// The kernel refuses further watches by ENOSPC, which elsewhere means a full disk.
Status too_many_watches(const char* what) {
  std::uint64_t most = 0;
  std::ifstream("/proc/sys/fs/epoll/max_user_watches") >> most;
  return Status::error(
             Code::limit_exceeded,
             fmt::format("cannot create {}: this user may watch at most {} files", what, most))
      .hint("raise the limit: sysctl fs.epoll.max_user_watches");
}

}  // namespace

Status no_descriptor(const char* what) {
  const int error = errno;
  if (error == ENOSPC) {
    return too_many_watches(what);
  }
  return Status::error(Code::limit_exceeded,
                       fmt::format("cannot create {}: {}", what, describe_system_error(error)))
      .hint(remedy_for_system_error(error));
}

Status Poller::open(const char* what) {
  epoll_ = Descriptor(epoll_create1(EPOLL_CLOEXEC));
  return epoll_.get() < 0 ? no_descriptor(what) : Status();
}

void Poller::leave(int fd) const {
  epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
}

std::span<epoll_event> Poller::take(std::span<epoll_event> into) const {
  const int count = epoll_wait(epoll_.get(), into.data(), static_cast<int>(into.size()), 0);
  return into.first(count > 0 ? static_cast<std::size_t>(count) : 0);
}

// The queue's own descriptor is readable while an event is ready. Unlike epoll_wait(), this wakes
// all threads, and takes nanoseconds.
bool Poller::wait(std::chrono::nanoseconds longest) const noexcept {
  OnDescriptor queue(epoll_.get(), POLLIN);
  queue.sleep({}, longest);
  return queue.is_ready();
}

std::chrono::nanoseconds Poller::polling_pause(std::chrono::nanoseconds idle) noexcept {
  constexpr std::chrono::nanoseconds shortest = std::chrono::microseconds(50);
  constexpr std::chrono::nanoseconds longest = std::chrono::milliseconds(1);
  constexpr int parts = 8;
  return std::clamp(idle / parts, shortest, longest);
}

Status Poller::control(int operation, int fd, std::uint32_t events) const {
  epoll_event event{};
  event.events = events;
  event.data.fd = fd;
  return epoll_ctl(epoll_.get(), operation, fd, &event) == 0 ? Status()
                                                             : no_descriptor("a watch of a socket");
}

}  // namespace tessera::rma::detail
