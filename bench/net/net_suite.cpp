// SPDX-License-Identifier: BSD-3-Clause
#include "bench/net/net_suite.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "bench/baselines/mpi.hpp"
#include "bench/parts.hpp"

namespace tessera::bench {

BaselineOptions net_options(const Session& session) {
  constexpr std::size_t max_outstanding = 4;
  BaselineOptions options = session.baseline_options();
  options.capacity_bytes =
      std::max(options.capacity_bytes,
               max_outstanding * static_cast<std::size_t>(session.options().max_size));
  return options;
}

std::function<Part> between_nodes(std::function<Part> part, const std::string& bench) {
  return [part = std::move(part), bench](Session& session) {
    const rma::Job& job = session.job();
    if (job.size() > 1 && job.node_of(rma::WorldRank{0}) != job.node_of(rma::WorldRank{1})) {
      part(session);
    } else {
      session.remark(bench +
                     ": skipped; ranks 0 and 1 must be on different nodes; "
                     "TESSERA_RANKS_PER_NODE=1 makes each rank its own node");
    }
  };
}

NetSuite::NetSuite(Session& session)
    : session_(session), own_(session.job(), net_options(session)) {
  const auto start = [&session](Peer peer, auto make) {
    std::string missing;
    auto baseline = session.compares_with(peer) ? make(missing) : nullptr;
    if (!missing.empty()) {
      session.remark("missing: " + missing);
    }
    return baseline;
  };
  for (const Waiting waiting : {Waiting::polling, Waiting::blocking}) {
    if (auto tcp = start(Peer::tcp, [&](std::string& missing) {
          return make_tcp_baseline(session.group(), net_options(session), {.waiting = waiting},
                                   missing);
        })) {
      tcp_.push_back(std::move(tcp));
    }
  }
  mpi_ = start(Peer::mpi, [&](std::string& missing) {
    return make_mpi_baseline(session.group(), net_options(session), missing);
  });
  shmem_ = start(Peer::shmem, [&](std::string& missing) {
    return make_shmem_baseline(session.group(), net_options(session), missing);
  });
}

TcpBaseline* NetSuite::tcp(Waiting waiting) const {
  const auto found = std::find_if(tcp_.begin(), tcp_.end(), [waiting](const auto& baseline) {
    return baseline->waiting() == waiting;
  });
  return found == tcp_.end() ? nullptr : found->get();
}

std::vector<Candidate> NetSuite::tcp_baselines(const Case& c) const {
  std::vector<Candidate> found;
  for (const auto& baseline : tcp_) {
    add(found, baseline->candidate(c));
  }
  return found;
}

std::vector<Candidate> NetSuite::tcp_streams(Operation operation, std::size_t bytes,
                                             std::int64_t messages) const {
  std::vector<Candidate> found;
  for (const auto& baseline : tcp_) {
    add(found, baseline->stream(operation, bytes, messages));
  }
  return found;
}

std::vector<Candidate> NetSuite::one_sided_baselines(const Case& c) const {
  std::vector<Candidate> found;
  for (Baseline* const baseline : {mpi_.get(), shmem_.get()}) {
    if (auto candidate = baseline != nullptr ? baseline->candidate(c) : std::nullopt) {
      found.push_back(mpi_helped_by_target(session_.group(), std::move(*candidate)));
    }
  }
  return found;
}

std::optional<Candidate> NetSuite::mpi_ping_pong(std::size_t bytes) const {
  return session_.compares_with(Peer::mpi) ? mpi_ping_pong_candidate(session_.group(), bytes)
                                           : std::nullopt;
}

std::optional<Candidate> NetSuite::mpi_stream(std::size_t bytes, std::int64_t messages) const {
  return session_.compares_with(Peer::mpi) ? mpi_stream_candidate(session_.group(), bytes, messages)
                                           : std::nullopt;
}

std::optional<Candidate> NetSuite::mpi_get(std::size_t bytes) const {
  const auto get = mpi_started_get(bytes);
  return get ? std::optional(blocking_candidate(*get)) : std::nullopt;
}

std::optional<Started> NetSuite::mpi_started_get(std::size_t bytes) const {
  return session_.compares_with(Peer::mpi) ? bench::mpi_started_get(session_.group(), bytes)
                                           : std::nullopt;
}

std::vector<std::size_t> large_sizes(const Session& session) {
  std::vector<std::size_t> found;
  for (const std::int64_t size : session.options().sizes()) {
    const auto bytes = static_cast<std::size_t>(size);
    if (bytes >= 1024 && std::has_single_bit(bytes) && std::countr_zero(bytes) % 2 == 0) {
      found.push_back(bytes);
    }
  }
  return found;
}

const Measured* fastest_tcp(const std::vector<Measured>& measured) {
  const Measured* const polling = find(measured, "tcp polling");
  const Measured* const blocking = find(measured, "tcp blocking");
  if (polling == nullptr || blocking == nullptr) {
    return polling != nullptr ? polling : blocking;
  }
  return polling->stats_ns.median < blocking->stats_ns.median ? polling : blocking;
}

std::vector<Target> net_targets() {
  return {
      {net_target::get_awake, "tcp polling", Target::Sense::time_at_most, 1.15},
      {net_target::get_asleep, "tcp blocking", Target::Sense::time_at_most, 1.15},
      {net_target::stream, "tcp", Target::Sense::speed_at_least, 0.95},
      {net_target::request, "tcp", Target::Sense::speed_at_least, 0.95},
      {net_target::long_rows, "contiguous", Target::Sense::speed_at_least, 0.90},
      {net_target::vector, "tcp polling", Target::Sense::time_at_most, 4},
      {net_target::aggregate, "one list", Target::Sense::time_at_most, 1.3},
      {net_target::separate, "tcp polling", Target::Sense::time_at_most, 16},
      {net_target::overlap_idle, "computation", Target::Sense::speed_at_least, 0.90},
      {net_target::overlap_busy, "tcp with helpers", Target::Sense::speed_at_least, 0.95},
      {net_target::idle_agent, "a core", Target::Sense::time_at_most, 0.01},
  };
}

}  // namespace tessera::bench
