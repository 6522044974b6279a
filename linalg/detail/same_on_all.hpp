// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. The beginning of a collective operation on several arrays: what was written before is
// complete, no member has found anything wrong, and all ask for the same.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>

#include "arrays/array_base.hpp"
#include "rma/status.hpp"

namespace tessera::linalg::detail {

/// A hash of what an operation was asked for.
class Request {
 public:
  template <class T>
  requires std::is_trivially_copyable_v<T> Request& add(const T& value) noexcept {
    unsigned char bytes[sizeof(T)];  // NOLINT(modernize-avoid-c-arrays)
    std::memcpy(bytes, &value, sizeof(T));
    for (const unsigned char byte : bytes) {
      hash_ = (hash_ ^ byte) * 0x100'0000'01b3U;
      hash_ = std::rotl(hash_, 17) * 0x9e37'79b9'7f4a'7c15U;
    }
    return *this;
  }
  Request& add(const arrays::Box& box) noexcept {
    add(box.ndims());
    for (int dim = 0; dim < box.extents().ndims() && dim < arrays::max_dims; ++dim) {
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
  [[nodiscard]] std::uint64_t value() const noexcept { return hash_; }

 private:
  std::uint64_t hash_ = 0xcbf2'9ce4'8422'2325U;
};

/// Collective over the team of `target`. Fences what this rank wrote to `target` and `sources`, and
/// makes the members' statuses and requests one. Requires: `target` is open.
/// Errors: those of any member; invalid_argument when requests differ.
rma::Status begin_together(const arrays::ArrayBase& target,
                           std::span<const arrays::ArrayBase* const> sources, rma::Status mine,
                           const Request& request);

}  // namespace tessera::linalg::detail
