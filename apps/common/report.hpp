// SPDX-License-Identifier: BSD-3-Clause
//
// Report: what an application prints, as lines `name: value unit` for people and scripts and, when
// asked for, as one JSON object.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "rma/job.hpp"

namespace tessera::apps {

class Report {
 public:
  /// Lines go to standard output when `prints`; all goes to `json_file` at write() unless empty.
  Report(bool prints, std::string json_file) : prints_(prints), json_file_(std::move(json_file)) {}

  void add(std::string_view name, std::string_view value);
  void add(std::string_view name, std::int64_t value, std::string_view unit = "");
  /// With `digits` significant digits; physical results need at least 12.
  void add(std::string_view name, double value, std::string_view unit, int digits = 6);

  /// Several numbers on one line, and a list in the JSON file.
  void add(std::string_view name, std::span<const double> values, std::string_view unit,
           int digits = 6);
  /// Lines for people only.
  void note(std::string_view text) const;

  /// Prints VERIFICATION SUCCESSFUL or FAILED as the last line and writes the JSON file. Returns
  /// the program's exit code: 0, or 1 when not verified or the file can't be written.
  int finish(bool is_verified);

 private:
  void print(std::string_view name, std::string_view value, std::string_view unit) const;

  bool prints_;
  std::string json_file_;
  nlohmann::ordered_json json_;
};

/// Local. Adds how the job runs: `ranks`, `nodes`, `bootstrap`, and `transport`, which names what
/// carries operations from this rank to each node, without repetition.
rma::Status add_job(Report& report, rma::Job& job);

/// Collective. Adds what all ranks together moved: `traffic_put` and the like, operations and bytes
/// to other ranks.
rma::Status add_traffic(Report& report, rma::Job& job);

}  // namespace tessera::apps
