// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/matrix.hpp"

#include <array>

#include "fortran/c/operations.h"
#include "fortran/detail/operands.hpp"

namespace tessera::capi {

extern "C" {

int tessera_array_add_diagonal(tessera_part a, tessera_part v) {
  return on_parts(__func__, std::array{a, v}, {}, [&]<class T>(Tag<T>, const auto& given) {
    return arrays::add_diagonal(given.template part<T>(0), given.template part<T>(1));
  });
}

int tessera_array_set_diagonal(tessera_part a, tessera_part v) {
  return on_parts(__func__, std::array{a, v}, {}, [&]<class T>(Tag<T>, const auto& given) {
    return arrays::set_diagonal(given.template part<T>(0), given.template part<T>(1));
  });
}

int tessera_array_get_diagonal(tessera_part a, tessera_part v) {
  return on_parts(__func__, std::array{a, v}, {}, [&]<class T>(Tag<T>, const auto& given) {
    return arrays::get_diagonal(given.template part<T>(0), given.template part<T>(1));
  });
}

int tessera_array_scale_rows(tessera_part a, tessera_part v) {
  return on_parts(__func__, std::array{a, v}, {}, [&]<class T>(Tag<T>, const auto& given) {
    return arrays::scale_rows(given.template part<T>(0), given.template part<T>(1));
  });
}

int tessera_array_scale_columns(tessera_part a, tessera_part v) {
  return on_parts(__func__, std::array{a, v}, {}, [&]<class T>(Tag<T>, const auto& given) {
    return arrays::scale_columns(given.template part<T>(0), given.template part<T>(1));
  });
}

int tessera_array_shift_diagonal(tessera_part a, const void* value) {
  return on_parts(__func__, std::array{a}, {value}, [&]<class T>(Tag<T>, const auto& given) {
    return arrays::shift_diagonal(given.template part<T>(0), number<T>(value));
  });
}

int tessera_array_fill_diagonal(tessera_part a, const void* value) {
  return on_parts(__func__, std::array{a}, {value}, [&]<class T>(Tag<T>, const auto& given) {
    return arrays::fill_diagonal(given.template part<T>(0), number<T>(value));
  });
}

int tessera_array_zero_diagonal(tessera_part a) {
  return on_parts(__func__, std::array{a}, {}, [&]<class T>(Tag<T>, const auto& given) {
    return arrays::zero_diagonal(given.template part<T>(0));
  });
}

int tessera_array_symmetrize(tessera_part a) {
  return on_parts(__func__, std::array{a}, {}, [&]<class T>(Tag<T>, const auto& given) {
    return arrays::symmetrize(given.template part<T>(0));
  });
}

}  // extern "C"

}  // namespace tessera::capi
