// SPDX-License-Identifier: BSD-3-Clause
//
// The memory that a job makes remotely accessible on this rank: a list for users, and the total.
//
//     std::cout << to_string(list_regions(job));
//
//     region  name                 members  bytes here
//          3  density                    4      800000
//          5  density (ready)            4         256
//
// Arrays give their region their own name. The library's internal regions are listed, too.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "rma/region_id.hpp"

namespace tessera::rma {

class Job;

/// This rank's part of a region.
struct RegionSummary {
  RegionId id;
  std::string name;  ///< RegionOptions::name
  int members = 0;
  std::size_t bytes = 0;     ///< of this rank's slice
  bool is_attached = false;  ///< the memory is the program's own
};

/// Local. The regions that this rank is a member of and that are not freed, in ascending order of
/// their numbers. Requires: no other thread frees a region meanwhile. Cost: O(n log n).
std::vector<RegionSummary> list_regions(const Job& job);

/// Local. The bytes that regions have allocated on this rank. Attached memory does not count: it
/// belongs to the program.
std::size_t bytes_in_regions(const Job& job);

/// A table with one line per region.
std::string to_string(std::span<const RegionSummary> regions);

}  // namespace tessera::rma
