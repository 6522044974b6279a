// SPDX-License-Identifier: BSD-3-Clause
#include "bench/support/record.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <nlohmann/json.hpp>

namespace tessera::bench {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* schema_name = "tessera-bench/1";
constexpr double us_per_ns = 1e-3;

Json host_json(const Host& host) {
  return {{"cpu", host.cpu},
          {"cores", host.cores},
          {"llc_bytes", host.llc_bytes},
          {"memory_bytes", host.memory_bytes},
          {"kernel", host.kernel},
          {"governor", host.governor},
          {"mpi", host.mpi},
          {"topology", host.topology},
          {"blas", host.blas},
          {"blas_threads", host.blas_threads},
          {"tcp_congestion", host.tcp_congestion},
          {"nics", host.nics}};
}

Json launch_json(const Launch& launch) {
  return {{"argv", launch.argv},       {"options", launch.options},
          {"ranks", launch.ranks},     {"nodes", launch.nodes},
          {"binding", launch.binding}, {"oversubscribed", launch.oversubscribed}};
}

Json headline_json(const RunInfo& run) {
  const std::vector<std::string> reasons = objections(run);
  return {{"allowed", reasons.empty()},
          {"objections", reasons},
          {"noise_percent", run.noise_percent},
          {"timer_cost_ns", run.timer_cost_ns}};
}

Json ratio_json(const RatioTo& ratio) {
  const Interval& ci95 = ratio.ratio.ci95;
  return {{"to", ratio.reference}, {"value", ratio.ratio.value}, {"ci95", {ci95.lo, ci95.hi}}};
}

/// A division by zero has no result that JSON can hold.
bool has_finite_ratio(const RatioTo& each) {
  return std::isfinite(each.ratio.value) && std::isfinite(each.ratio.ci95.lo) &&
         std::isfinite(each.ratio.ci95.hi);
}

constexpr double bytes_per_gib = 1 << 30;

Json record_json(const Record& record) {
  const Stats& stats = record.stats;
  Json json = {{"bench", record.bench},
               {"backend", record.backend},
               {"op", record.op},
               {"shape", record.shape},
               {"size", record.size},
               {"samples_n", stats.samples_n},
               {"unit", record.unit},
               {"mean", stats.mean},
               {"min", stats.min},
               {"p25", stats.p25},
               {"median", stats.median},
               {"p75", stats.p75},
               {"p95", stats.p95},
               {"p99", stats.p99},
               {"max", stats.max},
               {"ci95_median", {stats.ci95_median.lo, stats.ci95_median.hi}},
               {"bytes_per_s", record.bytes_per_s},
               {"gib_per_s", record.bytes_per_s / bytes_per_gib},
               {"valid", record.valid},
               {"notes", record.notes}};
  if (stats.samples_n < samples_for_an_interval) {
    json["confidence"] = confidence_of_all(stats.samples_n);
  }
  if (record.operations_per_s > 0) {
    json["operations_per_s"] = record.operations_per_s;
  }
  if (record.ratio && has_finite_ratio(*record.ratio)) {
    json["ratio"] = ratio_json(*record.ratio);
  }
  if (record.against) {
    Json& against = json["against"] = Json::array();
    for (const RatioTo& ratio : *record.against) {
      if (has_finite_ratio(ratio)) {
        against.push_back(ratio_json(ratio));
      }
    }
  }
  if (!record.by_rank.empty()) {
    json["by_rank"] = record.by_rank;
  }
  for (const Interval& ci95 : record.by_rank_ci95) {
    json["by_rank_ci95"].push_back({ci95.lo, ci95.hi});
  }
  return json;
}

Json target_json(const TargetResult& result) {
  const bool at_most = result.target.sense == Target::Sense::time_at_most;
  Json json = {{"name", result.target.name},
               {"reference", result.target.reference},
               {"asked", at_most ? "at_most" : "at_least"},
               {"limit", result.target.limit},
               {"cases", result.cases},
               {"cases_without_reference", result.cases_without_reference},
               {"reached", result.is_reached()}};
  if (result.worst) {
    json["worst"] = result.worst->value;
    json["ci95"] = {result.worst->ci95.lo, result.worst->ci95.hi};
    json["where"] = result.where;
    if (result.worst->samples_n > 0) {
      json["samples_n"] = result.worst->samples_n;
    }
  }
  return json;
}

Json pattern_json(const MatrixPattern& pattern) {
  return {{"name", pattern.name},
          {"rows", pattern.rows},
          {"columns", pattern.columns},
          {"entries", pattern.entries},
          {"cells", pattern.cells}};
}

/// The fields by which readers distinguish records; see bench/repeat.
auto key_of(const Record& record) {
  return std::tie(record.bench, record.op, record.shape, record.size, record.unit, record.backend);
}

std::string name_of(const Record& record) {
  return fmt::format("{} {}{}{} {} B, {}", record.bench, record.op, record.shape.empty() ? "" : " ",
                     record.shape, record.size, record.backend);
}

}  // namespace

