// SPDX-License-Identifier: BSD-3-Clause
#include "bench/support/options.hpp"

#include <CLI/CLI.hpp>

#include <charconv>
#include <string_view>
#include <system_error>

#include "apps/common/command_line.hpp"
#include "apps/common/whole_number.hpp"
#include "bench/support/build_info.hpp"
#include "bench/support/machine.hpp"
#include "bench/support/transfer.hpp"

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

}  // namespace tessera::bench
