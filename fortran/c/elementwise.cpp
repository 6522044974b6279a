// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/elementwise.hpp"

#include <array>

#include "arrays/random.hpp"
#include "arrays/reshape.hpp"
#include "fortran/c/operations.h"
#include "fortran/detail/operands.hpp"

namespace tessera::capi {

extern "C" {

int tessera_array_fill(tessera_part result, const void* value) {
  return on_parts(__func__, std::array{result}, {value}, [&]<class T>(Tag<T>, const auto& given) {
    return arrays::fill(given.template part<T>(0), number<T>(value));
  });
}

int tessera_array_zero(tessera_part result) {
  return on_parts(__func__, std::array{result}, {}, [&]<class T>(Tag<T>, const auto& given) {
    return arrays::zero(given.template part<T>(0));
  });
}

int tessera_array_scale(tessera_part result, const void* alpha) {
  return on_parts(__func__, std::array{result}, {alpha}, [&]<class T>(Tag<T>, const auto& given) {
    return arrays::scale(given.template part<T>(0), number<T>(alpha));
  });
}

int tessera_array_add_constant(tessera_part result, const void* value) {
  return on_parts(__func__, std::array{result}, {value}, [&]<class T>(Tag<T>, const auto& given) {
    return arrays::add_constant(given.template part<T>(0), number<T>(value));
  });
}

int tessera_array_absolute(tessera_part result) {
  return on_parts(__func__, std::array{result}, {}, [&]<class T>(Tag<T>, const auto& given) {
    return arrays::absolute(given.template part<T>(0));
  });
}

int tessera_array_reciprocal(tessera_part result) {
  return on_parts(__func__, std::array{result}, {}, [&]<class T>(Tag<T>, const auto& given) {
    return arrays::reciprocal(given.template part<T>(0));
  });
}

int tessera_array_copy(tessera_part from, tessera_part to) {
  return on_parts(__func__, std::array{to, from}, {}, [&]<class T>(Tag<T>, const auto& given) {
    return arrays::copy(given.template part<T>(1), given.template part<T>(0));
  });
}

int tessera_array_copy_in_order(tessera_part from, tessera_part to) {
  return on_parts(__func__, std::array{to, from}, {}, [&]<class T>(Tag<T>, const auto& given) {
    return arrays::copy_row_major(given.template part<T>(1), given.template part<T>(0));
  });
}

int tessera_array_add(const void* alpha, tessera_part a, const void* beta, tessera_part b,
                      tessera_part result) {
  return on_parts(__func__, std::array{result, a, b}, {alpha, beta},
                  [&]<class T>(Tag<T>, const auto& given) {
                    return arrays::add(number<T>(alpha), given.template part<T>(1), number<T>(beta),
                                       given.template part<T>(2), given.template part<T>(0));
                  });
}

int tessera_array_multiply(tessera_part a, tessera_part b, tessera_part result) {
  return on_parts(__func__, std::array{result, a, b}, {}, [&]<class T>(Tag<T>, const auto& given) {
    return arrays::multiply(given.template part<T>(1), given.template part<T>(2),
                            given.template part<T>(0));
  });
}

int tessera_array_divide(tessera_part a, tessera_part b, tessera_part result) {
  return on_parts(__func__, std::array{result, a, b}, {}, [&]<class T>(Tag<T>, const auto& given) {
    return arrays::divide(given.template part<T>(1), given.template part<T>(2),
                          given.template part<T>(0));
  });
}

int tessera_array_maximum(tessera_part a, tessera_part b, tessera_part result) {
  return on_parts(__func__, std::array{result, a, b}, {}, [&]<class T>(Tag<T>, const auto& given) {
    return arrays::maximum(given.template part<T>(1), given.template part<T>(2),
                           given.template part<T>(0));
  });
}

int tessera_array_minimum(tessera_part a, tessera_part b, tessera_part result) {
  return on_parts(__func__, std::array{result, a, b}, {}, [&]<class T>(Tag<T>, const auto& given) {
    return arrays::minimum(given.template part<T>(1), given.template part<T>(2),
                           given.template part<T>(0));
  });
}

int tessera_array_median(tessera_part a, tessera_part b, tessera_part c, tessera_part result) {
  return on_parts(__func__, std::array{result, a, b, c}, {},
                  [&]<class T>(Tag<T>, const auto& given) {
                    return arrays::median(given.template part<T>(1), given.template part<T>(2),
                                          given.template part<T>(3), given.template part<T>(0));
                  });
}

int tessera_array_fill_random(tessera_part result, uint64_t seed, double low, double high) {
  return on_parts(__func__, std::array{result}, {}, [&]<class T>(Tag<T>, const auto& given) {
    return arrays::fill_random(given.template part<T>(0), seed, {.low = low, .high = high});
  });
}

}  // extern "C"

}  // namespace tessera::capi
