// SPDX-License-Identifier: BSD-3-Clause
//
// Kinds of operations: an Op, and for puts, gets and accumulates also a Form. Counts of all kinds
// are arrays; the contiguous kinds and those without a form come first.
#pragma once

#include <array>
#include <cstddef>

#include "rma/counters.hpp"

namespace tessera::rma::detail {

/// The number of operations with a form: put, get and accumulate.
inline constexpr std::size_t formed_ops = 3;
static_assert(static_cast<std::size_t>(Op::accumulate) + 1 == formed_ops);

inline constexpr std::size_t op_kinds = op_count + (form_count - 1) * formed_ops;

constexpr std::size_t kind_of(Op op, Form form = Form::contiguous) noexcept {
  const auto plain = static_cast<std::size_t>(op);
  const auto row = static_cast<std::size_t>(form);
  return row == 0 ? plain : op_count + (row - 1) * formed_ops + plain;
}
constexpr Op op_of(std::size_t kind) noexcept {
  return static_cast<Op>(kind < op_count ? kind : (kind - op_count) % formed_ops);
}
constexpr Form form_of(std::size_t kind) noexcept {
  return static_cast<Form>(kind < op_count ? 0 : 1 + (kind - op_count) / formed_ops);
}

using KindTallies = std::array<Tally, op_kinds>;

}  // namespace tessera::rma::detail
