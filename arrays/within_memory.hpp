// SPDX-License-Identifier: BSD-3-Clause
//
// Internal, for the layers above, too. A member of a collective that gets no memory tells the
// others, instead of leaving them waiting behind an exception.
#pragma once

#include <string_view>
#include <type_traits>
#include <utility>

#include "rma/within_memory.hpp"

namespace tessera::arrays::detail {

/// Local. What body() returns, a Status or a Result. Errors: also no_memory with the text
/// `refusal`, when it gets none.
template <class Body>
std::invoke_result_t<Body> within_memory(
    Body&& body,
    std::string_view refusal = "this rank gets no memory for what it works on at once") {
  return rma::detail::within_memory(std::forward<Body>(body), refusal);
}

}  // namespace tessera::arrays::detail
