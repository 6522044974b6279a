// SPDX-License-Identifier: BSD-3-Clause
// The program without a sync of docs/guide/09-errors.md. races_check compares its warning.
#include <cstdint>
#include <vector>

#include <tessera/arrays/array.hpp>

using namespace tessera::arrays;
using tessera::rma::Job;
using tessera::rma::require;

namespace {

// [races]
void fill_and_read(Job& job, Array<double>& u) {
  const Box mine = u.own_box();
  const std::vector<double> rows(static_cast<std::size_t>(mine.volume()), 1.0);
  {
    const auto phase = job.phase("fill");
    require(u.put(mine, rows));
  }
  // u.sync() is missing here.
  const auto phase = job.phase("read");
  if (job.rank().value == 0) {
    std::vector<double> row(100);
    require(u.get(Box({50, 0}, {51, 100}), row));  // of rank 1
  }
}
// [/races]

}  // namespace

int main() {
  Job job = Job::start().value();
  auto u = Array<double>::create(job, {100, 100}, {.name = "u"}).value();
  fill_and_read(job, u);
  require(u.sync());
}
