// SPDX-License-Identifier: BSD-3-Clause
#include "linalg/detail/list_exchange.hpp"

#include <cstddef>
#include <utility>

#include "linalg/detail/agreement.hpp"
#include "rma/region.hpp"
#include "rma/transfer.hpp"

namespace tessera::linalg::detail {

using rma::Job;
using rma::Region;
using rma::Result;
using rma::Status;
using rma::Team;
using rma::TeamRank;

namespace {

constexpr std::uint64_t slot_bytes = sizeof(std::int64_t);

std::size_t index_of(TeamRank rank) {
  return static_cast<std::size_t>(rank.value);
}

// This rank's slot in the part of `control` of the rank at `place`.
rma::RemoteAddress own_slot(const Team& team, const Region& control, std::size_t place) {
  return control.at(TeamRank{static_cast<std::int32_t>(place)}, index_of(team.rank()) * slot_bytes);
}

// Collective. Slot o of a rank's part of `control` gets the number from origin o.
Status announce(Job& job, Team& team, Region& control, std::span<const std::int64_t> counts) {
  Status sent;
  for (std::size_t rank = 0; rank < counts.size() && sent.ok(); ++rank) {
    if (counts[rank] > 0) {
      sent = rma::put_value(job, own_slot(team, control, rank), counts[rank]);
    }
  }
  return meet(control, sent);
}

// Collective. Each slot's number is replaced by its origin's place.
Status lay_out(Region& control, std::vector<std::int64_t>& begins) {
  auto access = rma::LocalAccess::begin(control);
  std::int64_t total = 0;
  if (access.ok()) {
    auto* const slots = reinterpret_cast<std::int64_t*>(access->data());
    for (std::size_t origin = 0; origin + 1 < begins.size(); ++origin) {
      begins[origin] = total;
      total += std::exchange(slots[origin], total);
    }
  }
  begins.back() = total;
  return meet(control, access.ok() ? access->end() : access.status());
}

// One-sided. Where this rank's elements begin in the buffers of others.
Status ask_places(Job& job, const Team& team, const Region& control,
                  std::span<const std::int64_t> counts, std::vector<std::int64_t>& places) {
  rma::Handle all;
  for (std::size_t rank = 0; rank < counts.size(); ++rank) {
    if (counts[rank] > 0) {
      all.collect(rma::get_async(job, own_slot(team, control, rank), &places[rank], slot_bytes));
    }
  }
  return all.wait();
}

// What came from each origin that had something.
std::vector<RankList> unpack(std::span<const std::int64_t> begins, const std::int64_t* numbers) {
  std::vector<RankList> lists;
  for (std::size_t origin = 0; origin + 1 < begins.size(); ++origin) {
    if (begins[origin] < begins[origin + 1]) {
      lists.push_back({TeamRank{static_cast<std::int32_t>(origin)},
                       {numbers + begins[origin], numbers + begins[origin + 1]}});
    }
  }
  return lists;
}

}  // namespace

Result<Placement> place_by_origin(Job& job, Team& team, std::span<const std::int64_t> counts) {
  TESSERA_ASSIGN_OR_RETURN(Region control, Region::allocate(team, counts.size() * slot_bytes));
  Placement placement{std::vector<std::int64_t>(counts.size()),
                      std::vector<std::int64_t>(counts.size() + 1)};
  TESSERA_RETURN_IF_ERROR(announce(job, team, control, counts));
  TESSERA_RETURN_IF_ERROR(lay_out(control, placement.begins));
  TESSERA_RETURN_IF_ERROR(meet(control, ask_places(job, team, control, counts, placement.places)));
  TESSERA_RETURN_IF_ERROR(control.free());
  return placement;
}

Result<std::vector<RankList>> exchange_lists(Job& job, Team& team,
                                             std::span<const RankList> given) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(team.size()));
  for (const RankList& list : given) {
    counts[index_of(list.rank)] = std::ssize(list.numbers);
  }
  TESSERA_ASSIGN_OR_RETURN(const Placement placement, place_by_origin(job, team, counts));
  const auto expected = static_cast<std::size_t>(placement.begins.back());
  TESSERA_ASSIGN_OR_RETURN(Region received, Region::allocate(team, expected * slot_bytes));
  rma::Handle all;
  for (const RankList& list : given) {
    const auto place = static_cast<std::uint64_t>(placement.places[index_of(list.rank)]);
    all.collect(rma::put_async(job, received.at(list.rank, place * slot_bytes), list.numbers.data(),
                               list.numbers.size() * slot_bytes));
  }
  TESSERA_RETURN_IF_ERROR(meet(received, all.wait()));
  auto lists = unpack(placement.begins, reinterpret_cast<const std::int64_t*>(received.local()));
  TESSERA_RETURN_IF_ERROR(received.free());
  return lists;
}

}  // namespace tessera::linalg::detail
