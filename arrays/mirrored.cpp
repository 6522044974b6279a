// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/mirrored.hpp"

#include <fmt/format.h>

#include <exception>
#include <functional>
#include <string>
#include <string_view>

#include "arrays/call_signature.hpp"
#include "arrays/detail/node_copy.hpp"
#include "arrays/detail/own_blocks.hpp"

namespace tessera::arrays::detail {

using rma::Code;
using rma::Result;
using rma::Status;
using rma::Team;
using rma::WorldRank;

namespace {

Status check_box(const ArrayBase& array, const Box& box) {
  return check_inside(box, array.extents()).context(array.describe());
}

Status check_extents(const ArrayBase& copy, const Box& of_copy, const ArrayBase& other,
                     const Box& of_other) {
  if (of_copy.extents() == of_other.extents()) {
    return {};
  }
  return Status::error(
      Code::invalid_argument,
      fmt::format("the box {} of {} is {}, but the box {} of {} is {}", to_string(of_copy),
                  copy.describe(), to_string(of_copy.extents()), to_string(of_other),
                  other.describe(), to_string(of_other.extents())));
}

// Fails unless the team of `copy` has the members of `team` that are on this node, and only them.
Status check_on_node(const Team& team, const ArrayBase& copy) {
  const rma::Job& job = copy.job();
  std::int64_t on_node = 0;
  bool has_all = true;
  for (const WorldRank member : team.members()) {
    if (job.node_of(member) == job.node_of(job.rank())) {
      ++on_node;
      has_all = has_all && copy.team().team_rank(member).value >= 0;
    }
  }
  return has_all && on_node == copy.team().size()
             ? Status()
             : Status::error(Code::invalid_argument,
                             copy.describe() + " is not on the team of the members on this node");
}

Status check_copy(const Team& team, const ArrayBase& copy) {
  TESSERA_RETURN_IF_ERROR(copy.check_open());
  TESSERA_RETURN_IF_ERROR(copy.check_local_access());
  return check_on_node(team, copy);
}

Status check_open(const Team& team, const ArrayBase& copy, const ArrayBase& other) {
  TESSERA_RETURN_IF_ERROR(check_copy(team, copy));
  return other.check_open();
}

// Checks that all members of `team` are in the other array's team.
Status check_members(const Team& team, const ArrayBase& other) {
  for (const WorldRank member : team.members()) {
    if (other.team().team_rank(member).value < 0) {
      return Status::error(Code::invalid_argument, fmt::format("rank {} is not in the team of {}",
                                                               member.value, other.describe()));
    }
  }
  return {};
}

Status check_boxes(const ArrayBase& copy, const Box& of_copy, const ArrayBase& other,
                   const Box& of_other) {
  TESSERA_RETURN_IF_ERROR(check_box(copy, of_copy));
  TESSERA_RETURN_IF_ERROR(check_box(other, of_other));
  return check_extents(copy, of_copy, other, of_other);
}

Status check_target(const Team& team, const ArrayBase& copy, const Box& from, const ArrayBase& to,
                    const Box& to_box) {
  TESSERA_RETURN_IF_ERROR(check_open(team, copy, to));
  TESSERA_RETURN_IF_ERROR(check_boxes(copy, from, to, to_box));
  TESSERA_RETURN_IF_ERROR(check_members(team, to));
  if (to.team().size() != team.size()) {
    return Status::error(
               Code::invalid_argument,
               fmt::format("{} has a team of {} ranks, but the mirrored array has a team of {}",
                           to.describe(), to.team().size(), team.size()))
        .hint("merge into an array on the mirrored array's team");
  }
  TESSERA_RETURN_IF_ERROR(to.check_transfer(Transfer::put()));
  return to.check_transfer(Transfer::accumulate(rma::Scale::one(*copy.element().type)));
}

Status check_source(const Team& team, const ArrayBase& copy, const Box& to, const ArrayBase& from,
                    const Box& from_box) {
  TESSERA_RETURN_IF_ERROR(check_open(team, copy, from));
  TESSERA_RETURN_IF_ERROR(check_boxes(copy, to, from, from_box));
  TESSERA_RETURN_IF_ERROR(check_members(team, from));
  return from.check_transfer(Transfer::get());
}

// An array that was moved from has no team to synchronise with.
Status check_has_team(const ArrayBase& copy) {
  return copy.region() ? Status() : copy.check_open();
}

// Without an array number: each node's copy has a different one.
rma::Label call(std::string_view verb, const ArrayBase& copy) noexcept {
  return {.verb = verb, .kind = "mirrored array", .name = copy.name()};
}

// No rank reads a copy before all its writers are done.
Status begin(Team& team, const ArrayBase& copy, const Status& own_status) {
  TESSERA_RETURN_IF_ERROR(team.agree(own_status));
  return team.agree(copy.sync());
}

Status check_options(const ArrayOptions& options) {
  if (options.holders.empty() && options.process_grid.ndims() == 0) {
    return {};
  }
  return Status::error(
      Code::invalid_argument,
      "holders and process_grid can't be given for an array with a copy on each node");
}

// Collective over the team of `options`, as create_copy_on_node(). `layout` is what
// ArrayBase::create takes, `extents` what all members must have given alike.
template <class Layout>
Result<ArrayBase> create_on_nodes(const rma::Job& job, const Layout& layout,
                                  const Distribution& extents, const ElementKind& element,
                                  ArrayOptions& options) {
  Team team = *options.team;
  TESSERA_RETURN_IF_ERROR(check_same_on_all(
      team, fingerprint(extents) * 31 + std::hash<std::string>{}(element.name), "mirrored array",
      "all members must give the same element type, extents and options"));
  TESSERA_ASSIGN_OR_RETURN(Team node, team.split(job.node_of(job.rank()).value, team.rank().value));
  options.team = node;
  auto copy = ArrayBase::create(job, layout, element, options);
  options.team = team;
  TESSERA_RETURN_IF_ERROR(team.agree(copy.status()));
  return copy;
}

// Collective. Runs `act` with the label of the creation and an attempt that adds it to errors.
template <class Act>
Result<ArrayBase> creating(const rma::Job& job, const Extents& extents, ArrayOptions& options,
                           const Act& act) {
  Team team = options.team ? *options.team : job.world();
  options.team = team;
  const rma::LabelScope scope(team,
                              {.verb = "create", .kind = "mirrored array", .name = options.name});
  auto made = act(team);
  if (made.ok()) {
    return made;
  }
  return std::move(made).status().context(
      fmt::format("creating mirrored array '{}' {}", options.name, to_string(extents)));
}

}  // namespace

Result<ArrayBase> create_copy_on_node(const rma::Job& job, const Extents& extents,
                                      const ElementKind& element, ArrayOptions& options) {
  return creating(job, extents, options, [&](Team& team) -> Result<ArrayBase> {
    const auto whole = Distribution::regular(
        extents, 1,
        {.min_block = options.min_block, .ghosts = options.ghosts, .order = options.order});
    const Status own_status = whole.ok() ? check_options(options) : whole.status();
    TESSERA_RETURN_IF_ERROR(team.agree(own_status));
    return create_on_nodes(job, extents, *whole, element, options);
  });
}

Result<ArrayBase> create_copy_on_node(const rma::Job& job, const Distribution& on_node,
                                      const ElementKind& element, ArrayOptions& options) {
  return creating(job, on_node.extents(), options, [&](Team& team) -> Result<ArrayBase> {
    const auto whole = Distribution::regular(on_node.extents(), 1);
    TESSERA_RETURN_IF_ERROR(team.agree(whole.status()));
    return create_on_nodes(job, on_node, *whole, element, options);
  });
}

Status load_copies(Team& team, const ArrayBase& copy, const Box& to, const ArrayBase& from,
                   const Box& from_box) {
  const auto attempt = [&](Status status) {
    return std::move(status).context("loading the copies of " + copy.describe());
  };
  TESSERA_RETURN_IF_ERROR(attempt(check_has_team(copy)));
  const rma::LabelScope scope(team, call("load", copy));
  // The members' own writes to the source are complete before any member reads it.
  Status own_status = check_source(team, copy, to, from, from_box);
  own_status = own_status.ok() ? from.fence() : std::move(own_status);
  TESSERA_RETURN_IF_ERROR(attempt(begin(team, copy, own_status)));
  return attempt(team.agree(get_own(copy, to, from, from_box)));
}

// A node's members free its copy alone, so all members synchronise before.
Status free_copies(Team& team, ArrayBase& copy) {
  if (!copy.check_open().ok()) {
    return {};
  }
  {
    const rma::LabelScope scope(team, call("free", copy));
    TESSERA_RETURN_IF_ERROR(team.barrier());
  }
  return copy.free();
}

void drop_copies(Team& team, const ArrayBase& copy) noexcept {
  if (!copy.check_open().ok()) {
    return;
  }
  const bool is_unwinding = std::uncaught_exceptions() > 0;
  const rma::LabelScope scope(
      team, call(is_unwinding ? rma::Label::free_by_exception : std::string_view("free"), copy));
  if (const Status met = team.barrier(); met.code() == Code::invalid_argument) {
    copy.job().log().line(rma::LogLevel::warning, [&] {
      return "freeing mirrored " + copy.describe() + ": " + met.message();
    });
  }
}

}  // namespace tessera::arrays::detail

