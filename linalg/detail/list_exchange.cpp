// SPDX-License-Identifier: BSD-3-Clause
#include "linalg/detail/list_exchange.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
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

// This rank's slot in the part of `control` on the rank at index `member`.
rma::RemoteAddress own_slot(const Team& team, const Region& control, std::size_t member) {
  return control.at(TeamRank{static_cast<std::int32_t>(member)},
                    index_of(team.rank()) * slot_bytes);
}

// One-sided. Sets slot o of each rank's part of `control` to the number from origin o.
Status announce(Job& job, const Team& team, const Region& control,
                std::span<const std::int64_t> counts) {
  for (std::size_t rank = 0; rank < counts.size(); ++rank) {
    if (counts[rank] > 0) {
      TESSERA_RETURN_IF_ERROR(rma::put_value(job, own_slot(team, control, rank), counts[rank]));
    }
  }
  return {};
}

// Local. Replaces the number in each slot by the origin's offset.
Status lay_out(Region& control, std::vector<std::int64_t>& begins) {
  TESSERA_ASSIGN_OR_RETURN(auto access, rma::LocalAccess::begin(control));
  std::int64_t total = 0;
  auto* const slots = reinterpret_cast<std::int64_t*>(access.data());
  for (std::size_t origin = 0; origin + 1 < begins.size(); ++origin) {
    begins[origin] = total;
    total += std::exchange(slots[origin], total);
  }
  begins.back() = total;
  return access.end();
}

// One-sided. Reads the offsets of this rank's elements in the buffers of other ranks.
Status get_offsets(Job& job, const Team& team, const Region& control,
                   std::span<const std::int64_t> counts, std::vector<std::int64_t>& offsets) {
  rma::Handle all;
  for (std::size_t rank = 0; rank < counts.size(); ++rank) {
    if (counts[rank] > 0) {
      all.collect(rma::get_async(job, own_slot(team, control, rank), &offsets[rank], slot_bytes));
    }
  }
  return all.wait();
}

std::vector<std::int64_t> counts_of(const Team& team, std::span<const RankList> given) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(team.size()));
  for (const RankList& list : given) {
    counts[index_of(list.rank)] = std::ssize(list.numbers);
  }
  return counts;
}

// One-sided. Puts the lists into their buffers.
Status put_lists(Job& job, const Region& to, std::span<const RankList> given,
                 std::span<const std::int64_t> offsets) {
  rma::Handle all;
  for (const RankList& list : given) {
    const auto offset = static_cast<std::uint64_t>(offsets[index_of(list.rank)]);
    all.collect(rma::put_async(job, to.at(list.rank, offset * slot_bytes), list.numbers.data(),
                               list.numbers.size() * slot_bytes));
  }
  return all.wait();
}

// Allocates a list for each origin that sends something.
std::vector<RankList> room_for(std::span<const std::int64_t> begins) {
  std::vector<RankList> lists;
  for (std::size_t origin = 0; origin + 1 < begins.size(); ++origin) {
    if (begins[origin] < begins[origin + 1]) {
      const auto count = static_cast<std::size_t>(begins[origin + 1] - begins[origin]);
      lists.push_back(
          {TeamRank{static_cast<std::int32_t>(origin)}, std::vector<std::int64_t>(count)});
    }
  }
  return lists;
}

// Fills these lists from the buffer.
void unpack(const std::int64_t* numbers, std::span<RankList> lists) {
  for (RankList& list : lists) {
    std::copy_n(numbers, list.numbers.size(), list.numbers.begin());
    numbers += list.numbers.size();
  }
}

}  // namespace

Result<Placement> offsets_by_origin(
    Job& job, Team& team, const std::function<Result<std::vector<std::int64_t>>()>& count) {
  const auto ranks = static_cast<std::size_t>(team.size());
  TESSERA_ASSIGN_OR_RETURN(Region control, Region::allocate(team, ranks * slot_bytes));
  Placement placement;
  std::vector<std::int64_t> counts;
  TESSERA_RETURN_IF_ERROR(meet(control, [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(counts, count());
    placement.offsets.resize(ranks);
    placement.begins.resize(ranks + 1);
    return announce(job, team, control, counts);
  }));
  TESSERA_RETURN_IF_ERROR(meet(control, lay_out(control, placement.begins)));
  TESSERA_RETURN_IF_ERROR(
      meet(control, [&] { return get_offsets(job, team, control, counts, placement.offsets); }));
  TESSERA_RETURN_IF_ERROR(control.free());
  return placement;
}

Result<std::vector<RankList>> exchange_lists(
    Job& job, Team& team, const std::function<Result<std::vector<RankList>>()>& make) {
  std::vector<RankList> given;
  const auto count = [&]() -> Result<std::vector<std::int64_t>> {
    TESSERA_ASSIGN_OR_RETURN(given, make());
    return counts_of(team, given);
  };
  TESSERA_ASSIGN_OR_RETURN(const Placement placement,
                           offsets_by_origin(job, team, std::cref(count)));
  const auto expected = static_cast<std::size_t>(placement.begins.back());
  TESSERA_ASSIGN_OR_RETURN(Region received, Region::allocate(team, expected * slot_bytes));
  std::vector<RankList> lists;
  TESSERA_RETURN_IF_ERROR(meet(received, [&] {
    lists = room_for(placement.begins);
    return put_lists(job, received, given, placement.offsets);
  }));
  unpack(reinterpret_cast<const std::int64_t*>(received.local()), lists);
  TESSERA_RETURN_IF_ERROR(received.free());
  return lists;
}

}  // namespace tessera::linalg::detail
