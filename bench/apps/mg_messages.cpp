// SPDX-License-Identifier: BSD-3-Clause
//
// Ghost cells arrive in three phases, x first and z last. Each phase sends what the earlier ones
// have brought. So corners need no separate messages, and z faces are whole planes, which are sent
// without packing. A dimension that this rank owns completely is copied locally.
//
// Starting the exchange completes it, as in NPB; or it leaves the last phase outstanding, and MPI
// makes progress in later calls.
#include "bench/apps/others.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "bench/baselines/mpi_api.hpp"

namespace tessera::bench {
namespace {

using arrays::Array;
using arrays::Box;
using arrays::Distribution;
using arrays::Extents;
using arrays::HaloOptions;
using arrays::Index;
using rma::Status;

constexpr int dims = 3;

/// A box of doubles in memory.
struct Block {
  double* data = nullptr;
  Extents extents;
  std::int64_t plane = 0;  ///< strides
  std::int64_t row = 0;

  [[nodiscard]] int elements() const { return static_cast<int>(arrays::volume(extents)); }
  [[nodiscard]] bool is_dense() const {
    return extents[2] == row && (extents[0] == 1 || extents[1] * row == plane);
  }
  template <class Action>
  void for_each_row(const Action& action) const {
    for (std::int64_t z = 0; z < extents[0]; ++z) {
      for (std::int64_t y = 0; y < extents[1]; ++y) {
        action(data + z * plane + y * row);
      }
    }
  }
  [[nodiscard]] std::size_t row_elements() const { return static_cast<std::size_t>(extents[2]); }
  void pack(double* to) const {
    for_each_row([&](const double* from) { to = std::copy_n(from, row_elements(), to); });
  }
  void unpack(const double* from) const {
    for_each_row([&](double* to) {
      std::copy_n(from, row_elements(), to);
      from += row_elements();
    });
  }
};

/// One end of a message: a block, and its packed copy.
class Face {
 public:
  explicit Face(const Block& block)
      : block_(block), packed_(block.is_dense() ? 0 : static_cast<std::size_t>(block.elements())) {}

  [[nodiscard]] const Block& block() const { return block_; }
  void send(int to, int tag, MPI_Request& request) {
    if (!packed_.empty()) {
      block_.pack(packed_.data());
    }
    MPI_Isend(wire(), block_.elements(), MPI_DOUBLE, to, tag, MPI_COMM_WORLD, &request);
  }
  void receive(int from, int tag, MPI_Request& request) {
    MPI_Irecv(wire(), block_.elements(), MPI_DOUBLE, from, tag, MPI_COMM_WORLD, &request);
  }
  void finish_receive() const {
    if (!packed_.empty()) {
      block_.unpack(packed_.data());
    }
  }

 private:
  [[nodiscard]] double* wire() { return packed_.empty() ? block_.data : packed_.data(); }

  Block block_;
  std::vector<double> packed_;
};

/// The exchange in one dimension.
struct DimensionExchange {
  int below = 0;  ///< MPI ranks of the neighbours
  int above = 0;
  bool is_alone = false;  ///< both neighbours are this rank
  Face low;               ///< own layers
  Face high;
  Face low_ghosts;
  Face high_ghosts;

  void start() {
    if (is_alone) {
      copy(high.block(), low_ghosts.block());
      copy(low.block(), high_ghosts.block());
      return;
    }
    constexpr int downwards = 0;
    constexpr int upwards = 1;
    low_ghosts.receive(below, upwards, requests[0]);
    high_ghosts.receive(above, downwards, requests[1]);
    low.send(below, downwards, requests[2]);
    high.send(above, upwards, requests[3]);
  }
  void finish() {
    if (is_alone) {
      return;
    }
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    low_ghosts.finish_receive();
    high_ghosts.finish_receive();
  }

  std::array<MPI_Request, 4> requests = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL,
                                         MPI_REQUEST_NULL};

