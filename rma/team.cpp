// SPDX-License-Identifier: BSD-3-Clause
#include "rma/team.hpp"

#include <algorithm>
#include <array>
#include <type_traits>
#include <utility>

#include "rma/base/catch_bad_alloc.hpp"
#include "rma/engine/job_state.hpp"
#include "rma/job.hpp"

namespace tessera::rma {
namespace {

// Bytes of the elements; 0 for negative counts, which are refused later.
std::uint64_t bytes_of(std::int64_t count, ElementType type) {
  return count < 0 ? 0 : static_cast<std::uint64_t>(count) * size_of(type);
}

// Out of line, so that jobs without a profile don't need its stack space. Its own function for each
// kind of wait, so that the kind is known when the wait is counted.
template <detail::Wait wait, class Bytes, class Work>
[[gnu::noinline]] Status record(detail::Recorder& recorder, const detail::TeamState& team,
                                Bytes bytes, Work work) {
  const detail::WaitScope scope(&recorder, wait, WorldRank{-1}, bytes, team.label());
  return work();
}

// A number of bytes that is known to the compiler.
using NoBytes = std::integral_constant<std::uint64_t, 0>;

// Does `work`, which waits, and records it in the profile.
template <detail::Wait wait, class Bytes, class Work>
Status recorded(const detail::TeamState& team, Bytes bytes, Work work) {
  detail::Recorder* const recorder = team.job().recorder();
  Status done = detail::catch_bad_alloc(
      [&] { return recorder == nullptr ? work() : record<wait>(*recorder, team, bytes, work); });
  return done.ok() ? std::move(done) : team.job().name_rank(std::move(done));
}

}  // namespace

std::string_view to_string(Reduction reduction) noexcept {
  constexpr std::array<std::string_view, reduction_count> names{
      "sum",     "product", "min",    "max",         "abs_min",
      "abs_max", "bit_and", "bit_or", "logical_and", "logical_or"};
  const auto index = static_cast<std::size_t>(reduction);
  return index < names.size() ? names[index] : "unknown";
}

Result<Team> Team::create(Job& job, std::span<const WorldRank> members) {
  detail::JobState& state = job.state();
  TESSERA_RETURN_IF_ERROR(state.name_rank(state.check_running()));
  const detail::WaitScope wait(state.recorder(), detail::Wait::team);
  TESSERA_ASSIGN_OR_RETURN(
      auto team, state.name_rank(detail::TeamState::create(state, job.shared_state(), members)));
  return Team(std::move(team));
}

Result<Team> Team::split(std::int32_t color, std::int32_t key) {
  struct SplitKey {
    std::int32_t color;
    std::int32_t key;
    std::int32_t rank;
  };
  const SplitKey own{color, key, rank().value};
  const LabelScope scope(*this, {.verb = "split", .kind = "team"});
  const detail::WaitScope wait(state_->job().recorder(), detail::Wait::team);
  // Allocated before the others receive this rank's key and form teams.
  std::vector<WorldRank> members;
  TESSERA_ASSIGN_OR_RETURN(std::vector<SplitKey> keys, do_together([&] {
                             members.reserve(static_cast<std::size_t>(size()));
                             return allgather_value(own);
                           }));
  std::erase_if(keys, [&](const SplitKey& each) {
    return color < 0 ? each.rank != own.rank : each.color != color;
  });
  std::stable_sort(keys.begin(), keys.end(),
                   [](const SplitKey& a, const SplitKey& b) { return a.key < b.key; });
  for (const SplitKey& each : keys) {
    members.push_back(world_rank(TeamRank{each.rank}));
  }
  detail::JobState& job = state_->job();
  TESSERA_ASSIGN_OR_RETURN(auto team, job.name_rank(detail::TeamState::create(
                                          job, job.weak_from_this().lock(), members)));
  team->set_options(options());
  return Team(std::move(team));
}

void Team::set_options(const TeamOptions& options) noexcept {
  state_->set_options(options);
}

const TeamOptions& Team::options() const noexcept {
  return state_->options();
}

std::span<const WorldRank> detail::members_of(const TeamState& team) noexcept {
  return team.members();
}

TeamRank Team::rank() const noexcept {
  return state_->rank();
}
std::int32_t Team::size() const noexcept {
  return state_->size();
}
std::span<const WorldRank> Team::members() const noexcept {
  return state_->members();
}

WorldRank Team::world_rank(TeamRank rank) const noexcept {
  return state_->members()[static_cast<std::size_t>(rank.value)];
}

TeamRank Team::team_rank(WorldRank rank) const noexcept {
  return state_->team_rank(rank);
}

Status Team::barrier() {
  if (OrderObserver* const observer = state_->job().observers().current()) [[unlikely]] {
    TESSERA_RETURN_IF_ERROR(observer->before_barrier(*this));
  }
  return recorded<detail::Wait::barrier>(*state_, NoBytes(),
                                         [=, this] { return state_->barrier(); });
}

Status Team::broadcast(std::span<std::byte> bytes, TeamRank root) {
  return recorded<detail::Wait::broadcast>(*state_, bytes.size(),
                                           [=, this] { return state_->broadcast(bytes, root); });
}

Status Team::allgather(std::span<const std::byte> own, std::span<std::byte> all) {
  return recorded<detail::Wait::allgather>(*state_, own.size(),
                                           [=, this] { return state_->allgather(own, all); });
}

Status Team::allreduce(void* elements, std::int64_t count, ElementType type, Reduction reduction) {
  return recorded<detail::Wait::reduce>(*state_, bytes_of(count, type), [=, this] {
    return state_->allreduce(elements, count, type, reduction, nullptr);
  });
}

Status Team::reduce(void* elements, std::int64_t count, ElementType type, Reduction reduction,
                    TeamRank root) {
  return recorded<detail::Wait::reduce>(*state_, bytes_of(count, type), [=, this] {
    return state_->allreduce(elements, count, type, reduction, &root);
  });
}

Status Team::name_rank(Status status) const noexcept {
  return state_ ? state_->job().name_rank(std::move(status)) : std::move(status);
}

Status Team::report_no_memory() noexcept {
  return name_rank(state_->report_no_memory());
}

Status Team::agree(const Status& status, const AgreedCall& asked) {
  const bool is_labelled = !asked.label.verb.empty();
  const LabelScope scope(is_labelled ? state_.get() : nullptr, asked.label);
  return recorded<detail::Wait::agree>(
      *state_, NoBytes(), [this, &status, &asked] { return state_->agree(status, asked); });
}

}  // namespace tessera::rma
