// SPDX-License-Identifier: BSD-3-Clause
#include "rma/transport/tcp/tcp.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <linux/tcp.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstring>
#include <mutex>
#include <utility>

#include "rma/base/catch_bad_alloc.hpp"
#include "rma/base/memory.hpp"
#include "rma/base/wait_ready.hpp"
#include "rma/transport/tcp/congestion.hpp"
#include "rma/transport/tcp/response_monitor.hpp"

namespace tessera::rma::server {
namespace {

using detail::Descriptor;

sockaddr_in socket_address(TcpAddress address) noexcept {
  sockaddr_in result{};
  result.sin_family = AF_INET;
  result.sin_addr.s_addr = htonl(address.host);
  result.sin_port = htons(address.port);
  return result;
}

// The socket interface takes every kind of address as a pointer to this type.
template <class Address>
auto* generic(Address& address) noexcept {
  return reinterpret_cast<std::conditional_t<std::is_const_v<Address>, const sockaddr, sockaddr>*>(
      &address);
}

void set_option(int fd, int level, int name, int value) noexcept {
  // Options only tune the connection; a kernel that lacks one still works.
  static_cast<void>(setsockopt(fd, level, name, &value, sizeof(value)));
}

void tune(int fd) noexcept {
  set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  // Together these give longest_silence.
  set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, 5);
  set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, 2);
  set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, 5);
}

bool is_descriptor_limit(int error) noexcept {
  return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

Status no_socket(int error) {
  return Status::error(Code::limit_exceeded,
                       fmt::format("cannot open a socket: {}", describe_system_error(error)))
      .hint(remedy_for_system_error(error));
}

class TcpChannel final : public Channel {
 public:
  TcpChannel(Descriptor socket, TcpAddress peer) noexcept
      : socket_(std::move(socket)), peer_(peer) {}

  Result<std::size_t> send(std::span<const iovec> pieces) override {
    msghdr message{};
    message.msg_iov = const_cast<iovec*>(pieces.data());
    message.msg_iovlen = std::min<std::size_t>(pieces.size(), IOV_MAX);
    return moved(sendmsg(socket_.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT));
  }

  Result<std::size_t> receive(std::span<const iovec> into) override {
    msghdr message{};
    message.msg_iov = const_cast<iovec*>(into.data());
    message.msg_iovlen = std::min<std::size_t>(into.size(), IOV_MAX);
    const ssize_t bytes = recvmsg(socket_.get(), &message, MSG_DONTWAIT);
    if (bytes == 0) {
      // The kernel reports the reason only once, and an earlier send may have received it.
      const int known = error_;
      return lost(known == 0 || known == EPIPE ? "it closed the connection" : std::strerror(known));
    }
    return moved(bytes);
  }

  [[nodiscard]] Status check() const override {
    tcp_info info{};
    socklen_t size = sizeof(info);
    if (getsockopt(socket_.get(), IPPROTO_TCP, TCP_INFO, &info, &size) != 0) {
      return {};
    }
    const ResponseMonitor::Report report{
        .retransmits = info.tcpi_retransmits,
        .window_probes = info.tcpi_probes,
        .acknowledged = info.tcpi_bytes_acked,
        .since_packet = std::chrono::milliseconds(info.tcpi_last_ack_recv)};
    const std::lock_guard guard(monitor_mutex_);
    if (!unanswered_.is_gone(report, std::chrono::steady_clock::now())) {
      return {};
    }
    error_ = ETIMEDOUT;
    return lost("its machine does not answer");
  }

  [[nodiscard]] int descriptor() const noexcept override { return socket_.get(); }
  [[nodiscard]] int error() const noexcept override { return error_; }
  [[nodiscard]] std::string peer() const override { return to_string(peer_); }

 private:
  Result<std::size_t> moved(ssize_t bytes) const {
    if (bytes >= 0) {
      return static_cast<std::size_t>(bytes);
    }
    if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) {
      return std::size_t{0};
    }
    // Neither the peer nor the connection is at fault: this error concerns only the caller's
    // memory.
    if (errno == EFAULT) {
      return Status::error(Code::invalid_argument,
                           fmt::format("the local buffer of an operation is not memory that this "
                                       "process may use: {}",
                                       std::strerror(EFAULT)));
    }
    int first = 0;
    error_.compare_exchange_strong(first, errno);
    return lost(std::strerror(error_));
  }
  [[nodiscard]] Status lost(const char* reason) const noexcept {
    return detail::worded(Code::peer_lost, [&] {
      return Status::error(Code::peer_lost,
                           fmt::format("the connection with {} is lost: {}", peer(), reason));
    });
  }

  Descriptor socket_;
  TcpAddress peer_;
  mutable std::atomic<int> error_{0};
  mutable std::mutex monitor_mutex_;
  mutable ResponseMonitor unanswered_{longest_silence};
};

