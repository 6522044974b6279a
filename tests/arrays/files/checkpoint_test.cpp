// SPDX-License-Identifier: BSD-3-Clause
//
// Checkpoints: elements are read as they were written, for any distribution, element type and
// number of reading ranks.
#include "arrays/checkpoint.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "tests/arrays/distribution_kinds.hpp"
#include "tests/arrays/files/checkpoint_support.hpp"
#include "tests/arrays/ranks/model_array.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/effort.hpp"
#include "tests/support/rank_main.hpp"
#include "tests/support/shared_seed.hpp"

namespace tessera::arrays {
namespace {

using rma::Code;
using rma::Job;
using rma::Team;
using rma::TeamRank;
using rma::WorldRank;
using rma::test::fails;
using rma::test::ok;
using rma::test::on_ranks;
using rma::test::SharedSeed;
using test::expect_filled;
using test::fill_with_fingerprints;
using test::has_hdf5;
using test::SharedFolder;
using test::small_pieces;
using test::write_checkpoint;

TEST(Checkpoint, GivesBackArraysOfEveryKindOfDistribution) {
  if (!has_hdf5()) {
    GTEST_SKIP() << "built without HDF5";
  }
  on_ranks([](Job& job) {
    const SharedFolder folder(job);
    const SharedSeed seed(job);
    auto random = seed.generator(-1);
    for (int round = 0; round < tessera::test::rounds(12); ++round) {
      const int ndims = round % max_dims + 1;
      const Extents extents = kinds::pick_extents(random, ndims, ndims > 4 ? 3 : 9);
      const Distribution written = kinds::pick_distribution_over(random, extents, job.size());
      auto array = Array<double>::create(job, written, {.name = "A"}).value();
      fill_with_fingerprints(array);
      const std::string path = folder.file("run.h5");
      ASSERT_TRUE(ok(write_checkpoint(job.world(), path, small_pieces, array)));

      auto file = Checkpoint::open(job, path);
      ASSERT_TRUE(ok(file)) << to_string(written);
      EXPECT_TRUE(ok(file->verify("A")));
      auto same = file->read<double>("A");
      ASSERT_TRUE(ok(same)) << to_string(written);
      EXPECT_TRUE(same->distribution() == written) << to_string(same->distribution());
      expect_filled(*same);
      auto other =
          file->read<double>("A", kinds::pick_distribution_over(random, extents, job.size()));
      ASSERT_TRUE(ok(other));
      expect_filled(*other);
    }
  });
}

template <class T>
class CheckpointOf : public ::testing::Test {};
struct StoredParticle {
  double place[3];
  std::int32_t kind;
  friend bool operator==(const StoredParticle&, const StoredParticle&) = default;
};
using StoredTypes =
    ::testing::Types<std::int32_t, std::int64_t, float, double, std::complex<float>,
                     std::complex<double>, std::int8_t, std::uint16_t, StoredParticle>;
TYPED_TEST_SUITE(CheckpointOf, StoredTypes);

// The same bits from the same number, for any type.
template <class T>
T element_from(std::int64_t number) {
  T element = {};
  auto* const bytes = reinterpret_cast<unsigned char*>(&element);
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    bytes[i] = static_cast<unsigned char>((number * 31 + static_cast<std::int64_t>(i)) % 101);
  }
  return element;
}

TYPED_TEST(CheckpointOf, KeepsEachBit) {
  if (!has_hdf5()) {
    GTEST_SKIP() << "built without HDF5";
  }
  on_ranks([](Job& job) {
    const SharedFolder folder(job);
    auto array = Array<TypeParam>::create(job, {23, 19}, {.name = "A"}).value();
    std::vector<TypeParam> all(23 * 19);
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i] = element_from<TypeParam>(static_cast<std::int64_t>(i));
    }
    if (job.rank().value == 0) {
      EXPECT_TRUE(ok(array.put(array.box(), all)));
    }
    const std::string path = folder.file("run.h5");
    ASSERT_TRUE(ok(write_checkpoint(job.world(), path, small_pieces, array)));
    auto file = Checkpoint::open(job, path).value();
    const auto info = file.info("A").value();
    const ElementKind kind = ElementKind::of<TypeParam>();
    EXPECT_EQ(info.type, kind.type);
    EXPECT_EQ(info.element_bytes, static_cast<std::int64_t>(sizeof(TypeParam)));
    auto again = file.template read<TypeParam>("A");
    ASSERT_TRUE(ok(again));
    std::vector<TypeParam> got(all.size());
    EXPECT_TRUE(ok(again->get(again->box(), got)));
    EXPECT_EQ(std::memcmp(got.data(), all.data(), all.size() * sizeof(TypeParam)), 0);
    EXPECT_TRUE(ok(again->sync()));
    // As above, for callers that know the type only at run time.
    auto untyped = file.read("A", array.distribution(), kind);
    ASSERT_TRUE(ok(untyped));
    got.assign(got.size(), TypeParam());
    EXPECT_TRUE(ok(untyped->transfer(untyped->box(), ContiguousMemory{got.data(), std::ssize(got)},
                                     Transfer::get())));
    EXPECT_EQ(std::memcmp(got.data(), all.data(), all.size() * sizeof(TypeParam)), 0);
    EXPECT_TRUE(ok(untyped->sync()));
  });
}

