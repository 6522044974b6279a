// SPDX-License-Identifier: BSD-3-Clause
//
// A program that ends without stopping its job, in the way that its argument names.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "arrays/array.hpp"
#include "rma/job.hpp"

int main(int count, char** arguments) {
  using tessera::arrays::Array;
  const std::string_view way = count > 1 ? arguments[1] : "";
  auto* const job = new tessera::rma::Job(tessera::rma::Job::start({}).value());  // never deleted
  auto rho = Array<double>::create(*job, {8, 8}, {.name = "rho"}).value();
  if (!rho.sync().ok() || !rho.free().ok()) {
    return EXIT_FAILURE;
  }
  const bool is_last = job->rank().value == job->size() - 1;
  if (way == "fork" && is_last) {
    // A child process that exits is not a rank: it writes nothing, and its exit delays no rank.
    const pid_t child = fork();
    if (child == 0) {
      std::exit(EXIT_SUCCESS);
    }
  }
  if (way == "stop" && !job->stop().ok()) {
    return EXIT_FAILURE;
  }
  if (way == "fail" && is_last) {
    std::exit(3);
  }
  if (way == "abort") {
    std::_Exit(EXIT_SUCCESS);
  }
  std::exit(EXIT_SUCCESS);
}
