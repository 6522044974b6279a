// SPDX-License-Identifier: BSD-3-Clause
//
// Report: an application's results, as lines `name: value unit` for users and scripts, and
// optionally as one JSON object. In JSON numbers are numbers, and units are part of names.
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
  /// JSON output file, written at the end; "-": standard output instead of lines; empty: none.
  std::string json_file;
  bool is_quiet = false;  ///< no lines
  /// The program's other files, which the JSON file must not overwrite; empty names are ignored.
  std::vector<std::string> other_files = {};
};

class Report {
 public:
  /// A number of the JSON file, with its name.
  using Number = std::pair<std::string_view, std::int64_t>;

  /// Collective. Rank 0 prints and writes; other ranks' reports do nothing. Errors, on all ranks:
  /// invalid_argument if the file cannot be written, which is tested without changing it, or is
  /// another file of the program.
  static rma::Result<Report> create(rma::Job& job, ReportOptions options);

  void add(std::string_view name, std::string_view value);
  void add(std::string_view name, std::int64_t value, std::string_view unit = "");
  /// Prints `digits` significant digits; physical results need at least 12.
  void add(std::string_view name, double value, std::string_view unit, int digits = 6);

  /// Several numbers on one line; a list in the JSON file.
  void add(std::string_view name, std::span<const double> values, std::string_view unit,
           int digits = 6);
  /// A line of text, and the same as numbers in the JSON file.
  void add(std::string_view name, std::string_view value, std::initializer_list<Number> numbers);
  /// Lines of text only.
  void note(std::string_view text) const;

  /// Prints VERIFICATION SUCCESSFUL or FAILED as the last line and writes the JSON file, with true
  /// or false as `verification`. An error of writing is printed after that line. Returns the
  /// program's exit code: 0, 1 if not verified, or 2 if the file cannot be written.
  int finish(bool is_verified);
  /// The same for results without a reference: the last line is NOT VERIFIED with the reason; the
  /// file has null as `verification` and the reason as `not_verified`.
  int finish_unverified(std::string_view reason);

 private:
  Report(ReportOptions options, bool is_reporter)
      : options_(std::move(options)),
        prints_(is_reporter && !options_.is_quiet && !goes_to_output(options_.json_file)),
        writes_(is_reporter && !options_.json_file.empty()) {}
  void print(std::string_view name, std::string_view value, std::string_view unit) const;
  int end(bool is_good, std::string_view last_line);
  [[nodiscard]] bool write_json() const;

  ReportOptions options_;
  bool prints_;
  bool writes_;
  nlohmann::ordered_json json_;
};

/// Local. Adds how the job runs: `ranks`, `nodes`, `bootstrap`, and `transport`, the transports
/// from this rank to each node, each once.
rma::Status add_job(Report& report, rma::Job& job);

/// Collective. Adds the data that all ranks moved to other ranks: lines such as `traffic_put`,
/// numbers such as `traffic_put_operations` and `traffic_put_bytes`.
rma::Status add_traffic(Report& report, rma::Job& job);

}  // namespace tessera::apps