 private:
  static void copy(const Block& from, const Block& to) {
    for (std::int64_t z = 0; z < from.extents[0]; ++z) {
      for (std::int64_t y = 0; y < from.extents[1]; ++y) {
        std::copy_n(from.data + z * from.plane + y * from.row, from.row_elements(),
                    to.data + z * to.plane + y * to.row);
      }
    }
  }
};

/// The part of this rank's slice, ghost cells included, that holds `box`.
Block block_of(Array<double>& array, const Box& box) {
  const Extents slice = array.distribution().local_extents(array.team().rank());
  const Box own = array.own_box();
  const Extents& ghosts = array.distribution().ghosts();
  Block block{nullptr, box.extents(), slice[1] * slice[2], slice[2]};
  const Index strides = {block.plane, block.row, 1};
  auto* data = reinterpret_cast<double*>(array.region().local());
  for (int dim = 0; dim < dims; ++dim) {
    data += (box.lo(dim) - own.lo(dim) + ghosts[dim]) * strides[dim];
  }
  block.data = data;
  return block;
}

/// `known` in all dimensions except `dim`, and there [lo, hi).
Box layers(Box known, int dim, std::int64_t lo, std::int64_t hi) {
  known.set(dim, lo, hi);
  return known;
}

int neighbour(const Array<double>& array, int dim, std::int64_t at) {
  Index there = array.own_box().lo();
  const std::int64_t extent = array.extents()[dim];
  there[dim] = (at + extent) % extent;
  return array.team().world_rank(array.owner(there)).value;
}

/// `known` is the part of the slice that is already updated, in the other dimensions.
DimensionExchange make_phase(Array<double>& array, int dim, const Box& known) {
  const Box own = array.own_box();
  const std::int64_t width = array.distribution().ghosts()[dim];
  const auto face = [&](std::int64_t lo, std::int64_t hi) {
    return Face(block_of(array, layers(known, dim, lo, hi)));
  };
  return {.below = neighbour(array, dim, own.lo(dim) - 1),
          .above = neighbour(array, dim, own.hi(dim)),
          .is_alone = array.distribution().partition(dim).blocks() == 1,
          .low = face(own.lo(dim), own.lo(dim) + width),
          .high = face(own.hi(dim) - width, own.hi(dim)),
          .low_ghosts = face(own.lo(dim) - width, own.lo(dim)),
          .high_ghosts = face(own.hi(dim), own.hi(dim) + width)};
}

std::vector<DimensionExchange> make_phases(Array<double>& array, const HaloOptions& options) {
  std::vector<DimensionExchange> phases;
  Box known = array.own_box();
  if (known.is_empty()) {
    return phases;
  }
  const Extents& ghosts = array.distribution().ghosts();
  const auto grow = [&](int dim) {
    known.set(dim, known.lo(dim) - ghosts[dim], known.hi(dim) + ghosts[dim]);
  };
  const auto is_left_out = [&](int dim) {
    return options.left_out.test(static_cast<std::size_t>(dim));
  };
  for (int dim = 0; dim < dims; ++dim) {
    if (is_left_out(dim)) {
      grow(dim);
    }
  }
  for (int dim = dims - 1; dim >= 0; --dim) {
    if (!is_left_out(dim)) {
      phases.push_back(make_phase(array, dim, known));
      grow(dim);
    }
  }
  return phases;
}

/// Whether each block can fill its neighbours' ghost cells: the same answer on every rank.
Status check_blocks(const Array<double>& array) {
  const Distribution& distribution = array.distribution();
  for (int dim = 0; dim < dims; ++dim) {
    const arrays::BlockPartition1D& cut = distribution.partition(dim);
    for (std::int64_t block = 0; block < cut.blocks(); ++block) {
      if (cut.hi(block) - cut.lo(block) < distribution.ghosts()[dim]) {
        return Status::error(rma::Code::unsupported,
                             "a block is thinner than its ghost layers; use fewer ranks");
      }
    }
  }
  return {};
}

class MpiGhosts final : public apps::mg::GhostExchange {
 public:
  MpiGhosts(std::vector<DimensionExchange> phases, bool overlaps)
      : phases_(std::move(phases)), overlaps_(overlaps) {}

  Status start() override {
    for (DimensionExchange& phase : phases_) {
      phase.start();
      if (!overlaps_ || &phase != &phases_.back()) {
        phase.finish();
      }
    }
    return {};
  }
  Status finish() override {
    if (overlaps_ && !phases_.empty()) {
      phases_.back().finish();
    }
    return {};
  }

 private:
  std::vector<DimensionExchange> phases_;
  bool overlaps_;
};

class MpiGathering final : public apps::mg::Gathering {
 public:
  MpiGathering(int own, const Distribution& distribution, const apps::mg::Grid& whole)
      : whole_(whole), own_(static_cast<std::size_t>(own)) {
    int total = 0;
    for (std::int32_t rank = 0; rank < distribution.nranks(); ++rank) {
      boxes_.push_back(apps::mg::box_of(distribution, rank));
      counts_.push_back(static_cast<int>(boxes_.back().points()));
      places_.push_back(total);
      total += counts_.back();
    }
    mine_.resize(static_cast<std::size_t>(counts_[own_]));
    all_.resize(static_cast<std::size_t>(total));
  }

  Status finish() override {
    apps::mg::pack(whole_, boxes_[own_], mine_.data());
    MPI_Allgatherv(mine_.data(), counts_[own_], MPI_DOUBLE, all_.data(), counts_.data(),
                   places_.data(), MPI_DOUBLE, MPI_COMM_WORLD);
    for (std::size_t rank = 0; rank < boxes_.size(); ++rank) {
      if (rank != own_) {
        apps::mg::unpack(whole_, boxes_[rank], all_.data() + places_[rank]);
      }
    }
    return {};
  }

 private:
  apps::mg::Grid whole_;
  std::size_t own_;
  std::vector<apps::mg::Box> boxes_;  ///< by rank
  std::vector<int> counts_;
  std::vector<int> places_;
  std::vector<double> mine_;
  std::vector<double> all_;
};

class MpiExchange : public apps::mg::Exchange {
 public:
  explicit MpiExchange(bool overlaps) : overlaps_(overlaps) {}

  rma::Result<std::unique_ptr<apps::mg::GhostExchange>> plan(Array<double>& array,
                                                             const HaloOptions& options) override {
    TESSERA_RETURN_IF_ERROR(check_blocks(array));
    return std::unique_ptr<apps::mg::GhostExchange>(
        std::make_unique<MpiGhosts>(make_phases(array, options), overlaps_));
  }

  rma::Result<std::unique_ptr<apps::mg::Gathering>> plan_gathering(
      const rma::Job& job, const Distribution& distribution, const apps::mg::Grid& whole) override {
    return std::unique_ptr<apps::mg::Gathering>(
        std::make_unique<MpiGathering>(job.rank().value, distribution, whole));
  }

 private:
  bool overlaps_;
};

}  // namespace

std::unique_ptr<apps::mg::Exchange> make_mpi_exchange(const RankGroup& group, bool overlaps) {
  return mpi::is_running(group.size()) ? std::make_unique<MpiExchange>(overlaps) : nullptr;
}

}  // namespace tessera::bench
