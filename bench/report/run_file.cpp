// SPDX-License-Identifier: BSD-3-Clause
#include "bench/report/run_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstddef>
#include <fstream>
#include <sstream>
#include <system_error>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tessera::bench::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* schema_name = "tessera-bench/1";

/// A value of the file, which knows its path in it.
class Value {
 public:
  Value(const std::string& file, const Json& json, std::string path)
      : file_(file), json_(json), path_(std::move(path)) {}

  [[nodiscard]] bool has(const char* key) const { return object().contains(key); }

  [[nodiscard]] Value at(const char* key) const {
    if (!has(key)) {
      fail(fmt::format("expected a field '{}', found none", key));
    }
    return {file_, json_.at(key), fmt::format("{}/{}", path_, key)};
  }

  [[nodiscard]] std::string text() const {
    expect(json_.is_string(), "a string");
    return json_.get<std::string>();
  }

  [[nodiscard]] bool truth() const {
    expect(json_.is_boolean(), "true or false");
    return json_.get<bool>();
  }

  /// Text that is a name.
  [[nodiscard]] std::string name() const {
    if (text().empty()) {
      fail("expected a name, found an empty string");
    }
    return text();
  }

  /// A number that may be a measurement: small enough that what the page computes from two is
  /// finite.
  [[nodiscard]] double number() const {
    expect(json_.is_number(), "a number");
    const auto found = json_.get<double>();
    constexpr double largest = 1e30;
    constexpr double least = 1e-30;
    if (found != 0 && (std::abs(found) > largest || std::abs(found) < least)) {
      fail(fmt::format("expected 0 or a size between {} and {}, found {}", least, largest, found));
    }
    return found;
  }

  [[nodiscard]] double number_from_0() const {
    const double found = number();
    if (found < 0) {
      fail(fmt::format("expected a number of at least 0, found {}", found));
    }
    return found;
  }

  [[nodiscard]] std::int64_t integer(std::int64_t least) const {
    expect(json_.is_number_integer(), "a whole number");
    // A number that doesn't fit becomes negative.
    const auto found = json_.get<std::int64_t>();
    if (found < least) {
      fail(fmt::format("expected a whole number of at least {}, found {}", least, json_.dump()));
    }
    return found;
  }

  [[nodiscard]] std::vector<Value> list() const {
    expect(json_.is_array(), "a list");
    std::vector<Value> found;
    for (std::size_t i = 0; i < json_.size(); ++i) {
      found.emplace_back(file_, json_[i], fmt::format("{}/{}", path_, i));
    }
    return found;
  }

  [[nodiscard]] std::vector<std::pair<std::string, Value>> fields() const {
    std::vector<std::pair<std::string, Value>> found;
    for (const auto& [key, value] : object().items()) {
      found.emplace_back(key, Value(file_, value, fmt::format("{}/{}", path_, key)));
    }
    return found;
  }

  [[nodiscard]] Interval interval() const {
    const std::vector<Value> ends = list();
    if (ends.size() != 2) {
      fail(fmt::format("expected two numbers, found a list of {}", ends.size()));
    }
    const Interval found{ends[0].number(), ends[1].number()};
    if (found.lo > found.hi) {
      fail(fmt::format("expected the smaller number first, found [{}, {}]", found.lo, found.hi));
    }
    return found;
  }

  /// Text to print: text as it is, lists with commas.
  [[nodiscard]] std::string description() const {
    if (!json_.is_array()) {
      return json_.is_string() ? json_.get<std::string>() : json_.dump();
    }
    std::string joined;
    for (const Value& each : list()) {
      joined += (joined.empty() ? "" : ", ") + each.description();
    }
    return joined;
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw BadFile(fmt::format("{}: {}: {}", file_, path_.empty() ? "/" : path_, what));
  }

 private:
  void expect(bool is_right, const char* kind) const {
    if (!is_right) {
      fail(fmt::format("expected {}, found {}", kind, found_kind()));
    }
  }

  [[nodiscard]] const Json& object() const {
    expect(json_.is_object(), "an object");
    return json_;
  }

  [[nodiscard]] std::string found_kind() const {
    if (json_.is_null() || json_.is_boolean()) {
      return json_.dump();
    }
    if (json_.is_number()) {
      return "the number " + json_.dump();
    }
    return json_.is_string() ? "a string" : json_.is_array() ? "a list" : "an object";
  }

  const std::string& file_;
  const Json& json_;
  std::string path_;
};

template <class Field>
auto all_values(const Value& list, const Field& field) {
  std::vector<decltype(field(list))> found;
  for (const Value& each : list.list()) {
    found.push_back(field(each));
  }
  return found;
}

std::vector<std::string> texts(const Value& list) {
  return all_values(list, [](const Value& each) { return each.text(); });
}

RatioTo to_ratio(const Value& ratio) {
  return {ratio.at("to").text(), {ratio.at("value").number_from_0(), ratio.at("ci95").interval()}};
}

