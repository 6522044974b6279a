// SPDX-License-Identifier: BSD-3-Clause
// The code of docs/guide/03-moving-data.md.
#include <cstdint>
#include <numeric>
#include <vector>

#include <tessera/arrays/array.hpp>
#include <tessera/arrays/atomic_elements.hpp>
#include <tessera/arrays/gather.hpp>
#include <tessera/arrays/reductions.hpp>
#include "docs/guide/snippets/expect.hpp"

using namespace tessera::arrays;
using guide::expect;
using tessera::rma::AtomicOp;
using tessera::rma::Handle;
using tessera::rma::Job;
using tessera::rma::require;

namespace {

void move_boxes(Job& job) {
  auto a = Array<double>::create(job, {100, 100}, {.name = "A"}).value();
  const int ranks = job.size();
  // [boxes]
  const Box box({10, 20}, {14, 25});  // rows 10 … 13, columns 20 … 24
  std::vector<double> values(static_cast<std::size_t>(box.volume()));  // 4 x 5, row by row

  if (job.rank().value == 0) {
    std::iota(values.begin(), values.end(), 0.0);
    require(a.put(box, values));
  }
  require(a.sync());
  require(a.accumulate(box, std::vector<double>(20, 1.0), 0.5));  // every rank adds 0.5
  require(a.sync());
  require(a.get(box, values));
  // [/boxes]
  expect(values[7] == 7 + 0.5 * ranks, "what was put, and 0.5 of each rank");
  // [vectors]
  auto block = a.buffer(box).value();  // 20 zeros
  block = a.get(box).value();          // the array's elements
  // [/vectors]
  expect(block == values, "the same elements");
  // [views]
  std::vector<double> matrix(64);  // 8 x 8
  const LocalView<double> corner(&matrix[8 * 2 + 3], {4, 5}, Strides{8, 1});
  require(a.get(box, corner));  // into rows 2 … 5, columns 3 … 7 of the local matrix
  // [/views]
  expect(matrix[8 * 3 + 5] == values[7], "row 1, column 2 of the box");
  // [element]
  const double one = a.get_element({10, 21}).value();
  require(a.sync());  // all have read before any writes
  require(a.put_element({job.rank().value, 0}, one));
  // [/element]
  expect(one == 1 + 0.5 * ranks, "one element");
}

void move_sections(Job& job) {
  auto a = Array<double>::create(job, {9, 9}, {.name = "A"}).value();
  // [section]
  const Section odd(Box({1, 1}, {9, 9}), {2, 2});  // rows and columns 1 3 5 7
  if (job.rank().value == 0) {
    require(a.put(odd, std::vector<double>(16, 1.0)));
  }
  require(a.sync());
  // [/section]
  expect(sum(a).value() == 16, "sixteen ones");
  // [periodic]
  std::vector<double> around(9);
  require(a.get(periodic(Box({-1, -1}, {2, 2})), around));
  // [/periodic]
  expect(std::accumulate(around.begin(), around.end(), 0.0) == 1, "of all only (1, 1) is one");
}

// [structure]
struct Particle {
  double position[3];
  double mass;
};
// [/structure]

void move_fields(Job& job) {
  // [field]
  auto particles = Array<Particle>::create(job, {1000}, {.name = "particles"}).value();
  const Box mine = particles.own_box();
  std::vector<double> masses(static_cast<std::size_t>(mine.volume()), 2.5);
  require(particles.put(field(mine, &Particle::mass), masses));
  require(particles.sync());
  // [/field]
  expect(particles.get_element({999}).value().mass == 2.5, "the mass of the last one");
  expect(particles.get_element({999}).value().position[2] == 0, "its position was not touched");
}

void gather_elements(Job& job) {
  auto a = Array<double>::create(job, {50, 50}, {.name = "A"}).value();
  // [gather]
  const std::vector<Index> places{{3, 4}, {40, 17}, {3, 4}};
  require(scatter_accumulate(a, places, std::vector{1.0, 2.0, 3.0}));
  require(a.sync());
  std::vector<double> found(3);
  require(gather(a, places, found));
  // [/gather]
  // [flat]
  const std::vector<std::int64_t> numbers{3, 4, 40, 17, 3, 4};  // the same three places
  require(gather(a, IndexList::flat(numbers, 2), found));
  // [/flat]
  expect(found == std::vector<double>{4.0 * job.size(), 2.0 * job.size(), 4.0 * job.size()},
         "both values for (3, 4) were added");
}

void change_elements_at_once(Job& job) {
  // [atomic]
  auto next = Array<std::int64_t>::create(job, {10}, {.name = "next"}).value();
  const auto ticket = next.fetch_add({3}, 1).value();         // the old value
  const auto before = next.compare_swap({4}, 0, 17).value();  // also the old one; 0 becomes 17
  // [/atomic]
  expect(ticket >= 0 && ticket < job.size(), "each rank draws another ticket");
  expect(before == 0 || before == 17, "one of them was the first");
  // [atomics]
  const std::vector<Index> listed{{5}, {7}};
  const std::vector<std::int64_t> least{-1, job.rank().value};
  std::vector<std::int64_t> old(2);
  require(change_elements<std::int64_t>(next, listed,
                                        {.op = AtomicOp::min, .operands = least, .previous = old}));
  // [/atomics]
  expect((old[0] == 0 || old[0] == -1) && old[1] == 0, "zero, or another rank's");
}

void overlap(Job& job) {
  auto a = Array<double>::create(job, {300, 300}, {.name = "A"}).value();
  std::vector<double> left(300 * 10), right(300 * 10);
  // [async]
  Handle both = a.get_async(Box({0, 0}, {300, 10}), left);
  both.collect(a.get_async(Box({0, 290}, {300, 300}), right));
  // … compute what needs neither …
  require(both.wait());  // `left` and `right` have their data
  // [/async]
}

void give_away(Job& job) {
  auto a = Array<double>::create(job, {100}, {.name = "A"}).value();
  // [detach]
  std::vector<double> values(100, 1.0);
  a.put_async(a.box(), values).detach();  // `values` must stay as they are …
  require(job.wait_all());                // … until here; or until a sync, or a fence
  // [/detach]
  values.assign(100, 0.0);
  require(a.sync());
  expect(sum(a).value() == 100, "what the values were before");
}

void complete(Job& job) {
  // [flag]
  auto data = Array<double>::create(job, {100}, {.name = "data"}).value();
  auto flag = Array<std::int64_t>::create(job, {1}, {.name = "flag"}).value();
  if (job.rank().value == 0) {
    require(data.put(data.box(), std::vector<double>(100, 3.0)));
    require(data.fence());              // the data are at their owners …
    require(flag.put_element({0}, 1));  // … before any rank can see this
  }
  while (flag.get_element({0}).value() == 0) {
  }
  const double value = data.get_element({99}).value();  // 3, on every rank
  // [/flag]
  expect(value == 3, "who sees the flag sees the data");
}

}  // namespace

int main() {
  auto job = Job::start().value();
  move_boxes(job);
  move_sections(job);
  move_fields(job);
  gather_elements(job);
  change_elements_at_once(job);
  overlap(job);
  give_away(job);
  complete(job);
}
