// SPDX-License-Identifier: BSD-3-Clause
//
// RunFile: what tessera-bench --json wrote, read back.
//
// Fields that a reader doesn't know are passed over, so that reports read what newer versions of
// the suite write; what it needs has to be there and be of the right kind.
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

/// A file that can't be read, is no JSON, or none of ours: "a.json: /results/3/median: expected a
/// number, found a string".
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
  double operations_per_s = 0;  ///< 0 where the file doesn't tell
  bool valid = true;
  std::vector<std::string> notes;
  std::optional<RatioTo> ratio;
  std::optional<std::vector<RatioTo>> against;
  std::vector<double> by_rank;
  std::vector<Interval> by_rank_ci95;  ///< as many, or none where the file doesn't tell
};

/// What tessera-run tells each of its ranks, which is no setting.
inline constexpr std::string_view launcher_variable = "TESSERA_LAUNCH";

struct TargetLine {
  std::string name;
  std::string reference;
  bool is_at_most = true;  ///< of times; else at least, of speeds
  double limit = 0;
  std::int64_t cases = 0;
  std::int64_t cases_without_reference = 0;
  std::optional<Ratio> worst;  ///< without samples_n where the file doesn't tell
  std::string where;
};

struct RatingLine {
  std::string name;
  double value = 0;
  std::string unit;
  bool valid = true;
};

struct RunFile {
  /// Whether --no-check left the check of the data out.
  [[nodiscard]] bool is_unchecked() const { return options.contains(no_check_option); }
  [[nodiscard]] bool is_unfinished() const { return !unfinished.empty(); }
  /// Whether some interval of it has all samples, and less than 95 %.
  [[nodiscard]] bool has_few_samples() const;

  std::string file;
  std::string suite_version;
  std::string git;
  std::vector<std::pair<std::string, std::string>> host;  ///< as written: "cpu", "kernel", …
  std::vector<std::string> argv;
  std::map<std::string, std::string> options;  ///< of argv, those by which numbers differ
  std::int64_t ranks = 1;
  std::int64_t nodes = 1;
  std::string binding;
  bool is_oversubscribed = false;
  std::map<std::string, std::string> env;
  std::vector<std::string> objections;
  double noise_percent = 0;
  std::string unfinished;  ///< what ended the run too early; empty for one that came to its end
  std::vector<TargetLine> targets;
  std::vector<RatingLine> ratings;
  std::vector<MatrixPattern> patterns;
  std::vector<Result> results;
};

/// Throws BadFile.
RunFile read_run_file(const std::string& path);
/// The same from text, or from an object; `name` stands for the file in messages.
RunFile parse_run_file(const std::string& name, std::string_view text);
RunFile to_run_file(const std::string& name, const nlohmann::ordered_json& json);

}  // namespace tessera::bench::report
