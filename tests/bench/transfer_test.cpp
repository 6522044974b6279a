// SPDX-License-Identifier: BSD-3-Clause
//
// Cases, rotation, and the data check, which must detect wrong data.
#include "bench/support/candidate.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <vector>

namespace tessera::bench {
namespace {

/// A remote buffer that is simply another vector.
struct Buffers {
  std::vector<std::byte> local = std::vector<std::byte>(4096);
  std::vector<std::byte> remote = std::vector<std::byte>(4096);

  Workspace workspace() {
    Workspace workspace;
    workspace.local = local;
    workspace.remote_bytes = remote.size();
    workspace.write_remote = [this](std::span<const std::byte> bytes) {
      std::memcpy(remote.data(), bytes.data(), bytes.size());
    };
    workspace.read_remote = [this](std::span<std::byte> bytes) {
      std::memcpy(bytes.data(), remote.data(), bytes.size());
    };
    return workspace;
  }

  /// Puts the runs [first, last) of a case.
  void put(const Case& c, std::int64_t first, std::int64_t last) {
    for (std::int64_t run = first; run < last; ++run) {
      std::memcpy(remote.data() + c.remote_offset(run), local.data() + c.local_offset(run),
                  c.run_bytes);
    }
  }
};

TEST(Case, OfRowsIsPackedHereAndSpacedThere) {
  const Case c = Case::strided(Operation::put, 16, 64);
  EXPECT_EQ(c.bytes(), 1024U);
  EXPECT_EQ(c.local_span(), 1024U);
  EXPECT_EQ(c.remote_span(), 63U * 32 + 16);
  EXPECT_EQ(c.remote_offset(3), 96U);
  EXPECT_EQ(c.name(), "put_strided");
  EXPECT_EQ(c.shape(), "64 x 16 B");
}

TEST(Case, OfALocalPatchIsSpacedHereAndPackedThere) {
  const Case c = Case::local_patch(Operation::get, 128, 8192);
  EXPECT_EQ(c.bytes(), 128U * 1024);
  EXPECT_EQ(c.local_span(), 127U * 8192 * 8 + 1024);
  EXPECT_EQ(c.local_offset(2), 2U * 8192 * 8);
  EXPECT_EQ(c.remote_span(), c.bytes());
  EXPECT_EQ(c.name(), "get_strided");
}

TEST(Case, IsCompleteWhereItSays) {
  const Case put = Case::contiguous(Operation::put, 8);
  EXPECT_TRUE(put.needs_fence());
  EXPECT_FALSE(put.completing(Completes::here).needs_fence());
  EXPECT_FALSE(Case::contiguous(Operation::get, 8).needs_fence());
}

TEST(Case, IsUsuallyCompleteHereOnOneNodeOnly) {
  for (const Layout layout : {Layout::contiguous, Layout::strided, Layout::vector}) {
    EXPECT_EQ(usual_completion(layout, 1), Completes::here);
    EXPECT_EQ(usual_completion(layout, 2), Completes::at_target);
  }
  EXPECT_EQ(usual_completion(Layout::window, 1), Completes::at_target);
}

TEST(Case, OfAVectorVisitsEveryPlaceOnceOutOfOrder) {
  const Case c = Case::vector(Operation::get, 8, 1000);
  std::set<std::size_t> places;
  int ascending = 0;
  for (std::int64_t run = 0; run < c.runs; ++run) {
    places.insert(c.remote_offset(run));
    ascending += run > 0 && c.remote_offset(run) == c.remote_offset(run - 1) + 16 ? 1 : 0;
  }
  EXPECT_EQ(places.size(), 1000U);
  EXPECT_EQ(*places.rbegin(), c.remote_span() - 8);
  EXPECT_EQ(ascending, 0);
}

TEST(Rotation, StaysInPlaceUnlessTold) {
  Buffers buffers;
  Rotation rotation(Case::contiguous(Operation::put, 8), buffers.workspace());
  EXPECT_EQ(rotation.slots(), 1U);
  EXPECT_EQ(rotation.next().remote, 0U);
  EXPECT_EQ(rotation.next().remote, 0U);
}

TEST(Rotation, UsesOtherCacheLinesEachTimeAndComesBack) {
  Buffers buffers;
  Workspace workspace = buffers.workspace();
  workspace.rotate = true;
  Rotation rotation(Case::strided(Operation::put, 100, 3), workspace);  // 300 here, 500 there
  EXPECT_EQ(rotation.slots(), 8U);                                      // 4096 / 512
  std::set<std::size_t> places;
  for (int i = 0; i < 8; ++i) {
    const Rotation::Place place = rotation.next();
    EXPECT_EQ(place.local % 64, 0U);
    EXPECT_LE(place.remote + 500, 4096U);
    places.insert(place.remote);
  }
  EXPECT_EQ(places.size(), 8U);
  EXPECT_EQ(rotation.next().remote, 0U);
}

// Lists are made once, so everything they are compared with must be as warm.
TEST(Rotation, KeepsToOnePlaceForScatteredRuns) {
  Buffers buffers;
  Workspace workspace = buffers.workspace();
  workspace.rotate = true;
  for (const Case& c : {Case::vector(Operation::put, 8, 5), Case::separate(Operation::put, 8, 5),
                        Case::aggregate(Operation::put, 8, 5)}) {
    EXPECT_EQ(Rotation(c, workspace).slots(), 1U) << c.name();
  }
  EXPECT_GT(Rotation(Case::window(Operation::put, 8, 5), workspace).slots(), 1U);
}

TEST(VerifyTransfer, AcceptsARightPut) {
  Buffers buffers;
  const Case c = Case::strided(Operation::put, 24, 5);
  EXPECT_EQ(verify_transfer(c, buffers.workspace(), [&] { buffers.put(c, 0, c.runs); }), "");
}

TEST(VerifyTransfer, NamesTheFirstWrongByte) {
  Buffers buffers;
  const Case c = Case::strided(Operation::put, 24, 5);
  const std::string problem =
      verify_transfer(c, buffers.workspace(), [&] { buffers.put(c, 0, c.runs - 1); });
  EXPECT_EQ(problem.find("put_strided: remote byte 192 of 216 is"), 0U) << problem;
}

TEST(VerifyTransfer, FindsAWriteBetweenTheRows) {
  Buffers buffers;
  const Case c = Case::strided(Operation::put, 24, 5);
  const std::string problem = verify_transfer(c, buffers.workspace(), [&] {
    buffers.put(c, 0, c.runs);
    buffers.remote[30] ^= std::byte{0xff};
  });
  EXPECT_EQ(problem.find("put_strided: remote byte 30 of"), 0U) << problem;
}

TEST(VerifyTransfer, FindsAChangedSource) {
  Buffers buffers;
  const Case c = Case::contiguous(Operation::put, 64);
  const std::string problem = verify_transfer(c, buffers.workspace(), [&] {
    buffers.put(c, 0, 1);
    buffers.local[7] ^= std::byte{1};
  });
  EXPECT_EQ(problem.find("put: local byte 7 of 64"), 0U) << problem;
}

TEST(VerifyTransfer, ExpectsTheScaledSumOfAccumulate) {
  Buffers buffers;
  Case c = Case::contiguous(Operation::accumulate, 80);
  c.scale = 2.5;
  const auto accumulate = [&](double scale) {
    for (std::size_t i = 0; i < 10; ++i) {
      double sum = 0;
      double term = 0;
      std::memcpy(&sum, buffers.remote.data() + 8 * i, 8);
      std::memcpy(&term, buffers.local.data() + 8 * i, 8);
      sum += scale * term;
      std::memcpy(buffers.remote.data() + 8 * i, &sum, 8);
    }
  };
  EXPECT_EQ(verify_transfer(c, buffers.workspace(), [&] { accumulate(2.5); }), "");
  EXPECT_NE(verify_transfer(c, buffers.workspace(), [&] { accumulate(1.0); }), "");
}

TEST(TransferCandidate, DoesTheCaseAtEachPlaceOfTheRotation) {
  Buffers buffers;
  Workspace workspace = buffers.workspace();
  workspace.rotate = true;
  const Case c = Case::contiguous(Operation::put, 1024);
  std::vector<std::size_t> places;
  const Candidate candidate =
      transfer_candidate("put", c, workspace, false,
                         [&places](std::size_t, std::size_t remote) { places.push_back(remote); });
  candidate.run(3);
  candidate.run(2);
  EXPECT_EQ(places, (std::vector<std::size_t>{0, 1024, 2048, 3072, 0}));
  EXPECT_EQ(candidate.bytes, 1024U);
  EXPECT_FALSE(candidate.verify);
}

}  // namespace
}  // namespace tessera::bench
