// SPDX-License-Identifier: BSD-3-Clause
#include "bench/report/dataset.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "bench/report/backends.hpp"
#include "bench/report/text.hpp"

namespace tessera::bench::report {
namespace {

template <class Number>
double median_over(const std::vector<const Result*>& launches, const Number& number) {
  std::vector<double> numbers;
  for (const Result* launch : launches) {
    numbers.push_back(number(*launch));
  }
  return median_of(numbers);
}

std::optional<Ratio> ratio_of(const Result& result, std::string_view other) {
  const auto is_other = [other](const RatioTo& each) { return each.reference == other; };
  if (result.against) {
    const auto found = std::find_if(result.against->begin(), result.against->end(), is_other);
    if (found != result.against->end()) {
      return found->ratio;
    }
  }
  return result.ratio && is_other(*result.ratio) ? std::optional(result.ratio->ratio)
                                                 : std::nullopt;
}

bool is_alike(const Measurement& a, const Measurement& b) {
  return a.bench == b.bench && a.op == b.op && a.shape == b.shape && a.size == b.size &&
         a.unit == b.unit;
}

bool is_of(const RunFile& run, const Result& result) {
  return std::any_of(run.results.begin(), run.results.end(),
                     [&result](const Result& each) { return &each == &result; });
}

/// If a run measured a case twice, the first result counts; the second is not another launch.
void add_result(std::vector<Measurement>& measurements, const RunFile& run, const Result& result) {
  Measurement like{result.bench, result.op, result.shape, result.size, result.unit, {}};
  auto found = std::find_if(measurements.begin(), measurements.end(),
                            [&like](const Measurement& each) { return is_alike(each, like); });
  if (found == measurements.end()) {
    found = measurements.insert(measurements.end(), std::move(like));
  }
  auto& entries = found->entries;
  const auto entry = std::find_if(entries.begin(), entries.end(), [&result](const Entry& each) {
    return each.backend == result.backend;
  });
  if (entry == entries.end()) {
    entries.push_back({result.backend, {&result}});
  } else if (!is_of(run, *entry->launches.back())) {
    entry->launches.push_back(&result);
  }
}

/// Of a list of adapters, "eth0 10000 Mbit/s, veth2", those of the machine. A container's link has
/// another name each time.
std::string permanent_adapters(std::string_view all) {
  constexpr std::string_view comma = ", ";
  std::string lasting;
  while (!all.empty()) {
    const std::string_view one = all.substr(0, all.find(comma));
    if (!one.starts_with("veth")) {
      lasting += (lasting.empty() ? "" : comma);
      lasting += one;
    }
    all.remove_prefix(std::min(one.size() + comma.size(), all.size()));
  }
  return lasting;
}

/// All settings whose differences make the numbers of runs incomparable.
std::map<std::string, std::string> setting_of(const RunFile& run) {
  std::map<std::string, std::string> found = run.env;
  found.erase(std::string(launcher_variable));
  for (const auto& [key, value] : run.host) {
    if (key == "cpu" || key == "cores" || key == "blas_threads") {
      found[key] = value;
    } else if (key == "mpi") {
      found[key] = value.substr(0, value.find(','));  // without the part that names the builder
    } else if (key == "nics" && run.nodes > 1) {      // on one node, nothing uses adapters
      found[key] = permanent_adapters(value);
    }
  }
  found["ranks"] = std::to_string(run.ranks);
  found["nodes"] = std::to_string(run.nodes);
  found["binding"] = run.binding;
  found.insert(run.options.begin(), run.options.end());
  return found;
}

bool is_variable(const std::string& key) {
  return key.front() >= 'A' && key.front() <= 'Z';
}

/// "binding none", "without mpi"; a variable of the environment as it is set.
std::string description_of(const std::string& key, const std::string& value) {
  if (is_variable(key)) {
    return value.empty() ? key + " not set" : key + "=" + value;
  }
  if (key.starts_with("--")) {
    return value.empty() ? "without " + key
                         : fmt::format("with {}{}", key, value == "yes" ? "" : " " + value);
  }
  if (key == "blas_threads") {
    return value.empty() || value == "0" ? "BLAS threads not set" : "BLAS threads " + value;
  }
  return value.empty() ? "without " + key : key + " " + value;
}

std::string version_of(const RunFile& run) {
  return run.suite_version + " (" + run.git + ")";
}

std::string plural(const std::string& count, const char* noun) {
  return fmt::format("{} {}{}", count, noun, count == "1" ? "" : "s");
}

bool is_worse(const TargetLine& line, double a, double b) {
  return line.is_at_most ? a > b : a < b;
}

void add_target(std::vector<TargetVerdict>& verdicts,
                std::map<std::string, std::vector<Ratio>>& worst, const TargetLine& line) {
  auto found = std::find_if(verdicts.begin(), verdicts.end(), [&line](const TargetVerdict& each) {
    return each.line.name == line.name;
  });
  if (found == verdicts.end()) {
    found = verdicts.insert(verdicts.end(), {line, std::nullopt, 0, 0, false});
  }
  found->cases_without_reference += line.cases_without_reference;
  if (line.worst) {
    found->line = found->launches == 0 ? line : found->line;
    ++found->launches;
    worst[line.name].push_back(*line.worst);
    found->has_few_samples = found->has_few_samples || line.worst->has_few_samples();
  }
}

bool share_results(const Variant& a, const Variant& b) {
  return std::any_of(a.measurements.begin(), a.measurements.end(),
                     [&b](const Measurement& each) { return b.find(each) != nullptr; });
}

}  // namespace

Ratio combined(const std::vector<Ratio>& ratios) {
  std::vector<double> values;
  Interval hull = ratios.front().ci95;
  for (const Ratio& ratio : ratios) {
    values.push_back(ratio.value);
    hull = {std::min(hull.lo, ratio.ci95.lo), std::max(hull.hi, ratio.ci95.hi)};
  }
  return {median_of(values), hull};
}

double Entry::median() const {
  return median_over(launches, [](const Result& each) { return each.median; });
}

Interval Entry::ci95() const {
  Interval hull = first().ci95;
  for (const Result* launch : launches) {
    hull = {std::min(hull.lo, launch->ci95.lo), std::max(hull.hi, launch->ci95.hi)};
  }
  return hull;
}

double Entry::bytes_per_s() const {
  return median_over(launches, [](const Result& each) { return each.bytes_per_s; });
}

double Entry::operations_per_s() const {
  return median_over(launches, [](const Result& each) { return each.operations_per_s; });
}

std::optional<Ratio> Entry::ratio_to(std::string_view other) const {
  std::vector<Ratio> ratios;
  for (const Result* launch : launches) {
    if (const auto ratio = ratio_of(*launch, other)) {
      ratios.push_back(*ratio);
    }
  }
  return ratios.size() == launches.size() ? std::optional(combined(ratios)) : std::nullopt;
}

std::string Measurement::name() const {
  std::string text = bench + " " + op;
  if (!shape.empty()) {
    text += ", " + shape;
  }
  return size > 0 ? text + ", " + label(static_cast<double>(size), Unit::bytes) : text;
}

const Entry* Measurement::subject() const {
  const auto told = std::find_if(entries.begin(), entries.end(), [](const Entry& each) {
    return each.first().against.has_value();
  });
  if (told != entries.end()) {
    return &*told;
  }
  const auto last = std::find_if(entries.rbegin(), entries.rend(), [](const Entry& each) {
    return kind_of(each.backend) == Kind::ours;
  });
  return last == entries.rend() ? nullptr : &*last;
}

const Entry* Measurement::find(std::string_view backend) const {
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [backend](const Entry& each) { return each.backend == backend; });
  return found == entries.end() ? nullptr : &*found;
}

