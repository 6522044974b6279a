// SPDX-License-Identifier: BSD-3-Clause
//
// Wire: what the parts of suite "net" share: Tessera's side, the network's baselines, and how to
// measure a set of candidates.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/baselines/tcp_baseline.hpp"
#include "bench/rma/tessera_candidate.hpp"
#include "bench/session.hpp"

namespace tessera::bench {

/// A table of the suite, created when its first line is measured; the subject is the last
/// candidate.
struct Topic {
  std::string title;
  std::string op;  ///< in the records
  Quantity quantity = Quantity::latency;
  std::string size_name = "Size";
  std::chrono::nanoseconds sampling_limit = std::chrono::seconds(2);  ///< per line
  std::optional<Table> table = {};
};

/// Collective. Measures, records, and adds line `line`. Ranks that only wait sleep.
std::vector<Measured> measure_line(Session& session, Topic& topic, const Subject& subject,
                                   std::int64_t line, const std::vector<Candidate>& candidates,
                                   MeasureOptions options);

class Wire {
 public:
  /// Collective. Prints in remarks which baselines are missing.
  explicit Wire(Session& session);

  [[nodiscard]] Session& session() { return session_; }
  [[nodiscard]] TesseraCandidate& own() { return own_; }
  /// The baseline of that kind, or null.
  [[nodiscard]] TcpBaseline* tcp(Waiting waiting) const;

  /// Raw TCP, polling and blocking, for `c`; empty if it doesn't support the case.
  [[nodiscard]] std::vector<Candidate> tcp_baselines(const Case& c) const;
  /// Raw TCP with several messages outstanding; see TcpBaseline::stream().
  [[nodiscard]] std::vector<Candidate> tcp_streams(Operation operation, std::size_t bytes,
                                                   std::int64_t messages) const;
  /// MPI's windows and OpenSHMEM, while the target waits inside MPI.
  [[nodiscard]] std::vector<Candidate> windows(const Case& c) const;
  /// MPI's messages: a round trip, and a stream from rank 0 to rank 1.
  [[nodiscard]] std::optional<Candidate> mpi_ping_pong(std::size_t bytes) const;
  [[nodiscard]] std::optional<Candidate> mpi_stream(std::size_t bytes, std::int64_t messages) const;
  /// A get by messages, with a target that waits inside MPI; blocking, or with separate start and
  /// wait.
  [[nodiscard]] std::optional<Candidate> mpi_get(std::size_t bytes) const;
  [[nodiscard]] std::optional<Started> mpi_started_get(std::size_t bytes) const;

  /// Collective. Measures, records, and adds line `line`; `size` is the payload. Samples are long
  /// compared with the time that ranks take to meet over a network.
  std::vector<Measured> measure(Topic& topic, const std::string& shape, std::int64_t size,
                                std::int64_t line, const std::vector<Candidate>& candidates) const;

 private:
  /// Null if --compare doesn't name it, or if it is missing.
  [[nodiscard]] std::unique_ptr<Baseline> start(Peer peer, decltype(make_mpi_baseline)* make);

  Session& session_;
  TesseraCandidate own_;
  std::vector<std::unique_ptr<TcpBaseline>> tcp_;  ///< polling, blocking
  std::unique_ptr<Baseline> mpi_;
  std::unique_ptr<Baseline> shmem_;
};

/// Buffers for four of the largest messages at once.
BaselineOptions net_options(const Session& session);

/// The powers of 4 from 1 KiB on, within -m.
std::vector<std::size_t> large_sizes(const Session& session);

/// The same candidate under another name.
Candidate renamed(Candidate candidate, std::string name);

/// The candidate of that name, or null.
const Measured* find(const std::vector<Measured>& measured, std::string_view name);
/// The faster of the raw TCP baselines, or null.
const Measured* fastest_tcp(const std::vector<Measured>& measured);

}  // namespace tessera::bench
