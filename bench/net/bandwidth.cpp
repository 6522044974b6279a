// SPDX-License-Identifier: BSD-3-Clause
//
// Large transfers: contiguous, in rows, and scattered.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/net/wire.hpp"
#include "bench/parts.hpp"

namespace tessera::bench {
namespace {

/// If the design has a target: Tessera's speed / that of the faster raw connection.
void observe_speed(Session& session, const char* target, const std::string& where,
                   const std::vector<Measured>& measured) {
  if (!session.is_leader()) {
    return;
  }
  if (const Measured* const baseline = fastest_tcp(measured)) {
    session.targets().observe(target, where,
                              ratio_of_medians(baseline->samples_ns, measured.back().samples_ns));
  }
}

void measure_contiguous(Wire& wire, Operation operation, std::int64_t outstanding) {
  constexpr std::size_t large = 1 << 20;
  const std::string name = Case::contiguous(operation, 8).name();
  const bool is_one = outstanding == 1;
  Topic topic{fmt::format("{} Bandwidth, {}", operation == Operation::put ? "Put" : "Get",
                          is_one ? "one blocking" : fmt::format("{} outstanding", outstanding)),
              is_one ? name : name + "_stream", Quantity::bandwidth};
  for (const std::size_t bytes : large_sizes(wire.session())) {
    const Case c = Case::contiguous(operation, bytes);
    std::vector<Candidate> candidates = wire.tcp_streams(operation, bytes, outstanding);
    add(candidates, is_one && operation == Operation::get ? wire.mpi_get(bytes)
                                                          : wire.mpi_stream(bytes, outstanding));
    if (is_one) {
      add(candidates, wire.windows(c));
      add(candidates, wire.own().candidate(c));
    } else {
      add(candidates, wire.own().stream(operation, bytes, outstanding));
    }
    const auto size = static_cast<std::int64_t>(bytes);
    const auto measured =
        wire.measure(topic, is_one ? "" : fmt::format("{} x {} B", outstanding, bytes),
                     size * outstanding, size, candidates);
    if (bytes >= large) {
      observe_speed(wire.session(), is_one ? net_target::request : net_target::stream,
                    fmt::format("{} {}", name, bytes), measured);
    }
  }
}

/// Sockets and MPI's messages, if they do the same as `c`.
std::vector<Candidate> comparable_windows(Wire& wire, const Case& c, std::size_t bytes,
                                          std::int64_t messages) {
  if (!wire.session().has_comparable_replies(c)) {
    return {};
  }
  // Sockets don't add; accumulates are compared with puts of the same number of bytes.
  const bool gets = c.operation == Operation::get;
  std::vector<Candidate> found =
      wire.tcp_streams(gets ? Operation::get : Operation::put, bytes, messages);
  if (!gets) {
    add(found, wire.mpi_stream(bytes, messages));
  }
  return found;
}

/// As osu_put_bw, osu_get_bw and osu_acc_bw: -W messages outstanding, or as many as fit.
void measure_window(Wire& wire, Operation operation, const std::string& title) {
  const SuiteOptions& options = wire.session().options();
  const auto room = static_cast<std::int64_t>(net_options(wire.session()).capacity_bytes);
  Topic topic{fmt::format("{} Bandwidth, up to {} Outstanding", title, options.window),
              Case::window(operation, 8, 1).name(), Quantity::bandwidth};
  for (const std::size_t bytes : large_sizes(wire.session())) {
    const auto size = static_cast<std::int64_t>(bytes);
    const std::int64_t messages = std::clamp(room / size, std::int64_t{1}, options.window);
    const Case c =
        wire.session().with_requested_completion(Case::window(operation, bytes, messages));
    std::vector<Candidate> candidates = comparable_windows(wire, c, bytes, messages);
    add(candidates, wire.windows(c));
    add(candidates, wire.own().candidate(c));
    wire.measure(topic, c.shape(), size * messages, size, candidates);
  }
}

/// Rows compared with the same bytes in one piece, by Tessera and over raw TCP.
void measure_rows(Wire& wire, Operation operation, std::size_t row_bytes) {
  constexpr std::size_t long_row = 1024;
  constexpr std::int64_t many_rows = 1024;
  Topic topic{fmt::format("{} Rows of {} B Bandwidth", operation == Operation::put ? "Put" : "Get",
                          row_bytes),
              Case::strided(operation, row_bytes, 1).name(), Quantity::bandwidth, "Rows"};
  for (const std::int64_t rows : {1, 4, 16, 64, 256, 1024}) {
    const Case c = Case::strided(operation, row_bytes, rows);
    const Case whole = Case::contiguous(operation, c.bytes());
    std::vector<Candidate> candidates = wire.tcp_baselines(whole);
    add(candidates, wire.windows(c));
    add(candidates, renamed(*wire.own().candidate(whole), "contiguous"));
    add(candidates, wire.own().candidate(c));
    const auto measured =
        wire.measure(topic, c.shape(), static_cast<std::int64_t>(c.bytes()), rows, candidates);
    if (wire.session().is_leader() && row_bytes == long_row && rows == many_rows) {
      wire.session().targets().observe(
          net_target::long_rows, fmt::format("{} {}", c.name(), c.shape()),
          ratio_of_medians(find(measured, "contiguous")->samples_ns, measured.back().samples_ns));
    }
  }
}

/// Square patches of a matrix: in one call, and in one non-blocking call per row ([ARMCI06], figure
/// 18).
void measure_patches(Wire& wire, Operation operation) {
  constexpr std::int64_t columns = 1024;
  Topic topic{
      fmt::format("{} n x n Doubles Bandwidth", operation == Operation::put ? "Put" : "Get"),
      Case::contiguous(operation, 8).name() + "_patch", Quantity::bandwidth, "n"};
  for (const std::int64_t n : {4, 16, 64, 256, 512}) {
    const Case c = Case::patch(operation, n, columns);
    Case by_row = c;
    by_row.layout = Layout::separate;
    std::vector<Candidate> candidates = wire.tcp_baselines(Case::contiguous(operation, c.bytes()));
    add(candidates, wire.windows(c));
    add(candidates, renamed(*wire.own().candidate(by_row), "n calls"));
    add(candidates, wire.own().candidate(c));
    wire.measure(topic, c.shape(), static_cast<std::int64_t>(c.bytes()), n, candidates);
  }
}

void measure_doubles(Wire& wire, Operation operation) {
  constexpr std::int64_t runs = 1000;
  Session& session = wire.session();
  const std::string name = Case::contiguous(operation, 8).name();
  Topic topic{
      fmt::format("{} of Scattered Doubles Latency", operation == Operation::put ? "Put" : "Get"),
      name + "_vector", Quantity::latency, "Doubles"};
  const Case list = Case::vector(operation, 8, runs);
  const Case separate = Case::separate(operation, 8, runs);
  const Case aggregate = Case::aggregate(operation, 8, runs);
  std::vector<Candidate> candidates = wire.tcp_baselines(Case::contiguous(operation, 8));
  add(candidates, wire.windows(list));
  add(candidates, renamed(*wire.own().candidate(separate), "1000 calls"));
  add(candidates, renamed(*wire.own().candidate(aggregate), "aggregate"));
  add(candidates, wire.own().candidate(list));
  const auto measured =
      wire.measure(topic, list.shape(), static_cast<std::int64_t>(list.bytes()), runs, candidates);
  const Measured* const round_trip = find(measured, "tcp polling");
  if (!session.is_leader() || round_trip == nullptr) {
    return;
  }
  session.targets().observe(net_target::vector, name,
                            ratio_of_medians(measured.back().samples_ns, round_trip->samples_ns));
  session.targets().observe(
      net_target::aggregate, name,
      ratio_of_medians(find(measured, "aggregate")->samples_ns, measured.back().samples_ns));
  session.targets().observe(
      net_target::separate, name,
      ratio_of_medians(find(measured, "1000 calls")->samples_ns, round_trip->samples_ns));
}

}  // namespace

void measure_net_bandwidth(Session& session) {
  Wire wire(session);
  for (const Operation operation : {Operation::put, Operation::get}) {
    for (const std::int64_t outstanding : {1, 4}) {
      measure_contiguous(wire, operation, outstanding);
    }
  }
}

void measure_net_window(Session& session) {
  Wire wire(session);
  session.remark_on_replies("sockets and MPI's messages",
                            session.with_requested_completion(Case::window(Operation::put, 8, 1)));
  measure_window(wire, Operation::put, "Put");
  measure_window(wire, Operation::get, "Get");
  measure_window(wire, Operation::accumulate, "Accumulate");
}

void measure_net_strided(Session& session) {
  Wire wire(session);
  for (const Operation operation : {Operation::put, Operation::get}) {
    for (const std::size_t row_bytes : {16U, 1024U}) {
      measure_rows(wire, operation, row_bytes);
    }
    measure_patches(wire, operation);
  }
}

void measure_net_scattered(Session& session) {
  Wire wire(session);
  for (const Operation operation : {Operation::put, Operation::get}) {
    measure_doubles(wire, operation);
  }
}

}  // namespace tessera::bench
