// SPDX-License-Identifier: BSD-3-Clause
//
// RegionCounts: what this rank did in each region, by the regions' names, for profiles.
//
// Regions of one name share an entry, so that temporaries that are made repeatedly stay one line. A
// freed region keeps its number here, since threads deliver their counts late: some 50 bytes for
// each region that was ever made.
//
// Threads: all functions may be called from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "rma/engine/op_kind.hpp"
#include "rma/profile/phase_log.hpp"
#include "rma/region_id.hpp"

namespace tessera::rma::detail {

class RegionCounts {
 public:
  struct Entry {
    std::string name;           ///< empty: regions without a name, and operations without a region
    std::uint64_t regions = 0;  ///< how many there have been
    std::uint64_t bytes = 0;    ///< of this rank's slices now
    std::uint64_t max_bytes = 0;
    KindTallies tallies{};
  };

  explicit RegionCounts(std::shared_ptr<PhaseLog> phases);

  /// Records that a region was made, with the size of this rank's slice.
  void record_made(RegionId region, const std::string& name, std::uint64_t bytes);
  void record_freed(RegionId region, std::uint64_t bytes);
  /// Counts operations of the calling thread, also for the phases in which it is.
  void add(RegionId region, std::size_t kind, const Tally& tally);

  /// In the order in which the names first appeared; the first entry has no name.
  [[nodiscard]] std::vector<Entry> entries() const;

 private:
  [[nodiscard]] std::size_t index_of(RegionId region) const;

  std::shared_ptr<PhaseLog> phases_;
  mutable std::mutex mutex_;
  std::vector<Entry> entries_;
  std::unordered_map<std::string, std::size_t> by_name_;
  std::unordered_map<std::uint32_t, std::size_t> by_region_;
};

}  // namespace tessera::rma::detail
