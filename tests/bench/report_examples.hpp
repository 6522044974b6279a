// SPDX-License-Identifier: BSD-3-Clause
//
// Invented runs, in the format of tessera-bench --json.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "bench/report/run_file.hpp"

namespace tessera::bench::report {

using Json = nlohmann::ordered_json;

/// A candidate that takes `median` µs, with an interval of 1 % to both sides. It moves `bytes`.
inline Json example_result(const std::string& backend, const std::string& op, std::int64_t size,
                           double median, double bytes) {
  return {{"bench", "rma"},
          {"backend", backend},
          {"op", op},
          {"shape", ""},
          {"size", size},
          {"samples_n", 101},
          {"unit", "us"},
          {"mean", median},
          {"min", median},
          {"p25", median},
          {"median", median},
          {"p75", median},
          {"p95", median},
          {"p99", 2 * median},
          {"max", 3 * median},
          {"ci95_median", {0.99 * median, 1.01 * median}},
          {"bytes_per_s", median > 0 ? bytes * 1e6 / median : 0},
          {"valid", true},
          {"notes", Json::array()}};
}

inline Json example_ratio(const std::string& to, double value) {
  return {{"to", to}, {"value", value}, {"ci95", {0.98 * value, 1.02 * value}}};
}

/// memcpy, MPI and Tessera, which takes `factor` times as long as memcpy.
inline std::vector<Json> example_round(const std::string& op, std::int64_t size, double factor) {
  const double copy = 0.001 * static_cast<double>(size) + 0.0123456;
  std::vector<Json> results = {
      example_result("memcpy", op, size, copy, static_cast<double>(size)),
      example_result("mpi", op, size, 8 * copy, static_cast<double>(size)),
      example_result("shm", op, size, factor * copy, static_cast<double>(size))};
  results[1]["ratio"] = example_ratio("memcpy", 8);
  results[2]["ratio"] = example_ratio("memcpy", factor);
  results[2]["against"] = {example_ratio("memcpy", factor), example_ratio("mpi", factor / 8)};
  return results;
}

inline Json example_json(double factor = 2, const std::string& git = "abc") {
  Json results = Json::array();
  for (const char* const op : {"put", "get"}) {
    for (const std::int64_t size : {8, 1024, 65536}) {
      for (const Json& result : example_round(op, size, factor)) {
        results.push_back(result);
      }
    }
  }
  return {{"schema", "tessera-bench/1"},
          {"suite_version", "0.1.0"},
          {"git", git},
          {"host",
           {{"cpu", "Abacus <2>"},
            {"cores", 2},
            {"llc_bytes", 33554432},
            {"memory_bytes", 1073741824},
            {"kernel", "Linux"},
            {"governor", "performance"},
            {"mpi", ""}}},
          {"launch",
           {{"argv", {"tessera-bench", "rma"}},
            {"ranks", 2},
            {"nodes", 1},
            {"binding", "none"},
            {"oversubscribed", false}}},
          {"env", {{"TESSERA_TRANSPORT", "shm"}}},
          {"headline",
           {{"allowed", true},
            {"objections", Json::array()},
            {"noise_percent", 1.5},
            {"timer_cost_ns", 20}}},
          {"targets",
           {{{"name", "put: time / memcpy"},
             {"reference", "memcpy"},
             {"asked", "at_most"},
             {"limit", 3},
             {"cases", 3},
             {"cases_without_reference", 0},
             {"reached", factor <= 3},
             {"worst", factor},
             {"ci95", {0.98 * factor, 1.02 * factor}},
             {"where", "put 8"}},
            {{"name", "put: speed / ARMCI-MPI"},
             {"reference", "armci-mpi"},
             {"asked", "at_least"},
             {"limit", 8},
             {"cases", 0},
             {"cases_without_reference", 3},
             {"reached", false}}}},
          {"results", results}};
}

inline RunFile example_run(const std::string& name = "a.json", double factor = 2,
                           const std::string& git = "abc") {
  return to_run_file(name, example_json(factor, git));
}

inline std::vector<RunFile> one(RunFile run) {
  std::vector<RunFile> runs;
  runs.push_back(std::move(run));
  return runs;
}

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace tessera::bench::report
