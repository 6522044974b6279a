// SPDX-License-Identifier: BSD-3-Clause
#include "bench/baselines/tcp_socket.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <system_error>
#include <thread>

namespace tessera::bench {
namespace {

[[noreturn]] void fail(const char* what, int error = errno) {
  throw std::system_error(error, std::generic_category(), what);
}

/// Decides whether to repeat a failed call.
class Retry {
 public:
  explicit Retry(Waiting waiting) : waiting_(waiting) {}
  bool after(int error) {
    if (waiting_ == Waiting::polling && error == EAGAIN) {
      backoff_.pause();
      return true;
    }
    return error == EINTR;
  }

 private:
  Waiting waiting_;
  PollBackoff backoff_;
};

int flags(Waiting waiting) {
  return waiting == Waiting::polling ? MSG_DONTWAIT : 0;
}

iovec part(std::span<const std::byte> bytes) {
  return {const_cast<std::byte*>(bytes.data()), bytes.size()};  // NOLINT: sendmsg() only reads
}

sockaddr_in to_system(const TcpAddress& address) {
  sockaddr_in system = {};
  system.sin_family = AF_INET;
  system.sin_addr.s_addr = address.host;
  system.sin_port = address.port;
  return system;
}

template <class Address>
Address* generic(sockaddr_in& address) {
  return reinterpret_cast<Address*>(&address);
}

/// BBR sends at an estimated rate, which a baseline of the network must not do. cubic is Linux's
/// usual control; the process may lack the permission to choose it.
void avoid_pacing(int descriptor) {
  constexpr std::size_t longest_name = 16;  // TCP_CA_NAME_MAX of Linux
  std::array<char, longest_name + 1> own = {};
  socklen_t size = longest_name;
  if (::getsockopt(descriptor, IPPROTO_TCP, TCP_CONGESTION, own.data(), &size) != 0 ||
      !std::string_view(own.data()).starts_with("bbr")) {
    return;
  }
  for (const std::string_view name : {"cubic", "reno"}) {
    const auto length = static_cast<socklen_t>(name.size());
    if (::setsockopt(descriptor, IPPROTO_TCP, TCP_CONGESTION, name.data(), length) == 0) {
      return;
    }
  }
}

/// Waits until a peer connects to the listener, or throws.
void wait_for_caller(int descriptor, std::chrono::milliseconds limit) {
  pollfd entry = {descriptor, POLLIN, 0};
  const int ready = ::poll(&entry, 1, static_cast<int>(limit.count()));
  if (ready < 0 && errno != EINTR) {
    fail("no peer connected");
  }
  if (ready == 0) {
    fail("no peer connected", ETIMEDOUT);
  }
}

}  // namespace

void PollBackoff::pause() {
  constexpr int polls_before_yielding = 200;  // about 50 µs
  if (++polls_ > polls_before_yielding) {
    std::this_thread::yield();
  }
}

TcpSocket::TcpSocket(int descriptor) : descriptor_(descriptor) {
  const int on = 1;
  if (::setsockopt(descriptor_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0) {
    const int error = errno;
    ::close(descriptor_);
    fail("cannot set TCP_NODELAY", error);
  }
  avoid_pacing(descriptor_);
}

TcpSocket::~TcpSocket() {
  if (descriptor_ >= 0) {
    ::close(descriptor_);
  }
}

void TcpSocket::shut_down() {
  ::shutdown(descriptor_, SHUT_RDWR);
}

void TcpSocket::send(std::span<const std::byte> head, std::span<const std::byte> body,
                     Waiting waiting) {
  Retry retry(waiting);
  while (!head.empty() || !body.empty()) {
    std::array<iovec, 2> parts = {part(head), part(body)};
    msghdr message = {};
    message.msg_iov = parts.data();
    message.msg_iovlen = body.empty() ? 1 : 2;
    const ssize_t sent = ::sendmsg(descriptor_, &message, MSG_NOSIGNAL | flags(waiting));
    if (sent < 0) {
      if (!retry.after(errno)) {
        fail("sending");
      }
      continue;
    }
    const auto bytes = static_cast<std::size_t>(sent);
    const std::size_t of_head = std::min(bytes, head.size());
    head = head.subspan(of_head);
    body = body.subspan(bytes - of_head);
  }
}

std::size_t TcpSocket::receive_some(std::span<std::byte> bytes, Waiting waiting) {
  Retry retry(waiting);
  while (true) {
    const ssize_t received = ::recv(descriptor_, bytes.data(), bytes.size(), flags(waiting));
    if (received >= 0) {
      return static_cast<std::size_t>(received);
    }
    if (!retry.after(errno)) {
      fail("receiving");
    }
  }
}

void TcpSocket::receive(std::span<std::byte> bytes, Waiting waiting) {
  while (!bytes.empty()) {
    const std::size_t received = receive_some(bytes, waiting);
    if (received == 0) {
      fail("receiving", ECONNRESET);
    }
    bytes = bytes.subspan(received);
  }
}

std::size_t TcpSocket::try_send(std::span<const iovec> parts) {
  msghdr message = {};
  message.msg_iov = const_cast<iovec*>(parts.data());  // NOLINT: sendmsg() only reads
  message.msg_iovlen = parts.size();
  const ssize_t sent = ::sendmsg(descriptor_, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent < 0 && errno != EAGAIN && errno != EINTR) {
    fail("sending");
  }
  return static_cast<std::size_t>(std::max<ssize_t>(sent, 0));
}

std::size_t TcpSocket::try_receive(std::span<const iovec> parts) {
  msghdr message = {};
  message.msg_iov = const_cast<iovec*>(parts.data());  // recvmsg() doesn't change them either
  message.msg_iovlen = parts.size();
  const ssize_t received = ::recvmsg(descriptor_, &message, MSG_DONTWAIT);
  if (received == 0) {
    fail("receiving", ECONNRESET);
  }
  if (received < 0 && errno != EAGAIN && errno != EINTR) {
    fail("receiving");
  }
  return static_cast<std::size_t>(std::max<ssize_t>(received, 0));
}

TcpListener::TcpListener(std::uint32_t host)
    : descriptor_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address = to_system({host, 0});
  socklen_t size = sizeof address;
  if (descriptor_ < 0 || ::bind(descriptor_, generic<sockaddr>(address), size) != 0 ||
      ::listen(descriptor_, 1) != 0 ||
      ::getsockname(descriptor_, generic<sockaddr>(address), &size) != 0) {
    const int error = errno;
    ::close(descriptor_);
    fail("listening", error);
  }
  address_ = {address.sin_addr.s_addr, address.sin_port};
}

TcpListener::~TcpListener() {
  ::close(descriptor_);
}

TcpSocket TcpListener::accept(std::uint64_t token, std::chrono::milliseconds limit) const {
  while (true) {
    wait_for_caller(descriptor_, limit);
    const int descriptor = ::accept4(descriptor_, nullptr, nullptr, SOCK_CLOEXEC);
    if (descriptor < 0) {
      fail("cannot accept a connection");
    }
    TcpSocket socket(descriptor);
    std::uint64_t shown = 0;
    socket.receive(std::as_writable_bytes(std::span(&shown, 1)), Waiting::blocking);
    if (shown == token) {
      return socket;
    }
  }
}

TcpSocket connect_tcp(const TcpAddress& address, std::uint64_t token) {
  const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) {
    fail("cannot create a socket");
  }
  TcpSocket socket(descriptor);
  sockaddr_in system = to_system(address);
  if (::connect(descriptor, generic<const sockaddr>(system), sizeof system) != 0) {
    fail("connecting");
  }
  socket.send(std::as_bytes(std::span(&token, 1)), Waiting::blocking);
  return socket;
}

