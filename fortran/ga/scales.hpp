// SPDX-License-Identifier: BSD-3-Clause
//
// The factor of an accumulate, from an address and an array's element type.
#pragma once

#include "fortran/ga/dispatch.hpp"

namespace tessera::ga {

/// Errors: invalid_argument for elements without arithmetic.
inline Result<rma::Scale> scale_of(const Record& record, const void* alpha) {
  const auto& type = record.array().element().type;
  if (!type) [[unlikely]] {
    return element_type(record.type()).status();
  }
  return rma::dispatch(*type, [&]<class T>(rma::Tag<T>) -> Result<rma::Scale> {
    return rma::Scale::of(number_at<T>(alpha));
  });
}

}  // namespace tessera::ga
