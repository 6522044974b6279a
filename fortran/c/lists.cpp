// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

#include "arrays/array.hpp"
#include "arrays/atomic_elements.hpp"
#include "arrays/bins.hpp"
#include "fortran/c/arrays.h"
#include "fortran/c/operations.h"
#include "fortran/detail/arguments.hpp"
#include "fortran/detail/call.hpp"
#include "fortran/detail/collective.hpp"
#include "fortran/detail/handles.hpp"
#include "fortran/detail/operands.hpp"
#include "fortran/detail/patches.hpp"
#include "fortran/detail/pending.hpp"

namespace tessera::capi {
namespace {

using arrays::Array;
using arrays::ArrayBase;
using arrays::BinVector;
using arrays::Index;
using rma::Code;
using rma::Result;
using rma::Status;

Status not_atomic(const ArrayBase& array) {
  return Status::error(Code::invalid_argument,
                       array.describe() + " has elements that do not support atomic operations")
      .hint("atomic operations need integers of 4 or 8 bytes");
}

/// Calls `act`, which changes an element atomically, with an Array<T> and an index; writes the old
/// value to `before`.
template <class Act>
int change(const char* function, const tessera_array* handle, const std::int64_t* index,
           std::initializer_list<const void*> numbers, void* before, const Act& act) {
  return call_on(function, handle, [&](const ArrayBase& array) -> Status {
    TESSERA_RETURN_IF_ERROR(check_numbers(numbers));
    TESSERA_RETURN_IF_ERROR(required(before, "number"));
    const auto at = index_of(array.extents(), index);
    if (!at.ok()) {
      return Status(at.status()).context(array.describe());
    }
    if (!array.element().type) {
      return not_atomic(array);
    }
    return rma::dispatch(*array.element().type, [&]<class T>(Tag<T>) -> Status {
      if constexpr (arrays::AtomicElement<T>) {
        return write_number(act(static_cast<const Array<T>&>(array), *at), before);
      } else {
        return not_atomic(array);
      }
    });
  });
}

/// A list of changes from C.
struct ListedChanges {
  std::int64_t count;
  const std::int64_t* places;
  tessera_atomic_op op;
  const void* operands;
  const void* expected;
  void* before;
};

Status check_changes(const ArrayBase& array, const ListedChanges& asked) {
  if (asked.op < 0 || asked.op >= rma::atomic_op_count) {
    return Status::error(Code::invalid_argument,
                         fmt::format("atomic operation {}, which does not exist", asked.op));
  }
  if (!array.element().type) {
    return not_atomic(array);
  }
  if (asked.count > 0) {
    TESSERA_RETURN_IF_ERROR(required(asked.operands, "operands"));
    TESSERA_RETURN_IF_ERROR(required(asked.before, "before"));
    if (asked.op == TESSERA_ATOMIC_COMPARE_SWAP) {
      TESSERA_RETURN_IF_ERROR(required(asked.expected, "expected values"));
    }
  }
  return {};
}

/// Starts the changes of words of the elements' size.
template <rma::AtomicWord Word>
rma::Handle start_changes(const ArrayBase& array, const arrays::IndexList& indices,
                          const ListedChanges& asked) {
  const auto at = arrays::atomic_addresses(array, indices);
  if (!at.ok()) {
    return rma::Handle::failed(at.status());
  }
  const std::size_t count = at->size();
  const bool compares = asked.op == TESSERA_ATOMIC_COMPARE_SWAP;
  return rma::atomics_async<Word>(
      array.job(), {.op = static_cast<rma::AtomicOp>(asked.op),
                    .at = *at,
                    .operands = {static_cast<const Word*>(asked.operands), count},
                    .previous = {static_cast<Word*>(asked.before), count},
                    .expected = {static_cast<const Word*>(asked.expected), compares ? count : 0}});
}

Status change_listed(const ArrayBase& array, const ListedChanges& asked, tessera_handle** handle) {
  TESSERA_RETURN_IF_ERROR(check_transfers_handle(handle));
  TESSERA_RETURN_IF_ERROR(check_changes(array, asked));
  TESSERA_ASSIGN_OR_RETURN(const auto indices,
                           index_list(array.ndims(), asked.count, asked.places));
  return rma::dispatch(*array.element().type, [&]<class T>(Tag<T>) -> Status {
    if constexpr (arrays::AtomicElement<T>) {
      const bool needs_order = asked.op == TESSERA_ATOMIC_MIN || asked.op == TESSERA_ATOMIC_MAX;
      if (std::is_unsigned_v<T> && needs_order) {
        return Status::error(
            Code::unsupported,
            "atomic minimum and maximum are not for the unsigned elements of " + array.describe());
      }
      using Word = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
      return wait_or_add(array.job(), start_changes<Word>(array, indices, asked), handle);
    } else {
      return not_atomic(array);
    }
  });
}

/// Vectors of bins hold 64-bit integers. Errors: also those of the handle.
Result<BinVector*> bin_vector(const tessera_array* handle) {
  TESSERA_ASSIGN_OR_RETURN(ArrayBase* const array, open_array(handle));
  if (array->element().type != rma::ElementType::i64) {
    return Status::error(Code::invalid_argument,
                         array->describe() + " cannot hold counts or offsets of bins")
        .hint("create it with TESSERA_I64");
  }
  return static_cast<BinVector*>(array);
}

/// The list of bins from C.
Result<std::span<const std::int64_t>> list_of_bins(std::int64_t count, const std::int64_t* bins) {
  TESSERA_RETURN_IF_ERROR(check_count(count, "bins"));
  if (count > 0) {
    TESSERA_RETURN_IF_ERROR(required(bins, "bins"));
  }
  return std::span(bins, static_cast<std::size_t>(count));
}

Status count(const tessera_array* counts, std::int64_t number, const std::int64_t* bins) {
  TESSERA_ASSIGN_OR_RETURN(const BinVector* const vector, bin_vector(counts));
  TESSERA_ASSIGN_OR_RETURN(const auto list, list_of_bins(number, bins));
  return arrays::count_bins(*vector, list);
}

Status set_offsets(const tessera_array* counts, const tessera_array* offsets) {
  TESSERA_ASSIGN_OR_RETURN(ArrayBase* const leader, open_array(offsets));
  const auto to = bin_vector(offsets);
  const auto from = bin_vector(counts);
  TESSERA_RETURN_IF_ERROR(report_to_team(leader->team(), to.ok() ? from.status() : to.status()));
  return arrays::bin_offsets(**from, **to);
}

/// A member's arguments of add_to_bins.
struct BinAddition {
  std::int64_t count;
  const std::int64_t* bins;
  const void* values;
};

Status add(const ArrayBase& contents, const tessera_array* offsets, const tessera_array* filled,
           const BinAddition& addition) {
  TESSERA_ASSIGN_OR_RETURN(const BinVector* const begins, bin_vector(offsets));
  TESSERA_ASSIGN_OR_RETURN(const BinVector* const fills, bin_vector(filled));
  TESSERA_ASSIGN_OR_RETURN(const auto list, list_of_bins(addition.count, addition.bins));
  if (addition.count > 0) {
    TESSERA_RETURN_IF_ERROR(required(addition.values, "values"));
  }
  if (!contents.element().type) {
    return Status::error(Code::invalid_argument,
                         contents.describe() + " has opaque elements, which are only moved");
  }
  return rma::dispatch(*contents.element().type, [&]<class T>(Tag<T>) {
    return arrays::add_to_bins(static_cast<const Array<T>&>(contents), *begins, *fills, list,
                               std::span(static_cast<const T*>(addition.values), list.size()));
  });
}

Status sort(const ArrayBase& contents, const tessera_array* offsets, const tessera_array* counts) {
  const auto begins = bin_vector(offsets);
  const auto sizes = bin_vector(counts);
  Status mine = begins.ok() ? sizes.status() : begins.status();
  const bool has_order = contents.element().type && !rma::is_complex(*contents.element().type);
  if (mine.ok() && !has_order) {
    mine = Status::error(Code::invalid_argument,
                         contents.describe() + " has elements that have no order");
  }
  TESSERA_RETURN_IF_ERROR(report_to_team(contents.team(), std::move(mine)));
  return rma::dispatch(*contents.element().type, [&]<class T>(Tag<T>) -> Status {
    if constexpr (rma::RealElement<T>) {
      return arrays::sort_bins(static_cast<const Array<T>&>(contents), **begins, **sizes);
    } else {
      return Status::error(Code::internal, "complex elements cannot be sorted");
    }
  });
}

}  // namespace

extern "C" {

int tessera_array_fetch_add(const tessera_array* array, const int64_t index[],
                            const void* increment, void* before) {
  return change(__func__, array, index, {increment}, before,
                [&]<class T>(const Array<T>& elements, const Index& at) {
                  return elements.fetch_add(at, number<T>(increment));
                });
}

int tessera_array_swap(const tessera_array* array, const int64_t index[], const void* desired,
                       void* before) {
  return change(__func__, array, index, {desired}, before,
                [&]<class T>(const Array<T>& elements, const Index& at) {
                  return elements.swap(at, number<T>(desired));
                });
}

int tessera_array_compare_swap(const tessera_array* array, const int64_t index[],
                               const void* expected, const void* desired, void* before) {
  return change(__func__, array, index, {expected, desired}, before,
                [&]<class T>(const Array<T>& elements, const Index& at) {
                  return elements.compare_swap(at, number<T>(expected), number<T>(desired));
                });
}

int tessera_array_change_elements(const tessera_array* array, int64_t count, const int64_t places[],
                                  tessera_atomic_op op, const void* operands, const void* expected,
                                  void* before, tessera_handle** handle) {
  return call_on(__func__, array, [&](const ArrayBase& of) {
    return change_listed(of, {count, places, op, operands, expected, before}, handle);
  });
}

int tessera_array_count_bins(const tessera_array* counts, int64_t number, const int64_t bins[]) {
  return call(__func__, [&] { return count(counts, number, bins); });
}

int tessera_array_bin_offsets(const tessera_array* counts, const tessera_array* offsets) {
  return call(__func__, [&] { return set_offsets(counts, offsets); });
}

int tessera_array_add_to_bins(const tessera_array* contents, const tessera_array* offsets,
                              const tessera_array* filled, int64_t number, const int64_t bins[],
                              const void* values) {
  return call_on(__func__, contents, [&](const ArrayBase& elements) {
    return add(elements, offsets, filled, {number, bins, values});
  });
}

int tessera_array_sort_bins(const tessera_array* contents, const tessera_array* offsets,
                            const tessera_array* counts) {
  return call_on(__func__, contents,
                 [&](const ArrayBase& elements) { return sort(elements, offsets, counts); });
}

}  // extern "C"

}  // namespace tessera::capi
