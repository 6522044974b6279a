// SPDX-License-Identifier: BSD-3-Clause
//
// Jobs of one rank, repeated jobs and several at once; settings out of range; versions of packages.
// Each test names the defect of another library that it guards against.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "arrays/counter.hpp"
#include "arrays/elementwise.hpp"
#include "arrays/halo.hpp"
#include "arrays/reductions.hpp"
#include "rma/base/version.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/rank_main.hpp"

namespace tessera::arrays {
namespace {

using rma::Code;
using rma::Job;
using rma::Settings;
using rma::test::fails;
using rma::test::ok;
using rma::test::on_ranks;

// Uses an array, ghost cells and a counter, as a program would.
void work(Job& job) {
  auto array = Array<double>::create(job, {12, 9}, {.name = "A", .ghosts = {1, 1}}).value();
  EXPECT_TRUE(ok(fill(array, 2.0)));
  EXPECT_EQ(sum(array).value(), 216.0);
  EXPECT_TRUE(ok(Halo::create(array, {.periodic = PeriodicDims().set()}).value().update()));
  auto counter = Counter::create(job, job.world()).value();
  EXPECT_LT(counter.next().value(), job.size());
  EXPECT_TRUE(ok(job.barrier()));
  EXPECT_EQ(counter.next(0).value(), job.size());
  EXPECT_TRUE(ok(job.barrier()));
}

// Global Arrays issue #183: a job needed at least two ranks, one of which only made progress.
TEST(Jobs, OneRankIsEnough) {
  auto job = Job::start({.bootstrap = rma::alone_bootstrap()});
  ASSERT_TRUE(ok(job));
  EXPECT_EQ(job->size(), 1);
  work(*job);
  EXPECT_TRUE(ok(job->stop()));
}

// Global Arrays issue #183: one rank of each node was not available to the program.
TEST(Jobs, AllRanksBelongToTheProgram) {
  on_ranks([](Job& job) {
    EXPECT_EQ(job.size(), rma::test::rank_count());
    auto array = Array<double>::create(job, {job.size()}, {.name = "A"}).value();
    EXPECT_EQ(array.own_box().volume(), 1) << "each rank has its part";
    EXPECT_TRUE(ok(array.sync()));
  });
}

// Global Arrays issue #383: initialising again after the library was terminated failed.
TEST(Jobs, StartAgainAfterTheirEnd) {
  for (int round = 0; round < 3; ++round) {
    on_ranks(rma::test::RunOptions{}, work);
  }
}

// Global Arrays issue #151: a process could have one instance only, on all of MPI_COMM_WORLD.
TEST(Jobs, SeveralRunAtOnce) {
  on_ranks([](Job& job) {
    auto own = Job::start({.bootstrap = rma::alone_bootstrap()}).value();
    auto own_array = Array<double>::create(own, {100}, {.name = "own"}).value();
    auto common_array = Array<double>::create(job, {100}, {.name = "common"}).value();
    EXPECT_TRUE(ok(fill(own_array, 1.0 + job.rank().value)));
    EXPECT_TRUE(ok(fill(common_array, 7.0)));
    EXPECT_EQ(sum(own_array).value(), 100.0 * (1 + job.rank().value));
    EXPECT_EQ(sum(common_array).value(), 700.0);
    EXPECT_TRUE(ok(own_array.free()));
    EXPECT_TRUE(ok(own.stop()));
    work(job);
  });
}

// Global Arrays accepted 16 progress ranks on a node, and then read an uninitialised variable.
TEST(Jobs, SettingsOutOfRangeAreRefused) {
  const std::vector<std::string> threads{"TESSERA_SERVER_THREADS=16"};
  EXPECT_TRUE(fails(Settings::from(threads), Code::invalid_argument,
                    {"TESSERA_SERVER_THREADS=16 is not usable: expected 1 to 8 (threads)"}));
}

std::string text_of(const std::string& name) {
  std::ostringstream text;
  text << std::ifstream(std::string(TESSERA_BUILD_FOLDER) + "/" + name).rdbuf();
  return text.str();
}

// Global Arrays 5.9.2's CMake package had the version 5.8.0.
TEST(Jobs, PackagesHaveTheVersionOfTheLibrary) {
  const std::string version(rma::version());
  EXPECT_NE(text_of("tessera-config-version.cmake").find("PACKAGE_VERSION \"" + version + '"'),
            std::string::npos);
  for (const char* const part : {"rma", "arrays", "linalg", "c", "armci"}) {
    const std::string name = "pkgconfig/tessera_" + std::string(part) + ".pc";
    EXPECT_NE(text_of(name).find("Version: " + version + '\n'), std::string::npos) << name;
  }
}

}  // namespace
}  // namespace tessera::arrays
