// SPDX-License-Identifier: BSD-3-Clause
//
// What memory a job has made remote on this rank: a list for people, and its sum.
//
//     std::cout << to_string(list_regions(job));
//
//     region  name                 members  bytes here
//          3  density                    4      800000
//          5  density (ready)            4         256
//
// Arrays give their region their own name; what the library needs besides is listed, too.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "rma/region_id.hpp"

namespace tessera::rma {

class Job;

/// What this rank has of a region.
struct RegionSummary {
  RegionId id;
  std::string name;  ///< RegionOptions::name
  int members = 0;
  std::size_t bytes = 0;     ///< of this rank's slice
  bool is_attached = false;  ///< the memory is the program's own
};

/// Local. The regions that this rank is a member of and that are not freed, in ascending order of
/// their numbers. Requires: no other thread frees any meanwhile. Cost: O(n log n).
std::vector<RegionSummary> list_regions(const Job& job);

/// Local. What regions take of this rank's memory, without that which is the program's own.
std::size_t bytes_in_regions(const Job& job);

/// A table, a line a region.
std::string to_string(std::span<const RegionSummary> regions);

}  // namespace tessera::rma
