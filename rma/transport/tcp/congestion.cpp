// SPDX-License-Identifier: BSD-3-Clause
#include "rma/transport/tcp/congestion.hpp"

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <fstream>

namespace tessera::rma::server {
namespace {

constexpr std::size_t max_name_length = 16;  // TCP_CA_NAME_MAX of Linux

bool take(int socket, std::string_view name) noexcept {
  return setsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, name.data(),
                    static_cast<socklen_t>(name.size())) == 0;
}

std::string names_to_choose_from() {
  // Root may choose any available one.
  std::ifstream list(geteuid() == 0 ? "/proc/sys/net/ipv4/tcp_available_congestion_control"
                                    : "/proc/sys/net/ipv4/tcp_allowed_congestion_control");
  std::string names;
  std::getline(list, names);
  return names.empty() ? "reno" : names;
}

}  // namespace

std::string congestion_of(int socket) {
  std::array<char, max_name_length + 1> name{};
  socklen_t size = max_name_length;
  return getsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, name.data(), &size) == 0
             ? std::string(name.data())
             : std::string();
}

Status choose_congestion(int socket, std::string_view name) {
  if (name == "system") {
    return {};
  }
  if (name == "auto") {
    if (congestion_of(socket).starts_with("bbr") && !take(socket, "cubic")) {
      static_cast<void>(take(socket, "reno"));  // a kernel without both keeps its own
    }
    return {};
  }
  return take(socket, name)
             ? Status()
             : Status::error(Code::invalid_argument,
                             fmt::format("TESSERA_TUNE=tcp_congestion={} is not usable: expected "
                                         "auto, system or one that the kernel allows: {}",
                                         name, names_to_choose_from()));
}

}  // namespace tessera::rma::server
