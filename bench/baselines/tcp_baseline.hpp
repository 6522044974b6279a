// SPDX-License-Identifier: BSD-3-Clause
//
// TcpBaseline: the baseline of a bare TCP connection between rank 0 and rank 1.
//
// The least work of any transport over TCP: a request of 8 bytes says what is wanted, then the data
// follow. Only the kernel copies them.
//
//     put        8 + n bytes there, 8 back        get        8 there, n back
//     ping-pong  n there, n back                  fetch-add  16 there, 8 back
//     stream     as puts with a reply to the last one only, or gets that are requested all at once
//
// Blocking: both ends sleep in the kernel. At rank 1 a helper thread serves requests, as an agent
// would, so that the rank itself may do something else. The candidates run on rank 0 alone.
//
// Polling: both ends call repeatedly. A helper that polls between measurements would take the core
// from other candidates. So rank 1 itself serves, and the candidates are cooperative: measure them
// with together().
//
// started_get() has a helper thread at both ends: the baseline of overlap.
//
// Threads: rank 0 uses one candidate at a time. Failures throw std::system_error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "bench/baselines/baseline.hpp"
#include "bench/baselines/memory_baseline.hpp"
#include "bench/baselines/tcp_socket.hpp"
#include "bench/support/candidate.hpp"
#include "bench/support/measure.hpp"

namespace tessera::bench {

class TcpBaseline : public Baseline {
 public:
  /// Collective; see make_tcp_baseline(). `socket` is connected on ranks 0 and 1, and empty on the
  /// others.
  TcpBaseline(RankGroup& group, const BaselineOptions& options, Waiting waiting, TcpSocket socket);
  /// Collective.
  ~TcpBaseline() override;
  TcpBaseline(const TcpBaseline&) = delete;
  TcpBaseline& operator=(const TcpBaseline&) = delete;

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
  /// A get of `bytes` that a helper thread of rank 0 receives. Only if waiting is blocking.
  [[nodiscard]] std::optional<Started> started_get(std::size_t bytes);

 private:
  class Helper;

  [[nodiscard]] Workspace workspace();
  /// A candidate whose repetition calls `once` at rank 0, which makes `requests` requests.
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

  RankGroup& group_;
  std::string name_;
  Waiting waiting_;
  bool rotate_;
  bool is_origin_;
  bool is_target_;
  TcpSocket socket_;
  Mapping local_;
  Mapping remote_;  ///< at rank 1; a single byte elsewhere
  TcpServer server_;
  std::thread agent_;               ///< at rank 1, if blocking
  std::shared_ptr<Helper> helper_;  ///< at rank 0, after the first call of started_get()
};

/// The route of the connection.
struct TcpOptions {
  Waiting waiting = Waiting::blocking;
  /// Uses an address that other hosts may reach, even if both ranks are on one host.
  bool outside = false;
};

/// Collective. Connects ranks 0 and 1, over loopback if they are on one host and not `outside`;
/// other ranks get an unconnected end. Empty on all ranks, with the reason in `missing`, if that
/// fails or there is only one rank.
std::optional<TcpSocket> connect_ranks_0_and_1(RankGroup& group, bool outside,
                                               std::string& missing);

/// Collective. Connects ranks 0 and 1, over loopback if they are on one host. Null on all ranks,
/// with the reason in `missing`, if that fails or there is only one rank.
std::unique_ptr<TcpBaseline> make_tcp_baseline(RankGroup& group, const BaselineOptions& options,
                                               const TcpOptions& tcp_options, std::string& missing);

}  // namespace tessera::bench
