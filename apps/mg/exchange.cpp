// SPDX-License-Identifier: BSD-3-Clause
#include "apps/mg/exchange.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "rma/coalescing_scope.hpp"
#include "rma/handle.hpp"
#include "rma/notify.hpp"
#include "rma/region.hpp"
#include "rma/shape.hpp"
#include "rma/transfer.hpp"

namespace tessera::apps::mg {

using arrays::Array;
using arrays::Distribution;
using arrays::Halo;
using arrays::HaloOptions;
using arrays::HaloUpdate;
using rma::Result;
using rma::Status;

namespace {

/// A Halo and its update in progress.
class HaloExchange final : public GhostExchange {
 public:
  explicit HaloExchange(Halo halo) : halo_(std::move(halo)) {}

  Status post() override { return halo_.post(); }
  Status start() override {
    TESSERA_ASSIGN_OR_RETURN(HaloUpdate update, halo_.start());
    update_.emplace(std::move(update));
    return {};
  }
  Status finish() override {
    Status status = update_->finish();
    update_.reset();
    return status;
  }

 private:
  Halo halo_;
  std::optional<HaloUpdate> update_;
};

/// Offsets of packed messages and flags in every rank's part of the region. One set of messages is
/// for odd rounds, one for even rounds; each set has space for every rank's points. Then a flag for
/// every rank.
class InboxLayout {
 public:
  explicit InboxLayout(const Distribution& distribution) {
    std::size_t at = 0;
    for (std::int32_t rank = 0; rank < distribution.nranks(); ++rank) {
      offsets_.push_back(at);
      at += static_cast<std::size_t>(box_of(distribution, rank).points()) * sizeof(double);
    }
    set_bytes_ = at;
  }

  [[nodiscard]] std::size_t message_offset(std::int32_t sender, std::int32_t round) const {
    return offsets_[static_cast<std::size_t>(sender)] + (round % 2 == 0 ? 0 : set_bytes_);
  }
  [[nodiscard]] std::size_t flag(std::int32_t sender) const {
    return 2 * set_bytes_ + static_cast<std::size_t>(sender) * sizeof(std::int32_t);
  }
  [[nodiscard]] std::size_t bytes() const {
    return flag(static_cast<std::int32_t>(offsets_.size()));
  }

 private:
  std::vector<std::size_t> offsets_;
  std::size_t set_bytes_ = 0;
};

/// Each rank puts its points, and then a flag, into the inbox of every other rank: the time of one
/// message, without requests. A message is read before the sender's next but one arrives, because
/// that sender has waited for this rank's next one, which this rank sends after it has read.
class OneSidedGather final : public Gathering {
 public:
  static Result<std::unique_ptr<Gathering>> create(const rma::Job& job,
                                                   const Distribution& distribution,
                                                   const Grid& whole) {
    InboxLayout room(distribution);
    TESSERA_ASSIGN_OR_RETURN(rma::Region region, rma::Region::allocate(job.world(), room.bytes()));
    return std::unique_ptr<Gathering>(std::make_unique<OneSidedGather>(
        job, distribution, whole, std::move(room), std::move(region)));
  }

  OneSidedGather(const rma::Job& job, const Distribution& distribution, const Grid& whole,
                 InboxLayout room, rma::Region region)
      : job_(job), whole_(whole), room_(std::move(room)), region_(std::move(region)) {
    for (std::int32_t rank = 0; rank < job.size(); ++rank) {
      boxes_.push_back(box_of(distribution, rank));
    }
    message_.resize(static_cast<std::size_t>(own_box().points()));
  }
  ~OneSidedGather() override {
    sent_.wait().ignore("finish() reported it, or another error came first");
  }
  OneSidedGather(const OneSidedGather&) = delete;
  OneSidedGather& operator=(const OneSidedGather&) = delete;

