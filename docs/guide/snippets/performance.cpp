// SPDX-License-Identifier: BSD-3-Clause
// The code of docs/guide/10-performance.md.
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <span>
#include <vector>

#include <tessera/arrays/array.hpp>
#include <tessera/arrays/elementwise.hpp>
#include <tessera/arrays/mirrored.hpp>
#include <tessera/arrays/reductions.hpp>
#include "docs/guide/snippets/expect.hpp"

using namespace tessera::arrays;
using guide::expect;
using tessera::rma::AccessMode;
using tessera::rma::Code;
using tessera::rma::Job;
using tessera::rma::RegionOptions;
using tessera::rma::require;

namespace {

void look(Job& job) {
  // [route]
  for (int rank = 0; rank < job.size(); ++rank) {
    std::cout << "to rank " << rank << ": " << job.transport_to({rank}).value() << '\n';
  }
  // [/route]
}

void read_much(Job& job) {
  auto a = Array<double>::create(job, {100, 100}, {.name = "A"}).value();
  require(fill(a, 1.0));
  std::vector<double> values(100 * 100);
  // [modes]
  require(a.set_access_mode(AccessMode::read_only, {.copy_on_each_node = true}));
  require(a.get(a.box(), values));              // from this node's copy
  require(a.set_access_mode(AccessMode::any));  // may be written again
  // [/modes]
  expect(values[99] == 1.0, "what was filled");
}

void add_much(Job& job) {
  auto a = Array<double>::create(job, {100, 100}, {.name = "A"}).value();
  const std::vector<double> values(100 * 100, 1.0);
  // [adding]
  require(a.set_access_mode(AccessMode::accumulate_only, {.copy_on_each_node = true}));
  require(a.accumulate(a.box(), values));       // to this node's copy
  require(a.set_access_mode(AccessMode::any));  // adds the copies to the array
  // [/adding]
  expect(a.get_element({99, 99}).value() == job.size(), "what all ranks added");
}

void promise(Job& job) {
  auto a = Array<double>::create(job, {100, 100}, {.name = "A"}).value();
  std::vector<double> values(100 * 100, 1.0);
  // [promise]
  require(a.set_access_mode(AccessMode::accumulate_only));
  require(a.accumulate(a.box(), values));
  const auto status = a.get(a.box(), values);  // refused: others may still add
  require(a.set_access_mode(AccessMode::any));
  // [/promise]
  expect(status.code() == Code::invalid_argument, "the mode refuses a get");
  if (job.rank().value == 0) {
    std::cout << status.message() << '\n';
  }
  require(a.set_access_mode(AccessMode::no_local_access));
  expect(a.local().status().code() == Code::invalid_argument, "no local access");
  expect(sum(a).status().code() == Code::invalid_argument, "nor operations, which need it");
  expect(a.get_element({99, 99}).value() == job.size(), "transfers are allowed");
}

void take_memory(Job& job) {
  // [memory]
  const RegionOptions huge{.huge_pages = true};  // pages of 2 MiB, where the system has them
  const RegionOptions sparse{.sparse = true};    // memory page by page, when it is first touched
  auto a = Array<double>::create(job, {1000, 1000}, {.name = "A", .region = huge}).value();
  auto b = Array<double>::create(job, {30'000, 30'000}, {.name = "B", .region = sparse}).value();
  // [/memory]
  require(fill(a, 1.0));
  require(b.put_element({29'999, job.rank().value}, 5.0));
  require(b.sync());
  expect(b.get_element({29'999, 0}).value() == 5, "what was put is there");
  expect(b.get_element({29'998, 0}).value() == 0, "the rest is zeros");
  // [buffer]
  constexpr std::size_t count = 1000 * 1000;
  const std::span buffer(static_cast<double*>(job.allocate_local(count * 8).value()), count);
  require(a.get(a.box(), buffer));
  const double last = buffer.back();  // … use it …
  require(job.free_local(buffer.data()));
  // [/buffer]
  expect(last == 1, "it has all of A");
}

void add_on_nodes(Job& job) {
  auto total = Array<double>::create(job, {100, 100}, {.name = "total"}).value();
  // [mirrored]
  auto m = Mirrored<double>::create(job, {100, 100}, {.name = "M"}).value();
  const Box corner({0, 0}, {10, 10});
  require(m.node_copy().accumulate(corner, std::vector<double>(100, 1.0)));  // stays on the node
  require(m.merge_into(total.box(), total));  // the sum of all nodes' copies
  // [/mirrored]
  expect(total.get_element({9, 9}).value() == job.size(), "each rank added one");
}

}  // namespace

int main() {
  auto job = Job::start().value();
  look(job);
  read_much(job);
  add_much(job);
  promise(job);
  take_memory(job);
  add_on_nodes(job);
}
