// SPDX-License-Identifier: BSD-3-Clause
//
// SuiteOptions: the command line that all suites share, with OSU's option names where OSU has the
// option.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "bench/support/candidate.hpp"
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
  /// Bytes of a buffer that is too large for the caches; see bench/support/candidate.hpp.
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

// Paths: how other libraries communicate between nodes. If one machine plays several nodes, MPI and
// OpenSHMEM may use memory that ranks of different nodes share. Their names then say in every table
// and record that no network was used: "mpi in memory".

/// Which libraries communicate through shared memory between nodes.
struct PathsInMemory {
  bool mpi_messages = false;
  bool mpi_windows = false;
  bool openshmem = false;
};

/// Whether `backend` communicates through shared memory: by its windows ("mpi", "armci-mpi"), its
/// heap ("openshmem"), or its messages (other names that begin with "mpi", and ScaLAPACK's).
bool goes_through_memory(std::string_view backend, const PathsInMemory& paths);

/// The name to show: "mpi two-sided" becomes "mpi two-sided in memory" if it uses shared memory. A
/// name that ends in "overlapped" keeps that ending.
std::string name_by_path(const std::string& backend, const PathsInMemory& paths);

/// Whether name_by_path() marked a name.
bool is_named_in_memory(std::string_view name);

// MpiPath: whether MPI uses shared memory between two ranks of one host, according to its settings.
// MPI itself does not report it: MPI_T shows what was requested, not what was chosen.

/// How MPI communicates between two ranks.
struct MpiPath {
  bool messages_share_memory = false;
  bool windows_share_memory = false;
};

/// Reads an environment variable; null if it isn't set.
using Variable = std::function<const char*(const char* name)>;

/// Whether a setting of Open MPI allows any of `names`. The setting is a list of components or,
/// after `^`, of those not to use. Null or empty means that all are allowed.
bool may_use(const char* list, std::initializer_list<std::string_view> names);

/// For two ranks of one host, from the variables of Open MPI, UCX and MPICH. Open MPI uses UCX for
/// its messages if a setting says so, or if it may choose and finds a device of UCX's, a Mellanox
/// adapter. If settings leave several ways, assumes that it takes shared memory.
MpiPath mpi_path_on_a_host(const Variable& variable, bool has_its_devices);

}  // namespace tessera::bench
