// SPDX-License-Identifier: BSD-3-Clause
//
// Where exhausted memory becomes an error, so that no exception leaves the library. Decision 39
// says where that may be: between these places, code gives the strong guarantee.
#pragma once

#include <concepts>
#include <new>
#include <stdexcept>
#include <string_view>
#include <type_traits>

#include "rma/base/status.hpp"

namespace tessera::rma::detail {

/// Local. Returns the result of body(). If an allocation in it fails, returns that of otherwise().
template <class Body, std::invocable Otherwise>
std::invoke_result_t<Body> catch_bad_alloc(Body&& body, Otherwise&& otherwise) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    // handled below
  } catch (const std::length_error&) {  // of a container that cannot have that many elements
  }
  return otherwise();
}

/// Local. Returns the result of body(), a Status or a Result.
/// Errors: also no_memory with the text `refusal` if an allocation in body() fails.
template <class Body>
std::invoke_result_t<Body> catch_bad_alloc(
    Body&& body, std::string_view refusal = "this process has no memory left",
    const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  return catch_bad_alloc(body, [&] { return Status::no_memory(refusal, file, line); });
}

/// Local. Returns the error with this code that word() returns; the code alone if there is no
/// memory for the text. For errors that must keep their code, whatever happens.
template <class Word>
[[gnu::cold]] Status worded(Code code, Word&& word) noexcept {
  return catch_bad_alloc(word, [&] { return Status::code_only(code); });
}

}  // namespace tessera::rma::detail
