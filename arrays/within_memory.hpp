// SPDX-License-Identifier: BSD-3-Clause
//
// A member of a collective that gets no memory tells the others, instead of leaving them
// waiting behind an exception.
#pragma once

#include <new>
#include <stdexcept>
#include <string>
#include <string_view>

#include "rma/status.hpp"

namespace tessera::arrays::detail {

/// Local. What body() returns. Errors: also no_memory with the text `refusal`, when it gets none.
template <class Body>
rma::Status within_memory(
    Body&& body,
    std::string_view refusal = "this rank gets no memory for what it works on at once") {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    // As below.
  } catch (const std::length_error&) {  // of a container that cannot count so far
  }
  return rma::Status::error(rma::Code::no_memory, std::string(refusal));
}

}  // namespace tessera::arrays::detail
