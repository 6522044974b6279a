// SPDX-License-Identifier: BSD-3-Clause
//
// For this layer and those above: members of a team compare the arguments of a collective call.
//
// CallSignature is a hash of the arguments, as one word, and another of the scalars among them.
// Team::agree() compares the words of all members, so a collective operation that they call with
// different arguments is an error on each of them. A team may be set not to compare scalars
// (rma::TeamOptions). check_same_on_all() compares values that are not arguments of one call.
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
#include "rma/base/result.hpp"
#include "rma/label.hpp"
#include "rma/team.hpp"

namespace tessera::arrays::detail {

/// A hash of arguments, and the call that they are given to. Cost: two multiplications for each
/// eight bytes.
class CallSignature {
 public:
  CallSignature() = default;
  /// Requires: the memory of `verb` outlives this object.
  explicit CallSignature(std::string_view verb) noexcept : label_{.verb = verb} {}
  /// Requires: also the array outlives this object.
  CallSignature(std::string_view verb, const ArrayBase& array) noexcept
      : label_(array.label(verb)) {}
  explicit CallSignature(const rma::Label& label) noexcept : label_(label) {}
  /// Requires: T has no padding. Its bytes are compared, so equal NaNs are equal, and -0 is not 0.
  template <class T>
  requires std::is_trivially_copyable_v<T> CallSignature& add(const T& value) noexcept {
    mix_bytes(hash_, value);
    return *this;
  }
  /// As add(), for a number that the operation computes with.
  template <class T>
  requires std::is_trivially_copyable_v<T> CallSignature& add_scalar(const T& value) noexcept {
    mix_bytes(scalars_, value);
    return *this;
  }
  /// All that another signature has, except its label.
  CallSignature& add(const CallSignature& given) noexcept {
    mix(hash_, given.hash_);
    mix(scalars_, given.scalars_);
    return *this;
  }
  CallSignature& add(const Box& box) noexcept {
    add(box.ndims());
    for (int dim = 0; dim < box.ndims() && dim < max_dims; ++dim) {
      add(box.lo(dim)).add(box.hi(dim));
    }
    return *this;
  }
  CallSignature& add(std::string_view text) noexcept {
    for (const char character : text) {
      add(character);
    }
    return add(text.size());
  }
  /// Requires: the array is open, and all members of the team that compares are also members of the
  /// array's team.
  CallSignature& add(const ArrayBase& array, const Box& box) noexcept {
    return add(array.region().id()).add(box);
  }
  [[nodiscard]] std::uint64_t hash() const noexcept { return hash_; }
  [[nodiscard]] rma::AgreedCall asked() const noexcept { return {hash_, label_, scalars_}; }
  [[nodiscard]] const rma::Label& label() const noexcept { return label_; }

 private:
  static void mix(std::uint64_t& hash, std::uint64_t word) noexcept {
    hash = (hash ^ word) * 0x100'0000'01b3U;
    hash = std::rotl(hash, 17) * 0x9e37'79b9'7f4a'7c15U;
  }
  template <class T>
  static void mix_bytes(std::uint64_t& hash, const T& value) noexcept {
    const auto* const bytes = reinterpret_cast<const std::byte*>(&value);
    for (std::size_t at = 0; at < sizeof(T); at += sizeof(std::uint64_t)) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes + at, std::min(sizeof word, sizeof(T) - at));
      mix(hash, word);
    }
  }

  static constexpr std::uint64_t start = 0xcbf2'9ce4'8422'2325U;
  std::uint64_t hash_ = start;
  std::uint64_t scalars_ = start;
  rma::Label label_;
};

/// "rank 3 gave another distribution than rank 0", for the member at position `other` of the team.
rma::Status explain_different(const rma::Team& team, std::size_t other, std::string_view what,
                              std::string_view hint);

/// Collective. Returns an error with `hint` on all members, if a member's value differs from the
/// first member's. `what` names the value. T can be compared and copied byte by byte. Cost: one
/// allgather. Errors: invalid_argument, and those of the allgather.
template <class T>
rma::Status check_same_on_all(
    rma::Team& team, const T& value, std::string_view what,
    std::string_view hint = "all members must call it with the same arguments") {
  TESSERA_ASSIGN_OR_RETURN(const auto all, team.allgather_value(value));
  for (std::size_t i = 1; i < all.size(); ++i) {
    if (all[i] != all[0]) {
      return explain_different(team, i, what, hint);
    }
  }
  return {};
}

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
