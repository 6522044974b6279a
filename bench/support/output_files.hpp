// SPDX-License-Identifier: BSD-3-Clause
//
// OutputFiles: where a run writes its results, tried before a measurement that takes minutes.
#pragma once

#include <sstream>
#include <string>

#include "bench/support/crew.hpp"
#include "bench/support/options.hpp"
#include "bench/support/record.hpp"

namespace tessera::bench {

/// A file that is tried early and written late; its old contents stay until then. An empty path
/// means no file, and "-" standard output. Prints errors to standard error.
class OutputFile {
 public:
  /// False if the file can't be written; true for an empty path.
  [[nodiscard]] bool open(const std::string& path);
  [[nodiscard]] bool is_wanted() const { return !path_.empty(); }
  [[nodiscard]] std::ostream& stream() { return stream_; }
  /// Writes the stream's contents. False if not all could be written.
  [[nodiscard]] bool close();

 private:
  std::string path_;
  std::ostringstream stream_;
};

class OutputFiles {
 public:
  /// Collective. Tries the files of --json and --csv on rank 0, which prints an error for each that
  /// can't be written. Returns false on all ranks if there is one.
  [[nodiscard]] bool open(RankGroup& crew, const SuiteOptions& options);

  [[nodiscard]] bool has_output_files() const { return json_.is_wanted() || csv_.is_wanted(); }

  /// Writes the report. Returns false if not all of it could be written, and prints why.
  [[nodiscard]] bool write(const Report& report);

 private:
  OutputFile json_;
  OutputFile csv_;
};

}  // namespace tessera::bench