// Waits until a connection is established or refused; returns the system's error, 0 for none.
Result<int> outcome_of_connecting(int fd, std::chrono::milliseconds timeout) {
  if (!detail::wait_ready(fd, POLLOUT, std::chrono::steady_clock::now() + timeout)) {
    return Status::error(Code::timed_out, fmt::format("no answer within {} ms", timeout.count()));
  }
  int error = 0;
  socklen_t size = sizeof(error);
  getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
  return error;
}

void record_reason(int error, int* reason) noexcept {
  if (reason != nullptr) {
    *reason = error;
  }
}

std::string list_of(const std::vector<std::pair<std::string, TcpAddress>>& interfaces) {
  std::string names;
  for (const auto& [name, address] : interfaces) {
    names += (names.empty() ? "" : ", ") + name;
  }
  return names;
}

// The interfaces that are up and have an IPv4 address, in the system's order.
Result<std::vector<std::pair<std::string, TcpAddress>>> find_interfaces() {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) {
    return no_socket(errno);
  }
  std::vector<std::pair<std::string, TcpAddress>> found;
  for (const ifaddrs* each = list; each != nullptr; each = each->ifa_next) {
    const bool is_up = (each->ifa_flags & IFF_UP) != 0;
    if (is_up && each->ifa_addr != nullptr && each->ifa_addr->sa_family == AF_INET) {
      sockaddr_in address{};
      std::memcpy(&address, each->ifa_addr, sizeof(address));
      const TcpAddress host{ntohl(address.sin_addr.s_addr), 0};
      found.emplace_back(each->ifa_name, host);
    }
  }
  freeifaddrs(list);
  return found;
}

}  // namespace

std::string to_string(TcpAddress address) {
  return fmt::format("{}.{}.{}.{}:{}", address.host >> 24U, address.host >> 16U & 255U,
                     address.host >> 8U & 255U, address.host & 255U, address.port);
}

Result<TcpAddress> interface_address(const std::string& name) {
  TESSERA_ASSIGN_OR_RETURN(auto found, find_interfaces());
  // Loopback last: it is used only if there is nothing else.
  std::stable_partition(found.begin(), found.end(), [](const auto& each) {
    constexpr std::uint32_t loopback_network = 127;
    return each.second.host >> 24U != loopback_network;
  });
  for (const auto& [each, address] : found) {
    if (name.empty() || each == name) {
      return address;
    }
  }
  return Status::error(
      Code::invalid_argument,
      fmt::format("there is no network interface '{}' with an IPv4 address that is up; there are: "
                  "{}",
                  name, list_of(found)));
}

std::string interface_name(TcpAddress address) {
  const auto found = find_interfaces();
  if (found.ok()) {
    for (const auto& [name, own] : *found) {
      if (own.host == address.host) {
        return name;
      }
    }
  }
  return "";
}

