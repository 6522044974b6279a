// SPDX-License-Identifier: BSD-3-Clause
//
// Invalid checkpoints: paths, names, types, damage, lack of space. Each error names its cause, on
// all ranks, and the old file stays.
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arrays/checkpoint/checksum.hpp"
#include "tests/arrays/distribution_kinds.hpp"
#include "tests/arrays/files/checkpoint_support.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/file_size_limit.hpp"
#include "tests/support/rank_main.hpp"
#include "tests/support/shared_seed.hpp"

namespace tessera::arrays {
namespace {

using arrays::kinds::pick;
using rma::Code;
using rma::Job;
using rma::Status;
using rma::Team;
using rma::WorldRank;
using rma::test::fails;
using rma::test::is_last;
using rma::test::ok;
using rma::test::on_ranks;
using rma::test::SharedSeed;
using test::contents_of;
using test::expect_filled;
using test::fill_with_fingerprints;
using test::has_hdf5;
using test::SharedFolder;
using test::small_pieces;
using test::write_checkpoint;
using test::write_contents;

class CheckpointErrors : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has_hdf5()) {
      GTEST_SKIP() << "built without HDF5";
    }
  }
};

bool is_first(const Job& job) {
  return job.rank().value == 0;
}

// Rank 0 changes files while the others wait.
template <class Action>
void on_first_rank(Job& job, Action&& action) {
  if (is_first(job)) {
    action();
  }
  EXPECT_TRUE(ok(job.barrier()));
}

TEST(CheckpointWithoutHdf5, NamesThePackage) {
  if (has_hdf5()) {
    GTEST_SKIP() << "built with HDF5";
  }
  on_ranks([](Job& job) {
    EXPECT_TRUE(fails(CheckpointWriter::create(job, "any.h5"), Code::unsupported,
                      {"creating checkpoint 'any.h5'", "without HDF5", "libhdf5-dev"}));
    EXPECT_TRUE(fails(Checkpoint::open(job, "any.h5"), Code::unsupported, {"libhdf5-dev"}));
  });
}

TEST_F(CheckpointErrors, PathsThatCannotBeAreRefusedByName) {
  on_ranks([](Job& job) {
    const SharedFolder folder(job);
    on_first_rank(job, [&] { write_contents(folder.file("plain"), "some text"); });
    const auto create = [&](const std::string& path) {
      return CheckpointWriter::create(job, path).status();
    };
    EXPECT_TRUE(fails(create(folder.path()), Code::invalid_argument,
                      {"creating checkpoint", folder.path(), "it is a directory", "hint:"}));
    EXPECT_TRUE(fails(create(folder.file("no/run.h5")), Code::invalid_argument,
                      {"write into directory", "No such file or directory", "hint:"}));
    EXPECT_TRUE(fails(create(folder.file("plain/run.h5")), Code::invalid_argument,
                      {"creating checkpoint"}));
    EXPECT_TRUE(fails(create("/dev/null"), Code::invalid_argument, {"a device or a pipe"}));
    EXPECT_TRUE(fails(create(""), Code::invalid_argument, {"the path is empty"}));
    const auto open = [&](const std::string& path) { return Checkpoint::open(job, path).status(); };
    EXPECT_TRUE(fails(open(folder.path()), Code::invalid_argument, {"it is a directory"}));
    EXPECT_TRUE(fails(open(folder.file("none.h5")), Code::invalid_argument,
                      {"opening checkpoint", "none.h5: No such file or directory"}));
    EXPECT_TRUE(fails(open("/dev/zero"), Code::invalid_argument, {"a device or a pipe"}));
    EXPECT_TRUE(fails(open(folder.file("plain")), Code::protocol,
                      {"plain can't be read as HDF5", "hint:"}));
    on_first_rank(job, [&] { EXPECT_EQ(folder.own().names(), std::vector<std::string>{"plain"}); });
  });
}

