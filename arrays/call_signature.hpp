// SPDX-License-Identifier: BSD-3-Clause
//
// Internal, also for the layers above. A hash of the arguments of a collective call, as one word.
// Team::agree() compares the words of all members, so a collective operation that they call with
// different arguments is an error on each of them.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "arrays/array_base.hpp"
#include "arrays/box.hpp"
#include "rma/base/label.hpp"
#include "rma/team.hpp"

namespace tessera::arrays::detail {

/// A hash of arguments, and the call that they are given to. Cost: two multiplications for each
/// eight bytes.
class Request {
 public:
  Request() = default;
  /// Requires: the memory of `verb` outlives this object.
  explicit Request(std::string_view verb) noexcept : label_{.verb = verb} {}
  /// Requires: also the array outlives this object.
  Request(std::string_view verb, const ArrayBase& array) noexcept : label_(array.label(verb)) {}
  explicit Request(const rma::Label& label) noexcept : label_(label) {}
  /// Requires: T has no padding. Its bytes are compared, so equal NaNs are equal, and -0 is not 0.
  template <class T>
  requires std::is_trivially_copyable_v<T> Request& add(const T& value) noexcept {
    const auto* const bytes = reinterpret_cast<const std::byte*>(&value);
    for (std::size_t at = 0; at < sizeof(T); at += sizeof(std::uint64_t)) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes + at, std::min(sizeof word, sizeof(T) - at));
      mix(word);
    }
    return *this;
  }
  Request& add(const Box& box) noexcept {
    add(box.ndims());
    for (int dim = 0; dim < box.ndims() && dim < max_dims; ++dim) {
      add(box.lo(dim)).add(box.hi(dim));
    }
    return *this;
  }
  Request& add(std::string_view text) noexcept {
    for (const char letter : text) {
      add(letter);
    }
    return add(text.size());
  }
  /// Requires: the array is open, and all members of the team that compares are also members of the
  /// array's team.
  Request& add(const ArrayBase& array, const Box& box) noexcept {
    return add(array.region().id()).add(box);
  }
  [[nodiscard]] std::uint64_t hash() const noexcept { return hash_; }
  [[nodiscard]] rma::Asked asked() const noexcept { return {hash_, label_}; }
  [[nodiscard]] const rma::Label& label() const noexcept { return label_; }

 private:
  void mix(std::uint64_t word) noexcept {
    hash_ = (hash_ ^ word) * 0x100'0000'01b3U;
    hash_ = std::rotl(hash_, 17) * 0x9e37'79b9'7f4a'7c15U;
  }

  std::uint64_t hash_ = 0xcbf2'9ce4'8422'2325U;
  rma::Label label_;
};

/// In this scope, collectives on an array have the array's label and this verb. It has no effect if
/// the array was moved from.
class CallScope {
 public:
  CallScope(std::string_view verb, const ArrayBase& array) noexcept
      : scope_(array.region() ? array.team().shared_state().get() : nullptr, array.label(verb)) {}

 private:
  rma::LabelScope scope_;
};

}  // namespace tessera::arrays::detail
