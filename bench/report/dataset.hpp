// SPDX-License-Identifier: BSD-3-Clause
//
// Dataset: the ordered results of several runs: which of them are launches of the same run, and
// which results were measured in the same rounds.
//
// Runs of one version (git description) under one setting (machine, ranks, nodes, binding, MPI,
// TESSERA_* variables) are launches of the same run. Statements hold for all launches together, by
// the rules of bench/README.md. Runs under different settings are never compared.
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
  /// The median of the launches' medians, and an interval that contains all of their intervals; in
  /// the unit.
  [[nodiscard]] double median() const;
  [[nodiscard]] Interval ci95() const;
  /// The median of the launches'; 0 if no bandwidth is defined.
  [[nodiscard]] double bytes_per_s() const;
  [[nodiscard]] double operations_per_s() const;
  /// Time of this one / time of `other`: the median of the launches' ratios, and an interval that
  /// contains all of their intervals. Empty if a launch lacks it.
  [[nodiscard]] std::optional<Ratio> ratio_to(std::string_view other) const;
};

/// The candidates that were measured in the same rounds.
struct Measurement {
  std::string bench;
  std::string op;
  std::string shape;
  std::int64_t size = 0;
  std::string unit;
  std::vector<Entry> entries;

  /// "rma put_strided, 64 x 16 B, 1 KiB"
  [[nodiscard]] std::string name() const;
  /// The candidate that the benchmark is about; Tessera's last one if no file says which.
  [[nodiscard]] const Entry* subject() const;
  [[nodiscard]] const Entry* find(std::string_view backend) const;
};

/// A target over all launches. The median of their worst cases decides.
struct TargetVerdict {
  TargetLine line;  ///< of the first launch that measured it
  std::optional<Ratio> worst;
  std::size_t launches = 0;  ///< that measured it
  std::int64_t cases_without_reference = 0;
  bool has_few_samples = false;  ///< in some launch; then nothing is decided

  [[nodiscard]] bool is_met() const;
};

/// The runs of one version under one setting.
struct Variant {
  std::string setting;  ///< "2 ranks on 1 node", and what distinguishes it from others
  std::string version;
  bool is_baseline = false;
  std::vector<const RunFile*> launches;
  std::vector<Measurement> measurements;

  [[nodiscard]] std::vector<TargetVerdict> targets() const;
  [[nodiscard]] const Measurement* find(const Measurement& like) const;
};

class Dataset {
 public:
  /// `baseline` has names of files among `runs`. If it is empty, the baseline is the version of the
  /// first run, if there are other versions.
  explicit Dataset(std::vector<RunFile> runs, const std::vector<std::string>& baseline = {});
  Dataset(const Dataset&) = delete;
  Dataset& operator=(const Dataset&) = delete;

  [[nodiscard]] const std::vector<RunFile>& runs() const { return runs_; }
  [[nodiscard]] const std::vector<Variant>& variants() const { return variants_; }
  /// The variants whose numbers are shown. Of several versions with the same measurements under one
  /// setting, only the last given one is shown; baselines are not.
  [[nodiscard]] std::vector<const Variant*> shown() const;
  /// A shown variant and its counterpart: the baseline under the same setting. Both have a
  /// measurement in common.
  struct Pair {
    const Variant* before;
    const Variant* after;
  };
  [[nodiscard]] std::vector<Pair> pairs() const;
  /// For each shown variant without a counterpart among the baseline's files, a sentence with the
  /// reason: the settings that differ from those of the nearest, or that they have no result in
  /// common. Empty if no baseline files were named.
  [[nodiscard]] std::vector<std::string> mismatches() const;
  /// By name, all settings that distinguish a variant of this dataset from others.
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

/// The median of `ratios`, and an interval that contains all of their intervals. Requires: at least
/// one.
Ratio combined(const std::vector<Ratio>& ratios);

}  // namespace tessera::bench::report
