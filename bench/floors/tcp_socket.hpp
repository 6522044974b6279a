// SPDX-License-Identifier: BSD-3-Clause
//
// TcpSocket: one end of a TCP connection, waiting in the way that is being measured.
//
// No Nagle's algorithm; the congestion control that Tessera's connections take; the system's own
// socket buffers. What fails throws std::system_error, also
// when the other end is gone.
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
  polling,   ///< calls that never block, again and again; after 50 µs it yields the core
  blocking,  ///< sleeps in the kernel
};

/// Between two looks of who polls: whom it waits for may need this very core.
class Patience {
 public:
  void pause();

 private:
  int looks_ = 0;
};

class TcpSocket {
 public:
  TcpSocket() = default;
  /// Takes over a connected descriptor.
  explicit TcpSocket(int descriptor);
  ~TcpSocket();
  TcpSocket(TcpSocket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  TcpSocket& operator=(TcpSocket&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }

  /// Sends both parts with one call where that is possible; returns when all is in the kernel.
  void send(std::span<const std::byte> head, std::span<const std::byte> body, Waiting waiting);
  void send(std::span<const std::byte> bytes, Waiting waiting) { send(bytes, {}, waiting); }
  /// Receives all of `bytes`.
  void receive(std::span<std::byte> bytes, Waiting waiting);
  /// Receives what there is, at least one byte. Returns 0 when the other end has closed.
  std::size_t receive_some(std::span<std::byte> bytes, Waiting waiting);
  /// Sends from, or receives into, `parts` in order, as much as goes without waiting. Returns how
  /// many bytes that is; 0 when it would have to wait. Fails when the other end has closed.
  std::size_t try_send(std::span<const iovec> parts);
  std::size_t try_receive(std::span<const iovec> parts);
  /// Ends the connection, so that whoever waits for it, here or there, is told.
  void shut_down();

 private:
  int descriptor_ = -1;
};

/// Where a listener listens: IPv4, in the byte order of the network.
struct TcpAddress {
  std::uint32_t host = 0;
  std::uint16_t port = 0;
};

class TcpListener {
 public:
  /// On a free port of `host`, an address of this machine.
  explicit TcpListener(std::uint32_t host);
  ~TcpListener();
  TcpListener(const TcpListener&) = delete;
  TcpListener& operator=(const TcpListener&) = delete;

  [[nodiscard]] TcpAddress address() const { return address_; }
  /// The connection of whoever sends `token` first; others are turned away.
  [[nodiscard]] TcpSocket accept(std::uint64_t token, std::chrono::milliseconds limit) const;

 private:
  int descriptor_;
  TcpAddress address_;
};

/// Connects, and shows the token.
TcpSocket connect_tcp(const TcpAddress& address, std::uint64_t token);

/// 127.0.0.1.
std::uint32_t loopback_host();
/// The first address of this machine that others may reach; loopback_host() when there is none.
std::uint32_t outside_host();

/// Receives through a small buffer, so that a request and a short body that come together take one
/// call; long bodies go straight to their place.
class TcpReader {
 public:
  explicit TcpReader(TcpSocket& socket) : socket_(socket) {}
  /// False when the other end closed before the first byte.
  bool read(std::span<std::byte> bytes, Waiting waiting);

 private:
  TcpSocket& socket_;
  std::array<std::byte, 4096> buffer_ = {};
  std::span<const std::byte> unread_;
};

}  // namespace tessera::bench
