// SPDX-License-Identifier: BSD-3-Clause
#include "rma/engine/team/collective_call.hpp"

#include <fmt/format.h>

namespace tessera::rma::detail {

std::string CollectiveCall::describe(std::uint64_t packed, std::optional<std::uint64_t> bytes) {
  const auto type = static_cast<ElementType>(packed >> 8U & 0xffU);
  const auto reduction = static_cast<Reduction>(packed >> 16U & 0xffU);
  const auto root = static_cast<std::int32_t>(packed >> 32U);
  const std::string of = bytes ? fmt::format(" of {} bytes", *bytes) : "";
  switch (kind_of(packed)) {
    case Kind::form:
      return "formation of a team";
    case Kind::barrier:
      return "barrier";
    case Kind::broadcast:
      return fmt::format("broadcast{} from member {}", of, root);
    case Kind::allgather:
      return fmt::format("allgather{}", of);
    case Kind::allreduce:
      return fmt::format("allreduce{} of {} by {}", of, to_string(type), to_string(reduction));
    case Kind::reduce:
      return fmt::format("reduce{} of {} by {} to member {}", of, to_string(type),
                         to_string(reduction), root);
    case Kind::agree:
      return "agree";
    case Kind::part:
    case Kind::account:
      return "a later step of a collective";
    case Kind::refused:
      return "a collective with wrong arguments";
    case Kind::without_memory:
      return "a collective for which it had no memory";
  }
  return "unknown collective";
}

}  // namespace tessera::rma::detail
