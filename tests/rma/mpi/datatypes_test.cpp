// SPDX-License-Identifier: BSD-3-Clause
//
// MPI_Pack with the datatypes of a shape, compared with a plain walk over its runs.
#include "rma/transport/mpi/datatypes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "tests/support/random_shape.hpp"
#include "tests/support/rank_main.hpp"

namespace tessera::rma::mpi {
namespace {

using test::on_ranks;

// Bytes that depend on their address, with the shape's lowest offset at `origin`.
struct Field {
  std::vector<std::byte> bytes;
  std::size_t origin = 0;
};

Field field_of(CopyShape::Extent extent) {
  Field field;
  field.origin = static_cast<std::size_t>(std::max<std::int64_t>(0, -extent.lowest));
  field.bytes.resize(field.origin +
                     static_cast<std::size_t>(std::max<std::int64_t>(extent.highest, 0)));
  for (std::size_t i = 0; i < field.bytes.size(); ++i) {
    field.bytes[i] = static_cast<std::byte>(i * 7 + i / 251);
  }
  return field;
}

std::vector<std::byte> walk(const CopyShape& shape, const Field& field) {
  std::vector<std::byte> packed;
  for (const test::Run& byte : test::bytes_of(shape)) {
    packed.push_back(field.bytes[field.origin + static_cast<std::size_t>(byte.remote)]);
  }
  return packed;
}

std::vector<std::byte> pack(MPI_Datatype type, const Field& field, std::size_t bytes) {
  std::vector<std::byte> packed(bytes);
  int at = 0;
  EXPECT_EQ(MPI_Pack(field.bytes.data() + field.origin, 1, type, packed.data(),
                     static_cast<int>(bytes), &at, MPI_COMM_SELF),
            MPI_SUCCESS);
  EXPECT_EQ(static_cast<std::size_t>(at), bytes);
  return packed;
}

void expect_walk(Datatypes& types, const CopyShape& shape) {
  const StridedSide side = StridedSide::of(shape, StridedSide::Which::remote, MPI_BYTE, 1);
  const auto type = types.find(side);
  ASSERT_TRUE(type.ok()) << type.status().describe();
  const Field field = field_of(shape.remote_extent());
  EXPECT_EQ(pack(*type, field, shape.total_bytes()), walk(shape, field));
}

TEST(Datatypes, OfSubarraysPackWhatAWalkFinds) {
  on_ranks([](Job&) {
    Datatypes types;
    const CopyShape rows = CopyShape::rows(24, 5, 24, 64);
    std::array<int, max_stride_levels + 1> extents{};
    EXPECT_TRUE(Datatypes::is_subarray(
        StridedSide::of(rows, StridedSide::Which::remote, MPI_BYTE, 1), extents));
    EXPECT_EQ(extents[0], 5);
    EXPECT_EQ(extents[1], 64);
    expect_walk(types, rows);
    CopyShape cube = CopyShape::rows(16, 3, 16, 48);
    cube.repeat(4, 48, 48 * 7).repeat(2, 192, 48 * 7 * 5);
    EXPECT_TRUE(Datatypes::is_subarray(
        StridedSide::of(cube, StridedSide::Which::remote, MPI_BYTE, 1), extents));
    EXPECT_EQ(extents[3], 48);
    EXPECT_EQ(extents[2], 7);
    EXPECT_EQ(extents[1], 5);
    EXPECT_EQ(extents[0], 2);
    expect_walk(types, cube);
  });
}

TEST(Datatypes, OfStridesThatNoArrayHasPackWhatAWalkFinds) {
  on_ranks([](Job&) {
    Datatypes types;
    std::array<int, max_stride_levels + 1> extents{};
    CopyShape backwards = CopyShape::rows(8, 4, 8, -32);
    EXPECT_FALSE(Datatypes::is_subarray(
        StridedSide::of(backwards, StridedSide::Which::remote, MPI_BYTE, 1), extents));
    expect_walk(types, backwards);
    CopyShape no_multiple = CopyShape::rows(8, 4, 8, 24);
    no_multiple.repeat(3, 32, 100);
    EXPECT_FALSE(Datatypes::is_subarray(
        StridedSide::of(no_multiple, StridedSide::Which::remote, MPI_BYTE, 1), extents));
    expect_walk(types, no_multiple);
    // GA's issue 141: one row, with a stride without meaning.
    expect_walk(types, CopyShape::rows(2'095'808, 1, 8, 8));
    expect_walk(types, CopyShape::rows(8, 3, 8, 0));
  });
}

TEST(Datatypes, OfRandomShapesPackWhatAWalkFinds) {
  on_ranks([](Job&) {
    std::mt19937_64 random = test::make_random();
    Datatypes types;
    for (int i = 0; i < 600; ++i) {
      const int levels = static_cast<int>(test::random_in(random, 1, 5));
      const auto run = static_cast<std::size_t>(test::random_in(random, 1, 40));
      const CopyShape shape = test::random_disjoint_shape(random, levels, run, 8);
      if (shape.total_bytes() > 0) {
        expect_walk(types, shape);
      }
    }
  });
}

TEST(Datatypes, AreKeptForTheNextTransferOfTheShape) {
  on_ranks([](Job&) {
    Datatypes types;
    const StridedSide side =
        StridedSide::of(CopyShape::rows(16, 8, 16, 64), StridedSide::Which::remote, MPI_BYTE, 1);
    const MPI_Datatype first = types.find(side).value();
    for (std::size_t row = 1; row < 40; ++row) {
      ASSERT_TRUE(types
                      .find(StridedSide::of(CopyShape::rows(row, 8, 64, 64),
                                            StridedSide::Which::remote, MPI_BYTE, 1))
                      .ok());
    }
    EXPECT_EQ(types.find(side).value(), first);
  });
}

}  // namespace
}  // namespace tessera::rma::mpi
