// SPDX-License-Identifier: BSD-3-Clause
//
// Keeper: writes what a run has measured, once: at its end, or when something ends it before.
#pragma once

#include <mutex>
#include <string>

#include "bench/support/crew.hpp"
#include "bench/support/options.hpp"
#include "bench/support/output_files.hpp"
#include "bench/support/record.hpp"

namespace tessera::bench {

/// Rank 0's; of other ranks nothing is wanted. Any thread may call what writes, also while others
/// add to the report, which must outlive the keeper.
class Keeper {
 public:
  explicit Keeper(Report& report) : report_(report) {}

  /// Collective. Tries the files. False on all ranks when one can't be written, after saying so.
  [[nodiscard]] bool open(Crew& crew, const SuiteOptions& options, const std::string& page);

  /// Writes all files, unless they have been written. False when not all could be, after saying so.
  [[nodiscard]] bool write();

  /// The same before the run's end, with `why` in the files, if anything was measured and any file
  /// is wanted; and says so. What was in the files stays where nothing was measured. Never throws.
  void write_unfinished(const std::string& why) noexcept;

 private:
  [[nodiscard]] bool is_any_wanted() const { return html_.is_wanted() || files_.is_any_wanted(); }
  [[nodiscard]] bool write_all();

  Report& report_;
  OutputFiles files_;
  OutputFile html_;
  std::mutex mutex_;
  bool is_written_ = false;
};

}  // namespace tessera::bench
