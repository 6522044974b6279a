// SPDX-License-Identifier: BSD-3-Clause
// Statistics whose bits don't depend on the number of ranks: random numbers by seed and index, sums
// that are rounded once; then lists by running sums and packing.
//     build/bin/tessera-run -n 4 build/docs/examples/statistics
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>

#include <tessera/arrays/random.hpp>
#include <tessera/arrays/reductions.hpp>
#include <tessera/arrays/scan.hpp>
#include <tessera/arrays/transform.hpp>

using namespace tessera::arrays;
using tessera::rma::require;

constexpr std::int64_t n = 100'000;

int main() {
  auto job = tessera::rma::Job::start().value();
  auto x = Array<double>::create(job, {n}, {.name = "x"}).value();
  require(fill_random(x, 42, {.low = -1, .high = 1}));

  // Mean and variance, exactly summed: the same bits on 1 rank and on 1000.
  const double mean = sum(x, {.reproducible = true}).value() / static_cast<double>(n);
  auto deviation = x.duplicate("deviation").value();
  require(copy(x, deviation));
  require(add_constant(deviation, -mean));
  const double variance =
      dot(deviation, deviation, {.reproducible = true}).value() / static_cast<double>(n);

  // The positive ones, one after the other.
  auto is_positive = Array<std::int64_t>::create(job, {n}, {.name = "is positive"}).value();
  require(transform(
      is_positive, [](double value) { return std::int64_t{value > 0}; }, x));
  auto positive = Array<double>::create(job, {n}, {.name = "positive"}).value();
  const std::int64_t count = pack(x, is_positive, positive).value();
  const double smallest = select_min(part(positive, Box({0}, {count}))).value().value;

  // The number of positive elements up to each element, as running sums. A mask of zeros makes one
  // segment.
  auto mask = is_positive.duplicate("mask").value();
  auto so_far = is_positive.duplicate("so far").value();
  require(scan_add(is_positive, mask, so_far));

  if (job.rank().value == 0) {
    std::printf("mean %.17g (%016llx), variance %.17g\n", mean,
                static_cast<unsigned long long>(std::bit_cast<std::uint64_t>(mean)), variance);
    std::printf("%lld are positive, the smallest of them %g\n", static_cast<long long>(count),
                smallest);
  }
  // The value that one rank computes: any number of ranks gets the same.
  const bool is_right = std::bit_cast<std::uint64_t>(mean) == 0x3f66d7a19441653eULL &&
                        std::abs(variance - 1.0 / 3) < 0.005 && smallest > 0 &&
                        so_far.get_element({n - 1}).value() == count;
  return is_right ? 0 : 1;
}