Result<TcpListener> TcpListener::create(TcpAddress address, const std::string& congestion) {
  Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (socket.get() < 0) {
    return no_socket(errno);
  }
  TESSERA_RETURN_IF_ERROR(choose_congestion(socket.get(), congestion));
  sockaddr_in own = socket_address(address);
  socklen_t size = sizeof(own);
  if (bind(socket.get(), generic(std::as_const(own)), size) != 0 ||
      listen(socket.get(), SOMAXCONN) != 0 || getsockname(socket.get(), generic(own), &size) != 0) {
    const int error = errno;
    return Status::error(Code::unreachable,
                         fmt::format("cannot listen at {}: {}", to_string(address),
                                     describe_system_error(error)))
        .hint(remedy_for_system_error(error));
  }
  address.port = ntohs(own.sin_port);
  return TcpListener(std::move(socket), address);
}

Result<std::unique_ptr<Channel>> TcpListener::accept() {
  sockaddr_in address{};
  socklen_t size = sizeof(address);
  Descriptor socket(accept4(socket_.get(), generic(address), &size, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (socket.get() < 0) {
    if (is_descriptor_limit(errno)) {
      return no_socket(errno);
    }
    return std::unique_ptr<Channel>();  // the caller has disconnected again, or there was none
  }
  tune(socket.get());
  const TcpAddress peer{ntohl(address.sin_addr.s_addr), ntohs(address.sin_port)};
  return std::unique_ptr<Channel>(std::make_unique<TcpChannel>(std::move(socket), peer));
}

Result<TcpListener> listen_for_nodes(const Settings& settings, bool is_one_machine) {
  constexpr TcpAddress loopback{0x7f00'0001, 0};
  TcpAddress address = loopback;
  if (!settings.interface.empty() || !is_one_machine) {
    TESSERA_ASSIGN_OR_RETURN(address, interface_address(settings.interface));
  }
  return TcpListener::create(address, settings.tcp_congestion);
}

namespace {

struct Connecting {
  Descriptor socket;
  int error = 0;  // EINPROGRESS: not yet known
};

Result<Connecting> start_to_connect(TcpAddress address, const std::string& congestion) {
  Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (socket.get() < 0) {
    return no_socket(errno);
  }
  tune(socket.get());
  TESSERA_RETURN_IF_ERROR(choose_congestion(socket.get(), congestion));
  const sockaddr_in peer = socket_address(address);
  const int error = connect(socket.get(), generic(peer), sizeof(peer)) == 0 ? 0 : errno;
  return Connecting{std::move(socket), error == EINTR ? EINPROGRESS : error};
}

Status not_connected(TcpAddress address, int error) {
  // The host replied that it has no such port: the process that listened there is gone.
  const Code code = error == ECONNREFUSED ? Code::peer_lost : Code::unreachable;
  return Status::error(code, fmt::format("cannot connect to {}: {}", to_string(address),
                                         describe_system_error(error)))
      .hint(remedy_for_system_error(error))
      .hint(
          "check that the port is open between the hosts; TESSERA_INTERFACE selects another "
          "network");
}

}  // namespace

Result<std::unique_ptr<Channel>> connect_tcp(TcpAddress address, std::chrono::milliseconds timeout,
                                             const std::string& congestion, int* reason) {
  TESSERA_ASSIGN_OR_RETURN(Connecting connecting, start_to_connect(address, congestion));
  int error = connecting.error;
  if (error == EINPROGRESS) {
    auto outcome = outcome_of_connecting(connecting.socket.get(), timeout);
    error = outcome.ok() ? *outcome : ETIMEDOUT;
    if (!outcome.ok()) {
      record_reason(error, reason);
      return std::move(outcome).status().context("connecting to " + to_string(address));
    }
  }
  if (error != 0) {
    record_reason(error, reason);
    return not_connected(address, error);
  }
  return std::unique_ptr<Channel>(
      std::make_unique<TcpChannel>(std::move(connecting.socket), address));
}

Result<std::unique_ptr<Channel>> begin_to_connect(TcpAddress address,
                                                  const std::string& congestion) {
  TESSERA_ASSIGN_OR_RETURN(Connecting connecting, start_to_connect(address, congestion));
  if (connecting.error != 0 && connecting.error != EINPROGRESS) {
    return not_connected(address, connecting.error);
  }
  return std::unique_ptr<Channel>(
      std::make_unique<TcpChannel>(std::move(connecting.socket), address));
}

}  // namespace tessera::rma::server
