// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include "fortran/c/arrays.h"
#include "fortran/detail/arguments.hpp"
#include "fortran/detail/cells.hpp"
#include "fortran/detail/descriptors.hpp"
#include "fortran/detail/scalars.hpp"

namespace tessera::fapi {
namespace {

using arrays::ArrayBase;
using arrays::ElementKind;
using rma::Code;
using rma::Result;
using rma::Status;

/// Kinds of transfers; the module has the same numbers.
enum class Kind { put, get, accumulate };

/// Kinds after `accumulate` are its other operations.
tessera_accumulate_op op_of(Kind kind) {
  return static_cast<int>(kind) - static_cast<int>(Kind::accumulate);
}

/// A transfer, converted for C.
struct FortranTransferArguments {
  const tessera_array* array = nullptr;
  Bounds box;
  Numbers steps;
  Memory memory;
  Scalar alpha;
};

/// The box's extents, divided by the steps.
Numbers extents_of(const FortranTransferArguments& asked, int ndims) {
  Numbers extents;
  for (std::size_t dim = 0; dim < static_cast<std::size_t>(ndims); ++dim) {
    const std::int64_t length = asked.box.hi[dim] - asked.box.lo[dim];
    const std::int64_t step = asked.steps.empty() ? 1 : asked.steps[dim];
    extents.push_back(length == 0 ? 0 : (length - 1) / step + 1);
  }
  return extents;
}

/// Converts everything except the box and the steps. `kind` is that of the local elements.
Status take_local(const ElementKind& kind, int ndims, const Descriptor* buffer,
                  const Descriptor* alpha, FortranTransferArguments& asked) {
  TESSERA_ASSIGN_OR_RETURN(asked.memory,
                           memory_of(kind, extents_of(asked, ndims), buffer, "the buffer"));
  TESSERA_ASSIGN_OR_RETURN(asked.alpha, scalar_of(kind, alpha, "alpha"));
  return {};
}

Status take_steps(const ArrayBase& array, const Descriptor* steps,
                  FortranTransferArguments& asked) {
  TESSERA_ASSIGN_OR_RETURN(asked.steps, integers_of(steps, array.ndims(), "steps", "the array"));
  for (const std::int64_t step : asked.steps) {
    if (step < 1) {
      return Status::error(
          Code::invalid_argument,
          fmt::format("steps is {}; each must be 1 or more", list_text(asked.steps)));
    }
  }
  std::reverse(asked.steps.begin(), asked.steps.end());
  return {};
}

/// Adds "put to array 'A' …" to the front of a message.
Status explain(Status status, Kind kind, const ArrayBase& array) {
  const std::string_view verb = kind == Kind::put   ? "put to "
                                : kind == Kind::get ? "get from "
                                                    : "accumulate to ";
  return std::move(status).context(std::string(verb) + describe(array));
}

/// Checks the arguments of a transfer by take(array, asked).
template <class Take>
auto prepare(const Cell* cell, Kind kind, FortranTransferArguments& asked, const Take& take) {
  return [cell, kind, &asked, &take]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(asked.array, open<tessera_array>(cell));
    const ArrayBase& array = capi::array_of(asked.array);
    return explain(take(array, asked), kind, array);
  };
}

/// The same for other functions: take(array) checks their arguments.
template <class Take>
auto look_at(const Cell* cell, const tessera_array*& handle, const Take& take) {
  return [cell, &handle, &take]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(handle, open<tessera_array>(cell));
    const ArrayBase& array = capi::array_of(handle);
    return take(array).context(describe(array));
  };
}

const char* name_of(Kind kind) {
  return kind == Kind::put   ? "tessera_array%put"
         : kind == Kind::get ? "tessera_array%get"
                             : "tessera_array%accumulate";
}

