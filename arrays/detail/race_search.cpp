// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/detail/race_search.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "arrays/detail/access_digest.hpp"

namespace tessera::arrays::detail {

using rma::Result;
using rma::Status;

namespace {

constexpr std::size_t gathered_bytes = std::size_t{4} << 20;

RaceKind kind_of(std::uint64_t array, const AccessRecord& a, const AccessRecord& b) noexcept {
  const auto [least, most] =
      std::minmax({static_cast<std::uint32_t>(a.kind), static_cast<std::uint32_t>(b.kind)});
  return {array, least * access_kinds + most};
}

bool is_write_by_call(AccessKind kind) noexcept {
  return kind == AccessKind::put || kind == AccessKind::accumulate || kind == AccessKind::atomic;
}

// Compares this member's accesses with those of the others, as they arrive.
class Search {
 public:
  // `graph` is null if ordering objects are not distinguished.
  Search(const rma::Job& job, rma::Team& team, std::span<const LoggedAccess> mine,
         const std::set<RaceKind>& known, OrderGraph* graph)
      : job_(job),
        team_(team),
        mine_(mine),
        known_(known),
        graph_(graph),
        is_explained_(mine.size()) {
    sort_spans();
    for (const LoggedAccess& each : mine) {
      mark_explained_writes(each);
    }
  }

  void compare(rma::TeamRank member, const LoggedAccess& theirs) {
    mark_explained_writes(theirs);
    for_each_near(theirs.access.box, [&](std::size_t at) {
      if (reports_here(mine_[at].access, theirs.access, member)) {
        compare(at, member, theirs);
      }
    });
  }

  // One race of each kind.
  [[nodiscard]] std::vector<Race> take() {
    for (const auto& [at, race] : of_local_writes_) {
      if (!is_explained_[at]) {
        races_.emplace(kind_of(race.array, race.first, race.second), race);
      }
    }
    std::vector<Race> all;
    for (const auto& [kind, race] : races_) {
      all.push_back(race);
    }
    return all;
  }

 private:
  // Both members see a pair, and the lower rank reports it. A local write is reported by its own
  // rank, which knows all operations that may explain the change.
  [[nodiscard]] bool reports_here(const AccessRecord& mine, const AccessRecord& theirs,
                                  rma::TeamRank member) const noexcept {
    if (mine.kind == AccessKind::local_write || theirs.kind == AccessKind::local_write) {
      return mine.kind == AccessKind::local_write;
    }
    return team_.rank() < member;
  }

  // A put, accumulate or atomic operation explains a change: it was then not the owner's local
  // write.
  void mark_explained_writes(const LoggedAccess& cause) {
    if (!has_local_writes_ || !is_write_by_call(cause.access.kind)) {
      return;
    }
    for_each_near(cause.access.box, [&](std::size_t at) {
      const LoggedAccess& change = mine_[at];
      if (change.access.kind == AccessKind::local_write && change.array == cause.array &&
          cause.access.epoch <= change.access.epoch && overlap(change.access, cause.access)) {
        is_explained_[at] = true;
      }
    });
  }

  // The indices that one of this member's accesses covers along a dimension.
  struct Span {
    std::int64_t lo;
    std::int64_t hi;
    std::size_t at;
  };

  // The spans of all own accesses along a dimension, sorted by their first index.
  [[nodiscard]] std::vector<Span> spans_in(int dim) const {
    std::vector<Span> spans;
    spans.reserve(mine_.size());
    for (std::size_t at = 0; at < mine_.size(); ++at) {
      const Box& box = mine_[at].access.box;
      spans.push_back({box.lo(dim), box.hi(dim), at});
    }
    std::sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) { return a.lo < b.lo; });
    return spans;
  }

  // Sorts the spans along the first or the second dimension: the one in which boxes are farther
  // apart, so that fewer pairs must be compared.
  void sort_spans() {
    bool have_two_dims = !mine_.empty();
    for (const LoggedAccess& each : mine_) {
      have_two_dims = have_two_dims && each.access.box.ndims() > 1;
      has_local_writes_ = has_local_writes_ || each.access.kind == AccessKind::local_write;
    }
    double farthest = -1.0;
    for (int dim = 0; dim < (have_two_dims ? 2 : 1); ++dim) {
      std::vector<Span> spans = spans_in(dim);
      std::int64_t longest = 1;
      for (const Span& each : spans) {
        longest = std::max(longest, each.hi - each.lo);
      }
      const double reach =
          spans.empty() ? 0.0 : static_cast<double>(spans.back().lo - spans.front().lo);
      if (reach / static_cast<double>(longest) > farthest) {
        farthest = reach / static_cast<double>(longest);
        dim_ = dim;
        longest_ = longest;
        spans_.swap(spans);
      }
    }
  }

