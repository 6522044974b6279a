// SPDX-License-Identifier: BSD-3-Clause
#include "rma/server/connection/poller.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <fstream>

#include "rma/base/memory.hpp"

namespace tessera::rma::server {

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

Status Poller::open() {
  epoll_ = detail::Descriptor(epoll_create1(EPOLL_CLOEXEC));
  return epoll_.get() < 0 ? no_descriptor("the agent's event queue") : Status();
}

void Poller::leave(int fd) const {
  epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
}

std::span<epoll_event> Poller::take(std::span<epoll_event> into) const {
  const int count = epoll_wait(epoll_.get(), into.data(), static_cast<int>(into.size()), 0);
  return into.first(count > 0 ? static_cast<std::size_t>(count) : 0);
}

// The system call for whole milliseconds exists on every kernel; an event queue may itself be
// polled.
bool Poller::has_any(std::chrono::nanoseconds longest) const {
  const auto whole = std::chrono::floor<std::chrono::milliseconds>(longest);
  if (whole == longest) {
    epoll_event event{};
    return epoll_wait(epoll_.get(), &event, 1, static_cast<int>(whole.count())) > 0;
  }
  pollfd waiting{.fd = epoll_.get(), .events = POLLIN, .revents = 0};
  const timespec timeout{.tv_sec = whole.count() / 1000,
                         .tv_nsec = longest.count() % 1'000'000'000};
  return ppoll(&waiting, 1, &timeout, nullptr) > 0;
}

std::chrono::nanoseconds Poller::polling_pause(std::chrono::nanoseconds idle) noexcept {
  constexpr std::chrono::nanoseconds shortest = std::chrono::microseconds(50);
  constexpr std::chrono::nanoseconds longest = std::chrono::milliseconds(1);
  constexpr int parts = 8;
  return std::clamp(idle / parts, shortest, longest);
}

void Poller::wait_for(int fd, std::uint32_t events, std::chrono::milliseconds longest) {
  longest = fd < 0 ? std::min(longest, std::chrono::milliseconds(1)) : longest;
  static_assert(EPOLLIN == POLLIN && EPOLLOUT == POLLOUT);
  pollfd waiting{.fd = fd, .events = static_cast<short>(events), .revents = 0};
  poll(&waiting, 1, static_cast<int>(longest.count()));
}

Status Poller::control(int operation, int fd, std::uint32_t events) const {
  epoll_event event{};
  event.events = events;
  event.data.fd = fd;
  return epoll_ctl(epoll_.get(), operation, fd, &event) == 0 ? Status()
                                                             : no_descriptor("a watch of a socket");
}

}  // namespace tessera::rma::server
