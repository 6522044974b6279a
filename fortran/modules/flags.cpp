// SPDX-License-Identifier: BSD-3-Clause
//
// Notifications, and flags in arrays.
#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <string_view>

#include "fortran/c/arrays.h"
#include "fortran/c/job.h"
#include "fortran/detail/cells.hpp"
#include "fortran/detail/descriptors.hpp"
#include "fortran/detail/flags.hpp"

namespace tessera::fapi {
namespace {

using arrays::ArrayBase;
using rma::Code;
using rma::Result;
using rma::Status;

Result<std::int32_t> value_of(const Descriptor* given) {
  TESSERA_ASSIGN_OR_RETURN(const Numbers value, integers_of(given, 1, "value", "a flag"));
  using Word = std::numeric_limits<std::int32_t>;
  if (value[0] < Word::min() || value[0] > Word::max()) {
    return Status::error(Code::invalid_argument,
                         fmt::format("value is {}; flags have 32 bits", value[0]));
  }
  return static_cast<std::int32_t>(value[0]);
}

/// A flag for C, and a value.
struct Flag {
  const tessera_array* array = nullptr;
  Numbers index;
  std::int32_t value = 0;
};

/// Errors: those of the index and the value; those of find(flag), which locates the flag.
template <class Find>
Status take_flag(const Cell* cell, const Descriptor* index, const Descriptor* value,
                 std::string_view verb, Flag& flag, const Find& find) {
  TESSERA_ASSIGN_OR_RETURN(flag.array, open<tessera_array>(cell));
  const ArrayBase& array = capi::array_of(flag.array);
  const auto take = [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(flag.index, index_of(array, index));
    TESSERA_ASSIGN_OR_RETURN(flag.value, value_of(value));
    TESSERA_ASSIGN_OR_RETURN(const arrays::Flag found, capi::flag_of(array, flag.index.data()));
    return find(found).status();
  };
  return take().context(fmt::format("{} a flag of {}", verb, describe(array)));
}

Status take_flag_to_raise(const Cell* cell, const Descriptor* index, const Descriptor* value,
                          Flag& flag) {
  return take_flag(cell, index, value, "raising", flag, arrays::locate_flag);
}
Status take_own_flag(const Cell* cell, const Descriptor* index, const Descriptor* value,
                     Flag& flag) {
  return take_flag(cell, index, value, "waiting for", flag, arrays::locate_own_flag);
}

/// Writes a number to an optional argument, whose size was checked before.
int write_number(const char* name, std::string_view what, std::int64_t number, Descriptor* to) {
  return to == nullptr
             ? TESSERA_OK
             : capi::call(name, [&] { return write_integers(Numbers{number}, to, what); });
}

}  // namespace

extern "C" {

int tessera_f_raise_flag(const Cell* cell, const Descriptor* index, const Descriptor* value) {
  Flag flag;
  return run(
      "tessera_array%raise_flag", [&] { return take_flag_to_raise(cell, index, value, flag); },
      [&] { return tessera_array_raise_flag(flag.array, flag.index.data(), flag.value); });
}

int tessera_f_put_with_flag(const Cell* cell, const Descriptor* lo, const Descriptor* hi,
                            const Descriptor* buffer, const Cell* flags, const Descriptor* index,
                            const Descriptor* value) {
  const tessera_array* array = nullptr;
  Bounds box;
  Memory memory;
  Flag flag;
  const auto take = [&](const ArrayBase& to) -> Status {
    TESSERA_ASSIGN_OR_RETURN(box, bounds_of(to, lo, hi));
    Numbers extents;
    for (std::size_t dim = 0; dim < static_cast<std::size_t>(to.ndims()); ++dim) {
      extents.push_back(box.hi[dim] - box.lo[dim]);
    }
    TESSERA_ASSIGN_OR_RETURN(memory, memory_of(to.element(), extents, buffer, "the buffer"));
    return {};
  };
  const auto prepare = [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(array, open<tessera_array>(cell));
    const ArrayBase& to = capi::array_of(array);
    TESSERA_RETURN_IF_ERROR(take(to).context("put to " + describe(to)));
    return take_flag_to_raise(flags, index, value, flag);
  };
  return run("tessera_array%put_with_flag", prepare, [&] {
    return tessera_array_put_with_flag(array, box.lo.data(), box.hi.data(), memory.data,
                                       memory.strides.data(), flag.array, flag.index.data(),
                                       flag.value);
  });
}

int tessera_f_wait_for_flag(const Cell* cell, const Descriptor* index, const Descriptor* value,
                            int64_t writer) {
  Flag flag;
  return run(
      "tessera_array%wait_for_flag", [&] { return take_own_flag(cell, index, value, flag); },
      [&] {
        return tessera_array_wait_for_flag(flag.array, flag.index.data(), flag.value, writer);
      });
}

int tessera_f_wait_for_flag_change(const Cell* cell, const Descriptor* index,
                                   const Descriptor* value, int64_t writer, Descriptor* now) {
  const char* const name = "tessera_array%wait_for_flag_change";
  Flag flag;
  std::int32_t seen = 0;
  const auto prepare = [&]() -> Status {
    TESSERA_RETURN_IF_ERROR(take_own_flag(cell, index, value, flag));
    return check_room(now, 1, "now");  // checked before the wait
  };
  const int code = run(name, prepare, [&] {
    return tessera_array_wait_for_flag_change(flag.array, flag.index.data(), flag.value, writer,
                                              &seen);
  });
  return code != TESSERA_OK ? code : write_number(name, "now", seen, now);
}

int tessera_f_job_notify(const Cell* cell, int64_t rank, Descriptor* sent) {
  const char* const name = "tessera_job%notify";
  tessera_job* job = nullptr;
  std::int64_t number = 0;
  const auto prepare = [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(job, open<tessera_job>(cell));
    return sent == nullptr ? Status() : check_room(sent, 1, "sent");
  };
  const int code = run(name, prepare, [&] { return tessera_job_notify(job, rank, &number); });
  return code != TESSERA_OK ? code : write_number(name, "sent", number, sent);
}

int tessera_f_job_wait_for_notifications(const Cell* cell, int64_t rank, const Descriptor* count,
                                         Descriptor* received) {
  const char* const name = "tessera_job%wait_for_notifications";
  tessera_job* job = nullptr;
  Numbers wanted;
  std::int64_t number = 0;
  const auto prepare = [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(job, open<tessera_job>(cell));
    TESSERA_ASSIGN_OR_RETURN(wanted, integers_of(count, 1, "count", "a number of notifications"));
    return received == nullptr ? Status() : check_room(received, 1, "received");
  };
  const int code = run(name, prepare, [&] {
    return tessera_job_wait_for_notifications(job, rank, wanted[0], &number);
  });
  return code != TESSERA_OK ? code : write_number(name, "received", number, received);
}

}  // extern "C"

}  // namespace tessera::fapi