  // Calls `act` with the index of each own access whose span meets that of the box. Most pairs of
  // boxes don't meet, so this saves most comparisons.
  template <class Act>
  void for_each_near(const Box& box, Act&& act) {
    const std::int64_t first = box.lo(dim_) - longest_;
    auto each = std::partition_point(spans_.begin(), spans_.end(),
                                     [&](const Span& span) { return span.lo <= first; });
    for (; each != spans_.end() && each->lo < box.hi(dim_); ++each) {
      if (each->hi > box.lo(dim_)) {
        act(each->at);
      }
    }
  }

  void compare(std::size_t at, rma::TeamRank member, const LoggedAccess& theirs) {
    const LoggedAccess& mine = mine_[at];
    if (mine.array != theirs.array || mine.access.epoch != theirs.access.epoch ||
        !conflict(mine.access.kind, theirs.access.kind, mine.is_strict)) {
      return;
    }
    const RaceKind kind = kind_of(mine.array, mine.access, theirs.access);
    const auto common = overlap(mine.access, theirs.access);
    if (!common || known_.contains(kind) || races_.contains(kind)) {
      return;
    }
    const rma::WorldRank other = team_.world_rank(member);
    if (is_ordered(mine, member, theirs, job_.shares_node(other))) {
      return;
    }
    const Race race{.is_found = true,
                    .array = mine.array,
                    .first = mine.access,
                    .second = theirs.access,
                    .first_rank = job_.rank(),
                    .second_rank = other,
                    .finder = job_.rank(),
                    .common = *common};
    if (mine.access.kind == AccessKind::local_write) {
      of_local_writes_.try_emplace(at, race);
    } else {
      races_.emplace(kind, race);
    }
  }

  [[nodiscard]] bool is_ordered(const LoggedAccess& mine, rma::TeamRank member,
                                const LoggedAccess& theirs, bool is_one_clock) {
    if (graph_ == nullptr) {
      return may_be_ordered(mine.access, theirs.access, is_one_clock);
    }
    const auto here = static_cast<std::size_t>(team_.rank().value);
    const auto there = static_cast<std::size_t>(member.value);
    const auto may_precede = [&](std::size_t first, const AccessRecord& from, std::size_t second,
                                 const AccessRecord& to) {
      return times_permit(from, to, is_one_clock) &&
             graph_->may_precede({first, from.orders}, {second, to.last_orders}, mine.age);
    };
    return may_precede(here, mine.access, there, theirs.access) ||
           may_precede(there, theirs.access, here, mine.access);
  }

  const rma::Job& job_;
  rma::Team& team_;
  std::span<const LoggedAccess> mine_;
  const std::set<RaceKind>& known_;
  OrderGraph* graph_;
  std::vector<Span> spans_;
  int dim_ = 0;               // the dimension of the spans
  std::int64_t longest_ = 1;  // the length of the longest span
  bool has_local_writes_ = false;
  std::vector<bool> is_explained_;  // for local writes, by their index in mine_
  std::map<RaceKind, Race> races_;
  std::map<std::size_t, Race> of_local_writes_;
};

// Items of equal length.
struct Items {
  std::span<const std::byte> bytes;
  std::size_t length;
};

// Collective. Sends all members' items to all members, in pieces of equal length, and calls
// `take(member, item)` for each item, also for this member's own. Throws std::bad_alloc.
template <class Take>
Status exchange(rma::Team& team, Items mine, const std::vector<std::size_t>& counts, Take&& take) {
  const std::size_t most = *std::max_element(counts.begin(), counts.end());
  const std::size_t piece = std::clamp<std::size_t>(gathered_bytes / (counts.size() * mine.length),
                                                    1, std::max<std::size_t>(most, 1));
  if (most == 0) {
    return {};
  }
  std::vector<std::byte> own(piece * mine.length);
  std::vector<std::byte> all(own.size() * counts.size());
  for (std::size_t done = 0; done < most; done += piece) {
    const std::span<const std::byte> left =
        mine.bytes.subspan(std::min(done * mine.length, mine.bytes.size()));
    std::copy_n(left.data(), std::min(own.size(), left.size()), own.data());
    TESSERA_RETURN_IF_ERROR(team.allgather(own, all));
    for (std::size_t member = 0; member < counts.size(); ++member) {
      const std::size_t theirs = counts[member] - std::min(done, counts[member]);
      for (std::size_t k = 0; k < std::min(piece, theirs); ++k) {
        take(member, all.data() + (member * piece + k) * mine.length);
      }
    }
  }
  return {};
}

// The first message of each member.
struct LogSummary {
  std::size_t accesses = 0;
  std::size_t orders = 0;
  std::int64_t has_all_orders = 1;
  PackedAccess packed;
  AccessDigest digest;
};