TEST_F(CheckpointErrors, ADirectoryWithoutRightsIsRefused) {
  if (::geteuid() == 0) {
    GTEST_SKIP() << "root may write anywhere";
  }
  on_ranks([](Job& job) {
    const SharedFolder folder(job);
    on_first_rank(job, [&] { EXPECT_EQ(::chmod(folder.path().c_str(), 0500), 0); });
    EXPECT_TRUE(fails(CheckpointWriter::create(job, folder.file("run.h5")), Code::invalid_argument,
                      {"Permission denied", "hint:"}));
    on_first_rank(job, [&] { EXPECT_EQ(::chmod(folder.path().c_str(), 0700), 0); });
  });
}

TEST_F(CheckpointErrors, NamesAndTypesThatDoNotFitAreRefused) {
  on_ranks([](Job& job) {
    const SharedFolder folder(job);
    const std::string path = folder.file("run.h5");
    auto array = Array<double>::create(job, {10, 10}, {.name = "A"}).value();
    auto writer = CheckpointWriter::create(job, path).value();
    EXPECT_TRUE(ok(writer.add(array)));
    EXPECT_TRUE(
        fails(writer.add(array), Code::invalid_argument,
              {"adding array 'A' to checkpoint", "the name 'A' is already in use", "hint:"}));
    EXPECT_TRUE(
        fails(writer.add(array, "a/b"), Code::invalid_argument, {"'a/b' is not a valid name"}));
    EXPECT_TRUE(fails(writer.add(array, ""), Code::invalid_argument, {"'' is not a valid name"}));
    EXPECT_TRUE(ok(writer.add_attribute("n", std::int64_t{1})));
    EXPECT_TRUE(
        fails(writer.add_attribute("n", 2.0), Code::invalid_argument, {"'n' is already in use"}));
    EXPECT_TRUE(fails(writer.add_attribute("tessera_x", 2.0), Code::invalid_argument,
                      {"'tessera_x' is reserved", "hint:"}));
    auto sums = Array<double>::create(job, {10, 10}, {.name = "sums"}).value();
    EXPECT_TRUE(ok(sums.set_access_mode(rma::AccessMode::accumulate_only)));
    EXPECT_TRUE(fails(writer.add(sums), Code::invalid_argument,
                      {"adding array 'sums'", "the array is accumulate_only now"}));
    EXPECT_TRUE(ok(writer.commit()));  // the refused calls have changed nothing

    auto file = Checkpoint::open(job, path).value();
    EXPECT_TRUE(fails(file.read<double>("B"), Code::invalid_argument,
                      {"there is no array 'B' in checkpoint", "it has 'A'"}));
    EXPECT_TRUE(fails(file.read<std::int64_t>("A"), Code::invalid_argument,
                      {"reading array 'A'", "it holds float64, not int64"}));
    struct Eight {
      char bytes[8];
    };
    EXPECT_TRUE(fails(file.read<Eight>("A"), Code::invalid_argument,
                      {"it holds float64, not elements of 8 bytes without a type"}));
    EXPECT_TRUE(fails(file.attribute<double>("n"), Code::invalid_argument,
                      {"attribute 'n'", "is a whole number, not a floating-point number"}));
    EXPECT_TRUE(fails(file.attribute<double>("m"), Code::invalid_argument,
                      {"no attribute 'm'", "it has 'n'"}));
    EXPECT_TRUE(fails(file.info("B"), Code::invalid_argument, {"no array 'B'"}));
    EXPECT_TRUE(
        fails(file.attribute_names("B"), Code::invalid_argument, {"no array or group 'B'"}));
    EXPECT_TRUE(fails(CheckpointWriter::create(job, path, {.piece_bytes = 0}),
                      Code::invalid_argument, {"piece_bytes is 0"}));
  });
}