TEST(Checkpoint, IsReadByOtherRanksThanWroteIt) {
  if (!has_hdf5()) {
    GTEST_SKIP() << "built without HDF5";
  }
  on_ranks([](Job& job) {
    const SharedFolder folder(job);
    const std::string path = folder.file("run.h5");
    // Each of these teams writes, and each reads the files of all.
    std::vector<std::vector<WorldRank>> teams;
    for (const std::vector<std::int32_t>& list :
         {std::vector<std::int32_t>{0}, {1, 0}, {2, 3}, {0, 2, 3}, {3, 1, 2, 0}, {6, 1, 4}}) {
      if (*std::max_element(list.begin(), list.end()) < job.size()) {
        auto& team = teams.emplace_back();
        for (const std::int32_t rank : list) {
          team.push_back({rank});
        }
      }
    }
    const auto with_team = [&](const std::vector<WorldRank>& members, auto&& body) {
      if (std::find(members.begin(), members.end(), job.rank()) != members.end()) {
        Team team = Team::create(job, members).value();
        body(team);
      }
      EXPECT_TRUE(ok(job.barrier()));
    };
    for (const auto& writers : teams) {
      with_team(writers, [&](Team& team) {
        auto array =
            Array<double>::create(
                job, {11, 13},
                {.name = "A", .team = team, .ghosts = {1, 0}, .order = MemoryOrder::column_major})
                .value();
        fill_with_fingerprints(array);
        EXPECT_TRUE(ok(write_checkpoint(team, path, small_pieces, array)));
      });
      for (const auto& readers : teams) {
        with_team(readers, [&](Team& team) {
          auto file = Checkpoint::open(job, team, path);
          ASSERT_TRUE(ok(file));
          auto array = file->read<double>("A");
          ASSERT_TRUE(ok(array));
          EXPECT_EQ(array->distribution().ghosts(), (Extents{1, 0}));
          EXPECT_EQ(array->distribution().order(), MemoryOrder::column_major);
          EXPECT_EQ(array->team().size(), static_cast<std::int32_t>(readers.size()));
          if (readers.size() == writers.size()) {
            EXPECT_TRUE(array->distribution() == file->info("A")->distribution);
          }
          expect_filled(*array);
        });
      }
    }
  });
}

TEST(Checkpoint, HoldsSeveralArraysAndAttributes) {
  if (!has_hdf5()) {
    GTEST_SKIP() << "built without HDF5";
  }
  on_ranks([](Job& job) {
    const SharedFolder folder(job);
    const std::string path = folder.file("run.h5");
    auto a = Array<double>::create(job, {100}, {.name = "A"}).value();
    auto b = Array<double>::create(job, {7, 9}, {.name = "second one"}).value();
    auto none = Array<float>::create(job, {5, 0, 3}, {.name = "no elements"}).value();
    fill_with_fingerprints(a);
    fill_with_fingerprints(b);
    {
      auto writer = CheckpointWriter::create(job, path, small_pieces).value();
      EXPECT_TRUE(ok(writer.add(a)));
      EXPECT_TRUE(ok(writer.add_attribute("step", std::int64_t{-12})));
      EXPECT_TRUE(ok(writer.add(b)));
      EXPECT_TRUE(ok(writer.add(none)));
      EXPECT_TRUE(ok(writer.add(a, "A again")));
      EXPECT_TRUE(ok(writer.add_attribute("time", 0.1)));
      EXPECT_TRUE(ok(writer.add_attribute("title", std::string("π, or so"))));
      EXPECT_TRUE(ok(writer.commit()));
    }
    auto file = Checkpoint::open(job, path);
    ASSERT_TRUE(ok(file));
    EXPECT_EQ(file->names(),
              (std::vector<std::string>{"A", "A again", "no elements", "second one"}));
    EXPECT_EQ(file->attribute_names().value(), (std::vector<std::string>{"step", "time", "title"}));
    EXPECT_EQ(file->attribute<std::int64_t>("step").value(), -12);
    EXPECT_EQ(file->attribute<double>("time").value(), 0.1);
    EXPECT_EQ(file->attribute<std::string>("title").value(), "π, or so");
    for (const std::string name : {"A", "A again", "second one"}) {
      auto array = file->read<double>(name);
      ASSERT_TRUE(ok(array));
      EXPECT_EQ(array->name(), name);
      expect_filled(*array);
    }
    auto empty = file->read<float>("no elements");
    ASSERT_TRUE(ok(empty));
    EXPECT_EQ(empty->extents(), (Extents{5, 0, 3}));
    EXPECT_TRUE(ok(file->verify("no elements")));
  });
}

