// SPDX-License-Identifier: BSD-3-Clause
#include "fortran/detail/descriptors.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>

namespace tessera::fapi {

using arrays::ArrayBase;
using arrays::ElementKind;
using rma::Code;
using rma::ElementType;
using rma::Result;
using rma::Status;

namespace {

/// The Fortran name of each element type, and the Tessera type with the same bytes.
struct TypeRow {
  CFI_type_t type;
  ElementType element;
  ElementType unsigned_element;
  const char* name;
};
constexpr std::array<TypeRow, 8> type_table = {{
    {CFI_type_int32_t, ElementType::i32, ElementType::u32, "integer(int32)"},
    {CFI_type_int64_t, ElementType::i64, ElementType::u64, "integer(int64)"},
    {CFI_type_int8_t, ElementType::i8, ElementType::u8, "integer(int8)"},
    {CFI_type_int16_t, ElementType::i16, ElementType::u16, "integer(int16)"},
    {CFI_type_float, ElementType::f32, ElementType::f32, "real(real32)"},
    {CFI_type_double, ElementType::f64, ElementType::f64, "real(real64)"},
    {CFI_type_float_Complex, ElementType::c64, ElementType::c64, "complex(real32)"},
    {CFI_type_double_Complex, ElementType::c128, ElementType::c128, "complex(real64)"},
}};

/// gfortran 12 may describe a text as an int8 of the text's length.
bool is_text(const Descriptor& given) {
  return given.type == CFI_type_int8_t && given.elem_len != sizeof(std::int8_t);
}

const TypeRow* row_of(const Descriptor& given) {
  const auto* const row = std::find_if(type_table.begin(), type_table.end(),
                                       [&](const TypeRow& one) { return one.type == given.type; });
  return row == type_table.end() || is_text(given) ? nullptr : row;
}

std::int64_t integer_at(const void* at, std::size_t bytes) {
  const auto read = [&]<class T>(T value) {
    std::memcpy(&value, at, sizeof value);
    return static_cast<std::int64_t>(value);
  };
  switch (bytes) {
    case 1:
      return read(std::int8_t{});
    case 2:
      return read(std::int16_t{});
    case 4:
      return read(std::int32_t{});
    default:
      return read(std::int64_t{});
  }
}

/// Writes the number to the integer of `bytes` bytes at `to`; false if it does not fit.
bool try_store_integer(std::int64_t number, void* to, std::size_t bytes) {
  const auto store = [&]<class T>(T value) {
    value = static_cast<T>(number);
    std::memcpy(to, &value, sizeof value);
    return std::int64_t{value} == number;
  };
  switch (bytes) {
    case 1:
      return store(std::int8_t{});
    case 2:
      return store(std::int16_t{});
    case 4:
      return store(std::int32_t{});
    default:
      return store(std::int64_t{});
  }
}

Status check_integers(const Descriptor* given, std::string_view what) {
  if (given == nullptr) {
    return wrong(fmt::format("{} is missing", what));
  }
  const TypeRow* const row = row_of(*given);
  if (row == nullptr || row->element == row->unsigned_element) {
    return wrong(fmt::format("{} is {}; it must be of type integer", what, type_text(*given)));
  }
  if (given->rank > 1) {
    return wrong(fmt::format("{} has rank {}; give a list (rank 1)", what, int{given->rank}));
  }
  return check_allocated(given, what);
}

std::byte* element_at(const Descriptor& given, std::int64_t i) {
  return static_cast<std::byte*>(given.base_addr) + (given.rank == 0 ? 0 : i * given.dim[0].sm);
}

std::string section_text(const Numbers& lo, const Numbers& hi) {
  std::string text;
  for (std::size_t dim = 0; dim < lo.size(); ++dim) {
    text += fmt::format("{}{}:{}", dim == 0 ? "(" : ", ", lo[dim], hi[dim]);
  }
  return text + ")";
}

std::string extents_text(std::span<const std::int64_t> c_order) {
  return list_text(reversed(Numbers(c_order.begin(), c_order.end())));
}

Status outside(const ArrayBase& array, const std::string& what, std::string_view bound,
               std::int64_t value, int dim) {
  return Status::error(
             Code::out_of_range,
             fmt::format("{} lies outside the array: dimension {} has indices 1 to {}, and {} "
                         "is {}",
                         what, dim + 1, array.extents()[array.ndims() - 1 - dim], bound, value))
      .hint("bounds count from 1 and are inclusive; dimension 1 is the fastest in memory");
}

}  // namespace

std::string type_text(const Descriptor& given) {
  if (const TypeRow* const row = row_of(given)) {
    return row->name;
  }
  if (is_text(given)) {
    return fmt::format("character(len={})", given.elem_len);
  }
  switch (given.type & CFI_type_mask) {
    case CFI_type_Character:
      return fmt::format("character(len={})", given.elem_len);
    case CFI_type_Logical:
      return fmt::format("logical of {} bytes", given.elem_len);
    case CFI_type_Integer:
      return fmt::format("integer of {} bytes", given.elem_len);
    case CFI_type_Real:
      return fmt::format("real of {} bytes", given.elem_len);
    case CFI_type_Complex:
      return fmt::format("complex of {} bytes", given.elem_len);
    default:
      return fmt::format("a type of {} bytes", given.elem_len);
  }
}

std::string type_text(const ElementKind& kind) {
  for (const TypeRow& row : type_table) {
    if (kind.type == row.element) {
      return row.name;
    }
    if (kind.type == row.unsigned_element) {
      return fmt::format("unsigned {}", row.name);
    }
  }
  return fmt::format("elements of {} bytes", kind.bytes);
}

std::string list_text(std::span<const std::int64_t> numbers) {
  return fmt::format("({})", fmt::join(numbers, ", "));
}

std::string describe(const ArrayBase& array) {
  return fmt::format("array '{}' ({}, shape {})", array.name(), type_text(array.element()),
                     extents_text(array.extents()));
}

std::int64_t element_of(const Descriptor& mold) {
  const TypeRow* const row = row_of(mold);
  return row == nullptr ? -static_cast<std::int64_t>(mold.elem_len)
                        : static_cast<std::int64_t>(row->element);
}

Result<Numbers> integers(const Descriptor* given, std::string_view what) {
  TESSERA_RETURN_IF_ERROR(check_integers(given, what));
  const std::int64_t count = given->rank == 0 ? 1 : given->dim[0].extent;
  if (count < 0) {
    return wrong(fmt::format("{} is of assumed size; its length is not known", what));
  }
  Numbers numbers(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    numbers[static_cast<std::size_t>(i)] = integer_at(element_at(*given, i), given->elem_len);
  }
  return numbers;
}

Result<Numbers> integers_of(const Descriptor* given, int ndims, std::string_view what,
                            const std::string& of) {
  TESSERA_ASSIGN_OR_RETURN(Numbers numbers, integers(given, what));
  if (std::ssize(numbers) != ndims) {
    return wrong(fmt::format("{} has {} number{}, but {} has {} dimension{}", what, numbers.size(),
                             numbers.size() == 1 ? "" : "s", of, ndims, ndims == 1 ? "" : "s"));
  }
  return numbers;
}

Status check_room(const Descriptor* to, std::int64_t count, std::string_view what) {
  TESSERA_RETURN_IF_ERROR(check_integers(to, what));
  const std::int64_t room = to->rank == 0 ? 1 : to->dim[0].extent;
  return room < 0 || room == count
             ? Status()
             : wrong(
                   fmt::format("{} has room for {} numbers, but there are {}", what, room, count));
}

Status write_integers(std::span<const std::int64_t> numbers, Descriptor* to,
                      std::string_view what) {
  TESSERA_RETURN_IF_ERROR(check_room(to, std::ssize(numbers), what));
  for (std::int64_t i = 0; i < std::ssize(numbers); ++i) {
    const std::int64_t number = numbers[static_cast<std::size_t>(i)];
    if (!try_store_integer(number, element_at(*to, i), to->elem_len)) {
      return Status::error(Code::out_of_range, fmt::format("{} is {}, which does not fit {}", what,
                                                           number, type_text(*to)))
          .hint("give an integer(int64)");
    }
  }
  return {};
}

Result<Bounds> bounds_of(const ArrayBase& array, const Numbers& lo, const Numbers& hi,
                         Limits limits) {
  const int ndims = array.ndims();
  Bounds bounds;
  for (int dim = 0; dim < ndims; ++dim) {
    const std::int64_t first = lo[static_cast<std::size_t>(dim)];
    const std::int64_t last = hi[static_cast<std::size_t>(dim)];
    const std::int64_t extent = array.extents()[ndims - 1 - dim];
    const auto text = [&] { return section_text(lo, hi); };
    if (limits == Limits::the_array && (first < 1 || first - 1 > extent)) {
      return outside(array, text(), "the lower bound", first, dim);
    }
    if (limits == Limits::the_array && last > extent) {
      return outside(array, text(), "the upper bound", last, dim);
    }
    std::int64_t before = 0;
    std::int64_t length = 0;
    if (__builtin_sub_overflow(first, 1, &before) ||
        __builtin_sub_overflow(last, before, &length)) {
      return Status::error(Code::out_of_range, text() + " is longer than any array");
    }
    if (length < 0) {
      return wrong(fmt::format("{}: in dimension {} the lower bound {} is above the upper bound {}",
                               text(), dim + 1, first, last))
          .hint("a section without elements is written i:i-1");
    }
    bounds.lo[static_cast<std::size_t>(ndims - 1 - dim)] = before;
    bounds.hi[static_cast<std::size_t>(ndims - 1 - dim)] = last;
  }
  return bounds;
}

Result<Bounds> bounds_of(const ArrayBase& array, const Descriptor* lo, const Descriptor* hi,
                         Limits limits) {
  const int ndims = array.ndims();
  TESSERA_ASSIGN_OR_RETURN(const Numbers first, integers_of(lo, ndims, "lo", "the array"));
  TESSERA_ASSIGN_OR_RETURN(const Numbers last, integers_of(hi, ndims, "hi", "the array"));
  return bounds_of(array, first, last, limits);
}

Status check_index(const ArrayBase& array, std::span<const std::int64_t> index) {
  for (int dim = 0; dim < array.ndims(); ++dim) {
    const std::int64_t at = index[static_cast<std::size_t>(dim)];
    if (at < 1 || at > array.extents()[array.ndims() - 1 - dim]) {
      return outside(array, "the index " + list_text(index), "it", at, dim);
    }
  }
  return {};
}

Result<Numbers> index_of(const ArrayBase& array, const Descriptor* given) {
  TESSERA_ASSIGN_OR_RETURN(Numbers index, integers_of(given, array.ndims(), "index", "the array"));
  TESSERA_RETURN_IF_ERROR(check_index(array, index));
  for (std::int64_t& at : index) {
    --at;
  }
  return reversed(index);
}

Status check_allocated(const Descriptor* given, std::string_view what) {
  if (given == nullptr) {
    return wrong(fmt::format("{} is missing", what));
  }
  bool is_empty = false;
  for (int dim = 0; dim < given->rank; ++dim) {
    is_empty = is_empty || given->dim[dim].extent == 0;
  }
  if (given->base_addr == nullptr && !is_empty) {
    return wrong(fmt::format("{} is not allocated, or a pointer that is not associated", what));
  }
  return {};
}

Status check_counted(const Descriptor* given, std::string_view what) {
  TESSERA_RETURN_IF_ERROR(check_allocated(given, what));
  // Only the last dimension can have an unknown extent.
  if (given->rank > 0 && given->dim[given->rank - 1].extent < 0) {
    return wrong(fmt::format("{} is of assumed size; its number of elements is not known", what))
        .hint("give a section with an upper bound, such as x(1:n)");
  }
  return {};
}

Status check_elements(const ElementKind& kind, const Descriptor* given, std::string_view what) {
  TESSERA_RETURN_IF_ERROR(check_allocated(given, what));
  const TypeRow* const row = row_of(*given);
  const bool fits = kind.type ? row != nullptr && (kind.type == row->element ||
                                                   kind.type == row->unsigned_element)
                              : given->elem_len == kind.bytes;
  if (!fits) {
    return wrong(fmt::format("{} is {}, but the array has {}", what, type_text(*given),
                             type_text(kind)))
        .hint("give the array's own type and kind");
  }
  return {};
}

Result<void*> number_of(const ElementKind& kind, const Descriptor* given, std::string_view what) {
  if (given == nullptr) {
    return nullptr;
  }
  TESSERA_RETURN_IF_ERROR(check_elements(kind, given, what));
  if (given->rank != 0) {
    return wrong(fmt::format("{} has rank {}; it must be a scalar", what, int{given->rank}));
  }
  return given->base_addr;
}

namespace {

/// The extents of dimensions that do not have exactly one element.
Numbers without_unit_extents(std::span<const std::int64_t> extents) {
  Numbers kept;
  std::copy_if(extents.begin(), extents.end(), std::back_inserter(kept),
               [](std::int64_t extent) { return extent != 1; });
  return kept;
}

Numbers shape_of(const Descriptor& given) {
  Numbers shape;
  for (int dim = 0; dim < given.rank; ++dim) {
    shape.push_back(given.dim[dim].extent);
  }
  return shape;
}

/// "1:9, 1:7".
std::string ranges_text(const Numbers& extents) {
  std::vector<std::string> ranges;
  for (const std::int64_t extent : extents) {
    ranges.push_back(fmt::format("1:{}", extent));
  }
  return fmt::format("{}", fmt::join(ranges, ", "));
}

std::int64_t count_of(const Numbers& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

/// Whether a buffer is a list, or an element of one, that may hold the whole section: programs in
/// the style of Fortran 77 pass these. `section` has no dimensions of extent 1.
bool may_hold(const Numbers& shape, const Numbers& section) {
  const std::int64_t count = count_of(section);
  const bool is_long_enough = shape.empty() || shape[0] < 0 || shape[0] >= count;
  return shape.size() < 2 && shape.size() < section.size() && count > 0 && is_long_enough;
}

/// A hint on how to pass the list as a section.
std::string hint_on_list(const Numbers& shape, const Numbers& section) {
  const std::int64_t count = count_of(section);
  const std::string list =
      shape.empty() ? fmt::format("x(k:k+{})", count - 1) : fmt::format("x(1:{})", count);
  if (section.size() < 2) {
    return "give a section with an upper bound, such as " + list;
  }
  return fmt::format("give p, where p({}) => {}, and x is a TARGET", ranges_text(section), list);
}

Status wrong_shape(const Numbers& shape, const Numbers& wanted, std::string_view what) {
  const Numbers section = without_unit_extents(wanted);
  const bool is_unknown = !shape.empty() && shape.back() < 0;
  const std::string text =
      is_unknown ? fmt::format("{} is of assumed size; its shape is not known", what)
      : shape.empty()
          ? fmt::format("{} is one element, but the section of the array has the shape {}", what,
                        list_text(wanted))
          : fmt::format("{} has the shape {}, but the section of the array has {}", what,
                        list_text(shape), list_text(wanted));
  if (may_hold(shape, section)) {
    return wrong(text).hint(hint_on_list(shape, section));
  }
  const Numbers& ranges = shape.size() == section.size() ? section : wanted;
  return wrong(text).hint(
      is_unknown
          ? fmt::format("give a section with an upper bound, such as x({})", ranges_text(ranges))
          : "the shapes must agree, except for dimensions of one element");
}

/// Errors: invalid_argument for shapes that differ in dimensions with more than one element.
Status check_shape(const Numbers& shape, const Numbers& wanted, std::string_view what) {
  const bool is_known = shape.empty() || shape.back() >= 0;
  return is_known && without_unit_extents(shape) == without_unit_extents(wanted)
             ? Status()
             : wrong_shape(shape, wanted, what);
}

/// The distances between elements along each dimension that has not exactly one. Errors:
/// invalid_argument for components of structures whose size is not a multiple of the component's.
Result<Numbers> steps_of(const Descriptor& given, std::string_view what) {
  Numbers steps;
  const auto bytes = static_cast<std::int64_t>(given.elem_len);
  for (int dim = 0; dim < given.rank; ++dim) {
    if (given.dim[dim].extent == 1) {
      continue;
    }
    const std::int64_t step = given.dim[dim].sm;
    if (step < 0 && given.dim[dim].extent > 1) {
      return wrong(fmt::format("{} has a negative stride in its dimension {}", what, dim + 1))
          .hint("copy it to an array first, or give a section with a positive stride");
    }
    if (step % bytes != 0) {
      return wrong(fmt::format("{} has elements of {} bytes at a distance of {} bytes", what, bytes,
                               step))
          .hint("copy it to an array first");
    }
    steps.push_back(step / bytes);
  }
  return steps;
}

}  // namespace

Result<Memory> memory_of(const ElementKind& kind, std::span<const std::int64_t> extents,
                         const Descriptor* buffer, std::string_view what) {
  TESSERA_RETURN_IF_ERROR(check_elements(kind, buffer, what));
  const Numbers wanted = reversed(Numbers(extents.begin(), extents.end()));
  TESSERA_RETURN_IF_ERROR(check_shape(shape_of(*buffer), wanted, what));
  TESSERA_ASSIGN_OR_RETURN(const Numbers steps, steps_of(*buffer, what));
  Memory memory;
  memory.data = buffer->base_addr;
  std::size_t next = 0;
  std::int64_t dense = 1;
  for (std::size_t dim = 0; dim < wanted.size(); ++dim) {
    // A dimension of one element is never stepped along, but its stride may not be 0.
    const std::int64_t stride = wanted[dim] == 1 ? dense : steps[next++];
    memory.strides[wanted.size() - 1 - dim] = stride;
    dense = std::max<std::int64_t>(stride * std::max<std::int64_t>(wanted[dim], 1), 1);
  }
  return memory;
}

Dense::Dense(const Descriptor& given) : given_(&given) {
  auto step = static_cast<std::int64_t>(given.elem_len);
  for (int dim = 0; dim < given.rank; ++dim) {
    const std::int64_t extent = given.dim[dim].extent;
    is_copy_ = is_copy_ || (extent > 1 && given.dim[dim].sm != step);
    step *= extent;
    count_ *= extent;
  }
  if (count_ <= 0) {
    count_ = 0;
    is_copy_ = false;
  }
  if (is_copy_) {
    copy_.resize(static_cast<std::size_t>(bytes()));
    for_each(
        [this](std::byte* own, std::byte* copied) { std::memcpy(copied, own, given_->elem_len); });
  }
}

void Dense::give_back() {
  if (is_copy_) {
    for_each(
        [this](std::byte* own, std::byte* copied) { std::memcpy(own, copied, given_->elem_len); });
  }
}

template <class Act>
void Dense::for_each(const Act& act) {
  Numbers index(static_cast<std::size_t>(given_->rank), 0);
  for (std::int64_t i = 0; i < count_; ++i) {
    auto* own = static_cast<std::byte*>(given_->base_addr);
    for (std::size_t dim = 0; dim < index.size(); ++dim) {
      own += index[dim] * given_->dim[dim].sm;
    }
    act(own, copy_.data() + static_cast<std::size_t>(i) * given_->elem_len);
    for (std::size_t dim = 0; dim < index.size(); ++dim) {
      if (++index[dim] < given_->dim[dim].extent) {
        break;
      }
      index[dim] = 0;
    }
  }
}

}  // namespace tessera::fapi
