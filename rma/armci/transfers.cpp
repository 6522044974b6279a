// SPDX-License-Identifier: BSD-3-Clause
//
// Blocking transfers: contiguous, strided and of vectors.
#include "rma/armci/arguments.hpp"
#include "rma/armci/armcix.h"
#include "rma/armci/call.hpp"
#include "rma/armci/parmci.h"

namespace armci = tessera::rma::armci;
using armci::Session;
using armci::TransferDirection;
using tessera::rma::RawAddress;
using tessera::rma::Scale;
using tessera::rma::Status;
using tessera::rma::WorldRank;

extern "C" {

int PARMCI_Put(void* src, void* dst, int bytes, int proc) {
  return armci::call("ARMCI_Put", [&](Session& session) -> Status {
    TESSERA_RETURN_IF_ERROR(armci::check_bytes(bytes));
    return put(session.job, RawAddress{WorldRank{proc}, dst}, src, armci::as_size(bytes));
  });
}
extern decltype(ARMCI_Put) ARMCI_Put [[gnu::weak, gnu::alias("PARMCI_Put")]];

int PARMCI_Get(void* src, void* dst, int bytes, int proc) {
  return armci::call("ARMCI_Get", [&](Session& session) -> Status {
    TESSERA_RETURN_IF_ERROR(armci::check_bytes(bytes));
    return get(session.job, RawAddress{WorldRank{proc}, src}, dst, armci::as_size(bytes));
  });
}
extern decltype(ARMCI_Get) ARMCI_Get [[gnu::weak, gnu::alias("PARMCI_Get")]];

int PARMCI_Acc(int optype, void* scale, void* src, void* dst, int bytes, int proc) {
  return armci::call("ARMCI_Acc", [&](Session& session) -> Status {
    TESSERA_RETURN_IF_ERROR(armci::check_bytes(bytes));
    if (optype == ARMCI_ACC_DBL && scale != nullptr) [[likely]] {
      return accumulate(session.job, RawAddress{WorldRank{proc}, dst}, src, armci::as_size(bytes),
                        armci::double_scale(scale));
    }
    TESSERA_ASSIGN_OR_RETURN(const Scale factor, armci::scale_of(optype, scale));
    return accumulate(session.job, RawAddress{WorldRank{proc}, dst}, src, armci::as_size(bytes),
                      factor);
  });
}
extern decltype(ARMCI_Acc) ARMCI_Acc [[gnu::weak, gnu::alias("PARMCI_Acc")]];

int PARMCI_PutS(void* src, int src_strides[], void* dst, int dst_strides[], int count[],
                int stride_levels, int proc) {
  return armci::call("ARMCI_PutS", [&](Session& session) -> Status {
    TESSERA_ASSIGN_OR_RETURN(const auto shape,
                             armci::shape_of(TransferDirection::to_remote, src_strides, dst_strides,
                                             count, stride_levels));
    return put(session.job, RawAddress{WorldRank{proc}, dst}, src, shape);
  });
}
extern decltype(ARMCI_PutS) ARMCI_PutS [[gnu::weak, gnu::alias("PARMCI_PutS")]];

int PARMCI_GetS(void* src, int src_strides[], void* dst, int dst_strides[], int count[],
                int stride_levels, int proc) {
  return armci::call("ARMCI_GetS", [&](Session& session) -> Status {
    TESSERA_ASSIGN_OR_RETURN(
        const auto shape, armci::shape_of(TransferDirection::from_remote, src_strides, dst_strides,
                                          count, stride_levels));
    return get(session.job, RawAddress{WorldRank{proc}, src}, dst, shape);
  });
}
extern decltype(ARMCI_GetS) ARMCI_GetS [[gnu::weak, gnu::alias("PARMCI_GetS")]];

int PARMCI_AccS(int optype, void* scale, void* src, int src_strides[], void* dst, int dst_strides[],
                int count[], int stride_levels, int proc) {
  return armci::call("ARMCI_AccS", [&](Session& session) -> Status {
    TESSERA_ASSIGN_OR_RETURN(const Scale factor, armci::scale_of(optype, scale));
    TESSERA_ASSIGN_OR_RETURN(const auto shape,
                             armci::shape_of(TransferDirection::to_remote, src_strides, dst_strides,
                                             count, stride_levels));
    return accumulate(session.job, RawAddress{WorldRank{proc}, dst}, src, shape, factor);
  });
}
extern decltype(ARMCI_AccS) ARMCI_AccS [[gnu::weak, gnu::alias("PARMCI_AccS")]];

int PARMCI_PutV(armci_giov_t sets[], int len, int proc) {
  return armci::call("ARMCI_PutV", [&](Session& session) -> Status {
    TESSERA_ASSIGN_OR_RETURN(const auto lists,
                             armci::lists_of(TransferDirection::to_remote, sets, len));
    return put(session.job, WorldRank{proc}, lists);
  });
}
extern decltype(ARMCI_PutV) ARMCI_PutV [[gnu::weak, gnu::alias("PARMCI_PutV")]];

int PARMCI_GetV(armci_giov_t sets[], int len, int proc) {
  return armci::call("ARMCI_GetV", [&](Session& session) -> Status {
    TESSERA_ASSIGN_OR_RETURN(const auto lists,
                             armci::lists_of(TransferDirection::from_remote, sets, len));
    return get(session.job, WorldRank{proc}, lists);
  });
}
extern decltype(ARMCI_GetV) ARMCI_GetV [[gnu::weak, gnu::alias("PARMCI_GetV")]];

int PARMCI_AccV(int optype, void* scale, armci_giov_t sets[], int len, int proc) {
  return armci::call("ARMCI_AccV", [&](Session& session) -> Status {
    TESSERA_ASSIGN_OR_RETURN(const Scale factor, armci::scale_of(optype, scale));
    TESSERA_ASSIGN_OR_RETURN(const auto lists,
                             armci::lists_of(TransferDirection::to_remote, sets, len));
    return accumulate(session.job, WorldRank{proc}, lists, factor);
  });
}
extern decltype(ARMCI_AccV) ARMCI_AccV [[gnu::weak, gnu::alias("PARMCI_AccV")]];

void armci_write_strided(void* ptr, int stride_levels, int strides[], int count[], char* buf) {
  armci::call("armci_write_strided", [&](Session& session) -> Status {
    TESSERA_ASSIGN_OR_RETURN(const auto shape,
                             armci::packed_shape_of(strides, count, stride_levels));
    return get(session.job, RawAddress{session.job.rank(), ptr}, buf, shape);
  });
}

void armci_read_strided(void* ptr, int stride_levels, int strides[], int count[], char* buf) {
  armci::call("armci_read_strided", [&](Session& session) -> Status {
    TESSERA_ASSIGN_OR_RETURN(const auto shape,
                             armci::packed_shape_of(strides, count, stride_levels));
    return put(session.job, RawAddress{session.job.rank(), ptr}, buf, shape);
  });
}

int ARMCIX_PutV_dscr(armci_giov_t* sets, int len, int proc) {
  return PARMCI_PutV(sets, len, proc);
}
int ARMCIX_GetV_dscr(armci_giov_t* sets, int len, int proc) {
  return PARMCI_GetV(sets, len, proc);
}

}  // extern "C"
