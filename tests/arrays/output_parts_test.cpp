// SPDX-License-Identifier: BSD-3-Clause
//
// The parts of Output that need no ranks: filters, the grid of chunks, names, attributes as bytes,
// and the XML of XDMF.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "arrays/checkpoint/catalog.hpp"
#include "arrays/checkpoint/chunk_grid.hpp"
#include "arrays/checkpoint/filters.hpp"
#include "arrays/checkpoint/hdf5.hpp"
#include "arrays/checkpoint/output_names.hpp"
#include "arrays/checkpoint/xdmf.hpp"
#include "tests/support/checks.hpp"

namespace tessera::arrays::detail {
namespace {

using rma::Code;
using rma::test::fails;
using rma::test::ok;

void set(ChunkBuffer& buffer, const std::vector<unsigned char>& bytes) {
  ASSERT_TRUE(ok(buffer.reserve(bytes.size() + 1)));
  std::memcpy(buffer.data(), bytes.data(), bytes.size());
  buffer.set_size(bytes.size());
}

std::vector<unsigned char> bytes_of(const ChunkBuffer& buffer) {
  const auto* const first = reinterpret_cast<const unsigned char*>(buffer.data());
  return {first, first + buffer.bytes().size()};
}

class Filters : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!check_hdf5().ok()) {
      GTEST_SKIP() << "built without HDF5";
    }
  }
};

TEST_F(Filters, GiveBackWhatTheyGot) {
  std::mt19937_64 random(7);
  const std::vector<std::vector<StoredFilter>> chains = {
      {},
      {{FilterKind::deflate, 6}},
      {{FilterKind::shuffle, 8}, {FilterKind::deflate, 1}},
      {{FilterKind::shuffle, 3}, {FilterKind::deflate, 9}, {FilterKind::fletcher32, 0}},
      {{FilterKind::fletcher32, 0}, {FilterKind::shuffle, 4}, {FilterKind::deflate, 4}}};
  for (const auto& chain : chains) {
    for (const std::size_t size : {0U, 1U, 7U, 24U, 1000U}) {
      for (const int most : {0, 3, 255}) {
        std::vector<unsigned char> plain(size);
        for (unsigned char& byte : plain) {
          byte = static_cast<unsigned char>(std::uniform_int_distribution<int>(0, most)(random));
        }
        ChunkBuffer chunk;
        ChunkBuffer spare;
        set(chunk, plain);
        const auto mask = apply_filters(chain, chunk, spare);
        ASSERT_TRUE(ok(mask));
        ASSERT_TRUE(ok(undo_filters(chain, *mask, size, chunk, spare)));
        EXPECT_EQ(bytes_of(chunk), plain) << chain.size() << " filters, size " << size;
      }
    }
  }
}

TEST_F(Filters, ChunksThatDoNotShrinkStayAsTheyAre) {
  const std::vector<StoredFilter> chain = {{FilterKind::deflate, 9}};
  ChunkBuffer chunk;
  ChunkBuffer spare;
  set(chunk, {3, 1, 4});
  EXPECT_EQ(apply_filters(chain, chunk, spare).value(), 1U);
  EXPECT_EQ(bytes_of(chunk), (std::vector<unsigned char>{3, 1, 4}));
}

// Words 0x0102 and 0x0300: the sums are 0x0102 + 0x0300 and 2 · 0x0102 + 0x0300.
TEST_F(Filters, FletchersChecksumIsThatOfHdf5) {
  ChunkBuffer chunk;
  ChunkBuffer spare;
  set(chunk, {1, 2, 3});
  EXPECT_EQ(
      apply_filters(std::vector<StoredFilter>{{FilterKind::fletcher32, 0}}, chunk, spare).value(),
      0U);
  EXPECT_EQ(bytes_of(chunk), (std::vector<unsigned char>{1, 2, 3, 0x02, 0x04, 0x04, 0x05}));
}

