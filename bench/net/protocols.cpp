// SPDX-License-Identifier: BSD-3-Clause
//
// Bandwidth by protocol ([CLUSTERS02], figures 6 to 11; the protocols are those of [ARMCI06],
// section 5.2): one transfer after the other, with all of it copied through buffers, or none, or by
// the library's choice from the length of rows.
//
// The protocol of a transfer is a setting of a job (docs/tuning.md). So each one has its own job of
// the same ranks, in addition to the benchmark's job. All of them take part in the same rounds; the
// agents of idle jobs sleep.
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
