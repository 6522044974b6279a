// SPDX-License-Identifier: BSD-3-Clause
//
// TcpServer: rank 1's end of a TcpBaseline, and the requests that rank 0 sends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "bench/baselines/tcp_socket.hpp"

namespace tessera::bench {

enum class TcpKind : std::uint64_t { end, echo, put, put_unanswered, get, add };

/// A request of rank 0; 8 bytes on the wire.
struct TcpRequest {
  TcpKind kind = TcpKind::end;
  std::size_t offset = 0;
  std::size_t bytes = 0;

  static constexpr int field_bits = 30;
  static constexpr std::uint64_t field_mask = (std::uint64_t{1} << field_bits) - 1;

  [[nodiscard]] std::uint64_t encode() const {
    return static_cast<std::uint64_t>(kind) << (2 * field_bits) | offset << field_bits | bytes;
  }
  static TcpRequest decode(std::uint64_t word) {
    return {static_cast<TcpKind>(word >> (2 * field_bits)), (word >> field_bits) & field_mask,
            word & field_mask};
  }
};

/// The bytes of a value, to send or receive.
template <class T>
std::span<const std::byte> bytes_of(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}
template <class T>
std::span<std::byte> writable_bytes_of(T& value) {
  return std::as_writable_bytes(std::span(&value, 1));
}

/// Rank 1's end: executes requests on its memory.
class TcpServer {
 public:
  TcpServer(TcpSocket& socket, std::span<std::byte> memory)
      : socket_(socket), reader_(socket), memory_(memory) {}

  enum class Served { request, end, closed };
  /// Serves one request; an `end` request has no reply.
  Served serve_one(Waiting waiting);

 private:
  void answer(Waiting waiting);

  TcpSocket& socket_;
  TcpReader reader_;
  std::span<std::byte> memory_;
};

}  // namespace tessera::bench
