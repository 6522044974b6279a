// SPDX-License-Identifier: BSD-3-Clause
//
// The table of TESSERA_PROFILE=summary. docs/profile.md explains a real one line by line.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>

#include "rma/profile/job_profile.hpp"

namespace tessera::rma::detail {
namespace {

constexpr std::int32_t max_matrix_ranks = 16;
constexpr std::size_t max_flows = 16;
constexpr std::size_t max_regions = 20;
constexpr std::size_t max_labels = 20;
constexpr std::size_t max_phases = 40;
constexpr std::size_t name_width = 24;

using Lines = std::back_insert_iterator<std::string>;

// "1.5 MiB"; at most 9 characters.
std::string human(double bytes) {
  constexpr std::array<std::string_view, 7> units{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  constexpr double step = 1024;
  std::size_t unit = 0;
  while (bytes >= 999.5 && unit + 1 < units.size()) {
    bytes /= step;
    ++unit;
  }
  return unit == 0 ? fmt::format("{:.0f} B", bytes) : fmt::format("{:.3g} {}", bytes, units[unit]);
}

std::string human_time(double seconds) {
  constexpr double milli = 1e-3;
  constexpr double micro = 1e-6;
  if (seconds >= 1) {
    return fmt::format("{:.2f} s", seconds);
  }
  return seconds >= milli ? fmt::format("{:.2f} ms", seconds / milli)
                          : fmt::format("{:.1f} us", seconds / micro);
}

// A character of UTF-8 has exactly one byte that doesn't begin with these bits.
bool begins_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xc0U) != 0x80U;
}

// The program's names, on one line, and cut at a whole character.
std::string shortened(std::string name) {
  constexpr unsigned char first_printable = 0x20;
  constexpr unsigned char rubout = 0x7f;
  if (name.empty()) {
    return "(no name)";
  }
  std::size_t characters = 0;
  std::size_t end = 0;  // start of the last character before the dots
  for (std::size_t at = 0; at < name.size(); ++at) {
    const auto byte = static_cast<unsigned char>(name[at]);
    if (byte < first_printable || byte == rubout) {
      name[at] = '?';
    }
    if (begins_character(name[at])) {
      end = characters == name_width - 3 ? at : end;
      ++characters;
    }
  }
  return characters <= name_width ? name : name.substr(0, end) + "...";
}

// A square matrix of ranks or nodes: the traffic from each row to each column.
template <class Text>
void print_matrix(Lines out, std::string_view of, const std::vector<Flow>& flows, std::int32_t edge,
                  const Text& text) {
  std::vector<std::string> cells(static_cast<std::size_t>(edge) * static_cast<std::size_t>(edge),
                                 ".");
  for (const Flow& flow : flows) {
    cells[static_cast<std::size_t>(flow.from) * static_cast<std::size_t>(edge) +
          static_cast<std::size_t>(flow.to)] = text(flow.tally);
  }
  fmt::format_to(out, "  {:>8}", of);
  for (std::int32_t column = 0; column < edge; ++column) {
    fmt::format_to(out, " {:>9}", column);
  }
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i % static_cast<std::size_t>(edge) == 0) {
      fmt::format_to(out, "\n  {:>8}", i / static_cast<std::size_t>(edge));
    }
    fmt::format_to(out, " {:>9}", cells[i]);
  }
  fmt::format_to(out, "\n");
}

void print_largest(Lines out, std::string_view of, std::vector<Flow> flows) {
  std::stable_sort(flows.begin(), flows.end(),
                   [](const Flow& a, const Flow& b) { return a.tally.bytes > b.tally.bytes; });
  fmt::format_to(out, "  the largest {} of {} pairs of {}s\n", std::min(flows.size(), max_flows),
                 flows.size(), of);
  flows.resize(std::min(flows.size(), max_flows));
  for (const Flow& flow : flows) {
    fmt::format_to(out, "  {} {:>6} to {:>6} {:>10} {:>14} operations\n", of, flow.from, flow.to,
                   human(static_cast<double>(flow.tally.bytes)), flow.tally.operations);
  }
}

// By rank if there are few, else by node, else the largest flows.
void print_traffic(Lines out, const JobProfile& profile) {
  const bool by_rank = profile.job_ranks <= max_matrix_ranks;
  const bool by_node = !by_rank && profile.job_nodes <= max_matrix_ranks && profile.job_nodes > 1;
  const std::string_view of = by_rank || profile.job_nodes == 1 ? "rank" : "node";
  const std::vector<Flow> flows = of == "rank" ? profile.flows() : profile.node_flows();
  fmt::format_to(out,
                 "\ntraffic: puts, gets, accumulates and atomics by a {} (row) on the memory of a "
                 "{} (column)\n",
                 of, of);
  if (!by_rank && !by_node) {
    print_largest(out, of, flows);
    return;
  }
  const std::int32_t edge = by_rank ? profile.job_ranks : profile.job_nodes;
  print_matrix(out, "bytes", flows, edge,
               [](const Tally& tally) { return human(static_cast<double>(tally.bytes)); });
  print_matrix(out, "calls", flows, edge,
               [](const Tally& tally) { return fmt::format("{}", tally.operations); });
}

