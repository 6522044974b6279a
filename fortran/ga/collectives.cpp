// SPDX-License-Identifier: BSD-3-Clause
//
// Sums and broadcasts over a group.
#include <fmt/format.h>

#include <optional>
#include <string_view>

#include "fortran/ga/operations.hpp"
#include "rma/team.hpp"

namespace tessera::ga {

namespace {

using rma::ElementType;
using rma::Reduction;

struct SumOperator {
  std::string_view name;
  Reduction reduction;
};
constexpr SumOperator operators[] = {
    {"+", Reduction::sum},           {"*", Reduction::product},
    {"max", Reduction::max},         {"min", Reduction::min},
    {"absmax", Reduction::abs_max},  {"absmin", Reduction::abs_min},
    {"and", Reduction::logical_and}, {"land", Reduction::logical_and},
    {"&&", Reduction::logical_and},  {"or", Reduction::logical_or},
    {"lor", Reduction::logical_or},  {"||", Reduction::logical_or},
};

/// As in GA, more may follow the operator's name: programs pass the address of one character.
std::optional<Reduction> reduction_of(std::string_view name, bool is_integer) noexcept {
  for (const SumOperator& each : operators) {
    if (name.starts_with(each.name)) {
      return is_integer && each.name == "or" ? Reduction::bit_or : each.reduction;
    }
  }
  return {};
}

/// Only sums and products treat a complex number as one number. As in GA, the other operators treat
/// real and imaginary parts as separate numbers.
struct Elements {
  ElementType type;
  std::int64_t count;
};
Elements parts_of(ElementType type, std::int64_t count, Reduction reduction) {
  const bool by_parts = rma::is_complex(type) && reduction != Reduction::product;
  if (!by_parts) {
    return {type, count};
  }
  return {type == ElementType::c64 ? ElementType::f32 : ElementType::f64, 2 * count};
}

}  // namespace

Status pgroup_brdcst(Group& group, std::span<std::byte> bytes, std::int64_t root) {
  TESSERA_RETURN_IF_ERROR(group.check_member());
  if (root < 0 || root >= group.size()) {
    return Status::error(
        Code::invalid_argument,
        fmt::format("there is no process {} in a group of {}", root, group.size()));
  }
  return group.team.broadcast(bytes, rma::TeamRank{static_cast<std::int32_t>(root)});
}

Status pgroup_gop(Group& group, const Numbers& numbers, std::string_view name) {
  TESSERA_RETURN_IF_ERROR(group.check_member());
  TESSERA_RETURN_IF_ERROR(check_count(numbers.count));
  TESSERA_ASSIGN_OR_RETURN(const ElementType type, element_type(numbers.type));
  const auto reduction = reduction_of(name, rma::is_integer(type));
  if (!reduction) {
    return Status::error(Code::invalid_argument, fmt::format("there is no operator '{}'", name))
        .hint("use one of + * max min absmax absmin and or");
  }
  const Elements elements = parts_of(type, numbers.count, *reduction);
  return group.team.allreduce(numbers.at, elements.count, elements.type, *reduction);
}

}  // namespace tessera::ga
