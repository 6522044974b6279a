// SPDX-License-Identifier: BSD-3-Clause
#include "rma/server/event_queue.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

namespace tessera::rma::server {

Status no_descriptor(const char* what) {
  return Status::error(Code::limit_exceeded,
                       fmt::format("cannot make {}: {}", what, std::strerror(errno)))
      .hint("raise the limit on open files (ulimit -n)");
}

Status EventQueue::open() {
  epoll_ = detail::Descriptor(epoll_create1(EPOLL_CLOEXEC));
  return epoll_.get() < 0 ? no_descriptor("the agent's event queue") : Status();
}

void EventQueue::leave(int fd) const {
  epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
}

std::span<epoll_event> EventQueue::take(std::span<epoll_event> into) const {
  const int count = epoll_wait(epoll_.get(), into.data(), static_cast<int>(into.size()), 0);
  return into.first(count > 0 ? static_cast<std::size_t>(count) : 0);
}

bool EventQueue::has_any(std::chrono::milliseconds longest) const {
  epoll_event event{};
  return epoll_wait(epoll_.get(), &event, 1, static_cast<int>(longest.count())) > 0;
}

Status EventQueue::control(int operation, int fd, std::uint32_t events) const {
  epoll_event event{};
  event.events = events;
  event.data.fd = fd;
  return epoll_ctl(epoll_.get(), operation, fd, &event) == 0 ? Status()
                                                             : no_descriptor("a watch of a socket");
}

}  // namespace tessera::rma::server
