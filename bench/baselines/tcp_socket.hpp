// SPDX-License-Identifier: BSD-3-Clause
//
// TcpSocket: one end of a TCP connection; it waits in the way that is measured.
//
// No Nagle's algorithm; the same congestion control as Tessera's connections; the system's default
// socket buffers. Failures throw std::system_error, also if the other end has closed.
#pragma once

#include <sys/uio.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace tessera::bench {

enum class Waiting {
  polling,   ///< non-blocking calls, again and again; yields the core after 50 µs
  blocking,  ///< sleeps in the kernel
};

/// Called between two polls; yields, because the other end may need this core.
class PollBackoff {
 public:
  void pause();

 private:
  int polls_ = 0;
};

class TcpSocket {
 public:
  TcpSocket() = default;
  /// Takes ownership of a connected descriptor.
  explicit TcpSocket(int descriptor);
  ~TcpSocket();
  TcpSocket(TcpSocket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  TcpSocket& operator=(TcpSocket&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }

  /// Sends both parts with one call if possible; returns when all is in the kernel.
  void send(std::span<const std::byte> head, std::span<const std::byte> body, Waiting waiting);
  void send(std::span<const std::byte> bytes, Waiting waiting) { send(bytes, {}, waiting); }
  /// Receives all of `bytes`.
  void receive(std::span<std::byte> bytes, Waiting waiting);
  /// Receives the available bytes, at least one. Returns 0 if the other end has closed.
  std::size_t receive_some(std::span<std::byte> bytes, Waiting waiting);
  /// Sends from, or receives into, `parts` in order, as much as possible without waiting. Returns
  /// the number of bytes; 0 if it would have to wait. Fails if the other end has closed.
  std::size_t try_send(std::span<const iovec> parts);
  std::size_t try_receive(std::span<const iovec> parts);
  /// Ends the connection; threads that wait for it, at either end, return.
  void shut_down();

 private:
  int descriptor_ = -1;
};

/// A listener's address: IPv4, in network byte order.
struct TcpAddress {
  std::uint32_t host = 0;
  std::uint16_t port = 0;
};

class TcpListener {
 public:
  /// Listens on a free port of `host`, an address of this machine.
  explicit TcpListener(std::uint32_t host);
  ~TcpListener();
  TcpListener(const TcpListener&) = delete;
  TcpListener& operator=(const TcpListener&) = delete;

  [[nodiscard]] TcpAddress address() const { return address_; }
  /// Returns the connection of the first peer that sends `token`; rejects others.
  [[nodiscard]] TcpSocket accept(std::uint64_t token, std::chrono::milliseconds limit) const;

 private:
  int descriptor_;
  TcpAddress address_;
};

/// Connects, and sends the token.
TcpSocket connect_tcp(const TcpAddress& address, std::uint64_t token);

/// 127.0.0.1.
std::uint32_t loopback_host();
/// The first address of this machine that other hosts may reach; loopback_host() if none exists.
std::uint32_t outside_host();

/// Receives through a small buffer, so that a request and a short body that arrive together take
/// one call. Long bodies go directly to their destination.
class TcpReader {
 public:
  explicit TcpReader(TcpSocket& socket) : socket_(socket) {}
  /// False if the other end closed before the first byte.
  bool read(std::span<std::byte> bytes, Waiting waiting);

 private:
  TcpSocket& socket_;
  std::array<std::byte, 4096> buffer_ = {};
  std::span<const std::byte> unread_;
};

// TcpServer: rank 1's end of a TcpBaseline, and the requests that rank 0 sends.

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
