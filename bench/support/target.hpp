// SPDX-License-Identifier: BSD-3-Clause
//
// Targets: what the design asks of ratios, and whether this run reached it.
//
// A target names a reference and the cases that it speaks of. Of all that are measured the worst
// counts, and the summary says which that was:
//
//     # Target                                         asked     worst  95 % interval   at reached
//     put and get of 8 B, time / memcpy               <= 6.00     4.81  [4.79,4.85]     put 8 yes
//
// Speeds are the reciprocals of times: "speed / memcpy >= 0.95" is the time of memcpy divided by
// ours.
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
  std::string reference;  ///< the candidate below the line: "memcpy"
  Sense sense = Sense::speed_at_least;
  double limit = 1;
  /// Which cases it speaks of; empty for one that is told by observe().
  std::function<bool(const Case&)> applies = {};
};

/// A target and the worst that was measured for it.
struct TargetResult {
  Target target;
  std::optional<Ratio> worst;  ///< in the target's sense; none when nothing was measured
  std::string where;           ///< the case of `worst`
  std::int64_t cases = 0;      ///< how many were measured
  /// How many it speaks of that were measured without its reference.
  std::int64_t cases_without_reference = 0;

  [[nodiscard]] bool is_reached() const;
  /// Whether the worst is of too few samples to say that it was reached or missed.
  [[nodiscard]] bool has_few_samples() const { return worst && worst->has_few_samples(); }
};

class Targets {
 public:
  void add(std::vector<Target> targets);

  /// Looks whether a measurement concerns a target. Requires: samples, as rank 0 has them.
  void look(const Case& c, const std::vector<Measured>& measured, const Measured& subject);
  /// Tells the ratio of a target that no case stands for, in the target's sense.
  void observe(std::string_view name, const std::string& where, const Ratio& ratio);

  /// Tells that a case of such a target was measured without its reference.
  void miss_reference(std::string_view name);

  [[nodiscard]] const std::vector<TargetResult>& results() const { return results_; }
  void print(std::ostream& out) const;

 private:
  std::vector<TargetResult> results_;
};

}  // namespace tessera::bench
