// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/counter.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "arrays/call_signature.hpp"
#include "rma/atomic.hpp"
#include "rma/transfer.hpp"

namespace tessera::arrays {

using rma::Code;
using rma::Result;
using rma::Status;

namespace {

// The same result on all members, from what each of them requested.
Status check_owners(const rma::Team& team, const std::vector<std::int32_t>& owners) {
  const auto world = [&](std::size_t member) { return team.members()[member].value; };
  for (std::size_t member = 1; member < owners.size(); ++member) {
    if (owners[member] != owners[0]) {
      return Status::error(
          Code::invalid_argument,
          fmt::format(
              "rank {} requested a counter on member {}, but rank {} requested one on member {}",
              world(0), owners[0], world(member), owners[member]));
    }
  }
  if (owners[0] < 0 || owners[0] >= team.size()) {
    return Status::error(Code::invalid_argument,
                         fmt::format("member {} cannot own a counter: the team has {} members",
                                     owners[0], team.size()));
  }
  return {};
}

Status moved_from(const rma::Job& job) {
  return job.name_rank(Status::error(Code::closed, "the counter was moved from"));
}

}  // namespace

Result<Counter> Counter::create(const rma::Job& job, rma::Team& team, rma::TeamRank owner) {
  const rma::LabelScope scope(team, {.verb = "create", .kind = "counter"});
  TESSERA_ASSIGN_OR_RETURN(const auto owners, team.allgather_value(owner.value));
  TESSERA_RETURN_IF_ERROR(team.name_rank(check_owners(team, owners)));
  // Only the owner's slice needs the word, but equal slices let every rank use the fast path.
  TESSERA_ASSIGN_OR_RETURN(
      auto region,
      rma::Region::allocate(team, sizeof(std::int64_t), {.name = "counter", .kind = "counter"}));
  return Counter(job, std::move(region), owner);
}

Result<std::int64_t> Counter::next(std::int64_t count) const {
  if (!region_) [[unlikely]] {
    return moved_from(job_);
  }
  auto drawn = rma::fetch_add(job_, region_.at(owner_), count);
  if (!drawn.ok()) [[unlikely]] {
    return std::move(drawn).status().context(
        fmt::format("drawing {} from the counter of member {}", count, owner_.value));
  }
  return drawn;
}

Status Counter::reset(std::int64_t value) {
  if (!region_) {
    return moved_from(job_);
  }
  const rma::LabelScope scope(region_.team(), region_.label("reset"));
  TESSERA_RETURN_IF_ERROR(
      region_.team().agree(Status(), detail::CallSignature().add(value).asked()));
  Status put;
  if (region_.team().rank() == owner_) {
    put = rma::put_value(job_, region_.at(owner_), value);
  }
  // One agreement of all members: a rank that returned early would leave the others waiting.
  Status fenced = region_.fence();
  return region_.team().agree(put.ok() ? fenced : put);
}

}  // namespace tessera::arrays