bool TargetVerdict::is_met() const {
  return worst && !has_few_samples && !is_worse(line, worst->value, line.limit);
}

std::vector<TargetVerdict> Variant::targets() const {
  std::vector<TargetVerdict> verdicts;
  std::map<std::string, std::vector<Ratio>> worst;
  for (const RunFile* run : launches) {
    for (const TargetLine& line : run->targets) {
      add_target(verdicts, worst, line);
    }
  }
  for (TargetVerdict& verdict : verdicts) {
    if (verdict.launches > 0) {
      verdict.worst = combined(worst[verdict.line.name]);
    }
  }
  return verdicts;
}

const Measurement* Variant::find(const Measurement& like) const {
  const auto found =
      std::find_if(measurements.begin(), measurements.end(),
                   [&like](const Measurement& each) { return is_alike(each, like); });
  return found == measurements.end() ? nullptr : &*found;
}

Dataset::Dataset(std::vector<RunFile> runs, const std::vector<std::string>& baseline)
    : has_baseline_files_(!baseline.empty()), runs_(std::move(runs)) {
  sort_into_variants(baseline);
  name_settings();
}

void Dataset::sort_into_variants(const std::vector<std::string>& baseline) {
  for (const RunFile& run : runs_) {
    const auto setting = setting_of(run);
    const bool is_baseline =
        baseline.empty() ? version_of(run) == version_of(runs_.front())
                         : std::find(baseline.begin(), baseline.end(), run.file) != baseline.end();
    std::size_t number = 0;
    while (number < variants_.size() &&
           (settings_[number] != setting || variants_[number].version != version_of(run) ||
            variants_[number].is_baseline != is_baseline)) {
      ++number;
    }
    if (number == variants_.size()) {
      variants_.push_back({"", version_of(run), is_baseline, {}, {}});
      settings_.push_back(setting);
    }
    variants_[number].launches.push_back(&run);
    for (const Result& result : run.results) {
      add_result(variants_[number].measurements, run, result);
    }
  }
}