LogSummary summary_of(const MemberLog& log) noexcept {
  LogSummary summary;
  summary.orders = log.orders.size();
  summary.has_all_orders = log.has_all_orders ? 1 : 0;
  for (const ArrayLog& each : log.arrays) {
    summary.accesses += each.accesses.size();
    summary.digest.add(each.array, each.accesses);
    for (const AccessRecord& access : each.accesses) {
      summary.packed.add(access);
    }
  }
  summary.digest.finish();
  return summary;
}

// Whether accesses of any two members may conflict. The result is the same on all members.
bool may_conflict(std::span<const LogSummary> members) noexcept {
  constexpr std::size_t compared_members = 64;
  if (members.size() > compared_members) {
    return std::any_of(members.begin(), members.end(),
                       [](const LogSummary& each) { return each.accesses > 0; });
  }
  for (std::size_t a = 0; a < members.size(); ++a) {
    for (std::size_t b = a + 1; b < members.size(); ++b) {
      if (members[a].digest.may_conflict(members[b].digest)) {
        return true;
      }
    }
  }
  return false;
}

std::vector<LoggedAccess> all_accesses(const MemberLog& log, std::size_t count) {
  std::vector<LoggedAccess> all;
  all.reserve(count);
  for (const ArrayLog& of_array : log.arrays) {
    for (const AccessRecord& access : of_array.accesses) {
      all.push_back({of_array.array, of_array.is_strict, access, of_array.epoch - access.epoch});
    }
  }
  return all;
}

// Collective. Returns null if the graph would be incomplete: then objects are not distinguished. In
// a team without all ranks it is, since ranks outside of the team may also order its members.
Result<std::unique_ptr<OrderGraph>> make_graph(const rma::Job& job, rma::Team& team,
                                               std::span<const OrderEntry> mine,
                                               const std::vector<LogSummary>& sizes) {
  std::vector<std::size_t> counts;
  std::size_t all = 0;
  bool is_complete = team.size() == job.size();
  for (const LogSummary& each : sizes) {
    counts.push_back(each.orders);
    all += each.orders;
    is_complete = is_complete && each.has_all_orders != 0;
  }
  if (!is_complete || all > gathered_bytes / sizeof(OrderEntry)) {
    return std::unique_ptr<OrderGraph>();
  }
  std::vector<std::vector<OrderEntry>> by_member(counts.size());
  const auto take = [&](std::size_t member, const std::byte* item) {
    OrderEntry& entry = by_member[member].emplace_back();
    std::memcpy(&entry, item, sizeof entry);
  };
  TESSERA_RETURN_IF_ERROR(exchange(team, {std::as_bytes(mine), sizeof(OrderEntry)}, counts, take));
  return std::make_unique<OrderGraph>(std::move(by_member));
}

// Collective. Makes every member's races known to all.
Result<std::vector<Race>> share(rma::Team& team, const std::vector<Race>& mine,
                                std::set<RaceKind>& known) {
  std::vector<Race> shared;
  TESSERA_ASSIGN_OR_RETURN(const std::vector<std::size_t> counts,
                           team.allgather_value(mine.size()));
  for (std::size_t at = 0; at < *std::max_element(counts.begin(), counts.end()); ++at) {
    TESSERA_ASSIGN_OR_RETURN(const std::vector<Race> found,
                             team.allgather_value(at < mine.size() ? mine[at] : Race()));
    for (const Race& race : found) {
      if (race.is_found && known.insert(kind_of(race.array, race.first, race.second)).second) {
        shared.push_back(race);
      }
    }
  }
  return shared;
}

}  // namespace

Result<std::vector<Race>> find_races(const rma::Job& job, rma::Team& team, const MemberLog& log,
                                     std::set<RaceKind>& known) {
  const LogSummary summary = summary_of(log);
  TESSERA_ASSIGN_OR_RETURN(const std::vector<LogSummary> all, team.allgather_value(summary));
  if (!may_conflict(all)) {
    return std::vector<Race>();
  }
  std::vector<std::size_t> counts;
  PackedAccess form;
  for (const LogSummary& each : all) {
    counts.push_back(each.accesses);
    form.add(each.packed);
  }
  const std::vector<LoggedAccess> mine = all_accesses(log, summary.accesses);
  std::vector<std::byte> bytes(mine.size() * form.bytes());
  for (std::size_t at = 0; at < mine.size(); ++at) {
    form.pack(mine[at], bytes.data() + at * form.bytes());
  }
  TESSERA_ASSIGN_OR_RETURN(const auto graph, make_graph(job, team, log.orders, all));
  Search search(job, team, mine, known, graph.get());
  const auto take = [&](std::size_t member, const std::byte* item) {
    const rma::TeamRank rank{static_cast<std::int32_t>(member)};
    if (rank != team.rank()) {
      search.compare(rank, form.unpack(item));
    }
  };
  TESSERA_RETURN_IF_ERROR(exchange(team, {bytes, form.bytes()}, counts, take));
  return share(team, search.take(), known);
}

}  // namespace tessera::arrays::detail
