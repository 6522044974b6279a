// SPDX-License-Identifier: BSD-3-Clause
//
// RunFile: reads the files that tessera-bench --json wrote.
//
// Unknown fields are ignored, so that reports can read files of newer versions of the suite.
// Required fields must be present and of the right kind.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "bench/support/matrix_pattern.hpp"
#include "bench/support/record.hpp"
#include "bench/support/statistics.hpp"

namespace tessera::bench::report {

/// A file that can't be read, is not JSON, or was not written by tessera-bench: "a.json:
/// /results/3/median: expected a number, found a string".
class BadFile : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// One of the file's results: a candidate of one measurement.
struct Result {
  std::string bench;
  std::string backend;
  std::string op;
  std::string shape;
  std::int64_t size = 0;
  std::string unit;
  std::int64_t samples_n = 0;
  double median = 0;  ///< here and below in `unit`
  double p99 = 0;
  Interval ci95;
  double bytes_per_s = 0;
  double operations_per_s = 0;  ///< 0 if the file lacks it
  bool valid = true;
  std::vector<std::string> notes;
  std::optional<RatioTo> ratio;
  std::optional<std::vector<RatioTo>> against;
  std::vector<double> by_rank;
  std::vector<Interval> by_rank_ci95;  ///< the same number; empty if the file lacks them
};

/// A variable that tessera-run sets for each of its ranks; it is not a setting.
inline constexpr std::string_view launcher_variable = "TESSERA_LAUNCH";

struct TargetLine {
  std::string name;
  std::string reference;
  bool is_at_most = true;  ///< of times; otherwise at least, of speeds
  double limit = 0;
  std::int64_t cases = 0;
  std::int64_t cases_without_reference = 0;
  std::optional<Ratio> worst;  ///< without samples_n if the file lacks it
  std::string where;
};

struct RatingLine {
  std::string name;
  double value = 0;
  std::string unit;
  bool valid = true;
};

struct RunFile {
  /// Whether --no-check disabled the check of the data.
  [[nodiscard]] bool is_unchecked() const { return options.contains(no_check_option); }
  [[nodiscard]] bool is_unfinished() const { return !unfinished.empty(); }
  /// Whether some interval is the range of all samples, with less than 95 % confidence.
  [[nodiscard]] bool has_few_samples() const;

  std::string file;
  std::string suite_version;
  std::string git;
  std::vector<std::pair<std::string, std::string>> host;  ///< as written: "cpu", "kernel", …
  std::vector<std::string> argv;
  std::map<std::string, std::string> options;  ///< those of argv that change the meaning of numbers
  std::int64_t ranks = 1;
  std::int64_t nodes = 1;
  std::string binding;
  bool is_oversubscribed = false;
  std::map<std::string, std::string> env;
  std::vector<std::string> objections;
  double noise_percent = 0;
  std::string unfinished;  ///< why the run ended early; empty if it ended normally
  std::vector<TargetLine> targets;
  std::vector<RatingLine> ratings;
  std::vector<MatrixPattern> patterns;
  std::vector<Result> results;
};

/// Throws BadFile.
RunFile read_run_file(const std::string& path);
/// Parses text, or an object; `name` stands for the file in messages.
RunFile parse_run_file(const std::string& name, std::string_view text);
RunFile to_run_file(const std::string& name, const nlohmann::ordered_json& json);

}  // namespace tessera::bench::report
