// SPDX-License-Identifier: BSD-3-Clause
//
// Memory: collective, local, and of one process for others; direct access to it.
#include <cstring>

#include <fmt/format.h>

#include "rma/armci/armcix.h"
#include "rma/armci/call.hpp"
#include "rma/armci/parmci.h"

namespace tessera::rma::armci {
namespace {

int allocate(const char* function, void* ptr_arr[], armci_size_t bytes, const ARMCI_Group* group) {
  return call(function, [&](Session& session) -> Status {
    TESSERA_ASSIGN_OR_RETURN(Group* const owners, session.groups.find(group));
    return session.allocations.allocate(owners->team, bytes, ptr_arr);
  });
}

int free_memory(const char* function, void* ptr, const ARMCI_Group* group) {
  return call(function, [&](Session& session) -> Status {
    TESSERA_ASSIGN_OR_RETURN(Group* const owners, session.groups.find(group));
    return session.allocations.free(session.job, owners->team, ptr);
  });
}

ARMCI_Group default_group() {
  Session* const session = Session::current();
  return session == nullptr ? Groups::world : session->groups.default_number();
}

Status null_info() {
  return Status::error(Code::invalid_argument, "the pointer to the armci_meminfo_t is null")
      .hint("give the address of the one that ARMCI_Memget filled, or of a copy");
}

// The offset in the pool is in the part of an armci_meminfo_t that is private to Tessera.
std::uint64_t pool_offset(const armci_meminfo_t& info) {
  return static_cast<std::uint64_t>(info.idlist[0]);
}

Result<armci_meminfo_t> take_from_pool(Session& session, std::size_t bytes, int flag) {
  if (flag != 0) {
    return Status::error(Code::invalid_argument, fmt::format("memflg is {}", flag)).hint("give 0");
  }
  TESSERA_ASSIGN_OR_RETURN(const std::uint64_t offset, session.pool.take(bytes));
  armci_meminfo_t info = {};
  info.addr = reinterpret_cast<char*>(session.pool.region().local() + offset);
  info.armci_addr = info.addr;
  info.size = bytes;
  info.cpid = session.job.rank().value;
  info.idlist[0] = static_cast<long>(offset);
  return info;
}

// Whether `info` may be one that ARMCI_Memget filled; the program may have copied or sent it.
Status check_info(Session& session, const armci_meminfo_t* info) {
  if (info == nullptr) {
    return null_info();
  }
  if (info->armci_addr == nullptr) {
    return Status::error(Code::invalid_argument, "the armci_meminfo_t names no memory")
        .hint("ARMCI_Memget fills it, and ARMCI_Memctl clears it");
  }
  const std::size_t bytes = session.pool.bytes();
  if (info->cpid < 0 || info->cpid >= session.job.size() || info->size == 0 || info->size > bytes ||
      pool_offset(*info) > bytes - info->size) {
    return Status::error(
               Code::invalid_argument,
               fmt::format("the armci_meminfo_t names {} bytes of process {} at offset {} of {}",
                           info->size, info->cpid, pool_offset(*info), bytes))
        .hint("copy or send the whole structure that ARMCI_Memget filled");
  }
  return {};
}

Result<void*> address_of(Session& session, const armci_meminfo_t* info, long offset) {
  TESSERA_RETURN_IF_ERROR(check_info(session, info));
  if (offset < 0 || static_cast<std::size_t>(offset) > info->size) {
    return Status::error(
               Code::out_of_range,
               fmt::format("byte {} is outside of the memory of {} bytes", offset, info->size))
        .hint("offsets are 0 to the size that ARMCI_Memget was called with");
  }
  const RemoteAddress start = session.pool.region().at(TeamRank{info->cpid}, pool_offset(*info));
  return session.job.raw_pointer(start + static_cast<std::uint64_t>(offset));
}

}  // namespace
}  // namespace tessera::rma::armci

namespace armci = tessera::rma::armci;
using armci::Session;
using tessera::rma::Code;
using tessera::rma::Result;
using tessera::rma::Status;

