// SPDX-License-Identifier: BSD-3-Clause
#include "fortran/c/job.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fortran/detail/arguments.hpp"
#include "fortran/detail/call.hpp"
#include "fortran/detail/handles.hpp"
#include "rma/base/memory.hpp"
#include "rma/bootstrap.hpp"
#include "rma/region_list.hpp"
#include "rma/tuning.hpp"

namespace tessera::capi {
namespace {

using rma::Code;
using rma::Job;
using rma::Result;
using rma::Settings;
using rma::Status;

static_assert(static_cast<int>(rma::Op::notify) == TESSERA_OP_NOTIFY);
static_assert(rma::op_count == TESSERA_OP_NOTIFY + 1);

Status start(std::shared_ptr<rma::Bootstrap> bootstrap, tessera_job** job,
             std::optional<Settings> settings = {}) {
  TESSERA_RETURN_IF_ERROR(required(job, "job"));
  auto handle = std::make_unique<tessera_job>();
  TESSERA_ASSIGN_OR_RETURN(Job started, Job::start({.bootstrap = std::move(bootstrap),
                                                    .settings = std::move(settings)}));
  handle->contents = std::make_unique<Job>(std::move(started));
  Job& own = *handle->contents;
  handle->rank_in_errors = own.size() > 1 ? own.rank().value : -1;
  handle->name = name_of(HandleKind::job);
  handle->job = handle.get();
  *job = handle.release();
  return {};
}

Status free_job(tessera_job** job) {
  if (job == nullptr || *job == nullptr) {
    return job == nullptr ? explain_null(HandleKind::job) : Status();
  }
  TESSERA_ASSIGN_OR_RETURN(Job* const running, open(*job));
  Status status = running->stop();
  const std::unique_ptr<tessera_job> handle(std::exchange(*job, nullptr));
  // In reverse order of creation, as later objects may refer to earlier ones.
  auto& shells = handle->shells;
  std::sort(shells.begin(), shells.end(),
            [](const auto& a, const auto& b) { return a->number < b->number; });
  while (!shells.empty()) {
    shells.pop_back();
  }
  return status;
}

Status no_such_setting(std::string_view name) {
  return Status::error(Code::invalid_argument, fmt::format("there is no setting '{}'", name))
      .hint(rma::advice_for_unknown(name));
}

/// The environment's settings, overridden by lines of the form "NAME=value".
Result<Settings> settings_of(std::int64_t count, const char* const* given) {
  TESSERA_RETURN_IF_ERROR(check_count(count, "settings"));
  std::vector<std::string> lines;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    lines.emplace_back(*entry);
  }
  for (std::int64_t i = 0; i < count; ++i) {
    TESSERA_RETURN_IF_ERROR(required(given, "settings"));
    TESSERA_RETURN_IF_ERROR(required(given[i], "setting"));
    const std::string_view line = given[i];
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) {
      return Status::error(Code::invalid_argument,
                           fmt::format("the setting '{}' has no value", line))
          .hint("write settings as NAME=value");
    }
    const std::string_view name = line.substr(0, equals);
    const rma::SettingInfo* const row = rma::find_setting(name);
    if (row == nullptr || row->is_experimental()) {
      return no_such_setting(name);
    }
    lines.emplace_back(line);
  }
  return Settings::from(lines);
}

/// For queries of the job: writes the number that `act` returns to the caller's pointer.
template <class Number, class Act>
int reply(const char* function, const tessera_job* job, Number* result, const Act& act) {
  return call(function, [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(Job* const running, open(job));
    TESSERA_RETURN_IF_ERROR(required(result, "result"));
    *result = static_cast<Number>(act(*running));
    return {};
  });
}
/// The same about a rank.
template <class Number, class Act>
int query_rank(const char* function, const tessera_job* job, std::int64_t rank, Number* result,
               const Act& act) {
  return call(function, [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(Job* const running, open(job));
    TESSERA_RETURN_IF_ERROR(required(result, "result"));
    TESSERA_ASSIGN_OR_RETURN(const auto of, world_rank(rank, running->size()));
    *result = static_cast<Number>(act(*running, of));
    return {};
  });
}

