// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/flags.hpp"

#include <fmt/format.h>

#include <functional>
#include <utility>

#include "rma/notify.hpp"

namespace tessera::arrays {

using rma::Code;
using rma::RemoteAddress;
using rma::Result;
using rma::Status;
using rma::WorldRank;

namespace {

Result<RemoteAddress> flag_to_raise(const Flag& flag) {
  const auto find = [&]() -> Result<RemoteAddress> {
    TESSERA_RETURN_IF_ERROR(flag.array.check_transfer(Transfer::put()));
    return locate_flag(flag);
  };
  auto found = find();
  if (!found.ok()) {
    return flag.array.name_rank(
        std::move(found).status().context("raising a flag of " + flag.array.describe()));
  }
  return found;
}

Result<WorldRank> rank_of(const rma::Team& team, rma::TeamRank member) {
  if (member.value < 0 || member.value >= team.size()) {
    return Status::error(Code::out_of_range, fmt::format("there is no member {}: the team has {}",
                                                         member.value, team.size()));
  }
  return team.world_rank(member);
}

// A flag to wait for, and the rank that raises it.
struct WaitTarget {
  RemoteAddress flag;
  WorldRank writer;
};

Result<WaitTarget> find_wait_target(const Flag& flag, rma::TeamRank writer) {
  TESSERA_ASSIGN_OR_RETURN(const RemoteAddress address, locate_own_flag(flag));
  TESSERA_ASSIGN_OR_RETURN(const WorldRank rank, rank_of(flag.array.team(), writer));
  return WaitTarget{address, rank};
}

Status explain_wait(Status status, const Flag& flag) {
  return status.ok() ? Status()
                     : flag.array.name_rank(std::move(status).context("waiting for a flag of " +
                                                                      flag.array.describe()));
}

// Whether only this rank has elements of the box.
bool is_owned_by(WorldRank rank, const ArrayBase& array, const Box& box) {
  for (const Patch& patch : array.distribution().patches(box)) {
    if (array.team().world_rank(patch.owner) != rank) {
      return false;
    }
  }
  return true;
}

}  // namespace

Result<RemoteAddress> locate_flag(const Flag& flag) {
  const ArrayBase& array = flag.array;
  if (array.element().type != rma::ElementType::i32) {
    return Status::error(Code::invalid_argument,
                         "its elements can't be flags: flags are 32-bit integers")
        .hint("make the array of std::int32_t, in C TESSERA_I32, in Fortran tessera_int32");
  }
  TESSERA_RETURN_IF_ERROR(check_inside(flag.index, array.extents()));
  const ElementLocation element = array.distribution().locate(flag.index);
  return array.region().at(element.owner,
                           static_cast<std::uint64_t>(element.offset) * sizeof(std::int32_t));
}

Result<RemoteAddress> locate_own_flag(const Flag& flag) {
  TESSERA_RETURN_IF_ERROR(flag.array.check_open());
  TESSERA_ASSIGN_OR_RETURN(const RemoteAddress address, locate_flag(flag));
  const rma::Team& team = flag.array.team();
  if (address.rank != team.world_rank(team.rank())) {
    return Status::error(Code::invalid_argument,
                         fmt::format("the flag belongs to member {}, but member {} waits for it",
                                     team.team_rank(address.rank).value, team.rank().value))
        .hint("wait only for elements that this rank owns; read others with get");
  }
  return address;
}

Status raise_flag(const Flag& flag, std::int32_t value) {
  TESSERA_ASSIGN_OR_RETURN(const RemoteAddress address, flag_to_raise(flag));
  return rma::raise_flag(flag.array.job(), address, value);
}

Status put_with_flag(const ArrayBase& array, const Box& box, const UntypedMemory& from,
                     const Flag& flag, std::int32_t value) {
  const Transfer put = Transfer::put();
  TESSERA_ASSIGN_OR_RETURN(const RemoteAddress flag_address, flag_to_raise(flag));
  TESSERA_RETURN_IF_ERROR(array.check_transfer(box, from, put));
  const bool is_at_flag = is_owned_by(flag_address.rank, array, box);
  constexpr auto max_bytes_with_flag = static_cast<std::int64_t>(rma::max_bytes_with_flag);
  if (is_at_flag &&
      box.volume() <= max_bytes_with_flag / static_cast<std::int64_t>(array.element_bytes())) {
    const auto start = [&] { return array.transfer_async(box, from, put); };
    return rma::start_with_flag(array.job(), std::cref(start), flag_address, value);
  }
  TESSERA_RETURN_IF_ERROR(array.transfer(box, from, put));
  if (!is_at_flag) {
    TESSERA_RETURN_IF_ERROR(array.fence());  // a flag is ordered only after data for its own rank
  }
  return rma::raise_flag(array.job(), flag_address, value);
}

Status wait_for_flag(const Flag& flag, std::int32_t value, rma::TeamRank writer) {
  const auto wait = [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(const WaitTarget wait_target, find_wait_target(flag, writer));
    return rma::wait_for_flag(flag.array.job(), wait_target.flag, value, wait_target.writer);
  };
  return explain_wait(wait(), flag);
}

Result<std::int32_t> wait_for_flag_change(const Flag& flag, std::int32_t value,
                                          rma::TeamRank writer) {
  const auto wait = [&]() -> Result<std::int32_t> {
    TESSERA_ASSIGN_OR_RETURN(const WaitTarget wait_target, find_wait_target(flag, writer));
    return rma::wait_for_flag_change(flag.array.job(), wait_target.flag, value, wait_target.writer);
  };
  auto now = wait();
  return now.ok() ? std::move(now) : explain_wait(std::move(now).status(), flag);
}

}  // namespace tessera::arrays