std::uint32_t loopback_host() {
  return htonl(INADDR_LOOPBACK);
}

std::uint32_t outside_host() {
  std::uint32_t found = loopback_host();
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) {
    return found;
  }
  for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
    const bool is_up = (one->ifa_flags & IFF_UP) != 0 && (one->ifa_flags & IFF_LOOPBACK) == 0;
    if (is_up && one->ifa_addr != nullptr && one->ifa_addr->sa_family == AF_INET) {
      sockaddr_in address = {};
      std::memcpy(&address, one->ifa_addr, sizeof address);
      found = address.sin_addr.s_addr;
      break;
    }
  }
  ::freeifaddrs(all);
  return found;
}

bool TcpReader::read(std::span<std::byte> bytes, Waiting waiting) {
  bool is_first = true;
  while (!bytes.empty()) {
    if (unread_.empty() && bytes.size() >= buffer_.size()) {
      socket_.receive(bytes, waiting);
      return true;
    }
    if (unread_.empty()) {
      const std::size_t received = socket_.receive_some(buffer_, waiting);
      if (received == 0) {
        if (is_first) {
          return false;
        }
        fail("receiving", ECONNRESET);
      }
      unread_ = std::span(buffer_).first(received);
    }
    const std::size_t taken = std::min(unread_.size(), bytes.size());
    std::memcpy(bytes.data(), unread_.data(), taken);
    unread_ = unread_.subspan(taken);
    bytes = bytes.subspan(taken);
    is_first = false;
  }
  return true;
}

TcpServer::Served TcpServer::serve_one(Waiting waiting) {
  std::uint64_t word = 0;
  if (!reader_.read(writable_bytes_of(word), waiting)) {
    return Served::closed;
  }
  const TcpRequest request = TcpRequest::decode(word);
  if (request.offset > memory_.size() || request.bytes > memory_.size() - request.offset) {
    throw std::system_error(EPROTO, std::generic_category(),
                            "a request addresses memory outside the buffer");
  }
  const auto place = memory_.subspan(request.offset, request.bytes);
  switch (request.kind) {
    case TcpKind::end:
      answer(waiting);
      return Served::end;
    case TcpKind::echo:  // the request is the message's first 8 bytes
      reader_.read(place.subspan(sizeof word), waiting);
      socket_.send(bytes_of(word), place.subspan(sizeof word), waiting);
      break;
    case TcpKind::put:
    case TcpKind::put_unanswered:
      reader_.read(place, waiting);
      if (request.kind == TcpKind::put) {
        answer(waiting);
      }
      break;
    case TcpKind::get:
      socket_.send(place, waiting);
      break;
    case TcpKind::add: {
      std::int64_t increment = 0;
      reader_.read(writable_bytes_of(increment), waiting);
      std::int64_t before = 0;
      std::memcpy(&before, place.data(), sizeof before);
      const std::int64_t after = before + increment;
      std::memcpy(place.data(), &after, sizeof after);
      socket_.send(bytes_of(before), waiting);
      break;
    }
  }
  return Served::request;
}

void TcpServer::answer(Waiting waiting) {
  const std::uint64_t done = 1;
  socket_.send(bytes_of(done), waiting);
}

}  // namespace tessera::bench