std::string Dataset::setting_value(std::size_t variant, const std::string& key) const {
  const auto found = settings_[variant].find(key);
  return found == settings_[variant].end() ? "" : found->second;
}

void Dataset::name_settings() {
  const auto value_of = [this](std::size_t variant, const std::string& key) {
    return setting_value(variant, key);
  };
  for (std::size_t i = 0; i < variants_.size(); ++i) {
    variants_[i].setting = fmt::format("{} on {}", plural(value_of(i, "ranks"), "rank"),
                                       plural(value_of(i, "nodes"), "node"));
  }
  // Add more only if that doesn't distinguish the settings.
  std::vector<std::set<std::string>> differences(variants_.size());
  for (std::size_t i = 0; i < variants_.size(); ++i) {
    for (std::size_t j = 0; j < variants_.size(); ++j) {
      for (const auto& entry : settings_[j]) {
        if (variants_[i].setting == variants_[j].setting &&
            value_of(i, entry.first) != entry.second) {
          differences[i].insert(entry.first);
          differences[j].insert(entry.first);
        }
      }
    }
  }
  for (std::size_t i = 0; i < variants_.size(); ++i) {
    for (const std::string& key : differences[i]) {
      variants_[i].setting += ", " + description_of(key, value_of(i, key));
    }
  }
}

std::vector<const Variant*> Dataset::shown() const {
  std::vector<const Variant*> found;
  for (std::size_t i = 0; i < variants_.size(); ++i) {
    // A version that is compared with the baseline is shown before it, whatever the order of the
    // files.
    bool is_shown = true;
    for (std::size_t j = 0; j < variants_.size(); ++j) {
      const bool is_rival =
          j != i && settings_[j] == settings_[i] && share_results(variants_[i], variants_[j]);
      const bool is_equal = variants_[j].is_baseline == variants_[i].is_baseline;
      is_shown = is_shown && !(is_rival && (is_equal ? j > i : variants_[i].is_baseline));
    }
    if (is_shown) {
      found.push_back(&variants_[i]);
    }
  }
  return found;
}

std::vector<Dataset::Pair> Dataset::pairs() const {
  std::vector<Pair> found;
  for (const Variant* after : shown()) {
    const auto own = static_cast<std::size_t>(after - variants_.data());
    for (std::size_t i = 0; i < variants_.size(); ++i) {
      if (i != own && settings_[i] == settings_[own] && variants_[i].is_baseline &&
          !after->is_baseline && share_results(variants_[i], *after)) {
        found.push_back({&variants_[i], after});
      }
    }
  }
  return found;
}

std::vector<std::string> Dataset::keys_that_differ(std::size_t a, std::size_t b) const {
  std::set<std::string> keys;
  for (const std::size_t variant : {a, b}) {
    for (const auto& entry : settings_[variant]) {
      if (setting_value(a, entry.first) != setting_value(b, entry.first)) {
        keys.insert(entry.first);
      }
    }
  }
  return {keys.begin(), keys.end()};
}

std::string Dataset::mismatch(std::size_t baseline, std::size_t other) const {
  std::string text;
  for (const std::string& key : keys_that_differ(baseline, other)) {
    text += fmt::format("{}{} in the baseline, {} here", text.empty() ? "" : "; ",
                        description_of(key, setting_value(baseline, key)),
                        description_of(key, setting_value(other, key)));
  }
  return fmt::format("{}: {}", variants_[other].launches.front()->file,
                     text.empty() ? "the same setting, but no result in common" : text);
}

std::vector<std::string> Dataset::mismatches() const {
  std::vector<std::string> found;
  for (std::size_t other = 0; has_baseline_files_ && other < variants_.size(); ++other) {
    std::optional<std::size_t> nearest;
    for (std::size_t i = 0; i < variants_.size() && !variants_[other].is_baseline; ++i) {
      if (variants_[i].is_baseline && (!nearest || keys_that_differ(i, other).size() <
                                                       keys_that_differ(*nearest, other).size())) {
        nearest = i;
      }
    }
    if (nearest) {
      found.push_back(mismatch(*nearest, other));
    }
  }
  return found;
}

const std::map<std::string, std::string>& Dataset::settings_of(const Variant& variant) const {
  return settings_[static_cast<std::size_t>(&variant - variants_.data())];
}

bool Dataset::has_results() const {
  return std::any_of(runs_.begin(), runs_.end(),
                     [](const RunFile& run) { return !run.results.empty(); });
}

}  // namespace tessera::bench::report
