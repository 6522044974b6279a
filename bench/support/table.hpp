// SPDX-License-Identifier: BSD-3-Clause
//
// Table: results as text, in the shape of the OSU benchmarks, so that scripts that read those read
// these.
//
//     # Tessera Put Latency v0.1.0
//     # backend: shm, sync: default, ranks: 2, nodes: 1, cores: 2, binding: none, oversubscribed:
//     no # not a headline: frequency governor is unknown, not performance # Size          Latency
//     (us)      memcpy (us)   ratio 8                     0.0070           0.0014    5.00
//
// The first two columns are OSU's. Then come, with `full`, `Avg Min P50 P99 Max Iterations`; then a
// pair of columns for each other candidate: its value, and the subject's time divided by its time,
// so that a ratio below 1 means that the subject is faster; with `full` also that ratio's 95 %
// interval. A line begins with a number or, where a table compares operations, with the name of one
// (a word); all others begin with `#`.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

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
  std::size_t subject = 0;  ///< of the first line's candidates, the one in the second column
  bool full = false;
  std::string size_name = "Size";
  std::string sync =
      "";  ///< the word of -s for the table's cases; empty: what the run was asked for
  BootstrapOptions bootstrap = {};
};

class Table {
 public:
  /// `out` and `run` must outlive the table.
  Table(std::ostream& out, Heading heading, const RunInfo& run);

  /// Which of `measured` stands in the second column: the one with the name of the first line's,
  /// wherever it is, for not every line has all candidates. Throws std::logic_error without it.
  [[nodiscard]] std::size_t subject_in(const std::vector<Measured>& measured);
  /// Writes one line; before the first, and when the candidates have changed, the headers.
  void add(std::int64_t size, const std::vector<Measured>& measured);
  /// The same for a line that has a name, one word of at most 9 letters: "fetch_add".
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
  std::vector<std::string> names_;  ///< of the columns that stand in the last header
};

/// `text` at the right end of a column of that width, with a blank before it however long it is.
std::string column(const std::string& text, int width);

/// Writes the `# ` lines that say what was measured and where.
void print_heading(std::ostream& out, const Heading& heading, const RunInfo& run,
                   const std::string& backend);

}  // namespace tessera::bench
