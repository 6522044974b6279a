// SPDX-License-Identifier: BSD-3-Clause
//
// Lack of memory on one member, in output for analysis and in reading it (no_memory.hpp).
#include <cstdint>
#include <memory>
#include <string>

#include "arrays/checkpoint.hpp"
#include "arrays/output.hpp"
#include "tests/linalg/ranks/no_memory.hpp"
#include "tests/support/temporary_folder.hpp"

namespace tessera::linalg {
namespace {

using arrays::Array;
using arrays::Checkpoint;
using arrays::Output;
using arrays::OutputMode;
using rma::Job;
using rma::Status;
using tessera::test::SharedFolder;
using test::elements;
using test::expect_all_report;
using test::expect_elements;
using test::matrix;
using test::number_at;
using test::ok;
using test::on_ranks;
using test::Operation;

bool has_hdf5() {
  bool is_supported = false;
  on_ranks([&](Job& job) {
    const rma::Code code = Checkpoint::open(job, "/nothing.h5").status().code();
    if (job.rank().value == 0) {
      is_supported = code != rma::Code::unsupported;
    }
  });
  return is_supported;
}

// A file that is being written, and its array.
struct Writing {
  explicit Writing(Job& job)
      : folder(job),
        array(matrix(job, 200, 100, number_at)),
        output(Output::open(job, folder.file("run.h5"), OutputMode::replace).value()) {}
  SharedFolder folder;
  Array<double> array;
  Output output;
};

TEST(NoMemory, OutputOfSteps) {
  if (!has_hdf5()) {
    GTEST_SKIP() << "built without HDF5";
  }
  expect_all_report([](Job& job) -> Operation {
    const auto writing = std::make_shared<Writing>(job);
    const auto steps = std::make_shared<std::int64_t>(0);
    return {.prepare = [=] { *steps = writing->output.steps("T"); },
            .run = [=]() -> Status {
              TESSERA_RETURN_IF_ERROR(writing->output.append(
                  writing->array, "T", {.chunk = {50, 50}, .compression = 1}));
              return writing->output.flush();
            },
            .check =
                [=, &job] {
                  EXPECT_GT(writing->output.steps("T"), *steps);
                  auto file = Checkpoint::open(job, writing->folder.file("run.h5")).value();
                  EXPECT_EQ(file.info("T")->extents[0], writing->output.steps("T"));
                  EXPECT_TRUE(ok(file.verify("T")));
                }};
  });
}

TEST(NoMemory, ReadingOfChunks) {
  if (!has_hdf5()) {
    GTEST_SKIP() << "built without HDF5";
  }
  expect_all_report([](Job& job) -> Operation {
    const auto writing = std::make_shared<Writing>(job);
    EXPECT_TRUE(
        ok(writing->output.write(writing->array, "A", {.chunk = {50, 50}, .compression = 1})));
    EXPECT_TRUE(ok(writing->output.flush()));
    return {.prepare = [=] { test::set(writing->array, [](auto, auto) { return 0.0; }); },
            .run = [=, &job]() -> Status {
              TESSERA_ASSIGN_OR_RETURN(auto file,
                                       Checkpoint::open(job, writing->folder.file("run.h5")));
              return file.read_into("A", writing->array);
            },
            .check = [=] { expect_elements(writing->array, number_at); }};
  });
}

}  // namespace
}  // namespace tessera::linalg
