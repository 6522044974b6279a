// SPDX-License-Identifier: BSD-3-Clause
//
// Does one kind of small operation many times, for bench/rma/count_instructions, which counts the
// instructions of each.
//
//     put_probe put|get|fetch_add COUNT
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string_view>

#include "rma/atomic.hpp"
#include "rma/job.hpp"
#include "rma/transfer.hpp"

namespace {

using tessera::rma::require;

int run(std::string_view operation, std::int64_t count) {
  auto job = tessera::rma::Job::start().value();
  auto region = tessera::rma::Region::allocate(job.world(), sizeof(double)).value();
  const tessera::rma::RemoteAddress word = region.at(tessera::rma::TeamRank{0});
  double value = 1;
  for (std::int64_t i = 0; i < count; ++i) {
    if (operation == "put") {
      require(tessera::rma::put(job, word, &value, sizeof value));
    } else if (operation == "get") {
      require(tessera::rma::get(job, word, &value, sizeof value));
    } else {
      (void)tessera::rma::fetch_add(job, word, std::int64_t{1}).value();
    }
  }
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  constexpr int bad_usage = 2;
  if (argc != 3) {
    std::cerr << "usage: put_probe put|get|fetch_add COUNT\n";
    return bad_usage;
  }
  return run(argv[1], std::strtoll(argv[2], nullptr, 10));
}
