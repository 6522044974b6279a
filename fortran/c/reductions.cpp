// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/reductions.hpp"

#include <array>
#include <cstdint>
#include <cstring>

#include "arrays/steps.hpp"
#include "fortran/c/operations.h"
#include "fortran/detail/arguments.hpp"
#include "fortran/detail/operands.hpp"

namespace tessera::capi {
namespace {

template <class T>
rma::Status give_selected(const rma::Result<arrays::Selected<T>>& selected, void* value,
                          std::int64_t* at) {
  if (selected.ok()) {
    std::memcpy(value, &selected->value, sizeof(T));
    copy_list(selected->at, at);
  }
  return selected.status();
}

rma::Status not_real(const AnyPart& part) {
  return rma::Status::error(
      rma::Code::invalid_argument,
      part.array().describe() + " has complex elements, which have no bounds");
}

arrays::ReduceOptions options_of(int reproducible) noexcept {
  return {.reproducible = reproducible != 0};
}

}  // namespace

extern "C" {

int tessera_array_sum(tessera_part a, int reproducible, void* sum) {
  return on_parts(__func__, std::array{a}, {sum}, [&]<class T>(Tag<T>, const auto& given) {
    return write_number(arrays::sum(given.template part<T>(0), options_of(reproducible)), sum);
  });
}

int tessera_array_dot(tessera_part a, tessera_part b, int reproducible, void* dot) {
  return on_parts(__func__, std::array{a, b}, {dot}, [&]<class T>(Tag<T>, const auto& given) {
    return write_number(
        arrays::dot(given.template part<T>(0), given.template part<T>(1), options_of(reproducible)),
        dot);
  });
}

int tessera_array_dot_conjugated(tessera_part a, tessera_part b, int reproducible, void* dot) {
  return on_parts(__func__, std::array{a, b}, {dot}, [&]<class T>(Tag<T>, const auto& given) {
    return write_number(arrays::dot_conjugated(given.template part<T>(0), given.template part<T>(1),
                                               options_of(reproducible)),
                        dot);
  });
}

int tessera_array_norm2(tessera_part a, int reproducible, double* norm) {
  return on_parts(__func__, std::array{a}, {norm}, [&]<class T>(Tag<T>, const auto& given) {
    return write_number(arrays::norm2(given.template part<T>(0), options_of(reproducible)), norm);
  });
}

int tessera_array_norm_max(tessera_part a, double* norm) {
  return on_parts(__func__, std::array{a}, {norm}, [&]<class T>(Tag<T>, const auto& given) {
    return write_number(arrays::norm_max(given.template part<T>(0)), norm);
  });
}

int tessera_array_norm1(tessera_part a, int reproducible, double* norm) {
  return on_parts(__func__, std::array{a}, {norm}, [&]<class T>(Tag<T>, const auto& given) {
    return write_number(arrays::norm1(given.template part<T>(0), options_of(reproducible)), norm);
  });
}

int tessera_array_norm_infinity(tessera_part a, int reproducible, double* norm) {
  return on_parts(__func__, std::array{a}, {norm}, [&]<class T>(Tag<T>, const auto& given) {
    return write_number(arrays::norm_infinity(given.template part<T>(0), options_of(reproducible)),
                        norm);
  });
}

int tessera_array_select_max(tessera_part a, void* value, int64_t at[]) {
  return on_parts(__func__, std::array{a}, {value, at}, [&]<class T>(Tag<T>, const auto& given) {
    return give_selected(arrays::select_max(given.template part<T>(0)), value, at);
  });
}

int tessera_array_select_min(tessera_part a, void* value, int64_t at[]) {
  return on_parts(__func__, std::array{a}, {value, at}, [&]<class T>(Tag<T>, const auto& given) {
    return give_selected(arrays::select_min(given.template part<T>(0)), value, at);
  });
}

int tessera_array_step_max(tessera_part x, tessera_part dx, double* step) {
  return on_parts(
      __func__, std::array{x, dx}, {step}, [&]<class T>(Tag<T>, const auto& given) -> rma::Status {
        if constexpr (rma::RealElement<T>) {
          return write_number(
              arrays::step_max(given.template part<T>(0), given.template part<T>(1)), step);
        } else {
          return not_real(given.any(0));
        }
      });
}

int tessera_array_step_bounds(tessera_part x, tessera_part dx, tessera_part lower,
                              tessera_part upper, double* first, double* first_positive,
                              double* last) {
  return on_parts(
      __func__, std::array{x, dx, lower, upper}, {first, first_positive, last},
      [&]<class T>(Tag<T>, const auto& given) -> rma::Status {
        if constexpr (rma::RealElement<T>) {
          TESSERA_ASSIGN_OR_RETURN(
              const arrays::StepBounds bounds,
              arrays::step_bounds(given.template part<T>(0), given.template part<T>(1),
                                  given.template part<T>(2), given.template part<T>(3)));
          *first = bounds.first;
          *first_positive = bounds.first_positive;
          *last = bounds.last;
          return {};
        } else {
          return not_real(given.any(0));
        }
      });
}

}  // extern "C"

}  // namespace tessera::capi
