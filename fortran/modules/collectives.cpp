// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <string_view>

#include "fortran/c/arrays.h"
#include "fortran/c/job.h"
#include "fortran/detail/cells.hpp"
#include "fortran/detail/collective.hpp"
#include "fortran/detail/descriptors.hpp"

namespace tessera::fapi {
namespace {

using rma::Code;
using rma::Result;
using rma::Status;

/// Kinds of gathers; the module has the same numbers.
enum class Gather { to_root, to_all, from_root };

const char* name_of(Gather kind) {
  return kind == Gather::to_root  ? "tessera_gatherv"
         : kind == Gather::to_all ? "tessera_allgatherv"
                                  : "tessera_scatterv";
}

Status check_same_type(const Descriptor& one, std::string_view name, const Descriptor& other,
                       std::string_view other_name) {
  return one.type == other.type && one.elem_len == other.elem_len
             ? Status()
             : Status::error(Code::invalid_argument,
                             fmt::format("{} is {}, but {} is {}", name, type_text(one), other_name,
                                         type_text(other)));
}

/// One count for each member, of elements in a buffer that is long enough for all of them.
Result<Numbers> counts_of(const rma::Team& team, const Descriptor* given, std::string_view name,
                          const Descriptor& buffer, std::string_view buffer_name) {
  TESSERA_ASSIGN_OR_RETURN(Numbers counts, integers(given, name));
  if (std::ssize(counts) != team.size()) {
    return Status::error(Code::invalid_argument,
                         fmt::format("{} has {} numbers; the team has {} members", name,
                                     counts.size(), team.size()));
  }
  const std::int64_t elements = Dense(buffer).count();
  std::int64_t sum = 0;
  for (const std::int64_t count : counts) {
    if (count < 0 || __builtin_add_overflow(sum, count, &sum) || sum > elements) {
      return Status::error(Code::invalid_argument,
                           fmt::format("{} is {}; {} has {} elements", name, list_text(counts),
                                       buffer_name, elements));
    }
  }
  return counts;
}

/// Opens the team and calls read(team), which checks this member's arguments. If they are wrong,
/// the other members get the error, too. Then calls act(team handle), which calls the C interface.
template <class Read, class Act>
int collective(const char* name, const Cell* cell, const Read& read, const Act& act) {
  const tessera_team* team = nullptr;
  const auto prepare = [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(team, open<tessera_team>(cell));
    rma::Team& members = capi::contents_of(team);
    return capi::report_to_team(members, read(members));
  };
  return run(name, prepare, [&] { return act(team); });
}

}  // namespace

extern "C" {

int tessera_f_team_alltoallv(const Cell* cell, const Descriptor* send,
                             const Descriptor* send_counts, Descriptor* receive,
                             const Descriptor* receive_counts) {
  Numbers sent;
  Numbers received;
  const auto read = [&](const rma::Team& team) -> Status {
    TESSERA_RETURN_IF_ERROR(check_counted(send, "send"));
    TESSERA_RETURN_IF_ERROR(check_counted(receive, "receive"));
    TESSERA_RETURN_IF_ERROR(check_same_type(*send, "send", *receive, "receive"));
    TESSERA_ASSIGN_OR_RETURN(sent, counts_of(team, send_counts, "send_counts", *send, "send"));
    TESSERA_ASSIGN_OR_RETURN(
        received, counts_of(team, receive_counts, "receive_counts", *receive, "receive"));
    return {};
  };
  return collective("tessera_alltoallv", cell, read, [&](const tessera_team* team) {
    Dense from(*send);
    Dense to(*receive);
    const int code =
        tessera_team_alltoallv(team, from.data(), sent.data(), nullptr, to.data(), received.data(),
                               nullptr, static_cast<std::int64_t>(send->elem_len));
    to.give_back();
    return code;
  });
}

int tessera_f_team_alltoall(const Cell* cell, const Descriptor* send, Descriptor* receive) {
  const auto read = [&](const rma::Team& team) -> Status {
    TESSERA_RETURN_IF_ERROR(check_counted(send, "send"));
    TESSERA_RETURN_IF_ERROR(check_counted(receive, "receive"));
    TESSERA_RETURN_IF_ERROR(check_same_type(*send, "send", *receive, "receive"));
    const std::int64_t sent = Dense(*send).count();
    const std::int64_t received = Dense(*receive).count();
    return sent == received && sent % team.size() == 0
               ? Status()
               : Status::error(Code::invalid_argument,
                               fmt::format("send has {} elements and receive {}: they are not the "
                                           "same number for each of {} members",
                                           sent, received, team.size()));
  };
  return collective("tessera_alltoall", cell, read, [&](const tessera_team* team) {
    Dense from(*send);
    Dense to(*receive);
    const int code = tessera_team_alltoall(
        team, from.data(), from.bytes() / capi::contents_of(team).size(), to.data());
    to.give_back();
    return code;
  });
}

/// `all` and `counts` are ignored on members that do not use them.
int tessera_f_team_gatherv(int kind, const Cell* cell, Descriptor* own, Descriptor* all,
                           const Descriptor* counts, int64_t root) {
  const Gather what{kind};
  Numbers of_members;
  bool has_all = true;
  const auto read = [&](const rma::Team& team) -> Status {
    has_all = what == Gather::to_all || team.rank().value == root;
    TESSERA_RETURN_IF_ERROR(check_counted(own, "own"));
    if (has_all) {
      TESSERA_RETURN_IF_ERROR(check_counted(all, "all"));
      TESSERA_RETURN_IF_ERROR(check_same_type(*own, "own", *all, "all"));
      TESSERA_ASSIGN_OR_RETURN(of_members, counts_of(team, counts, "counts", *all, "all"));
    }
    return {};
  };
  return collective(name_of(what), cell, read, [&](const tessera_team* team) {
    Dense mine(*own);
    Dense whole(has_all ? *all : *own);
    void* const data = has_all ? whole.data() : nullptr;
    const std::int64_t* const list = has_all ? of_members.data() : nullptr;
    const auto bytes = static_cast<std::int64_t>(own->elem_len);
    if (what == Gather::from_root) {
      const int code =
          tessera_team_scatterv(team, data, list, nullptr, mine.data(), mine.count(), bytes, root);
      mine.give_back();
      return code;
    }
    const int code =
        what == Gather::to_all
            ? tessera_team_allgatherv(team, mine.data(), mine.count(), data, list, nullptr, bytes)
            : tessera_team_gatherv(team, mine.data(), mine.count(), data, list, nullptr, bytes,
                                   root);
    if (has_all) {
      whole.give_back();
    }
    return code;
  });
}

int tessera_f_team_scan(const Cell* cell, int is_exclusive, Descriptor* elements, int reduction) {
  const char* const name = is_exclusive != 0 ? "tessera_exclusive_scan" : "tessera_scan";
  const auto read = [&](const rma::Team&) { return check_counted(elements, "elements"); };
  return collective(name, cell, read, [&](const tessera_team* team) {
    Dense dense(*elements);
    const std::int64_t type = element_of(*elements);
    const int code =
        is_exclusive != 0
            ? tessera_team_exclusive_scan(team, dense.data(), dense.count(), type, reduction)
            : tessera_team_scan(team, dense.data(), dense.count(), type, reduction);
    dense.give_back();
    return code;
  });
}

/// The elements stay where they are, so they must be dense.
int tessera_f_team_allreduce_async(const Cell* cell, Descriptor* elements, int reduction,
                                   tessera_handle** handle) {
  const char* const name = "tessera_allreduce_async";
  const tessera_team* team = nullptr;
  Status wrong;
  const auto prepare = [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(team, open<tessera_team>(cell));
    wrong = check_counted(elements, "elements");
    if (wrong.ok() && elements->rank > 0 && CFI_is_contiguous(elements) == 0) {
      wrong = Status::error(Code::invalid_argument,
                            "elements is a section with gaps, and cannot be reduced in place");
    }
    if (wrong.ok()) {
      return {};
    }
    // Refused on all members.
    tessera_handle* refused = nullptr;
    tessera_team_allreduce_async(team, nullptr, 1, TESSERA_F64, TESSERA_SUM, &refused);
    tessera_handle_wait(&refused);
    return wrong;
  };
  return run(name, prepare, [&] {
    return tessera_team_allreduce_async(team, elements->base_addr, Dense(*elements).count(),
                                        element_of(*elements), reduction, handle);
  });
}

}  // extern "C"

}  // namespace tessera::fapi