namespace tessera::arrays {

using rma::Status;

Status merge_copies(rma::Team& team, const ArrayBase& copy) {
  const auto attempt = [&](Status status) {
    return std::move(status).context("merging the copies of " + copy.describe());
  };
  TESSERA_RETURN_IF_ERROR(attempt(detail::check_has_team(copy)));
  const rma::LabelScope scope(team, detail::call("merge", copy));
  TESSERA_RETURN_IF_ERROR(attempt(detail::begin(team, copy, detail::check_copy(team, copy))));
  auto sum = ArrayBase::create(copy.job(), copy.extents(), copy.element(),
                               {.name = copy.name() + " (sum of copies)", .team = team});
  TESSERA_RETURN_IF_ERROR(attempt(sum.status()));
  TESSERA_RETURN_IF_ERROR(attempt(detail::sum_copies(team, copy, copy.box(), *sum, sum->box(),
                                                     detail::ExistingElements::replaces)));
  const Status got = detail::get_own(copy, copy.box(), *sum, sum->box());
  TESSERA_RETURN_IF_ERROR(attempt(team.agree(got)));
  return attempt(sum->free());
}

Status merge_copies_into(rma::Team& team, const ArrayBase& copy, const Box& from,
                         const ArrayBase& to, const Box& to_box) {
  const auto attempt = [&](Status status) {
    return std::move(status).context("merging the copies of " + copy.describe());
  };
  TESSERA_RETURN_IF_ERROR(attempt(detail::check_has_team(copy)));
  const rma::LabelScope scope(team, detail::call("merge_into", copy));
  const Status own_status = detail::check_target(team, copy, from, to, to_box);
  TESSERA_RETURN_IF_ERROR(attempt(detail::begin(team, copy, own_status)));
  return attempt(
      detail::sum_copies(team, copy, from, to, to_box, detail::ExistingElements::replaces));
}

}  // namespace tessera::arrays
