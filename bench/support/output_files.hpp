// SPDX-License-Identifier: BSD-3-Clause
//
// OutputFiles: where a run writes its report, opened before it measures for minutes.
#pragma once

#include <fstream>
#include <string>

#include "bench/support/crew.hpp"
#include "bench/support/options.hpp"
#include "bench/support/record.hpp"

namespace tessera::bench {

class OutputFiles {
 public:
  /// Collective. Opens the files of --json and --csv, on rank 0. False on all ranks when one can't
  /// be; rank 0 has then said so on standard error.
  [[nodiscard]] bool open(Crew& crew, const SuiteOptions& options);

  /// Writes the report. False when not all of it could be written, after saying so.
  [[nodiscard]] bool write(const Report& report);

 private:
  struct File {
    std::string path;  ///< empty: not asked for
    std::ofstream stream;
  };

  static bool open(File& file, const std::string& path);
  static bool close(File& file);

  File json_;
  File csv_;
};

}  // namespace tessera::bench
