// SPDX-License-Identifier: BSD-3-Clause
//
// Whether ranks notice that they read different files of one name.
#include "apps/common/same_file.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "rma/job.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/rank_main.hpp"
#include "tests/support/temporary_folder.hpp"

namespace tessera::apps {
namespace {

using rma::Code;
using rma::Job;
using rma::test::fails;
using rma::test::ok;
using rma::test::on_ranks;
using tessera::test::TemporaryFolder;

/// Each rank has its own file, as on disks of nodes.
FileMark mark_of(const std::string& contents) {
  const TemporaryFolder folder;
  tessera::test::write_contents(folder.file("copy"), contents);
  return mark_of_file(folder.file("copy"));
}

TEST(SameFile, CopiesAre) {
  on_ranks([](Job& job) {
    for (const std::string& contents :
         {std::string(), std::string("a"), std::string(1 << 18, 'x')}) {
      EXPECT_TRUE(ok(check_same_file(job.world(), "m", mark_of(contents))));
    }
  });
}

TEST(SameFile, AnotherHeadTailOrSizeIsReportedWithItsRank) {
  on_ranks([](Job& job) {
    const std::string text(1 << 18, 'x');
    for (const std::string& other : {"y" + text.substr(1), text.substr(1) + "y", text + "x"}) {
      const bool is_last = job.rank().value == job.size() - 1;
      const auto status = check_same_file(job.world(), "m", mark_of(is_last ? other : text));
      if (job.size() == 1) {
        EXPECT_TRUE(ok(status));
        continue;
      }
      EXPECT_TRUE(fails(
          status, Code::invalid_argument,
          {fmt::format("m: the contents on rank {} differ from those on rank 0", job.size() - 1),
           "copy it to all nodes again"}));
    }
  });
}

// A rank that cannot read the file reports that itself.
TEST(SameFile, IfItCannotBeReadNothingIsCompared) {
  on_ranks([](Job& job) {
    const FileMark mine = job.rank().value == 0 ? mark_of_file("/nowhere/m") : mark_of("text");
    EXPECT_TRUE(ok(check_same_file(job.world(), "m", mine)));
    EXPECT_FALSE(mark_of_file("/dev/zero").is_readable);
  });
}

}  // namespace
}  // namespace tessera::apps
