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

constexpr std::string_view target = "peak memory without buffers: of data / ranks";
constexpr double mebi = 0x1p20;

/// What a rank took more than before; the node's shared memory counts in equal parts.
double more_than(const MemoryUse& before, const MemoryUse& most, std::size_t ranks_on_node) {
  return static_cast<double>(std::max<std::int64_t>(most.own - before.own, 0)) +
         static_cast<double>(most.shared - before.shared) / static_cast<double>(ranks_on_node);
}

/// Collective. In bytes.
double peak_of(Session& session, const PeakWork& work) {
  rma::Job& job = session.job();
  // What the work before left would serve this one, unseen.
  linalg::release_buffers();
  malloc_trim(0);
  rma::require(job.barrier());
  const MemoryUse before = memory_in_use();
  rma::require(job.barrier());
  MemoryWatch watch;
  work.run();
  rma::require(job.barrier());
  return session.crew().maximum(more_than(before, watch.stop(), job.node_ranks().size()));
}

}  // namespace

void measure_peak(Session& session, const PeakWork& work) {
  const double peak = peak_of(session, work);
  const auto data = static_cast<double>(work.data);
  const double ratio = (peak - static_cast<double>(work.buffers)) / data;
  session.remark(
      fmt::format("{:14} {}: data / ranks {:8.1f} MiB, stated buffers {:6.1f} MiB, peak "
                  "{:8.1f} MiB: {:.3f}",
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
           .reference = "data",
           .sense = Target::Sense::time_at_most,
           .limit = 1.3}};
}

}  // namespace tessera::bench
