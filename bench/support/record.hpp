// SPDX-License-Identifier: BSD-3-Clause
//
// Record: one measured number with all that is needed to read it later, and its written forms.
//
// A run writes one JSON object (bench/schema.json describes it) or a flat CSV table, one line a
// record. Field names are those of the object; percentiles are in `unit`.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "bench/support/machine.hpp"
#include "bench/support/matrix_pattern.hpp"
#include "bench/support/measure.hpp"
#include "bench/support/statistics.hpp"
#include "bench/support/target.hpp"

namespace tessera::bench {

/// A ratio of times and what it was taken against.
struct RatioTo {
  std::string reference;  ///< the backend that stands below the line
  Ratio ratio;
};

struct Record {
  std::string bench;      ///< the suite: "latency", "shapes"
  std::string backend;    ///< who did it: "shm", "memcpy", "armci-mpi"
  std::string op;         ///< what: "put", "get_strided"
  std::string shape;      ///< "64 x 16 B" for rows × row bytes, else empty
  std::int64_t size = 0;  ///< payload bytes of one operation
  std::string unit = "us";
  Stats stats;                  ///< in `unit`
  double bytes_per_s = 0;       ///< at the median; 0 where it makes no sense
  double operations_per_s = 0;  ///< at the median; 0 where none are counted
  std::optional<RatioTo> ratio;
  /// In the candidate that a table is about: its ratio to each of the others.
  std::optional<std::vector<RatioTo>> against = {};
  /// What each rank's part was, in `unit`; empty where ranks were not told apart.
  std::vector<double> by_rank = {};
  std::vector<Interval> by_rank_ci95 = {};  ///< of each, where they are medians
  bool valid = true;                        ///< nothing was found wrong; see RunInfo::is_checked()
  std::vector<std::string> notes;
};

/// What a measurement is called in the records.
struct Subject {
  std::string bench;
  std::string op;
  std::string shape;
  std::int64_t size = 0;
};

/// One record a candidate, in microseconds; all but the first carry their ratio to the first.
std::vector<Record> to_records(const Subject& subject, const std::vector<Measured>& measured);
/// The same of measurements that are about candidate number `own`, whose record carries its ratios
/// to all others. Requires: samples.
std::vector<Record> to_records(const Subject& subject, const std::vector<Measured>& measured,
                               std::size_t own);

/// What an application reached, in one number, as the last lines of HPCG and HPL say it.
struct Rating {
  std::string name;  ///< "gups", "mg class A"
  double value = 0;
  std::string unit;  ///< "GUPS", "Mop/s"
  bool valid = true;
};

/// Collects the records of a run, and writes them. One thread may write what others still add to;
/// what is given back by reference is for those who add.
class Report {
 public:
  explicit Report(RunInfo run) : run_(std::move(run)) {}

  /// One that has the names, size and unit of an earlier one gets a note: whoever reads records by
  /// these finds only the first.
  void add(std::vector<Record> records);
  void add(Rating rating);
  /// Written to JSON only.
  void add(MatrixPattern pattern);
  /// What the run's suites were asked for; written to JSON only. The worst of a run that didn't
  /// come to its end may be missing.
  void set_targets(std::vector<TargetResult> targets);
  /// What ended the run before its end; written to JSON only.
  void set_unfinished(std::string why);

  [[nodiscard]] const RunInfo& run() const { return run_; }
  [[nodiscard]] const std::vector<Record>& records() const { return records_; }
  [[nodiscard]] const std::vector<Rating>& ratings() const { return ratings_; }
  [[nodiscard]] bool has_records() const;
  /// Whether every record is valid.
  [[nodiscard]] bool is_valid() const;
  /// What was recorded twice, once each: "rma put 8 B, shm".
  [[nodiscard]] const std::vector<std::string>& recorded_twice() const { return recorded_twice_; }

  [[nodiscard]] nlohmann::ordered_json to_json() const;
  void write_json(std::ostream& out) const;
  void write_csv(std::ostream& out) const;

 private:
  RunInfo run_;
  std::vector<Record> records_;
  std::vector<std::string> recorded_twice_;
  std::vector<TargetResult> targets_;
  std::vector<Rating> ratings_;
  std::vector<MatrixPattern> patterns_;
  std::string unfinished_;
  std::unique_ptr<std::mutex> mutex_ = std::make_unique<std::mutex>();  ///< of all but run_
};

}  // namespace tessera::bench
