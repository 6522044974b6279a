// SPDX-License-Identifier: BSD-3-Clause
//
// The message layer: collectives of a group or of one of its scopes, and two-sided messages.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "rma/armci/arguments.hpp"
#include "rma/armci/call.hpp"
#include "rma/armci/message.h"

namespace tessera::rma::armci {
namespace {

Status wrong(std::string what) {
  return Status::error(Code::invalid_argument, std::move(what));
}

Result<Scope> scope_of(int scope) {
  switch (scope) {
    case SCOPE_ALL:
      return Scope::all;
    case SCOPE_NODE:
      return Scope::node;
    case SCOPE_MASTERS:
      return Scope::masters;
    default:
      return wrong(fmt::format("{} is not a scope", scope))
          .hint("use SCOPE_ALL, SCOPE_NODE or SCOPE_MASTERS, from this message.h");
  }
}

Result<ElementType> type_of(int type) {
  switch (type) {
    case ARMCI_INT:
      return ElementType::i32;
    case ARMCI_LONG:
    case ARMCI_LONG_LONG:
      return ElementType::i64;
    case ARMCI_FLOAT:
      return ElementType::f32;
    case ARMCI_DOUBLE:
      return ElementType::f64;
    default:
      return wrong(fmt::format("{} is not an element type", type))
          .hint("use ARMCI_INT, _LONG, _LONG_LONG, _FLOAT or _DOUBLE, from this message.h");
  }
}

Result<Reduction> reduction_of(const char* op) {
  struct Name {
    std::string_view name;
    Reduction reduction;
  };
  static constexpr std::array names{Name{"+", Reduction::sum},
                                    Name{"*", Reduction::product},
                                    Name{"min", Reduction::min},
                                    Name{"max", Reduction::max},
                                    Name{"absmin", Reduction::abs_min},
                                    Name{"absmax", Reduction::abs_max},
                                    Name{"land", Reduction::logical_and},
                                    Name{"&&", Reduction::logical_and},
                                    Name{"lor", Reduction::logical_or},
                                    Name{"||", Reduction::logical_or},
                                    Name{"band", Reduction::bit_and},
                                    Name{"&", Reduction::bit_and},
                                    Name{"bor", Reduction::bit_or},
                                    Name{"|", Reduction::bit_or},
                                    Name{"or", Reduction::bit_or}};
  const std::string_view wanted = op == nullptr ? "" : op;
  const auto* const found = std::find_if(names.begin(), names.end(),
                                         [&](const Name& each) { return each.name == wanted; });
  if (found == names.end()) {
    return wrong(fmt::format("'{}' is not a reduction", wanted))
        .hint("use + * min max absmin absmax, and for integers land lor band bor");
  }
  return found->reduction;
}

Status check_buffer(const void* buffer, int count) {
  if (count < 0 || (buffer == nullptr && count > 0)) {
    return wrong(fmt::format("a buffer of length {} at {}", count, fmt::ptr(buffer)))
        .hint("give the address of a buffer, and a length that is not negative");
  }
  return {};
}

// The other processes wait in the collective that this process can't take part in. It meets them
// with the error, which they then return, too.
Status fail_on_all_members(Team& team, Status error) {
  team.agree(error).ignore("this process returns its own error");
  return error;
}

/// Calls `act` with the team of a scope, if this process belongs to it. Null: the default group.
template <class Act>
int on_scope(const char* function, int scope, const ARMCI_Group* group, const Act& act) {
  return call(function, [&](Session& session) -> Status {
    const ARMCI_Group number = group == nullptr ? session.groups.default_number() : *group;
    TESSERA_ASSIGN_OR_RETURN(Group* const members, session.groups.find(&number));
    TESSERA_ASSIGN_OR_RETURN(const Scope wanted, scope_of(scope));
    TESSERA_ASSIGN_OR_RETURN(Team* const team, team_of(session.job, *members, wanted));
    return team == nullptr ? Status() : act(*team);
  });
}

struct Combination {
  Reduction reduction;
  ElementType element;
};

Result<Combination> combination_of(const void* x, int n, const char* op, int type) {
  TESSERA_RETURN_IF_ERROR(check_buffer(x, n));
  TESSERA_ASSIGN_OR_RETURN(const Reduction reduction, reduction_of(op));
  TESSERA_ASSIGN_OR_RETURN(const ElementType element, type_of(type));
  return Combination{reduction, element};
}

int reduce_all(const char* function, int scope, void* x, int n, const char* op, int type,
               const ARMCI_Group* group) {
  return on_scope(function, scope, group, [&](Team& team) -> Status {
    auto wanted = combination_of(x, n, op, type);
    return wanted.ok() ? team.allreduce(x, n, wanted->element, wanted->reduction)
                       : fail_on_all_members(team, std::move(wanted).status());
  });
}

int reduce_to_first(const char* function, int scope, void* x, int n, const char* op, int type) {
  return on_scope(function, scope, nullptr, [&](Team& team) -> Status {
    auto wanted = combination_of(x, n, op, type);
    return wanted.ok() ? team.reduce(x, n, wanted->element, wanted->reduction, TeamRank{0})
                       : fail_on_all_members(team, std::move(wanted).status());
  });
}

std::span<std::byte> bytes_of(void* buffer, int bytes) {
  return {static_cast<std::byte*>(buffer), static_cast<std::size_t>(bytes)};
}

Status broadcast(Team& team, void* buffer, int bytes, int root) {
  if (Status checked = check_buffer(buffer, bytes); !checked.ok()) {
    return fail_on_all_members(team, std::move(checked));
  }
  if (root < 0 || root >= team.size()) {
    return fail_on_all_members(
        team, wrong(fmt::format("the root is {}, but there are {} processes", root, team.size()))
                  .hint("a root is a rank in the group or scope; ranks begin with 0"));
  }
  return team.broadcast(bytes_of(buffer, bytes), TeamRank{root});
}

int broadcast_on(const char* function, int scope, void* buffer, int bytes, int root,
                 const ARMCI_Group* group) {
  return on_scope(function, scope, group,
                  [&](Team& team) { return broadcast(team, buffer, bytes, root); });
}

/// The first value of a selection, and whether it is contributed.
struct Candidate {
  std::array<std::byte, sizeof(double)> value{};
  std::int64_t contributes = 0;
};

template <class T>
T value_of(const Candidate& candidate) {
  T value;
  std::memcpy(&value, candidate.value.data(), sizeof value);
  return value;
}

/// The first of the candidates with the smallest or largest value; −1: no process contributes.
template <class T>
std::int32_t select(std::span<const Candidate> all, bool largest) {
  std::int32_t best = -1;
  for (std::int32_t rank = 0; rank < static_cast<std::int32_t>(all.size()); ++rank) {
    const Candidate& each = all[static_cast<std::size_t>(rank)];
    if (each.contributes == 0) {
      continue;
    }
    const T value = value_of<T>(each);
    const T before = best < 0 ? value : value_of<T>(all[static_cast<std::size_t>(best)]);
    const bool is_better = largest ? value > before : value < before;
    best = best < 0 || is_better ? rank : best;
  }
  return best;
}

std::int32_t select(std::span<const Candidate> all, ElementType type, bool largest) {
  switch (type) {
    case ElementType::i32:
      return select<std::int32_t>(all, largest);
    case ElementType::i64:
      return select<std::int64_t>(all, largest);
    case ElementType::f32:
      return select<float>(all, largest);
    default:
      return select<double>(all, largest);
  }
}

Status check_selection(const void* x, int n, const char* op, const Combination& wanted) {
  const std::size_t value_bytes = size_of(wanted.element);
  if (x == nullptr || n < static_cast<int>(value_bytes)) {
    return wrong(fmt::format("{} bytes at {}, which begin with a value of {} bytes", n, fmt::ptr(x),
                             value_bytes))
        .hint("n counts the bytes of the whole of x");
  }
  if (wanted.reduction != Reduction::min && wanted.reduction != Reduction::max) {
    return wrong(fmt::format("'{}' cannot select a value", op)).hint("use min or max");
  }
  return {};
}

Status select_and_share(Team& team, void* x, int n, const char* op, int type, int contribute) {
  auto wanted = combination_of(x, n, op, type);
  if (!wanted.ok()) {
    return fail_on_all_members(team, std::move(wanted).status());
  }
  if (Status checked = check_selection(x, n, op, *wanted); !checked.ok()) {
    return fail_on_all_members(team, std::move(checked));
  }
  const auto [reduction, element] = *wanted;
  Candidate own{.contributes = contribute};
  std::memcpy(own.value.data(), x, size_of(element));
  TESSERA_ASSIGN_OR_RETURN(const std::vector<Candidate> all, team.allgather_value(own));
  const std::int32_t root = select(all, element, reduction == Reduction::max);
  return root < 0 ? Status() : broadcast(team, x, n, root);
}

int select_on(const char* function, int scope, void* x, int n, const char* op, int type,
              int contribute) {
  return on_scope(function, scope, nullptr,
                  [&](Team& team) { return select_and_share(team, x, n, op, type, contribute); });
}

/// A pointer in a form that all processes can use.
struct PortablePointer {
  RemoteAddress address;
  const void* pointer = nullptr;  ///< the original, if it is in no region
};

PortablePointer share(const Job& job, const void* pointer) {
  const auto address = job.translate(job.rank(), pointer);
  return address.ok() ? PortablePointer{*address, nullptr} : PortablePointer{{}, pointer};
}

Status exchange_addresses(Session& session, Team& team, void* pointers[], int n) {
  if (pointers == nullptr || n != team.size()) {
    return fail_on_all_members(
        team,
        wrong(fmt::format("{} pointers at {} for {} processes", n, fmt::ptr(pointers), team.size()))
            .hint("give an array with a pointer for each process of the group"));
  }
  const PortablePointer own = share(session.job, pointers[team.rank().value]);
  TESSERA_ASSIGN_OR_RETURN(const auto all, team.allgather_value(own));
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const PortablePointer& each = all[rank];
    if (each.address.region.value == 0) {
      pointers[rank] = const_cast<void*>(each.pointer);
      continue;
    }
    TESSERA_ASSIGN_OR_RETURN(pointers[rank], session.job.raw_pointer(each.address));
  }
  return {};
}

struct Tree {
  int root = -1;
  int up = -1;
  int left = -1;
  int right = -1;
};

/// Process i's parent is (i − 1) / 2 and its children are 2 i + 1 and 2 i + 2, by their ranks in
/// the scope.
Tree tree_of(const Team& team) {
  const int rank = team.rank().value;
  const auto process = [&](int at) {
    return at >= 0 && at < team.size() ? team.world_rank(TeamRank{at}).value : -1;
  };
  return {process(0), rank == 0 ? -1 : process((rank - 1) / 2), process(2 * rank + 1),
          process(2 * rank + 2)};
}

Status store_received(Result<Received> received, int* length, int* from = nullptr) {
  if (!received.ok()) {
    return std::move(received).status();
  }
  if (length != nullptr) {
    *length = static_cast<int>(received->bytes);
  }
  if (from != nullptr) {
    *from = received->from.value;
  }
  return {};
}

}  // namespace
}  // namespace tessera::rma::armci

