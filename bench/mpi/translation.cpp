// SPDX-License-Identifier: BSD-3-Clause
//
// What it takes to find the region of (rank, address) as ARMCI's programs name it ([ARMCIMPI12],
// section V.B), while 5000 regions live. Each lookup asks for another region, in an order that is
// no order of addresses: a cache of the last hit gains nothing. Beside it a binary search, which
// has nothing else to do.
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

/// The regions, and an address in each slice of rank 1, in the order in which they are asked for.
class Regions {
 public:
  /// Collective.
  explicit Regions(rma::Job& job) : job_(job) {
    for (std::size_t i = 0; i < region_count; ++i) {
      regions_.push_back(rma::Region::allocate(job.world(), region_bytes).value());
    }
    constexpr std::size_t step = 1951;  // has no divisor in common with their number
    for (std::size_t i = 0; i < region_count; ++i) {
      const std::size_t at = i * step % region_count;
      asked_.push_back(static_cast<const std::byte*>(regions_[at].raw_pointer(target)) + offset);
      expected_.push_back(regions_[at].id());
    }
    sorted_ = asked_;
    std::sort(sorted_.begin(), sorted_.end());
  }

  [[nodiscard]] Candidate translate(std::string name, std::size_t among) {
    Candidate candidate = looked_up(std::move(name), among, [this](const std::byte* pointer) {
      return job_.translate(target_rank, pointer).value().offset;
    });
    candidate.verify = [this] { return verify(); };
    return candidate;
  }
  [[nodiscard]] Candidate binary_search() {
    return looked_up("binary search", region_count, [this](const std::byte* pointer) {
      const auto found = std::upper_bound(sorted_.begin(), sorted_.end(), pointer);
      return static_cast<std::uint64_t>(found - sorted_.begin());
    });
  }

 private:
  static constexpr std::uint64_t offset = 24;

  /// One repetition is a lookup; each depends on the one before, as a call on the last one's end.
  template <class LookUp>
  Candidate looked_up(std::string name, std::size_t among, LookUp look_up) {
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
        return fmt::format("address {} is not found where it lies", i);
      }
    }
    return "";
  }

  rma::Job& job_;
  std::vector<rma::Region> regions_;
  std::vector<const std::byte*> asked_;
  std::vector<const std::byte*> sorted_;
  std::vector<rma::RegionId> expected_;
  std::uint64_t sum_ = 0;  ///< keeps lookups from being left out
};

}  // namespace

void measure_windows_translation(Session& session) {
  Regions regions(session.job());
  Topic topic{fmt::format("Translation among {} Regions Latency", region_count), "translation",
              Quantity::latency, "Regions"};
  const std::vector<Candidate> candidates = {regions.binary_search(),
                                             regions.translate("same region", 1),
                                             regions.translate("tessera", region_count)};
  // Samples in which all regions have their turn, so that none finds the others' caches.
  const auto measured =
      measure_line(session, topic, {"mpi", topic.op, fmt::format("regions = {}", region_count), 0},
                   region_count, candidates, side_by_side(session.options().measure_options()));
  if (session.is_leader()) {
    const Stats& stats = measured.back().stats_ns;
    session.targets().observe(windows_target::translation, "each in turn",
                              {stats.median, stats.ci95_median, stats.samples_n});
  }
}

}  // namespace tessera::bench
