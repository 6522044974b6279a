// SPDX-License-Identifier: BSD-3-Clause
//
// Result<T>: a value, or the Status that says why there is none.
//
// Shaped like std::expected<T, Status>, which can replace it once the oldest supported compiler has
// it.
#pragma once

#include <optional>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "rma/base/status.hpp"

namespace tessera::rma {

/// Thrown by Result::value() and require(), for programs that prefer exceptions. The library itself
/// does not throw.
class Error : public std::runtime_error {
 public:
  explicit Error(Status status)
      : std::runtime_error(status.describe()), status_(std::move(status)) {}
  [[nodiscard]] const Status& status() const noexcept { return status_; }

 private:
  Status status_;
};

/// Throws Error unless `status` is ok.
inline void require(Status status) {
  if (!status.ok()) {
    throw Error(std::move(status));
  }
}

template <class T>
class [[nodiscard]] Result {
 public:
  using value_type = T;

  // NOLINTBEGIN(google-explicit-constructor, bugprone-forwarding-reference-overload): by design;
  // the constraint excludes copies and moves.
  template <class U = T>
  requires(std::is_constructible_v<T, U&&> && !std::is_same_v<std::remove_cvref_t<U>, Status> &&
           !std::is_same_v<std::remove_cvref_t<U>, Result>) Result(U&& value)
      : value_(std::forward<U>(value)) {}
  // NOLINTEND(google-explicit-constructor, bugprone-forwarding-reference-overload)

  /// Requires: `status` is an error. A success without a value becomes an `internal` error.
  Result(Status status)  // NOLINT(google-explicit-constructor): implicit by design
      : status_(status.ok() ? Status::error(Code::internal, "a result has neither value nor error")
                            : std::move(status)) {}

  [[nodiscard]] bool ok() const noexcept { return value_.has_value(); }
  explicit operator bool() const noexcept { return ok(); }

  /// The error; success if there is a value.
  [[nodiscard]] const Status& status() const& noexcept { return status_; }
  [[nodiscard]] Status status() && noexcept { return std::move(status_); }

  /// The value. Throws Error if there is none.
  [[nodiscard]] T& value() & {
    require(status_);
    return *value_;
  }
  [[nodiscard]] const T& value() const& {
    require(status_);
    return *value_;
  }
  [[nodiscard]] T value() && {
    require(std::move(status_));
    return std::move(*value_);
  }

  /// The value. Requires: ok().
  [[nodiscard]] T take() && { return std::move(*value_); }
  [[nodiscard]] T& operator*() & noexcept { return *value_; }
  [[nodiscard]] const T& operator*() const& noexcept { return *value_; }
  [[nodiscard]] T* operator->() noexcept { return &*value_; }
  [[nodiscard]] const T* operator->() const noexcept { return &*value_; }

 private:
  std::optional<T> value_;
  Status status_;
};

/// Throws Error unless there is a value; ignores the value.
template <class T>
void require(const Result<T>& result) {
  require(result.status());
}

}  // namespace tessera::rma
