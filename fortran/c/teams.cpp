// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <cstddef>
#include <limits>
#include <span>
#include <utility>

#include "fortran/c/job.h"
#include "fortran/detail/arguments.hpp"
#include "fortran/detail/call.hpp"
#include "fortran/detail/collective.hpp"
#include "fortran/detail/handles.hpp"

namespace tessera::capi {
namespace {

using rma::Code;
using rma::Reduction;
using rma::Status;
using rma::Team;

static_assert(static_cast<int>(Reduction::sum) == TESSERA_SUM);
static_assert(static_cast<int>(Reduction::product) == TESSERA_PRODUCT);
static_assert(static_cast<int>(Reduction::min) == TESSERA_MIN);
static_assert(static_cast<int>(Reduction::max) == TESSERA_MAX);
static_assert(static_cast<int>(Reduction::abs_min) == TESSERA_ABS_MIN);
static_assert(static_cast<int>(Reduction::abs_max) == TESSERA_ABS_MAX);
static_assert(static_cast<int>(Reduction::bit_and) == TESSERA_BIT_AND);
static_assert(static_cast<int>(Reduction::bit_or) == TESSERA_BIT_OR);
static_assert(static_cast<int>(Reduction::logical_and) == TESSERA_LOGICAL_AND);
static_assert(static_cast<int>(Reduction::logical_or) == TESSERA_LOGICAL_OR);
static_assert(rma::reduction_count == TESSERA_LOGICAL_OR + 1);

Status split(const tessera_team* parent, std::int64_t color, std::int64_t key,
             tessera_team** team) {
  TESSERA_ASSIGN_OR_RETURN(Team* const all, open(parent));
  using Limits = std::numeric_limits<std::int32_t>;
  Status mine = required(team, "team");
  if (mine.ok() && (color > Limits::max() || key < Limits::min() || key > Limits::max())) {
    mine = Status::error(Code::invalid_argument,
                         fmt::format("color {} and key {} do not fit into 32 bits", color, key));
  }
  TESSERA_RETURN_IF_ERROR(report_to_team(*all, std::move(mine)));
  TESSERA_ASSIGN_OR_RETURN(Team part, all->split(color < 0 ? -1 : static_cast<std::int32_t>(color),
                                                 static_cast<std::int32_t>(key)));
  *team = make_handle<tessera_team>(job_of(parent), std::move(part));
  return {};
}

/// Memory given by the C caller. Errors: invalid_argument.
Status check_bytes(const void* data, std::int64_t bytes) {
  TESSERA_RETURN_IF_ERROR(check_count(bytes, "bytes"));
  return bytes == 0 ? Status() : required(data, "bytes");
}

Status broadcast(Team& team, void* data, std::int64_t bytes, std::int64_t root) {
  Status mine = check_bytes(data, bytes);
  const auto from = team_rank(root, team.size());
  if (mine.ok()) {
    mine = from.status();
  }
  TESSERA_RETURN_IF_ERROR(report_to_team(team, std::move(mine)));
  return team.broadcast({static_cast<std::byte*>(data), static_cast<std::size_t>(bytes)}, *from);
}

Status allgather(Team& team, const void* mine, std::int64_t bytes, void* all) {
  Status wrong = check_bytes(mine, bytes);
  if (wrong.ok()) {
    wrong = check_bytes(all, bytes);
  }
  std::int64_t bytes_of_all = 0;
  if (wrong.ok() && __builtin_mul_overflow(bytes, std::int64_t{team.size()}, &bytes_of_all)) {
    wrong = Status::error(
        Code::invalid_argument,
        fmt::format("{} bytes of each member are too many: with {} members, each "
                    "can contribute at most {}",
                    bytes, team.size(), std::numeric_limits<std::int64_t>::max() / team.size()));
  }
  TESSERA_RETURN_IF_ERROR(report_to_team(team, std::move(wrong)));
  return team.allgather({static_cast<const std::byte*>(mine), static_cast<std::size_t>(bytes)},
                        {static_cast<std::byte*>(all), static_cast<std::size_t>(bytes_of_all)});
}

Status check_reduction(const void* elements, std::int64_t count, tessera_type type,
                       tessera_reduction reduction) {
  TESSERA_RETURN_IF_ERROR(check_count(count, "elements"));
  if (count > 0) {
    TESSERA_RETURN_IF_ERROR(required(elements, "elements"));
  }
  TESSERA_RETURN_IF_ERROR(element_type(type).status());
  return check_choice(reduction, rma::reduction_count, "reduction");
}

/// A member's argument of agree(); invalid_argument for a number that is not an error code.
Status status_argument(int code, const char* text) {
  if (code == TESSERA_OK) {
    return Status();
  }
  if (code < 0 || code > TESSERA_INTERNAL) {
    return Status::error(Code::invalid_argument, fmt::format("{} is not an error code", code))
        .hint("pass the code that a function of this interface returned");
  }
  return Status::error(static_cast<Code>(code), text == nullptr ? tessera_last_error() : text);
}

}  // namespace

extern "C" {

int tessera_team_world(tessera_job* job, tessera_team** team) {
  return call(__func__, [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(rma::Job* const running, open(job));
    TESSERA_RETURN_IF_ERROR(required(team, "team"));
    *team = make_handle<tessera_team>(job, running->world());
    return {};
  });
}

int tessera_team_create(tessera_job* job, int64_t count, const int64_t ranks[],
                        tessera_team** team) {
  return call(__func__, [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(rma::Job* const running, open(job));
    TESSERA_RETURN_IF_ERROR(required(team, "team"));
    TESSERA_ASSIGN_OR_RETURN(const auto members, world_ranks(count, ranks));
    TESSERA_ASSIGN_OR_RETURN(Team made, Team::create(*running, members));
    *team = make_handle<tessera_team>(job, std::move(made));
    return {};
  });
}

int tessera_team_split(const tessera_team* parent, int64_t color, int64_t key,
                       tessera_team** team) {
  return call(__func__, [&] { return split(parent, color, key, team); });
}

int tessera_team_free(tessera_team** team) {
  return call(__func__, [&] { return free_handle(team, [](Team&) { return Status(); }); });
}

int tessera_team_rank(const tessera_team* team, int64_t* member) {
  return call_on(__func__, team, [&](const Team& members) -> Status {
    TESSERA_RETURN_IF_ERROR(required(member, "result"));
    *member = members.rank().value;
    return {};
  });
}

int tessera_team_size(const tessera_team* team, int64_t* size) {
  return call_on(__func__, team, [&](const Team& members) -> Status {
    TESSERA_RETURN_IF_ERROR(required(size, "result"));
    *size = members.size();
    return {};
  });
}

int tessera_team_world_rank(const tessera_team* team, int64_t member, int64_t* rank) {
  return call_on(__func__, team, [&](const Team& members) -> Status {
    TESSERA_RETURN_IF_ERROR(required(rank, "result"));
    TESSERA_ASSIGN_OR_RETURN(const auto place, team_rank(member, members.size()));
    *rank = members.world_rank(place).value;
    return {};
  });
}

int tessera_team_member(const tessera_team* team, int64_t rank, int64_t* member) {
  return call_on(__func__, team, [&](const Team& members) -> Status {
    TESSERA_RETURN_IF_ERROR(required(member, "result"));
    TESSERA_ASSIGN_OR_RETURN(const auto of, world_rank(rank, job_of(team)->contents->size()));
    *member = members.team_rank(of).value;
    return {};
  });
}

int tessera_team_barrier(const tessera_team* team) {
  return call_on(__func__, team, [](Team& members) { return members.barrier(); });
}

int tessera_team_broadcast(const tessera_team* team, void* data, int64_t bytes, int64_t root) {
  return call_on(__func__, team,
                 [&](Team& members) { return broadcast(members, data, bytes, root); });
}

int tessera_team_allgather(const tessera_team* team, const void* mine, int64_t bytes, void* all) {
  return call_on(__func__, team,
                 [&](Team& members) { return allgather(members, mine, bytes, all); });
}

int tessera_team_allreduce(const tessera_team* team, void* elements, int64_t count,
                           tessera_type type, tessera_reduction reduction) {
  return call_on(__func__, team, [&](Team& members) -> Status {
    TESSERA_RETURN_IF_ERROR(
        report_to_team(members, check_reduction(elements, count, type, reduction)));
    return members.allreduce(elements, count, static_cast<rma::ElementType>(type),
                             static_cast<rma::Reduction>(reduction));
  });
}

int tessera_team_reduce(const tessera_team* team, void* elements, int64_t count, tessera_type type,
                        tessera_reduction reduction, int64_t root) {
  return call_on(__func__, team, [&](Team& members) -> Status {
    Status mine = check_reduction(elements, count, type, reduction);
    const auto at = team_rank(root, members.size());
    if (mine.ok()) {
      mine = at.status();
    }
    TESSERA_RETURN_IF_ERROR(report_to_team(members, std::move(mine)));
    return members.reduce(elements, count, static_cast<rma::ElementType>(type),
                          static_cast<rma::Reduction>(reduction), *at);
  });
}

int tessera_team_agree(const tessera_team* team, int code, const char* text) {
  return call_on(__func__, team, [&](Team& members) -> Status {
    return members.agree(status_argument(code, text));
  });
}

}  // extern "C"

}  // namespace tessera::capi