TEST_F(CheckpointErrors, CallsThatDifferAmongRanksFailOnAll) {
  on_ranks([](Job& job) {
    if (job.size() == 1) {
      return;
    }
    const SharedFolder folder(job);
    const std::string path = folder.file("run.h5");
    const std::string other = folder.file("other.h5");
    EXPECT_TRUE(fails(CheckpointWriter::create(job, is_last(job) ? other : path),
                      Code::invalid_argument, {"gave another path"}));
    auto array = Array<double>::create(job, {10}, {.name = "A"}).value();
    auto writer = CheckpointWriter::create(job, path).value();
    EXPECT_TRUE(fails(writer.add(array, is_last(job) ? "A" : "B"), Code::invalid_argument,
                      {"gave another array"}));
    EXPECT_TRUE(fails(writer.add_attribute("n", std::int64_t{job.rank().value}),
                      Code::invalid_argument, {"gave another attribute"}));
    EXPECT_TRUE(ok(writer.add(array)));
    EXPECT_TRUE(ok(writer.commit()));
    auto file = Checkpoint::open(job, path).value();
    EXPECT_TRUE(fails(file.read<double>(is_last(job) ? "B" : "A"), Code::invalid_argument,
                      {"no array 'B'"}));
    EXPECT_TRUE(ok(file.read<double>("A")));
  });
}

TEST_F(CheckpointErrors, AnArrayOfAnotherTeamIsRefused) {
  on_ranks([](Job& job) {
    if (job.size() < 2) {
      return;
    }
    const SharedFolder folder(job);
    // The same ranks in another order are another team: a rank's elements are at other locations.
    std::vector<WorldRank> reversed(job.world().members().rbegin(), job.world().members().rend());
    Team team = Team::create(job, reversed).value();
    auto array = Array<double>::create(job, {10}, {.name = "A", .team = team}).value();
    auto writer = CheckpointWriter::create(job, folder.file("run.h5")).value();
    EXPECT_TRUE(fails(writer.add(array), Code::invalid_argument,
                      {"array 'A'", "another team of ranks", "hint:"}));
  });
}

// The status of opening and reading everything.
Status read_all(Job& job, const std::string& path) {
  TESSERA_ASSIGN_OR_RETURN(auto file, Checkpoint::open(job, path));
  TESSERA_ASSIGN_OR_RETURN(auto array, file.read<double>("A"));
  expect_filled(array);
  return file.attribute<std::int64_t>("step").status();
}

std::string write_small(Job& job, const std::string& path) {
  auto array = Array<double>::create(job, {9, 14}, {.name = "A"}).value();
  fill_with_fingerprints(array);
  auto writer = CheckpointWriter::create(job, path, small_pieces).value();
  EXPECT_TRUE(ok(writer.add(array)));
  EXPECT_TRUE(ok(writer.add_attribute("step", std::int64_t{5})));
  EXPECT_TRUE(ok(writer.commit()));
  EXPECT_TRUE(ok(read_all(job, path)));
  return contents_of(path);
}

// Every 16th offset up to `end` on one rank, from a random start, so that all are tested over time.
// With several ranks fewer offsets are tested, since each takes longer.
constexpr std::size_t place_step = 16;

std::vector<std::size_t> places(const Job& job, const SharedSeed& seed, std::size_t end) {
  std::vector<std::size_t> places;
  auto random = seed.generator(-1);
  if (job.size() == 1) {
    const auto first = static_cast<std::size_t>(pick(random, 0, place_step - 1));
    for (std::size_t place = first; place < end; place += place_step) {
      places.push_back(place);
    }
    return places;
  }
  for (int i = 0; i < 25; ++i) {
    places.push_back(static_cast<std::size_t>(pick(random, 0, static_cast<std::int64_t>(end) - 1)));
  }
  return places;
}

// The trailer begins 40 bytes, and 16 a fragment, before the end; their number is in the footer.
std::size_t trailer_begin(const std::string& file) {
  const auto fragments = static_cast<unsigned char>(file[file.size() - 24]);
  return file.size() - 40 - 16 * std::size_t{fragments};
}