int start(Kind kind, const FortranTransferArguments& asked, tessera_handle** handle) {
  const std::int64_t* const lo = asked.box.lo.data();
  const std::int64_t* const hi = asked.box.hi.data();
  const auto& [data, strides] = asked.memory;
  switch (kind) {
    case Kind::put:
      return tessera_array_put_async(asked.array, lo, hi, data, strides.data(), handle);
    case Kind::get:
      return tessera_array_get_async(asked.array, lo, hi, data, strides.data(), handle);
    case Kind::accumulate:
      return tessera_array_accumulate_async(asked.array, lo, hi, data, strides.data(),
                                            asked.alpha.address(), handle);
  }
  return tessera_array_accumulate_by(asked.array, lo, hi, op_of(kind), data, strides.data(),
                                     handle);
}

int finish(Kind kind, const FortranTransferArguments& asked) {
  const std::int64_t* const lo = asked.box.lo.data();
  const std::int64_t* const hi = asked.box.hi.data();
  const auto& [data, strides] = asked.memory;
  switch (kind) {
    case Kind::put:
      return tessera_array_put(asked.array, lo, hi, data, strides.data());
    case Kind::get:
      return tessera_array_get(asked.array, lo, hi, data, strides.data());
    case Kind::accumulate:
      return tessera_array_accumulate(asked.array, lo, hi, data, strides.data(),
                                      asked.alpha.address());
  }
  return tessera_array_accumulate_by(asked.array, lo, hi, op_of(kind), data, strides.data(),
                                     nullptr);
}

/// Indices for C, from a matrix with a column for each element, or a list for a one-dimensional
/// array.
Result<Numbers> indices_of(const ArrayBase& array, const Descriptor* given) {
  const int ndims = array.ndims();
  TESSERA_RETURN_IF_ERROR(check_counted(given, "places"));
  const bool is_list = given->rank == 1 && ndims == 1;
  if (!is_list && (given->rank != 2 || given->dim[0].extent != ndims)) {
    return Status::error(Code::invalid_argument,
                         fmt::format("places must have the shape ({}, number of elements)", ndims));
  }
  // Read as one list of integers.
  Dense dense(*given);
  CFI_CDESC_T(1) flat;
  auto* const list = reinterpret_cast<Descriptor*>(&flat);
  *list = {};
  list->base_addr = dense.data();
  list->elem_len = given->elem_len;
  list->rank = 1;
  list->type = given->type;
  list->dim[0].extent = dense.count();
  list->dim[0].sm = static_cast<CFI_index_t>(given->elem_len);
  TESSERA_ASSIGN_OR_RETURN(Numbers places, integers(list, "places"));
  for (auto place = places.begin(); place != places.end(); place += ndims) {
    const std::span one(&*place, static_cast<std::size_t>(ndims));
    TESSERA_RETURN_IF_ERROR(check_index(array, one));
    std::reverse(one.begin(), one.end());
    for (std::int64_t& number : one) {
      --number;
    }
  }
  return places;
}

/// Numbers for listed elements. Errors: invalid_argument, also for a number of them other than
/// `count`.
Status take_numbers(const ElementKind& kind, const Descriptor* given, std::string_view what,
                    std::int64_t count, std::optional<Dense>& numbers) {
  TESSERA_RETURN_IF_ERROR(check_counted(given, what));
  TESSERA_RETURN_IF_ERROR(check_elements(kind, given, what));
  numbers.emplace(*given);
  return numbers->count() == count ? Status()
                                   : Status::error(Code::invalid_argument,
                                                   fmt::format("{} has {} numbers for {} elements",
                                                               what, numbers->count(), count));
}

/// The arguments of change_elements, converted for C.
struct ListedAtomics {
  Numbers places;
  std::int64_t count = 0;
  std::optional<Dense> operands;
  std::optional<Dense> expected;
  std::optional<Dense> before;
};

}  // namespace

