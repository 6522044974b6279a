// SPDX-License-Identifier: BSD-3-Clause
#include "rma/base/fd_passing.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "rma/base/memory.hpp"
#include "rma/base/wait_ready.hpp"

namespace tessera::rma::detail {
namespace {

Status system_error(Code code, std::string_view action) {
  const int error = errno;
  return Status::error(code, fmt::format("{}: {}", action, describe_system_error(error)))
      .hint(remedy_for_system_error(error));
}

Status too_many_open(std::string_view action) {
  return Status::error(Code::limit_exceeded,
                       fmt::format("{}: {}", action, describe_system_error(EMFILE)))
      .hint(remedy_for_system_error(EMFILE));
}

// An address in the abstract namespace: a zero byte, then the name.
socklen_t abstract_address(const std::string& name, sockaddr_un& address) {
  address = {};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
}

std::string random_name() {
  std::array<unsigned char, 12> bytes{};
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    const auto ticks = std::chrono::steady_clock::now().time_since_epoch().count();
    std::memcpy(bytes.data(), &ticks, sizeof ticks);
  }
  std::string name = "tessera-";
  for (const unsigned char byte : bytes) {
    name += fmt::format("{:02x}", byte);
  }
  return name;
}

bool same_user(int connection) {
  ucred peer{};
  socklen_t length = sizeof peer;
  return getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 &&
         peer.uid == geteuid();
}

// The message that carries descriptors: one byte of data and the descriptors as control data.
struct FdMessage {
  FdMessage() {
    part.iov_base = &byte;
    part.iov_len = 1;
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = control.data();
    header.msg_controllen = control.size();
  }
  char byte = 'f';
  iovec part{};
  msghdr header{};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(max_passed_descriptors * sizeof(int))> control{};
};

bool send_fds(int connection, std::span<const int> fds) {
  FdMessage message;
  message.header.msg_controllen = CMSG_SPACE(fds.size_bytes());
  cmsghdr* control = CMSG_FIRSTHDR(&message.header);
  control->cmsg_level = SOL_SOCKET;
  control->cmsg_type = SCM_RIGHTS;
  control->cmsg_len = CMSG_LEN(fds.size_bytes());
  std::memcpy(CMSG_DATA(control), fds.data(), fds.size_bytes());
  return sendmsg(connection, &message.header, MSG_NOSIGNAL) == 1;
}

// All descriptors that were received, expected or not: they must be closed.
std::vector<Descriptor> received_by(msghdr& message) {
  std::vector<Descriptor> descriptors;
  const cmsghdr* control = CMSG_FIRSTHDR(&message);
  if (control == nullptr || control->cmsg_type != SCM_RIGHTS) {
    return descriptors;
  }
  const std::size_t count = (control->cmsg_len - CMSG_LEN(0)) / sizeof(int);
  for (std::size_t i = 0; i < count; ++i) {
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(control) + i * sizeof fd, sizeof fd);
    descriptors.emplace_back(fd);
  }
  return descriptors;
}

}  // namespace

Descriptor::~Descriptor() {
  if (fd_ >= 0) {
    close(fd_);
  }
}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    if (fd_ >= 0) {
      close(fd_);
    }
    fd_ = other.release();
  }
  return *this;
}

Result<DescriptorServer> DescriptorServer::create() {
  Descriptor listener(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (listener.get() < 0) {
    return system_error(Code::limit_exceeded, "cannot open a local socket");
  }
  std::string name = random_name();
  sockaddr_un address{};
  const socklen_t length = abstract_address(name, address);
  constexpr int backlog = 1024;
  if (bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), length) != 0 ||
      ::listen(listener.get(), backlog) != 0) {
    return system_error(Code::limit_exceeded, "cannot listen on a local socket");
  }
  return DescriptorServer(std::move(listener), std::move(name));
}

Status DescriptorServer::serve(std::span<const int> fds, int count,
                               std::chrono::milliseconds timeout,
                               const std::function<bool()>& give_up) {
  constexpr std::chrono::milliseconds poll_interval{50};
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  for (int served = 0; served < count;) {
    const auto now = std::chrono::steady_clock::now();
    if (!wait_ready(socket_.get(), POLLIN, std::min(deadline, now + poll_interval))) {
      if (give_up()) {
        return Status::error(Code::peer_lost,
                             fmt::format("only {} of {} processes of this node fetched its shared "
                                         "memory, and another one has ended",
                                         served, count));
      }
      if (now < deadline) {
        continue;
      }
      return Status::error(
          Code::timed_out,
          fmt::format("only {} of {} processes of this node fetched its shared memory "
                      "within {} ms",
                      served, count, timeout.count()));
    }
    const Descriptor connection(accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (connection.get() < 0 && (errno == EMFILE || errno == ENFILE)) {
      return too_many_open("cannot hand out the node's shared memory");
    }
    if (connection.get() >= 0 && same_user(connection.get()) && send_fds(connection.get(), fds)) {
      ++served;
    }
  }
  return {};
}

Result<std::vector<Descriptor>> fetch_descriptors(const std::string& name, std::size_t count,
                                                  std::chrono::milliseconds timeout) {
  constexpr std::string_view action = "cannot fetch the node's shared memory";
  const Descriptor connection(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (connection.get() < 0) {
    return too_many_open(action);
  }
  sockaddr_un address{};
  const socklen_t length = abstract_address(name, address);
  if (connect(connection.get(), reinterpret_cast<const sockaddr*>(&address), length) != 0) {
    return system_error(Code::unreachable, "cannot reach the first rank of this node");
  }
  if (!wait_ready(connection.get(), POLLIN, std::chrono::steady_clock::now() + timeout)) {
    return Status::error(Code::timed_out,
                         fmt::format("the first rank of this node did not send its "
                                     "shared memory within {} ms",
                                     timeout.count()));
  }
  FdMessage message;
  if (recvmsg(connection.get(), &message.header, MSG_CMSG_CLOEXEC) != 1) {
    return Status::error(Code::protocol, "the first rank of this node closed the connection");
  }
  std::vector<Descriptor> descriptors = received_by(message.header);
  if ((message.header.msg_flags & MSG_CTRUNC) != 0) {
    return too_many_open(action);  // Descriptors arrived, but there was no room for all.
  }
  if (descriptors.size() != count) {
    return Status::error(
        Code::protocol,
        fmt::format("the first rank of this node sent {} descriptors of its shared memory "
                    "instead of {}",
                    descriptors.size(), count));
  }
  return descriptors;
}

}  // namespace tessera::rma::detail