TEST_F(Filters, BytesThatAreNotAChunkAreRefused) {
  ChunkBuffer chunk;
  ChunkBuffer spare;
  set(chunk, {1, 2, 3, 4, 5});
  EXPECT_TRUE(
      fails(undo_filters(std::vector<StoredFilter>{{FilterKind::deflate, 1}}, 0, 8, chunk, spare),
            Code::protocol, {"damaged"}));
  set(chunk, {1, 2, 3});
  EXPECT_TRUE(fails(
      undo_filters(std::vector<StoredFilter>{{FilterKind::fletcher32, 0}}, 0, 3, chunk, spare),
      Code::protocol, {"no room for its checksum"}));
  set(chunk, {1, 2, 3});
  EXPECT_TRUE(fails(undo_filters({}, 0, 8, chunk, spare), Code::protocol,
                    {"a chunk has 3 bytes instead of 8"}));
  // Compressed bytes of a larger chunk.
  set(chunk, std::vector<unsigned char>(1000));
  const std::vector<StoredFilter> deflate = {{FilterKind::deflate, 1}};
  ASSERT_TRUE(ok(apply_filters(deflate, chunk, spare)));
  EXPECT_TRUE(fails(undo_filters(deflate, 0, 100, chunk, spare), Code::protocol, {"too large"}));
}

TEST(ChunkGrid, NumbersChunksInRowMajorOrder) {
  const ChunkGrid grid({5, 7}, {2, 4});
  EXPECT_EQ(grid.count(), 6);
  EXPECT_EQ(grid.box_of(3), Box({2, 4}, {4, 7}));
  EXPECT_EQ(grid.box_of(5), Box({4, 4}, {5, 7}));
  const ChunkRange range(grid, Box({3, 1}, {5, 3}));
  ASSERT_EQ(range.count(), 2);
  EXPECT_EQ(range.number(0), 2);
  EXPECT_EQ(range.number(1), 4);
}

TEST(OutputNames, AreChecked) {
  EXPECT_EQ(checked_name("/a/b c").value(), "a/b c");
  for (const std::string name : {"", "/", "//a", "a//b", "a/", "./a", "a/.", ".", "/a/./b"}) {
    EXPECT_TRUE(fails(checked_name(name), Code::invalid_argument, {"is not a valid name"})) << name;
  }
  EXPECT_EQ(groups_of("a/b/c"), (std::vector<std::string>{"a", "a/b"}));
}

TEST(Catalog, IsTheSameAfterItWasSent) {
  Catalog catalog;
  catalog.groups.push_back({"/", {{"flag", true}, {"list", std::vector<double>{1, 2}}}});
  catalog.groups.push_back({"g", {{"u8", std::uint8_t{3}}, {"text", std::string("π")}}});
  StoredArray& array = catalog.arrays.emplace_back();
  array.name = "g/A";
  array.extents = {3, 4};
  array.chunk = {1, 4};
  array.filters = {{FilterKind::shuffle, 8}, {FilterKind::deflate, 4}};
  array.attributes = {{"c", std::complex<double>(1, 2)}};
  const Catalog same = unpack(pack(catalog));
  ASSERT_NE(same.find("/g/A"), nullptr);
  EXPECT_EQ(same.find("g/A")->chunk, array.chunk);
  EXPECT_EQ(same.find("g/A")->filters[1].parameter, 4U);
  EXPECT_EQ(*same.attributes_of("g/A"), array.attributes);
  EXPECT_EQ(*same.attributes_of("/"), catalog.groups[0].attributes);
  EXPECT_EQ(*same.attributes_of("/g"), catalog.groups[1].attributes);
  EXPECT_EQ(same.attributes_of("none"), nullptr);
}

TEST(Xdmf, GridsAreTheSameAfterTheyWereStored) {
  const UniformGrid grid{.origin = {1, 2}, .spacing = {0.5, 0.25}, .points = {3, 4}};
  const UniformGrid same = grid_from(to_numbers(grid));
  EXPECT_EQ(same.origin, grid.origin);
  EXPECT_EQ(same.spacing, grid.spacing);
  EXPECT_EQ(same.points, grid.points);
  EXPECT_TRUE(grid_from({}).origin.empty());
  EXPECT_TRUE(grid_from({2, 1}).origin.empty());
  EXPECT_TRUE(grid_from({1e9}).origin.empty());
}

}  // namespace
}  // namespace tessera::arrays::detail
