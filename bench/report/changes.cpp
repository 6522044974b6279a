// SPDX-License-Identifier: BSD-3-Clause
#include "bench/report/changes.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "bench/report/backends.hpp"
#include "bench/support/statistics.hpp"

namespace tessera::bench::report {
namespace {

/// b / a, with the extreme ends that the ends of both allow.
std::optional<Ratio> quotient(const Ratio& b, const Ratio& a) {
  if (a.value <= 0 || a.ci95.lo <= 0) {
    return std::nullopt;
  }
  return Ratio{b.value / a.value, {b.ci95.lo / a.ci95.hi, b.ci95.hi / a.ci95.lo}};
}

/// The reference of `entry` in its rounds, by which both sides' results are divided.
std::string reference_of(const Entry& entry) {
  const auto& ratio = entry.first().ratio;
  return ratio && kind_of(ratio->reference) != Kind::ours ? ratio->reference : "";
}

/// With fewer samples, intervals mean nothing.
bool has_intervals(const Entry& entry) {
  return std::all_of(entry.launches.begin(), entry.launches.end(), [](const Result* launch) {
    return launch->samples_n >= samples_for_an_interval;
  });
}

/// Whether changes of `entry` are Tessera's: an unknown name may be a baseline's.
bool is_tessera(const Entry& entry) {
  const Kind kind = kind_of(entry.backend);
  return kind == Kind::ours || (kind == Kind::unknown && entry.first().against.has_value());
}

/// Adds the change of a result that both have.
void compare(const Measurement& measurement, const Entry& before, const Entry& after,
             Changes& changes) {
  const std::string reference = reference_of(after);
  const auto old_ratio = before.ratio_to(reference);
  const auto new_ratio = after.ratio_to(reference);
  const auto ratio = old_ratio && new_ratio ? quotient(*new_ratio, *old_ratio) : std::nullopt;
  if (!ratio) {
    ++changes.alone;
    return;
  }
  if (!has_intervals(before) || !has_intervals(after)) {
    ++changes.with_few_samples;
    return;
  }
  ++changes.compared;
  if (ratio->is_a_difference()) {
    changes.found.push_back({&measurement, after.backend, reference, *ratio,
                             std::min(before.launches.size(), after.launches.size())});
  }
}

}  // namespace

Changes changes_of(const Variant& before, const Variant& after) {
  Changes changes;
  for (const Measurement& measurement : after.measurements) {
    const Measurement* const old = before.find(measurement);
    for (const Entry& entry : measurement.entries) {
      const Entry* const old_entry = old == nullptr ? nullptr : old->find(entry.backend);
      if (old_entry != nullptr && is_tessera(entry)) {
        compare(measurement, *old_entry, entry, changes);
      }
    }
  }
  std::sort(changes.found.begin(), changes.found.end(), [](const Change& a, const Change& b) {
    return std::abs(std::log(a.ratio.value)) > std::abs(std::log(b.ratio.value));
  });
  return changes;
}

}  // namespace tessera::bench::report
