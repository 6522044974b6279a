// SPDX-License-Identifier: BSD-3-Clause
// π by throwing darts: ranks draw tasks from a shared counter until none is left, so that fast
// ranks do more of them. A task's darts depend only on its number: any number of ranks throws the
// same darts.
//     build/bin/tessera-run -n 4 build/docs/examples/montecarlo
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <numbers>

#include <tessera/arrays/counter.hpp>
#include <tessera/arrays/random.hpp>

using tessera::arrays::Counter;
using tessera::arrays::philox;
using tessera::rma::Reduction;

constexpr std::int64_t tasks = 200;
constexpr std::uint32_t darts = 20'000;  // per task

// How many darts of a task hit the quarter of the circle.
std::int64_t throw_darts(std::int64_t task) {
  constexpr double scale = 1.0 / 4294967296.0;  // 2⁻³²
  std::int64_t hits = 0;
  for (std::uint32_t dart = 0; dart < darts; ++dart) {
    const auto words = philox({dart, static_cast<std::uint32_t>(task), 0, 0}, {2026, 0});
    hits += std::hypot(words[0] * scale, words[1] * scale) < 1 ? 1 : 0;
  }
  return hits;
}

int main() {
  auto job = tessera::rma::Job::start().value();
  auto counter = Counter::create(job, job.world()).value();

  std::int64_t hits = 0;
  std::int64_t done = 0;
  for (auto task = counter.next().value(); task < tasks; task = counter.next().value()) {
    hits += throw_darts(task);
    ++done;
  }

  const auto all_hits = job.world().allreduce(hits, Reduction::sum).value();
  const auto all_done = job.world().allreduce(done, Reduction::sum).value();
  const auto most = job.world().allreduce(done, Reduction::max).value();
  const double pi = 4.0 * static_cast<double>(all_hits) / (tasks * darts);
  if (job.rank().value == 0) {
    std::printf("pi is about %.5f; the busiest of %d ranks did %lld of %lld tasks\n", pi,
                job.size(), static_cast<long long>(most), static_cast<long long>(tasks));
  }
  // 0.0033 is four standard deviations.
  return all_done == tasks && std::abs(pi - std::numbers::pi) < 0.0033 ? 0 : 1;
}
