// SPDX-License-Identifier: BSD-3-Clause
//
// ResultWriter: writes the results of a run as JSON once: at its end, or when a signal or an
// exception ends it early.
#pragma once

#include <mutex>
#include <string>

#include "bench/support/rank_group.hpp"
#include "bench/support/record.hpp"

namespace tessera::bench {

/// For rank 0; other ranks write nothing. Any thread may call the functions that write, even while
/// other threads add to the report, which must outlive this object. Errors are printed to standard
/// error.
class ResultWriter {
 public:
  explicit ResultWriter(Report& report) : report_(report) {}

  /// Collective. Tries the file before a measurement that takes minutes; its old contents stay
  /// until write(). An empty path means no file, and "-" standard output. Returns false on all
  /// ranks if the file can't be written.
  [[nodiscard]] bool open(RankGroup& group, const std::string& path);

  /// Writes the file, unless it is written already. Returns false if that fails.
  [[nodiscard]] bool write();

  /// Writes the file before the run's end, with `why` in it, and prints that it did. Leaves the
  /// file as it was if nothing was measured. Never throws.
  void write_unfinished(const std::string& why) noexcept;

 private:
  [[nodiscard]] bool write_all();

  Report& report_;
  std::string path_;
  std::mutex mutex_;
  bool is_written_ = false;
};

}  // namespace tessera::bench
