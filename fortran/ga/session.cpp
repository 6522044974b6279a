// SPDX-License-Identifier: BSD-3-Clause
#include "fortran/ga/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "fortran/ga/nonblocking.hpp"
#include "fortran/ga/settings.hpp"
#include "rma/bootstrap.hpp"

namespace tessera::ga {

using rma::armci::Holder;

// Not destroyed if a program ends without ga_terminate: that would wait for the other processes.
constinit Session* Session::running = nullptr;

namespace detail {
constinit Ranks ranks;
}

namespace {

// GA compares no scalars: each process uses its own for its part.
rma::TeamOptions team_options() {
  return {.compare_scalars = environment_options().compares_scalars};
}

}  // namespace

Status not_running() {
  return Status::error(Code::closed, "Global Arrays is not running")
      .hint("call its functions only between ga_initialize and ga_terminate");
}

Group& default_group() noexcept {
  static auto* const none = new Group;
  const Session* const session = Session::current();
  return session == nullptr ? *none : session->default_group();
}

Status Session::begin(std::int64_t limit) {
  if (running != nullptr) {
    return {};
  }
  TESSERA_RETURN_IF_ERROR(check_environment());
  TESSERA_RETURN_IF_ERROR(rma::armci::Session::begin(Holder::arrays));
  auto session = std::make_unique<Session>(*rma::armci::Session::current());
  session->limit = limit > 0 ? limit : -1;
  running = session.release();
  return running->prepare();
}

Status Session::end() {
  if (running == nullptr || rma::is_child_of_rank()) {
    return {};
  }
  const std::unique_ptr<Session> last(running);
  Status finished = last->finish();
  running = nullptr;
  detail::ranks = {};
  Status below = rma::armci::Session::end(Holder::arrays);
  return finished.ok() ? std::move(below) : std::move(finished);
}

Status Session::prepare() {
  const rma::Team& world = job().world();
  auto all = std::make_unique<Group>();
  all->team = world;
  all->team.set_options(team_options());
  all->members.assign(world.members().begin(), world.members().end());
  all->rank = job().rank().value;
  set_default_group(*all);
  groups_.emplace(Group::world, std::move(all));
  if (job().node_count() > 1) {
    const auto& members = job().node_ranks();
    auto mirror = std::make_unique<Group>();
    mirror->number = Group::mirror;
    TESSERA_ASSIGN_OR_RETURN(mirror->team, rma::Team::create(job(), members));
    mirror->team.set_options(team_options());
    mirror->members = members;
    mirror->rank = mirror->team.rank().value;
    groups_.emplace(Group::mirror, std::move(mirror));
  }
  return {};
}

// In order of dependence; each step runs even if the one before has failed.
Status Session::finish() {
  Status all = job().barrier();
  const auto record = [&all](Status each) {
    if (all.ok()) {
      all = std::move(each);
    }
  };
  Requests::clear();
  if (mutexes) {
    record(mutexes->free());
    mutexes.reset();
  }
  auto arrays = Records::all();
  std::sort(arrays.begin(), arrays.end(),
            [](const Record* a, const Record* b) { return a->number() < b->number(); });
  for (Record* const array : arrays) {
    if (array->is_allocated()) {
      record(array->array().free());
    }
  }
  Records::clear();
  for (const auto& [number, factor] : factors) {
    record(factor->free());
  }
  for (const auto& [address, memory] : given_memory) {
    record(job().free_local(address));
  }
  default_ = nullptr;
  groups_.at(Group::world)->team.set_options({});
  groups_.clear();
  return all;
}

Result<Group*> Session::find_group(std::int64_t number) {
  // On one node all processes hold one copy: the world.
  const bool is_world = number == Group::mirror && job().node_count() == 1;
  const auto found = groups_.find(is_world ? Group::world : number);
  if (found == groups_.end()) {
    return Status::error(Code::invalid_argument, fmt::format("there is no group {}", number))
        .hint(
            "give a number that GA_Pgroup_create or GA_Pgroup_split returned, or "
            "GA_Pgroup_get_world");
  }
  return found->second.get();
}

void Session::set_default_group(Group& group) {
  default_ = &group;
  detail::ranks = {group.rank, group.size()};
}

Group& Session::add_group(rma::Team team, std::vector<rma::WorldRank> members,
                          ARMCI_Group below_number) {
  std::int64_t number = Group::mirror + 1;
  while (groups_.contains(number)) {
    ++number;
  }
  auto group = std::make_unique<Group>();
  group->number = number;
  if (team) {
    group->rank = team.rank().value;
    team.set_options(team_options());
  }
  group->team = std::move(team);
  group->members = std::move(members);
  group->below = below_number;
  return *groups_.emplace(number, std::move(group)).first->second;
}

void Session::remove_group(const Group& group) {
  if (default_ == &group) {
    set_default_group(*groups_.at(Group::world));
  }
  groups_.erase(group.number);
}

}  // namespace tessera::ga
