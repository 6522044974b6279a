// SPDX-License-Identifier: BSD-3-Clause
//
// Non-blocking transfers, their handles, and aggregation.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "rma/armci/arguments.hpp"
#include "rma/armci/armcix.h"
#include "rma/armci/call.hpp"
#include "rma/armci/parmci.h"
#include "rma/raw_transfer.hpp"

namespace tessera::rma::armci {
namespace {

Status null_handle() {
  return Status::error(Code::invalid_argument, "the pointer to the handle is null");
}

[[gnu::noinline]] Status record_pending(Session& session, armci_hdl_t* handle, Handle started) {
  if (started.has_ended()) {
    return started.wait();
  }
  if (handle == nullptr) {
    started.detach();
    return {};
  }
  TESSERA_ASSIGN_OR_RETURN(Claim* const claim, session.handles.claim_of(*handle));
  claim->collect(std::move(started));
  return {};
}

/// Makes the started operation implicit, or adds it to `handle`. An error at the start is returned
/// here, so that the program knows which call failed.
Status keep(Session& session, armci_hdl_t* handle, Handle started) {
  // On one node nothing is ever under way.
  return started.is_empty() ? Status() : record_pending(session, handle, std::move(started));
}

/// Whether an operation with this handle to `proc` waits for more to join it. On one node it is
/// done at once, which is as fast as recording it.
bool is_deferred(const Session& session, const armci_hdl_t* handle, int proc) {
  return handle != nullptr && session.is_elsewhere(proc) && session.handles.is_aggregate(*handle);
}

bool is_nothing(std::size_t bytes) {
  return bytes == 0;
}
bool is_nothing(const CopyShape& shape) {
  return shape.check().ok() && shape.total_bytes() == 0;
}

bool is_nothing(RunLists lists) {
  return std::all_of(lists.begin(), lists.end(),
                     [](const RunList& each) { return each.bytes == 0 || each.remote.empty(); });
}

/// Defers an operation: `add` adds it to the aggregate, given the address in its region.
template <class Add>
Status defer(Session& session, armci_hdl_t& handle, Op op, std::optional<Scale> scale,
             RawAddress at, const Add& add) {
  TESSERA_ASSIGN_OR_RETURN(const RemoteAddress remote, session.job.translate(at.rank, at.pointer));
  TESSERA_ASSIGN_OR_RETURN(Claim* const claim, session.handles.claim_of(handle));
  return add(claim->aggregate_for(session.job, {op, at.rank, scale}), remote);
}

/// In all of these `what` is bytes or a shape.
template <class What>
Status start_put(Session& session, armci_hdl_t* handle, RawAddress to, const void* from,
                 const What& what) {
  if (is_deferred(session, handle, to.rank.value) && !is_nothing(what)) {
    return defer(session, *handle, Op::put, {}, to,
                 [&](Aggregate& kept, RemoteAddress at) { return kept.put(at, from, what); });
  }
  return keep(session, handle, put_async(session.job, to, from, what));
}

template <class What>
Status start_get(Session& session, armci_hdl_t* handle, RawAddress from, void* to,
                 const What& what) {
  if (is_deferred(session, handle, from.rank.value) && !is_nothing(what)) {
    return defer(session, *handle, Op::get, {}, from,
                 [&](Aggregate& kept, RemoteAddress at) { return kept.get(at, to, what); });
  }
  return keep(session, handle, get_async(session.job, from, to, what));
}

template <class What>
Status start_accumulate(Session& session, armci_hdl_t* handle, RawAddress to, const void* from,
                        const What& what, const Scale& scale) {
  if (is_deferred(session, handle, to.rank.value) && !is_nothing(what)) {
    return defer(
        session, *handle, Op::accumulate, scale, to,
        [&](Aggregate& kept, RemoteAddress at) { return kept.accumulate(at, from, what, scale); });
  }
  return keep(session, handle, accumulate_async(session.job, to, from, what, scale));
}

/// The same for vectors, whose runs may be in several regions.
template <class Add>
Status defer_lists(Session& session, armci_hdl_t& handle, const AggregateKind& kind,
                   const Add& add) {
  TESSERA_ASSIGN_OR_RETURN(Claim* const claim, session.handles.claim_of(handle));
  return add(claim->aggregate_for(session.job, kind));
}

Status start_put(Session& session, armci_hdl_t* handle, WorldRank to, RunLists lists) {
  if (is_deferred(session, handle, to.value) && !is_nothing(lists)) {
    return defer_lists(session, *handle, {Op::put, to, {}},
                       [&](Aggregate& kept) { return put(kept, session.job, to, lists); });
  }
  return keep(session, handle, put_async(session.job, to, lists));
}

Status start_get(Session& session, armci_hdl_t* handle, WorldRank from, RunLists lists) {
  if (is_deferred(session, handle, from.value) && !is_nothing(lists)) {
    return defer_lists(session, *handle, {Op::get, from, {}},
                       [&](Aggregate& kept) { return get(kept, session.job, from, lists); });
  }
  return keep(session, handle, get_async(session.job, from, lists));
}

Status start_accumulate(Session& session, armci_hdl_t* handle, WorldRank to, RunLists lists,
                        const Scale& scale) {
  if (is_deferred(session, handle, to.value) && !is_nothing(lists)) {
    return defer_lists(session, *handle, {Op::accumulate, to, scale}, [&](Aggregate& kept) {
      return accumulate(kept, session.job, to, lists, scale);
    });
  }
  return keep(session, handle, accumulate_async(session.job, to, lists, scale));
}

Status check_sets(const armci_strided_t* sets, int len) {
  return len < 0 || (sets == nullptr && len > 0)
             ? Status::error(Code::invalid_argument,
                             fmt::format("{} sets at {}", len, fmt::ptr(sets)))
                   .hint("give the address of that many armci_strided_t")
             : Status();
}

/// The segments of one descriptor of a draft function.
struct Segments {
  std::vector<void*> sources;
  std::vector<void*> targets;
};

Result<Segments> segments_of(const armci_strided_t& set, int number) {
  if (set.bytes < 0 || set.count < 0) {
    return Status::error(Code::invalid_argument, fmt::format("set {} has {} segments of {} bytes",
                                                             number, set.count, set.bytes))
        .hint("neither may be negative");
  }
  if (set.count > 0 && set.bytes > 0 && (set.src_ptr == nullptr || set.dst_ptr == nullptr)) {
    return Status::error(Code::invalid_argument,
                         fmt::format("set {} has a null {}", number,
                                     set.src_ptr == nullptr ? "source" : "destination"))
        .hint("give the address of its first segment");
  }
  Segments segments;
  for (std::int64_t i = 0; i < set.count; ++i) {
    segments.sources.push_back(static_cast<char*>(set.src_ptr) + i * set.src_stride);
    segments.targets.push_back(static_cast<char*>(set.dst_ptr) + i * set.dst_stride);
  }
  return segments;
}

/// All sets as one vector operation; `start` gets the lists.
template <class Start>
Status start_as_lists(Session& session, TransferDirection direction,
                      std::span<const armci_strided_t> sets, const Start& start) {
  std::vector<Segments> segments;  // the lists refer to these
  for (const armci_strided_t& set : sets) {
    TESSERA_ASSIGN_OR_RETURN(Segments all, segments_of(set, static_cast<int>(segments.size())));
    segments.push_back(std::move(all));
  }
  std::vector<RunList> lists;
  for (const Segments& each : segments) {
    const std::size_t bytes = as_size(sets[lists.size()].bytes);
    lists.push_back(direction == TransferDirection::to_remote
                        ? RunList{each.targets, each.sources, bytes}
                        : RunList{each.sources, each.targets, bytes});
  }
  return start(session, RunLists(lists));
}

/// One set, as a transfer of rows.
template <class Start>
Status start_as_rows(Session& session, TransferDirection direction, const armci_strided_t& set,
                     const Start& start) {
  int count[] = {set.bytes, set.count};
  int source_stride = set.src_stride;
  int target_stride = set.dst_stride;
  TESSERA_ASSIGN_OR_RETURN(const CopyShape shape,
                           shape_of(direction, &source_stride, &target_stride, count, 1));
  return start(session, set, shape);
}

/// The sets of the draft's descriptors: to another node as one request, by `start_lists`; else one
/// after another, by `start_rows`.
template <class StartLists, class StartRows>
int start_sets(const char* function, TransferDirection direction, const armci_strided_t* sets,
               int len, int proc, const StartLists& start_lists, const StartRows& start_rows) {
  return call(function, [&](Session& session) -> Status {
    TESSERA_RETURN_IF_ERROR(check_sets(sets, len));
    const std::span all(sets, static_cast<std::size_t>(len));
    if (len > 1 && session.is_elsewhere(proc)) {
      return start_as_lists(session, direction, all, start_lists);
    }
    for (const armci_strided_t& set : all) {
      TESSERA_RETURN_IF_ERROR(start_as_rows(session, direction, set, start_rows));
    }
    return {};
  });
}

int put_sets(const char* function, const armci_strided_t* sets, int len, int proc,
             armci_hdl_t* handle) {
  const WorldRank to{proc};
  return start_sets(
      function, TransferDirection::to_remote, sets, len, proc,
      [&](Session& session, RunLists lists) { return start_put(session, handle, to, lists); },
      [&](Session& session, const armci_strided_t& set, const CopyShape& shape) {
        return start_put(session, handle, RawAddress{to, set.dst_ptr}, set.src_ptr, shape);
      });
}

int get_sets(const char* function, const armci_strided_t* sets, int len, int proc,
             armci_hdl_t* handle) {
  const WorldRank from{proc};
  return start_sets(
      function, TransferDirection::from_remote, sets, len, proc,
      [&](Session& session, RunLists lists) { return start_get(session, handle, from, lists); },
      [&](Session& session, const armci_strided_t& set, const CopyShape& shape) {
        return start_get(session, handle, RawAddress{from, set.src_ptr}, set.dst_ptr, shape);
      });
}

/// Advances this process's operations, and serves others.
Status advance(Session& session) {
  session.job.progress();
  return {};
}

/// The blocking form of an operation that began with `started`, also if that failed in part.
int wait_for(const char* function, armci_hdl_t& handle, int started) {
  const int waited = call(function, [&](Session& session) { return session.handles.wait(handle); });
  return started != 0 ? started : waited;
}

}  // namespace
}  // namespace tessera::rma::armci