/// Calls `act`, which returns a Status, with the job and one of its ranks.
template <class Act>
int with_rank(const char* function, const tessera_job* job, std::int64_t rank, const Act& act) {
  return call_on(function, job, [&](Job& running) -> Status {
    TESSERA_ASSIGN_OR_RETURN(const auto of, world_rank(rank, running.size()));
    return act(running, of);
  });
}

Status give(const rma::Tally& tally, std::int64_t* operations, std::int64_t* bytes) {
  if (operations != nullptr) {
    *operations = static_cast<std::int64_t>(tally.operations);
  }
  if (bytes != nullptr) {
    *bytes = static_cast<std::int64_t>(tally.bytes);
  }
  return {};
}

rma::Tally tally_of(const rma::Traffic& traffic, rma::WorldRank peer, tessera_op op) {
  for (const rma::PeerTraffic& one : traffic.peers) {
    if (one.peer == peer) {
      return one.by_op[static_cast<std::size_t>(op)];
    }
  }
  return {};
}

Result<std::string> setting(const Job& job, const char* name) {
  TESSERA_RETURN_IF_ERROR(required(name, "setting's name"));
  const rma::SettingInfo* const row = rma::find_setting(name);
  if (row == nullptr) {
    return no_such_setting(name);
  }
  return value_text(job.settings(), *row);
}

}  // namespace

