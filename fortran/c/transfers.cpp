// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "arrays/array_base.hpp"
#include "arrays/gather.hpp"
#include "fortran/c/arrays.h"
#include "fortran/detail/arguments.hpp"
#include "fortran/detail/call.hpp"
#include "fortran/detail/handles.hpp"
#include "fortran/detail/patches.hpp"
#include "fortran/detail/pending.hpp"

namespace tessera::capi {
namespace {

using arrays::ArrayBase;
using arrays::Box;
using arrays::ElementField;
using arrays::Extents;
using arrays::LocalBuffer;
using arrays::Section;
using arrays::Transfer;
using rma::Code;
using rma::Handle;
using rma::Result;
using rma::Status;

/// The arguments of each transfer: its box, and local memory.
struct TransferArguments {
  const std::int64_t* lo;
  const std::int64_t* hi;
  const void* memory;
  const std::int64_t* strides;
};

LocalBuffer buffer(const TransferArguments& asked, const Extents& extents) {
  return local_buffer(asked.memory, asked.strides, extents);
}

/// The factor of an accumulate to elements of `type`: one if `alpha` is null.
rma::Scale scale_of(rma::ElementType type, const void* alpha) {
  if (alpha == nullptr) {
    return rma::Scale::one(type);
  }
  return rma::dispatch(type, [&]<class T>(rma::Tag<T>) {
    T factor;
    std::memcpy(&factor, alpha, sizeof factor);
    return rma::Scale::of(factor);
  });
}

/// Errors: invalid_argument for opaque elements.
Result<Transfer> accumulate_to(const ArrayBase& array, const void* alpha) {
  if (!array.element().type) {
    return Status::error(Code::invalid_argument,
                         "accumulate to " + array.describe() +
                             ": its elements are opaque and cannot be added")
        .hint("create the array with one of the element types TESSERA_I32 to TESSERA_U64");
  }
  return Transfer::accumulate(scale_of(*array.element().type, alpha));
}

/// An accumulate of elements of `type` by an operation without a factor.
Result<Transfer> combine_by(tessera_accumulate_op op, rma::ElementType type) {
  if (op < 0 || op >= rma::accumulate_op_count) {
    return Status::error(Code::invalid_argument, "accumulate by operation " + std::to_string(op) +
                                                     ", which does not exist");
  }
  return Transfer::accumulate(rma::Scale::by(static_cast<rma::AccumulateOp>(op), type));
}

/// The same for all elements. Errors: also invalid_argument for opaque ones.
Result<Transfer> combine_with(const ArrayBase& array, tessera_accumulate_op op) {
  TESSERA_RETURN_IF_ERROR(accumulate_to(array, nullptr).status());
  return combine_by(op, *array.element().type);
}

Status transfer(const ArrayBase& array, const TransferArguments& asked,
                const Result<Transfer>& kind) {
  TESSERA_RETURN_IF_ERROR(kind.status());
  TESSERA_ASSIGN_OR_RETURN(const Box box, box_of(array.extents(), asked.lo, asked.hi));
  return array.transfer(box, buffer(asked, box.extents()), *kind);
}

Status transfer_async(const ArrayBase& array, const TransferArguments& asked,
                      const Result<Transfer>& kind, tessera_handle** handle) {
  TESSERA_RETURN_IF_ERROR(required(handle, "handle"));
  TESSERA_RETURN_IF_ERROR(check_transfers_handle(handle));
  TESSERA_RETURN_IF_ERROR(kind.status());
  TESSERA_ASSIGN_OR_RETURN(const Box box, box_of(array.extents(), asked.lo, asked.hi));
  return wait_or_add(array.job(), array.transfer_async(box, buffer(asked, box.extents()), *kind),
                     handle);
}

Status transfer_section(const ArrayBase& array, const TransferArguments& asked,
                        const std::int64_t* steps, const Result<Transfer>& kind,
                        tessera_handle** handle) {
  TESSERA_RETURN_IF_ERROR(check_transfers_handle(handle));
  TESSERA_RETURN_IF_ERROR(kind.status());
  TESSERA_RETURN_IF_ERROR(required(steps, "steps"));
  TESSERA_ASSIGN_OR_RETURN(const Box box, box_of(array.extents(), asked.lo, asked.hi));
  const Section section(box, list_of<Extents>(steps, array.ndims()));
  return wait_or_add(
      array.job(), array.transfer_async(section, buffer(asked, section.extents()), *kind), handle);
}

Status transfer_periodic(const ArrayBase& array, const TransferArguments& asked,
                         std::int64_t periodic, const Result<Transfer>& kind,
                         tessera_handle** handle) {
  TESSERA_RETURN_IF_ERROR(check_transfers_handle(handle));
  TESSERA_RETURN_IF_ERROR(kind.status());
  TESSERA_ASSIGN_OR_RETURN(const auto dims,
                           dims_of(periodic, array.ndims(), "the set of periodic dimensions"));
  TESSERA_ASSIGN_OR_RETURN(const Box box, box_of(array.extents(), asked.lo, asked.hi));
  return wait_or_add(
      array.job(),
      array.transfer_async(arrays::periodic(box, dims), buffer(asked, box.extents()), *kind),
      handle);
}

Status transfer_field(const ArrayBase& array, const TransferArguments& asked,
                      const std::array<std::int64_t, 2>& offset_and_bytes,
                      const Result<Transfer>& kind, tessera_handle** handle) {
  TESSERA_RETURN_IF_ERROR(check_transfers_handle(handle));
  TESSERA_RETURN_IF_ERROR(kind.status());
  for (const std::int64_t number : offset_and_bytes) {
    TESSERA_RETURN_IF_ERROR(check_count(number, "bytes as the offset or size of a field"));
  }
  TESSERA_ASSIGN_OR_RETURN(const Box box, box_of(array.extents(), asked.lo, asked.hi));
  const ElementField field{static_cast<std::size_t>(offset_and_bytes[0]),
                           static_cast<std::size_t>(offset_and_bytes[1])};
  return wait_or_add(
      array.job(),
      array.transfer_async(arrays::FieldBox{box, field}, buffer(asked, box.extents()), *kind),
      handle);
}

Status transfer_element(const ArrayBase& array, const std::int64_t* index, const void* value,
                        const Transfer& kind) {
  const auto at = index_of(array.extents(), index);
  if (!at.ok()) {
    return Status(at.status()).context(array.describe());
  }
  return array.transfer(Box::at(*at), arrays::ContiguousMemory{const_cast<void*>(value), 1}, kind);
}

Status transfer_list(const ArrayBase& array, std::int64_t count, const std::int64_t* places,
                     const void* values, const Result<Transfer>& kind) {
  TESSERA_RETURN_IF_ERROR(kind.status());
  TESSERA_ASSIGN_OR_RETURN(const auto listed, index_list(array.ndims(), count, places));
  return transfer_elements(array, listed, const_cast<void*>(values), count, *kind);
}

/// Waits, and sets the handle to null; a null handle does nothing.
Status wait(tessera_handle** handle) {
  TESSERA_RETURN_IF_ERROR(required(handle, "handle"));
  if (*handle == nullptr) {
    return {};
  }
  TESSERA_RETURN_IF_ERROR(check_pending(*handle));
  const std::unique_ptr<tessera_handle> ended(std::exchange(*handle, nullptr));
  return ended->transfers.wait();
}

Status wait_for_all(std::int64_t count, tessera_handle** handles) {
  TESSERA_RETURN_IF_ERROR(check_count(count, "handles"));
  if (count > 0) {
    TESSERA_RETURN_IF_ERROR(required(handles, "handles"));
  }
  Status first;
  for (std::int64_t i = 0; i < count; ++i) {
    Status status = wait(&handles[i]);
    first = first.ok() ? std::move(status) : std::move(first);
  }
  return first;
}

Status detach(tessera_handle** handle) {
  TESSERA_RETURN_IF_ERROR(required(handle, "handle"));
  if (*handle == nullptr) {
    return {};
  }
  TESSERA_RETURN_IF_ERROR(check_pending(*handle));
  const std::unique_ptr<tessera_handle> given(std::exchange(*handle, nullptr));
  given->transfers.detach();
  return {};
}

}  // namespace

extern "C" {

int tessera_array_put(const tessera_array* array, const int64_t lo[], const int64_t hi[],
                      const void* from, const int64_t strides[]) {
  return call_on(__func__, array, [&](const ArrayBase& to) {
    return transfer(to, {lo, hi, from, strides}, Transfer::put());
  });
}

int tessera_array_get(const tessera_array* array, const int64_t lo[], const int64_t hi[], void* to,
                      const int64_t strides[]) {
  return call_on(__func__, array, [&](const ArrayBase& from) {
    return transfer(from, {lo, hi, to, strides}, Transfer::get());
  });
}

int tessera_array_accumulate(const tessera_array* array, const int64_t lo[], const int64_t hi[],
                             const void* from, const int64_t strides[], const void* alpha) {
  return call_on(__func__, array, [&](const ArrayBase& to) {
    return transfer(to, {lo, hi, from, strides}, accumulate_to(to, alpha));
  });
}

int tessera_array_put_async(const tessera_array* array, const int64_t lo[], const int64_t hi[],
                            const void* from, const int64_t strides[], tessera_handle** handle) {
  return call_on(__func__, array, [&](const ArrayBase& to) {
    return transfer_async(to, {lo, hi, from, strides}, Transfer::put(), handle);
  });
}

int tessera_array_get_async(const tessera_array* array, const int64_t lo[], const int64_t hi[],
                            void* to, const int64_t strides[], tessera_handle** handle) {
  return call_on(__func__, array, [&](const ArrayBase& from) {
    return transfer_async(from, {lo, hi, to, strides}, Transfer::get(), handle);
  });
}

int tessera_array_accumulate_async(const tessera_array* array, const int64_t lo[],
                                   const int64_t hi[], const void* from, const int64_t strides[],
                                   const void* alpha, tessera_handle** handle) {
  return call_on(__func__, array, [&](const ArrayBase& to) {
    return transfer_async(to, {lo, hi, from, strides}, accumulate_to(to, alpha), handle);
  });
}

int tessera_array_accumulate_by(const tessera_array* array, const int64_t lo[], const int64_t hi[],
                                tessera_accumulate_op op, const void* from, const int64_t strides[],
                                tessera_handle** handle) {
  return call_on(__func__, array, [&](const ArrayBase& to) {
    const TransferArguments asked{lo, hi, from, strides};
    return handle == nullptr ? transfer(to, asked, combine_with(to, op))
                             : transfer_async(to, asked, combine_with(to, op), handle);
  });
}

int tessera_handle_wait(tessera_handle** handle) {
  return call(__func__, [&] { return wait(handle); });
}

int tessera_handle_wait_all(int64_t count, tessera_handle* handles[]) {
  return call(__func__, [&] { return wait_for_all(count, handles); });
}

int tessera_handle_test(tessera_handle* handle, int* done) {
  return call(__func__, [&]() -> Status {
    TESSERA_RETURN_IF_ERROR(required(done, "result"));
    if (handle != nullptr) {
      TESSERA_RETURN_IF_ERROR(check_pending(handle));
    }
    *done = handle == nullptr || handle->transfers.done() ? 1 : 0;
    return {};
  });
}

int tessera_handle_detach(tessera_handle** handle) {
  return call(__func__, [&] { return detach(handle); });
}

int tessera_array_put_section(const tessera_array* array, const int64_t lo[], const int64_t hi[],
                              const int64_t steps[], const void* from, const int64_t strides[],
                              tessera_handle** handle) {
  return call_on(__func__, array, [&](const ArrayBase& to) {
    return transfer_section(to, {lo, hi, from, strides}, steps, Transfer::put(), handle);
  });
}

int tessera_array_get_section(const tessera_array* array, const int64_t lo[], const int64_t hi[],
                              const int64_t steps[], void* to, const int64_t strides[],
                              tessera_handle** handle) {
  return call_on(__func__, array, [&](const ArrayBase& from) {
    return transfer_section(from, {lo, hi, to, strides}, steps, Transfer::get(), handle);
  });
}

int tessera_array_accumulate_section(const tessera_array* array, const int64_t lo[],
                                     const int64_t hi[], const int64_t steps[], const void* from,
                                     const int64_t strides[], const void* alpha,
                                     tessera_handle** handle) {
  return call_on(__func__, array, [&](const ArrayBase& to) {
    return transfer_section(to, {lo, hi, from, strides}, steps, accumulate_to(to, alpha), handle);
  });
}

int tessera_array_accumulate_section_by(const tessera_array* array, const int64_t lo[],
                                        const int64_t hi[], const int64_t steps[],
                                        tessera_accumulate_op op, const void* from,
                                        const int64_t strides[], tessera_handle** handle) {
  return call_on(__func__, array, [&](const ArrayBase& to) {
    return transfer_section(to, {lo, hi, from, strides}, steps, combine_with(to, op), handle);
  });
}

int tessera_array_put_periodic(const tessera_array* array, const int64_t lo[], const int64_t hi[],
                               int64_t periodic, const void* from, const int64_t strides[],
                               tessera_handle** handle) {
  return call_on(__func__, array, [&](const ArrayBase& to) {
    return transfer_periodic(to, {lo, hi, from, strides}, periodic, Transfer::put(), handle);
  });
}

int tessera_array_get_periodic(const tessera_array* array, const int64_t lo[], const int64_t hi[],
                               int64_t periodic, void* to, const int64_t strides[],
                               tessera_handle** handle) {
  return call_on(__func__, array, [&](const ArrayBase& from) {
    return transfer_periodic(from, {lo, hi, to, strides}, periodic, Transfer::get(), handle);
  });
}

int tessera_array_accumulate_periodic(const tessera_array* array, const int64_t lo[],
                                      const int64_t hi[], int64_t periodic, const void* from,
                                      const int64_t strides[], const void* alpha,
                                      tessera_handle** handle) {
  return call_on(__func__, array, [&](const ArrayBase& to) {
    return transfer_periodic(to, {lo, hi, from, strides}, periodic, accumulate_to(to, alpha),
                             handle);
  });
}

int tessera_array_accumulate_periodic_by(const tessera_array* array, const int64_t lo[],
                                         const int64_t hi[], int64_t periodic,
                                         tessera_accumulate_op op, const void* from,
                                         const int64_t strides[], tessera_handle** handle) {
  return call_on(__func__, array, [&](const ArrayBase& to) {
    return transfer_periodic(to, {lo, hi, from, strides}, periodic, combine_with(to, op), handle);
  });
}

int tessera_array_put_field(const tessera_array* array, const int64_t lo[], const int64_t hi[],
                            int64_t offset, int64_t bytes, const void* from,
                            const int64_t strides[], tessera_handle** handle) {
  return call_on(__func__, array, [&](const ArrayBase& to) {
    return transfer_field(to, {lo, hi, from, strides}, {offset, bytes}, Transfer::put(), handle);
  });
}

int tessera_array_get_field(const tessera_array* array, const int64_t lo[], const int64_t hi[],
                            int64_t offset, int64_t bytes, void* to, const int64_t strides[],
                            tessera_handle** handle) {
  return call_on(__func__, array, [&](const ArrayBase& from) {
    return transfer_field(from, {lo, hi, to, strides}, {offset, bytes}, Transfer::get(), handle);
  });
}

int tessera_array_accumulate_field(const tessera_array* array, const int64_t lo[],
                                   const int64_t hi[], int64_t offset, tessera_type type,
                                   const void* from, const int64_t strides[], const void* alpha,
                                   tessera_handle** handle) {
  return call_on(__func__, array, [&](const ArrayBase& to) -> Status {
    TESSERA_ASSIGN_OR_RETURN(const rma::ElementType known, element_type(type));
    return transfer_field(to, {lo, hi, from, strides},
                          {offset, static_cast<std::int64_t>(rma::size_of(known))},
                          Transfer::accumulate(scale_of(known, alpha)), handle);
  });
}

int tessera_array_accumulate_field_by(const tessera_array* array, const int64_t lo[],
                                      const int64_t hi[], int64_t offset, tessera_type type,
                                      tessera_accumulate_op op, const void* from,
                                      const int64_t strides[], tessera_handle** handle) {
  return call_on(__func__, array, [&](const ArrayBase& to) -> Status {
    TESSERA_ASSIGN_OR_RETURN(const rma::ElementType known, element_type(type));
    return transfer_field(to, {lo, hi, from, strides},
                          {offset, static_cast<std::int64_t>(rma::size_of(known))},
                          combine_by(op, known), handle);
  });
}

int tessera_array_put_element(const tessera_array* array, const int64_t index[],
                              const void* value) {
  return call_on(__func__, array, [&](const ArrayBase& to) {
    return transfer_element(to, index, value, Transfer::put());
  });
}

int tessera_array_get_element(const tessera_array* array, const int64_t index[], void* value) {
  return call_on(__func__, array, [&](const ArrayBase& from) {
    return transfer_element(from, index, value, Transfer::get());
  });
}

int tessera_array_gather(const tessera_array* array, int64_t count, const int64_t places[],
                         void* values) {
  return call_on(__func__, array, [&](const ArrayBase& from) {
    return transfer_list(from, count, places, values, Transfer::get());
  });
}

int tessera_array_scatter(const tessera_array* array, int64_t count, const int64_t places[],
                          const void* values) {
  return call_on(__func__, array, [&](const ArrayBase& to) {
    return transfer_list(to, count, places, values, Transfer::put());
  });
}

int tessera_array_scatter_accumulate(const tessera_array* array, int64_t count,
                                     const int64_t places[], const void* values,
                                     const void* alpha) {
  return call_on(__func__, array, [&](const ArrayBase& to) {
    return transfer_list(to, count, places, values, accumulate_to(to, alpha));
  });
}

int tessera_array_scatter_accumulate_by(const tessera_array* array, int64_t count,
                                        const int64_t places[], tessera_accumulate_op op,
                                        const void* values) {
  return call_on(__func__, array, [&](const ArrayBase& to) {
    return transfer_list(to, count, places, values, combine_with(to, op));
  });
}

int tessera_array_fence(const tessera_array* array) {
  return call_on(__func__, array, [](const ArrayBase& to) { return to.fence(); });
}

int tessera_array_sync(const tessera_array* array) {
  return call_on(__func__, array, [](const ArrayBase& all) { return all.sync(); });
}

}  // extern "C"

}  // namespace tessera::capi