extern "C" {

/// Blocking if `handle` is null, here and below.
int tessera_f_transfer(const Cell* cell, int kind, const Descriptor* lo, const Descriptor* hi,
                       const Descriptor* buffer, const Descriptor* alpha, tessera_handle** handle) {
  const Kind what{kind};
  FortranTransferArguments asked;
  const auto take = [&](const ArrayBase& array, FortranTransferArguments& into) -> Status {
    TESSERA_ASSIGN_OR_RETURN(into.box, bounds_of(array, lo, hi));
    return take_local(array.element(), array.ndims(), buffer, alpha, into);
  };
  return run(name_of(what), prepare(cell, what, asked, take),
             [&] { return handle == nullptr ? finish(what, asked) : start(what, asked, handle); });
}

int tessera_f_transfer_section(const Cell* cell, int kind, const Descriptor* lo,
                               const Descriptor* hi, const Descriptor* steps,
                               const Descriptor* buffer, const Descriptor* alpha,
                               tessera_handle** handle) {
  const Kind what{kind};
  FortranTransferArguments asked;
  const auto take = [&](const ArrayBase& array, FortranTransferArguments& into) -> Status {
    TESSERA_ASSIGN_OR_RETURN(into.box, bounds_of(array, lo, hi));
    TESSERA_RETURN_IF_ERROR(take_steps(array, steps, into));
    return take_local(array.element(), array.ndims(), buffer, alpha, into);
  };
  return run(name_of(what), prepare(cell, what, asked, take), [&] {
    const auto& [array, box, c_steps, memory, factor] = asked;
    switch (what) {
      case Kind::put:
        return tessera_array_put_section(array, box.lo.data(), box.hi.data(), c_steps.data(),
                                         memory.data, memory.strides.data(), handle);
      case Kind::get:
        return tessera_array_get_section(array, box.lo.data(), box.hi.data(), c_steps.data(),
                                         memory.data, memory.strides.data(), handle);
      case Kind::accumulate:
        return tessera_array_accumulate_section(array, box.lo.data(), box.hi.data(), c_steps.data(),
                                                memory.data, memory.strides.data(),
                                                factor.address(), handle);
    }
    return tessera_array_accumulate_section_by(array, box.lo.data(), box.hi.data(), c_steps.data(),
                                               op_of(what), memory.data, memory.strides.data(),
                                               handle);
  });
}

/// `periodic` is a bit mask of C's dimensions; Fortran gave `count` of them.
int tessera_f_transfer_periodic(const Cell* cell, int kind, const Descriptor* lo,
                                const Descriptor* hi, int64_t periodic, int count,
                                const Descriptor* buffer, const Descriptor* alpha,
                                tessera_handle** handle) {
  const Kind what{kind};
  FortranTransferArguments asked;
  const auto take = [&](const ArrayBase& array, FortranTransferArguments& into) -> Status {
    if (count != array.ndims()) {
      return Status::error(
          Code::invalid_argument,
          fmt::format("periodic has {} values for {} dimensions", count, array.ndims()));
    }
    TESSERA_ASSIGN_OR_RETURN(into.box, bounds_of(array, lo, hi, Limits::none));
    return take_local(array.element(), array.ndims(), buffer, alpha, into);
  };
  return run(name_of(what), prepare(cell, what, asked, take), [&] {
    const auto& [array, box, c_steps, memory, factor] = asked;
    switch (what) {
      case Kind::put:
        return tessera_array_put_periodic(array, box.lo.data(), box.hi.data(), periodic,
                                          memory.data, memory.strides.data(), handle);
      case Kind::get:
        return tessera_array_get_periodic(array, box.lo.data(), box.hi.data(), periodic,
                                          memory.data, memory.strides.data(), handle);
      case Kind::accumulate:
        return tessera_array_accumulate_periodic(array, box.lo.data(), box.hi.data(), periodic,
                                                 memory.data, memory.strides.data(),
                                                 factor.address(), handle);
    }
    return tessera_array_accumulate_periodic_by(array, box.lo.data(), box.hi.data(), periodic,
                                                op_of(what), memory.data, memory.strides.data(),
                                                handle);
  });
}

/// The field has the type of the buffer's elements.
int tessera_f_transfer_field(const Cell* cell, int kind, const Descriptor* lo, const Descriptor* hi,
                             const Descriptor* offset, const Descriptor* buffer,
                             const Descriptor* alpha, tessera_handle** handle) {
  const Kind what{kind};
  FortranTransferArguments asked;
  std::int64_t type = 0;
  std::int64_t first = 0;
  const auto take = [&](const ArrayBase& array, FortranTransferArguments& into) -> Status {
    TESSERA_ASSIGN_OR_RETURN(into.box, bounds_of(array, lo, hi));
    TESSERA_ASSIGN_OR_RETURN(first, integer_of(offset, "offset"));
    TESSERA_RETURN_IF_ERROR(check_allocated(buffer, "the buffer"));
    type = element_of(*buffer);
    TESSERA_ASSIGN_OR_RETURN(const ElementKind field, capi::element_kind(type));
    return take_local(field, array.ndims(), buffer, alpha, into);
  };
  return run(name_of(what), prepare(cell, what, asked, take), [&] {
    const auto& [array, box, c_steps, memory, factor] = asked;
    const auto bytes = static_cast<std::int64_t>(buffer->elem_len);
    switch (what) {
      case Kind::put:
        return tessera_array_put_field(array, box.lo.data(), box.hi.data(), first, bytes,
                                       memory.data, memory.strides.data(), handle);
      case Kind::get:
        return tessera_array_get_field(array, box.lo.data(), box.hi.data(), first, bytes,
                                       memory.data, memory.strides.data(), handle);
      case Kind::accumulate:
        return tessera_array_accumulate_field(array, box.lo.data(), box.hi.data(), first, type,
                                              memory.data, memory.strides.data(), factor.address(),
                                              handle);
    }
    return tessera_array_accumulate_field_by(array, box.lo.data(), box.hi.data(), first, type,
                                             op_of(what), memory.data, memory.strides.data(),
                                             handle);
  });
}

/// One element: a put or a get.
int tessera_f_transfer_element(const Cell* cell, int kind, const Descriptor* index,
                               const Descriptor* value) {
  const tessera_array* array = nullptr;
  Numbers at;
  Scalar number;
  void* result = nullptr;
  const bool is_put = Kind{kind} == Kind::put;
  const auto take = [&](const ArrayBase& of) -> Status {
    TESSERA_ASSIGN_OR_RETURN(at, index_of(of, index));
    if (is_put) {
      TESSERA_ASSIGN_OR_RETURN(number, scalar_of(of.element(), value, "value"));
    } else {
      TESSERA_ASSIGN_OR_RETURN(result, number_of(of.element(), value, "value"));
    }
    return {};
  };
  const auto prepare = look_at(cell, array, take);
  return run(is_put ? "tessera_array%put_element" : "tessera_array%get_element", prepare, [&] {
    return is_put ? tessera_array_put_element(array, at.data(), number.address())
                  : tessera_array_get_element(array, at.data(), result);
  });
}

/// Fetch-and-add if `expected` and `desired` are null, and so on.
int tessera_f_change_element(const Cell* cell, const Descriptor* index, const Descriptor* increment,
                             const Descriptor* expected, const Descriptor* desired,
                             const Descriptor* before) {
  const char* const name = increment != nullptr  ? "tessera_array%fetch_add"
                           : expected != nullptr ? "tessera_array%compare_swap"
                                                 : "tessera_array%swap";
  const tessera_array* array = nullptr;
  Numbers at;
  std::array<Scalar, 3> numbers = {};
  void* old = nullptr;
  const auto take = [&](const ArrayBase& of) -> Status {
    const ElementKind& kind = of.element();
    TESSERA_ASSIGN_OR_RETURN(at, index_of(of, index));
    TESSERA_ASSIGN_OR_RETURN(numbers[0], scalar_of(kind, increment, "increment"));
    TESSERA_ASSIGN_OR_RETURN(numbers[1], scalar_of(kind, expected, "expected"));
    TESSERA_ASSIGN_OR_RETURN(numbers[2], scalar_of(kind, desired, "desired"));
    TESSERA_ASSIGN_OR_RETURN(old, number_of(kind, before, "before"));
    return {};
  };
  const auto prepare = look_at(cell, array, take);
  return run(name, prepare, [&] {
    if (increment != nullptr) {
      return tessera_array_fetch_add(array, at.data(), numbers[0].address(), old);
    }
    const void* const to = numbers[2].address();
    return expected != nullptr
               ? tessera_array_compare_swap(array, at.data(), numbers[1].address(), to, old)
               : tessera_array_swap(array, at.data(), to, old);
  });
}

/// Listed elements.
int tessera_f_transfer_list(const Cell* cell, int kind, const Descriptor* places,
                            const Descriptor* values, const Descriptor* alpha) {
  const Kind what{kind};
  const char* const name = what == Kind::put   ? "tessera_array%scatter"
                           : what == Kind::get ? "tessera_array%gather"
                                               : "tessera_array%scatter_accumulate";
  const tessera_array* array = nullptr;
  Numbers where;
  Scalar factor;
  std::int64_t count = 0;
  std::optional<Dense> local;
  const auto take = [&](const ArrayBase& of) -> Status {
    TESSERA_ASSIGN_OR_RETURN(where, indices_of(of, places));
    TESSERA_ASSIGN_OR_RETURN(factor, scalar_of(of.element(), alpha, "alpha"));
    count = std::ssize(where) / of.ndims();
    return take_numbers(of.element(), values, "values", count, local);
  };
  const auto prepare = look_at(cell, array, take);
  const int code = run(name, prepare, [&] {
    switch (what) {
      case Kind::put:
        return tessera_array_scatter(array, count, where.data(), local->data());
      case Kind::get:
        return tessera_array_gather(array, count, where.data(), local->data());
      case Kind::accumulate:
        return tessera_array_scatter_accumulate(array, count, where.data(), local->data(),
                                                factor.address());
    }
    return tessera_array_scatter_accumulate_by(array, count, where.data(), op_of(what),
                                               local->data());
  });
  if (code == TESSERA_OK && what == Kind::get) {
    local->give_back();
  }
  return code;
}

/// Atomic changes of listed elements. The old values are written after the call returns if `handle`
/// is given, so `before` must be dense then.
int tessera_f_change_elements(const Cell* cell, int op, const Descriptor* places,
                              const Descriptor* operands, const Descriptor* expected,
                              const Descriptor* before, tessera_handle** handle) {
  const tessera_array* array = nullptr;
  ListedAtomics asked;
  const auto take = [&](const ArrayBase& of) -> Status {
    const ElementKind& kind = of.element();
    TESSERA_ASSIGN_OR_RETURN(asked.places, indices_of(of, places));
    asked.count = std::ssize(asked.places) / of.ndims();
    TESSERA_RETURN_IF_ERROR(take_numbers(kind, operands, "operands", asked.count, asked.operands));
    if (expected == nullptr && op == TESSERA_ATOMIC_COMPARE_SWAP) {
      return Status::error(Code::invalid_argument, "expected is not present")
          .hint("tessera_atomic_compare_swap compares each element with its expected value");
    }
    if (expected != nullptr) {
      TESSERA_RETURN_IF_ERROR(
          take_numbers(kind, expected, "expected", asked.count, asked.expected));
    }
    TESSERA_RETURN_IF_ERROR(take_numbers(kind, before, "before", asked.count, asked.before));
    return handle == nullptr || !asked.before->is_copy()
               ? Status()
               : Status::error(Code::invalid_argument,
                               "before is not contiguous; it must be if transfers is given");
  };
  const auto prepare = look_at(cell, array, take);
  const int code = run("tessera_array%change_elements", prepare, [&] {
    void* const compared = asked.expected ? asked.expected->data() : nullptr;
    return tessera_array_change_elements(array, asked.count, asked.places.data(), op,
                                         asked.operands->data(), compared, asked.before->data(),
                                         handle);
  });
  if (code == TESSERA_OK && handle == nullptr) {
    asked.before->give_back();
  }
  return code;
}

/// The end of a variable of transfers: waits; errors are reported by the next fence.
void tessera_f_transfers_end(tessera_handle** handle) {
  const std::unique_ptr<tessera_handle> dropped(std::exchange(*handle, nullptr));
}

}  // extern "C"

}  // namespace tessera::fapi
