// SPDX-License-Identifier: BSD-3-Clause
//
// Bandwidth by protocol ([CLUSTERS02], figures 6 to 11; the protocols are those of [ARMCI06],
// section 5.2): one transfer after the other, with all of it copied through buffers, or none, or by
// the library's choice from the length of rows.
//
// The protocol of a transfer is a setting of a job (docs/tuning.md). So each one has its own job of
// the same ranks, in addition to the benchmark's job. All of them take part in the same rounds; the
// agents of idle jobs sleep.
#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/net/parts.hpp"
#include "bench/net/wire.hpp"
#include "bench/rma/own_side.hpp"
#include "bench/support/job_beside.hpp"
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

/// A job with one protocol, and Tessera's side of a case in it.
class ProtocolSide {
 public:
  /// Collective.
  ProtocolSide(Session& session, const Protocol& protocol)
      : name_(protocol.name),
        job_(start(session.job(), protocol)),
        own_(job_, session.baseline_options()) {}

  [[nodiscard]] Candidate candidate(const Case& c) { return renamed(*own_.candidate(c), name_); }

 private:
  static rma::Job start(rma::Job& first, const Protocol& protocol) {
    rma::Settings settings = first.settings();
    settings.direct_row = protocol.direct_row;
    settings.chunk_kib = protocol.chunk_kib;
    settings.pipeline = protocol.pipeline;
    settings.tcp_times = protocol.tcp_times;
    return start_job_on_same_ranks(first, settings);
  }

  std::string name_;
  rma::Job job_;
  TesseraCandidate own_;
};

using Sides = std::vector<std::unique_ptr<ProtocolSide>>;

/// One line: `c` by each protocol, compared with its bytes in one piece over a raw connection.
void measure_line(Wire& wire, Sides& sides, Topic& topic, const Case& c, std::int64_t line) {
  std::vector<Candidate> candidates;
  if (TcpBaseline* const tcp = wire.tcp(Waiting::blocking)) {
    add(candidates, tcp->candidate(Case::contiguous(c.operation, c.bytes())));
  }
  for (const auto& side : sides) {
    candidates.push_back(side->candidate(c));
  }
  wire.measure(topic, c.shape(), static_cast<std::int64_t>(c.bytes()), line, candidates);
}

void measure_contiguous(Wire& wire, Sides& sides, Operation operation, const std::string& title) {
  Topic topic{title + " Bandwidth by Protocol",
              Case::contiguous(operation, 8).name() + "_by_protocol", Quantity::bandwidth};
  for (const std::size_t bytes : large_sizes(wire.session())) {
    measure_line(wire, sides, topic, Case::contiguous(operation, bytes),
                 static_cast<std::int64_t>(bytes));
  }
}

/// n rows of n doubles: rows of 16 B to 4 KiB, and equally many of them. Short pipelines may help
/// from 2 to 16 KiB.
void measure_patches(Wire& wire, Sides& sides, Operation operation, const std::string& title) {
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
  Sides sides;
  for (const Protocol& protocol : protocols) {
    sides.push_back(std::make_unique<ProtocolSide>(session, protocol));
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

}  // namespace tessera::bench
