// SPDX-License-Identifier: BSD-3-Clause
//
// Repeats one kind of small operation, for bench/instructions/count, which counts the instructions
// of each: 8 bytes of a region; a box of 4 x 4 of an array on one rank; the same rows of its
// region; acquiring and releasing a free lock; a fence with nothing to complete; a barrier.
//
//     instruction_probe put|get|fetch_add|array_{put,get,accumulate}|strided_{put,get,accumulate}|
//     lock|fence|barrier COUNT
#include <array>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string_view>

#include "arrays/array.hpp"
#include "rma/atomic.hpp"
#include "rma/job.hpp"
#include "rma/lock.hpp"
#include "rma/transfer.hpp"

namespace {

using tessera::rma::require;

using tessera::rma::Job;

// Calls `operation` the given number of times.
template <class Operation>
void repeat(std::int64_t count, Operation&& operation) {
  for (std::int64_t i = 0; i < count; ++i) {
    require(operation());
  }
}

bool run_on_word(Job& job, std::string_view operation, std::int64_t count) {
  auto region = tessera::rma::Region::allocate(job.world(), sizeof(double)).value();
  const tessera::rma::RemoteAddress word = region.at(tessera::rma::TeamRank{0});
  double value = 1;
  if (operation == "put") {
    repeat(count, [&] { return tessera::rma::put(job, word, &value, sizeof value); });
  } else if (operation == "get") {
    repeat(count, [&] { return tessera::rma::get(job, word, &value, sizeof value); });
  } else if (operation == "fetch_add") {
    repeat(count, [&] { return tessera::rma::fetch_add(job, word, std::int64_t{1}).status(); });
  } else {
    return false;
  }
  return true;
}

bool run_on_job(Job& job, std::string_view operation, std::int64_t count) {
  auto locks = tessera::rma::LockSet::create(job.world(), 1).value();
  const tessera::rma::TeamRank owner{0};
  if (operation == "lock") {
    repeat(count, [&] {
      require(locks.lock(owner, 0));
      return locks.unlock(owner, 0);
    });
  } else if (operation == "fence") {
    require(job.transport_to(job.rank()).status());  // its route needs no fence
    repeat(count, [&] { return job.fence_all(); });
  } else if (operation == "barrier") {
    repeat(count, [&] { return job.world().barrier(); });
  } else {
    return false;
  }
  return true;
}

constexpr std::int64_t edge = 100;
constexpr std::int64_t first = 10;
constexpr std::int64_t side = 4;

bool run_on_array(Job& job, std::string_view operation, std::int64_t count) {
  const auto array =
      tessera::arrays::Array<double>::create(job, {edge, edge}, {.name = "A"}).value();
  const tessera::arrays::Box box({first, first}, {first + side, first + side});
  std::array<double, side* side> values = {};
  if (operation == "array_put") {
    repeat(count, [&] { return array.put(box, values); });
  } else if (operation == "array_get") {
    repeat(count, [&] { return array.get(box, values); });
  } else if (operation == "array_accumulate") {
    repeat(count, [&] { return array.accumulate(box, values, 2.0); });
  } else {
    return false;
  }
  return true;
}

bool run_on_rows(Job& job, std::string_view operation, std::int64_t count) {
  constexpr std::int64_t element = sizeof(double);
  auto region = tessera::rma::Region::allocate(job.world(), edge * edge * element).value();
  const auto corner = region.at(tessera::rma::TeamRank{0}, (first * edge + first) * element);
  const auto shape =
      tessera::rma::CopyShape::rows(side * element, side, side * element, edge * element);
  const auto scale = tessera::rma::Scale::of(2.0);
  std::array<double, side* side> values = {};
  if (operation == "strided_put") {
    repeat(count, [&] { return tessera::rma::put(job, corner, values.data(), shape); });
  } else if (operation == "strided_get") {
    repeat(count, [&] { return tessera::rma::get(job, corner, values.data(), shape); });
  } else if (operation == "strided_accumulate") {
    repeat(count,
           [&] { return tessera::rma::accumulate(job, corner, values.data(), shape, scale); });
  } else {
    return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  constexpr int bad_usage = 2;
  const std::string_view operation = argc == 3 ? argv[1] : "";
  const std::int64_t count = argc == 3 ? std::strtoll(argv[2], nullptr, 10) : 0;
  auto job = Job::start().value();
  if (run_on_word(job, operation, count) || run_on_array(job, operation, count) ||
      run_on_rows(job, operation, count) || run_on_job(job, operation, count)) {
    return EXIT_SUCCESS;
  }
  std::cerr << "usage: instruction_probe put|get|fetch_add|array_{put,get,accumulate}|"
               "strided_{put,get,accumulate}|lock|fence|barrier COUNT\n";
  return bad_usage;
}
