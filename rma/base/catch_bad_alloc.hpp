// SPDX-License-Identifier: BSD-3-Clause
//
// Where exhausted memory becomes an error, so that no exception leaves the library.
#pragma once

#include <new>
#include <stdexcept>
#include <string_view>
#include <type_traits>

#include "rma/base/status.hpp"

namespace tessera::rma::detail {

/// Local. Returns the result of body(), a Status or a Result.
/// Errors: also no_memory with the text `refusal` if an allocation in body() fails.
template <class Body>
std::invoke_result_t<Body> catch_bad_alloc(
    Body&& body, std::string_view refusal = "this process has no memory left",
    const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    // handled below
  } catch (const std::length_error&) {  // of a container that cannot have that many elements
  }
  return Status::no_memory(refusal, file, line);
}

}  // namespace tessera::rma::detail