TEST_F(CheckpointErrors, AByteThatChangedIsFoundOrHarmless) {
  on_ranks([](Job& job) {
    const SharedFolder folder(job);
    const SharedSeed seed(job);
    const std::string path = folder.file("run.h5");
    const std::string good = write_small(job, path);
    std::size_t found = 0;
    const auto tried = places(job, seed, good.size());
    for (const std::size_t place : tried) {
      on_first_rank(job, [&] {
        std::string damaged = good;
        damaged[place] = static_cast<char>(damaged[place] ^ (1 << place % 8));
        write_contents(path, damaged);
      });
      const Status status = read_all(job, path);  // if it succeeds, the elements are right
      if (!status.ok()) {
        EXPECT_TRUE(fails(status, Code::protocol, {"run.h5", "damaged"})) << "byte " << place;
        ++found;
      }
      EXPECT_TRUE(ok(job.barrier()));
    }
    // Only changes between the parts of the file may be undetected.
    if (job.size() == 1) {
      EXPECT_GT(found, (sizeof(double) * 9 * 14 + 1000) / place_step);
    }
  });
}

TEST_F(CheckpointErrors, AFileThatIsCutOffIsRefusedAtEveryLength) {
  on_ranks([](Job& job) {
    const SharedFolder folder(job);
    const SharedSeed seed(job);
    const std::string path = folder.file("run.h5");
    const std::string good = write_small(job, path);
    const std::size_t hdf5_end = trailer_begin(good);
    for (const std::size_t length : places(job, seed, good.size())) {
      on_first_rank(job, [&] { write_contents(path, good.substr(0, length)); });
      const Status status = read_all(job, path);
      if (length == hdf5_end) {
        EXPECT_TRUE(ok(status)) << "without the trailer, all of it is there";
      } else {
        EXPECT_TRUE(fails(status, Code::protocol, {"run.h5", "hint:"})) << "length " << length;
      }
      EXPECT_TRUE(ok(job.barrier()));
    }
  });
}

TEST_F(CheckpointErrors, ADamagedPieceIsNamed) {
  on_ranks([](Job& job) {
    const SharedFolder folder(job);
    const std::string path = folder.file("run.h5");
    std::string bytes = write_small(job, path);
    // Pieces have 25 elements. Element 60 = (4, 4) is in the third one, of elements 50 to 74.
    const double value = test::fingerprint({4, 4});
    const std::string_view raw(reinterpret_cast<const char*>(&value), sizeof value);
    const std::size_t place = bytes.find(raw);
    ASSERT_NE(place, std::string::npos);
    bytes[place] = static_cast<char>(bytes[place] ^ 1);
    on_first_rank(job, [&] { write_contents(path, bytes); });
    auto file = Checkpoint::open(job, path).value();
    const std::initializer_list<std::string_view> words = {
        "array 'A' of checkpoint",   "run.h5",           "piece 3 of 6",
        "elements (3, 8) to (5, 4)", "checksum differs", "hint:"};
    EXPECT_TRUE(fails(file.read<double>("A"), Code::protocol, words));
    EXPECT_TRUE(fails(file.verify("A"), Code::protocol, words));
  });
}

TEST_F(CheckpointErrors, AFileOfALaterFormatIsNotTriedToRead) {
  on_ranks([](Job& job) {
    const SharedFolder folder(job);
    const std::string path = folder.file("run.h5");
    std::string bytes = write_small(job, path);
    bytes[bytes.size() - 32] = 2;
    const std::string_view trailer = std::string_view(bytes).substr(trailer_begin(bytes));
    const std::uint64_t proof = detail::checksum(
        std::as_bytes(std::span(trailer.substr(0, trailer.size() - sizeof proof))));
    bytes.replace(bytes.size() - sizeof proof, sizeof proof,
                  std::string(reinterpret_cast<const char*>(&proof), sizeof proof));
    on_first_rank(job, [&] { write_contents(path, bytes); });
    EXPECT_TRUE(
        fails(read_all(job, path), Code::unsupported,
              {"run.h5 is a checkpoint of format 2, but this version of Tessera reads format 1",
               "hint:"}));
  });
}

