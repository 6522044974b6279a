// SPDX-License-Identifier: BSD-3-Clause
//
// SuiteOptions: the command line that all suites share, with OSU's option names where OSU has the
// option.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "bench/support/case.hpp"
#include "bench/support/measure.hpp"

namespace CLI {
class App;
}

namespace tessera::bench {

struct SuiteOptions {
  std::int64_t min_size = 8;  ///< -m MIN:MAX, bytes; suffixes K, M, G
  std::int64_t max_size = 4 << 20;
  std::int64_t samples = 200;        ///< -i
  std::int64_t warm_up_samples = 0;  ///< -x; 0: until times settle
  bool check = true;                 ///< -c, --no-check
  std::int64_t window = 64;          ///< -W: messages outstanding at once
  std::string sync;                  ///< -s: "flush", "flush_local"; empty: each table's default
  bool attaches = false;             ///< -w create: windows of memory that the user allocated
  bool full = false;                 ///< -f
  bool cold = false;                 ///< --cold
  std::int64_t cache_bytes = 0;      ///< --cache SIZE; 0: as the system reports
  bool quiet = false;                ///< --quiet
  std::string json;                  ///< --json FILE

  /// The options that change the meaning of the same numbers, by their long names.
  [[nodiscard]] std::map<std::string, std::string> distinguishing() const;
  /// min_size, then each power of two above it, up to max_size.
  [[nodiscard]] std::vector<std::int64_t> sizes() const;
  [[nodiscard]] MeasureOptions measure_options() const;
  /// What -s chooses; `otherwise` if -s is not given.
  [[nodiscard]] Completes completes(Completes otherwise) const;
  /// Bytes of a buffer that is too large for the caches; see bench/support/transfer.hpp.
  [[nodiscard]] std::size_t cold_bytes() const;
};

/// The word of -s for `where`.
const char* sync_name(Completes where);

/// As the name of an output file: standard output, which then carries nothing else.
inline constexpr std::string_view standard_output = "-";

/// "a,,b" gives "a", "", "b": one word more than there are commas.
std::vector<std::string_view> words_between_commas(std::string_view text);

/// "64", "64K", "4M", "1G" as bytes; throws CLI::ValidationError with `option` for any other text.
std::int64_t parse_size(const std::string& text, const char* option);

/// "1000,2000" as numbers of rows; throws CLI::ValidationError if a word is not a number.
std::vector<std::int64_t> parse_edges(const std::string& text);

/// Adds the shared options to `app`; parsing stores them in `options`, which must outlive `app`.
void add_options(CLI::App& app, SuiteOptions& options);

/// The exit code if nothing could be measured; test drivers treat it as "skipped".
inline constexpr int exit_skipped = 77;

}  // namespace tessera::bench
