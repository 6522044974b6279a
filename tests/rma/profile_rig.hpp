// SPDX-License-Identifier: BSD-3-Clause
//
// Profiled jobs whose ranks are threads, with their files and their log lines.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "rma/job.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/temporary_folder.hpp"

namespace tessera::rma::test {

/// The number of ranks, and of ranks per node; 0: all on one node.
struct Ranks {
  std::int32_t count = 1;
  std::int64_t each_node = 0;

  [[nodiscard]] bool share_a_node(std::int32_t a, std::int32_t b) const {
    return each_node == 0 || a / each_node == b / each_node;
  }
  [[nodiscard]] std::int64_t nodes() const {
    return each_node == 0 ? 1 : (count + each_node - 1) / each_node;
  }
};

inline void PrintTo(const Ranks& ranks, std::ostream* out) {
  *out << ranks.count << " ranks on " << ranks.nodes() << " nodes";
}

/// Several numbers of ranks, on one node, on a node per rank, and on nodes of two ranks.
inline std::vector<Ranks> all_kinds_of_ranks() {
  return {{1, 0}, {2, 0}, {3, 0}, {4, 0}, {2, 1}, {3, 1}, {4, 1}, {3, 2}, {4, 2}};
}

class ProfiledRun {
 public:
  ProfiledRun(const std::string& mode, const Ranks& ranks) : ranks_(ranks) {
    settings.profile = mode;
    settings.profile_file = folder.file("profile.json");
    settings.transport = ranks.each_node == 0 ? "shm" : "shm,tcp";
    settings.ranks_per_node = ranks.each_node;
    settings.arena_mib = 256;
    settings.liveness_ms = 20;
  }

  /// Runs `body` as every rank, to the end of the job.
  void run(const std::function<void(Job&)>& body) {
    EXPECT_TRUE(ok(run_on_threads(ranks_.count,
                                  [&](Job& job) {
                                    job.log().set_sink([&](LogLevel, std::string_view line) {
                                      const std::lock_guard guard(mutex_);
                                      log_ += std::string(line) + "\n";
                                    });
                                    body(job);
                                    return Status();
                                  },
                                  {.settings = settings, .transports = {}})));
  }

  /// The lines of all ranks' logs, including reports.
  [[nodiscard]] const std::string& log_text() const { return log_; }
  [[nodiscard]] bool log_contains(const std::string& text) const {
    return log_.find(text) != std::string::npos;
  }
  /// The parsed file; null if it does not exist, `discarded` if it is not JSON.
  [[nodiscard]] nlohmann::json json(const std::string& name = "profile.json") const {
    std::ifstream file(folder.file(name));
    return file ? nlohmann::json::parse(file, nullptr, false) : nlohmann::json();
  }

  Settings settings;
  tessera::test::TemporaryFolder folder;

 private:
  Ranks ranks_;
  std::mutex mutex_;
  std::string log_;
};

}  // namespace tessera::rma::test