namespace armci = tessera::rma::armci;
using armci::Session;
using armci::TransferDirection;
using tessera::rma::CopyShape;
using tessera::rma::RawAddress;
using tessera::rma::Scale;
using tessera::rma::Status;
using tessera::rma::WorldRank;

extern "C" {

int PARMCI_NbPut(void* src, void* dst, int bytes, int proc, armci_hdl_t* handle) {
  return armci::call("ARMCI_NbPut", [&](Session& session) -> Status {
    TESSERA_RETURN_IF_ERROR(armci::check_bytes(bytes));
    return armci::start_put(session, handle, RawAddress{WorldRank{proc}, dst}, src,
                            armci::as_size(bytes));
  });
}
extern decltype(ARMCI_NbPut) ARMCI_NbPut [[gnu::weak, gnu::alias("PARMCI_NbPut")]];

int PARMCI_NbGet(void* src, void* dst, int bytes, int proc, armci_hdl_t* handle) {
  return armci::call("ARMCI_NbGet", [&](Session& session) -> Status {
    TESSERA_RETURN_IF_ERROR(armci::check_bytes(bytes));
    return armci::start_get(session, handle, RawAddress{WorldRank{proc}, src}, dst,
                            armci::as_size(bytes));
  });
}
extern decltype(ARMCI_NbGet) ARMCI_NbGet [[gnu::weak, gnu::alias("PARMCI_NbGet")]];

int PARMCI_NbAcc(int optype, void* scale, void* src, void* dst, int bytes, int proc,
                 armci_hdl_t* handle) {
  return armci::call("ARMCI_NbAcc", [&](Session& session) -> Status {
    TESSERA_ASSIGN_OR_RETURN(const Scale factor, armci::scale_of(optype, scale));
    TESSERA_RETURN_IF_ERROR(armci::check_bytes(bytes));
    return armci::start_accumulate(session, handle, RawAddress{WorldRank{proc}, dst}, src,
                                   armci::as_size(bytes), factor);
  });
}
extern decltype(ARMCI_NbAcc) ARMCI_NbAcc [[gnu::weak, gnu::alias("PARMCI_NbAcc")]];

int PARMCI_NbPutS(void* src, int src_strides[], void* dst, int dst_strides[], int count[],
                  int stride_levels, int proc, armci_hdl_t* handle) {
  return armci::call("ARMCI_NbPutS", [&](Session& session) -> Status {
    TESSERA_ASSIGN_OR_RETURN(const auto shape,
                             armci::shape_of(TransferDirection::to_remote, src_strides, dst_strides,
                                             count, stride_levels));
    return armci::start_put(session, handle, RawAddress{WorldRank{proc}, dst}, src, shape);
  });
}
extern decltype(ARMCI_NbPutS) ARMCI_NbPutS [[gnu::weak, gnu::alias("PARMCI_NbPutS")]];

int PARMCI_NbGetS(void* src, int src_strides[], void* dst, int dst_strides[], int count[],
                  int stride_levels, int proc, armci_hdl_t* handle) {
  return armci::call("ARMCI_NbGetS", [&](Session& session) -> Status {
    TESSERA_ASSIGN_OR_RETURN(
        const auto shape, armci::shape_of(TransferDirection::from_remote, src_strides, dst_strides,
                                          count, stride_levels));
    return armci::start_get(session, handle, RawAddress{WorldRank{proc}, src}, dst, shape);
  });
}
extern decltype(ARMCI_NbGetS) ARMCI_NbGetS [[gnu::weak, gnu::alias("PARMCI_NbGetS")]];

int PARMCI_NbAccS(int optype, void* scale, void* src, int src_strides[], void* dst,
                  int dst_strides[], int count[], int stride_levels, int proc,
                  armci_hdl_t* handle) {
  return armci::call("ARMCI_NbAccS", [&](Session& session) -> Status {
    TESSERA_ASSIGN_OR_RETURN(const Scale factor, armci::scale_of(optype, scale));
    TESSERA_ASSIGN_OR_RETURN(const auto shape,
                             armci::shape_of(TransferDirection::to_remote, src_strides, dst_strides,
                                             count, stride_levels));
    return armci::start_accumulate(session, handle, RawAddress{WorldRank{proc}, dst}, src, shape,
                                   factor);
  });
}
extern decltype(ARMCI_NbAccS) ARMCI_NbAccS [[gnu::weak, gnu::alias("PARMCI_NbAccS")]];

int PARMCI_NbPutV(armci_giov_t sets[], int len, int proc, armci_hdl_t* handle) {
  return armci::call("ARMCI_NbPutV", [&](Session& session) -> Status {
    TESSERA_ASSIGN_OR_RETURN(const auto lists,
                             armci::lists_of(TransferDirection::to_remote, sets, len));
    return armci::start_put(session, handle, WorldRank{proc}, lists);
  });
}
extern decltype(ARMCI_NbPutV) ARMCI_NbPutV [[gnu::weak, gnu::alias("PARMCI_NbPutV")]];

int PARMCI_NbGetV(armci_giov_t sets[], int len, int proc, armci_hdl_t* handle) {
  return armci::call("ARMCI_NbGetV", [&](Session& session) -> Status {
    TESSERA_ASSIGN_OR_RETURN(const auto lists,
                             armci::lists_of(TransferDirection::from_remote, sets, len));
    return armci::start_get(session, handle, WorldRank{proc}, lists);
  });
}
extern decltype(ARMCI_NbGetV) ARMCI_NbGetV [[gnu::weak, gnu::alias("PARMCI_NbGetV")]];

int PARMCI_NbAccV(int optype, void* scale, armci_giov_t sets[], int len, int proc,
                  armci_hdl_t* handle) {
  return armci::call("ARMCI_NbAccV", [&](Session& session) -> Status {
    TESSERA_ASSIGN_OR_RETURN(const Scale factor, armci::scale_of(optype, scale));
    TESSERA_ASSIGN_OR_RETURN(const auto lists,
                             armci::lists_of(TransferDirection::to_remote, sets, len));
    return armci::start_accumulate(session, handle, WorldRank{proc}, lists, factor);
  });
}
extern decltype(ARMCI_NbAccV) ARMCI_NbAccV [[gnu::weak, gnu::alias("PARMCI_NbAccV")]];

int PARMCI_Wait(armci_hdl_t* handle) {
  return armci::call("ARMCI_Wait", [&](Session& session) -> Status {
    return handle == nullptr ? session.job.wait_all() : session.handles.wait(*handle);
  });
}
extern decltype(ARMCI_Wait) ARMCI_Wait [[gnu::weak, gnu::alias("PARMCI_Wait")]];

int PARMCI_Test(armci_hdl_t* handle) {
  bool is_done = true;
  const int code = armci::call("ARMCI_Test", [&](Session& session) -> Status {
    if (handle == nullptr) {
      return armci::null_handle();
    }
    is_done = session.handles.done(*handle);
    return is_done ? session.handles.wait(*handle) : Status();
  });
  return code != 0 ? code : is_done ? 0 : 1;
}
extern decltype(ARMCI_Test) ARMCI_Test [[gnu::weak, gnu::alias("PARMCI_Test")]];

int PARMCI_WaitAll(void) {
  return armci::call("ARMCI_WaitAll", [](Session& session) { return session.job.wait_all(); });
}
extern decltype(ARMCI_WaitAll) ARMCI_WaitAll [[gnu::weak, gnu::alias("PARMCI_WaitAll")]];

int PARMCI_WaitProc(int proc) {
  return armci::call("ARMCI_WaitProc", [&](Session& session) -> Status {
    TESSERA_RETURN_IF_ERROR(armci::check_process(session.job, proc));
    return session.job.wait_rank(WorldRank{proc});
  });
}
extern decltype(ARMCI_WaitProc) ARMCI_WaitProc [[gnu::weak, gnu::alias("PARMCI_WaitProc")]];

void ARMCI_SET_AGGREGATE_HANDLE(armci_hdl_t* handle) {
  armci::call("ARMCI_SET_AGGREGATE_HANDLE", [&](Session& session) -> Status {
    return handle == nullptr ? armci::null_handle() : session.handles.set_aggregate(*handle);
  });
}

void ARMCI_UNSET_AGGREGATE_HANDLE(armci_hdl_t* handle) {
  armci::call("ARMCI_UNSET_AGGREGATE_HANDLE", [&](Session& session) -> Status {
    return handle == nullptr ? armci::null_handle() : session.handles.unset_aggregate(*handle);
  });
}

void ARMCI_Poll(void) {
  armci::call("ARMCI_Poll", armci::advance);
}
void ARMCIX_Progress(void) {
  armci::call("ARMCIX_Progress", armci::advance);
}

int ARMCIX_NbPutV_dscr(armci_giov_t* sets, int len, int proc, armci_hdl_t* handle) {
  return PARMCI_NbPutV(sets, len, proc, handle);
}
int ARMCIX_NbGetV_dscr(armci_giov_t* sets, int len, int proc, armci_hdl_t* handle) {
  return PARMCI_NbGetV(sets, len, proc, handle);
}

int ARMCIX_NbPutS_dscr(armci_strided_t* sets, int len, int proc, armci_hdl_t* handle) {
  return armci::put_sets("ARMCIX_NbPutS_dscr", sets, len, proc, handle);
}
int ARMCIX_NbGetS_dscr(armci_strided_t* sets, int len, int proc, armci_hdl_t* handle) {
  return armci::get_sets("ARMCIX_NbGetS_dscr", sets, len, proc, handle);
}

int ARMCIX_PutS_dscr(armci_strided_t* sets, int len, int proc) {
  armci_hdl_t handle = {};
  return armci::wait_for("ARMCIX_PutS_dscr", handle,
                         armci::put_sets("ARMCIX_PutS_dscr", sets, len, proc, &handle));
}
int ARMCIX_GetS_dscr(armci_strided_t* sets, int len, int proc) {
  armci_hdl_t handle = {};
  return armci::wait_for("ARMCIX_GetS_dscr", handle,
                         armci::get_sets("ARMCIX_GetS_dscr", sets, len, proc, &handle));
}

}  // extern "C"
