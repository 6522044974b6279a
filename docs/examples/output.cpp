// SPDX-License-Identifier: BSD-3-Clause
// The temperature of a plate that cools, written for analysis: run.h5 for h5py, run.xdmf for
// ParaView. A second run adds to the steps of the first.
//     build/bin/tessera-run -n 4 build/docs/examples/output run.h5 10
//     python3 -c "import h5py; T = h5py.File('run.h5')['fields/T']; print(T.shape,
//     T.attrs['time'])"
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <tessera/arrays/output.hpp>
#include <tessera/arrays/transform.hpp>

using namespace tessera::arrays;
using tessera::rma::Job;
using tessera::rma::require;

int main(int argc, char** argv) {
  const std::string path = argc > 1 ? argv[1] : "run.h5";
  const int steps = argc > 2 ? std::atoi(argv[2]) : 10;
  const std::int64_t n = 200;
  const double distance = 1.0 / static_cast<double>(n - 1);
  auto job = Job::start().value();
  auto t = Array<double>::create(job, {n, n}, {.name = "T"}).value();

  auto out = Output::open(job, path, OutputMode::append).value();
  require(out.set_grid({.origin = {0, 0}, .spacing = {distance, distance}}));
  const std::int64_t first = out.steps("fields/T");
  for (std::int64_t step = first; step < first + steps; ++step) {
    const double time = 0.1 * static_cast<double>(step);
    require(for_each_element(t, [&](const Index& at, double& value) {
      const double x = distance * static_cast<double>(at[0]);
      const double y = distance * static_cast<double>(at[1]);
      value = x * (1 - x) * y * (1 - y) / (1 + time);
    }));
    require(out.append(t, "fields/T", {.compression = 4, .time = time}));
    require(out.append(t, Box({n / 2, 0}, {n / 2 + 1, n}), "lines/middle", {.time = time}));
    require(out.flush());  // from now on others can read this step
  }
  require(out.set_attribute("fields/T", "unit", "K"));
  require(out.close());
  if (job.rank().value == 0) {
    std::printf("%lld steps in %s\n", static_cast<long long>(first + steps), path.c_str());
  }
  return 0;
}
