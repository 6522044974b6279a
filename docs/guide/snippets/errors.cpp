// SPDX-License-Identifier: BSD-3-Clause
// The code of docs/guide/09-errors.md.
#include <iostream>
#include <vector>

#include <tessera/arrays/array.hpp>
#include "docs/guide/snippets/expect.hpp"

using namespace tessera::arrays;
using guide::expect;
using tessera::rma::Code;
using tessera::rma::Error;
using tessera::rma::Job;
using tessera::rma::require;
using tessera::rma::Result;
using tessera::rma::Status;

namespace {

// [functions]
// A function that reports errors as Tessera does.
Result<double> corner_sum(const Array<double>& a) {
  std::vector<double> corner(4);
  TESSERA_RETURN_IF_ERROR(a.get(Box({0, 0}, {2, 2}), corner));
  TESSERA_ASSIGN_OR_RETURN(const double last, a.get_element({3, 3}));
  return corner[0] + corner[1] + corner[2] + corner[3] + last;
}
// [/functions]

void report(Job& job) {
  auto a = Array<double>::create(job, {9, 7}, {.name = "A"}).value();
  std::vector<double> values(16);
  // [status]
  const Status status = a.get(Box({2, 3}, {10, 5}), values);
  if (!status.ok()) {
    std::cerr << status.message() << '\n';
    if (status.code() == Code::out_of_range) {
      // … an error in the program: nothing was moved …
    }
  }
  // [/status]
  expect(status.code() == Code::out_of_range, "a row too many");
  expect(status.message() ==
             "get of [2,10) x [3,5) of array 'A' (float64, 9 x 7): box [2,10) x [3,5) lies outside "
             "the array 9 x 7: dimension 0 exceeds by 1\n"
             "  hint: bounds are half-open; the last index of dimension 0 is 8, so use 9 as its "
             "upper bound",
         "the message of the guide, not: " + status.message());
  // [throw]
  try {
    const double element = a.get_element({9, 0}).value();  // throws: there are rows 0 … 8
    std::cout << element << '\n';
  } catch (const Error& error) {
    std::cerr << error.what() << '\n';
  }
  // [/throw]
  expect(corner_sum(a).value() == 0, "a corner of zeros");
}

// [agree]
// One rank can't continue: all must know before the next collective.
Status read_input(Job& job, bool has_file) {
  const Status mine = has_file ? Status() : Status::error(Code::unreachable, "no input file");
  return job.world().agree(mine);
}
// [/agree]

}  // namespace

int main() {
  auto job = Job::start().value();
  report(job);
  expect(read_input(job, true).ok(), "all have the file");
  expect(read_input(job, job.rank().value != 1).code() == Code::unreachable, "rank 1 has none");
}