std::vector<Record> to_records(const Subject& subject, const std::vector<Measured>& measured) {
  std::vector<Record> records;
  for (const Measured& one : measured) {
    Record record;
    record.bench = subject.bench;
    record.backend = one.name;
    record.op = subject.op;
    record.shape = subject.shape;
    record.size = subject.size;
    record.stats = one.stats_ns.scaled(us_per_ns);
    record.bytes_per_s = one.bytes_per_s();
    record.operations_per_s = one.operations ? one.operations_per_s() : 0;
    record.valid = one.valid;
    record.notes = one.notes;
    if (!records.empty()) {
      record.ratio = RatioTo{measured.front().name, one.ratio};
    }
    records.push_back(std::move(record));
  }
  return records;
}

std::vector<Record> to_records(const Subject& subject, const std::vector<Measured>& measured,
                               std::size_t own) {
  std::vector<Record> records = to_records(subject, measured);
  std::vector<RatioTo> against;
  for (std::size_t i = 0; i < measured.size(); ++i) {
    if (i != own) {
      against.push_back({measured[i].name,
                         ratio_of_medians(measured.at(own).samples_ns, measured[i].samples_ns)});
    }
  }
  records.at(own).against = std::move(against);
  return records;
}

void Report::add(std::vector<Record> records) {
  const std::lock_guard lock(*mutex_);
  for (Record& record : records) {
    if (std::any_of(records_.begin(), records_.end(),
                    [&record](const Record& each) { return key_of(each) == key_of(record); })) {
      record.notes.emplace_back("measured twice under these names; pages show only the first");
      recorded_twice_.push_back(name_of(record));
    }
    records_.push_back(std::move(record));
  }
}

void Report::add(Rating rating) {
  const std::lock_guard lock(*mutex_);
  ratings_.push_back(std::move(rating));
}

void Report::add(MatrixPattern pattern) {
  const std::lock_guard lock(*mutex_);
  patterns_.push_back(std::move(pattern));
}

void Report::set_targets(std::vector<TargetResult> targets) {
  const std::lock_guard lock(*mutex_);
  targets_ = std::move(targets);
}

void Report::set_unfinished(std::string why) {
  const std::lock_guard lock(*mutex_);
  unfinished_ = std::move(why);
}

bool Report::has_records() const {
  const std::lock_guard lock(*mutex_);
  return !records_.empty();
}

bool Report::is_valid() const {
  const std::lock_guard lock(*mutex_);
  const auto is_right = [](const auto& entry) { return entry.valid; };
  return std::all_of(records_.begin(), records_.end(), is_right) &&
         std::all_of(ratings_.begin(), ratings_.end(), is_right);
}

Json Report::to_json() const {
  const std::lock_guard lock(*mutex_);
  Json results = Json::array();
  for (const Record& record : records_) {
    results.push_back(record_json(record));
    results.back()["checked"] = run_.is_checked();
  }
  Json targets = Json::array();
  for (const TargetResult& target : targets_) {
    targets.push_back(target_json(target));
  }
  Json ratings = Json::array();
  for (const Rating& rating : ratings_) {
    ratings.push_back({{"name", rating.name},
                       {"value", rating.value},
                       {"unit", rating.unit},
                       {"valid", rating.valid},
                       {"checked", run_.is_checked()}});
  }
  Json patterns = Json::array();
  for (const MatrixPattern& pattern : patterns_) {
    patterns.push_back(pattern_json(pattern));
  }
  Json json = {
      {"schema", schema_name},          {"suite_version", run_.suite_version}, {"git", run_.git},
      {"host", host_json(run_.host)},   {"launch", launch_json(run_.launch)},  {"env", run_.env},
      {"headline", headline_json(run_)}};
  if (!unfinished_.empty()) {
    json["unfinished"] = unfinished_;
  }
  json["targets"] = std::move(targets);
  json["ratings"] = std::move(ratings);
  json["patterns"] = std::move(patterns);
  json["results"] = std::move(results);
  return json;
}

void Report::write_json(std::ostream& out) const {
  // Arguments, variables and file names may be in any encoding.
  out << to_json().dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

}  // namespace tessera::bench
