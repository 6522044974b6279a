// SPDX-License-Identifier: BSD-3-Clause
//
// Outputs: an operation sets results in the internal form, and outputs write them to the caller's
// memory, with the caller's integers, order of dimensions and first index. No other code depends on
// the caller's language.
#pragma once

#include <concepts>
#include <cstdint>
#include <string_view>
#include <utility>

#include "fortran/ga/records.hpp"

namespace tessera::ga {

/// How a caller writes indices: in C from 0, the last dimension fastest; in Fortran from 1, the
/// first dimension fastest.
enum class Style : std::uint8_t { c, fortran };

/// An integer variable of the caller, or a list of integers; they can be read too.
class IntOut {
 public:
  IntOut() = default;
  template <std::integral I>
  explicit IntOut(I* at) noexcept : at_(at), is_wide_(sizeof(I) == sizeof(std::int64_t)) {
    static_assert(sizeof(I) == 4 || sizeof(I) == 8);
  }

  [[nodiscard]] bool is_null() const noexcept { return at_ == nullptr; }
  /// Requires: !is_null().
  [[nodiscard]] std::int64_t get(std::int64_t number = 0) const noexcept {
    return is_wide_ ? static_cast<std::int64_t*>(at_)[number]
                    : std::int64_t{static_cast<std::int32_t*>(at_)[number]};
  }
  /// Does nothing for a null pointer.
  void set(std::int64_t value, std::int64_t number = 0) const noexcept {
    if (is_null()) {
      return;
    }
    if (is_wide_) {
      static_cast<std::int64_t*>(at_)[number] = value;
    } else {
      static_cast<std::int32_t*>(at_)[number] = static_cast<std::int32_t>(value);
    }
  }
  /// The list from entry `number` on.
  [[nodiscard]] IntOut from(std::int64_t number) const noexcept {
    IntOut rest = *this;
    if (at_ != nullptr) {
      rest.at_ = static_cast<char*>(at_) + number * (is_wide_ ? 8 : 4);
    }
    return rest;
  }

 private:
  void* at_ = nullptr;
  bool is_wide_ = false;
};

/// A list of integers with room for a number of entries.
class ListOut {
 public:
  template <std::integral I>
  ListOut(I* at, std::int64_t room) noexcept : at_(at), room_(room) {}
  [[nodiscard]] std::int64_t room() const noexcept { return room_; }
  void set(std::int64_t number, std::int64_t value) const noexcept { at_.set(value, number); }

 private:
  IntOut at_;
  std::int64_t room_;
};

/// What outputs share that depend on the caller's language: `Out` is the class of the output.
template <class Out>
class StyledOut {
 public:
  template <Style style, std::integral I>
  static Out of(I* at) noexcept {
    Out out;
    out.at_ = IntOut(at);
    out.style_ = style;
    return out;
  }

 protected:
  [[nodiscard]] bool is_fortran() const noexcept { return style_ == Style::fortran; }

  IntOut at_;
  Style style_ = Style::c;
};

/// One number for each dimension, which is not an index: lengths, counts, coordinates.
class DimsOut : public StyledOut<DimsOut> {
 public:
  /// Also sets the number of dimensions.
  template <Style style, std::integral N, std::integral I>
  static DimsOut counted(N* ndims, I* at) noexcept {
    DimsOut out = of<style>(at);
    out.ndims_ = IntOut(ndims);
    return out;
  }
  /// For arrays of one or two dimensions.
  template <Style style, std::integral I>
  static DimsOut of_2(I* first, I* second) noexcept {
    DimsOut out = of<style>(first);
    out.second_ = IntOut(second);
    return out;
  }

  /// Any list of the internal form.
  template <class List>
  void set(const List& values) const noexcept {
    const int ndims = values.ndims();
    ndims_.set(ndims);
    for (int dim = 0; dim < ndims; ++dim) {
      const std::int64_t value = values[is_fortran() ? ndims - 1 - dim : dim];
      if (second_.is_null() || dim == 0) {
        at_.set(value, dim);
      } else if (dim == 1) {
        second_.set(value);
      }
    }
    if (ndims == 1) {
      second_.set(1);
    }
  }

