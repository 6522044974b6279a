// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/detail/race_search.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>

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
  // `graph` is null if the objects that order members are not distinguished.
  Search(const rma::Job& job, rma::Team& team, std::span<const LoggedAccess> mine,
         const std::set<RaceKind>& known, OrderGraph* graph)
      : job_(job),
        team_(team),
        mine_(mine),
        known_(known),
        graph_(graph),
        is_explained_(mine.size()) {
    for (std::size_t at = 0; at < mine.size(); ++at) {
      const Box& box = mine[at].access.box;
      spans_.push_back({box.lo(0), box.hi(0), at});
    }
    std::sort(spans_.begin(), spans_.end(),
              [](const Span& a, const Span& b) { return a.lo < b.lo; });
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
    if (!is_write_by_call(cause.access.kind)) {
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

  // Of an access of this member, in the first dimension.
  struct Span {
    std::int64_t lo;
    std::int64_t hi;
    std::size_t at;
  };

  // Calls `act` with the index of each own access that meets the box in the first dimension. Most
  // pairs do not, so the others are not looked at.
  template <class Act>
  void for_each_near(const Box& box, Act&& act) {
    for (const Span& each : spans_) {
      if (each.lo >= box.hi(0)) {
        break;
      }
      if (each.hi > box.lo(0)) {
        act(each.at);
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
  std::vector<Span> spans_;         // by their beginnings
  std::vector<bool> is_explained_;  // for local writes, by their index in mine_
  std::map<RaceKind, Race> races_;
  std::map<std::size_t, Race> of_local_writes_;
};

// Collective. Sends all members' lists to all members, in pieces of equal length, and calls
// `take(member, item)` for each item, also for this member's own.
template <class Item, class Take>
Status exchange(rma::Team& team, std::span<const Item> mine, const std::vector<std::size_t>& counts,
                Take&& take) {
  const std::size_t most = *std::max_element(counts.begin(), counts.end());
  const std::size_t piece = std::clamp<std::size_t>(gathered_bytes / (counts.size() * sizeof(Item)),
                                                    1, std::max<std::size_t>(most, 1));
  if (most == 0) {
    return {};
  }
  std::vector<Item> own;
  std::vector<Item> all;
  TESSERA_RETURN_IF_ERROR(team.agree([&] {
    own.resize(piece);
    all.resize(piece * counts.size());
    return Status();
  }));
  for (std::size_t done = 0; done < most; done += piece) {
    const std::size_t mine_left = mine.size() - std::min(done, mine.size());
    std::copy_n(mine.data() + std::min(done, mine.size()), std::min(piece, mine_left), own.data());
    TESSERA_RETURN_IF_ERROR(team.allgather(std::as_bytes(std::span<const Item>(own)),
                                           std::as_writable_bytes(std::span(all))));
    for (std::size_t member = 0; member < counts.size(); ++member) {
      const std::size_t theirs = counts[member] - std::min(done, counts[member]);
      for (std::size_t k = 0; k < std::min(piece, theirs); ++k) {
        take(member, all[member * piece + k]);
      }
    }
  }
  return {};
}

struct LogSize {
  std::size_t accesses = 0;
  std::size_t orders = 0;
  std::int64_t has_all_orders = 1;
};

// Collective. Null if it would not be complete: then objects are not distinguished. Members that
// are not in the team may order its members, too.
Result<std::unique_ptr<OrderGraph>> make_graph(const rma::Job& job, rma::Team& team,
                                               std::span<const OrderEntry> mine,
                                               const std::vector<LogSize>& sizes) {
  std::vector<std::size_t> counts;
  std::size_t all = 0;
  bool is_complete = team.size() == job.size();
  for (const LogSize& each : sizes) {
    counts.push_back(each.orders);
    all += each.orders;
    is_complete = is_complete && each.has_all_orders != 0;
  }
  if (!is_complete || all > gathered_bytes / sizeof(OrderEntry)) {
    return std::unique_ptr<OrderGraph>();
  }
  std::vector<std::vector<OrderEntry>> by_member(counts.size());
  TESSERA_RETURN_IF_ERROR(exchange(
      team, mine, counts,
      [&](std::size_t member, const OrderEntry& entry) { by_member[member].push_back(entry); }));
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

Result<std::vector<Race>> find_races(const rma::Job& job, rma::Team& team, const MemberLog& mine,
                                     std::set<RaceKind>& known) {
  const LogSize size{mine.accesses.size(), mine.orders.size(), mine.has_all_orders ? 1 : 0};
  TESSERA_ASSIGN_OR_RETURN(const std::vector<LogSize> sizes, team.allgather_value(size));
  std::vector<std::size_t> counts;
  std::transform(sizes.begin(), sizes.end(), std::back_inserter(counts),
                 [](const LogSize& each) { return each.accesses; });
  if (std::all_of(counts.begin(), counts.end(), [](std::size_t count) { return count == 0; })) {
    return std::vector<Race>();
  }
  TESSERA_ASSIGN_OR_RETURN(const auto graph, make_graph(job, team, mine.orders, sizes));
  Search search(job, team, mine.accesses, known, graph.get());
  TESSERA_RETURN_IF_ERROR(exchange<LoggedAccess>(
      team, mine.accesses, counts, [&](std::size_t member, const LoggedAccess& theirs) {
        const rma::TeamRank rank{static_cast<std::int32_t>(member)};
        if (rank != team.rank()) {
          search.compare(rank, theirs);
        }
      }));
  return share(team, search.take(), known);
}

}  // namespace tessera::arrays::detail