void print_operations(Lines out, const JobProfile& profile) {
  fmt::format_to(out, "\n{:<26} {:>14} {:>10} {:>10}\n", "operation", "count", "bytes", "mean");
  const KindTallies kinds = profile.kinds();
  for (std::size_t kind = 0; kind < op_kinds; ++kind) {
    const Tally& tally = kinds[kind];
    if (tally.operations > 0) {
      const auto bytes = static_cast<double>(tally.bytes);
      fmt::format_to(out, "  {:<24} {:>14} {:>10} {:>10}\n", name_of_kind(kind), tally.operations,
                     human(bytes), human(bytes / static_cast<double>(tally.operations)));
    }
  }
}

Tally sum_of(const KindTallies& tallies, Op op) {
  Tally sum;
  for (std::size_t kind = 0; kind < op_kinds; ++kind) {
    sum += op_of(kind) == op ? tallies[kind] : Tally();
  }
  return sum;
}

void print_regions(Lines out, const JobProfile& profile) {
  std::vector<RegionCounts::Entry> regions = profile.regions();
  fmt::format_to(out, "\n{:<26} {:>7} {:>10} {:>10} {:>10} {:>10} {:>12}\n", "array or region",
                 "made", "memory", "put", "got", "added", "operations");
  std::erase_if(regions, [](const RegionCounts::Entry& each) {
    return each.name.empty() && each.regions == 0 && sum_of(each.tallies, Op::put).bytes == 0 &&
           sum_of(each.tallies, Op::get).bytes == 0;
  });
  const std::size_t more = regions.size() - std::min(regions.size(), max_regions);
  regions.resize(regions.size() - more);
  for (const RegionCounts::Entry& each : regions) {
    const Tally put = sum_of(each.tallies, Op::put);
    const Tally got = sum_of(each.tallies, Op::get);
    const Tally added = sum_of(each.tallies, Op::accumulate);
    const Tally atomic = sum_of(each.tallies, Op::atomic);
    fmt::format_to(out, "  {:<24} {:>7} {:>10} {:>10} {:>10} {:>10} {:>12}\n", shortened(each.name),
                   each.regions, human(static_cast<double>(each.max_bytes)),
                   human(static_cast<double>(put.bytes)), human(static_cast<double>(got.bytes)),
                   human(static_cast<double>(added.bytes)),
                   put.operations + got.operations + added.operations + atomic.operations);
  }
  if (more > 0) {
    fmt::format_to(out, "  and {} more\n", more);
  }
}

void print_wait(Lines out, std::size_t width, std::string_view name, const WaitTally& all,
                const Spread& by_rank) {
  const double seconds = static_cast<double>(all.total_ns) * 1e-9;
  fmt::format_to(out, "  {:<{}} {:>12} {:>10} {:>10} {:>10} {:>10.2f} {:>13}\n", name, width,
                 all.count, human_time(seconds),
                 human_time(seconds / static_cast<double>(all.count)),
                 human_time(static_cast<double>(all.longest_ns) * 1e-9), by_rank.most_of_mean(),
                 by_rank.max_rank);
}

void print_waits_head(Lines out, std::size_t width, std::string_view name) {
  fmt::format_to(out, "\n{:<{}} {:>12} {:>10} {:>10} {:>10} {:>10} {:>13}\n", name, width + 2,
                 "count", "all ranks", "mean", "longest", "max/mean", "most on rank");
}

void print_waits(Lines out, const JobProfile& profile) {
  constexpr std::size_t width = 12;
  print_waits_head(out, width, "waiting for");
  for (std::size_t i = 0; i < wait_count; ++i) {
    const auto wait = static_cast<Wait>(i);
    const WaitSum sum = profile.wait(wait);
    if (sum.all.count > 0) {
      print_wait(out, width, to_string(wait), sum.all, sum.seconds);
    }
  }
}

// The same waits by what the program called.
void print_calls(Lines out, const JobProfile& profile) {
  std::vector<LabelSum> labels = profile.labels();
  if (labels.empty()) {
    return;
  }
  const std::size_t more = labels.size() - std::min(labels.size(), max_labels);
  labels.resize(labels.size() - more);
  print_waits_head(out, name_width, "waiting in");
  for (const LabelSum& each : labels) {
    print_wait(out, name_width, shortened(each.label), each.all, each.seconds);
  }
  if (more > 0) {
    fmt::format_to(out, "  and {} more\n", more);
  }
}

