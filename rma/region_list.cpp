// SPDX-License-Identifier: BSD-3-Clause
#include "rma/region_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "rma/engine/job_state.hpp"
#include "rma/engine/region_state.hpp"
#include "rma/job.hpp"

namespace tessera::rma {

std::vector<RegionSummary> list_regions(const Job& job) {
  std::vector<RegionSummary> regions;
  for (detail::RegionState* const state : job.state().slices().regions().states()) {
    const Team& team = state->team();
    regions.push_back({state->id(), state->options().name, team.size(), state->bytes(team.rank()),
                       state->is_attached()});
  }
  std::sort(regions.begin(), regions.end(),
            [](const RegionSummary& a, const RegionSummary& b) { return a.id < b.id; });
  return regions;
}

std::size_t bytes_in_regions(const Job& job) {
  std::size_t bytes = 0;
  for (detail::RegionState* const state : job.state().slices().regions().states()) {
    bytes += state->is_attached() ? 0 : state->bytes(state->team().rank());
  }
  return bytes;
}

std::string to_string(std::span<const RegionSummary> regions) {
  std::size_t name_width = std::string_view("name").size();
  for (const RegionSummary& region : regions) {
    name_width = std::max(name_width, region.name.size());
  }
  std::string table = fmt::format("region  {:<{}}  members  bytes here\n", "name", name_width);
  for (const RegionSummary& region : regions) {
    fmt::format_to(std::back_inserter(table), "{:6}  {:<{}}  {:7}  {:10}{}\n", region.id.value,
                   region.name, name_width, region.members, region.bytes,
                   region.is_attached ? ", attached" : "");
  }
  return table;
}

}  // namespace tessera::rma