 private:
  IntOut ndims_;
  IntOut second_;
};

/// The index of an element.
class PlaceOut : public StyledOut<PlaceOut> {
 public:
  void set(const Index& index) const noexcept {
    const int ndims = index.ndims();
    for (int dim = 0; dim < ndims; ++dim) {
      at_.set(is_fortran() ? index[ndims - 1 - dim] + 1 : index[dim], dim);
    }
  }
};

/// The bounds of a box. An empty box is 0 to -1 in Fortran and -1 to -2 in C.
class BoxOut {
 public:
  template <Style style, std::integral I>
  static BoxOut of(I* lo, I* hi) noexcept {
    return {IntOut(lo), IntOut(hi), IntOut(), IntOut(), style};
  }
  /// For arrays of one or two dimensions.
  template <Style style, std::integral I>
  static BoxOut of_2(I* ilo, I* ihi, I* jlo, I* jhi) noexcept {
    return {IntOut(ilo), IntOut(ihi), IntOut(jlo), IntOut(jhi), style};
  }

  static BoxOut list(IntOut lo, IntOut hi, Style style) noexcept {
    return {lo, hi, IntOut(), IntOut(), style};
  }
  static BoxOut pairs(IntOut ilo, IntOut ihi, IntOut jlo, IntOut jhi, Style style) noexcept {
    return {ilo, ihi, jlo, jhi, style};
  }

  void set(const Box& box) const noexcept;

 private:
  BoxOut(IntOut lo, IntOut hi, IntOut second_lo, IntOut second_hi, Style style) noexcept
      : lo_(lo), hi_(hi), second_lo_(second_lo), second_hi_(second_hi), style_(style) {}

  IntOut lo_;
  IntOut hi_;
  IntOut second_lo_;
  IntOut second_hi_;
  Style style_;
};

/// The pieces of a region with their owners: bounds in one list, owners in another; in two
/// dimensions five numbers for each piece.
class RegionsOut : public StyledOut<RegionsOut> {
 public:
  template <Style style, std::integral I, std::integral P>
  static RegionsOut of(I* map, P* owners) noexcept {
    RegionsOut out = StyledOut::of<style>(map);
    out.owners_ = IntOut(owners);
    return out;
  }
  template <Style style, std::integral I>
  static RegionsOut of_2(I* map) noexcept {
    return StyledOut::of<style>(map);
  }
  void set(std::int64_t number, const Box& box, std::int64_t owner) const noexcept;

 private:
  IntOut owners_;
};

/// The leading dimensions of a block: its extents without the slowest one, in Fortran's order.
class LeadOut : public StyledOut<LeadOut> {
 public:
  /// `extents` of the memory that holds the block. One dimension: sets its length.
  void set(const Extents& extents) const noexcept;
};

/// The code of a type.
class TypeOut : public StyledOut<TypeOut> {
 public:
  void set(Type type) const noexcept {
    at_.set(is_fortran() ? to_fortran(type) : static_cast<std::int64_t>(type));
  }
};

/// The location of elements in this process's memory: an address, or an index from 1 into MA's
/// array of the type.
class PointerOut {
 public:
  static PointerOut pointer(void* at) noexcept { return {at, nullptr}; }
  static PointerOut index(F* at) noexcept { return {nullptr, at}; }
  /// Errors: invalid_argument if MA's array has no index for this address.
  [[nodiscard]] Status set(void* address, Type type) const;

 private:
  PointerOut(void* pointer, F* index) noexcept : pointer_(pointer), index_(index) {}

  void* pointer_;
  F* index_;
};

/// A text variable of the caller: in C with room for GA's longest name, in Fortran padded with
/// blanks.
class TextOut {
 public:
  explicit TextOut(char* text) noexcept : text_(text), length_(0), is_c_(true) {}
  TextOut(char* text, Length length) noexcept : text_(text), length_(length), is_c_(false) {}
  void set(std::string_view text) const noexcept;

 private:
  char* text_;
  Length length_;
  bool is_c_;
};
/// For generated code: writes the name of an array to a Fortran variable.
void give_text(const char* text, char* to, Length length) noexcept;

}  // namespace tessera::ga