// "sync rho 1.20 ms, get rho 64 MiB": in what a phase waited longest, and what it moved most.
std::string main_work_of(const PhaseSum& phase) {
  constexpr std::array<Op, 4> movers{Op::put, Op::get, Op::accumulate, Op::atomic};
  std::string text;
  if (!phase.calls.empty()) {
    const LabelledWait& longest = phase.calls.front();
    text = fmt::format("{} {}", shortened(longest.label),
                       human_time(seconds_of(longest.tally.total_ns)));
  }
  if (phase.moved_bytes() > 0) {
    const PhaseSum::Operations& most = phase.operations.front();
    const Op op = *std::max_element(movers.begin(), movers.end(), [&](Op a, Op b) {
      return most.by_op[static_cast<std::size_t>(a)].bytes <
             most.by_op[static_cast<std::size_t>(b)].bytes;
    });
    text += fmt::format("{}{} {} {}", text.empty() ? "" : ", ", to_string(op), shortened(most.name),
                        human(static_cast<double>(most.by_op[static_cast<std::size_t>(op)].bytes)));
  }
  return text;
}

void print_phases(Lines out, const JobProfile& profile) {
  std::vector<PhaseSum> phases = profile.phases();
  if (phases.empty()) {
    return;
  }
  const std::size_t more = phases.size() - std::min(phases.size(), max_phases);
  fmt::format_to(out, "\n{:<26} {:>9} {:>10} {:>10} {:>8} {:>10}  {}\n", "phase", "count",
                 "all ranks", "waiting", "max/mean", "bytes", "most");
  phases.resize(phases.size() - more);
  for (const PhaseSum& each : phases) {
    const auto depth =
        static_cast<std::size_t>(std::count(each.path.begin(), each.path.end(), '/'));
    const std::string name = shortened(each.path.substr(each.path.rfind('/') + 1));
    const std::string work = main_work_of(each);
    fmt::format_to(out, "  {:<24} {:>9} {:>10} {:>10} {:>8.2f} {:>10}{}{}\n",
                   std::string(2 * depth, ' ') + name, each.all.count,
                   human_time(seconds_of(each.all.total_ns)),
                   human_time(seconds_of(each.waiting_ns())), each.seconds.most_of_mean(),
                   human(static_cast<double>(each.moved_bytes())), work.empty() ? "" : "  ", work);
  }
  if (more > 0) {
    fmt::format_to(out, "  and {} more\n", more);
  }
  for (const PhaseSum& each : phases) {
    if (each.left_open > 0) {
      fmt::format_to(out, "  phase '{}' was open {} time{} when its rank stopped\n",
                     shortened(each.path), each.left_open, each.left_open == 1 ? "" : "s");
    }
  }
}

void print_imbalance(Lines out, const JobProfile& profile) {
  const Spread waiting = profile.waiting();
  const Spread moved = profile.moved();
  const double seconds = profile.seconds();
  const double share = seconds > 0 ? 100 * waiting.mean / seconds : 0;
  fmt::format_to(out, "\nimbalance\n");
  fmt::format_to(out, "  waiting: mean {} ({:.1f} % of the time), max/mean {:.2f} (rank {})\n",
                 human_time(waiting.mean), share, waiting.most_of_mean(), waiting.max_rank);
  fmt::format_to(out, "  bytes that a rank moved: mean {}, max/mean {:.2f} (rank {})\n",
                 human(moved.mean), moved.most_of_mean(), moved.max_rank);
  if (profile.is_complete()) {
    const Spread owned = profile.owned();
    fmt::format_to(
        out, "  bytes on a rank's memory: mean {}, max/mean {:.2f} (the hottest owner: rank {})\n",
        human(owned.mean), owned.most_of_mean(), owned.max_rank);
  }
}

}  // namespace

std::string JobProfile::table() const {
  std::string text;
  const Lines out(text);
  fmt::format_to(out, "tessera profile: {} rank{} on {} node{}, {}\n", job_ranks,
                 job_ranks == 1 ? "" : "s", job_nodes, job_nodes == 1 ? "" : "s",
                 human_time(seconds()));
  if (!is_complete()) {
    fmt::format_to(out, "  rank {} only: {}\n", ranks.front().rank, missing);
  }
  print_traffic(out, *this);
  print_operations(out, *this);
  print_regions(out, *this);
  print_waits(out, *this);
  print_calls(out, *this);
  print_phases(out, *this);
  print_imbalance(out, *this);
  return text;
}

}  // namespace tessera::rma::detail