/// Detects statistics that no samples can have: order statistics out of order, or a time below 0.
void check_statistics(const Value& json, const Result& result) {
  if (result.ci95.lo > result.median || result.median > result.ci95.hi) {
    json.at("median").fail(fmt::format("expected a number in ci95_median, [{}, {}], found {}",
                                       result.ci95.lo, result.ci95.hi, result.median));
  }
  if (result.p99 < result.median) {
    json.at("p99").fail(fmt::format("expected a number of at least the median, {}, found {}",
                                    result.median, result.p99));
  }
  if (result.unit == "us" && result.ci95.lo < 0) {
    json.at("ci95_median")
        .fail(fmt::format("expected times of at least 0, found {}", result.ci95.lo));
  }
}

Result to_result(const Value& json) {
  Result result;
  result.bench = json.at("bench").name();
  result.backend = json.at("backend").name();
  result.op = json.at("op").name();
  result.shape = json.at("shape").text();
  result.size = json.at("size").integer(0);
  result.unit = json.at("unit").name();
  result.samples_n = json.at("samples_n").integer(1);
  result.median = json.at("median").number();
  result.p99 = json.at("p99").number();
  result.ci95 = json.at("ci95_median").interval();
  check_statistics(json, result);
  result.bytes_per_s = json.at("bytes_per_s").number_from_0();
  result.valid = json.at("valid").truth();
  result.notes = texts(json.at("notes"));
  if (json.has("operations_per_s")) {
    result.operations_per_s = json.at("operations_per_s").number_from_0();
  }
  if (json.has("ratio")) {
    result.ratio = to_ratio(json.at("ratio"));
  }
  if (json.has("against")) {
    result.against = all_values(json.at("against"), to_ratio);
  }
  if (json.has("by_rank")) {
    result.by_rank =
        all_values(json.at("by_rank"), [](const Value& each) { return each.number_from_0(); });
  }
  if (json.has("by_rank_ci95")) {
    const Value intervals = json.at("by_rank_ci95");
    result.by_rank_ci95 = all_values(intervals, [](const Value& each) { return each.interval(); });
    if (result.by_rank_ci95.size() != result.by_rank.size()) {
      intervals.fail(fmt::format("expected {} intervals, one for each number of by_rank, found {}",
                                 result.by_rank.size(), result.by_rank_ci95.size()));
    }
  }
  return result;
}

TargetLine to_target(const Value& json) {
  TargetLine target;
  target.name = json.at("name").text();
  target.reference = json.at("reference").text();
  const std::string asked = json.at("asked").text();
  if (asked != "at_most" && asked != "at_least") {
    json.at("asked").fail(fmt::format("expected at_most or at_least, found '{}'", asked));
  }
  target.is_at_most = asked == "at_most";
  target.limit = json.at("limit").number_from_0();
  if (target.limit == 0) {
    json.at("limit").fail("expected a number above 0, found 0");
  }
  target.cases = json.at("cases").integer(0);
  if (json.has("cases_without_reference")) {
    target.cases_without_reference = json.at("cases_without_reference").integer(0);
  }
  if (json.has("worst")) {
    target.worst = Ratio{json.at("worst").number(), json.at("ci95").interval(),
                         json.has("samples_n") ? json.at("samples_n").integer(1) : 0};
    target.where = json.at("where").text();
  }
  return target;
}

RatingLine to_rating(const Value& json) {
  return {json.at("name").name(), json.at("value").number_from_0(), json.at("unit").name(),
          json.at("valid").truth()};
}

/// Rows of the same length as the first one; their sum is `entries`.
std::vector<std::vector<std::int64_t>> to_cells(const Value& json, std::int64_t entries) {
  std::vector<std::vector<std::int64_t>> cells;
  std::int64_t missing = entries;
  for (const Value& line : json.list()) {
    cells.push_back(all_values(line, [&](const Value& cell) {
      const std::int64_t count = cell.integer(0);
      if (count > missing) {
        cell.fail(fmt::format("expected a sum of at most {}, the matrix's entries", entries));
      }
      missing -= count;
      return count;
    }));
    if (cells.back().empty() || cells.back().size() != cells.front().size()) {
      line.fail(fmt::format("expected {} cells, as in the first line, found {}",
                            std::max<std::size_t>(cells.front().size(), 1), cells.back().size()));
    }
  }
  if (cells.empty() || missing > 0) {
    json.fail(fmt::format("expected {} entries in cells, found {}", entries, entries - missing));
  }
  return cells;
}

MatrixPattern to_pattern(const Value& json) {
  MatrixPattern pattern;
  pattern.name = json.at("name").text();
  pattern.rows = json.at("rows").integer(1);
  pattern.columns = json.at("columns").integer(1);
  pattern.entries = json.at("entries").integer(0);
  pattern.cells = to_cells(json.at("cells"), pattern.entries);
  return pattern;
}

