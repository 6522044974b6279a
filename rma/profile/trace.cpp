// SPDX-License-Identifier: BSD-3-Clause
#include "rma/profile/trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "rma/base/version.hpp"
#include "rma/profile/output.hpp"

namespace tessera::rma::detail {
namespace {

constexpr double microseconds(std::int64_t nanoseconds) noexcept {
  return static_cast<double>(nanoseconds) * 1e-3;
}

// Sorts phases and outer waits before inner ones, which begin at the same time or later. Inner ones
// were recorded first.
bool is_before(const WaitEvent& a, const WaitEvent& b) {
  if (a.begin_ns != b.begin_ns) {
    return a.begin_ns < b.begin_ns;
  }
  return a.duration_ns != b.duration_ns ? a.duration_ns > b.duration_ns : a.is_phase && !b.is_phase;
}

std::string metadata(std::string_view name, std::int32_t rank, std::int64_t thread,
                     std::string_view text) {
  return fmt::format(R"({{"name":"{}","ph":"M","pid":{},"tid":{},"args":{{"name":"{}"}}}})", name,
                     rank, thread, text);
}

// The program's names, as JSON text with quotes; what isn't UTF-8 is replaced.
std::string json_text(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string path_of(const WaitEvent& phase, const RankProfile& rank) {
  const bool is_known = phase.label > 0 && phase.label <= rank.phases.size();
  return is_known ? rank.phases[phase.label - 1].path : "(unknown)";
}

// The program's call or phase if it is known, else the kind of wait.
std::string name_of(const WaitEvent& event, const RankProfile& rank) {
  if (event.is_phase) {
    const std::string path = path_of(event, rank);
    return json_text(path.substr(path.rfind('/') + 1));
  }
  if (event.label == 0 || event.label > rank.labels.size()) {
    return fmt::format("\"{}\"", to_string(event.wait));
  }
  return json_text(rank.labels[event.label - 1].label);
}

// What is particular to a wait or a phase, as members of the event's object.
std::string members_of(const WaitEvent& event, const RankProfile& rank) {
  if (event.is_phase) {
    return fmt::format(R"("cat":"phase","args":{{"phase":{}}})", json_text(path_of(event, rank)));
  }
  const std::string peer = event.peer < 0 ? "" : fmt::format(R"("rank":{},)", event.peer);
  return fmt::format(R"("cat":"wait","args":{{"wait":"{}",{}"bytes":{}}})", to_string(event.wait),
                     peer, event.bytes);
}

}  // namespace

std::int64_t on_common_clock(std::int64_t time_ns, const ClockSample& at_start,
                             const ClockSample& at_stop) noexcept {
  if (at_start.error_ns < 0) {
    return time_ns;
  }
  const std::int64_t span = at_stop.at_ns - at_start.at_ns;
  if (at_stop.error_ns < 0 || span <= 0) {
    return time_ns + at_start.ahead_ns;
  }
  const double part = static_cast<double>(time_ns - at_start.at_ns) / static_cast<double>(span);
  const auto drift = static_cast<double>(at_stop.ahead_ns - at_start.ahead_ns);
  return time_ns + at_start.ahead_ns + static_cast<std::int64_t>(part * drift);
}

TraceFile::~TraceFile() {
  if (file_ != nullptr) {
    std::fclose(file_);
    remove_plain_file(path_);
  }
}

Status TraceFile::open(const std::string& path) {
  path_ = path;
  file_ = std::fopen(path.c_str(), "we");
  if (file_ == nullptr) {
    return cannot_write(path, errno);
  }
  write("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
  return {};
}

// A write error, such as a full disk, is reported by finish().
void TraceFile::write(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), file_) != text.size() && error_ == 0) {
    error_ = errno;
  }
}

void TraceFile::write_event(const std::string& event) {
  write((has_events_ ? ",\n" : "\n") + event);
  has_events_ = true;
}

void TraceFile::add(const RankProfile& rank, const ClockSample& at_start,
                    const ClockSample& at_stop, std::int64_t origin_ns) {
  write_event(metadata("process_name", rank.rank, 0,
                       fmt::format("rank {} on node {}", rank.rank, rank.node)));
  write_event(fmt::format(
      R"({{"name":"process_sort_index","ph":"M","pid":{0},"tid":0,"args":{{"sort_index":{0}}}}})",
      rank.rank));
  std::vector<WaitEvent> events = rank.events;
  std::stable_sort(events.begin(), events.end(), is_before);
  std::uint32_t threads = 0;
  for (const WaitEvent& each : events) {
    threads = std::max(threads, each.thread + 1);
  }
  for (std::uint32_t thread = 0; thread < threads; ++thread) {
    write_event(metadata("thread_name", rank.rank, std::int64_t{thread} + 1,
                         fmt::format("thread {}", thread)));
  }
  for (const WaitEvent& each : events) {
    // No event is before the start, except through the clocks' error.
    const std::int64_t begin =
        std::max(on_common_clock(each.begin_ns, at_start, at_stop) - origin_ns, std::int64_t{0});
    const std::int64_t end = std::max(
        on_common_clock(each.begin_ns + each.duration_ns, at_start, at_stop) - origin_ns, begin);
    write_event(
        fmt::format(R"({{"name":{},"ph":"X","pid":{},"tid":{},"ts":{:.3f},"dur":{:.3f},{}}})",
                    name_of(each, rank), rank.rank, each.thread + 1, microseconds(begin),
                    microseconds(end - begin), members_of(each, rank)));
  }
  kept_ += events.size();
  dropped_ += rank.dropped_events;
  for (const ClockSample& each : {rank.clock_at_start, rank.clock_at_stop}) {
    if (each.error_ns >= 0) {
      clocks_.push_back({rank.node, each});
    }
  }
}

Status TraceFile::finish(std::int32_t job_ranks, const std::string& missing) {
  std::int64_t error_ns = 0;
  auto clocks = nlohmann::ordered_json::array();
  for (const auto& [node, sample] : clocks_) {
    error_ns = std::max(error_ns, sample.error_ns);
    clocks.push_back({{"node", node},
                      {"ahead_us", microseconds(sample.ahead_ns)},
                      {"error_us", microseconds(sample.error_ns)}});
  }
  const nlohmann::ordered_json about = {{"tessera", version()},
                                        {"ranks", job_ranks},
                                        {"complete", missing.empty()},
                                        {"missing", missing},
                                        {"events", kept_},
                                        {"dropped_events", dropped_},
                                        {"clock_error_us", microseconds(error_ns)},
                                        {"clocks", std::move(clocks)}};
  write("\n],\"otherData\":" + about.dump() + "}\n");
  if (std::fclose(std::exchange(file_, nullptr)) != 0 && error_ == 0) {
    error_ = errno;
  }
  if (error_ == 0) {
    return {};
  }
  remove_plain_file(path_);
  return cannot_write(path_, error_);
}

}  // namespace tessera::rma::detail
