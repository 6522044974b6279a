// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. Converts Fortran scalars of any kind for the C interface.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "fortran/detail/descriptors.hpp"

namespace tessera::fapi {

/// A number for C, by its address. Null if an optional one is absent.
class Scalar {
 public:
  Scalar() = default;
  explicit Scalar(const void* given) : given_(given) {}
  template <class T>
  static Scalar converted(const T& value) {
    Scalar scalar;
    static_assert(sizeof value <= sizeof scalar.own_);
    std::memcpy(scalar.own_.data(), &value, sizeof value);
    scalar.is_converted_ = true;
    return scalar;
  }
  [[nodiscard]] const void* address() const noexcept {
    return is_converted_ ? own_.data() : given_;
  }

 private:
  const void* given_ = nullptr;
  alignas(16) std::array<std::byte, 16> own_ = {};
  bool is_converted_ = false;
};

/// A number for elements of `kind`. A number of another kind is converted if that keeps all its
/// digits: 2 and 0.5 become real64; 0.1 does not, as it is a different number there. Errors:
/// invalid_argument.
rma::Result<Scalar> scalar_of(const arrays::ElementKind& kind, const Descriptor* given,
                              std::string_view what);

/// An integer of any kind; `absent` if it is not present. Errors: invalid_argument.
rma::Result<std::int64_t> integer_of(const Descriptor* given, std::string_view what,
                                     std::int64_t absent = 0);
/// A real or an integer of any kind, as a real64. Errors: invalid_argument.
rma::Result<double> real_of(const Descriptor* given, std::string_view what);

}  // namespace tessera::fapi
