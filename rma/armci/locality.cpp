// SPDX-License-Identifier: BSD-3-Clause
//
// Groups of processes, and which of them share a node.
#include <fmt/format.h>

#include <iterator>
#include <vector>

#include "rma/armci/arguments.hpp"
#include "rma/armci/armcix.h"
#include "rma/armci/call.hpp"

namespace tessera::rma::armci {
namespace {

// Stores a result at the caller's address.
template <class T>
Status answer(T* where, T value, const char* what) {
  if (where == nullptr) {
    return Status::error(Code::invalid_argument,
                         fmt::format("the pointer for the {} is null", what))
        .hint("give the address of a variable");
  }
  *where = value;
  return {};
}

Status null_group() {
  return Status::error(Code::invalid_argument, "the pointer to the new group is null")
      .hint("give the address of an ARMCI_Group");
}

int create_group(const char* function, int n, const int* pid_list, ARMCI_Group* group,
                 const ARMCI_Group* parent) {
  return call(function, [&](Session& session) -> Status {
    if (group == nullptr) {
      return null_group();
    }
    if (n < 0 || (pid_list == nullptr && n > 0)) {
      return Status::error(Code::invalid_argument,
                           fmt::format("invalid list of {} processes at {}", n, fmt::ptr(pid_list)))
          .hint("give the address of that many ranks of the parent");
    }
    const std::span<const int> ranks(pid_list, static_cast<std::size_t>(n));
    TESSERA_ASSIGN_OR_RETURN(*group, session.groups.create(session.job, ranks, parent));
    return {};
  });
}

Status check_domain(armci_domain_t domain) {
  return domain == ARMCI_DOMAIN_SMP
             ? Status()
             : Status::error(Code::invalid_argument,
                             fmt::format("there is no kind of domain {}", domain))
                   .hint("use ARMCI_DOMAIN_SMP");
}

Status check_node(const Job& job, int node) {
  return node >= 0 && node < job.node_count()
             ? Status()
             : Status::error(Code::invalid_argument,
                             fmt::format("there is no domain {}: the job has 0 to {}", node,
                                         job.node_count() - 1))
                   .hint("armci_domain_id returns the domain of a process");
}

// The processes of a node, ascending.
Result<std::vector<int>> processes_of(const Job& job, int node) {
  TESSERA_RETURN_IF_ERROR(check_node(job, node));
  std::vector<int> processes;
  for (std::int32_t rank = 0; rank < job.size(); ++rank) {
    if (job.node_of(WorldRank{rank}) == NodeId{node}) {
      processes.push_back(rank);
    }
  }
  return processes;
}

Result<int> process_at(const Job& job, int node, int number) {
  TESSERA_ASSIGN_OR_RETURN(const std::vector<int> processes, processes_of(job, node));
  if (number < 0 || number >= std::ssize(processes)) {
    return Status::error(Code::invalid_argument,
                         fmt::format("domain {} has {} processes, and none with number {}", node,
                                     processes.size(), number))
        .hint("their numbers begin with 0; armci_domain_nprocs gives how many there are");
  }
  return processes[static_cast<std::size_t>(number)];
}

Result<int> on_same_node(const Job& job, int proc) {
  TESSERA_RETURN_IF_ERROR(check_process(job, proc));
  return job.shares_node(WorldRank{proc}) ? 1 : 0;
}

int shares_node(const char* function, int proc) {
  return call_for(function, 0, [&](Session& session) { return on_same_node(session.job, proc); });
}

}  // namespace
}  // namespace tessera::rma::armci

namespace armci = tessera::rma::armci;
using armci::Group;
using armci::Session;
using tessera::rma::Code;
using tessera::rma::Result;
using tessera::rma::Status;
using tessera::rma::TeamRank;
using tessera::rma::WorldRank;

