// SPDX-License-Identifier: BSD-3-Clause
//
// The parts of checkpoints that need no ranks: ranges as boxes, distributions as numbers, fragments
// of a file, and the trailer after it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <vector>

#include "arrays/checkpoint/catalog.hpp"
#include "arrays/checkpoint/checksum.hpp"
#include "arrays/checkpoint/image.hpp"
#include "arrays/checkpoint/row_major_range.hpp"
#include "arrays/checkpoint/stored_distribution.hpp"
#include "arrays/checkpoint/trailer.hpp"
#include "tests/arrays/distribution_kinds.hpp"
#include "tests/arrays/printers.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/temporary_folder.hpp"

namespace tessera::arrays::detail {
namespace {

using arrays::kinds::pick;
using arrays::kinds::pick_distribution;
using arrays::kinds::pick_extents;
using arrays::kinds::Random;
using rma::Code;
using rma::test::fails;
using rma::test::ok;
using test::TemporaryFolder;

Random seeded() {
  return Random(static_cast<std::uint64_t>(::testing::UnitTest::GetInstance()->random_seed()));
}

// The positions of a box's elements in row-major order, one by one: the oracle.
std::vector<std::int64_t> places_of(const Extents& extents, const Box& box) {
  std::vector<std::int64_t> places;
  arrays::kinds::for_each_index(box, [&](const Index& index) {
    places.push_back(distance(Index::zeros(extents.ndims()), index, dense_strides(extents)));
  });
  return places;
}

TEST(RowMajorRange, IsTiledInOrderByFewDenseBoxes) {
  Random random = seeded();
  for (int round = 0; round < 2000; ++round) {
    const int ndims = static_cast<int>(pick(random, 1, max_dims));
    const Extents extents = pick_extents(random, ndims, ndims > 4 ? 3 : 6);
    const std::int64_t elements = volume(extents);
    const std::int64_t a = pick(random, 0, elements);
    const std::int64_t b = pick(random, 0, elements);
    const std::int64_t first = std::min(a, b);
    std::int64_t next = first;
    int boxes = 0;
    for_each_box(extents, first, std::max(a, b), [&](const Box& box, std::int64_t place) {
      EXPECT_EQ(place, next - first);
      ++boxes;
      for (const std::int64_t each : places_of(extents, box)) {
        EXPECT_EQ(each, next++);
      }
    });
    EXPECT_EQ(next, std::max(a, b)) << to_string(extents);
    EXPECT_LE(boxes, 2 * ndims - 1) << to_string(extents) << " from " << a << " to " << b;
  }
}

TEST(StoredDistribution, EqualsTheOneThatWasStored) {
  Random random = seeded();
  for (int round = 0; round < 2000; ++round) {
    const int ndims = static_cast<int>(pick(random, 1, max_dims));
    const Distribution distribution =
        pick_distribution(random, pick_extents(random, ndims, ndims > 4 ? 4 : 12));
    const auto again = distribution_from(to_numbers(distribution));
    ASSERT_TRUE(ok(again)) << to_string(distribution);
    EXPECT_TRUE(*again == distribution) << to_string(distribution) << "\ncame back as\n"
                                        << to_string(*again);
  }
}

TEST(StoredDistribution, KeepsTheNodesOfAProcessGrid) {
  const auto distribution =
      Distribution::regular({64, 64}, 16, {.ghosts = {1, 2}, .ranks_per_node = 4}).value();
  EXPECT_FALSE(distribution.block_map().node_grid().is_empty());
  EXPECT_TRUE(distribution_from(to_numbers(distribution)).value() == distribution);
}

TEST(StoredDistribution, NumbersThatTellOfNoneAreRefused) {
  Random random = seeded();
  EXPECT_TRUE(fails(distribution_from({}), Code::protocol, {"is invalid"}));
  const auto good = to_numbers(Distribution::regular({20, 30}, 4).value());
  auto other_format = good;
  other_format[0] = 2;
  EXPECT_TRUE(fails(distribution_from(other_format), Code::unsupported, {"format 2", "hint:"}));
  for (std::size_t length = 1; length < good.size(); ++length) {
    EXPECT_TRUE(fails(distribution_from(std::span(good).first(length)), Code::protocol));
  }
  auto longer = good;
  longer.push_back(1);
  EXPECT_TRUE(fails(distribution_from(longer), Code::protocol,
                    {"it has " + std::to_string(longer.size()) + " numbers, but " +
                     std::to_string(good.size()) + " are expected"}));
  // Any numbers are either refused or a valid distribution; they never crash.
  for (int round = 0; round < 3000; ++round) {
    auto numbers = to_numbers(pick_distribution(random, pick_extents(random, 2, 9)));
    auto& victim = numbers[static_cast<std::size_t>(pick(random, 1, std::ssize(numbers) - 1))];
    victim = pick(random, 0, 1) == 0 ? pick(random, -3, 12) : pick(random, INT64_MIN, INT64_MAX);
    const auto result = distribution_from(numbers);
    if (!result.ok()) {
      EXPECT_NE(result.status().code(), Code::internal) << result.status().describe();
    }
  }
}

TEST(FileImage, HoldsWhatWasWrittenAsFragmentsThatDoNotTouch) {
  Random random = seeded();
  for (int round = 0; round < 200; ++round) {
    FileImage image;
    std::map<std::uint64_t, std::byte> model;
    for (int i = 0; i < 30; ++i) {
      const auto offset = static_cast<std::uint64_t>(pick(random, 0, 300));
      std::vector<std::byte> bytes(static_cast<std::size_t>(pick(random, 0, 20)));
      for (std::size_t k = 0; k < bytes.size(); ++k) {
        bytes[k] = static_cast<std::byte>(pick(random, 1, 255));
        model[offset + k] = bytes[k];
      }
      ASSERT_TRUE(ok(image.write(offset, bytes)));
    }
    std::vector<std::byte> all(400, std::byte{0xee});
    ASSERT_TRUE(ok(image.read(3, all)));
    for (std::uint64_t i = 0; i < all.size(); ++i) {
      EXPECT_EQ(all[i], model.contains(i + 3) ? model[i + 3] : std::byte{0});
    }
    std::size_t total = 0;
    std::uint64_t last_end = 0;
    for (const auto& [offset, bytes] : image.fragments()) {
      EXPECT_TRUE(total == 0 || offset > last_end);
      last_end = offset + bytes.size();
      total += bytes.size();
    }
    EXPECT_EQ(total, model.size());
    EXPECT_EQ(image.end(), model.empty() ? 0 : model.rbegin()->first + 1);
  }
}

TEST(Checksum, OfPiecesIsThatOfTheWhole) {
  std::vector<std::byte> bytes(100'000);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::byte>(i * 7);
  }
  Checksum pieces;
  pieces.add(std::span(bytes).first(17));
  pieces.add(std::span(bytes).subspan(17));
  EXPECT_EQ(pieces.value(), checksum(bytes));
  // Files are the same everywhere: XXH3 of nothing has the value in its specification.
  EXPECT_EQ(checksum({}), 0x2d06'8005'38d3'94c2U);
}

FileImage small_image() {
  FileImage image;
  const std::vector<std::byte> some(50, std::byte{7});
  EXPECT_TRUE(ok(image.write(10, some)));
  EXPECT_TRUE(ok(image.write(200, some)));
  image.set_end(300);
  return image;
}

TEST(Guard, ProvesEachByteOfItselfAndOfWhatItGuards) {
  const TemporaryFolder folder;
  const std::string target = folder.file("with_trailer");
  {
    const File file = File::create_temporary(target).value();
    ASSERT_TRUE(ok(write_with_trailer(file, small_image())));
    ASSERT_TRUE(ok(replace(file.path(), target)));
  }
  const auto good = read_with_trailer(File::open_to_read(target).value());
  ASSERT_TRUE(ok(good));
  ASSERT_TRUE(good->has_value());
  EXPECT_EQ((*good)->end(), 300U);
  EXPECT_EQ((*good)->fragments(), small_image().fragments());

  const std::string bytes = test::contents_of(target);
  const std::size_t mark = bytes.size() - 40;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    test::write_contents(target, damaged);
    const auto result = read_with_trailer(File::open_to_read(target).value());
    const bool is_verified =
        (i >= 10 && i < 60) || (i >= 200 && i < 250) || i >= mark + 8 || (i >= 300 && i < mark);
    const bool is_mark = i >= mark && i < mark + 8;
    if (is_verified) {
      EXPECT_TRUE(fails(result, Code::protocol, {"with_trailer", "is damaged"})) << "byte " << i;
    } else {
      ASSERT_TRUE(ok(result)) << "byte " << i;
      EXPECT_EQ(result->has_value(), !is_mark) << "byte " << i;
    }
  }
}

TEST(Catalog, ComesBackAsItWas) {
  Catalog catalog;
  catalog.is_ours = true;
  StoredArray array;
  array.name = "A";
  array.extents = {3, 4};
  array.type = rma::ElementType::f64;
  array.element_bytes = 8;
  array.type_text = "float64";
  array.distribution = "some";
  array.distribution_numbers = {1, 2};
  array.piece_elements = 5;
  array.checksums = {9, 8, 7};
  array.offset = 4096;
  StoredArray odd;
  odd.name = "odd";
  odd.is_opaque = true;
  odd.unreadable_reason = "because";
  catalog.arrays = {array, odd};
  catalog.groups = {
      {.name = "/",
       .attributes = {{"n", std::int64_t{-4}}, {"x", 2.5}, {"t", std::string("text")}}}};
  const Catalog again = unpack(pack(catalog));
  EXPECT_EQ(pack(again), pack(catalog));
  EXPECT_EQ(again.find("A")->checksums, catalog.arrays[0].checksums);
  EXPECT_EQ(again.find("A")->extents, (Extents{3, 4}));
  EXPECT_EQ(again.find("odd")->unreadable_reason, "because");
  EXPECT_EQ(again.find("B"), nullptr);
  ASSERT_NE(again.attributes_of("/"), nullptr);
  EXPECT_EQ(*again.attributes_of("/"), catalog.groups.front().attributes);
  EXPECT_EQ(piece_count(catalog.arrays[0]), 3);
}

}  // namespace
}  // namespace tessera::arrays::detail
