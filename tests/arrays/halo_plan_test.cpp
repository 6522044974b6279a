// SPDX-License-Identifier: BSD-3-Clause
//
// HaloPlan and PackedHaloExchange, executed in ordinary memory: the slices of all ranks are filled
// with the numbers of their elements, and every ghost cell must get the number of the element that
// it copies.
#include "arrays/halo_plan.hpp"

#include "arrays/packed_halo_exchange.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "tests/arrays/distribution_kinds.hpp"
#include "tests/arrays/ghost_cells.hpp"
#include "tests/arrays/printers.hpp"

namespace tessera::arrays::kinds {
namespace {

using test::is_updated;
using test::lies_beside;
using test::periodic_image;

constexpr std::int64_t unset = -1;

class Model {
 public:
  explicit Model(const Distribution& distribution) : distribution_(distribution) {
    for (std::int32_t rank = 0; rank < distribution.nranks(); ++rank) {
      slices_.emplace_back(static_cast<std::size_t>(distribution.local_elements({rank})), unset);
      for_each_index(distribution.box_of({rank}),
                     [&](const Index& at) { cell({rank}, at) = number(at); });
    }
  }

  std::int64_t& cell(rma::TeamRank rank, const Index& at) {
    const Box slice = distribution_.box_of(rank).grown(distribution_.ghosts());
    const Strides strides = dense_strides(slice.extents(), distribution_.order());
    return slice_of(rank)[static_cast<std::size_t>(distance(slice.lo(), at, strides))];
  }
  [[nodiscard]] std::int64_t number(const Index& at) const {
    const Index image = periodic_image(at, distribution_.extents());
    std::int64_t number = 0;
    for (int dim = 0; dim < at.ndims(); ++dim) {
      number = number * distribution_.extents()[dim] + image[dim];
    }
    return number;
  }
  void carry_out(const std::vector<GhostPiece>& pieces, rma::TeamRank rank) {
    for (const GhostPiece& piece : pieces) {
      auto* const from = reinterpret_cast<std::byte*>(slice_of(piece.source).data()) + piece.from;
      auto* const to = reinterpret_cast<std::byte*>(slice_of(rank).data()) + piece.to;
      copy(to, from, piece.shape, piece.shape.levels);
    }
  }
  // Everything that others send to the rank; packed messages use buffer `place`, the first or the
  // second.
  void pack(const PackedHaloExchange& mail, rma::TeamRank rank, std::size_t place) {
    std::vector<std::byte>& control = controls_[static_cast<std::size_t>(rank.value)];
    control.resize(mail.bytes());
    for (const PackedHaloExchange::Sender& sender : mail.senders()) {
      if (!sender.message_offset) {
        carry_out(sender.pieces, rank);
        continue;
      }
      auto* const slice = reinterpret_cast<std::byte*>(slice_of(sender.rank).data());
      for (const PackedPiece& piece : packing(sender.pieces)) {
        copy(message_of(control, sender, place) + piece.packed_offset, slice + piece.slice_offset,
             reversed(piece.shape), piece.shape.levels);
      }
    }
  }
  void unpack(const PackedHaloExchange& mail, rma::TeamRank rank, std::size_t place) {
    std::vector<std::byte>& control = controls_[static_cast<std::size_t>(rank.value)];
    auto* const slice = reinterpret_cast<std::byte*>(slice_of(rank).data());
    for (const PackedHaloExchange::Sender& sender : mail.senders()) {
      if (sender.message_offset) {
        for (const PackedPiece& piece : unpacking(sender.pieces)) {
          copy(slice + piece.slice_offset, message_of(control, sender, place) + piece.packed_offset,
               piece.shape, piece.shape.levels);
        }
      }
    }
  }

 private:
  static std::byte* message_of(std::vector<std::byte>& control,
                               const PackedHaloExchange::Sender& sender, std::size_t place) {
    return control.data() + *sender.message_offset + place * sender.message_bytes;
  }
  static rma::CopyShape reversed(const rma::CopyShape& shape) {
    rma::CopyShape other = shape;
    for (int i = 0; i < shape.levels; ++i) {
      auto& level = other.level[static_cast<std::size_t>(i)];
      std::swap(level.local_stride, level.remote_stride);
    }
    return other;
  }
  std::vector<std::int64_t>& slice_of(rma::TeamRank rank) {
    return slices_[static_cast<std::size_t>(rank.value)];
  }
  // Copies the levels below `levels`.
  static void copy(std::byte* to, const std::byte* from, const rma::CopyShape& shape, int levels) {
    if (levels == 0) {
      std::memcpy(to, from, shape.run_bytes);
      return;
    }
    const rma::CopyShape::Level& level = shape.level[static_cast<std::size_t>(levels - 1)];
    for (std::int64_t i = 0; i < level.count; ++i) {
      copy(to + i * level.remote_stride, from + i * level.local_stride, shape, levels - 1);
    }
  }

