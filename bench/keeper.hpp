// SPDX-License-Identifier: BSD-3-Clause
//
// Result writer: writes the results of a run once: at its end, or when a signal or an exception
// ends it early.
#pragma once

#include <mutex>
#include <string>

#include "bench/support/crew.hpp"
#include "bench/support/options.hpp"
#include "bench/support/output_files.hpp"
#include "bench/support/record.hpp"

namespace tessera::bench {

/// For rank 0; other ranks write nothing. Any thread may call the functions that write, even while
/// other threads add to the report. The report must outlive this object.
class Keeper {
 public:
  explicit Keeper(Report& report) : report_(report) {}

  /// Collective. Tries the files. Returns false on all ranks if one can't be written, and prints
  /// why.
  [[nodiscard]] bool open(RankGroup& crew, const SuiteOptions& options, const std::string& page);

  /// Writes all files, unless they are written already. Returns false if a file can't be written,
  /// and prints why.
  [[nodiscard]] bool write();

  /// Writes the files before the run's end, with `why` in them, and prints that it did. Does
  /// nothing if no file was requested. Leaves files as they were if nothing was measured. Never
  /// throws.
  void write_unfinished(const std::string& why) noexcept;

 private:
  [[nodiscard]] bool has_output_files() const {
    return html_.is_wanted() || files_.has_output_files();
  }
  [[nodiscard]] bool write_all();

  Report& report_;
  OutputFiles files_;
  OutputFile html_;
  std::mutex mutex_;
  bool is_written_ = false;
};

}  // namespace tessera::bench
