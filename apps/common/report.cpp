// SPDX-License-Identifier: BSD-3-Clause
#include "apps/common/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include "apps/common/agreement.hpp"
#include "apps/common/exit_codes.hpp"
#include "apps/common/output.hpp"
#include "apps/common/output_file.hpp"
#include "rma/base/memory.hpp"
#include "rma/counters.hpp"

namespace tessera::apps {

rma::Result<Report> Report::create(rma::Job& job, ReportOptions options) {
  Report report(std::move(options), job.rank().value == 0);
  rma::Status usable;
  const std::string& file = report.options_.json_file;
  if (report.writes_ && !goes_to_output(file)) {
    usable = check_not_overwritten(file, report.options_.other_files);
    usable = usable.ok() ? try_output_file(file) : usable;
  }
  TESSERA_RETURN_IF_ERROR(agree_on_input(job.world(), usable));
  return report;
}

void Report::print(std::string_view name, std::string_view value, std::string_view unit) const {
  if (prints_) {
    print_text(fmt::format("{}: {}{}{}\n", name, value, unit.empty() ? "" : " ", unit));
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
    print_text(text);
  }
}

void Report::add(std::string_view name, std::string_view value,
                 std::initializer_list<Number> numbers) {
  print(name, value, "");
  for (const auto& [key, number] : numbers) {
    json_[std::string(key)] = number;
  }
}

int Report::finish(bool is_verified) {
  json_["verification"] = is_verified;
  return end(is_verified, is_verified ? "VERIFICATION SUCCESSFUL" : "VERIFICATION FAILED");
}

int Report::finish_unverified(std::string_view reason) {
  json_["verification"] = nullptr;
  json_["not_verified"] = reason;
  return end(true, fmt::format("NOT VERIFIED: {}", reason));
}

int Report::end(bool is_good, std::string_view last_line) {
  note(fmt::format("{}\n", last_line));
  const bool is_written = write_json();
  return !is_good ? exit_failed : is_written ? 0 : exit_usage;
}

bool Report::write_json() const {
  if (!writes_) {
    return true;
  }
  // File names may not be UTF-8.
  constexpr auto replace = nlohmann::ordered_json::error_handler_t::replace;
  const std::string text = json_.dump(2, ' ', false, replace) + '\n';
  if (goes_to_output(options_.json_file)) {
    print_text(text);  // finish_output() reports a failure
    return true;
  }
  const rma::Status written = write_output_file(options_.json_file, text);
  if (!written.ok()) {
    print_error(options_.program, written.message());
  }
  return written.ok();
}

namespace {

// One rank of each node is enough.
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
    const std::int64_t operations = sums[2 * op];
    const std::int64_t bytes = sums[2 * op + 1];
    if (operations > 0) {
      const auto name = fmt::format("traffic_{}", rma::to_string(static_cast<rma::Op>(op)));
      report.add(name,
                 fmt::format("{} operations, {}", operations,
                             rma::human_bytes(static_cast<std::uint64_t>(bytes))),
                 {{name + "_operations", operations}, {name + "_bytes", bytes}});
    }
  }
  return {};
}

}  // namespace tessera::apps
