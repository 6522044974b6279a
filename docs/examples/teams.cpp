// SPDX-License-Identifier: BSD-3-Clause
// Two halves of the ranks do different work, each with arrays of its own, and join at the end.
//     build/bin/tessera-run -n 4 build/docs/examples/teams
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <numbers>

#include <tessera/arrays/reductions.hpp>
#include <tessera/arrays/transform.hpp>

using namespace tessera::arrays;
using tessera::rma::Job;
using tessera::rma::require;
using tessera::rma::Team;

constexpr std::int64_t points = 100'000;

// The integral of `function` from 0 to 1 by the midpoint rule, on the ranks of a team.
template <class Function>
double integrate(Job& job, const Team& team, Function function) {
  auto values = Array<double>::create(job, {points}, {.name = "values", .team = team}).value();
  require(for_each_element(values, [&](const Index& at, double& value) {
    value = function((static_cast<double>(at[0]) + 0.5) / static_cast<double>(points));
  }));
  return sum(values).value() / static_cast<double>(points);
}

int main() {
  auto job = Job::start().value();
  auto results = Array<double>::create(job, {2}, {.name = "results"}).value();

  // The lower ranks are half 0, the others half 1. A single rank does both in turn.
  const int halves = std::min(2, job.size());
  const int half = halves * job.rank().value / job.size();
  auto team = job.world().split(half, job.rank().value).value();
  for (int work = half; work < 2; work += halves) {
    const double result = work == 0 ? integrate(job, team, [](double x) { return 4 / (1 + x * x); })
                                    : integrate(job, team, [](double x) { return std::exp(x); });
    if (team.rank().value == 0) {
      require(results.put_element({work}, result));  // this array is on all ranks
    }
  }

  // All ranks meet here.
  require(results.sync());
  const double pi = results.get_element({0}).value();
  const double e = results.get_element({1}).value() + 1;
  if (job.rank().value == 0) {
    std::printf("%d ranks in %d teams: pi = %.9f, e = %.9f\n", job.size(), halves, pi, e);
  }
  return std::abs(pi - std::numbers::pi) < 1e-9 && std::abs(e - std::numbers::e) < 1e-9 ? 0 : 1;
}
