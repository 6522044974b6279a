// SPDX-License-Identifier: BSD-3-Clause
// Access to own elements without copies: views by global indices, rows as spans, ghost cells.
// Smooths a periodic field with the mean of nine neighbours.
//     build/bin/tessera-run -n 4 build/docs/examples/local_access
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <span>

#include <tessera/arrays/halo.hpp>
#include <tessera/arrays/random.hpp>
#include <tessera/arrays/reductions.hpp>

using namespace tessera::arrays;
using tessera::rma::require;

// out(i, j) = the mean of in(i − 1 … i + 1, j − 1 … j + 1), for the elements of this rank.
void smooth(Array<double>& in, Array<double>& out) {
  const auto from_access = in.local().value();
  const auto to_access = out.local().value();
  const auto from = from_access.view();  // from(i, j) by global indices, ghost cells too
  const auto to = to_access.view();
  const Box& own = from_access.own();
  for (auto i = own.lo(0); i < own.hi(0); ++i) {
    for (auto j = own.lo(1); j < own.hi(1); ++j) {
      double sum = 0;
      for (int di = -1; di <= 1; ++di) {
        sum += from(i + di, j - 1) + from(i + di, j) + from(i + di, j + 1);
      }
      to(i, j) = sum / 9;
    }
  }
}

// The largest element of this rank's rows, each of which is a piece of ordinary memory.
double own_maximum(Array<double>& a) {
  const auto access = a.local().value();
  const Box& own = access.own();
  double most = -INFINITY;
  for (auto i = own.lo(0); i < own.hi(0); ++i) {
    const std::span row(&access.view()(i, own.lo(1)), static_cast<std::size_t>(own.extent(1)));
    most = std::max(most, *std::max_element(row.begin(), row.end()));
  }
  return most;
}

int main() {
  auto job = tessera::rma::Job::start().value();
  auto field = Array<double>::create(job, {120, 90}, {.name = "field", .ghosts = {1, 1}}).value();
  auto smoothed = field.duplicate("smoothed").value();
  require(fill_random(field, 3));

  auto halo = Halo::create(field, {.periodic = PeriodicDims().set()}).value();
  require(halo.update());  // copies the neighbours' elements
  smooth(field, smoothed);
  require(smoothed.sync());  // now others see the stored elements

  const double most =
      job.world().allreduce(own_maximum(smoothed), tessera::rma::Reduction::max).value();
  const double before = sum(field).value();
  const double after = sum(smoothed).value();
  if (job.rank().value == 0) {
    const Box own = field.own_box();
    std::printf("rank 0 owns %s; the sum is %.9f before and %.9f after\n", to_string(own).c_str(),
                before, after);
  }
  // Means keep the sum, and both ways find the same maximum.
  const bool is_right =
      std::abs(after - before) < 1e-9 * before && most == select_max(smoothed).value().value;
  return is_right ? 0 : 1;
}
