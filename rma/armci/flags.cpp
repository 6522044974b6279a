// SPDX-License-Identifier: BSD-3-Clause
//
// Notifying the target that data has arrived: put with flag, notify and wait.
#include <algorithm>
#include <limits>

#include "rma/armci/arguments.hpp"
#include "rma/armci/call.hpp"
#include "rma/armci/parmci.h"
#include "rma/atomic.hpp"
#include "rma/notify.hpp"
#include "rma/raw_transfer.hpp"

namespace tessera::rma::armci {
namespace {

// On the same node the data is in place when the put returns.
Status put_and_raise_here(Session& session, const void* from, void* to, const CopyShape& shape,
                          const int* flag, int value) {
  const WorldRank here = session.job.rank();
  const RawAddress flag_at{here, flag};
  // If the flag is invalid, nothing is put.
  TESSERA_RETURN_IF_ERROR(fetch_add<std::int32_t>(session.job, flag_at, 0).status());
  TESSERA_RETURN_IF_ERROR(put(session.job, RawAddress{here, to}, from, shape));
  return swap<std::int32_t>(session.job, flag_at, value).status();
}

Status put_and_raise(Session& session, const void* from, void* to, const CopyShape& shape,
                     const int* flag, int value, int proc) {
  const WorldRank rank{proc};
  if (rank == session.job.rank()) {
    return put_and_raise_here(session, from, to, shape, flag, value);
  }
  TESSERA_ASSIGN_OR_RETURN(const RemoteAddress flag_at, session.job.translate(rank, flag));
  TESSERA_RETURN_IF_ERROR(shape.check());
  if (shape.total_bytes() == 0) {
    return raise_flag(session.job, flag_at, value);
  }
  TESSERA_ASSIGN_OR_RETURN(const RemoteAddress data_at, session.job.translate(rank, to));
  return put_with_flag(session.job, data_at, from, shape, flag_at, value);
}

int put_strided_and_raise(const char* function, void* src, int src_strides[], void* dst,
                          int dst_strides[], int count[], int stride_levels, int* flag, int value,
                          int proc) {
  return call(function, [&](Session& session) -> Status {
    TESSERA_ASSIGN_OR_RETURN(
        const CopyShape shape,
        shape_of(TransferDirection::to_remote, src_strides, dst_strides, count, stride_levels));
    return put_and_raise(session, src, dst, shape, flag, value, proc);
  });
}

// Notifications are counted with 64 bits and returned as an int.
int as_int(std::uint64_t count) {
  return static_cast<int>(count & static_cast<std::uint64_t>(std::numeric_limits<int>::max()));
}

}  // namespace
}  // namespace tessera::rma::armci

namespace armci = tessera::rma::armci;
using armci::Session;
using tessera::rma::CopyShape;
using tessera::rma::Result;
using tessera::rma::Status;
using tessera::rma::WorldRank;

extern "C" {

int PARMCI_Put_flag(void* src, void* dst, int bytes, int* flag, int value, int proc) {
  return armci::call("ARMCI_Put_flag", [&](Session& session) -> Status {
    TESSERA_RETURN_IF_ERROR(armci::check_bytes(bytes));
    return armci::put_and_raise(session, src, dst, CopyShape::contiguous(armci::as_size(bytes)),
                                flag, value, proc);
  });
}
extern decltype(ARMCI_Put_flag) ARMCI_Put_flag [[gnu::weak, gnu::alias("PARMCI_Put_flag")]];

int PARMCI_PutS_flag(void* src, int src_strides[], void* dst, int dst_strides[], int count[],
                     int stride_levels, int* flag, int value, int proc) {
  return armci::put_strided_and_raise("ARMCI_PutS_flag", src, src_strides, dst, dst_strides, count,
                                      stride_levels, flag, value, proc);
}
extern decltype(ARMCI_PutS_flag) ARMCI_PutS_flag [[gnu::weak, gnu::alias("PARMCI_PutS_flag")]];

int PARMCI_PutS_flag_dir(void* src, int src_strides[], void* dst, int dst_strides[], int count[],
                         int stride_levels, int* flag, int value, int proc) {
  return armci::put_strided_and_raise("ARMCI_PutS_flag_dir", src, src_strides, dst, dst_strides,
                                      count, stride_levels, flag, value, proc);
}
extern decltype(ARMCI_PutS_flag_dir) ARMCI_PutS_flag_dir
    [[gnu::weak, gnu::alias("PARMCI_PutS_flag_dir")]];

int parmci_notify(int proc) {
  return armci::call_for("armci_notify", -1, [&](Session& session) -> Result<int> {
    TESSERA_RETURN_IF_ERROR(armci::check_process(session.job, proc));
    TESSERA_ASSIGN_OR_RETURN(const std::uint64_t sent, notify(session.job, WorldRank{proc}));
    return armci::as_int(sent);
  });
}
extern decltype(armci_notify) armci_notify [[gnu::weak, gnu::alias("parmci_notify")]];

int parmci_notify_wait(int proc, int* waited) {
  return armci::call_for("armci_notify_wait", -1, [&](Session& session) -> Result<int> {
    TESSERA_RETURN_IF_ERROR(armci::check_process(session.job, proc));
    std::uint64_t wanted = 0;
    {
      const std::lock_guard guard(session.notified_mutex);
      wanted = ++session.notified[proc];
    }
    TESSERA_ASSIGN_OR_RETURN(const std::uint64_t received,
                             wait_for_notifications(session.job, WorldRank{proc}, wanted));
    if (waited != nullptr) {
      *waited = armci::as_int(wanted);
    }
    return armci::as_int(received);
  });
}
extern decltype(armci_notify_wait) armci_notify_wait
    [[gnu::weak, gnu::alias("parmci_notify_wait")]];

}  // extern "C"