namespace armci = tessera::rma::armci;
using armci::Session;
using tessera::rma::Result;
using tessera::rma::Status;
using tessera::rma::Team;
using tessera::rma::WorldRank;

extern "C" {

int armci_msg_me(void) {
  return armci::call_for("armci_msg_me", -1,
                         [](Session& session) -> Result<int> { return session.job.rank().value; });
}

int armci_msg_nproc(void) {
  return armci::call_for("armci_msg_nproc", 0,
                         [](Session& session) -> Result<int> { return session.job.size(); });
}

double armci_timer(void) {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

void armci_msg_snd(int tag, void* buffer, int len, int to) {
  armci::call("armci_msg_snd", [&](Session& session) -> Status {
    TESSERA_RETURN_IF_ERROR(armci::check_process(session.job, to));
    TESSERA_RETURN_IF_ERROR(armci::check_buffer(buffer, len));
    return session.mailbox.send(tag, armci::bytes_of(buffer, len), WorldRank{to});
  });
}

void armci_msg_rcv(int tag, void* buffer, int buflen, int* msglen, int from) {
  armci::call("armci_msg_rcv", [&](Session& session) -> Status {
    TESSERA_RETURN_IF_ERROR(armci::check_process(session.job, from));
    TESSERA_RETURN_IF_ERROR(armci::check_buffer(buffer, buflen));
    return armci::store_received(
        session.mailbox.receive(tag, armci::bytes_of(buffer, buflen), WorldRank{from}), msglen);
  });
}

int armci_msg_rcvany(int tag, void* buffer, int buflen, int* msglen) {
  int from = -1;
  armci::call("armci_msg_rcvany", [&](Session& session) -> Status {
    TESSERA_RETURN_IF_ERROR(armci::check_buffer(buffer, buflen));
    return armci::store_received(session.mailbox.receive_any(tag, armci::bytes_of(buffer, buflen)),
                                 msglen, &from);
  });
  return from;
}

void armci_msg_bintree(int scope, int* root, int* up, int* left, int* right) {
  armci::Tree tree;
  armci::on_scope("armci_msg_bintree", scope, nullptr, [&](Team& team) {
    tree = armci::tree_of(team);
    return Status();
  });
  const auto answer = [](int* where, int process) {
    if (where != nullptr) {
      *where = process;
    }
  };
  answer(root, tree.root);
  answer(up, tree.up);
  answer(left, tree.left);
  answer(right, tree.right);
}

void armci_msg_bcast(void* buffer, int len, int root) {
  armci::broadcast_on("armci_msg_bcast", SCOPE_ALL, buffer, len, root, nullptr);
}

void armci_msg_brdcst(void* buffer, int len, int root) {
  armci::broadcast_on("armci_msg_brdcst", SCOPE_ALL, buffer, len, root, nullptr);
}

void armci_msg_bcast_scope(int scope, void* buffer, int len, int root) {
  armci::broadcast_on("armci_msg_bcast_scope", scope, buffer, len, root, nullptr);
}

void armci_msg_group_bcast_scope(int scope, void* buffer, int len, int root, ARMCI_Group* group) {
  armci::broadcast_on("armci_msg_group_bcast_scope", scope, buffer, len, root, group);
}

void armci_msg_clus_brdcst(void* buffer, int len) {
  armci::broadcast_on("armci_msg_clus_brdcst", SCOPE_NODE, buffer, len, 0, nullptr);
}

void armci_grp_clus_brdcst(void* buffer, int len, int first, int count, ARMCI_Group* group) {
  armci::call("armci_grp_clus_brdcst", [&](Session& session) -> Status {
    TESSERA_ASSIGN_OR_RETURN(armci::Group* const all, session.groups.find(group));
    if (first < 0 || count < 0 || count > all->team.size() - first) {
      return armci::wrong(fmt::format("{} processes from {} on do not fit a group of {}", count,
                                      first, all->team.size()))
          .hint("the ranks from first to first + count - 1 must be in the group");
    }
    const auto members = all->team.members().subspan(static_cast<std::size_t>(first),
                                                     static_cast<std::size_t>(count));
    if (std::find(members.begin(), members.end(), session.job.rank()) == members.end()) {
      return {};
    }
    TESSERA_ASSIGN_OR_RETURN(Team some, Team::create(session.job, members));
    return armci::broadcast(some, buffer, len, 0);
  });
}

void armci_msg_gop_scope(int scope, void* x, int n, const char* op, int type) {
  armci::reduce_all("armci_msg_gop_scope", scope, x, n, op, type, nullptr);
}

void armci_msg_group_gop_scope(int scope, void* x, int n, const char* op, int type,
                               ARMCI_Group* group) {
  armci::reduce_all("armci_msg_group_gop_scope", scope, x, n, op, type, group);
}

void armci_msg_reduce(void* x, int n, const char* op, int type) {
  armci::reduce_to_first("armci_msg_reduce", SCOPE_ALL, x, n, op, type);
}

void armci_msg_reduce_scope(int scope, void* x, int n, const char* op, int type) {
  armci::reduce_to_first("armci_msg_reduce_scope", scope, x, n, op, type);
}

void armci_msg_sel(void* x, int n, const char* op, int type, int contribute) {
  armci::select_on("armci_msg_sel", SCOPE_ALL, x, n, op, type, contribute);
}

void armci_msg_sel_scope(int scope, void* x, int n, const char* op, int type, int contribute) {
  armci::select_on("armci_msg_sel_scope", scope, x, n, op, type, contribute);
}

void armci_exchange_address(void* ptr_arr[], int n) {
  armci::call("armci_exchange_address", [&](Session& session) {
    return armci::exchange_addresses(session, session.groups.default_group().team, ptr_arr, n);
  });
}

void armci_exchange_address_grp(void* ptr_arr[], int n, ARMCI_Group* group) {
  armci::call("armci_exchange_address_grp", [&](Session& session) -> Status {
    TESSERA_ASSIGN_OR_RETURN(armci::Group* const members, session.groups.find(group));
    return armci::exchange_addresses(session, members->team, ptr_arr, n);
  });
}

void armci_msg_igop(int* x, int n, const char* op) {
  armci::reduce_all("armci_msg_igop", SCOPE_ALL, x, n, op, ARMCI_INT, nullptr);
}

void armci_msg_group_igop(int* x, int n, const char* op, ARMCI_Group* group) {
  armci::reduce_all("armci_msg_group_igop", SCOPE_ALL, x, n, op, ARMCI_INT, group);
}

void armci_msg_clus_igop(int* x, int n, const char* op) {
  armci::reduce_all("armci_msg_clus_igop", SCOPE_NODE, x, n, op, ARMCI_INT, nullptr);
}

void armci_msg_lgop(long* x, int n, const char* op) {
  armci::reduce_all("armci_msg_lgop", SCOPE_ALL, x, n, op, ARMCI_LONG, nullptr);
}

void armci_msg_group_lgop(long* x, int n, const char* op, ARMCI_Group* group) {
  armci::reduce_all("armci_msg_group_lgop", SCOPE_ALL, x, n, op, ARMCI_LONG, group);
}

void armci_msg_clus_lgop(long* x, int n, const char* op) {
  armci::reduce_all("armci_msg_clus_lgop", SCOPE_NODE, x, n, op, ARMCI_LONG, nullptr);
}

void armci_msg_llgop(long long* x, int n, const char* op) {
  armci::reduce_all("armci_msg_llgop", SCOPE_ALL, x, n, op, ARMCI_LONG_LONG, nullptr);
}

void armci_msg_group_llgop(long long* x, int n, const char* op, ARMCI_Group* group) {
  armci::reduce_all("armci_msg_group_llgop", SCOPE_ALL, x, n, op, ARMCI_LONG_LONG, group);
}

void armci_msg_clus_llgop(long long* x, int n, const char* op) {
  armci::reduce_all("armci_msg_clus_llgop", SCOPE_NODE, x, n, op, ARMCI_LONG_LONG, nullptr);
}

void armci_msg_fgop(float* x, int n, const char* op) {
  armci::reduce_all("armci_msg_fgop", SCOPE_ALL, x, n, op, ARMCI_FLOAT, nullptr);
}

void armci_msg_group_fgop(float* x, int n, const char* op, ARMCI_Group* group) {
  armci::reduce_all("armci_msg_group_fgop", SCOPE_ALL, x, n, op, ARMCI_FLOAT, group);
}

void armci_msg_clus_fgop(float* x, int n, const char* op) {
  armci::reduce_all("armci_msg_clus_fgop", SCOPE_NODE, x, n, op, ARMCI_FLOAT, nullptr);
}

void armci_msg_dgop(double* x, int n, const char* op) {
  armci::reduce_all("armci_msg_dgop", SCOPE_ALL, x, n, op, ARMCI_DOUBLE, nullptr);
}

void armci_msg_group_dgop(double* x, int n, const char* op, ARMCI_Group* group) {
  armci::reduce_all("armci_msg_group_dgop", SCOPE_ALL, x, n, op, ARMCI_DOUBLE, group);
}

void armci_msg_clus_dgop(double* x, int n, const char* op) {
  armci::reduce_all("armci_msg_clus_dgop", SCOPE_NODE, x, n, op, ARMCI_DOUBLE, nullptr);
}

}  // extern "C"