  const Distribution& distribution_;
  std::vector<std::vector<std::int64_t>> slices_;
  std::vector<std::vector<std::byte>> controls_{static_cast<std::size_t>(distribution_.nranks())};
};

struct Case {
  Distribution distribution;
  HaloOptions options;
  Extents widths;
};

PeriodicDims pick_dims(Random& random) {
  return PeriodicDims(static_cast<unsigned long>(pick(random, 0, 7)));
}

Case pick_case(Random& random) {
  const int ndims = static_cast<int>(pick(random, 1, 3));
  Extents extents = Extents::zeros(ndims);
  Extents ghosts = Extents::zeros(ndims);
  Extents widths = Extents::zeros(ndims);
  std::vector<BlockPartition1D> partitions;
  Extents blocks = Extents::zeros(ndims);
  for (int dim = 0; dim < ndims; ++dim) {
    extents[dim] = pick(random, 1, 9);
    ghosts[dim] = pick(random, 0, 4);
    widths[dim] = pick(random, 0, ghosts[dim]);
    partitions.push_back(pick(random, 0, 2) == 0 ? *BlockPartition1D::even(extents[dim], 1)
                                                 : pick_partition(random, extents[dim]));
    blocks[dim] = partitions.back().blocks();
  }
  // One more rank than blocks; it owns none.
  const BlockMap block_map = *BlockMap::grid(blocks, volume(blocks) + 1);
  HaloOptions options{.periodic = pick_dims(random),
                      .corners = pick(random, 0, 3) > 0,
                      .widths = {},
                      .left_out = pick(random, 0, 2) == 0 ? pick_dims(random) : PeriodicDims()};
  return {
      *Distribution::create(partitions, block_map, {.order = pick_order(random), .ghosts = ghosts}),
      options, widths};
}

bool is_covered(const Case& each, const Box& own, const Index& at) {
  return is_updated(at, own, each.distribution.extents(), each.options, each.widths);
}

// The cells of a rank's slice; empty if it owns no elements.
Box slice_box(const Distribution& distribution, rma::TeamRank rank) {
  const Box own = distribution.box_of(rank);
  return own.is_empty() ? own : own.grown(distribution.ghosts());
}

// The cells that the caller sets itself, before an update.
void set_left_out(const Case& each, Model& model, rma::TeamRank rank) {
  const Box own = each.distribution.box_of(rank);
  for_each_index(slice_box(each.distribution, rank), [&](const Index& at) {
    if (lies_beside(at, own, each.options.left_out)) {
      model.cell(rank, at) = model.number(at);
    }
  });
}

void check_ghosts(const Case& each, Model& model, rma::TeamRank rank) {
  const Box own = each.distribution.box_of(rank);
  for_each_index(slice_box(each.distribution, rank), [&](const Index& at) {
    const bool is_set = own.contains(at) || is_covered(each, own, at) ||
                        lies_beside(at, own, each.options.left_out);
    ASSERT_EQ(model.cell(rank, at), is_set ? model.number(at) : unset)
        << to_string(at) << " of rank " << rank.value << ", " << to_string(each.distribution)
        << ", widths " << to_string(each.widths) << ", periodic " << each.options.periodic
        << ", left out " << each.options.left_out << ", corners " << each.options.corners;
  });
}

template <class Action>
void for_each_rank(const Distribution& distribution, Action&& action) {
  for (std::int32_t rank = 0; rank < distribution.nranks(); ++rank) {
    action(rma::TeamRank{rank});
  }
}

TEST(HaloPlan, FillsEveryGhostCellOfRandomArrays) {
  Random random(7);
  for (int i = 0; i < 2000 && !::testing::Test::HasFailure(); ++i) {
    SCOPED_TRACE(i);
    const Case each = pick_case(random);
    const HaloPlan plan(each.distribution, sizeof(std::int64_t), each.options, each.widths);
    Model model(each.distribution);
    for_each_rank(each.distribution, [&](rma::TeamRank rank) {
      set_left_out(each, model, rank);
      model.carry_out(plan.wraps(rank), rank);
    });
    for_each_rank(each.distribution,
                  [&](rma::TeamRank rank) { model.carry_out(plan.pieces(rank), rank); });
    for_each_rank(each.distribution, [&](rma::TeamRank rank) { check_ghosts(each, model, rank); });
  }
}

// Packed messages of different senders, flags and the two buffers of one sender don't overlap: all
// are written before any is read.
TEST(PackedHaloExchange, CarriesWhatThePlanAsksFor) {
  Random random(9);
  for (int i = 0; i < 1000 && !::testing::Test::HasFailure(); ++i) {
    SCOPED_TRACE(i);
    const Case each = pick_case(random);
    const HaloPlan plan(each.distribution, sizeof(std::int64_t), each.options, each.widths);
    Model model(each.distribution);
    std::vector<PackedHaloExchange> mails;
    const auto largest = static_cast<std::size_t>(pick(random, 0, 600));
    for_each_rank(each.distribution, [&](rma::TeamRank rank) {
      mails.emplace_back(plan, rank, largest);
      set_left_out(each, model, rank);
      model.carry_out(plan.wraps(rank), rank);
    });
    const std::size_t place = pick(random, 0, 1) == 0 ? 0 : 1;
    for (const std::size_t written : {1 - place, place}) {
      for_each_rank(each.distribution, [&](rma::TeamRank rank) {
        model.pack(mails[static_cast<std::size_t>(rank.value)], rank, written);
      });
    }
    for_each_rank(each.distribution, [&](rma::TeamRank rank) {
      model.unpack(mails[static_cast<std::size_t>(rank.value)], rank, place);
      std::vector<GhostPiece> own = plan.pieces(rank);
      std::erase_if(own, [&](const GhostPiece& piece) { return piece.source != rank; });
      model.carry_out(own, rank);
    });
    for_each_rank(each.distribution, [&](rma::TeamRank rank) { check_ghosts(each, model, rank); });
  }
}

TEST(PackedHaloExchange, SendersFindTheirPlaceAtTheReceiver) {
  const auto distribution = Distribution::regular({12, 12}, 6, {.ghosts = {1, 1}}).value();
  const HaloPlan plan(distribution, sizeof(double), {.periodic = PeriodicDims().set()}, {1, 1});
  const PackedHaloExchange mail(plan, {0}, 24);
  std::vector<std::uint64_t> flags;
  int message_offset = 0;
  for (const PackedHaloExchange::Sender& sender : mail.senders()) {
    EXPECT_EQ(&mail.from(sender.rank), &sender);
    EXPECT_EQ(sender.flags % 64, 0U) << "a cache line of its own";
    flags.push_back(sender.flags);
    message_offset += sender.message_offset ? 1 : 0;
    EXPECT_LE(sender.message_offset.value_or(0) + 2 * sender.message_bytes, mail.bytes());
  }
  EXPECT_EQ(std::adjacent_find(flags.begin(), flags.end()), flags.end());
  EXPECT_GT(message_offset, 0);
  EXPECT_LT(message_offset, std::ssize(mail.senders())) << "some layers are longer than 24 bytes";
}

TEST(HaloPlan, NeighboursKnowEachOther) {
  Random random(8);
  for (int i = 0; i < 500; ++i) {
    const Case each = pick_case(random);
    const HaloPlan plan(each.distribution, sizeof(double), each.options, each.widths);
    for_each_rank(each.distribution, [&](rma::TeamRank rank) {
      for (const rma::TeamRank other : plan.neighbours(rank)) {
        const auto theirs = plan.neighbours(other);
        EXPECT_TRUE(std::binary_search(theirs.begin(), theirs.end(), rank))
            << rank.value << " of " << other.value << " in " << i;
      }
    });
  }
}

// As MG cuts its levels: whole planes are sent, as one run in each direction.
TEST(HaloPlan, SendsWholePlanesWhereOneDimensionIsCut) {
  const std::vector<BlockPartition1D> partitions{*BlockPartition1D::even(16, 2),
                                                 *BlockPartition1D::even(12, 1),
                                                 *BlockPartition1D::even(10, 1)};
  const auto distribution =
      Distribution::create(partitions, *BlockMap::grid({2, 1, 1}, 2), {.ghosts = {4, 4, 4}})
          .value();
  const HaloPlan plan(distribution, sizeof(double), {.periodic = PeriodicDims().set()}, {4, 4, 4});
  const auto pieces = plan.pieces({0});
  ASSERT_EQ(pieces.size(), 2U);
  for (const GhostPiece& piece : pieces) {
    EXPECT_EQ(piece.source, rma::TeamRank{1});
    EXPECT_EQ(piece.shape, rma::CopyShape::contiguous(sizeof(double) * 4 * (12 + 8) * (10 + 8)));
  }
  EXPECT_EQ(plan.wraps({0}).size(), 4U);
}

}  // namespace
}  // namespace tessera::arrays::kinds