void check_schema(const Value& root) {
  if (!root.has("schema")) {
    root.fail(
        fmt::format("expected a field 'schema' with \"{}\", found none: tessera-bench --json did "
                    "not write this file",
                    schema_name));
  }
  const Value schema = root.at("schema");
  if (schema.text() != schema_name) {
    schema.fail(fmt::format("expected \"{}\", found \"{}\"", schema_name, schema.text()));
  }
}

std::map<std::string, std::string> named_texts(const Value& object) {
  std::map<std::string, std::string> found;
  for (const auto& [key, value] : object.fields()) {
    found[key] = value.text();
  }
  return found;
}

void read_launch(const Value& launch, RunFile& run) {
  run.argv = texts(launch.at("argv"));
  if (launch.has("options")) {
    run.options = named_texts(launch.at("options"));
  }
  run.ranks = launch.at("ranks").integer(1);
  run.nodes = launch.at("nodes").integer(1);
  if (run.nodes > run.ranks) {
    launch.at("nodes").fail(fmt::format("expected at most {} nodes, the number of ranks, found {}",
                                        run.ranks, run.nodes));
  }
  // Older files have it only in their command.
  if (std::find(run.argv.begin(), run.argv.end(), no_check_option) != run.argv.end()) {
    run.options.emplace(no_check_option, "yes");
  }
  run.binding = launch.at("binding").text();
  run.is_oversubscribed = launch.at("oversubscribed").truth();
}

/// The position of byte number `offset`; line and column count from 1.
struct Position {
  std::size_t line = 1;
  std::size_t column = 1;
};

Position position_of(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, std::min(offset, text.size()));
  const std::size_t line_end = before.rfind('\n');
  return {1 + static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n')),
          line_end == std::string_view::npos ? before.size() + 1 : before.size() - line_end};
}

/// The parser's message without its name and its own position.
std::string reason_of(const Json::parse_error& error) {
  const std::string_view all = error.what();
  constexpr std::string_view column = ", column ";
  const std::size_t place = all.find(column);
  const std::size_t end = place == std::string_view::npos ? place : all.find(": ", place);
  return std::string(end == std::string_view::npos ? all : all.substr(end + 2));
}

}  // namespace

bool RunFile::has_few_samples() const {
  return std::any_of(results.begin(), results.end(),
                     [](const Result& each) { return each.samples_n < samples_for_an_interval; });
}

RunFile to_run_file(const std::string& name, const Json& json) {
  const Value root(name, json, "");
  check_schema(root);
  RunFile run;
  run.file = name;
  run.suite_version = root.at("suite_version").text();
  run.git = root.at("git").text();
  for (const auto& [key, value] : root.at("host").fields()) {
    run.host.emplace_back(key, value.description());
  }
  read_launch(root.at("launch"), run);
  run.env = named_texts(root.at("env"));
  run.objections = texts(root.at("headline").at("objections"));
  run.noise_percent = root.at("headline").at("noise_percent").number_from_0();
  if (root.has("unfinished")) {
    run.unfinished = root.at("unfinished").name();
  }
  if (root.has("targets")) {
    run.targets = all_values(root.at("targets"), to_target);
  }
  if (root.has("ratings")) {
    run.ratings = all_values(root.at("ratings"), to_rating);
  }
  if (root.has("patterns")) {
    run.patterns = all_values(root.at("patterns"), to_pattern);
  }
  run.results = all_values(root.at("results"), to_result);
  return run;
}

// Results are five levels deep. A limit, because nested data are read recursively.
constexpr int deepest = 64;

RunFile parse_run_file(const std::string& name, std::string_view text) {
  Json json;
  try {
    json = Json::parse(text, [&name](int depth, Json::parse_event_t, const Json&) {
      if (depth > deepest) {
        throw BadFile(fmt::format("{}: nested more than {} levels deep", name, deepest));
      }
      return true;
    });
  } catch (const Json::parse_error& error) {
    const Position at = position_of(text, error.byte > 0 ? error.byte - 1 : 0);
    throw BadFile(
        fmt::format("{}: line {}, column {}: {}", name, at.line, at.column, reason_of(error)));
  } catch (const Json::out_of_range& error) {
    const std::string_view all = error.what();
    const std::string_view reason = all.substr(std::min(all.find("] ") + 2, all.size()));
    throw BadFile(fmt::format("{}: {}; expected numbers below 1.8e308", name, reason));
  }
  return to_run_file(name, json);
}

RunFile read_run_file(const std::string& path) {
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();  // fails for a folder; for an empty file it fails without an error code
  if (!in.is_open() || (text.fail() && errno != 0)) {
    throw BadFile(fmt::format("cannot read {}: {}", path,
                              std::generic_category().message(errno != 0 ? errno : EIO)));
  }
  return parse_run_file(path, text.str());
}

}  // namespace tessera::bench::report