extern "C" {

int PARMCI_Malloc(void* ptr_arr[], armci_size_t bytes) {
  const ARMCI_Group group = armci::default_group();
  return armci::allocate("ARMCI_Malloc", ptr_arr, bytes, &group);
}
extern decltype(ARMCI_Malloc) ARMCI_Malloc [[gnu::weak, gnu::alias("PARMCI_Malloc")]];

int PARMCI_Malloc_group(void* ptr_arr[], armci_size_t bytes, ARMCI_Group* group) {
  return armci::allocate("ARMCI_Malloc_group", ptr_arr, bytes, group);
}
extern decltype(ARMCI_Malloc_group) ARMCI_Malloc_group
    [[gnu::weak, gnu::alias("PARMCI_Malloc_group")]];

int PARMCI_Malloc_memdev(void* ptr_arr[], armci_size_t bytes, const char*) {
  const ARMCI_Group group = armci::default_group();
  return armci::allocate("ARMCI_Malloc_memdev", ptr_arr, bytes, &group);
}
extern decltype(ARMCI_Malloc_memdev) ARMCI_Malloc_memdev
    [[gnu::weak, gnu::alias("PARMCI_Malloc_memdev")]];

int PARMCI_Malloc_group_memdev(void* ptr_arr[], armci_size_t bytes, ARMCI_Group* group,
                               const char*) {
  return armci::allocate("ARMCI_Malloc_group_memdev", ptr_arr, bytes, group);
}
extern decltype(ARMCI_Malloc_group_memdev) ARMCI_Malloc_group_memdev
    [[gnu::weak, gnu::alias("PARMCI_Malloc_group_memdev")]];

int PARMCI_Free(void* ptr) {
  const ARMCI_Group group = armci::default_group();
  return armci::free_memory("ARMCI_Free", ptr, &group);
}
extern decltype(ARMCI_Free) ARMCI_Free [[gnu::weak, gnu::alias("PARMCI_Free")]];

int PARMCI_Free_memdev(void* ptr) {
  const ARMCI_Group group = armci::default_group();
  return armci::free_memory("ARMCI_Free_memdev", ptr, &group);
}
extern decltype(ARMCI_Free_memdev) ARMCI_Free_memdev
    [[gnu::weak, gnu::alias("PARMCI_Free_memdev")]];

int PARMCI_Free_group(void* ptr, ARMCI_Group* group) {
  return armci::free_memory("ARMCI_Free_group", ptr, group);
}
extern decltype(ARMCI_Free_group) ARMCI_Free_group [[gnu::weak, gnu::alias("PARMCI_Free_group")]];

void* PARMCI_Malloc_local(armci_size_t bytes) {
  return armci::call_for<void*>(
      "ARMCI_Malloc_local", nullptr, [&](Session& session) -> Result<void*> {
        if (bytes < 0) {
          return Status::error(Code::invalid_argument,
                               fmt::format("cannot allocate {} bytes", bytes))
              .hint("ask for 0 bytes or more");
        }
        return bytes == 0 ? Result<void*>(nullptr)
                          : session.job.allocate_local(static_cast<std::size_t>(bytes));
      });
}
extern decltype(ARMCI_Malloc_local) ARMCI_Malloc_local
    [[gnu::weak, gnu::alias("PARMCI_Malloc_local")]];

int PARMCI_Free_local(void* ptr) {
  return armci::call("ARMCI_Free_local",
                     [&](Session& session) { return session.job.free_local(ptr); });
}
extern decltype(ARMCI_Free_local) ARMCI_Free_local [[gnu::weak, gnu::alias("PARMCI_Free_local")]];

void PARMCI_Memget(size_t bytes, armci_meminfo_t* info, int memflg) {
  armci::call("ARMCI_Memget", [&](Session& session) -> Status {
    if (info == nullptr) {
      return armci::null_info();
    }
    TESSERA_ASSIGN_OR_RETURN(*info, armci::take_from_pool(session, bytes, memflg));
    return {};
  });
}
extern decltype(ARMCI_Memget) ARMCI_Memget [[gnu::weak, gnu::alias("PARMCI_Memget")]];

void* PARMCI_Memat(armci_meminfo_t* info, long offset) {
  return armci::call_for<void*>("ARMCI_Memat", nullptr, [&](Session& session) {
    return armci::address_of(session, info, offset);
  });
}
extern decltype(ARMCI_Memat) ARMCI_Memat [[gnu::weak, gnu::alias("PARMCI_Memat")]];

// The pointers of ARMCI_Memat stay mapped while the job runs.
void PARMCI_Memdt(armci_meminfo_t*, long) {}
extern decltype(ARMCI_Memdt) ARMCI_Memdt [[gnu::weak, gnu::alias("PARMCI_Memdt")]];

void PARMCI_Memctl(armci_meminfo_t* info) {
  armci::call("ARMCI_Memctl", [&](Session& session) -> Status {
    TESSERA_RETURN_IF_ERROR(armci::check_info(session, info));
    if (info->cpid == session.job.rank().value) {
      TESSERA_RETURN_IF_ERROR(session.pool.give_back(armci::pool_offset(*info), info->size));
    }
    info->addr = nullptr;
    info->armci_addr = nullptr;
    return {};
  });
}
extern decltype(ARMCI_Memctl) ARMCI_Memctl [[gnu::weak, gnu::alias("PARMCI_Memctl")]];

void PARMCI_Access_begin(void* ptr) {
  armci::call("ARMCI_Access_begin",
              [&](Session& session) { return session.allocations.begin_access(session.job, ptr); });
}
extern decltype(ARMCI_Access_begin) ARMCI_Access_begin
    [[gnu::weak, gnu::alias("PARMCI_Access_begin")]];

void PARMCI_Access_end(void* ptr) {
  armci::call("ARMCI_Access_end",
              [&](Session& session) { return session.allocations.end_access(session.job, ptr); });
}
extern decltype(ARMCI_Access_end) ARMCI_Access_end [[gnu::weak, gnu::alias("PARMCI_Access_end")]];

void ARMCI_Set_shm_limit(unsigned long) {}

int ARMCI_Uses_shm(void) {
  return 1;
}

int ARMCI_Uses_shm_grp(ARMCI_Group*) {
  return 1;
}

void ARMCI_Copy(void* src, void* dst, int bytes) {
  if (bytes < 0 || (bytes > 0 && (src == nullptr || dst == nullptr))) {
    armci::fail("ARMCI_Copy", Status::error(Code::invalid_argument,
                                            fmt::format("a copy of {} bytes from {} to {}", bytes,
                                                        fmt::ptr(src), fmt::ptr(dst)))
                                  .hint("give 0 bytes or more, and two addresses of this process"));
  } else if (bytes > 0) {
    std::memmove(dst, src, static_cast<std::size_t>(bytes));
  }
}

int ARMCIX_Mode_set(int mode, void* ptr, ARMCI_Group* group) {
  return armci::call("ARMCIX_Mode_set", [&](Session& session) -> Status {
    TESSERA_ASSIGN_OR_RETURN(armci::Group* const owners, session.groups.find(group));
    return session.allocations.set_mode(session.job, owners->team, ptr, mode);
  });
}

int ARMCIX_Attach(void* ptr_arr[], void* memory, armci_size_t bytes, ARMCI_Group* group) {
  return armci::call("ARMCIX_Attach", [&](Session& session) -> Status {
    TESSERA_ASSIGN_OR_RETURN(armci::Group* const owners, session.groups.find(group));
    return session.allocations.attach(owners->team, memory, bytes, ptr_arr);
  });
}

int ARMCIX_Detach(void* ptr, ARMCI_Group* group) {
  return armci::call("ARMCIX_Detach", [&](Session& session) -> Status {
    TESSERA_ASSIGN_OR_RETURN(armci::Group* const owners, session.groups.find(group));
    return session.allocations.detach(session.job, owners->team, ptr);
  });
}

int ARMCIX_Mode_get(void* ptr) {
  return armci::call_for("ARMCIX_Mode_get", 0, [&](Session& session) {
    return session.allocations.mode(session.job, ptr);
  });
}

}  // extern "C"
