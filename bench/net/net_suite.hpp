// SPDX-License-Identifier: BSD-3-Clause
//
// NetSuite: what the parts of suite "net" share: Tessera's candidates, the network's baselines, and
// how to measure a set of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/baselines/tcp_baseline.hpp"
#include "bench/rma/tessera_candidate.hpp"
#include "bench/session.hpp"

namespace tessera::bench {

namespace net_target {

inline constexpr const char* get_awake = "get 8 B, agent awake: time / polling TCP";
inline constexpr const char* get_asleep = "get 8 B, agent blocks: time / blocking TCP";
inline constexpr const char* stream = "from 1 MiB, 4 outstanding: speed / raw stream";
inline constexpr const char* request = "from 1 MiB, one blocking: speed / raw request";
inline constexpr const char* long_rows = "1024 rows of 1 KiB: speed / contiguous";
inline constexpr const char* vector = "1000 doubles, one list: time / round trip";
inline constexpr const char* aggregate = "1000 doubles, aggregate: time / one list";
inline constexpr const char* separate = "1000 doubles, 1000 calls: time / round trip";
inline constexpr const char* overlap_idle = "get 4 MiB, target idle: part hidden";
inline constexpr const char* overlap_busy = "get 4 MiB, target computing: hidden / raw";
inline constexpr const char* idle_agent = "idle agent: part of a core";

}  // namespace net_target

class NetSuite {
 public:
  /// Collective. Starts the baselines; remarks name those that are missing.
  explicit NetSuite(Session& session);

  [[nodiscard]] Session& session() { return session_; }
  [[nodiscard]] TesseraCandidate& own() { return own_; }
  /// The baseline of that kind, or null.
  [[nodiscard]] TcpBaseline* tcp(Waiting waiting) const;

  /// Raw TCP, polling and blocking, for `c`; empty if it doesn't support the case.
  [[nodiscard]] std::vector<Candidate> tcp_baselines(const Case& c) const;
  /// Raw TCP with several messages outstanding; see TcpBaseline::stream().
  [[nodiscard]] std::vector<Candidate> tcp_streams(Operation operation, std::size_t bytes,
                                                   std::int64_t messages) const;
  /// MPI's windows and OpenSHMEM. The target waits inside MPI, because some MPI libraries move data
  /// only then.
  [[nodiscard]] std::vector<Candidate> one_sided_baselines(const Case& c) const;
  /// MPI's messages: a round trip, and a stream from rank 0 to rank 1.
  [[nodiscard]] std::optional<Candidate> mpi_ping_pong(std::size_t bytes) const;
  [[nodiscard]] std::optional<Candidate> mpi_stream(std::size_t bytes, std::int64_t messages) const;
  /// A get made of two MPI messages, which the target answers from inside MPI. The first is
  /// blocking; the second has separate start and wait.
  [[nodiscard]] std::optional<Candidate> mpi_get(std::size_t bytes) const;
  [[nodiscard]] std::optional<Started> mpi_started_get(std::size_t bytes) const;

  /// Collective. Uses long samples, because ranks synchronise over the network before each.
  std::vector<Measured> measure(Topic& topic, const Line& line,
                                const std::vector<Candidate>& candidates) {
    return session_.measure(topic, line, candidates,
                            concurrent(session_.options().measure_options()));
  }

 private:
  Session& session_;
  TesseraCandidate own_;
  std::vector<std::unique_ptr<TcpBaseline>> tcp_;  ///< polling, blocking
  std::unique_ptr<Baseline> mpi_;
  std::unique_ptr<Baseline> shmem_;
};

/// Buffers for four of the largest messages at once.
BaselineOptions net_options(const Session& session);

/// The message sizes that are powers of 4 from 1 KiB on, up to the largest one of option -m.
std::vector<std::size_t> large_sizes(const Session& session);

/// A topic of the suite. Ranks that only wait sleep.
inline Topic net_topic(std::string op, std::string title, Quantity quantity = Quantity::latency,
                       std::string size_name = "Size") {
  return {"net", std::move(op), std::move(title), quantity, std::move(size_name), true};
}

/// The faster of the raw TCP baselines, or null.
const Measured* fastest_tcp(const std::vector<Measured>& measured);

}  // namespace tessera::bench
