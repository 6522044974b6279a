// SPDX-License-Identifier: BSD-3-Clause
// A simulation that continues where its last run stopped, also on another number of ranks. It adds
// random numbers; the result is the same however the steps are divided into runs.
//     build/bin/tessera-run -n 4 build/docs/examples/checkpoint run.h5 10
//     build/bin/tessera-run -n 3 build/docs/examples/checkpoint run.h5 20
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include <tessera/arrays/checkpoint.hpp>
#include <tessera/arrays/random.hpp>
#include <tessera/arrays/reductions.hpp>

using namespace tessera::arrays;
using tessera::rma::Job;
using tessera::rma::require;

// a = a + random numbers of this step.
void grow(Array<double>& a, Array<double>& increment, std::int64_t step) {
  require(fill_random(increment, static_cast<std::uint64_t>(step)));
  require(add(1.0, a, 1.0, increment, a));
}

int main(int argc, char** argv) {
  const std::string path = argc > 1 ? argv[1] : "run.h5";
  const std::int64_t last_step = argc > 2 ? std::atoll(argv[2]) : 10;
  auto job = Job::start().value();
  auto a = Array<double>::create(job, {300, 200}, {.name = "A"}).value();
  auto increment = a.duplicate("increment").value();

  // Only rank 0 checks, so that all ranks agree.
  bool is_there = std::filesystem::exists(path);
  require(job.world().broadcast_value(is_there, {0}));
  std::int64_t step = 0;
  if (is_there) {
    auto file = Checkpoint::open(job, path).value();
    require(file.read_into("A", a));  // any number of ranks may have written it
    step = file.attribute<std::int64_t>("step").value();
  }
  const std::int64_t first_step = step;
  for (; step < last_step; ++step) {
    grow(a, increment, step);
  }

  // The old file stays until the new one is complete.
  auto writer = CheckpointWriter::create(job, path).value();
  require(writer.add(a));
  require(writer.add_attribute("step", step));
  require(writer.commit());

  // The same steps in one run.
  auto b = Array<double>::create(job, {300, 200}, {.name = "B"}).value();
  for (std::int64_t again = 0; again < step; ++again) {
    grow(b, increment, again);
  }
  require(add(1.0, a, -1.0, b, b));
  const double difference = norm_max(b).value();
  if (job.rank().value == 0) {
    std::printf("%d ranks went from step %lld to step %lld; difference to one run: %g\n",
                job.size(), static_cast<long long>(first_step), static_cast<long long>(step),
                difference);
  }
  return difference == 0 ? 0 : 1;
}
