// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/call_signature.hpp"

#include <fmt/format.h>

namespace tessera::arrays::detail {

rma::Status explain_different(const rma::Team& team, std::size_t other, std::string_view what,
                              std::string_view hint) {
  return team.name_rank(
      rma::Status::error(rma::Code::invalid_argument,
                         fmt::format("rank {} gave another {} than rank {}",
                                     team.members()[other].value, what, team.members()[0].value))
          .hint(hint));
}

}  // namespace tessera::arrays::detail
