// SPDX-License-Identifier: BSD-3-Clause
#include "bench/support/options.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <system_error>
#include <vector>

#include <CLI/CLI.hpp>

#include "apps/common/command_line.hpp"
#include "apps/common/whole_number.hpp"
#include "bench/support/candidate.hpp"
#include "bench/support/machine.hpp"

namespace tessera::bench {
namespace {

/// "MIN:MAX", "MIN:", ":MAX" or "MAX", as the OSU benchmarks take it.
void parse_range(const std::string& text, SuiteOptions& options) {
  if (text.empty() || text == ":") {
    throw CLI::ValidationError("-m", "'" + text + "' has no size; give MIN:MAX or MAX");
  }
  const std::size_t colon = text.find(':');
  const std::string low = colon == std::string::npos ? "" : text.substr(0, colon);
  const std::string high = colon == std::string::npos ? text : text.substr(colon + 1);
  if (!low.empty()) {
    options.min_size = parse_size(low, "-m");
  }
  if (!high.empty()) {
    options.max_size = parse_size(high, "-m");
  }
  if (options.min_size > options.max_size) {
    throw CLI::ValidationError("-m", "'" + text + "': the smallest size exceeds the largest");
  }
}

}  // namespace

std::vector<std::string_view> words_between_commas(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t comma = text.find(','); comma != std::string_view::npos;
       comma = text.find(',')) {
    words.push_back(text.substr(0, comma));
    text.remove_prefix(comma + 1);
  }
  words.push_back(text);
  return words;
}

std::vector<std::int64_t> parse_edges(const std::string& text) {
  constexpr std::int64_t most = 100'000;
  std::vector<std::int64_t> edges;
  for (const std::string_view word : words_between_commas(text)) {
    std::string digits(word);
    const std::string mistake = apps::whole_number(1, most)(digits);
    if (!mistake.empty()) {
      throw CLI::ValidationError("--edges", mistake);
    }
    edges.push_back(std::stoll(digits));
  }
  return edges;
}

std::int64_t parse_size(const std::string& text, const char* option) {
  std::int64_t value = -1;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  auto used = static_cast<std::size_t>(error == std::errc{} ? stop - text.data() : 0);
  constexpr std::string_view suffixes = "KMG";
  std::int64_t factor = 1;
  if (used + 1 == text.size() && suffixes.find(text.back()) != std::string_view::npos) {
    factor = std::int64_t{1} << (10 * (suffixes.find(text.back()) + 1));
    ++used;
  }
  if (used == 0 || used != text.size() || value < 1 || value > (std::int64_t{1} << 50) / factor) {
    throw CLI::ValidationError(option, "'" + text + "' is not a size such as 8, 64K or 4M");
  }
  return value * factor;
}

std::vector<std::int64_t> SuiteOptions::sizes() const {
  std::vector<std::int64_t> list;
  for (std::int64_t size = min_size; size <= max_size;) {
    list.push_back(size);
    std::int64_t next = 1;
    while (next <= size) {
      next *= 2;
    }
    size = next;
  }
  return list;
}

MeasureOptions SuiteOptions::measure_options() const {
  MeasureOptions options;
  options.samples = samples;
  options.warm_up_samples = warm_up_samples;
  options.verify = check;
  options.prime = !cold;
  return options;
}

std::map<std::string, std::string> SuiteOptions::distinguishing() const {
  std::map<std::string, std::string> found;
  if (!sync.empty()) {
    found[sync_option] = sync;
  }
  if (!check) {
    found[no_check_option] = "yes";
  }
  if (attaches) {
    found["--win-option"] = "create";
  }
  if (cold) {
    found["--cold"] = "yes";
  }
  if (cache_bytes > 0) {
    found["--cache"] = std::to_string(cache_bytes);
  }
  return found;
}

Completes SuiteOptions::completes(Completes otherwise) const {
  if (sync.empty()) {
    return otherwise;
  }
  return sync == sync_name(Completes::at_target) ? Completes::at_target : Completes::here;
}

const char* sync_name(Completes where) {
  return where == Completes::at_target ? "flush" : "flush_local";
}

std::size_t SuiteOptions::cold_bytes() const {
  return bench::cold_bytes(cache_bytes > 0 ? cache_bytes : max_cache_bytes());
}

void add_options(CLI::App& app, SuiteOptions& options) {
  app.set_version_flag("--version", std::string(suite_version()));
  app.add_option_function<std::string>(
         "-m,--message-size", [&options](const std::string& text) { parse_range(text, options); },
         "sizes in bytes, MIN:MAX or MAX; suffixes K, M, G are powers of 1024")
      ->type_name("MIN:MAX")
      ->default_str("8:4M");
  app.add_option("-i,--iterations", options.samples, "samples of each number")
      ->transform(apps::whole_number(1, 10'000'000))
      ->capture_default_str();
  app.add_option("-x,--warmup", options.warm_up_samples,
                 "untimed samples before the measurement; 0: until times settle")
      ->transform(apps::whole_number(0, 10'000'000))
      ->capture_default_str();
  app.add_option("-W,--window-size", options.window,
                 "messages outstanding at once, in windows and message rates")
      ->transform(apps::whole_number(1, 1'000'000))
      ->capture_default_str();
  app.add_option("-s,--sync-option", options.sync,
                 "when puts and accumulates are complete before the next one starts: flush_local "
                 "(local completion), flush (arrived at the target); default: each table's own")
      ->check(CLI::IsMember({"flush_local", "flush"}));
  app.add_option_function<std::string>(
         "-w,--win-option",
         [&options](const std::string& kind) { options.attaches = kind == "create"; },
         "target memory of suite rma: allocate (by the library) or create (attached memory of the "
         "user)")
      ->check(CLI::IsMember({"allocate", "create"}))
      ->default_str("allocate");
  app.add_flag("-c,--check,!--no-check", options.check, "check the data once at every size (on)");
  app.add_flag("-f,--full", options.full, "more columns: Avg Min P50 P99 Max Iterations, CI95");
  app.add_flag("--cold", options.cold,
               "use other buffers in every repetition, many times larger than the caches");
  app.add_option_function<std::string>(
         "--cache",
         [&options](const std::string& text) { options.cache_bytes = parse_size(text, "--cache"); },
         "size of the largest cache, if the system reports a wrong one")
      ->type_name("SIZE");
  app.add_option("--json", options.json,
                 "write the results as JSON; - is standard output, which then has nothing else")
      ->check(apps::check_file_name)
      ->type_name("FILE");
  app.add_flag("--quiet", options.quiet, "print no tables");
}

