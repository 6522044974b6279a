// SPDX-License-Identifier: BSD-3-Clause
// A distributed histogram: each rank counts the elements that it owns into bins that may lie
// anywhere, by scatter_accumulate; some bins are read by gather.
//     build/bin/tessera-run -n 4 build/docs/examples/histogram
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include <tessera/arrays/gather.hpp>
#include <tessera/arrays/random.hpp>
#include <tessera/arrays/reductions.hpp>
#include <tessera/arrays/transform.hpp>

using namespace tessera::arrays;
using tessera::rma::require;

constexpr std::int64_t samples = 1'000'000, bins = 64;

int main() {
  auto job = tessera::rma::Job::start().value();

  // The mean of two uniform numbers: a triangle between 0 and 1.
  auto x = Array<double>::create(job, {samples}, {.name = "x"}).value();
  auto y = x.duplicate("y").value();
  require(fill_random(x, 1));
  require(fill_random(y, 2));
  require(transform(
      x, [](double one, double two) { return (one + two) / 2; }, x, y));

  // Count locally, then add each bin's count at its owner. Adding is atomic for each element.
  auto histogram = Array<std::int64_t>::create(job, {bins}, {.name = "histogram"}).value();
  std::vector<std::int64_t> counts(bins);
  const auto access = x.local().value();
  const auto own = access.view();
  for (auto i = access.own().lo(0); i < access.own().hi(0); ++i) {
    ++counts[static_cast<std::size_t>(own(i) * static_cast<double>(bins))];
  }
  std::vector<Index> places;
  for (std::int64_t bin = 0; bin < bins; ++bin) {
    places.push_back({bin});
  }
  require(scatter_accumulate(histogram, places, counts));
  require(histogram.sync());

  // Rank 0 prints every eighth bin.
  std::vector<Index> some;
  for (std::int64_t bin = 3; bin < bins; bin += 8) {
    some.push_back({bin});
  }
  std::vector<std::int64_t> heights(some.size());
  require(gather(histogram, some, heights));

  const auto total = sum(histogram).value();
  const auto highest = select_max(histogram).value();
  if (job.rank().value == 0) {
    for (std::size_t i = 0; i < some.size(); ++i) {
      std::printf("%5.3f %s\n", static_cast<double>(some[i][0]) / static_cast<double>(bins),
                  std::string(static_cast<std::size_t>(heights[i] / 500), '*').c_str());
    }
    std::printf("%lld samples, the highest bin has %lld\n", static_cast<long long>(total),
                static_cast<long long>(highest.value));
  }
  const bool is_in_the_middle = highest.at[0] == bins / 2 || highest.at[0] == bins / 2 - 1;
  return total == samples && is_in_the_middle ? 0 : 1;
}
