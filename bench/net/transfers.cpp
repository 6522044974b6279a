// SPDX-License-Identifier: BSD-3-Clause
//
// Small operations, one after the other; and many of them outstanding.
#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/net/wire.hpp"
#include "bench/parts.hpp"
#include "bench/rma/tessera_candidate.hpp"
#include "bench/verbs/devices.hpp"
#include "rma/job.hpp"

namespace tessera::bench {
namespace {

/// The baseline of a round trip depends on what the agent does between requests.
void observe_get(Session& session, const std::vector<Measured>& measured) {
  const bool blocks = session.job().settings().server == "block";
  const Measured* const baseline = find(measured, blocks ? "tcp blocking" : "tcp polling");
  if (session.is_leader() && baseline != nullptr) {
    session.targets().observe(blocks ? net_target::get_asleep : net_target::get_awake, "get 8",
                              ratio_of_medians(measured.back().samples_ns, baseline->samples_ns));
  }
}

void measure_transfers(Wire& wire, Operation operation, const std::string& title) {
  Topic topic{title, Case::contiguous(operation, 8).name()};
  for (const std::size_t bytes : {8U, 64U, 512U}) {
    const Case c = Case::contiguous(operation, bytes);
    std::vector<Candidate> candidates = wire.tcp_baselines(c);
    if (operation != Operation::accumulate) {
      add(candidates, wire.mpi_ping_pong(bytes));
    }
    add(candidates, wire.windows(c));
    add(candidates, wire.own().candidate(c));
    const auto size = static_cast<std::int64_t>(bytes);
    const auto measured = wire.measure(topic, "", size, size, candidates);
    if (operation == Operation::get && bytes == 8) {
      observe_get(wire.session(), measured);
    }
  }
}

/// The time of a call if the next one follows immediately: the target sends no replies.
void measure_unfenced_put(Wire& wire) {
  Topic topic{"Put Latency, locally complete", "put_here"};
  std::vector<Candidate> candidates;
  add(candidates,
      wire.own().candidate(Case::contiguous(Operation::put, 8).completing(Completes::here)));
  wire.measure(topic, "", 8, 8, candidates);
}

void measure_atomic(Wire& wire, Operation operation, const std::string& title) {
  const Case c = Case::contiguous(operation, 8);
  auto own = wire.own().candidate(c);
  if (!own) {
    wire.session().remark("no locks: " + wire.own().lock_problem().message());
    return;
  }
  std::vector<Candidate> candidates = wire.tcp_baselines(c);
  add(candidates, wire.windows(c));
  add(candidates, std::move(own));
  Topic topic{title, c.name()};
  wire.measure(topic, "", 8, 8, candidates);
}

/// What the network takes for a message there and back, without any library.
void measure_round_trips(Wire& wire) {
  Topic topic{"Round Trip Latency of Bare Messages", "ping_pong"};
  for (const std::size_t bytes : {8U, 64U, 512U}) {
    std::vector<Candidate> candidates;
    add(candidates, wire.mpi_ping_pong(bytes));
    for (const Waiting waiting : {Waiting::blocking, Waiting::polling}) {
      TcpBaseline* const tcp = wire.tcp(waiting);
      add(candidates, tcp != nullptr ? tcp->ping_pong(bytes) : std::nullopt);
    }
    if (!candidates.empty()) {
      const auto size = static_cast<std::int64_t>(bytes);
      wire.measure(topic, "", size, size, candidates);
    }
  }
}

}  // namespace

void measure_net_latency(Session& session) {
  Wire wire(session);
  measure_transfers(wire, Operation::get, "Get Latency");
  measure_transfers(wire, Operation::put, "Put and Fence Latency");
  measure_unfenced_put(wire);
  measure_transfers(wire, Operation::accumulate, "Accumulate and Fence Latency");
  measure_atomic(wire, Operation::fetch_add, "Fetch-and-Add Latency");
  measure_atomic(wire, Operation::swap, "Swap Latency");
  measure_atomic(wire, Operation::compare_swap, "Compare-and-Swap Latency");
  measure_atomic(wire, Operation::lock_unlock, "Lock and Unlock Latency");
  measure_round_trips(wire);
}

void measure_net_rate(Session& session) {
  constexpr std::int64_t messages = 64;  // as OSU's window
  Wire wire(session);
  for (const Operation operation : {Operation::put, Operation::get}) {
    const std::string name = Case::contiguous(operation, 8).name();
    Topic topic{fmt::format("{} {}s Outstanding Latency", messages, name), name + "_rate"};
    for (const std::size_t bytes : {8U, 64U, 512U}) {
      std::vector<Candidate> candidates = wire.tcp_streams(operation, bytes, messages);
      if (operation == Operation::put) {
        add(candidates, wire.mpi_stream(bytes, messages));
      }
      add(candidates, wire.own().stream(operation, bytes, messages));
      const auto size = static_cast<std::int64_t>(bytes);
      const auto measured = wire.measure(topic, fmt::format("{} x {} B", messages, bytes),
                                         size * messages, size, candidates);
      std::string rates;
      for (const Measured& one : measured) {
        constexpr double us_per_ns = 1e-3;
        rates += fmt::format(" {} {:.3f},", session.shown(one.name),
                             static_cast<double>(messages) / (one.stats_ns.median * us_per_ns));
      }
      rates.pop_back();
      session.remark(fmt::format("{}: million messages a second:{}", size, rates));
    }
  }
}

// Large transfers: contiguous, in rows, and scattered.

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

// Bandwidth by protocol ([CLUSTERS02], figures 6 to 11; the protocols are those of [ARMCI06],
// section 5.2): one transfer after the other, with all of it copied through buffers, or none, or by
// the library's choice from the length of rows.
//
// The protocol of a transfer is a setting of a job (docs/tuning.md). So each one has its own job of
// the same ranks, in addition to the benchmark's job. All of them take part in the same rounds; the
// agents of idle jobs sleep.

namespace {

struct Protocol {
  const char* name;
  std::int64_t direct_row;  ///< rows of at least this length are not copied
  std::int64_t chunk_kib;   ///< chunk of copied data; 0: parts by the transfer's size
  std::int64_t pipeline;    ///< from this size on; 0: chosen
  const char* tcp_times;    ///< how to choose values that are 0
};

/// The maxima of direct_row and chunk (TESSERA_TUNE): no row is that long, and that is the largest
/// buffer.
constexpr std::int64_t above_all_rows = 1 << 30;
constexpr std::int64_t whole_buffer_kib = 1024;

/// The size of the shortest pipelines.
constexpr std::int64_t short_pipeline = 2048;
constexpr std::int64_t short_part_kib = 1;

constexpr const char* measured = "measured";

// "constants" chooses without measured times. The last is the subject of the tables.
const std::array<Protocol, 6> protocols = {{
    {"buffered", above_all_rows, whole_buffer_kib, 0, measured},
    {"pipelined", above_all_rows, 0, 0, measured},
    {"pipelined from 2K", above_all_rows, short_part_kib, short_pipeline, measured},
    {"zero-copy", 1, 0, 0, measured},
    {"constants", 0, 0, 0, "fixed"},
    {"default", rma::Settings{}.direct_row, rma::Settings{}.chunk_kib, rma::Settings{}.pipeline,
     measured},
}};

rma::Settings settings_of(rma::Settings settings, const Protocol& protocol) {
  settings.direct_row = protocol.direct_row;
  settings.chunk_kib = protocol.chunk_kib;
  settings.pipeline = protocol.pipeline;
  settings.tcp_times = protocol.tcp_times;
  return settings;
}

/// One line: `c` by each protocol, compared with its bytes in one piece over a raw connection.
void measure_line(Wire& wire, AllSettings& sides, Topic& topic, const Case& c, std::int64_t line) {
  std::vector<Candidate> candidates;
  if (TcpBaseline* const tcp = wire.tcp(Waiting::blocking)) {
    add(candidates, tcp->candidate(Case::contiguous(c.operation, c.bytes())));
  }
  for (const auto& side : sides) {
    candidates.push_back(side->candidate(c));
  }
  wire.measure(topic, c.shape(), static_cast<std::int64_t>(c.bytes()), line, candidates);
}

void measure_contiguous(Wire& wire, AllSettings& sides, Operation operation,
                        const std::string& title) {
  Topic topic{title + " Bandwidth by Protocol",
              Case::contiguous(operation, 8).name() + "_by_protocol", Quantity::bandwidth};
  for (const std::size_t bytes : large_sizes(wire.session())) {
    measure_line(wire, sides, topic, Case::contiguous(operation, bytes),
                 static_cast<std::int64_t>(bytes));
  }
}

/// n rows of n doubles: rows of 16 B to 4 KiB, and equally many of them. Short pipelines may help
/// from 2 to 16 KiB.
void measure_patches(Wire& wire, AllSettings& sides, Operation operation,
                     const std::string& title) {
  constexpr std::int64_t columns = 1024;
  Topic topic{title + " n x n Doubles Bandwidth by Protocol",
              Case::contiguous(operation, 8).name() + "_patch_by_protocol", Quantity::bandwidth,
              "n"};
  for (const std::int64_t n : {2, 8, 16, 32, 44, 128, 512}) {
    measure_line(wire, sides, topic, Case::patch(operation, n, columns), n);
  }
}

}  // namespace

void measure_net_protocols(Session& session) {
  Wire wire(session);
  AllSettings sides;
  for (const Protocol& protocol : protocols) {
    sides.push_back(std::make_unique<TesseraWithSettings>(
        protocol.name, session.job(), settings_of(session.job().settings(), protocol),
        session.baseline_options()));
    session.remark(fmt::format("{}: TESSERA_TUNE=direct_row={},chunk={},pipeline={},tcp_times={}",
                               protocol.name, protocol.direct_row, protocol.chunk_kib,
                               protocol.pipeline, protocol.tcp_times));
  }
  for (const Operation operation : {Operation::put, Operation::get}) {
    const std::string title = operation == Operation::put ? "Put" : "Get";
    measure_contiguous(wire, sides, operation, title);
    measure_patches(wire, sides, operation, title);
  }
}

// Patches of larger local arrays: rows with gaps at this end, packed at the other one. Each way
// that direct_row chooses is compared with the same rows without gaps. Each way has its own
// job, as in protocols.cpp.

namespace {

constexpr std::int64_t max_columns = 8192;
constexpr std::int64_t max_row = 512;  // doubles

/// Measures candidates in one line of a topic.
using MeasureLine = std::function<std::vector<Measured>(Topic& topic, const Case& c, std::int64_t n,
                                                        const std::vector<Candidate>& candidates)>;

BaselineOptions options_of(const Session& session) {
  BaselineOptions options = net_options(session);
  const Case largest = Case::local_patch(Operation::put, max_row, max_columns);
  options.capacity_bytes = std::max(options.capacity_bytes, largest.local_span());
  return options;
}

rma::Settings with_direct_row(rma::Settings settings, std::int64_t direct_row) {
  settings.direct_row = direct_row;
  return settings;
}

class LocalPatches {
 public:
  /// Collective.
  explicit LocalPatches(Session& session)
      : session_(session),
        packed_("packed", session.job(), with_direct_row(session.job().settings(), above_all_rows),
                options_of(session)),
        direct_("direct", session.job(), with_direct_row(session.job().settings(), 1),
                options_of(session)),
        own_(session.job(), options_of(session)) {}

