// SPDX-License-Identifier: BSD-3-Clause
//
// The time to find the region of (rank, address), as ARMCI's programs specify it ([ARMCIMPI12],
// section V.B), while 5000 regions exist. Each lookup is for another region, in an order unrelated
// to the addresses, so a cache of the last hit does not help. The baseline is a binary search and
// nothing else.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/mpi/parts.hpp"
#include "bench/mpi/windows.hpp"
#include "rma/region.hpp"

namespace tessera::bench {
namespace {

constexpr std::size_t region_count = 5000;
constexpr std::size_t region_bytes = 64;
constexpr rma::TeamRank target{1};
constexpr rma::WorldRank target_rank{1};

/// The regions, and an address in each slice of rank 1, in the order of the lookups.
class Regions {
 public:
  /// Collective.
  explicit Regions(rma::Job& job) : job_(job) {
    for (std::size_t i = 0; i < region_count; ++i) {
      regions_.push_back(rma::Region::allocate(job.world(), region_bytes).value());
    }
    constexpr std::size_t step = 1951;  // has no divisor in common with the number of regions
    for (std::size_t i = 0; i < region_count; ++i) {
      const std::size_t at = i * step % region_count;
      asked_.push_back(static_cast<const std::byte*>(regions_[at].raw_pointer(target)) + offset);
      expected_.push_back(regions_[at].id());
    }
    sorted_ = asked_;
    std::sort(sorted_.begin(), sorted_.end());
  }

  [[nodiscard]] Candidate translate(std::string name, std::size_t among) {
    Candidate candidate =
        lookup_candidate(std::move(name), among, [this](const std::byte* pointer) {
          return job_.translate(target_rank, pointer).value().offset;
        });
    candidate.verify = [this] { return verify(); };
    return candidate;
  }
  [[nodiscard]] Candidate binary_search() {
    return lookup_candidate("binary search", region_count, [this](const std::byte* pointer) {
      const auto found = std::upper_bound(sorted_.begin(), sorted_.end(), pointer);
      return static_cast<std::uint64_t>(found - sorted_.begin());
    });
  }

 private:
  static constexpr std::uint64_t offset = 24;

  /// One repetition is a lookup; each depends on the previous one's result.
  template <class LookUp>
  Candidate lookup_candidate(std::string name, std::size_t among, LookUp look_up) {
    Candidate candidate;
    candidate.name = std::move(name);
    candidate.run = [this, among, look_up,
                     next = std::size_t{0}](std::int64_t repetitions) mutable {
      std::uint64_t sum = 0;
      for (std::int64_t i = 0; i < repetitions; ++i) {
        sum += look_up(asked_[next]);
        next = next + 1 < among ? next + 1 : 0;
      }
      sum_ = sum;
    };
    return candidate;
  }

  [[nodiscard]] std::string verify() const {
    for (std::size_t i = 0; i < region_count; ++i) {
      const auto found = job_.translate(target_rank, asked_[i]);
      if (!found.ok() || found->region != expected_[i] || found->offset != offset) {
        return fmt::format("address {} was not found in its region", i);
      }
    }
    return "";
  }

  rma::Job& job_;
  std::vector<rma::Region> regions_;
  std::vector<const std::byte*> asked_;
  std::vector<const std::byte*> sorted_;
  std::vector<rma::RegionId> expected_;
  std::uint64_t sum_ = 0;  ///< keeps the compiler from removing lookups
};

}  // namespace

void measure_windows_translation(Session& session) {
  Regions regions(session.job());
  Topic topic{fmt::format("Translation Among {} Regions Latency", region_count), "translation",
              Quantity::latency, "Regions"};
  const std::vector<Candidate> candidates = {regions.binary_search(),
                                             regions.translate("same region", 1),
                                             regions.translate("tessera", region_count)};
  // Each sample visits all regions, so that no candidate finds the others' data in the caches.
  const auto measured =
      measure_line(session, topic, {"mpi", topic.op, fmt::format("regions = {}", region_count), 0},
                   region_count, candidates, concurrent(session.options().measure_options()));
  if (session.is_leader()) {
    const Stats& stats = measured.back().stats_ns;
    session.targets().observe(windows_target::translation, "each in turn",
                              {stats.median, stats.ci95_median, stats.samples_n});
  }
}

}  // namespace tessera::bench
