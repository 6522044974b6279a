// SPDX-License-Identifier: BSD-3-Clause
#include "bench/rma/fairness.hpp"

#include <cstdint>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/support/clock.hpp"

namespace tessera::bench {
namespace {

/// The number of repetitions of `once` in the given time.
std::int64_t count_for(std::int64_t time_ns, const std::function<void()>& once) {
  std::int64_t count = 0;
  for (const std::int64_t end = now_ns() + time_ns; now_ns() < end; ++count) {
    once();
  }
  return count;
}

}  // namespace

void measure_fairness(Session& session, const Subject& subject, const std::string& backend,
                      const std::function<void()>& once) {
  constexpr std::int64_t time_ns = 10'000'000;
  constexpr int rounds = 11;
  RankGroup& group = session.group();
  if (group.size() < 2) {
    return;
  }
  std::vector<double> evenness;
  for (int round = 0; round < rounds; ++round) {
    group.barrier();
    const auto count = static_cast<double>(count_for(time_ns, once));
    const double most = group.maximum(count);
    const double fewest = -group.maximum(-count);
    evenness.push_back(fewest / most);
  }
  Record record;
  record.bench = subject.bench;
  record.backend = backend;
  record.op = subject.op;
  record.shape = subject.shape;
  record.size = subject.size;
  record.unit = "fewest/most";
  record.stats = summarise(evenness);
  session.remark(fmt::format("{} {}: fewest / most of the ranks: {:.3f} [{:.3f},{:.3f}]",
                             subject.size, backend, record.stats.median,
                             record.stats.ci95_median.lo, record.stats.ci95_median.hi));
  session.record(std::move(record));
}

}  // namespace tessera::bench
