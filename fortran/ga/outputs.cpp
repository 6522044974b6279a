// SPDX-License-Identifier: BSD-3-Clause
#include "fortran/ga/outputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

extern "C" void* MA_get_mbase(tessera::ga::F type);

namespace tessera::ga {

void BoxOut::set(const Box& box) const noexcept {
  const bool is_fortran = style_ == Style::fortran;
  const int ndims = box.ndims();
  for (int dim = 0; dim < ndims; ++dim) {
    const int own = is_fortran ? ndims - 1 - dim : dim;
    const std::int64_t first = is_fortran ? 1 : 0;
    const std::int64_t lo = box.is_empty() ? first - 1 : box.lo(own) + first;
    const std::int64_t hi = box.is_empty() ? first - 2 : box.hi(own) - 1 + first;
    const bool is_second = !second_lo_.is_null() && dim == 1;
    (is_second ? second_lo_ : lo_).set(lo, is_second ? 0 : dim);
    (is_second ? second_hi_ : hi_).set(hi, is_second ? 0 : dim);
  }
  if (ndims == 1) {
    second_lo_.set(box.is_empty() ? 0 : 1);
    second_hi_.set(box.is_empty() ? -1 : 1);
  }
}

void RegionsOut::set(std::int64_t number, const Box& box, std::int64_t owner) const noexcept {
  const int ndims = box.ndims();
  if (!owners_.is_null()) {
    const IntOut lo = at_.from(number * 2 * ndims);
    const IntOut hi = lo.from(ndims);
    BoxOut::list(lo, hi, style_).set(box);
    owners_.set(owner, number);
    return;
  }
  // In two dimensions: ilo, ihi, jlo, jhi, owner.
  const IntOut at = at_.from(number * 5);
  BoxOut::pairs(at, at.from(1), at.from(2), at.from(3), style_).set(box);
  at.set(owner, 4);
}

void LeadOut::set(const Extents& extents) const noexcept {
  const int ndims = extents.ndims();
  if (ndims == 1 && is_fortran()) {
    at_.set(extents[0]);
  }
  for (int dim = 0; dim < ndims - 1; ++dim) {
    at_.set(is_fortran() ? extents[ndims - 1 - dim] : extents[dim + 1], dim);
  }
}

Status PointerOut::set(void* address, Type type) const {
  if (index_ == nullptr) {
    std::memcpy(pointer_, &address, sizeof address);
    return {};
  }
  const auto code = static_cast<F>(to_fortran(type));
  const void* const base = MA_get_mbase(code);
  const auto size = static_cast<std::int64_t>(size_of(type));
  if (base == nullptr || size == 0) {
    return Status::error(Code::unsupported,
                         fmt::format("MA has no array for elements of type {}", to_string(type)))
        .hint("access such arrays from C, by a pointer");
  }
  const auto distance = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(address) -
                                                  reinterpret_cast<std::uintptr_t>(base));
  const std::int64_t elements = distance / size;
  if (distance % size != 0) {
    return Status::error(Code::internal,
                         fmt::format("the block is not aligned to elements of MA's array: {} bytes "
                                     "from it, with elements of {} bytes",
                                     distance, size));
  }
  if (!std::in_range<F>(elements + 1)) {
    return Status::error(Code::unsupported,
                         "the block's index into MA's array does not fit an INTEGER of 4 bytes")
        .hint("use the library with INTEGERs of 8 bytes");
  }
  *index_ = static_cast<F>(elements + 1);
  return {};
}

void TextOut::set(std::string_view text) const noexcept {
  if (is_c_) {
    const std::string_view kept = text.substr(0, max_name);
    std::copy(kept.begin(), kept.end(), text_);
    text_[kept.size()] = '\0';
    return;
  }
  const std::string_view kept = text.substr(0, length_);
  std::fill(std::copy(kept.begin(), kept.end(), text_), text_ + length_, ' ');
}

void give_text(const char* text, char* to, Length length) noexcept {
  TextOut(to, length).set(text == nullptr ? std::string_view() : text);
}

}  // namespace tessera::ga
