// SPDX-License-Identifier: BSD-3-Clause
//
// Table: results as text, in the format of the OSU benchmarks, so that scripts that read OSU's
// output read these tables, too.
//
//     # Tessera Put Latency v0.1.0
//     # backend: shm, sync: default, ranks: 2, nodes: 1, cores: 2, binding: none, …
//     # not a headline: frequency governor is unknown, not performance
//     # Size          Latency (us)      memcpy (us)   ratio
//     8                     0.0070           0.0014    5.00
//
// The first two columns are OSU's. With `full`, `Avg Min P50 P99 Max Iterations` follow. Then each
// other candidate has two columns: its value, and the subject's time divided by its time. A ratio
// below 1 means that the subject is faster. With `full`, the ratio's 95 % interval follows. A line
// of results begins with a number or, if a table compares operations, with the name of one (a
// word). All other lines begin with `#`.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "bench/support/candidate.hpp"
#include "bench/support/machine.hpp"
#include "bench/support/measure.hpp"

namespace tessera::bench {

enum class Quantity {
  latency,    ///< microseconds
  bandwidth,  ///< MB/s, of 10^6 bytes
  rate,       ///< millions of operations a second
};

struct Heading {
  std::string title;  ///< "Put Latency"
  Quantity quantity = Quantity::latency;
  std::size_t subject = 0;  ///< the candidate of the second column: its index in the first line
  bool full = false;
  std::string size_name = "Size";
  std::string sync =
      "";  ///< the word of -s for the table's cases; empty: what the run's options say
  BootstrapOptions bootstrap = {};
};

class Table {
 public:
  /// `out` and `run` must outlive the table.
  Table(std::ostream& out, Heading heading, const RunInfo& run);

  /// Which of `measured` stands in the second column: the candidate with the subject's name in the
  /// first line. Lines may have different candidates, so its index may differ. Throws
  /// std::logic_error if it is missing.
  [[nodiscard]] std::size_t subject_in(const std::vector<Measured>& measured);
  /// Writes one line; writes headers before the first line and whenever the candidates change.
  void add(std::int64_t size, const std::vector<Measured>& measured);
  /// The same for a line with a name, one word of at most 9 letters: "fetch_add".
  void add(const std::string& line, const std::vector<Measured>& measured);

 private:
  void print_columns(const std::vector<Measured>& measured, std::size_t subject);
  void print_full_columns(const Measured& subject);
  void print_comparison(const Measured& subject, const Measured& other);
  [[nodiscard]] double in_unit(const Measured& measured, double time_ns) const;

  std::ostream& out_;
  Heading heading_;
  const RunInfo& run_;
  std::string subject_name_;
  std::vector<std::string> names_;  ///< of the columns in the last header
};

/// `text` right-aligned in a column of that width; at least one blank stands before it.
std::string column(const std::string& text, int width);

/// Writes the `# ` lines that say what was measured, and where.
void print_heading(std::ostream& out, const Heading& heading, const RunInfo& run,
                   const std::string& backend);

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
