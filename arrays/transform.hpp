// SPDX-License-Identifier: BSD-3-Clause
//
// Operations that apply a caller's function to every element: transform, for_each_element, reduce.
//
//     transform(c, [](double x, double y) { return std::hypot(x, y); }, a, b);     // c = f(a, b)
//     for_each_element(a, [](const Index& at, double& x) { x = f(at[0], at[1]); });
//     const double most = reduce(0.0, Reduction::max, [](double s, double x) { … }, a).value();
//
// Operands are arrays or parts of them, of the same extents and with any distributions. The first
// one may also be one of the others, if it is the same part. The function runs on the rank that
// owns the element of the first operand, on one thread, in no guaranteed order.
//
// All functions are collective over the team of the first operand, and begin and end with a
// synchronisation: they see all earlier writes of other ranks, and all ranks see the result
// afterwards. Ghost cells are neither read nor written. Functions can't be compared: if members
// give different ones, or ones that captured different values, each rank applies its own to the
// elements that it owns, without an error. Errors of each: see check_operands() in
// chunk_engine.hpp; invalid_argument if members give different operands, start values or
// reductions; peer_lost.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include "arrays/chunk_engine.hpp"
#include "arrays/subarray.hpp"
#include "rma/base/result.hpp"

namespace tessera::arrays {

namespace detail {

/// True if the elements of each operand are contiguous within a run.
inline bool is_dense(const LoopNest& nest, std::size_t operands) noexcept {
  const auto& strides = nest.run.strides;
  return nest.run.count == 1 ||
         std::all_of(strides.begin(), strides.begin() + static_cast<std::ptrdiff_t>(operands),
                     [](std::int64_t stride) { return stride == 1; });
}

/// Calls body(a, b, …) with references to the corresponding elements of the operands. Loops over
/// dense runs have no strides, so that the compiler can vectorise them.
template <class... T, class Body, std::size_t... K>
void for_each_element_tuple(const Chunk& chunk, Body&& body, std::index_sequence<K...>) {
  const LoopNest nest = loop_nest(chunk, sizeof...(T));
  const bool dense = is_dense(nest, sizeof...(T));
  for_each_run(nest, [&](const auto& offsets) {
    const std::tuple<T*...> at{reinterpret_cast<T*>(chunk.operands[K].data) + offsets[K]...};
    if (dense) {
      for (std::int64_t i = 0; i < nest.run.count; ++i) {
        body(std::get<K>(at)[i]...);
      }
    } else {
      for (std::int64_t i = 0; i < nest.run.count; ++i) {
        body(std::get<K>(at)[i * nest.run.strides[K]]...);
      }
    }
  });
}
template <class... T, class Body>
void for_each_element_tuple(const Chunk& chunk, Body&& body) {
  for_each_element_tuple<T...>(chunk, body, std::index_sequence_for<T...>{});
}

}  // namespace detail

/// Collective. out = function(in, …), element by element.
template <Operand Out, class Function, Operand... In>
rma::Status transform(Out&& out, Function&& function, const In&... in) {
  static_assert(1 + sizeof...(In) <= max_operands,
                "transform() takes at most 5 operands besides the result");
  const std::array operands{writes(out), reads(in)...};
  return on_chunks("transform", operands, [&](const Chunk& chunk) {
    detail::for_each_element_tuple<ElementOf<Out>, const ElementOf<In>...>(
        chunk, [&](auto& result, const auto&... values) { result = function(values...); });
    return rma::Status();
  });
}

namespace detail {

/// Collective. As for_each_element(), under the name `verb`: `found` is an error that this rank
/// found itself, and `given` has other values that members must give alike.
template <Operand A, class Function>
rma::Status visit_elements(std::string_view verb, A&& operand, Function&& function,
                           rma::Status found, const CallSignature& given = {}) {
  const std::array operands{writes(operand)};
  const auto visit = [&](const Chunk& chunk) {
    const auto view = chunk.view<ElementOf<A>>(0);
    const Extents extents = chunk.box.extents();
    Index within = Index::zeros(extents.ndims());
    do {
      Index at = within;
      for (int dim = 0; dim < at.ndims(); ++dim) {
        at[dim] += chunk.box.lo(dim);
      }
      function(static_cast<const Index&>(at), view[within]);
    } while (advance(within, extents, MemoryOrder::row_major));
    return rma::Status();
  };
  return on_chunks(verb, operands, visit, std::move(found), {}, given);
}

}  // namespace detail

/// Collective. Calls function(index, element) for each element of `operand`, which it may change.
template <Operand A, class Function>
rma::Status for_each_element(A&& operand, Function&& function) {
  return detail::visit_elements("for_each_element", operand, std::forward<Function>(function), {});
}

/// Collective. Each rank folds its elements: value = function(value, a, …), beginning with `start`.
/// The ranks' values are then combined with `reduction`, in team order. Returns the same on all
/// members.
template <rma::Element Value, class Function, Operand A, Operand... In>
rma::Result<Value> reduce(Value start, rma::Reduction reduction, Function&& function, const A& a,
                          const In&... in) {
  static_assert(1 + sizeof...(In) <= max_operands, "reduce() takes at most 6 operands");
  const std::array operands{reads(a), reads(in)...};
  const detail::CallScope scope("reduce", *operands[0].array);
  TESSERA_RETURN_IF_ERROR(begin_on_chunks(
      "reduce", operands, {}, {}, detail::CallSignature().add_scalar(start).add(reduction)));
  Value value = start;
  rma::Team& team = part(a).array().team();
  TESSERA_RETURN_IF_ERROR(team.agree(for_each_chunk(operands, [&](const Chunk& chunk) {
    detail::for_each_element_tuple<const ElementOf<A>, const ElementOf<In>...>(
        chunk, [&](const auto&... values) { value = function(value, values...); });
    return rma::Status();
  })));
  return team.allreduce(value, reduction);
}

}  // namespace tessera::arrays
