// SPDX-License-Identifier: BSD-3-Clause
//
// Which shapes and lists of fragments write or read a byte more than once.
#include "rma/protocol/overlap.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

namespace tessera::rma::detail {
namespace {

std::vector<Fragment> at_offsets(const std::vector<std::pair<std::uint64_t, std::size_t>>& list) {
  std::vector<Fragment> fragments;
  for (const auto& [offset, bytes] : list) {
    fragments.push_back({.local = nullptr, .remote_offset = offset, .bytes = bytes});
  }
  return fragments;
}

TEST(Overlap, AdjacentAndEmptyPiecesAreAccepted) {
  EXPECT_TRUE(check_remote_overlap(at_offsets({})).ok());
  EXPECT_TRUE(check_remote_overlap(at_offsets({{0, 8}, {8, 8}, {16, 1}})).ok());
  EXPECT_TRUE(check_remote_overlap(at_offsets({{8, 8}, {0, 8}, {4, 0}, {9, 0}})).ok());
}

TEST(Overlap, NamesBothPieces) {
  const Status status = check_remote_overlap(at_offsets({{100, 8}, {0, 8}, {4, 8}}));
  EXPECT_EQ(status.code(), Code::invalid_argument);
  EXPECT_EQ(status.message(),
            "fragments 1 and 2 overlap at the target\n"
            "  hint: give each byte once; TESSERA_TUNE=check_overlap=0 skips this check");
}

TEST(Overlap, LocalMemoryIsCheckedByItsOwnAddresses) {
  std::vector<std::byte> memory(64);
  std::vector<Fragment> fragments{{memory.data(), 0, 16}, {memory.data() + 8, 100, 16}};
  EXPECT_TRUE(check_remote_overlap(fragments).ok());
  const Status status = check_local_overlap(fragments);
  EXPECT_EQ(status.code(), Code::invalid_argument);
  EXPECT_TRUE(status.message().starts_with("fragments 0 and 1 overlap in local memory"));
}

TEST(Overlap, AgreesWithATableOfBytesOnRandomLists) {
  std::mt19937 random(11);
  int overlapping = 0;
  for (int round = 0; round < 5000; ++round) {
    std::vector<std::pair<std::uint64_t, std::size_t>> list(random() % 8);
    std::vector<int> used(200);
    for (auto& [offset, bytes] : list) {
      offset = random() % 150;
      bytes = random() % 20;
      std::for_each(used.begin() + static_cast<std::ptrdiff_t>(offset),
                    used.begin() + static_cast<std::ptrdiff_t>(offset + bytes),
                    [](int& each) { ++each; });
    }
    const bool expected = *std::max_element(used.begin(), used.end()) > 1;
    overlapping += expected ? 1 : 0;
    EXPECT_EQ(!check_remote_overlap(at_offsets(list)).ok(), expected) << "round " << round;
  }
  EXPECT_GT(overlapping, 500);
}

}  // namespace
}  // namespace tessera::rma::detail
