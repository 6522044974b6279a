// SPDX-License-Identifier: BSD-3-Clause
//
// DatagramSocket: reliable datagrams between contexts of one machine, which arrive in any order.
//
// The system delivers datagrams in order. So the socket holds back those that have arrived, each
// for a random number of polls, and hands out those that are due in a random order. The numbers
// follow from a seed.
//
// Threads: one at a time.
#pragma once

#include <sys/un.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "rma/base/fd_passing.hpp"
#include "rma/base/result.hpp"

namespace tessera::rma::test {

/// What a datagram asks for, or answers.
enum class DatagramKind : std::uint32_t {
  message,   ///< The next bytes of a stream; `number` counts them.
  consumed,  ///< The receiver has read `number` messages.
  write,     ///< Store the payload at `address`.
  written,   ///< The write of that number is in effect.
  read,      ///< Send `bytes` bytes from `address`.
  data,      ///< The answer to the read of that number.
  refused,   ///< The address is not in memory that may be reached.
};

struct DatagramHeader {
  DatagramKind kind = DatagramKind::message;
  std::uint32_t to = 0;  ///< the connection's number at the receiver
  std::uint64_t number = 0;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
};

/// A header and its payload; both are aligned for words.
struct Datagram {
  DatagramHeader header;
  std::vector<std::byte> payload;
};

/// The name of a socket.
struct DatagramName {
  sockaddr_un address{};
  std::uint32_t length = 0;
};

class DatagramSocket {
 public:
  static constexpr std::size_t max_payload = 8192;
  enum class Outcome : std::uint8_t { sent, no_room, gone };

  /// Errors: limit_exceeded.
  static Result<DatagramSocket> open(std::uint64_t seed);

  [[nodiscard]] const DatagramName& name() const noexcept { return name_; }
  Outcome send(const DatagramName& to, const Datagram& datagram);
  /// Takes in what has arrived.
  void receive();
  /// Returns what is due, and counts a poll for the rest. Writes are held back longer than
  /// messages.
  std::vector<Datagram> take_due();
  /// Returns all, due or not.
  std::vector<Datagram> take_all();
  [[nodiscard]] int held() const noexcept { return static_cast<int>(held_.size()); }

 private:
  struct Held {
    Datagram datagram;
    int polls = 0;  // until it is due
  };
  DatagramSocket(detail::Descriptor descriptor, const DatagramName& name, std::uint64_t seed)
      : descriptor_(std::move(descriptor)), name_(name), random_(seed) {}
  [[nodiscard]] int draw(int most) { return std::uniform_int_distribution<int>(0, most)(random_); }

  detail::Descriptor descriptor_;
  DatagramName name_;
  std::mt19937_64 random_;
  std::vector<Held> held_;
};

}  // namespace tessera::rma::test
