// SPDX-License-Identifier: BSD-3-Clause
//
// The phases of a job: sums over its ranks, and their parts of the table and of the file.
#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <string_view>
#include <utility>

#include "rma/profile/job_profile.hpp"

namespace tessera::rma::detail {
namespace {

void add_tally(WaitTally& sum, const WaitTally& own) {
  sum.count += own.count;
  sum.bytes += own.bytes;
  sum.total_ns += own.total_ns;
  sum.longest_ns = std::max(sum.longest_ns, own.longest_ns);
}

// Without locks and notifications, which move no bytes of arrays.
std::uint64_t moved_by(const OpTallies& by_op) {
  std::uint64_t bytes = 0;
  for (const Op op : {Op::put, Op::get, Op::accumulate, Op::atomic}) {
    bytes += by_op[static_cast<std::size_t>(op)].bytes;
  }
  return bytes;
}

struct Gathered {
  PhaseSum sum;
  std::map<std::string, WaitTally> calls;
  std::map<std::string, OpTallies> operations;
  std::size_t ranks = 0;

  void add_rank(std::int32_t rank, const PhaseTotals& own) {
    add_tally(sum.all, own.time);
    sum.left_open += own.left_open;
    const double seconds = seconds_of(own.time.total_ns);
    if (seconds > sum.seconds.most) {
      sum.seconds.most = seconds;
      sum.seconds.max_rank = rank;
    }
    for (std::size_t wait = 0; wait < wait_count; ++wait) {
      add_tally(sum.waits[wait], own.waits[wait]);
    }
    for (const LabelledWait& each : own.calls) {
      add_tally(calls[each.label], each.tally);
    }
    for (const PhaseTotals::Operations& each : own.operations) {
      OpTallies& tallies = operations[each.name];
      for (std::size_t op = 0; op < op_count; ++op) {
        tallies[op] += each.by_op[op];
      }
    }
  }

  [[nodiscard]] PhaseSum finish(std::string path, std::size_t job_ranks) && {
    sum.path = std::move(path);
    sum.seconds.mean = seconds_of(sum.all.total_ns) / static_cast<double>(job_ranks);
    for (auto& [label, tally] : calls) {
      sum.calls.push_back({label, tally});
    }
    std::stable_sort(sum.calls.begin(), sum.calls.end(), [](const auto& a, const auto& b) {
      return a.tally.total_ns > b.tally.total_ns;
    });
    for (auto& [name, by_op] : operations) {
      sum.operations.push_back({name, by_op});
    }
    std::stable_sort(
        sum.operations.begin(), sum.operations.end(),
        [](const auto& a, const auto& b) { return moved_by(a.by_op) > moved_by(b.by_op); });
    return std::move(sum);
  }
};

std::string_view outer_of(std::string_view path) {
  const std::size_t end = path.rfind('/');
  return end == std::string_view::npos ? std::string_view() : path.substr(0, end);
}

// Moves the phases within `outer` to `ordered`, each before those within it.
void take_within(std::string_view outer, std::vector<PhaseSum>& left,
                 std::vector<PhaseSum>& ordered) {
  std::vector<PhaseSum> here;
  for (PhaseSum& each : left) {
    if (!each.path.empty() && outer_of(each.path) == outer) {
      here.push_back(std::exchange(each, PhaseSum()));
    }
  }
  std::stable_sort(here.begin(), here.end(), [](const PhaseSum& a, const PhaseSum& b) {
    return a.all.total_ns > b.all.total_ns;
  });
  for (PhaseSum& each : here) {
    const std::string path = each.path;
    ordered.push_back(std::move(each));
    take_within(path, left, ordered);
  }
}

}  // namespace

std::uint64_t PhaseSum::waiting_ns() const noexcept {
  return std::accumulate(
      waits.begin(), waits.end(), std::uint64_t{0},
      [](std::uint64_t sum, const WaitTally& each) { return sum + each.total_ns; });
}

std::uint64_t PhaseSum::moved_bytes() const noexcept {
  return std::accumulate(
      operations.begin(), operations.end(), std::uint64_t{0},
      [](std::uint64_t sum, const Operations& each) { return sum + moved_by(each.by_op); });
}

std::vector<PhaseSum> JobProfile::phases() const {
  std::map<std::string, Gathered> by_path;
  for (const RankProfile& rank : ranks) {
    for (const PhaseTotals& each : rank.phases) {
      by_path[each.path].add_rank(rank.rank, each);
    }
  }
  std::vector<PhaseSum> all;
  for (auto& [path, gathered] : by_path) {
    all.push_back(std::move(gathered).finish(path, ranks.size()));
  }
  std::vector<PhaseSum> ordered;
  take_within({}, all, ordered);
  // Names with a slash may look as if they were within a phase that does not exist.
  std::copy_if(std::make_move_iterator(all.begin()), std::make_move_iterator(all.end()),
               std::back_inserter(ordered),
               [](const PhaseSum& each) { return !each.path.empty(); });
  return ordered;
}

}  // namespace tessera::rma::detail