TEST_F(CheckpointErrors, AWriteThatFailsMidwayLeavesTheOldFile) {
  on_ranks([](Job& job) {
    if (rma::test::ranks_are_threads() && job.size() > 1) {
      return;  // the limit would apply to all ranks and to the test; one rank suffices
    }
    const SharedFolder folder(job);
    const std::string path = folder.file("run.h5");
    const std::string good = write_small(job, path);
    auto large = Array<double>::create(job, {100, 1000}, {.name = "large"}).value();
    Status status;
    {
      auto writer = CheckpointWriter::create(job, path, {.piece_bytes = 10'000}).value();
      {
        const tessera::test::FileSizeLimit limit(400'000);
        status = writer.add(large);
      }
      EXPECT_TRUE(fails(status, Code::limit_exceeded,
                        {"adding array 'large' to checkpoint", "on rank", "writing piece",
                         "File too large", "hint:"}));
      EXPECT_TRUE(fails(writer.commit(), Code::limit_exceeded,
                        {"committing checkpoint", "an earlier step failed", "writing piece"}));
    }
    on_first_rank(job, [&] {
      EXPECT_EQ(folder.own().names(), std::vector<std::string>{"run.h5"});
      EXPECT_EQ(contents_of(path), good);
    });
    // Now there is no space for the description.
    auto small = Array<double>::create(job, {4}, {.name = "small"}).value();
    {
      auto writer = CheckpointWriter::create(job, path).value();
      EXPECT_TRUE(ok(writer.add(small)));
      {
        const tessera::test::FileSizeLimit limit(100);
        status = writer.commit();
      }
      EXPECT_TRUE(fails(status, Code::limit_exceeded, {"committing checkpoint", "File too large"}));
    }
    on_first_rank(job, [&] {
      EXPECT_EQ(folder.own().names(), std::vector<std::string>{"run.h5"});
      EXPECT_EQ(contents_of(path), good);
    });
    EXPECT_TRUE(ok(read_all(job, path)));
  });
}

// A file system of `bytes` bytes in a folder, as long as this object exists.
class SmallFileSystem {
 public:
  SmallFileSystem(std::string folder, const std::string& bytes) : folder_(std::move(folder)) {
    is_mounted_ = ::mount("none", folder_.c_str(), "tmpfs", 0, ("size=" + bytes).c_str()) == 0;
  }
  SmallFileSystem(const SmallFileSystem&) = delete;
  SmallFileSystem& operator=(const SmallFileSystem&) = delete;
  ~SmallFileSystem() {
    if (is_mounted_) {
      ::umount2(folder_.c_str(), MNT_DETACH);
    }
  }
  [[nodiscard]] bool is_mounted() const { return is_mounted_; }

 private:
  std::string folder_;
  bool is_mounted_ = false;
};

TEST_F(CheckpointErrors, SpaceThatRunsOutLeavesTheOldFile) {
  const tessera::test::TemporaryFolder place;
  if (!SmallFileSystem(place.path(), "64k").is_mounted()) {
    GTEST_SKIP() << "only who may mount file systems can have a small one";
  }
  on_ranks([](Job& job) {
    const SharedFolder folder(job);
    std::unique_ptr<SmallFileSystem> small;
    on_first_rank(job, [&] { small = std::make_unique<SmallFileSystem>(folder.path(), "200k"); });
    const std::string path = folder.file("run.h5");
    const std::string good = write_small(job, path);
    auto large = Array<double>::create(job, {100, 1000}, {.name = "large"}).value();
    EXPECT_TRUE(fails(write_checkpoint(job.world(), path, {.piece_bytes = 10'000}, large),
                      Code::limit_exceeded,
                      {"adding array 'large'", "writing piece", "No space left on device",
                       "hint: free some space"}));
    on_first_rank(job, [&] {
      EXPECT_EQ(folder.own().names(), std::vector<std::string>{"run.h5"});
      EXPECT_EQ(contents_of(path), good);
    });
    EXPECT_TRUE(ok(job.barrier()));
  });
}

TEST_F(CheckpointErrors, LeftOverFilesOfDeadWritersGo) {
  on_ranks([](Job& job) {
    const SharedFolder folder(job);
    const std::string path = folder.file("run.h5");
    const std::vector<std::string> others = {"other.h5.tmp-0123456789abcdef", "run.h5.tmp-mine",
                                             "run.h5.tmp-0123456789abcdefg"};
    on_first_rank(job, [&] {
      write_contents(folder.file("run.h5.tmp-0123456789abcdef"), "left over");
      for (const std::string& name : others) {
        write_contents(folder.file(name), "not ours");
      }
    });
    auto first = CheckpointWriter::create(job, path).value();
    auto second = CheckpointWriter::create(job, path).value();  // leaves the first one's file
    auto array = Array<double>::create(job, {10}, {.name = "A"}).value();
    for (CheckpointWriter* writer : {&first, &second}) {
      EXPECT_TRUE(ok(writer->add(array)));
      EXPECT_TRUE(ok(writer->commit()));
    }
    on_first_rank(job, [&] {
      std::vector<std::string> expected = others;
      expected.emplace_back("run.h5");
      std::sort(expected.begin(), expected.end());
      EXPECT_EQ(folder.own().names(), expected);
    });
  });
}

TEST_F(CheckpointErrors, RightsAndLinksStayAsTheyAre) {
  on_ranks([](Job& job) {
    const SharedFolder folder(job);
    const std::string path = folder.file("run.h5");
    const std::string link = folder.file("latest.h5");
    write_small(job, path);
    on_first_rank(job, [&] {
      EXPECT_EQ(::chmod(path.c_str(), 0600), 0);
      EXPECT_EQ(::symlink("run.h5", link.c_str()), 0);
    });
    write_small(job, link);
    on_first_rank(job, [&] {
      struct stat facts = {};
      EXPECT_EQ(::stat(path.c_str(), &facts), 0);
      EXPECT_EQ(facts.st_mode & 0777U, 0600U);
      EXPECT_EQ(::lstat(link.c_str(), &facts), 0);
      EXPECT_TRUE(S_ISLNK(facts.st_mode));
    });
  });
}

// Members open the new file by name, with any access rights of the file that it replaces.
TEST_F(CheckpointErrors, AReadOnlyFileIsReplacedByAReadOnlyOne) {
  on_ranks([](Job& job) {
    const SharedFolder folder(job);
    const std::string path = folder.file("run.h5");
    const auto rights_of = [&](const std::string& name) {
      struct stat facts = {};
      EXPECT_EQ(::stat(folder.file(name).c_str(), &facts), 0);
      return facts.st_mode & 0777U;
    };
    write_small(job, path);
    on_first_rank(job, [&] { EXPECT_EQ(::chmod(path.c_str(), 0444), 0); });
    auto array = Array<double>::create(job, {10}, {.name = "A"}).value();
    auto writer = CheckpointWriter::create(job, path).value();
    on_first_rank(job, [&] {
      const std::vector<std::string> names = folder.own().names();
      ASSERT_EQ(names.size(), 2U);
      const auto is_new = [](const std::string& name) { return name != "run.h5"; };
      EXPECT_EQ(rights_of(*std::find_if(names.begin(), names.end(), is_new)), 0644U);
    });
    EXPECT_TRUE(ok(writer.add(array)));
    EXPECT_TRUE(ok(writer.commit()));
    on_first_rank(job, [&] { EXPECT_EQ(rights_of("run.h5"), 0444U); });
  });
}

TEST_F(CheckpointErrors, WhatWasMovedFromIsClosed) {
  on_ranks([](Job& job) {
    const SharedFolder folder(job);
    const std::string path = folder.file("run.h5");
    auto array = Array<double>::create(job, {10}, {.name = "A"}).value();
    auto writer = CheckpointWriter::create(job, path).value();
    auto other = std::move(writer);
    EXPECT_TRUE(fails(writer.add(array), Code::closed, {"moved from"}));  // NOLINT: what it is for
    EXPECT_TRUE(fails(writer.commit(), Code::closed, {"moved from"}));
    EXPECT_TRUE(ok(other.add(array)));
    EXPECT_TRUE(ok(other.commit()));
    auto file = Checkpoint::open(job, path).value();
    auto kept = std::move(file);
    EXPECT_TRUE(fails(file.read<double>("A"), Code::closed, {"moved from"}));  // NOLINT: the same
    EXPECT_TRUE(file.names().empty());
    EXPECT_TRUE(ok(kept.read<double>("A")));
  });
}

}  // namespace
}  // namespace tessera::arrays
