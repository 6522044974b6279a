// SPDX-License-Identifier: BSD-3-Clause
//
// Notifications, and flags in arrays.
#include <cstdint>
#include <limits>
#include <utility>

#include "arrays/array_base.hpp"
#include "arrays/flags.hpp"
#include "fortran/c/arrays.h"
#include "fortran/c/job.h"
#include "fortran/detail/arguments.hpp"
#include "fortran/detail/call.hpp"
#include "fortran/detail/flags.hpp"
#include "fortran/detail/handles.hpp"
#include "rma/notify.hpp"

namespace tessera::capi {

using arrays::ArrayBase;
using arrays::Box;
using arrays::Flag;
using rma::Job;
using rma::Status;

extern "C" {

int tessera_array_raise_flag(const tessera_array* flags, const int64_t index[], int32_t value) {
  return call_on(__func__, flags, [&](const ArrayBase& of) -> Status {
    TESSERA_ASSIGN_OR_RETURN(const Flag flag, flag_of(of, index));
    return raise_flag(flag, value);
  });
}

int tessera_array_put_with_flag(const tessera_array* array, const int64_t lo[], const int64_t hi[],
                                const void* from, const int64_t strides[],
                                const tessera_array* flags, const int64_t index[], int32_t value) {
  return call_on(__func__, array, [&](const ArrayBase& to) -> Status {
    TESSERA_ASSIGN_OR_RETURN(const ArrayBase* const of, open_array(flags));
    TESSERA_ASSIGN_OR_RETURN(const Box box, box_of(to.extents(), lo, hi));
    TESSERA_ASSIGN_OR_RETURN(const Flag flag, flag_of(*of, index));
    return put_with_flag(to, box, local_buffer(from, strides, box.extents()), flag, value);
  });
}

int tessera_array_wait_for_flag(const tessera_array* flags, const int64_t index[], int32_t value,
                                int64_t writer) {
  return call_on(__func__, flags, [&](const ArrayBase& own) -> Status {
    TESSERA_ASSIGN_OR_RETURN(const Flag flag, flag_of(own, index));
    TESSERA_ASSIGN_OR_RETURN(const auto member, team_rank(writer, own.team().size()));
    return wait_for_flag(flag, value, member);
  });
}

int tessera_array_wait_for_flag_change(const tessera_array* flags, const int64_t index[],
                                       int32_t value, int64_t writer, int32_t* now) {
  return call_on(__func__, flags, [&](const ArrayBase& own) -> Status {
    TESSERA_RETURN_IF_ERROR(required(now, "result"));
    TESSERA_ASSIGN_OR_RETURN(const Flag flag, flag_of(own, index));
    TESSERA_ASSIGN_OR_RETURN(const auto member, team_rank(writer, own.team().size()));
    TESSERA_ASSIGN_OR_RETURN(*now, wait_for_flag_change(flag, value, member));
    return {};
  });
}

int tessera_job_notify(const tessera_job* job, int64_t rank, int64_t* sent) {
  return call_on(__func__, job, [&](Job& running) -> Status {
    TESSERA_ASSIGN_OR_RETURN(const auto to, world_rank(rank, running.size()));
    TESSERA_ASSIGN_OR_RETURN(const std::uint64_t count, rma::notify(running, to));
    set_if_given(static_cast<std::int64_t>(count), sent);
    return {};
  });
}

int tessera_job_wait_for_notifications(const tessera_job* job, int64_t rank, int64_t count,
                                       int64_t* received) {
  return call_on(__func__, job, [&](Job& running) -> Status {
    TESSERA_ASSIGN_OR_RETURN(const auto from, world_rank(rank, running.size()));
    TESSERA_RETURN_IF_ERROR(check_count(count, "notifications"));
    TESSERA_ASSIGN_OR_RETURN(
        const std::uint64_t so_far,
        rma::wait_for_notifications(running, from, static_cast<std::uint64_t>(count)));
    set_if_given(static_cast<std::int64_t>(so_far), received);
    return {};
  });
}

}  // extern "C"

}  // namespace tessera::capi
