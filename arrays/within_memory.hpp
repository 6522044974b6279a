// SPDX-License-Identifier: BSD-3-Clause
//
// Internal, also for the layers above. If a member of a collective runs out of memory, it reports
// that to the others; an exception would leave them waiting.
#pragma once

#include <string_view>
#include <type_traits>
#include <utility>

#include "rma/base/catch_bad_alloc.hpp"

namespace tessera::arrays::detail {

/// Local. Returns the result of body(), a Status or a Result. Errors: also no_memory with the text
/// `refusal`, if body() throws std::bad_alloc.
template <class Body>
std::invoke_result_t<Body> catch_bad_alloc(
    Body&& body, std::string_view refusal = "this rank has no memory for temporary buffers") {
  return rma::detail::catch_bad_alloc(std::forward<Body>(body), refusal);
}

}  // namespace tessera::arrays::detail
