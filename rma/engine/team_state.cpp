// SPDX-License-Identifier: BSD-3-Clause
#include "rma/engine/team_state.hpp"

#include <fmt/format.h>

#include "rma/base/catch_bad_alloc.hpp"
#include "rma/engine/job_state.hpp"
#include "rma/engine/reduce.hpp"
#include "rma/engine/team/agreement.hpp"
#include "rma/engine/team/background_collectives.hpp"
#include "rma/engine/team/staging_window.hpp"
#include "rma/engine/team/team_formation.hpp"
#include "rma/team_number.hpp"

namespace tessera::rma::detail {

TeamState::TeamState(JobState& job, std::shared_ptr<JobState> keep_job,
                     std::span<const WorldRank> members, std::uint32_t companion_of)
    : job_(job),
      keep_job_(std::move(keep_job)),
      members_(members, job.rank(), job.node(), job.nodes(), companion_of),
      step_(job, *this, members_),
      in_slots_(step_),
      in_pieces_(job, step_) {}

// The reserve has all the memory that is needed to report a failure to the others.
Result<std::shared_ptr<TeamState>> TeamState::create(JobState& job,
                                                     const std::shared_ptr<JobState>& keep_job,
                                                     std::span<const WorldRank> members,
                                                     std::uint32_t companion_of) {
  const auto prepared = [&] {
    return catch_bad_alloc([&] { return prepare(job, keep_job, members, companion_of); });
  };
  auto kind = CollectiveCall::Kind::form;
  Result<std::shared_ptr<TeamState>> team = prepared();
  if (team.status().code() == Code::no_memory) {
    kind = CollectiveCall::Kind::without_memory;
    job.reserve().give();
    team = prepared();
  }
  Status formed = team.ok() ? TeamFormation(job, (*team)->step_).run(kind).context("forming a team")
                            : team.status();
  if (kind == CollectiveCall::Kind::without_memory) {
    team = formed.ok() ? Status::no_memory("forming a team: no member has memory for it") : formed;
    job.reserve().refill();
  }
  TESSERA_RETURN_IF_ERROR(formed);
  if (team.ok() && companion_of == 0) {
    (*team)->number_ = (*team)->count_of_same_->fetch_add(1) + 1;
  }
  return team;
}

// Local: computes what a member can know without the others.
Result<std::shared_ptr<TeamState>> TeamState::prepare(JobState& job,
                                                      const std::shared_ptr<JobState>& keep_job,
                                                      std::span<const WorldRank> members,
                                                      std::uint32_t companion_of) {
  TESSERA_RETURN_IF_ERROR(TeamMembers::check(members, job.rank(), job.size()));
  std::shared_ptr<TeamState> team(new TeamState(job, keep_job, members, companion_of));
  if (companion_of == 0) {
    team->count_of_same_ = &job.teams().count_of(team->members_.set_hash());
  }
  if (team->members_.has_other_nodes() && job.link() == nullptr) {
    return Status::error(Code::unreachable,
                         fmt::format("the team's members are on several nodes, and no transport of "
                                     "'{}' connects nodes",
                                     job.settings().transport));
  }
  return team;
}

Status TeamState::check_root(TeamRank root) const {
  return root.value >= 0 && root.value < size()
             ? Status()
             : Status::error(Code::invalid_argument,
                             fmt::format("member {} cannot be the root: the team has {} members",
                                         root.value, size()));
}

// These collectives write to this rank's slots before they meet. A child made by fork() must not:
// the other members may still read there.
Status TeamState::broadcast(std::span<std::byte> bytes, TeamRank root) {
  TESSERA_RETURN_IF_ERROR(job_.check_running());
  if (Status wrong = check_root(root); !wrong.ok()) {
    return step_.refuse(std::move(wrong));
  }
  const CollectiveCall call{
      .kind = CollectiveCall::Kind::broadcast, .root = root, .bytes = bytes.size()};
  if (in_pieces_.is_long(bytes.size())) {
    TESSERA_ASSIGN_OR_RETURN(const bool is_ready, in_pieces_.prepare(call));
    if (is_ready) {
      return do_together([&] { return in_pieces_.broadcast(bytes, call); });
    }
  }
  return in_slots_.broadcast(bytes, call);
}

Status TeamState::allgather(std::span<const std::byte> mine, std::span<std::byte> all) {
  TESSERA_RETURN_IF_ERROR(job_.check_running());
  if (all.size() != mine.size() * members().size()) {
    return step_.refuse(
        Status::error(Code::invalid_argument,
                      fmt::format("{} bytes from each of {} members do not fit a buffer of {}",
                                  mine.size(), size(), all.size())));
  }
  const CollectiveCall call{.kind = CollectiveCall::Kind::allgather, .bytes = mine.size()};
  if (in_pieces_.is_long(mine.size())) {
    TESSERA_ASSIGN_OR_RETURN(const bool is_ready, in_pieces_.prepare(call));
    if (is_ready) {
      return do_together([&] { return in_pieces_.allgather(mine, all, call); });
    }
  }
  return in_slots_.allgather(mine, all, call);
}

Status TeamState::check_reduction(const void* elements, std::int64_t count, ElementType type,
                                  Reduction reduction, const TeamRank* only_root) const {
  if (only_root != nullptr) {
    TESSERA_RETURN_IF_ERROR(check_root(*only_root));
  }
  if (!is_defined(type, reduction)) {
    return Status::error(
        Code::invalid_argument,
        fmt::format("reduction {} is not defined for {}", to_string(reduction), to_string(type)));
  }
  std::uint64_t bytes = 0;
  if (count < 0 ||
      __builtin_mul_overflow(static_cast<std::uint64_t>(count), size_of(type), &bytes)) {
    return Status::error(Code::invalid_argument,
                         fmt::format("{} elements cannot be reduced", count));
  }
  if (elements == nullptr && count > 0) {
    return Status::error(Code::invalid_argument, "the elements to reduce are at a null pointer");
  }
  return {};
}

Status TeamState::allreduce(void* elements, std::int64_t count, ElementType type,
                            Reduction reduction, const TeamRank* only_root) {
  TESSERA_RETURN_IF_ERROR(job_.check_running());
  if (Status wrong = check_reduction(elements, count, type, reduction, only_root); !wrong.ok()) {
    return step_.refuse(std::move(wrong));
  }
  const std::span<std::byte> bytes(static_cast<std::byte*>(elements),
                                   static_cast<std::uint64_t>(count) * size_of(type));
  const CollectiveCall call{
      .kind = only_root == nullptr ? CollectiveCall::Kind::allreduce : CollectiveCall::Kind::reduce,
      .type = type,
      .reduction = reduction,
      .root = only_root == nullptr ? TeamRank{} : *only_root,
      .bytes = bytes.size()};
  const bool keep_result = only_root == nullptr || *only_root == rank();
  if (in_pieces_.is_long(bytes.size())) {
    TESSERA_ASSIGN_OR_RETURN(const bool is_ready, in_pieces_.prepare(call));
    if (is_ready) {
      return do_together([&] { return in_pieces_.allreduce(bytes, call, keep_result); });
    }
  }
  return in_slots_.allreduce(bytes, call, keep_result);
}

Status TeamState::agree(const Status& mine, const AgreedCall& asked) {
  TESSERA_RETURN_IF_ERROR(job_.check_running());
  AgreedCall compared = asked;
  compared.scalars = options_.compare_scalars ? asked.scalars : 0;
  return detail::agree(step_, mine, compared);
}

TeamState::~TeamState() = default;

std::shared_ptr<Operation> TeamState::start(BackgroundCall call) {
  // Here, since the background may be slower than this rank's next collective.
  job_.observers().report_order(OrderCall::Kind::release,
                                [&] { return number_of_team(members()); });
  const TeamControl& control = step_.memory().control();
  call.place = (control.generation.load() & ~TeamControl::given_up_bit) + std::uint64_t{1};
  call.operation = make_operation(job_, members_.own_world_rank());
  call.operation->set_what("a collective started by");
  call.operation->completion().begin();
  if (job_.is_stopped()) {
    call.operation->completion().end(job_.stopped_error());
    return call.operation;
  }
  if (background_ == nullptr) {
    auto background = BackgroundCollectives::start(*this, number_);
    job_.teams().add(background);
    background_ = std::move(background);
  }
  background_->add(call);
  return call.operation;
}

Result<StagingWindow*> TeamState::staging() {
  if (staging_ == nullptr) {
    TESSERA_ASSIGN_OR_RETURN(staging_, StagingWindow::create(*this));
  }
  return staging_.get();
}

void TeamState::give_up_as_left() noexcept {
  TeamControl& control = step_.memory().control();
  control.give_up(control.generation.load() & ~TeamControl::given_up_bit,
                  TeamControl::left(members_.own_world_rank()));
}

}  // namespace tessera::rma::detail
