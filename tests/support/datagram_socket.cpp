// SPDX-License-Identifier: BSD-3-Clause
#include "tests/support/datagram_socket.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace tessera::rma::test {

Result<DatagramSocket> DatagramSocket::open(std::uint64_t seed) {
  detail::Descriptor made(socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  // A name of no bytes lets the system choose one.
  sockaddr_un none{};
  none.sun_family = AF_UNIX;
  DatagramName name;
  socklen_t length = sizeof name.address;
  auto* const chosen = reinterpret_cast<sockaddr*>(&name.address);
  if (made.get() < 0 ||
      bind(made.get(), reinterpret_cast<const sockaddr*>(&none), sizeof none.sun_family) != 0 ||
      getsockname(made.get(), chosen, &length) != 0) {
    return Status::error(Code::limit_exceeded,
                         fmt::format("cannot create a datagram socket: {}", std::strerror(errno)));
  }
  name.length = length;
  const int room = 4 << 20;
  setsockopt(made.get(), SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
  return DatagramSocket(std::move(made), name, seed);
}

DatagramSocket::Outcome DatagramSocket::send(const DatagramName& to, const Datagram& datagram) {
  std::array<iovec, 2> pieces{
      {{const_cast<DatagramHeader*>(&datagram.header), sizeof datagram.header},
       {const_cast<std::byte*>(datagram.payload.data()), datagram.payload.size()}}};
  msghdr message{};
  message.msg_name = const_cast<sockaddr_un*>(&to.address);
  message.msg_namelen = to.length;
  message.msg_iov = pieces.data();
  message.msg_iovlen = pieces.size();
  if (sendmsg(descriptor_.get(), &message, MSG_NOSIGNAL) >= 0) {
    return Outcome::sent;
  }
  return errno == EAGAIN || errno == ENOBUFS || errno == EINTR ? Outcome::no_room : Outcome::gone;
}

void DatagramSocket::receive() {
  constexpr int most = 64;
  constexpr int max_polls = 3;
  for (int i = 0; i < most; ++i) {
    Held held;
    held.datagram.payload.resize(max_payload);
    std::array<iovec, 2> pieces{{{&held.datagram.header, sizeof held.datagram.header},
                                 {held.datagram.payload.data(), max_payload}}};
    msghdr message{};
    message.msg_iov = pieces.data();
    message.msg_iovlen = pieces.size();
    const ssize_t bytes = recvmsg(descriptor_.get(), &message, 0);
    if (bytes < static_cast<ssize_t>(sizeof held.datagram.header)) {
      return;
    }
    held.datagram.payload.resize(static_cast<std::size_t>(bytes) - sizeof held.datagram.header);
    const bool is_write = held.datagram.header.kind == DatagramKind::write;
    held.polls = is_write ? 1 + draw(max_polls) : draw(1);
    held_.push_back(std::move(held));
  }
}

std::vector<Datagram> DatagramSocket::take_due() {
  const auto due =
      std::partition(held_.begin(), held_.end(), [](const Held& each) { return each.polls > 0; });
  std::shuffle(due, held_.end(), random_);
  std::vector<Datagram> taken;
  for (auto each = due; each != held_.end(); ++each) {
    taken.push_back(std::move(each->datagram));
  }
  held_.erase(due, held_.end());
  for (Held& each : held_) {
    --each.polls;
  }
  return taken;
}

std::vector<Datagram> DatagramSocket::take_all() {
  for (Held& each : held_) {
    each.polls = 0;
  }
  return take_due();
}

}  // namespace tessera::rma::test
