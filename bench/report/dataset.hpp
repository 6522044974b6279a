// SPDX-License-Identifier: BSD-3-Clause
//
// Dataset: the results of several runs in order: which of them are launches of the same thing, and
// which results stood in the same rounds.
//
// Runs of one version (git description) under one setting (machine, ranks, nodes, binding, MPI,
// TESSERA_* variables) are launches of each other; all that is said of them is said of all
// together, by the rules of bench/README.md. Runs under other settings are never compared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/report/run_file.hpp"
#include "bench/support/statistics.hpp"

namespace tessera::bench::report {

/// A candidate of one measurement, over all launches that have it.
struct Entry {
  std::string backend;
  std::vector<const Result*> launches;  ///< at least one

  [[nodiscard]] const Result& first() const { return *launches.front(); }
  /// The median of the launches' medians, and an interval that has all of theirs; in the unit.
  [[nodiscard]] double median() const;
  [[nodiscard]] Interval ci95() const;
  /// The median of the launches'; 0 where it makes no sense.
  [[nodiscard]] double bytes_per_s() const;
  [[nodiscard]] double operations_per_s() const;
  /// Time of this one / time of `other`: the median of the launches' ratios, and an interval that
  /// has all of theirs. None where a launch doesn't tell it.
  [[nodiscard]] std::optional<Ratio> ratio_to(std::string_view other) const;
};

/// What stood in the same rounds.
struct Measurement {
  std::string bench;
  std::string op;
  std::string shape;
  std::int64_t size = 0;
  std::string unit;
  std::vector<Entry> entries;

  /// "rma put_strided, 64 x 16 B, 1 KiB"
  [[nodiscard]] std::string name() const;
  /// The candidate that the benchmark is about; the last of ours where no file tells.
  [[nodiscard]] const Entry* subject() const;
  [[nodiscard]] const Entry* find(std::string_view backend) const;
};

/// A target over all launches: the median of their worst, which is what decides.
struct TargetVerdict {
  TargetLine line;  ///< of the first launch that measured it
  std::optional<Ratio> worst;
  std::size_t launches = 0;  ///< that measured it
  std::int64_t cases_without_reference = 0;
  bool has_few_samples = false;  ///< in some launch, so that nothing is decided

  [[nodiscard]] bool is_met() const;
};

/// The runs of one version under one setting.
struct Variant {
  std::string setting;  ///< "2 ranks on 1 node", and what tells it from the others
  std::string version;
  bool is_baseline = false;
  std::vector<const RunFile*> launches;
  std::vector<Measurement> measurements;

  [[nodiscard]] std::vector<TargetVerdict> targets() const;
  [[nodiscard]] const Measurement* find(const Measurement& like) const;
};

class Dataset {
 public:
  /// `baseline` are names of files among `runs`; when there is none, the baseline is the version of
  /// the first run, if there are others.
  explicit Dataset(std::vector<RunFile> runs, const std::vector<std::string>& baseline = {});
  Dataset(const Dataset&) = delete;
  Dataset& operator=(const Dataset&) = delete;

  [[nodiscard]] const std::vector<RunFile>& runs() const { return runs_; }
  [[nodiscard]] const std::vector<Variant>& variants() const { return variants_; }
  /// Those whose numbers are shown: of versions that measured the same under one setting the one
  /// that was given last, and no baseline.
  [[nodiscard]] std::vector<const Variant*> shown() const;
  /// A shown variant and what it is compared with: the baseline under the same setting, where both
  /// have a measurement.
  struct Pair {
    const Variant* before;
    const Variant* after;
  };
  [[nodiscard]] std::vector<Pair> pairs() const;
  /// Of each shown variant beside a baseline of files, what keeps it from being compared, a
  /// sentence: the settings that differ from those of the nearest, or that no result is in both.
  /// Empty where no files were named.
  [[nodiscard]] std::vector<std::string> mismatches() const;
  /// By name, all that tells a variant of this data from those that are measured under others.
  [[nodiscard]] const std::map<std::string, std::string>& settings_of(const Variant& variant) const;
  [[nodiscard]] bool has_results() const;

 private:
  void sort_into_variants(const std::vector<std::string>& baseline);
  void name_settings();
  /// The names of settings in which two variants differ.
  [[nodiscard]] std::vector<std::string> keys_that_differ(std::size_t a, std::size_t b) const;
  [[nodiscard]] std::string mismatch(std::size_t baseline, std::size_t other) const;
  [[nodiscard]] std::string setting_value(std::size_t variant, const std::string& key) const;

  bool has_baseline_files_;
  std::vector<RunFile> runs_;
  std::vector<Variant> variants_;
  std::vector<std::map<std::string, std::string>> settings_;  ///< of each variant
};

/// The median of `ratios`, and an interval that has all of theirs. Requires: at least one.
Ratio joined(const std::vector<Ratio>& ratios);

}  // namespace tessera::bench::report