TEST(Checkpoint, KeepsManyChecksumsAndALongTableOfOwners) {
  if (!has_hdf5()) {
    GTEST_SKIP() << "built without HDF5";
  }
  on_ranks([](Job& job) {
    const SharedFolder folder(job);
    // Each list is longer than the 64 KiB that an attribute of the older format could have.
    const std::int64_t blocks = 20'000;
    std::vector<TeamRank> owners(static_cast<std::size_t>(blocks));
    for (std::size_t i = 0; i < owners.size(); ++i) {
      owners[i].value = static_cast<std::int32_t>((i * i) % static_cast<std::size_t>(job.size()));
    }
    const std::vector<BlockPartition1D> partitions{
        BlockPartition1D::even(2 * blocks, blocks).value()};
    const auto distribution =
        Distribution::create(partitions, BlockMap::table({blocks}, owners, job.size()).value())
            .value();
    auto array = Array<double>::create(job, distribution, {.name = "A"}).value();
    fill_with_fingerprints(array);
    const std::string path = folder.file("run.h5");
    ASSERT_TRUE(ok(write_checkpoint(job.world(), path, {.piece_bytes = 8}, array)));
    auto file = Checkpoint::open(job, path).value();
    auto again = file.read<double>("A");
    ASSERT_TRUE(ok(again));
    EXPECT_TRUE(again->distribution() == distribution);
    expect_filled(*again);
  });
}

TEST(Checkpoint, ReadsIntoAnArrayThatIsThere) {
  if (!has_hdf5()) {
    GTEST_SKIP() << "built without HDF5";
  }
  on_ranks([](Job& job) {
    const SharedFolder folder(job);
    auto array = Array<double>::create(job, {40, 3}, {.name = "A"}).value();
    fill_with_fingerprints(array);
    const std::string path = folder.file("run.h5");
    ASSERT_TRUE(ok(write_checkpoint(job.world(), path, {}, array)));
    auto there =
        Array<double>::create(
            job, {40, 3}, {.name = "there", .ghosts = {2, 2}, .order = MemoryOrder::column_major})
            .value();
    auto file = Checkpoint::open(job, path).value();
    EXPECT_TRUE(ok(file.read_into("A", there)));
    expect_filled(there);
    auto wrong = Array<double>::create(job, {3, 40}, {.name = "wrong"}).value();
    EXPECT_TRUE(fails(file.read_into("A", wrong), Code::invalid_argument,
                      {"reading array 'A' of checkpoint", "extents differ: 40 x 3 in the file",
                       "3 x 40 in array 'wrong' (float64, 3 x 40)", "hint:"}));
    auto other = Array<float>::create(job, {40, 3}, {.name = "other"}).value();
    EXPECT_TRUE(fails(file.read_into("A", other), Code::invalid_argument,
                      {"it holds float64, not float32"}));
    EXPECT_TRUE(ok(there.free()));
    EXPECT_TRUE(fails(file.read_into("A", there), Code::closed, {"array 'there'", "freed"}));
  });
}

TEST(Checkpoint, ReplacesTheFileOnlyWhenItIsCommitted) {
  if (!has_hdf5()) {
    GTEST_SKIP() << "built without HDF5";
  }
  on_ranks([](Job& job) {
    const SharedFolder folder(job);
    const std::string path = folder.file("run.h5");
    auto array = Array<double>::create(job, {64}, {.name = "A"}).value();
    ASSERT_TRUE(ok(write_checkpoint(job.world(), path, small_pieces, array)));
    auto old_file = Checkpoint::open(job, path).value();
    fill_with_fingerprints(array);
    {
      auto given_up = CheckpointWriter::create(job, path, small_pieces).value();
      EXPECT_TRUE(ok(given_up.add(array)));
    }
    EXPECT_TRUE(ok(job.barrier()));
    if (job.rank().value == 0) {
      EXPECT_EQ(folder.own().names(), std::vector<std::string>{"run.h5"});
    }
    auto writer = CheckpointWriter::create(job, path, small_pieces).value();
    EXPECT_TRUE(ok(writer.add(array)));
    // Still the old file; a checkpoint that is open stays readable after the replacement.
    EXPECT_EQ(Checkpoint::open(job, path)->read<double>("A")->get_element({63}).value(), 0.0);
    EXPECT_TRUE(ok(job.barrier()));
    EXPECT_TRUE(ok(writer.commit()));
    EXPECT_EQ(old_file.read<double>("A")->get_element({63}).value(), 0.0);
    EXPECT_TRUE(ok(job.barrier()));
    auto again = Checkpoint::open(job, path)->read<double>("A");
    ASSERT_TRUE(ok(again));
    expect_filled(*again);
    EXPECT_TRUE(fails(writer.commit(), Code::closed, {"committing checkpoint", "committed"}));
    EXPECT_TRUE(fails(writer.add(array, "B"), Code::closed, {"adding array 'B'", "committed"}));
  });
}

}  // namespace
}  // namespace tessera::arrays