  // Each rank begins with the next one, so that not all write to one rank at a time.
  Status start() override {
    previous_ = std::exchange(round_, next_round());
    pack(whole_, own_box(), message_.data());
    for (std::int32_t step = 1; step < job_.size(); ++step) {
      TESSERA_RETURN_IF_ERROR(send((own() + step) % job_.size()));
    }
    return {};
  }
  Status finish() override {
    for (std::int32_t step = 1; step < job_.size(); ++step) {
      TESSERA_RETURN_IF_ERROR(receive((own() + job_.size() - step) % job_.size()));
    }
    return sent_.wait();
  }

 private:
  [[nodiscard]] std::int32_t own() const { return job_.rank().value; }
  [[nodiscard]] const Box& own_box() const { return boxes_[static_cast<std::size_t>(own())]; }

  // From 1 to an even number, so that odd and even rounds still alternate when it starts over.
  [[nodiscard]] std::int32_t next_round() const {
    constexpr std::int32_t last = std::numeric_limits<std::int32_t>::max() - 1;
    return round_ % last + 1;
  }

  // A rank without points has also read: its flag says so.
  Status send(std::int32_t to) {
    const rma::TeamRank there{to};
    const rma::CoalescingScope one_message(job_);
    if (!message_.empty()) {
      sent_.collect(rma::put_async(job_, region_.at(there, room_.message_offset(own(), round_)),
                                   message_.data(),
                                   rma::CopyShape::contiguous(message_.size() * sizeof(double))));
    }
    return rma::raise_flag(job_, region_.at(there, room_.flag(own())), round_);
  }

  // The flag may already be a round ahead; then this round's message has arrived, too.
  Status receive(std::int32_t from) {
    const rma::TeamRank here{own()};
    TESSERA_RETURN_IF_ERROR(rma::wait_for_flag_change(job_, region_.at(here, room_.flag(from)),
                                                      previous_, rma::WorldRank{from})
                                .status());
    const std::byte* const message_offset = region_.local() + room_.message_offset(from, round_);
    unpack(whole_, boxes_[static_cast<std::size_t>(from)],
           reinterpret_cast<const double*>(message_offset));
    return {};
  }

  rma::Job job_;
  Grid whole_;
  InboxLayout room_;
  rma::Region region_;
  std::vector<Box> boxes_;       ///< by rank
  std::vector<double> message_;  ///< this rank's message
  rma::Handle sent_;             ///< the pending puts of the message
  std::int32_t round_ = 0;
  std::int32_t previous_ = 0;  ///< round
};

}  // namespace

Index3 to_index3(const arrays::Index& index) {
  return {index[0], index[1], index[2]};
}

Box to_box(const arrays::Box& box) {
  return {to_index3(box.lo()), to_index3(box.hi())};
}

Box box_of(const Distribution& distribution, std::int32_t rank) {
  return to_box(distribution.box_of(rma::TeamRank{rank}));
}

void pack(const Grid& grid, const Box& box, double* to) {
  const std::int64_t length = box.extents().x;
  for (std::int64_t z = box.lo.z; z < box.hi.z; ++z) {
    for (std::int64_t y = box.lo.y; y < box.hi.y; ++y) {
      to = std::copy_n(grid.at(z, y, box.lo.x), length, to);
    }
  }
}

void unpack(const Grid& grid, const Box& box, const double* from) {
  const std::int64_t length = box.extents().x;
  for (std::int64_t z = box.lo.z; z < box.hi.z; ++z) {
    for (std::int64_t y = box.lo.y; y < box.hi.y; ++y) {
      std::copy_n(from, length, grid.at(z, y, box.lo.x));
      from += length;
    }
  }
}

Result<std::unique_ptr<GhostExchange>> OneSidedExchange::plan(Array<double>& array,
                                                              const HaloOptions& options) {
  TESSERA_ASSIGN_OR_RETURN(Halo halo, Halo::create(array, options));
  return std::unique_ptr<GhostExchange>(std::make_unique<HaloExchange>(std::move(halo)));
}

Result<std::unique_ptr<Gathering>> OneSidedExchange::plan_gathering(
    const rma::Job& job, const Distribution& distribution, const Grid& whole) {
  return OneSidedGather::create(job, distribution, whole);
}

}  // namespace tessera::apps::mg
