// SPDX-License-Identifier: BSD-3-Clause
#include "bench/report/changes.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "bench/report/backends.hpp"

namespace tessera::bench::report {
namespace {

/// b / a, with the ends that the ends of both allow at most.
std::optional<Ratio> quotient(const Ratio& b, const Ratio& a) {
  if (a.value <= 0 || a.ci95.lo <= 0) {
    return std::nullopt;
  }
  return Ratio{b.value / a.value, {b.ci95.lo / a.ci95.hi, b.ci95.hi / a.ci95.lo}};
}

/// What stands beside `entry` in its rounds, and both sides' results are divided by.
std::string reference_of(const Entry& entry) {
  const auto& ratio = entry.first().ratio;
  return ratio && kind_of(ratio->reference) != Kind::ours ? ratio->reference : "";
}

std::optional<Change> compare(const Measurement& measurement, const Entry& before,
                              const Entry& after) {
  Change change{&measurement,
                after.backend,
                reference_of(after),
                {},
                std::min(before.launches.size(), after.launches.size())};
  std::optional<Ratio> ratio;
  if (!change.reference.empty()) {
    const auto old_ratio = before.ratio_to(change.reference);
    const auto new_ratio = after.ratio_to(change.reference);
    ratio = old_ratio && new_ratio ? quotient(*new_ratio, *old_ratio) : std::nullopt;
  }
  if (!ratio) {
    change.reference.clear();
    ratio = quotient({after.median(), after.ci95()}, {before.median(), before.ci95()});
  }
  if (!ratio) {
    return std::nullopt;
  }
  change.ratio = *ratio;
  return change;
}

}  // namespace

Changes changes_of(const Variant& before, const Variant& after) {
  Changes changes;
  for (const Measurement& measurement : after.measurements) {
    const Measurement* const old = before.find(measurement);
    for (const Entry& entry : measurement.entries) {
      const Entry* const old_entry = old == nullptr ? nullptr : old->find(entry.backend);
      if (old_entry == nullptr || kind_of(entry.backend) != Kind::ours) {
        continue;
      }
      if (const auto change = compare(measurement, *old_entry, entry)) {
        ++changes.compared;
        if (change->ratio.is_a_difference()) {
          changes.found.push_back(*change);
        }
      }
    }
  }
  std::sort(changes.found.begin(), changes.found.end(), [](const Change& a, const Change& b) {
    return std::abs(std::log(a.ratio.value)) > std::abs(std::log(b.ratio.value));
  });
  return changes;
}

}  // namespace tessera::bench::report
