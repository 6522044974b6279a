// SPDX-License-Identifier: BSD-3-Clause
//
// Report: what an application prints, as lines `name: value unit` for people and scripts and, when
// asked for, as one JSON object. Numbers are numbers there, with units in their names where a line
// has them behind the number in words.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "apps/common/output_file.hpp"
#include "rma/job.hpp"

namespace tessera::apps {

struct ReportOptions {
  std::string program;  ///< its name, for messages
  /// All goes there at the end, unless empty; "-": to standard output, and nothing else there.
  std::string json_file;
  bool is_quiet = false;  ///< no lines
  /// Of the program, which the JSON file may not be; empty names are none.
  std::vector<std::string> other_files = {};
};

class Report {
 public:
  /// A number of the JSON file, and its name there.
  using Number = std::pair<std::string_view, std::int64_t>;

  /// Collective. That of rank 0 prints and writes; those of others keep quiet. Errors, on all
  /// ranks: invalid_argument when the file can't be written, which is tried without changing it, or
  /// is another file of the program.
  static rma::Result<Report> create(rma::Job& job, ReportOptions options);

  void add(std::string_view name, std::string_view value);
  void add(std::string_view name, std::int64_t value, std::string_view unit = "");
  /// With `digits` significant digits; physical results need at least 12.
  void add(std::string_view name, double value, std::string_view unit, int digits = 6);

  /// Several numbers on one line, and a list in the JSON file.
  void add(std::string_view name, std::span<const double> values, std::string_view unit,
           int digits = 6);
  /// A line of words, and the same as numbers in the JSON file.
  void add(std::string_view name, std::string_view value, std::initializer_list<Number> numbers);
  /// Lines for people only.
  void note(std::string_view text) const;

  /// Prints VERIFICATION SUCCESSFUL or FAILED as the last line and writes the JSON file, which has
  /// true or false as `verification`; what goes wrong with that is told behind the line. Returns
  /// the program's exit code: 0, 1 when not verified, or 2 when the file can't be written.
  int finish(bool is_verified);
  /// The same of results that there is nothing to compare with: the last line is NOT VERIFIED with
  /// the reason, and the file has null as `verification` and the reason as `not_verified`.
  int finish_unverified(std::string_view reason);

 private:
  Report(ReportOptions options, bool is_speaker)
      : options_(std::move(options)),
        prints_(is_speaker && !options_.is_quiet && !goes_to_output(options_.json_file)),
        writes_(is_speaker && !options_.json_file.empty()) {}
  void print(std::string_view name, std::string_view value, std::string_view unit) const;
  int end(bool is_good, std::string_view last_line);
  [[nodiscard]] bool write_json() const;

  ReportOptions options_;
  bool prints_;
  bool writes_;
  nlohmann::ordered_json json_;
};

/// Local. Adds how the job runs: `ranks`, `nodes`, `bootstrap`, and `transport`, which names what
/// carries operations from this rank to each node, without repetition.
rma::Status add_job(Report& report, rma::Job& job);

/// Collective. Adds what all ranks together moved to other ranks: lines as `traffic_put`, numbers
/// as `traffic_put_operations` and `traffic_put_bytes`.
rma::Status add_traffic(Report& report, rma::Job& job);

}  // namespace tessera::apps
