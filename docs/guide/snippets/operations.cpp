// SPDX-License-Identifier: BSD-3-Clause
// The code of docs/guide/05-operations.md.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <vector>

#include <tessera/arrays/bins.hpp>
#include <tessera/arrays/matrix.hpp>
#include <tessera/arrays/print.hpp>
#include <tessera/arrays/random.hpp>
#include <tessera/arrays/reductions.hpp>
#include <tessera/arrays/reshape.hpp>
#include <tessera/arrays/scan.hpp>
#include <tessera/arrays/steps.hpp>
#include <tessera/arrays/transform.hpp>
#include "docs/guide/snippets/expect.hpp"

using namespace tessera::arrays;
using guide::expect;
using tessera::rma::Job;
using tessera::rma::Reduction;
using tessera::rma::require;

namespace {

void compute(Job& job) {
  auto a = Array<double>::create(job, {60, 40}, {.name = "A"}).value();
  auto b = a.duplicate("B").value();
  auto c = a.duplicate("C").value();
  // [elementwise]
  require(fill(a, 3.0));
  require(fill(b, 4.0));
  require(add(2.0, a, -1.0, b, c));  // c = 2 a − b
  require(multiply(a, c, c));        // c = a · c, element by element
  require(scale(c, 0.5));            // c = c / 2
  require(copy(c, b));               // between any distributions
  // [/elementwise]
  expect(select_max(b).value().value == 3.0, "3 (2 · 3 − 4) / 2");
  // [parts]
  const Box upper({0, 0}, {30, 40});
  const Box lower({30, 0}, {60, 40});
  require(fill(part(a, upper), 1.0));
  require(copy(part(a, upper), part(a, lower)));
  // [/parts]
  expect(sum(a).value() == 60 * 40, "all are ones");
  // [transform]
  require(transform(
      c, [](double x, double y) { return std::hypot(x, y); }, a, b));
  require(for_each_element(
      a, [](const Index& at, double& x) { x = static_cast<double>(at[0] + at[1]); }));
  const double largest_gap =
      reduce(
          0.0, Reduction::max,
          [](double so_far, double x, double y) { return std::max(so_far, std::abs(x - y)); }, a, b)
          .value();
  // [/transform]
  expect(largest_gap == 59 + 39 - 3, "at (59, 39)");
}

void summarise(Job& job) {
  auto a = Array<double>::create(job, {60, 40}, {.name = "A"}).value();
  // [random]
  require(fill_random(a, 42, {.low = -1, .high = 1}));  // the seed is 42
  // [/random]
  // [reductions]
  const double total = sum(a).value();
  const double length = norm2(a).value();    // √ Σ a²
  const double product = dot(a, a).value();  // Σ a · a
  const Selected<double> peak = select_max(a).value();
  if (job.rank().value == 0) {
    std::cout << "the largest is " << peak.value << " at " << to_string(peak.at) << '\n';
  }
  // [/reductions]
  expect(std::abs(length * length - product) < 1e-9, "the norm and the dot product");
  expect(a.get_element(peak.at).value() == peak.value, "the place of the largest");
  // [exact]
  const double exact = sum(a, {.reproducible = true}).value();
  // [/exact]
  expect(std::abs(exact - total) < 1e-10, "both sums");
}

void find_steps(Job& job) {
  auto x = Array<double>::create(job, {100}, {.name = "x"}).value();
  auto dx = x.duplicate("dx").value();
  auto lower = x.duplicate("lower").value();
  auto upper = x.duplicate("upper").value();
  require(fill(x, 3.0));
  require(for_each_element(dx, [](const Index& at, double& d) { d = at[0] % 2 == 0 ? -0.5 : 2; }));
  require(fill(upper, 10.0));
  // [steps]
  // x is 3 everywhere, dx alternates between −0.5 and 2; the bounds are 0 and 10.
  const double step = step_max(x, dx).value();                        // 6
  const StepBounds steps = step_bounds(x, dx, lower, upper).value();  // 3.5 to 6
  // [/steps]
  expect(step == 6, "then half of them are 0");
  expect(steps.first == 3.5 && steps.first_positive == 3.5 && steps.last == 6, "10, then 0");
}

void scan_lists(Job& job) {
  // [scan]
  auto ones = Array<std::int64_t>::create(job, {100}, {.name = "ones"}).value();
  auto mask = ones.duplicate("mask").value();  // 1 where a segment begins
  auto sums = ones.duplicate("sums").value();
  require(fill(ones, 1));
  require(for_each_element(mask, [](const Index& at, std::int64_t& x) { x = at[0] % 10 == 0; }));
  require(scan_add(ones, mask, sums));  // 1 2 3 … 10 1 2 3 … 10 …
  // [/scan]
  expect(sums.get_element({39}).value() == 10 && sums.get_element({41}).value() == 2, "segments");
  // [pack]
  auto packed = ones.duplicate("packed").value();
  const std::int64_t count = pack(sums, mask, packed).value();  // the elements that begin a segment
  // [/pack]
  expect(count == 10 && packed.get_element({9}).value() == 1, "ten segments begin");
}

void fill_bins(Job& job) {
  // [bins]
  // Each rank has values for bins: here one for each of the bins 0, 1 and 2.
  const std::vector<std::int64_t> bins{0, 1, 2};
  const std::vector<double> values(3, job.rank().value);
  auto counts = BinVector::create(job, {3}, {.name = "counts"}).value();
  auto offsets = BinVector::create(job, {3}, {.name = "offsets"}).value();
  auto filled = BinVector::create(job, {3}, {.name = "filled"}).value();
  auto contents = Array<double>::create(job, {3 * job.size()}, {.name = "contents"}).value();

  require(count_bins(counts, bins));
  require(counts.sync());
  require(bin_offsets(counts, offsets));
  require(add_to_bins(contents, offsets, filled, bins, values));
  require(contents.sync());
  require(sort_bins(contents, offsets, counts));
  // [/bins]
  expect(contents.get_element({3 * job.size() - 1}).value() == job.size() - 1, "sorted");
}

void look_at_matrices(Job& job) {
  // [matrix]
  auto a = Array<double>::create(job, {4, 4}, {.name = "A"}).value();
  auto d = Array<double>::create(job, {4}, {.name = "d"}).value();
  require(fill(a, 1.0));
  require(shift_diagonal(a, 2.0));  // A + 2 I
  require(get_diagonal(a, d));
  require(scale_rows(a, d));  // diag(d) A
  require(print(a, std::cout));
  // [/matrix]
  expect(a.get_element({2, 2}).value() == 9 && a.get_element({2, 3}).value() == 3, "rows times 3");
  // [reshape]
  auto wide = Array<double>::create(job, {2, 8}, {.name = "wide"}).value();
  require(copy_row_major(a, wide));  // in row-major order of both
  // [/reshape]
  expect(wide.get_element({1, 2}).value() == a.get_element({2, 2}).value(), "element 10");
}

}  // namespace

int main() {
  auto job = Job::start().value();
  compute(job);
  summarise(job);
  find_steps(job);
  scan_lists(job);
  fill_bins(job);
  look_at_matrices(job);
}
