// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/detail/race_search.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>

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
  Search(const rma::Job& job, rma::Team& team, std::span<const LoggedAccess> mine,
         const std::set<RaceKind>& known)
      : job_(job), team_(team), mine_(mine), known_(known), is_explained_(mine.size()) {
    for (const LoggedAccess& each : mine) {
      mark_explained_writes(each);
    }
  }

  void compare(rma::TeamRank member, const LoggedAccess& theirs) {
    mark_explained_writes(theirs);
    for (std::size_t at = 0; at < mine_.size(); ++at) {
      if (reports_here(mine_[at].access, theirs.access, member)) {
        compare(at, member, theirs);
      }
    }
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
    for (std::size_t at = 0; at < mine_.size(); ++at) {
      const LoggedAccess& change = mine_[at];
      if (change.access.kind == AccessKind::local_write && change.array == cause.array &&
          cause.access.epoch <= change.access.epoch && overlap(change.access, cause.access)) {
        is_explained_[at] = true;
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
    if (may_be_ordered(mine.access, theirs.access, job_.shares_node(other))) {
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

  const rma::Job& job_;
  rma::Team& team_;
  std::span<const LoggedAccess> mine_;
  const std::set<RaceKind>& known_;
  std::vector<bool> is_explained_;  // for local writes, by their index in mine_
  std::map<RaceKind, Race> races_;
  std::map<std::size_t, Race> of_local_writes_;
};

// Collective. Sends all logs to all members, in pieces of equal length.
Status compare_all(rma::Team& team, std::span<const LoggedAccess> mine,
                   const std::vector<std::size_t>& counts, Search& search) {
  const std::size_t most = *std::max_element(counts.begin(), counts.end());
  const std::size_t piece = std::clamp<std::size_t>(
      gathered_bytes / (counts.size() * sizeof(LoggedAccess)), 1, std::max<std::size_t>(most, 1));
  std::vector<LoggedAccess> own;
  std::vector<LoggedAccess> all;
  TESSERA_RETURN_IF_ERROR(team.agree([&] {
    own.resize(piece);
    all.resize(piece * counts.size());
    return Status();
  }));
  for (std::size_t done = 0; done < most; done += piece) {
    const std::size_t mine_left = mine.size() - std::min(done, mine.size());
    std::copy_n(mine.data() + std::min(done, mine.size()), std::min(piece, mine_left), own.data());
    TESSERA_RETURN_IF_ERROR(team.allgather(std::as_bytes(std::span<const LoggedAccess>(own)),
                                           std::as_writable_bytes(std::span(all))));
    for (std::size_t member = 0; member < counts.size(); ++member) {
      const std::size_t theirs = counts[member] - std::min(done, counts[member]);
      const rma::TeamRank rank{static_cast<std::int32_t>(member)};
      for (std::size_t k = 0; k < std::min(piece, theirs) && rank != team.rank(); ++k) {
        search.compare(rank, all[member * piece + k]);
      }
    }
  }
  return {};
}

// Collective. Makes every member's races known to all.
Result<std::vector<Race>> share(rma::Team& team, const std::vector<Race>& mine,
                                std::set<RaceKind>& known) {
  std::vector<Race> shared;
  for (std::size_t at = 0;; ++at) {
    TESSERA_ASSIGN_OR_RETURN(const std::vector<Race> found,
                             team.allgather_value(at < mine.size() ? mine[at] : Race()));
    bool is_last = true;
    for (const Race& race : found) {
      is_last = is_last && !race.is_found;
      if (race.is_found && known.insert(kind_of(race.array, race.first, race.second)).second) {
        shared.push_back(race);
      }
    }
    if (is_last) {
      return shared;
    }
  }
}

}  // namespace

Result<std::vector<Race>> find_races(const rma::Job& job, rma::Team& team,
                                     std::span<const LoggedAccess> mine,
                                     std::set<RaceKind>& known) {
  TESSERA_ASSIGN_OR_RETURN(const std::vector<std::size_t> counts,
                           team.allgather_value(mine.size()));
  if (std::all_of(counts.begin(), counts.end(), [](std::size_t count) { return count == 0; })) {
    return std::vector<Race>();
  }
  Search search(job, team, mine, known);
  TESSERA_RETURN_IF_ERROR(compare_all(team, mine, counts, search));
  return share(team, search.take(), known);
}

}  // namespace tessera::arrays::detail