  void measure(const MeasureLine& measure_line, const char* target) {
    for (const Operation operation : {Operation::put, Operation::get}) {
      for (const std::int64_t columns : {std::int64_t{1024}, max_columns}) {
        measure_columns(operation, columns, measure_line, target);
      }
    }
  }

 private:
  void measure_columns(Operation operation, std::int64_t columns, const MeasureLine& measure_line,
                       const char* target) {
    Topic topic{fmt::format("{} n x n Doubles of a Local {} x {} Bandwidth",
                            operation == Operation::put ? "Put" : "Get", columns, columns),
                fmt::format("{}_local_{}", Case::contiguous(operation, 8).name(), columns),
                Quantity::bandwidth, "n"};
    for (const std::int64_t n : {std::int64_t{128}, max_row}) {
      const Case c = Case::local_patch(operation, n, columns);
      const std::vector<Candidate> candidates = {
          renamed(*own_.candidate(Case::local_patch(operation, n, n + 2)), "dense rows"),
          packed_.candidate(c), direct_.candidate(c), renamed(*own_.candidate(c), "default")};
      const auto measured = measure_line(topic, c, n, candidates);
      if (session_.is_leader() && target != nullptr) {
        session_.targets().observe(
            target, fmt::format("{} of {} columns", c.name(), columns),
            ratio_of_medians(find(measured, "dense rows")->samples_ns, measured.back().samples_ns));
      }
    }
  }

  Session& session_;
  TesseraWithSettings packed_;
  TesseraWithSettings direct_;
  TesseraCandidate own_;
};

}  // namespace

void measure_net_local_patches(Session& session) {
  Wire wire(session);
  LocalPatches(session).measure(
      [&](Topic& topic, const Case& c, std::int64_t n, const std::vector<Candidate>& candidates) {
        return wire.measure(topic, c.shape(), static_cast<std::int64_t>(c.bytes()), n, candidates);
      },
      nullptr);
}

void measure_verbs_local_patches(VerbsPair& pair) {
  LocalPatches(pair.session())
      .measure(
          [&](Topic& topic, const Case& c, std::int64_t n,
              const std::vector<Candidate>& candidates) {
            return pair.measure(topic, c.shape(), static_cast<std::int64_t>(c.bytes()), n,
                                candidates);
          },
          verbs_target::local_patches);
}

}  // namespace tessera::bench
