// SPDX-License-Identifier: BSD-3-Clause
//
// OutputFiles: where a run writes its results, tried before it measures for minutes.
#pragma once

#include <sstream>
#include <string>

#include "bench/support/crew.hpp"
#include "bench/support/options.hpp"
#include "bench/support/record.hpp"

namespace tessera::bench {

/// A file that is tried early and written late, so that what was there stays until then; without a
/// path it isn't asked for, and "-" is standard output. What goes wrong is said on standard error.
class OutputFile {
 public:
  /// False when it can't be written; true for an empty path.
  [[nodiscard]] bool open(const std::string& path);
  [[nodiscard]] bool is_wanted() const { return !path_.empty(); }
  [[nodiscard]] std::ostream& stream() { return stream_; }
  /// Writes what the stream has got. False when not all could be written.
  [[nodiscard]] bool close();

 private:
  std::string path_;
  std::ostringstream stream_;
};

class OutputFiles {
 public:
  /// Collective. Tries the files of --json and --csv, on rank 0. False on all ranks when one can't
  /// be; rank 0 has then said so on standard error.
  [[nodiscard]] bool open(Crew& crew, const SuiteOptions& options);

  [[nodiscard]] bool is_any_wanted() const { return json_.is_wanted() || csv_.is_wanted(); }

  /// Writes the report. False when not all of it could be written, after saying so.
  [[nodiscard]] bool write(const Report& report);

 private:
  OutputFile json_;
  OutputFile csv_;
};

}  // namespace tessera::bench
