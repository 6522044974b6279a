// SPDX-License-Identifier: BSD-3-Clause
//
// Step lengths of optimisation codes: how far one may go from x in a direction until an element
// reaches its bound. "Infinity" is a large number of the type, as in GA.
#include <algorithm>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <limits>

#include "arrays/transform.hpp"
#include "fortran/ga/operands.hpp"
#include "fortran/ga/operations.hpp"

namespace tessera::ga {

namespace {

template <class T>
concept StepElement = std::same_as<T, std::int32_t> || std::same_as<T, std::int64_t> ||
    std::same_as<T, float> || std::same_as<T, double>;

template <StepElement T>
constexpr T infinity() noexcept {
  if constexpr (std::same_as<T, double>) {
    return 1e307;
  } else if constexpr (std::same_as<T, float>) {
    return 1e37F;
  } else {
    return std::numeric_limits<T>::max();
  }
}

/// a / b without overflow. Requires: b ≠ 0.
template <StepElement T>
T quotient(T a, T b) noexcept {
  if constexpr (std::integral<T>) {
    return b == -1 ? (a == std::numeric_limits<T>::min() ? infinity<T>() : static_cast<T>(-a))
                   : static_cast<T>(a / b);
  } else {
    return a / b;
  }
}

template <StepElement T>
T step_quotient(T a, T b) noexcept {
  if (a == 0) {
    return b >= 0 ? infinity<T>() : T{0};
  }
  return b == 0 ? infinity<T>() : quotient(a, b);
}

/// The step until a distance `a` is covered at speed `b`; infinite at speed 0.
template <StepElement T>
T bound_quotient(T a, T b) noexcept {
  if (a == 0) {
    return b > 0 ? T{0} : infinity<T>();
  }
  return b == 0 ? infinity<T>() : quotient(a, b);
}

template <StepElement T>
T negated(T value) noexcept {
  return value == std::numeric_limits<T>::min() ? infinity<T>() : static_cast<T>(-value);
}

/// Calls act(tag, operands) for a type with step lengths.
template <class Act, class... Parts>
Status on_steps(std::string_view what, const Act& act, const Part& leading,
                const Parts&... others) {
  return on_aligned(
      [&]<class T>(Tag<T> tag, const auto& of) -> Status {
        if constexpr (StepElement<T>) {
          return act(tag, of);
        } else {
          return no_such_operation(what, *leading.record);
        }
      },
      leading, others...);
}

/// Sets the elements of `result` to combined(a, b).
template <class Combined>
Status combine(std::string_view what, const Part& result, const Part& a, const Part& b,
               const Combined& combined) {
  return on_steps(
      what,
      [&]<class T>(Tag<T>, const auto& of) {
        return arrays::transform(
            of.template part<T>(0), [&](T x, T y) { return combined(x, y); },
            of.template part<T>(1), of.template part<T>(2));
      },
      result, a, b);
}

template <class T>
void write(T value, void* to) noexcept {
  std::memcpy(to, &value, sizeof value);
}

/// Collective. Errors: invalid_argument with `sentence` if some element is negative.
template <StepElement T, class Function, class First, class... Others>
Status check_not_negative(const char* sentence, Function&& function, const First& first,
                          const Others&... others) {
  TESSERA_ASSIGN_OR_RETURN(const std::int32_t found, arrays::reduce(
                                                         std::int32_t{0}, rma::Reduction::max,
                                                         [&](std::int32_t seen, auto... values) {
                                                           return function(values...) ? 1 : seen;
                                                         },
                                                         first, others...));
  return found == 0 ? Status()
                    : Status::error(Code::invalid_argument, first.array().describe() + sentence);
}

/// What step_bound_info() finds for one element.
template <StepElement T>
struct Bound {
  T step;    ///< to the bound in the direction; infinite without one
  T masked;  ///< the same, and 0 for an element that is at a bound and does not move
};
template <StepElement T>
Bound<T> bound_of(T x, T speed, T lower, T upper) noexcept {
  const T up = bound_quotient(static_cast<T>(upper - x), std::max(speed, T{0}));
  const T down = bound_quotient(static_cast<T>(x - lower), negated(std::min(speed, T{0})));
  const T step = std::min(up, down);
  const bool is_held = speed == 0 && (x == lower || x == upper);
  return {step, is_held ? T{0} : step};
}

}  // namespace

Status elem_step_divide_patch(const Part& a, const Part& b, const Part& result) {
  const auto divide = []<class T>(T x, T y) { return step_quotient(x, y); };
  return combine("elem_step_divide", result, a, b, divide);
}

Status elem_stepb_divide_patch(const Part& a, const Part& b, const Part& result) {
  const auto divide = []<class T>(T x, T y) { return bound_quotient(x, y); };
  return combine("elem_stepb_divide", result, a, b, divide);
}

Status step_mask_patch(const Part& mask, const Part& from, const Part& result) {
  const auto choose = []<class T>(T flag, T value) { return flag == 0 ? T{0} : value; };
  return combine("step_mask", result, mask, from, choose);
}

Status step_max(const Part& x, const Part& direction, void* result) {
  const auto find = [&]<class T>(Tag<T>, const auto& of) -> Status {
    const arrays::Subarray<T> at = of.template part<T>(0);
    if (x.record == direction.record) {
      write(infinity<T>(), result);
      return at.array().sync();
    }
    TESSERA_RETURN_IF_ERROR(check_not_negative<T>(
        " has a negative element", [](T value) { return value < 0; }, at));
    TESSERA_ASSIGN_OR_RETURN(
        const T step, arrays::reduce(
                          infinity<T>(), rma::Reduction::min,
                          [](T least, T value, T speed) {
                            return speed < 0 ? std::min(least, negated(quotient(value, speed)))
                                             : least;
                          },
                          at, of.template part<T>(1)));
    write(step, result);
    return {};
  };
  return on_steps("step_max", find, x, direction);
}

Status step_bound_info(const Part& from, const Part& direction, const Part& low, const Part& high,
                       void* first_step, void* first_moving, void* last_step) {
  const auto find = [&]<class T>(Tag<T>, const auto& of) -> Status {
    const auto fold = [&](T start, rma::Reduction reduction, auto&& better) {
      return arrays::reduce(
          start, reduction,
          [&](T best, T x, T speed, T lower, T upper) {
            return better(best, bound_of(x, speed, lower, upper));
          },
          of.template part<T>(0), of.template part<T>(1), of.template part<T>(2),
          of.template part<T>(3));
    };
    TESSERA_RETURN_IF_ERROR(check_not_negative<T>(
        " has an element above its upper bound", [](T x, T upper) { return x > upper; },
        of.template part<T>(0), of.template part<T>(3)));
    TESSERA_RETURN_IF_ERROR(check_not_negative<T>(
        " has an element below its lower bound", [](T x, T lower) { return x < lower; },
        of.template part<T>(0), of.template part<T>(2)));
    TESSERA_ASSIGN_OR_RETURN(
        const T first, fold(infinity<T>(), rma::Reduction::min, [](T best, const Bound<T>& bound) {
          return std::min(best, bound.masked);
        }));
    TESSERA_ASSIGN_OR_RETURN(
        const T moving, fold(infinity<T>(), rma::Reduction::min, [](T best, const Bound<T>& bound) {
          return std::min(best, bound.step);
        }));
    TESSERA_ASSIGN_OR_RETURN(const T last,
                             fold(T{0}, rma::Reduction::max, [](T best, const Bound<T>& bound) {
                               return std::max(best, bound.masked);
                             }));
    write(first, first_step);
    write(moving, first_moving);
    write(last, last_step);
    return {};
  };
  return on_steps("step_bound_info", find, from, direction, low, high);
}

}  // namespace tessera::ga
