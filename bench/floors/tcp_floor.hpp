// SPDX-License-Identifier: BSD-3-Clause
//
// TcpFloor: what a program does with a bare TCP connection between rank 0 and rank 1.
//
// The least that any transport over TCP can need: a request of 8 bytes says what is wanted, then
// come the bytes themselves, and nothing is copied on the way but by the kernel.
//
//     put        8 + n bytes there, 8 back        get        8 there, n back
//     ping-pong  n there, n back                  fetch-add  16 there, 8 back
//     stream     as puts of which the last is answered, or gets that are asked for all at once
//
// Blocking: both ends sleep in the kernel. At rank 1 a helper thread serves, as an agent would, so
// that the rank itself may do something else; the candidates run at rank 0 alone.
//
// Polling: both ends call and call again. A helper that polls between measurements would take the
// core from what is measured beside it; so rank 1 itself serves, and the candidates are
// cooperative: measure them with together().
//
// started_get() has a helper thread at both ends: the floor of overlap.
//
// Threads: rank 0 uses one candidate at a time. Failures throw std::system_error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "bench/floors/floor.hpp"
#include "bench/floors/mapping.hpp"
#include "bench/floors/tcp_server.hpp"
#include "bench/floors/tcp_socket.hpp"
#include "bench/support/overlap.hpp"
#include "bench/support/transfer.hpp"

namespace tessera::bench {

class TcpFloor : public Floor {
 public:
  /// Collective; see make_tcp_floor(). `socket` is connected on ranks 0 and 1, empty on the others.
  TcpFloor(Crew& crew, const FloorOptions& options, Waiting waiting, TcpSocket socket);
  /// Collective.
  ~TcpFloor() override;
  TcpFloor(const TcpFloor&) = delete;
  TcpFloor& operator=(const TcpFloor&) = delete;

  /// "tcp polling", "tcp blocking"
  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] Waiting waiting() const { return waiting_; }
  /// Put and get of one run; fetch_add.
  [[nodiscard]] std::optional<Candidate> candidate(const Case& c) override;

  /// A message of `bytes`, at least 8, to rank 1 and back: one repetition is a round trip.
  [[nodiscard]] std::optional<Candidate> ping_pong(std::size_t bytes);
  /// `messages` puts or gets of `bytes` each, all outstanding, and one wait for all.
  [[nodiscard]] std::optional<Candidate> stream(Operation operation, std::size_t bytes,
                                                std::int64_t messages);
  /// A get of `bytes` that a helper thread of rank 0 receives. Only where waiting is blocking.
  [[nodiscard]] std::optional<Started> started_get(std::size_t bytes);

 private:
  class Helper;

  [[nodiscard]] Workspace workspace();
  /// A candidate whose repetition does `once` at rank 0, which makes `requests` requests.
  template <class Once>
  [[nodiscard]] Candidate transfer(const Case& c, std::int64_t requests, Once once);
  [[nodiscard]] Candidate fetch_add();
  /// Adds rank 1's part to a candidate of rank 0.
  void share_work(Candidate& candidate, std::int64_t requests);
  void put(std::span<const std::byte> from, std::size_t to, bool is_answered);
  void get(std::span<std::byte> to, std::size_t from);
  std::int64_t add(std::int64_t increment);
  void end_check();
  void serve_until_end();

  Crew& crew_;
  std::string name_;
  Waiting waiting_;
  bool rotate_;
  bool is_origin_;
  bool is_target_;
  TcpSocket socket_;
  Mapping local_;
  Mapping remote_;  ///< at rank 1; elsewhere a byte
  TcpServer server_;
  std::thread agent_;               ///< at rank 1, when blocking
  std::shared_ptr<Helper> helper_;  ///< at rank 0, once started_get() was asked for
};

/// Which way the connection goes.
struct TcpOptions {
  Waiting waiting = Waiting::blocking;
  /// Over an address that other hosts may reach even where both ranks are on one host.
  bool outside = false;
};

/// Collective. A connection of ranks 0 and 1, over loopback where they are on one host and not
/// `outside`; other ranks get an end that isn't connected. None on all ranks, and the reason in
/// `missing`, when that fails or there is one rank.
std::optional<TcpSocket> connect_two(Crew& crew, bool outside, std::string& missing);

/// Collective. Connects ranks 0 and 1: over loopback where they are on one host. A null pointer on
/// all ranks, and the reason in `missing`, when that fails or there is one rank.
std::unique_ptr<TcpFloor> make_tcp_floor(Crew& crew, const FloorOptions& options,
                                         const TcpOptions& tcp_options, std::string& missing);

}  // namespace tessera::bench
