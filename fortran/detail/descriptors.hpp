// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. Converts Fortran arguments for the C interface: descriptors of any kind and rank to
// numbers, bounds and memory. Only this file reverses dimensions and shifts bounds; its messages
// count as Fortran does.
#pragma once

#include <ISO_Fortran_binding.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arrays/array_base.hpp"
#include "arrays/index.hpp"
#include "rma/base/result.hpp"

namespace tessera::fapi {

using Descriptor = CFI_cdesc_t;
using Numbers = std::vector<std::int64_t>;

inline rma::Status wrong(std::string text) {
  return rma::Status::error(rma::Code::invalid_argument, std::move(text));
}

/// A list for C, where none is null.
inline const std::int64_t* list_or_null(const Numbers& list) noexcept {
  return list.empty() ? nullptr : list.data();
}

/// "real(real64)".
std::string type_text(const Descriptor& given);
std::string type_text(const arrays::ElementKind& kind);
/// "(7, 9)".
std::string list_text(std::span<const std::int64_t> numbers);
/// "array 'A' (real(real64), shape (7, 9))".
std::string describe(const arrays::ArrayBase& array);

/// The C type for elements like `mold`.
std::int64_t element_of(const Descriptor& mold);

/// A list of integers, or one integer, of any kind. Errors: invalid_argument.
rma::Result<Numbers> integers(const Descriptor* given, std::string_view what);
/// The same with one number for each of the `ndims` dimensions of `of`.
rma::Result<Numbers> integers_of(const Descriptor* given, int ndims, std::string_view what,
                                 const std::string& of);
/// Checks that `to` can receive `count` integers, of any kind. Errors: invalid_argument.
rma::Status check_room(const Descriptor* to, std::int64_t count, std::string_view what);
/// Writes numbers to integers of any kind. Errors: another shape, or a number that does not fit.
rma::Status write_integers(std::span<const std::int64_t> numbers, Descriptor* to,
                           std::string_view what);

template <class List>
Numbers reversed(const List& list) {
  return Numbers(std::make_reverse_iterator(list.end()), std::make_reverse_iterator(list.begin()));
}

/// A box, as C counts.
struct Bounds {
  std::array<std::int64_t, arrays::max_dims> lo = {};
  std::array<std::int64_t, arrays::max_dims> hi = {};
};
enum class Limits : std::uint8_t { the_array, none };
/// Errors: invalid_argument; out_of_range for bounds outside the array, if the array limits them.
/// Callers add which bounds these are.
rma::Result<Bounds> bounds_of(const arrays::ArrayBase& array, const Descriptor* lo,
                              const Descriptor* hi, Limits limits = Limits::the_array);
rma::Result<Bounds> bounds_of(const arrays::ArrayBase& array, const Numbers& lo, const Numbers& hi,
                              Limits limits = Limits::the_array);
/// An index, as C counts. Errors: invalid_argument, out_of_range.
rma::Result<Numbers> index_of(const arrays::ArrayBase& array, const Descriptor* index);
rma::Status check_index(const arrays::ArrayBase& array, std::span<const std::int64_t> index);

/// Local memory of a transfer, as C describes it.
struct Memory {
  void* data = nullptr;
  std::array<std::int64_t, arrays::max_dims> strides = {};
};
/// The memory of `buffer`, which has elements of `kind` and the shape `extents`, in C's order.
/// Dimensions of one element may be left out. Errors: invalid_argument.
rma::Result<Memory> memory_of(const arrays::ElementKind& kind,
                              std::span<const std::int64_t> extents, const Descriptor* buffer,
                              std::string_view what);

/// One number of `kind`; null if an optional one is absent. Errors: invalid_argument.
rma::Result<void*> number_of(const arrays::ElementKind& kind, const Descriptor* given,
                             std::string_view what);
/// Checks that memory with elements of `kind` is present. Errors: invalid_argument.
rma::Status check_elements(const arrays::ElementKind& kind, const Descriptor* given,
                           std::string_view what);
rma::Status check_allocated(const Descriptor* given, std::string_view what);
/// The same, and that the number of its elements is known.
rma::Status check_counted(const Descriptor* given, std::string_view what);

/// The elements of a descriptor as a dense list: its own memory if it is dense, otherwise a copy
/// that give_back() writes back.
class Dense {
 public:
  explicit Dense(const Descriptor& given);
  [[nodiscard]] void* data() noexcept { return is_copy_ ? copy_.data() : given_->base_addr; }
  [[nodiscard]] std::int64_t count() const noexcept { return count_; }
  [[nodiscard]] std::int64_t bytes() const noexcept {
    return count_ * static_cast<std::int64_t>(given_->elem_len);
  }
  void give_back();

 private:
  template <class Act>
  void for_each(const Act& act);
  const Descriptor* given_;
  std::int64_t count_ = 1;
  bool is_copy_ = false;
  std::vector<std::byte> copy_;
};

}  // namespace tessera::fapi
