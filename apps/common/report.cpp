// SPDX-License-Identifier: BSD-3-Clause
#include "apps/common/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <set>
#include <vector>

#include "rma/counters.hpp"
#include "rma/memory.hpp"

namespace tessera::apps {

void Report::print(std::string_view name, std::string_view value, std::string_view unit) const {
  if (prints_) {
    fmt::print("{}: {}{}{}\n", name, value, unit.empty() ? "" : " ", unit);
    std::fflush(stdout);
  }
}

void Report::add(std::string_view name, std::string_view value) {
  print(name, value, "");
  json_[std::string(name)] = value;
}

void Report::add(std::string_view name, std::int64_t value, std::string_view unit) {
  print(name, fmt::format("{}", value), unit);
  json_[std::string(name)] = value;
}

void Report::add(std::string_view name, double value, std::string_view unit, int digits) {
  print(name, fmt::format("{:.{}g}", value, digits), unit);
  json_[std::string(name)] = value;
}

void Report::add(std::string_view name, std::span<const double> values, std::string_view unit,
                 int digits) {
  std::vector<std::string> texts;
  for (const double value : values) {
    texts.push_back(fmt::format("{:.{}g}", value, digits));
  }
  print(name, fmt::format("{}", fmt::join(texts, " ")), unit);
  json_[std::string(name)] = std::vector<double>(values.begin(), values.end());
}

void Report::note(std::string_view text) const {
  if (prints_) {
    fmt::print("{}", text);
    std::fflush(stdout);
  }
}

int Report::finish(bool is_verified) {
  const std::string_view verdict = is_verified ? "VERIFICATION SUCCESSFUL" : "VERIFICATION FAILED";
  json_["verification"] = is_verified;
  bool is_written = true;
  if (!json_file_.empty()) {
    std::ofstream file(json_file_);
    file << json_.dump(2) << '\n';
    is_written = file.good();
    if (!is_written) {
      fmt::print(stderr, "cannot write {}\n", json_file_);
    }
  }
  if (prints_) {
    fmt::print("{}\n", verdict);
  }
  return is_verified && is_written ? 0 : 1;
}

namespace {

// One rank of a node stands for all.
rma::Result<std::string> transports_used(rma::Job& job) {
  std::vector<std::string_view> names;
  std::set<std::int32_t> nodes;
  for (rma::WorldRank rank{0}; rank.value < job.size(); ++rank.value) {
    if (nodes.insert(job.node_of(rank).value).second) {
      TESSERA_ASSIGN_OR_RETURN(const std::string_view name, job.transport_to(rank));
      if (std::find(names.begin(), names.end(), name) == names.end()) {
        names.push_back(name);
      }
    }
  }
  return fmt::format("{}", fmt::join(names, ","));
}

}  // namespace

rma::Status add_job(Report& report, rma::Job& job) {
  report.add("ranks", std::int64_t{job.size()});
  report.add("nodes", std::int64_t{job.node_count()});
  report.add("bootstrap", job.bootstrap().name());
  TESSERA_ASSIGN_OR_RETURN(const std::string transports, transports_used(job));
  report.add("transport", transports);
  return {};
}

rma::Status add_traffic(Report& report, rma::Job& job) {
  const rma::Traffic traffic = job.traffic();
  std::array<std::int64_t, 2 * rma::op_count> sums{};
  for (const rma::PeerTraffic& peer : traffic.peers) {
    for (std::size_t op = 0; op < rma::op_count && peer.peer != job.rank(); ++op) {
      sums[2 * op] += static_cast<std::int64_t>(peer.by_op[op].operations);
      sums[2 * op + 1] += static_cast<std::int64_t>(peer.by_op[op].bytes);
    }
  }
  TESSERA_RETURN_IF_ERROR(job.world().allreduce<std::int64_t>(sums, rma::Reduction::sum));
  for (std::size_t op = 0; op < rma::op_count; ++op) {
    if (sums[2 * op] > 0) {
      report.add(fmt::format("traffic_{}", rma::to_string(static_cast<rma::Op>(op))),
                 fmt::format("{} operations, {}", sums[2 * op],
                             rma::human_bytes(static_cast<std::uint64_t>(sums[2 * op + 1]))));
    }
  }
  return {};
}

}  // namespace tessera::apps
