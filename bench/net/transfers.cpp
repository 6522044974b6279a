// SPDX-License-Identifier: BSD-3-Clause
//
// Small operations, one after the other, and many of them outstanding. Large transfers: contiguous,
// in rows, scattered, and by each protocol.
#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/net/net_suite.hpp"
#include "bench/parts.hpp"
#include "bench/rma/tessera_candidate.hpp"
#include "bench/verbs/verbs.hpp"
#include "rma/job.hpp"

namespace tessera::bench {
namespace {

constexpr std::array small_sizes = {8U, 64U, 512U};

/// The round trips that these operations need have a baseline by what the agent does meanwhile.
void observe_get(Session& session, const std::vector<Measured>& measured) {
  const bool blocks = session.job().settings().server == "block";
  session.observe(blocks ? net_target::get_asleep : net_target::get_awake, "get 8",
                  &measured.back(), find(measured, blocks ? "tcp blocking" : "tcp polling"));
}

void measure_small(NetSuite& suite, Operation operation, const std::string& title) {
  Topic topic = net_topic(name_of(operation), title + " Latency");
  for (const std::size_t bytes : small_sizes) {
    const Case c = Case::contiguous(operation, bytes);
    std::vector<Candidate> candidates = suite.tcp_baselines(c);
    if (operation != Operation::accumulate) {
      add(candidates, suite.mpi_ping_pong(bytes));
    }
    add(candidates, suite.one_sided_baselines(c));
    add(candidates, suite.own().candidate(c));
    const auto measured = suite.measure(topic, {static_cast<std::int64_t>(bytes), c}, candidates);
    if (operation == Operation::get && bytes == 8) {
      observe_get(suite.session(), measured);
    }
  }
}

void measure_atomic(NetSuite& suite, Operation operation) {
  const Case c = Case::contiguous(operation, 8);
  auto own = suite.own().candidate(c);
  if (!own) {
    suite.session().remark("no locks: " + suite.own().lock_problem().message());
    return;
  }
  std::vector<Candidate> candidates = suite.tcp_baselines(c);
  add(candidates, suite.one_sided_baselines(c));
  add(candidates, std::move(own));
  Topic topic = net_topic(name_of(operation), std::string(title_of(operation)) + " Latency");
  suite.measure(topic, 8, candidates);
}

/// What the network takes for a message there and back, without any library.
void measure_round_trips(NetSuite& suite) {
  Topic topic = net_topic("ping_pong", "Round Trip Latency of Bare Messages");
  for (const std::size_t bytes : small_sizes) {
    std::vector<Candidate> candidates;
    add(candidates, suite.mpi_ping_pong(bytes));
    for (const Waiting waiting : {Waiting::blocking, Waiting::polling}) {
      TcpBaseline* const tcp = suite.tcp(waiting);
      add(candidates, tcp != nullptr ? tcp->ping_pong(bytes) : std::nullopt);
    }
    if (!candidates.empty()) {
      suite.measure(topic, static_cast<std::int64_t>(bytes), candidates);
    }
  }
}

}  // namespace

void measure_net_latency(Session& session) {
  NetSuite suite(session);
  measure_small(suite, Operation::get, "Get");
  measure_small(suite, Operation::put, "Put and Fence");
  // The time of a call if the next one follows immediately: the target sends no replies.
  Topic unfenced = net_topic("put_here", "Put Latency, locally complete");
  suite.measure(
      unfenced, 8,
      {*suite.own().candidate(Case::contiguous(Operation::put, 8).completing(Completes::here))});
  measure_small(suite, Operation::accumulate, "Accumulate and Fence");
  for (const Operation operation :
       {Operation::fetch_add, Operation::swap, Operation::compare_swap, Operation::lock_unlock}) {
    measure_atomic(suite, operation);
  }
  measure_round_trips(suite);
}

void measure_net_rate(Session& session) {
  constexpr std::int64_t messages = 64;  // as OSU's window
  NetSuite suite(session);
  for (const Operation operation : copies) {
    const std::string name = name_of(operation);
    Topic topic =
        net_topic(name + "_rate", fmt::format("{} {}s Outstanding Latency", messages, name));
    for (const std::size_t bytes : small_sizes) {
      std::vector<Candidate> candidates = suite.tcp_streams(operation, bytes, messages);
      if (operation == Operation::put) {
        add(candidates, suite.mpi_stream(bytes, messages));
      }
      add(candidates, suite.own().stream(operation, bytes, messages));
      const auto size = static_cast<std::int64_t>(bytes);
      const auto measured = suite.measure(
          topic, {size, fmt::format("{} x {} B", messages, bytes), size * messages}, candidates);
      std::string rates;
      for (const Measured& one : measured) {
        rates += fmt::format("{} {} {:.3f}", rates.empty() ? "" : ",", session.shown(one.name),
                             static_cast<double>(messages) * 1e3 / one.stats_ns.median);
      }
      session.remark(fmt::format("{}: million messages a second:{}", size, rates));
    }
  }
}

namespace {

void measure_contiguous(NetSuite& suite, Operation operation, std::int64_t outstanding) {
  constexpr std::size_t large = 1 << 20;
  const std::string name = name_of(operation);
  const bool is_one = outstanding == 1;
  Topic topic =
      net_topic(is_one ? name : name + "_stream",
                fmt::format("{} Bandwidth, {}", title_of(operation),
                            is_one ? "one blocking" : fmt::format("{} outstanding", outstanding)),
                Quantity::bandwidth);
  for (const std::size_t bytes : large_sizes(suite.session())) {
    const Case c = Case::contiguous(operation, bytes);
    std::vector<Candidate> candidates = suite.tcp_streams(operation, bytes, outstanding);
    add(candidates, is_one && operation == Operation::get ? suite.mpi_get(bytes)
                                                          : suite.mpi_stream(bytes, outstanding));
    if (is_one) {
      add(candidates, suite.one_sided_baselines(c));
      add(candidates, suite.own().candidate(c));
    } else {
      add(candidates, suite.own().stream(operation, bytes, outstanding));
    }
    const auto size = static_cast<std::int64_t>(bytes);
    const auto measured = suite.measure(
        topic,
        {size, is_one ? "" : fmt::format("{} x {} B", outstanding, bytes), size * outstanding},
        candidates);
    if (bytes >= large) {
      suite.session().observe(is_one ? net_target::request : net_target::stream,
                              fmt::format("{} {}", name, bytes), fastest_tcp(measured),
                              &measured.back());
    }
  }
}

/// As osu_put_bw, osu_get_bw and osu_acc_bw: -W messages outstanding, or as many as fit. Sockets
/// and MPI's messages take part if they do the same.
void measure_window(NetSuite& suite, Operation operation) {
  Session& session = suite.session();
  const auto room = static_cast<std::int64_t>(net_options(session).capacity_bytes);
  Topic topic = net_topic(Case::window(operation, 8, 1).name(),
                          fmt::format("{} Bandwidth, up to {} Outstanding", title_of(operation),
                                      session.options().window),
                          Quantity::bandwidth);
  for (const std::size_t bytes : large_sizes(session)) {
    const auto size = static_cast<std::int64_t>(bytes);
    const std::int64_t messages =
        std::clamp(room / size, std::int64_t{1}, session.options().window);
    const Case c = session.with_requested_completion(Case::window(operation, bytes, messages));
    std::vector<Candidate> candidates;
    if (session.has_comparable_replies(c)) {
      // Sockets don't add; accumulates are compared with puts of the same number of bytes.
      const bool gets = operation == Operation::get;
      add(candidates, suite.tcp_streams(gets ? Operation::get : Operation::put, bytes, messages));
      add(candidates, gets ? std::nullopt : suite.mpi_stream(bytes, messages));
    }
    add(candidates, suite.one_sided_baselines(c));
    add(candidates, suite.own().candidate(c));
    suite.measure(topic, {size, c.shape(), size * messages}, candidates);
  }
}

/// Rows compared with the same bytes in one piece, by Tessera and over raw TCP.
void measure_rows(NetSuite& suite, Operation operation, std::size_t row_bytes) {
  Topic topic = net_topic(Case::strided(operation, row_bytes, 1).name(),
                          fmt::format("{} Rows of {} B Bandwidth", title_of(operation), row_bytes),
                          Quantity::bandwidth, "Rows");
  for (const std::int64_t rows : {1, 4, 16, 64, 256, 1024}) {
    const Case c = Case::strided(operation, row_bytes, rows);
    const Case whole = Case::contiguous(operation, c.bytes());
    std::vector<Candidate> candidates = suite.tcp_baselines(whole);
    add(candidates, suite.one_sided_baselines(c));
    add(candidates, renamed(*suite.own().candidate(whole), "contiguous"));
    add(candidates, suite.own().candidate(c));
    const auto measured = suite.measure(topic, {rows, c}, candidates);
    if (row_bytes == 1024 && rows == 1024) {
      suite.session().observe(net_target::long_rows, fmt::format("{} {}", c.name(), c.shape()),
                              find(measured, "contiguous"), &measured.back());
    }
  }
}

constexpr std::int64_t patch_columns = 1024;

/// Square patches of a matrix: in one call, and in one non-blocking call per row ([ARMCI06], figure
/// 18).
void measure_patches(NetSuite& suite, Operation operation) {
  Topic topic = net_topic(std::string(name_of(operation)) + "_patch",
                          fmt::format("{} n x n Doubles Bandwidth", title_of(operation)),
                          Quantity::bandwidth, "n");
  for (const std::int64_t n : {4, 16, 64, 256, 512}) {
    const Case c = Case::patch(operation, n, patch_columns);
    Case by_row = c;
    by_row.layout = Layout::separate;
    std::vector<Candidate> candidates = suite.tcp_baselines(Case::contiguous(operation, c.bytes()));
    add(candidates, suite.one_sided_baselines(c));
    add(candidates, renamed(*suite.own().candidate(by_row), "n calls"));
    add(candidates, suite.own().candidate(c));
    suite.measure(topic, {n, c}, candidates);
  }
}

void measure_doubles(NetSuite& suite, Operation operation) {
  constexpr std::int64_t runs = 1000;
  Session& session = suite.session();
  const std::string name = name_of(operation);
  Topic topic = net_topic(name + "_vector",
                          fmt::format("{} of Scattered Doubles Latency", title_of(operation)),
                          Quantity::latency, "Doubles");
  const Case list = Case::vector(operation, 8, runs);
  std::vector<Candidate> candidates = suite.tcp_baselines(Case::contiguous(operation, 8));
  add(candidates, suite.one_sided_baselines(list));
  add(candidates,
      renamed(*suite.own().candidate(Case::separate(operation, 8, runs)), "1000 calls"));
  add(candidates,
      renamed(*suite.own().candidate(Case::aggregate(operation, 8, runs)), "aggregate"));
  add(candidates, suite.own().candidate(list));
  const auto measured = suite.measure(topic, {runs, list}, candidates);
  const Measured* const round_trip = find(measured, "tcp polling");
  const Measured* const in_one = &measured.back();
  session.observe(net_target::vector, name, in_one, round_trip);
  session.observe(net_target::aggregate, name, find(measured, "aggregate"), in_one);
  session.observe(net_target::separate, name, find(measured, "1000 calls"), round_trip);
}

}  // namespace

void measure_net_bandwidth(Session& session) {
  NetSuite suite(session);
  for (const Operation operation : copies) {
    for (const std::int64_t outstanding : {1, 4}) {
      measure_contiguous(suite, operation, outstanding);
    }
  }
}

void measure_net_window(Session& session) {
  NetSuite suite(session);
  session.remark_on_replies("sockets and MPI's messages",
                            session.with_requested_completion(Case::window(Operation::put, 8, 1)));
  for (const Operation operation : {Operation::put, Operation::get, Operation::accumulate}) {
    measure_window(suite, operation);
  }
}

void measure_net_strided(Session& session) {
  NetSuite suite(session);
  for (const Operation operation : copies) {
    for (const std::size_t row_bytes : {16U, 1024U}) {
      measure_rows(suite, operation, row_bytes);
    }
    measure_patches(suite, operation);
  }
}

void measure_net_scattered(Session& session) {
  NetSuite suite(session);
  for (const Operation operation : copies) {
    measure_doubles(suite, operation);
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

// "pipelined from 2K" has the shortest pipelines; "constants" chooses without measured times. The
// last is the subject of the tables.
const std::array<Protocol, 6> protocols = {{
    {"buffered", above_all_rows, whole_buffer_kib, 0, "measured"},
    {"pipelined", above_all_rows, 0, 0, "measured"},
    {"pipelined from 2K", above_all_rows, 1, 2048, "measured"},
    {"zero-copy", 1, 0, 0, "measured"},
    {"constants", 0, 0, 0, "fixed"},
    {"default", rma::Settings{}.direct_row, rma::Settings{}.chunk_kib, rma::Settings{}.pipeline,
     "measured"},
}};

rma::Settings settings_of(rma::Settings settings, const Protocol& protocol) {
  settings.direct_row = protocol.direct_row;
  settings.chunk_kib = protocol.chunk_kib;
  settings.pipeline = protocol.pipeline;
  settings.tcp_times = protocol.tcp_times;
  return settings;
}

/// One line: `c` by each protocol, compared with its bytes in one piece over a raw connection.
void measure_by_protocol(NetSuite& suite, AllSettings& sides, Topic& topic, std::int64_t line,
                         const Case& c) {
  std::vector<Candidate> candidates;
  if (TcpBaseline* const tcp = suite.tcp(Waiting::blocking)) {
    add(candidates, tcp->candidate(Case::contiguous(c.operation, c.bytes())));
  }
  for (const auto& side : sides) {
    candidates.push_back(side->candidate(c));
  }
  suite.measure(topic, {line, c}, candidates);
}

}  // namespace

void measure_net_protocols(Session& session) {
  NetSuite suite(session);
  AllSettings sides;
  for (const Protocol& protocol : protocols) {
    sides.push_back(std::make_unique<TesseraWithSettings>(
        protocol.name, session.job(), settings_of(session.job().settings(), protocol),
        session.baseline_options()));
    session.remark(fmt::format("{}: TESSERA_TUNE=direct_row={},chunk={},pipeline={},tcp_times={}",
                               protocol.name, protocol.direct_row, protocol.chunk_kib,
                               protocol.pipeline, protocol.tcp_times));
  }
  for (const Operation operation : copies) {
    const std::string name = name_of(operation);
    const std::string title = title_of(operation);
    Topic whole =
        net_topic(name + "_by_protocol", title + " Bandwidth by Protocol", Quantity::bandwidth);
    for (const std::size_t bytes : large_sizes(session)) {
      measure_by_protocol(suite, sides, whole, static_cast<std::int64_t>(bytes),
                          Case::contiguous(operation, bytes));
    }
    // Rows of 16 B to 4 KiB, and equally many of them. Short pipelines may help from 2 to 16 KiB.
    Topic patches =
        net_topic(name + "_patch_by_protocol", title + " n x n Doubles Bandwidth by Protocol",
                  Quantity::bandwidth, "n");
    for (const std::int64_t n : {2, 8, 16, 32, 44, 128, 512}) {
      measure_by_protocol(suite, sides, patches, n, Case::patch(operation, n, patch_columns));
    }
  }
}

// Patches of larger local arrays: rows with gaps at this end, packed at the other one. Each way
// that direct_row chooses is compared with the same rows without gaps, and has its own job.

namespace {

/// Measures a line of a topic.
using MeasureLine =
    std::function<std::vector<Measured>(Topic&, const Line&, const std::vector<Candidate>&)>;

void measure_local_patches(Session& session, const std::string& bench, const MeasureLine& measure,
                           const char* target) {
  constexpr std::int64_t max_columns = 8192;
  constexpr std::int64_t max_row = 512;  // doubles
  BaselineOptions options = net_options(session);
  options.capacity_bytes = std::max(
      options.capacity_bytes, Case::local_patch(Operation::put, max_row, max_columns).local_span());
  rma::Settings settings = session.job().settings();
  settings.direct_row = above_all_rows;
  TesseraWithSettings packed("packed", session.job(), settings, options);
  settings.direct_row = 1;
  TesseraWithSettings direct("direct", session.job(), settings, options);
  TesseraCandidate own(session.job(), options);
  for (const Operation operation : copies) {
    for (const std::int64_t columns : {std::int64_t{1024}, max_columns}) {
      Topic topic = net_topic(fmt::format("{}_local_{}", name_of(operation), columns),
                              fmt::format("{} n x n Doubles of a Local {} x {} Bandwidth",
                                          title_of(operation), columns, columns),
                              Quantity::bandwidth, "n");
      topic.bench = bench;
      for (const std::int64_t n : {std::int64_t{128}, max_row}) {
        const Case c = Case::local_patch(operation, n, columns);
        const auto measured = measure(
            topic, {n, c},
            {renamed(*own.candidate(Case::local_patch(operation, n, n + 2)), "dense rows"),
             packed.candidate(c), direct.candidate(c), renamed(*own.candidate(c), "default")});
        if (target != nullptr) {
          session.observe(target, fmt::format("{} of {} columns", c.name(), columns),
                          find(measured, "dense rows"), &measured.back());
        }
      }
    }
  }
}

}  // namespace

void measure_net_local_patches(Session& session) {
  NetSuite suite(session);
  measure_local_patches(
      session, "net",
      [&](Topic& topic, const Line& line, const std::vector<Candidate>& candidates) {
        return suite.measure(topic, line, candidates);
      },
      nullptr);
}

void measure_verbs_local_patches(VerbsPair& pair) {
  measure_local_patches(
      pair.session(), "verbs",
      [&](Topic& topic, const Line& line, const std::vector<Candidate>& candidates) {
        return pair.measure(topic, line, candidates);
      },
      verbs_target::local_patches);
}

}  // namespace tessera::bench
