// SPDX-License-Identifier: BSD-3-Clause
//
// Record: one measured number with all that is needed to interpret it later, and its JSON
// (bench/schema.json). Percentiles are in `unit`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "bench/support/machine.hpp"
#include "bench/support/measure.hpp"
#include "bench/support/statistics.hpp"
#include "bench/support/table.hpp"

namespace tessera::bench {

/// A ratio of times and its reference.
struct RatioTo {
  std::string reference;  ///< the backend whose time is the denominator
  Ratio ratio;
};

struct Record {
  std::string bench;      ///< the suite: "latency", "shapes"
  std::string backend;    ///< the implementation: "shm", "memcpy", "armci-mpi"
  std::string op;         ///< the operation: "put", "get_strided"
  std::string shape;      ///< "64 x 16 B" for rows × row bytes; empty for contiguous data
  std::int64_t size = 0;  ///< payload bytes of one operation
  std::string unit = "us";
  Stats stats;                  ///< in `unit`
  double bytes_per_s = 0;       ///< at the median; 0 if no bandwidth is defined
  double operations_per_s = 0;  ///< at the median; 0 if no operations are counted
  std::optional<RatioTo> ratio;
  /// For the candidate that the table is about: its ratio to each of the others.
  std::optional<std::vector<RatioTo>> against = {};
  /// Each rank's part, in `unit`; empty if ranks were not distinguished.
  std::vector<double> by_rank = {};
  std::vector<Interval> by_rank_ci95 = {};  ///< of each, where they are medians
  bool valid = true;                        ///< no check failed; see RunInfo::is_checked()
  std::vector<std::string> notes;
};

/// The names of a measurement in the records.
struct Subject {
  std::string bench;
  std::string op;
  std::string shape;
  std::int64_t size = 0;
};

/// One record per candidate, in microseconds; all but the first carry their ratio to the first.
std::vector<Record> to_records(const Subject& subject, const std::vector<Measured>& measured);
/// The same for measurements about candidate number `own`, whose record carries its ratios to all
/// others. Requires: samples.
std::vector<Record> to_records(const Subject& subject, const std::vector<Measured>& measured,
                               std::size_t own);

/// What an application reached, in one number, as the last lines of HPCG and HPL show it.
struct Rating {
  std::string name;  ///< "gups", "mg class A"
  double value = 0;
  std::string unit;  ///< "GUPS", "Mop/s"
  bool valid = true;
};

/// Where a sparse matrix has entries, as counts over a coarse grid of cells. A picture needs only
/// these, whatever the matrix's size.
struct MatrixPattern {
  std::string name;  ///< the results' name for the matrix
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t entries = 0;
  /// Entries in each cell, row by row from the top; all rows have the same number of cells.
  std::vector<std::vector<std::int64_t>> cells;
};

/// Collects the records of a run and writes them. One thread may write while others add. References
/// that it returns are only for threads that add.
class Report {
 public:
  explicit Report(RunInfo run) : run_(std::move(run)) {}

  /// Adds a note to a record that repeats the names, size and unit of an earlier one: readers that
  /// look records up by these find only the first.
  void add(std::vector<Record> records);
  void add(Rating rating);
  void add(MatrixPattern pattern);
  /// Sets the targets of the run's suites. In a run that ended early, the worst cases may be
  /// missing.
  void set_targets(std::vector<TargetResult> targets);
  /// Sets why the run ended early.
  void set_unfinished(std::string why);

  [[nodiscard]] const RunInfo& run() const { return run_; }
  [[nodiscard]] const std::vector<Record>& records() const { return records_; }
  [[nodiscard]] const std::vector<Rating>& ratings() const { return ratings_; }
  [[nodiscard]] bool has_records() const;
  /// Whether every record is valid.
  [[nodiscard]] bool is_valid() const;
  /// The records that were recorded more than once: "rma put 8 B, shm".
  [[nodiscard]] const std::vector<std::string>& recorded_twice() const { return recorded_twice_; }

  [[nodiscard]] nlohmann::ordered_json to_json() const;
  void write_json(std::ostream& out) const;

 private:
  RunInfo run_;
  std::vector<Record> records_;
  std::vector<std::string> recorded_twice_;
  std::vector<TargetResult> targets_;
  std::vector<Rating> ratings_;
  std::vector<MatrixPattern> patterns_;
  std::string unfinished_;
  // guards all members except run_
  std::unique_ptr<std::mutex> mutex_ = std::make_unique<std::mutex>();
};

}  // namespace tessera::bench
