// SPDX-License-Identifier: BSD-3-Clause
//
// Functions that the generated entry points call: they read each kind of argument, and handle
// errors. An entry point converts its arguments to the internal form (records.hpp) and calls one
// operation of operations.hpp (generated, too), so an operation is written once for all languages.
//
// Operations return a Status or a Result. Errors end the program on all ranks, or with
// TESSERA_GA_ERRORS=return the entry point returns 0, .false. or nothing (settings.hpp).
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <new>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "arrays/view.hpp"
#include "fortran/ga/include/typesf2c.h"
#include "fortran/ga/outputs.hpp"
#include "fortran/ga/records.hpp"
#include "fortran/ga/session.hpp"
#include "fortran/ga/types.hpp"
#include "rma/base/result.hpp"

namespace tessera::ga {

/// Local memory of a transfer, with strides in elements.
using Memory = arrays::LocalBuffer;

/// A member of each element whose type the program registered, in bytes.
struct Field {
  std::int64_t offset = 0;
  std::int64_t length = 0;
};

/// Elements of a known type, in the caller's memory.
struct Numbers {
  Type type;
  void* at;
  std::int64_t count;
};

// Errors.

/// Prints an error of `function`, and ends the program or, with TESSERA_GA_ERRORS=return, returns.
void fail(const char* function, Status error) noexcept;
void fail_no_memory(const char* function) noexcept;
void fail_exception(const char* function, const char* what) noexcept;

/// Runs `act`, which returns a Status, and passes its error or exception to the functions above.
template <class Act>
void enter(const char* function, const Act& act) noexcept {
  try {
    if (Status status = act(); !status.ok()) [[unlikely]] {
      fail(function, std::move(status));
    }
  } catch (const std::bad_alloc&) {
    fail_no_memory(function);
  } catch (const std::exception& error) {
    fail_exception(function, error.what());
  }
}

/// For operations whose failure is .false. in Fortran and an error in C.
void require_done(const char* function, bool is_done) noexcept;

// Arrays and groups.

Status explain_array(std::int64_t handle);
Status explain_record(std::int64_t handle);

/// Finds an array that is allocated.
inline Status find_array(std::int64_t handle, Record*& record) {
  record = Records::find(handle);
  if (record == nullptr || !record->is_allocated()) [[unlikely]] {
    return explain_array(handle);
  }
  return {};
}
/// Finds an array by its handle; it need not be allocated.
inline Status find_record(std::int64_t handle, Record*& record) {
  record = Records::find(handle);
  if (record == nullptr) [[unlikely]] {
    return explain_record(handle);
  }
  return {};
}
Status find_group(std::int64_t number, Group*& group);

inline int rank_of(const Record& record) noexcept {
  return record.ndims();
}

// Boxes and indices.

/// Errors: out_of_range, in the caller's terms; invalid_argument for two pairs of bounds of an
/// array of another number of dimensions.
Status explain_box(const Record& record, const Box& box, Style style);
Status explain_place(const Record& record, const Index& place, Style style);
Status explain_two(const Record& record);

namespace detail {

/// Reads a box. Returns whether it is inside the array and not empty.
template <Style style, std::integral I>
bool read_box(const Extents& extents, const I* lo, const I* hi, Box& box) noexcept {
  const int ndims = extents.ndims();
  box = Box::none(ndims);
  bool is_good = true;
  for (int dim = 0; dim < ndims; ++dim) {
    const bool is_fortran = style == Style::fortran;
    const int own = is_fortran ? ndims - 1 - dim : dim;
    const std::int64_t first = std::int64_t{lo[dim]} - (is_fortran ? 1 : 0);
    const std::int64_t end = std::int64_t{hi[dim]} + (is_fortran ? 0 : 1);
    box.set(own, first, end);
    is_good &= static_cast<int>(first >= 0) & static_cast<int>(first < end) &
               static_cast<int>(end <= extents[own]);
  }
  return is_good;
}

}  // namespace detail

/// Reads a box that must be inside the array and not empty.
template <Style style, std::integral I>
Status take_box(const Record& record, const I* lo, const I* hi, Box& box) {
  return detail::read_box<style>(record.extents(), lo, hi, box) ? Status()
                                                                : explain_box(record, box, style);
}
/// The same for a 2-D array; for a 1-D array, the second bounds are not read.
template <Style style>
Status take_box_2(const Record& record, std::int64_t ilo, std::int64_t ihi, std::int64_t jlo,
                  std::int64_t jhi, Box& box) {
  const std::int64_t lo[] = {ilo, jlo};
  const std::int64_t hi[] = {ihi, jhi};
  return record.ndims() > 2 ? explain_two(record) : take_box<style>(record, lo, hi, box);
}
/// Reads a box that may be outside the array, but not empty.
template <Style style, std::integral I>
Status take_free_box(const Record& record, const I* lo, const I* hi, Box& box) {
  detail::read_box<style>(record.extents(), lo, hi, box);
  return box.is_empty() ? explain_box(record, box, style) : Status();
}
/// The same for a 2-D array; for a 1-D array, the second bounds are not read.
template <Style style>
Status take_free_box_2(const Record& record, std::int64_t ilo, std::int64_t ihi, std::int64_t jlo,
                       std::int64_t jhi, Box& box) {
  const std::int64_t lo[] = {ilo, jlo};
  const std::int64_t hi[] = {ihi, jhi};
  return record.ndims() > 2 ? explain_two(record) : take_free_box<style>(record, lo, hi, box);
}
/// The same with bounds in Fortran's order and from 0.
inline Status take_view_box(const Record& record, std::int64_t ilo, std::int64_t ihi,
                            std::int64_t jlo, std::int64_t jhi, Box& box) {
  return take_free_box_2<Style::fortran>(record, ilo + 1, ihi + 1, jlo + 1, jhi + 1, box);
}

/// Read an operand: all of an array, or a box that must be inside the array and not empty.
inline Status take_whole(std::int64_t handle, Part& part) {
  TESSERA_RETURN_IF_ERROR(find_array(handle, part.record));
  part.box = part.record->box();
  return {};
}
template <Style style, std::integral I>
Status take_part(std::int64_t handle, const I* lo, const I* hi, Part& part) {
  TESSERA_RETURN_IF_ERROR(find_array(handle, part.record));
  return take_box<style>(*part.record, lo, hi, part.box);
}
template <Style style>
Status take_part_2(std::int64_t handle, std::int64_t ilo, std::int64_t ihi, std::int64_t jlo,
                   std::int64_t jhi, Part& part) {
  TESSERA_RETURN_IF_ERROR(find_array(handle, part.record));
  return take_box_2<style>(*part.record, ilo, ihi, jlo, jhi, part.box);
}

/// Reads an index, which may be outside the array.
template <Style style, std::integral I>
Index place_of(const Record& record, const I* at) noexcept {
  const int ndims = record.ndims();
  Index place = Index::zeros(ndims);
  for (int dim = 0; dim < ndims; ++dim) {
    if constexpr (style == Style::fortran) {
      place[ndims - 1 - dim] = std::int64_t{at[dim]} - 1;
    } else {
      place[dim] = at[dim];
    }
  }
  return place;
}
template <Style style>
Index place_of_2(const Record& record, std::int64_t i, std::int64_t j) noexcept {
  const std::int64_t at[max_dims] = {i, j, 1, 1, 1, 1, 1};
  return place_of<style>(record, at);
}
/// Reads the index of an element of the array.
template <Style style, std::integral I>
Status take_place(const Record& record, const I* at, Index& place) {
  place = place_of<style>(record, at);
  return arrays::is_inside(place, record.extents()) ? Status()
                                                    : explain_place(record, place, style);
}
template <Style style>
Status take_place_2(const Record& record, std::int64_t i, std::int64_t j, Index& place) {
  const std::int64_t at[] = {i, j};
  return record.ndims() > 2 ? explain_two(record) : take_place<style>(record, at, place);
}

// Lists with a number for each dimension.

/// Numbers that are not indices; none for a null pointer.
template <Style style, std::integral I>
Extents numbers_of(int ndims, const I* given) noexcept {
  if (given == nullptr) {
    return {};
  }
  Extents numbers = Extents::zeros(ndims);
  for (int dim = 0; dim < ndims; ++dim) {
    numbers[style == Style::fortran ? ndims - 1 - dim : dim] = given[dim];
  }
  return numbers;
}
template <Style style, std::integral I>
Index coordinates_of(const Record& record, const I* given) noexcept {
  return Index::from(numbers_of<style>(record.ndims(), given));
}

/// Errors: invalid_argument for a number of dimensions other than 1 to 7, or a length below 1.
Status check_dims(std::int64_t ndims);
Status check_lengths(const Extents& extents);
template <Style style, std::integral I>
Status take_dims(std::int64_t ndims, const I* dims, Extents& extents) {
  TESSERA_RETURN_IF_ERROR(check_dims(ndims));
  extents = numbers_of<style>(static_cast<int>(ndims), dims);
  return check_lengths(extents);
}
template <Style style>
Status take_dims_2(std::int64_t dim1, std::int64_t dim2, Extents& extents) {
  const std::int64_t dims[] = {dim1, dim2};
  return take_dims<style>(2, dims, extents);
}

template <Style style, std::integral I>
Chunk chunk_of(int ndims, const I* given) noexcept {
  return {numbers_of<style>(ndims, given)};
}
/// In two dimensions a zero means no limit, as -1 does in more dimensions.
template <Style style>
Chunk chunk_of_2(std::int64_t chunk1, std::int64_t chunk2) noexcept {
  const std::int64_t given[] = {chunk1 == 0 ? -1 : chunk1, chunk2 == 0 ? -1 : chunk2};
  return chunk_of<style>(2, given);
}

template <Style style, std::integral I>
Status take_steps(const Record& record, const I* skip, Extents& steps) {
  steps = numbers_of<style>(record.ndims(), skip);
  return check_lengths(steps);
}
/// The box with as many elements along each dimension as every steps[dim]-th index of `box`.
inline Box stepped(const Box& box, const Extents& steps) noexcept {
  Box rest = box;
  for (int dim = 0; dim < box.ndims(); ++dim) {
    rest.set(dim, box.lo(dim), box.lo(dim) + (box.extent(dim) + steps[dim] - 1) / steps[dim]);
  }
  return rest;
}

/// Errors: invalid_argument for less than one block, or starts that decrease.
Status check_starts(const Starts& starts, const Extents& extents);
template <Style style, std::integral I>
Status take_starts(int ndims, const I* blocks, const I* map, Starts& starts) {
  const I* next = map;
  for (int dim = 0; dim < ndims; ++dim) {
    auto& list =
        starts.of[static_cast<std::size_t>(style == Style::fortran ? ndims - 1 - dim : dim)];
    for (I block = 0; block < blocks[dim]; ++block) {
      list.push_back(std::int64_t{*next++} - (style == Style::fortran ? 1 : 0));
    }
  }
  return {};
}
template <Style style, std::integral I>
Status take_starts_2(const I* map1, std::int64_t nblock1, const I* map2, std::int64_t nblock2,
                     Starts& starts) {
  const std::pair<const I*, std::int64_t> given[] = {{map1, nblock1}, {map2, nblock2}};
  for (int dim = 0; dim < 2; ++dim) {
    auto& list = starts.of[static_cast<std::size_t>(style == Style::fortran ? 1 - dim : dim)];
    for (std::int64_t block = 0; block < given[dim].second; ++block) {
      list.push_back(std::int64_t{given[dim].first[block]} - (style == Style::fortran ? 1 : 0));
    }
  }
  return {};
}

// Local memory.

/// Errors: invalid_argument for a leading dimension that is shorter than the box.
Status explain_lead(const Record& record, const Box& box, std::int64_t lead, int dim);
/// Memory for `box` with the caller's leading dimensions: the lengths of all dimensions but the
/// slowest. One that has no effect is not read.
template <Style style, std::integral I>
Status take_memory(const Record& record, const Box& box, void* data, const I* ld, Memory& memory) {
  const int ndims = record.ndims();
  memory.data = data;
  memory.strides = Strides::zeros(ndims);
  int slowest = 0;  // of the dimensions with more than one element
  while (slowest < ndims - 1 && box.extent(slowest) == 1) {
    ++slowest;
  }
  std::int64_t stride = 1;
  for (int dim = ndims - 1; dim > 0; --dim) {
    memory.strides[dim] = stride;
    if (dim > slowest) {
      const std::int64_t lead = ld[style == Style::fortran ? ndims - 1 - dim : dim - 1];
      if (lead < box.extent(dim)) [[unlikely]] {
        return explain_lead(record, box, lead, dim);
      }
      stride *= lead;
    }
  }
  memory.strides[0] = stride;
  return {};
}

// Lists of elements.

/// The numbers of all indices, one element after another, in the internal form.
using Places = std::vector<std::int64_t>;

Status check_count(std::int64_t count);
template <Style style, std::integral I>
void add_place(const Record& record, const I* at, Places& places) {
  const Index place = place_of<style>(record, at);
  places.insert(places.end(), place.begin(), place.end());
}
/// From C's list of pointers to indices.
template <Style style, std::integral I>
Status take_places(const Record& record, I* const* subscripts, std::int64_t count, Places& places) {
  TESSERA_RETURN_IF_ERROR(check_count(count));
  places.reserve(static_cast<std::size_t>(count * record.ndims()));
  for (std::int64_t i = 0; i < count; ++i) {
    add_place<style>(record, subscripts[i], places);
  }
  return {};
}
/// From indices one after another.
template <Style style, std::integral I>
Status take_flat_places(const Record& record, const I* subscripts, std::int64_t count,
                        Places& places) {
  TESSERA_RETURN_IF_ERROR(check_count(count));
  places.reserve(static_cast<std::size_t>(count * record.ndims()));
  for (std::int64_t i = 0; i < count; ++i) {
    add_place<style>(record, subscripts + i * record.ndims(), places);
  }
  return {};
}
/// From C's list of pointers to indices, or from Fortran's indices one after another.
inline Status take_any_places(const Record& record, const void* subscripts, std::int64_t is_c,
                              std::int64_t count, Places& places) {
  return is_c != 0
             ? take_places<Style::c>(record, static_cast<int* const*>(subscripts), count, places)
             : take_flat_places<Style::fortran>(record, static_cast<const F*>(subscripts), count,
                                                places);
}
/// From two lists of a 2-D array.
template <Style style, std::integral I>
Status take_places_2(const Record& record, const I* i, const I* j, std::int64_t count,
                     Places& places) {
  TESSERA_RETURN_IF_ERROR(check_count(count));
  if (record.ndims() > 2) {
    return explain_two(record);
  }
  places.reserve(static_cast<std::size_t>(count * record.ndims()));
  for (std::int64_t k = 0; k < count; ++k) {
    const I at[] = {i[k], j[k]};
    add_place<style>(record, at, places);
  }
  return {};
}

/// The caller's list of integers, as 64-bit ones.
class ListIn {
 public:
  template <std::integral I>
  ListIn(const I* list, std::int64_t count) : numbers_(list, list + (count > 0 ? count : 0)) {}
  // NOLINTNEXTLINE(google-explicit-constructor): an argument of an operation
  operator std::span<const std::int64_t>() const noexcept { return numbers_; }

 private:
  std::vector<std::int64_t> numbers_;
};

// Single values.

template <Style style>
Type type_of(std::int64_t code) noexcept {
  return style == Style::fortran ? from_fortran(code)
                                 : static_cast<Type>(static_cast<std::int32_t>(code));
}
/// The first index of a range, and the index after its last.
template <Style style>
std::int64_t first_of(std::int64_t given) noexcept {
  return style == Style::fortran ? given - 1 : given;
}
template <Style style>
std::int64_t end_of(std::int64_t given) noexcept {
  return style == Style::fortran ? given : given + 1;
}
/// The number of a dimension.
template <Style style>
std::int64_t axis_of(const Record& record, std::int64_t given) noexcept {
  return style == Style::fortran ? record.ndims() - given : given;
}

inline std::string_view text_of(const char* text) noexcept {
  return text == nullptr ? std::string_view() : text;
}
/// Fortran's text without the blanks at its end. A NUL ends it, too.
std::string_view text_of(const char* text, Length length) noexcept;

inline std::span<std::byte> bytes_of(void* buffer, std::int64_t length) noexcept {
  return {static_cast<std::byte*>(buffer), static_cast<std::size_t>(length > 0 ? length : 0)};
}

}  // namespace tessera::ga
