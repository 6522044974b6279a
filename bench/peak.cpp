// SPDX-License-Identifier: BSD-3-Clause
#include "bench/peak.hpp"

#include <malloc.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "bench/support/memory_watch.hpp"
#include "linalg/buffers.hpp"

namespace tessera::bench {
namespace {

// Limit for a rank: this multiple of its data, and its stated buffers (docs/tuning.md).
constexpr double of_data = 1.3;
constexpr std::string_view target = "peak memory / (1.3 x data of a rank + stated buffers)";
constexpr double mebi = 0x1p20;

/// How much more a rank took than before; it counts an equal part of the node's shared memory.
double more_than(const MemoryUse& before, const MemoryUse& most, std::size_t ranks_on_node) {
  return static_cast<double>(std::max<std::int64_t>(most.own - before.own, 0)) +
         static_cast<double>(most.shared - before.shared) / static_cast<double>(ranks_on_node);
}

/// Collective. In bytes.
double peak_of(Session& session, const PeakWork& work) {
  rma::Job& job = session.job();
  // Buffers that earlier work left would serve this work without being counted.
  linalg::release_buffers();
  malloc_trim(0);
  rma::require(job.barrier());
  const MemoryUse before = memory_in_use();
  rma::require(job.barrier());
  MemoryWatch watch;
  work.run();
  rma::require(job.barrier());
  return session.group().maximum(more_than(before, watch.stop(), job.node_ranks().size()));
}

}  // namespace

void measure_peak(Session& session, const PeakWork& work) {
  require_memory(session, {.bytes_per_rank = static_cast<double>(work.data),
                           .what = fmt::format("memory: {}, {}", work.name, work.size),
                           .hint = "choose smaller matrices with --edges, or a smaller class"});
  const double peak = peak_of(session, work);
  const auto data = static_cast<double>(work.data);
  const double ratio = peak / (of_data * data + static_cast<double>(work.buffers));
  session.remark(
      fmt::format("{:14} {}: data / ranks {:8.1f} MiB, stated buffers {:6.1f} MiB, peak "
                  "{:8.1f} MiB: {:.3f} of the limit",
                  work.name, work.size, data / mebi, static_cast<double>(work.buffers) / mebi,
                  peak / mebi, ratio));
  Record record;
  record.bench = "memory";
  record.backend = "tessera";
  record.op = work.name;
  record.size = work.data * session.job().size();
  record.unit = "bytes";
  record.stats = summarise(std::array{peak});
  session.record(std::move(record));
  if (session.is_leader()) {
    session.targets().observe(target, work.name, {ratio, {ratio, ratio}});
  }
}

std::vector<Target> peak_targets() {
  return {{.name = std::string(target),
           .reference = "what is allowed",
           .sense = Target::Sense::time_at_most,
           .limit = 1}};
}

}  // namespace tessera::bench