namespace {

constexpr std::array<std::string_view, 4> by_windows = {"mpi", "mpi subarray", "armci-mpi",
                                                        "global arrays"};
constexpr std::array<std::string_view, 3> by_scalapack = {"pdgemm", "pdgemr2d", "pdtran"};
constexpr std::string_view by_heap = "openshmem";

template <class Names>
bool has(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Marks a transfer with simultaneous computation. One of MG's exchanges has this word in its name.
constexpr std::string_view overlapped = " overlapped";
constexpr std::string_view exchange_of_mg = "mpi overlapped";
constexpr std::string_view in_memory = " in memory";

std::string_view computation_in(std::string_view backend) {
  return backend != exchange_of_mg && backend.ends_with(overlapped) ? overlapped : "";
}

}  // namespace

bool goes_through_memory(std::string_view backend, const PathsInMemory& paths) {
  backend.remove_suffix(computation_in(backend).size());
  if (has(by_windows, backend)) {
    return paths.mpi_windows;
  }
  if (backend == by_heap) {
    return paths.openshmem;
  }
  return (backend.starts_with("mpi ") || has(by_scalapack, backend)) && paths.mpi_messages;
}

std::string name_by_path(const std::string& backend, const PathsInMemory& paths) {
  if (!goes_through_memory(backend, paths)) {
    return backend;
  }
  const std::string_view computation = computation_in(backend);
  return backend.substr(0, backend.size() - computation.size()) + std::string(in_memory) +
         std::string(computation);
}

bool is_named_in_memory(std::string_view name) {
  name.remove_suffix(computation_in(name).size());
  return name.ends_with(in_memory);
}

namespace {

/// A list of names, or a list of excluded names.
struct Choice {
  std::vector<std::string_view> names;
  bool excludes = false;

  explicit Choice(std::string_view text) : excludes(text.starts_with('^')) {
    names = words_between_commas(text.substr(excludes ? 1 : 0));
  }
  [[nodiscard]] bool has(std::string_view name) const {
    return std::find(names.begin(), names.end(), name) != names.end();
  }
};

/// UCX's names of its transports through memory, single and grouped.
struct UcxTransport {
  std::string_view name;
  bool maps_memory;  ///< one of `mm`
};
constexpr std::array<UcxTransport, 5> through_memory = {
    {{"posix", true}, {"sysv", true}, {"xpmem", true}, {"cma", false}, {"knem", false}}};

/// Whether UCX_TLS leaves UCX a transport through memory, even if only for long messages.
bool ucx_shares_memory(const char* value) {
  if (value == nullptr || *value == '\0') {
    return true;
  }
  const Choice choice(value);
  return std::any_of(
      through_memory.begin(), through_memory.end(), [&](const UcxTransport& transport) {
        const bool is_named = choice.has(transport.name) || choice.has("all") || choice.has("sm") ||
                              choice.has("shm") || (transport.maps_memory && choice.has("mm"));
        return is_named != choice.excludes;
      });
}

bool is_on(const char* value) {
  return value != nullptr && std::string_view(value) == "1";
}

}  // namespace

bool may_use(const char* list, std::initializer_list<std::string_view> names) {
  if (list == nullptr || *list == '\0') {
    return true;
  }
  const Choice choice(list);
  return std::any_of(names.begin(), names.end(), [&choice](std::string_view name) {
    return choice.has(name) != choice.excludes;
  });
}

MpiPath mpi_path_on_a_host(const Variable& variable, bool has_its_devices) {
  if (is_on(variable("MPIR_CVAR_NOLOCAL")) || is_on(variable("MPIR_CVAR_CH3_NOLOCAL"))) {
    return {};
  }
  const bool ucx_shares = ucx_shares_memory(variable("UCX_TLS"));
  const char* const pml = variable("OMPI_MCA_pml");
  const bool may_be_ob1 = may_use(pml, {"ob1"});
  MpiPath path;
  if (may_use(pml, {"ucx"}) && (has_its_devices || !may_be_ob1)) {
    path.messages_share_memory = ucx_shares;
  } else {
    path.messages_share_memory = !may_be_ob1 || may_use(variable("OMPI_MCA_btl"), {"vader", "sm"});
  }
  // "rdma" maps the memory of ranks of its host, whatever transport it uses to other hosts.
  const char* const osc = variable("OMPI_MCA_osc");
  path.windows_share_memory = may_use(osc, {"sm", "rdma"}) ||
                              (may_use(osc, {"ucx"}) && ucx_shares) ||
                              (may_use(osc, {"pt2pt"}) && path.messages_share_memory);
  return path;
}

}  // namespace tessera::bench
