// SPDX-License-Identifier: BSD-3-Clause
#include "apps/tool/timeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <istream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/tool/timeline_template.hpp"

namespace tessera::tool {
namespace {

using nlohmann::json;
using rma::Code;
using rma::Status;

// A century: a longer time is not one of a job.
constexpr double max_microseconds = 3.2e15;

// Texts by number, as many events have the same text. Phases and waits of one name are apart.
class Texts {
 public:
  std::int64_t number_of(const std::string& text, bool is_phase = false) {
    const auto [entry, is_new] =
        numbers_.try_emplace({is_phase, text}, static_cast<std::int64_t>(all_.size()));
    if (is_new) {
      all_.push_back(text);
      if (is_phase) {
        phases_.push_back(entry->second);
      }
    }
    return entry->second;
  }
  [[nodiscard]] const std::vector<std::string>& all() const noexcept { return all_; }
  /// The numbers of phases.
  [[nodiscard]] const std::vector<std::int64_t>& phases() const noexcept { return phases_; }

 private:
  std::map<std::pair<bool, std::string>, std::int64_t> numbers_;
  std::vector<std::string> all_;
  std::vector<std::int64_t> phases_;
};

struct Event {
  std::int64_t begin_ns = 0;
  std::int64_t duration_ns = 0;
  std::int64_t name = 0;
  std::int64_t details = 0;
};

// Outer before inner.
bool is_before(const Event& a, const Event& b) {
  return a.begin_ns != b.begin_ns ? a.begin_ns < b.begin_ns : a.duration_ns > b.duration_ns;
}

struct Trace {
  std::map<std::int64_t, std::string> ranks;                                    // their labels
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<Event>> threads;  // by rank, thread
  Texts names;
  Texts details;
  std::size_t waits = 0;
  std::size_t phases = 0;
};

Status wrong_event(const json& event, std::string_view what) {
  return Status::error(
      Code::invalid_argument,
      fmt::format("the event {} has {}", event.dump(-1, ' ', false, json::error_handler_t::replace),
                  what));
}

std::string details_of(const json& event) {
  std::vector<std::string> words;
  const json arguments = event.value("args", json::object());
  for (const auto& [key, value] : arguments.items()) {
    words.push_back(
        fmt::format("{}: {}", key, value.is_string() ? value.get<std::string>() : value.dump()));
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

rma::Result<std::int64_t> nanoseconds(const json& event, const char* key) {
  const auto found = event.find(key);
  if (found == event.end() || !found->is_number()) {
    return wrong_event(event, fmt::format("no number '{}'", key));
  }
  const auto microseconds = found->get<double>();
  if (!(microseconds >= 0) || microseconds > max_microseconds) {
    return wrong_event(event, fmt::format("'{}' outside 0 to {:g} µs", key, max_microseconds));
  }
  return static_cast<std::int64_t>(std::llround(microseconds * 1e3));
}

// Only waits, phases and the names of ranks are shown; other events are ignored.
Status take_event(const json& event, Trace& trace) {
  const auto kind = event.value("ph", "");
  const auto rank = event.value("pid", std::int64_t{-1});
  const auto name = event.value("name", "");
  if (kind == "M" && name == "process_name") {
    trace.ranks[rank] = event.value("args", json::object()).value("name", "");
    return {};
  }
  if (kind != "X") {
    return {};
  }
  TESSERA_ASSIGN_OR_RETURN(const auto begin, nanoseconds(event, "ts"));
  TESSERA_ASSIGN_OR_RETURN(const auto duration, nanoseconds(event, "dur"));
  const bool is_phase = event.value("cat", "") == "phase";
  ++(is_phase ? trace.phases : trace.waits);
  trace.threads[{rank, event.value("tid", std::int64_t{0})}].push_back(
      {begin, duration, trace.names.number_of(name, is_phase),
       trace.details.number_of(details_of(event))});
  return {};
}

// Events are dropped after use, so that they do not stay in memory as JSON.
rma::Result<json> read(std::istream& in, Trace& trace) {
  Status first_error;
  const auto take = [&](int depth, json::parse_event_t event, json& parsed) {
    constexpr int depth_of_events = 2;
    if (depth != depth_of_events || event != json::parse_event_t::object_end) {
      return true;
    }
    if (first_error.ok()) {
      first_error = take_event(parsed, trace);
    }
    return false;
  };
  json all;
  try {
    all = json::parse(in, take);
  } catch (const json::exception& error) {
    return Status::error(Code::invalid_argument,
                         fmt::format("the file is damaged: {}", error.what()));
  }
  TESSERA_RETURN_IF_ERROR(first_error);
  if (!all.is_object() || !all.contains("traceEvents")) {
    return Status::error(Code::invalid_argument, "the file has no traceEvents")
        .hint("run a program with TESSERA_PROFILE=trace to record such a file");
  }
  return all;
}

// Safe within a script of a page: no text can end the script.
std::string script_text(const std::string& text) {
  std::string safe;
  for (const char each : json(text).dump(-1, ' ', false, json::error_handler_t::replace)) {
    if (each == '<') {
      safe += "\\u003c";
    } else {
      safe += each;
    }
  }
  return safe;
}

std::string list_of(const Texts& texts) {
  std::vector<std::string> all;
  std::transform(texts.all().begin(), texts.all().end(), std::back_inserter(all), script_text);
  return fmt::format("[{}]", fmt::join(all, ","));
}

std::string label_of(const Trace& trace, std::int64_t rank, std::int64_t thread) {
  const auto known = trace.ranks.find(rank);
  const std::string label =
      known == trace.ranks.end() ? fmt::format("rank {}", rank) : known->second;
  const bool is_first = trace.threads.lower_bound({rank, 0})->first.second == thread;
  return is_first ? label : fmt::format("{}, thread {}", label, thread);
}

std::string rows_of(Trace& trace) {
  std::string text;
  for (auto& [key, events] : trace.threads) {
    std::stable_sort(events.begin(), events.end(), is_before);
    fmt::format_to(std::back_inserter(text), "{}\n{{\"label\":{},\"events\":[",
                   text.empty() ? "" : ",", script_text(label_of(trace, key.first, key.second)));
    const char* separator = "";
    for (const Event& each : events) {
      fmt::format_to(std::back_inserter(text), "{}{},{},{},{}", separator, each.begin_ns,
                     each.duration_ns, each.name, each.details);
      separator = ",";
    }
    text += "]}";
  }
  return text;
}

// Notes about missing events.
std::string note_of(const json& about) {
  std::string note = about.value("missing", "");
  if (const auto dropped = about.value("dropped_events", std::uint64_t{0}); dropped > 0) {
    note += fmt::format("{}{} later events were not recorded: raise TESSERA_TUNE=profile_events",
                        note.empty() ? "" : "; ", dropped);
  }
  return note;
}

}  // namespace

rma::Result<std::string> timeline_page(std::istream& trace, const std::string& name) {
  Trace known;
  const auto all = read(trace, known);
  if (!all.ok()) {
    return Status(all.status()).context(fmt::format("'{}' is not a timeline of Tessera", name));
  }
  std::string note;
  try {
    note = note_of(all->value("otherData", json::object()));
  } catch (const json::exception& error) {
    return Status::error(Code::invalid_argument,
                         fmt::format("'{}': its otherData: {}", name, error.what()));
  }
  std::string title = fmt::format("{}: {} ranks, {} waits", name, known.ranks.size(), known.waits);
  if (known.phases > 0) {
    title += fmt::format(", {} phases", known.phases);
  }
  const std::string data =
      fmt::format(R"({{"title":{},"note":{},"names":{},"phases":[{}],"details":{},"rows":[{}]}})",
                  script_text(title), script_text(note), list_of(known.names),
                  fmt::join(known.names.phases(), ","), list_of(known.details), rows_of(known));
  const std::string_view page = timeline_template();
  const std::size_t position = page.find(timeline_data_mark);
  return fmt::format("{}{}{}", page.substr(0, position), data,
                     page.substr(position + timeline_data_mark.size()));
}

}  // namespace tessera::tool
