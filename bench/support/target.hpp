// SPDX-License-Identifier: BSD-3-Clause
//
// Targets: the limits that the design sets for ratios, and whether this run reached them.
//
// A target names a reference and the cases that it covers. The worst measured case counts, and the
// summary names it:
//
//     # Target                                         limit     worst  95 % interval   at reached
//     put and get of 8 B, time / memcpy               <= 6.00     4.81  [4.79,4.85]     put 8 yes
//
// Speeds are the reciprocals of times: "speed / memcpy >= 0.95" is the time of memcpy divided by
// Tessera's.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "bench/support/case.hpp"
#include "bench/support/measure.hpp"

namespace tessera::bench {

struct Target {
  enum class Sense {
    time_at_most,    ///< our time / the reference's ≤ limit
    speed_at_least,  ///< the reference's time / ours ≥ limit
  };

  std::string name;
  std::string reference;  ///< another candidate: "memcpy"
  Sense sense = Sense::speed_at_least;
  double limit = 1;
  /// The cases that the target covers; empty for a target whose ratios observe() reports.
  std::function<bool(const Case&)> applies = {};
};

/// A target and the worst case that was measured for it.
struct TargetResult {
  Target target;
  std::optional<Ratio> worst;  ///< in the target's sense; empty if nothing was measured
  std::string where;           ///< the case of `worst`
  std::int64_t cases = 0;      ///< number of measured cases
  /// Number of covered cases that were measured without the reference.
  std::int64_t cases_without_reference = 0;

  [[nodiscard]] bool is_reached() const;
  /// Whether the worst case has too few samples to decide whether the target was reached.
  [[nodiscard]] bool has_few_samples() const { return worst && worst->has_few_samples(); }
};

class Targets {
 public:
  void add(std::vector<Target> targets);

  /// Adds a measurement to the targets that cover it. Requires: samples, as rank 0 has them.
  void look(const Case& c, const std::vector<Measured>& measured, const Measured& subject);
  /// Adds a ratio, in the target's sense, to a target that no Case represents.
  void observe(std::string_view name, const std::string& where, const Ratio& ratio);

  /// Records that a case of such a target was measured without its reference.
  void record_missing_reference(std::string_view name);

  [[nodiscard]] const std::vector<TargetResult>& results() const { return results_; }
  void print(std::ostream& out) const;

 private:
  std::vector<TargetResult> results_;
};

}  // namespace tessera::bench
