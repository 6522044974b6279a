// SPDX-License-Identifier: BSD-3-Clause
//
// Step lengths for optimisation codes with bounds: how far one may go from x in the direction dx.
//
// Operands have a real element type and any distributions. All functions are collective over the
// team of x, begin with a synchronisation, and return the same on all members. Errors: as in
// elementwise.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>

#include "arrays/elementwise.hpp"
#include "arrays/transform.hpp"
#include "rma/base/result.hpp"

namespace tessera::arrays {

namespace detail {

// Valid steps are at least 0, so numbers below 0 stand for errors; the smaller one takes
// precedence.
inline constexpr double step_of_nan = -1;

inline rma::Status not_a_number(std::string_view verb, const ArrayBase& x) {
  return x.name_rank(rma::Status::error(
      rma::Code::invalid_argument, std::string(verb) + ": " + x.describe() +
                                       " or another operand has an element that is not a number"));
}

}  // namespace detail

/// Collective. The largest step for which no element of x + step · dx is negative; infinite if dx
/// has no negative element. Errors: also invalid_argument if x has a negative element, or x or dx
/// an element that is not a number.
template <Operand X, OperandLike<X> Dx>
requires rma::RealElement<ElementOf<X>> rma::Result<double> step_max(const X& x, const Dx& dx) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr double of_negative = -infinity;
  TESSERA_ASSIGN_OR_RETURN(const double step,
                           reduce(
                               infinity, rma::Reduction::min,
                               [](double least, ElementOf<X> at, ElementOf<X> direction) {
                                 const auto x_i = static_cast<double>(at);
                                 const auto dx_i = static_cast<double>(direction);
                                 const double step_i = dx_i < 0 ? -x_i / dx_i : infinity;
                                 return x_i < 0 ? of_negative
                                        : std::isnan(x_i) || std::isnan(dx_i) || std::isnan(step_i)
                                            ? std::min(least, detail::step_of_nan)
                                            : std::min(least, step_i);
                               },
                               x, dx));
  if (step == of_negative) {
    return part(x).array().name_rank(
        rma::Status::error(rma::Code::invalid_argument,
                           "step_max: " + part(x).array().describe() + " has a negative element"));
  }
  if (step == detail::step_of_nan) {
    return detail::not_a_number("step_max", part(x).array());
  }
  return step;
}

/// The steps at which elements of x + step · dx reach their bounds.
struct StepBounds {
  double first = 0;           ///< the smallest step at which an element reaches its bound
  double first_positive = 0;  ///< the smallest one above 0
  double last = 0;            ///< the largest one
};

/// Collective. For each element with dx ≠ 0, the step to its bound: the upper one if dx is
/// positive, the lower one if it is negative. If dx has no such element, first and first_positive
/// are infinite and last is 0. Errors: also invalid_argument if such a step is not a number.
template <Operand X, OperandLike<X> Dx, OperandLike<X> Lower, OperandLike<X> Upper>
requires rma::RealElement<ElementOf<X>> rma::Result<StepBounds> step_bounds(const X& x,
                                                                            const Dx& dx,
                                                                            const Lower& lower,
                                                                            const Upper& upper) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const auto fold = [&](double start, rma::Reduction reduction, auto&& better) {
    using T = ElementOf<X>;
    return reduce(
        start, reduction,
        [&](double best, T at, T direction, T low, T high) {
          const auto dx_i = static_cast<double>(direction);
          const double bound = static_cast<double>(dx_i > 0 ? high : low);
          return dx_i == 0 ? best : better(best, (bound - static_cast<double>(at)) / dx_i);
        },
        x, dx, lower, upper);
  };
  TESSERA_ASSIGN_OR_RETURN(const double nans,
                           fold(0, rma::Reduction::max, [](double seen, double step) {
                             return std::isnan(step) ? 1.0 : seen;
                           }));
  if (nans > 0) {
    return detail::not_a_number("step_bounds", part(x).array());
  }
  StepBounds bounds;
  TESSERA_ASSIGN_OR_RETURN(bounds.first,
                           fold(infinity, rma::Reduction::min,
                                [](double best, double step) { return std::min(best, step); }));
  TESSERA_ASSIGN_OR_RETURN(bounds.first_positive,
                           fold(infinity, rma::Reduction::min, [](double best, double step) {
                             return step > 0 ? std::min(best, step) : best;
                           }));
  TESSERA_ASSIGN_OR_RETURN(bounds.last,
                           fold(-infinity, rma::Reduction::max,
                                [](double best, double step) { return std::max(best, step); }));
  bounds.last = bounds.last == -infinity ? 0 : bounds.last;
  return bounds;
}

}  // namespace tessera::arrays