extern "C" {

int tessera_job_start(tessera_job** job) {
  return call(__func__, [&] { return start(nullptr, job); });
}

int tessera_job_start_mpi(int communicator, tessera_job** job) {
  return call(__func__, [&]() -> Status {
    TESSERA_RETURN_IF_ERROR(required(job, "job"));
    TESSERA_ASSIGN_OR_RETURN(auto bootstrap, rma::mpi_bootstrap(communicator));
    return start(std::move(bootstrap), job);
  });
}

int tessera_job_start_alone(tessera_job** job) {
  return call(__func__, [&] { return start(rma::alone_bootstrap(), job); });
}

int tessera_job_start_with(int64_t count, const char* const settings[], const int* communicator,
                           tessera_job** job) {
  return call(__func__, [&]() -> Status {
    TESSERA_RETURN_IF_ERROR(required(job, "job"));
    TESSERA_ASSIGN_OR_RETURN(Settings chosen, settings_of(count, settings));
    std::shared_ptr<rma::Bootstrap> bootstrap;
    if (communicator != nullptr) {
      TESSERA_ASSIGN_OR_RETURN(bootstrap, rma::mpi_bootstrap(*communicator));
    }
    return start(std::move(bootstrap), job, std::move(chosen));
  });
}

int tessera_job_stop(tessera_job* job) {
  return call_on(__func__, job, [&](Job& running) {
    job->was_stopped = true;
    return running.stop();
  });
}

int tessera_job_free(tessera_job** job) {
  return call(__func__, [&] { return free_job(job); });
}

int tessera_job_rank(const tessera_job* job, int64_t* rank) {
  return reply(__func__, job, rank, [](const Job& running) { return running.rank().value; });
}

int tessera_job_size(const tessera_job* job, int64_t* size) {
  return reply(__func__, job, size, [](const Job& running) { return running.size(); });
}

int tessera_job_node_count(const tessera_job* job, int64_t* count) {
  return reply(__func__, job, count, [](const Job& running) { return running.node_count(); });
}

int tessera_job_node(const tessera_job* job, int64_t rank, int64_t* node) {
  return query_rank(__func__, job, rank, node, [](const Job& running, rma::WorldRank of) {
    return running.node_of(of).value;
  });
}

int tessera_job_shares_node(const tessera_job* job, int64_t rank, int* shares) {
  return query_rank(__func__, job, rank, shares,
                    [](const Job& running, rma::WorldRank of) { return running.shares_node(of); });
}

int tessera_job_is_present(const tessera_job* job, int64_t rank, int* present) {
  return query_rank(__func__, job, rank, present,
                    [](const Job& running, rma::WorldRank of) { return running.is_present(of); });
}

int tessera_job_transport(const tessera_job* job, int64_t rank, char* text, int64_t capacity,
                          int64_t* length) {
  return with_rank(__func__, job, rank, [&](Job& running, rma::WorldRank of) -> Status {
    TESSERA_ASSIGN_OR_RETURN(const std::string_view name, running.transport_to(of));
    return copy_text(name, text, capacity, length);
  });
}

int tessera_job_setting(const tessera_job* job, const char* name, char* text, int64_t capacity,
                        int64_t* length) {
  return call_on(__func__, job, [&](const Job& running) -> Status {
    TESSERA_ASSIGN_OR_RETURN(const std::string value, setting(running, name));
    return copy_text(value, text, capacity, length);
  });
}

int tessera_job_begin_phase(const tessera_job* job, const char* name) {
  return call_on(__func__, job, [&](const Job& running) {
    return rma::begin_phase(running, name == nullptr ? "" : name);
  });
}

int tessera_job_end_phase(const tessera_job* job, const char* name) {
  return call_on(__func__, job, [&](const Job& running) {
    return rma::end_phase(running, name == nullptr ? "" : name);
  });
}

int tessera_job_wait_all(const tessera_job* job) {
  return call_on(__func__, job, [](Job& running) { return running.wait_all(); });
}

int tessera_job_wait_rank(const tessera_job* job, int64_t rank) {
  return with_rank(__func__, job, rank,
                   [](Job& running, rma::WorldRank of) { return running.wait_rank(of); });
}

int tessera_job_fence_all(const tessera_job* job) {
  return call_on(__func__, job, [](Job& running) { return running.fence_all(); });
}

int tessera_job_fence(const tessera_job* job, int64_t rank) {
  return with_rank(__func__, job, rank,
                   [](Job& running, rma::WorldRank of) { return running.fence(of); });
}

void tessera_end_job(int code) {
  rma::end_job(code == 0 ? EXIT_FAILURE : code);
}

int tessera_job_barrier(const tessera_job* job) {
  return call_on(__func__, job, [](Job& running) { return running.barrier(); });
}

int tessera_job_traffic(const tessera_job* job, tessera_op op, int64_t* operations,
                        int64_t* bytes) {
  return call_on(__func__, job, [&](const Job& running) -> Status {
    TESSERA_RETURN_IF_ERROR(check_choice(op, rma::op_count, "kind of operation"));
    return give(running.traffic().total(static_cast<rma::Op>(op)), operations, bytes);
  });
}

int tessera_job_traffic_to(const tessera_job* job, int64_t rank, tessera_op op, int64_t* operations,
                           int64_t* bytes) {
  return with_rank(__func__, job, rank, [&](const Job& running, rma::WorldRank of) -> Status {
    TESSERA_RETURN_IF_ERROR(check_choice(op, rma::op_count, "kind of operation"));
    return give(tally_of(running.traffic(), of, op), operations, bytes);
  });
}

int tessera_memory_available(int64_t* bytes) {
  return call(__func__, [&]() -> Status {
    TESSERA_RETURN_IF_ERROR(required(bytes, "result"));
    *bytes = static_cast<std::int64_t>(rma::available_memory_bytes());
    return {};
  });
}

int tessera_job_memory_in_use(const tessera_job* job, int64_t* bytes) {
  return call_on(__func__, job, [&](const Job& running) -> Status {
    TESSERA_RETURN_IF_ERROR(required(bytes, "result"));
    *bytes = static_cast<std::int64_t>(rma::bytes_in_regions(running));
    return {};
  });
}

int tessera_job_regions(const tessera_job* job, char* text, int64_t capacity, int64_t* length) {
  return call_on(__func__, job, [&](const Job& running) {
    return copy_text(to_string(rma::list_regions(running)), text, capacity, length);
  });
}

int tessera_job_allocate_local(const tessera_job* job, int64_t bytes, void** memory) {
  return call_on(__func__, job, [&](Job& running) -> Status {
    TESSERA_RETURN_IF_ERROR(check_count(bytes, "bytes"));
    TESSERA_RETURN_IF_ERROR(required(memory, "memory"));
    TESSERA_ASSIGN_OR_RETURN(*memory, running.allocate_local(static_cast<std::size_t>(bytes)));
    return {};
  });
}

int tessera_job_free_local(const tessera_job* job, void* memory) {
  return call_on(__func__, job, [&](Job& running) { return running.free_local(memory); });
}

}  // extern "C"

}  // namespace tessera::capi
