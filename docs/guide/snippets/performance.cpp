// SPDX-License-Identifier: BSD-3-Clause
// The code of docs/guide/10-performance.md.
#include <cstdint>
#include <iostream>
#include <vector>

#include "arrays/array.hpp"
#include "arrays/elementwise.hpp"
#include "arrays/mirrored.hpp"
#include "docs/guide/snippets/expect.hpp"

using namespace tessera::arrays;
using guide::expect;
using tessera::rma::AccessMode;
using tessera::rma::Job;
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

void add_on_nodes(Job& job) {
  auto total = Array<double>::create(job, {100, 100}, {.name = "total"}).value();
  // [mirrored]
  auto m = Mirrored<double>::create(job, {100, 100}, {.name = "M"}).value();
  const Box corner({0, 0}, {10, 10});
  require(m.here().accumulate(corner, std::vector<double>(100, 1.0)));  // stays on the node
  require(m.merge_into(total.box(), total));  // the sum of all nodes' copies
  // [/mirrored]
  expect(total.get_element({9, 9}).value() == job.size(), "each rank added one");
}

}  // namespace

int main() {
  auto job = Job::start().value();
  look(job);
  read_much(job);
  add_on_nodes(job);
}