extern "C" {

void ARMCI_Group_create(int n, int* pid_list, ARMCI_Group* group) {
  const Session* const session = Session::current();
  const ARMCI_Group parent =
      session == nullptr ? armci::Groups::world : session->groups.default_number();
  armci::create_group("ARMCI_Group_create", n, pid_list, group, &parent);
}

void ARMCI_Group_create_child(int n, int* pid_list, ARMCI_Group* group, ARMCI_Group* parent) {
  armci::create_group("ARMCI_Group_create_child", n, pid_list, group, parent);
}

void ARMCI_Group_free(ARMCI_Group* group) {
  armci::call("ARMCI_Group_free", [&](Session& session) { return session.groups.free(group); });
}

int ARMCI_Group_rank(ARMCI_Group* group, int* rank) {
  int code_of_non_member = 0;
  const int code = armci::call("ARMCI_Group_rank", [&](Session& session) -> Status {
    if (armci::Groups::is_none(group)) {
      code_of_non_member = FAIL;
      return armci::answer(rank, -1, "rank");
    }
    TESSERA_ASSIGN_OR_RETURN(const Group* const found, session.groups.find(group));
    return armci::answer(rank, found->team.rank().value, "rank");
  });
  return code == 0 ? code_of_non_member : code;
}

void ARMCI_Group_size(ARMCI_Group* group, int* size) {
  armci::call("ARMCI_Group_size", [&](Session& session) -> Status {
    if (armci::Groups::is_none(group)) {
      return armci::answer(size, 0, "size");
    }
    TESSERA_ASSIGN_OR_RETURN(const Group* const found, session.groups.find(group));
    return armci::answer(size, found->team.size(), "size");
  });
}

void ARMCI_Group_set_default(ARMCI_Group* group) {
  armci::call("ARMCI_Group_set_default",
              [&](Session& session) { return session.groups.set_default(group); });
}

void ARMCI_Group_get_default(ARMCI_Group* group) {
  armci::call("ARMCI_Group_get_default", [&](Session& session) {
    return armci::answer(group, session.groups.default_number(), "group");
  });
}

void ARMCI_Group_get_world(ARMCI_Group* group) {
  armci::finish("ARMCI_Group_get_world",
                armci::answer(group, ARMCI_Group{armci::Groups::world}, "group"));
}

int ARMCI_Absolute_id(ARMCI_Group* group, int group_rank) {
  return armci::call_for("ARMCI_Absolute_id", -1, [&](Session& session) -> Result<int> {
    TESSERA_ASSIGN_OR_RETURN(const Group* const found, session.groups.find(group));
    if (group_rank < 0 || group_rank >= found->team.size()) {
      return Status::error(Code::invalid_argument,
                           fmt::format("the group of {} processes has no rank {}",
                                       found->team.size(), group_rank))
          .hint("ranks begin with 0; ARMCI_Group_size gives how many there are");
    }
    return found->team.world_rank(TeamRank{group_rank}).value;
  });
}

int ARMCIX_Group_split(ARMCI_Group* parent, int color, int key, ARMCI_Group* group) {
  return armci::call("ARMCIX_Group_split", [&](Session& session) -> Status {
    if (group == nullptr) {
      return armci::null_group();
    }
    TESSERA_ASSIGN_OR_RETURN(*group, session.groups.split(parent, color, key));
    return {};
  });
}

int ARMCIX_Group_dup(ARMCI_Group* parent, ARMCI_Group* group) {
  return armci::call("ARMCIX_Group_dup", [&](Session& session) -> Status {
    if (group == nullptr) {
      return armci::null_group();
    }
    constexpr int one_color = 0;
    TESSERA_ASSIGN_OR_RETURN(*group, session.groups.split(parent, one_color, 0));
    return {};
  });
}

int armci_domain_nprocs(armci_domain_t domain, int id) {
  return armci::call_for("armci_domain_nprocs", 0, [&](Session& session) -> Result<int> {
    TESSERA_RETURN_IF_ERROR(armci::check_domain(domain));
    TESSERA_ASSIGN_OR_RETURN(const auto processes, armci::processes_of(session.job, id));
    return static_cast<int>(processes.size());
  });
}

int armci_domain_id(armci_domain_t domain, int proc) {
  return armci::call_for("armci_domain_id", -1, [&](Session& session) -> Result<int> {
    TESSERA_RETURN_IF_ERROR(armci::check_domain(domain));
    TESSERA_RETURN_IF_ERROR(armci::check_process(session.job, proc));
    return session.job.node_of(WorldRank{proc}).value;
  });
}

int armci_domain_glob_proc_id(armci_domain_t domain, int id, int local_proc) {
  return armci::call_for("armci_domain_glob_proc_id", -1, [&](Session& session) -> Result<int> {
    TESSERA_RETURN_IF_ERROR(armci::check_domain(domain));
    return armci::process_at(session.job, id, local_proc);
  });
}

int armci_domain_my_id(armci_domain_t domain) {
  return armci::call_for("armci_domain_my_id", -1, [&](Session& session) -> Result<int> {
    TESSERA_RETURN_IF_ERROR(armci::check_domain(domain));
    return session.job.node_of(session.job.rank()).value;
  });
}

int armci_domain_count(armci_domain_t domain) {
  return armci::call_for("armci_domain_count", 0, [&](Session& session) -> Result<int> {
    TESSERA_RETURN_IF_ERROR(armci::check_domain(domain));
    return session.job.node_count();
  });
}

int armci_domain_same_id(armci_domain_t domain, int proc) {
  return armci::call_for("armci_domain_same_id", 0, [&](Session& session) -> Result<int> {
    TESSERA_RETURN_IF_ERROR(armci::check_domain(domain));
    return armci::on_same_node(session.job, proc);
  });
}

int ARMCI_Same_node(int proc) {
  return armci::shares_node("ARMCI_Same_node", proc);
}

int armci_sameclusnode(int proc) {
  return armci::shares_node("armci_sameclusnode", proc);
}

}  // extern "C"
