// SPDX-License-Identifier: BSD-3-Clause
//
// Transposition, diagonals, rows and columns, norms, and the largest or smallest element.
#include "arrays/matrix.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <utility>

#include "arrays/elementwise.hpp"
#include "arrays/reductions.hpp"
#include "arrays/transform.hpp"
#include "fortran/ga/operands.hpp"
#include "linalg/permute.hpp"
#include "fortran/ga/operations.hpp"

namespace tessera::ga {

namespace {

/// a = (a + aᵀ) / 2, without overflow.
template <class T>
Status average(const arrays::Subarray<T>& a, const arrays::Subarray<T>& transposed) {
  return arrays::transform(
      a, [](T x, T y) { return static_cast<T>(x / T{2} + y / T{2}); }, a, transposed);
}

/// Symmetrises the matrices of the two slowest dimensions.
Status symmetrize_planes(Record& array) {
  const Part whole = part_of(array);
  TESSERA_ASSIGN_OR_RETURN(const Temporary transposed, Temporary::create(whole, array.type()));
  std::array<int, max_dims> dims = {1, 0, 2, 3, 4, 5, 6};
  TESSERA_RETURN_IF_ERROR(
      linalg::permute(array.array(), transposed.part().record->array(),
                      std::span(dims).first(static_cast<std::size_t>(array.ndims()))));
  return on_parts(std::array{whole, transposed.part()}, [&]<class T>(Tag<T>, const auto& of) {
    if constexpr (rma::IntegerElement<T>) {
      return no_such_operation("symmetrize", array);
    } else {
      return average(of.template part<T>(0), of.template part<T>(1));
    }
  });
}

Status scale_along(Record& array, Record& factors, int dim) {
  return on_parts(
      std::array{part_of(array), part_of(factors)}, [&]<class T>(Tag<T>, const auto& of) {
        return dim == 0 ? arrays::scale_rows(of.template part<T>(0), of.template part<T>(1))
                        : arrays::scale_columns(of.template part<T>(0), of.template part<T>(1));
      });
}

}  // namespace

Status transpose(Record& from, Record& to) {
  if (from.ndims() != 2 || to.ndims() != 2) {
    return Status::error(Code::invalid_argument, fmt::format("{} and {} must have two dimensions",
                                                             from.describe(), to.describe()));
  }
  return linalg::permute(from.array(), to.array(), std::array{1, 0});
}

Status symmetrize(Record& array) {
  if (array.ndims() < 2 || array.extents()[0] != array.extents()[1]) {
    return Status::error(Code::invalid_argument,
                         fmt::format("symmetrize: {} is {}, not square", array.describe(),
                                     to_string(array.extents())));
  }
  if (array.ndims() > 2) {
    return symmetrize_planes(array);
  }
  return on_parts(std::array{part_of(array)}, []<class T>(Tag<T>, const auto& of) {
    return arrays::symmetrize(of.template part<T>(0));
  });
}

Status add_diagonal(Record& array, Record& values) {
  return on_parts(std::array{part_of(array), part_of(values)}, []<class T>(Tag<T>, const auto& of) {
    return arrays::add_diagonal(of.template part<T>(0), of.template part<T>(1));
  });
}

Status get_diag(Record& array, Record& values) {
  return on_parts(std::array{part_of(array), part_of(values)}, []<class T>(Tag<T>, const auto& of) {
    return arrays::get_diagonal(of.template part<T>(0), of.template part<T>(1));
  });
}

Status set_diagonal(Record& array, Record& values) {
  return on_parts(std::array{part_of(array), part_of(values)}, []<class T>(Tag<T>, const auto& of) {
    return arrays::set_diagonal(of.template part<T>(0), of.template part<T>(1));
  });
}

Status shift_diagonal(Record& array, const void* value) {
  return on_parts(std::array{part_of(array)}, [&]<class T>(Tag<T>, const auto& of) {
    return arrays::shift_diagonal(of.template part<T>(0), number_at<T>(value));
  });
}

Status zero_diagonal(Record& array) {
  return on_parts(std::array{part_of(array)}, []<class T>(Tag<T>, const auto& of) {
    return arrays::zero_diagonal(of.template part<T>(0));
  });
}

// The rows of a caller in Fortran are this layer's columns.
Status scale_rows(Style style, Record& array, Record& factors) {
  return scale_along(array, factors, style == Style::c ? 0 : 1);
}

Status scale_cols(Style style, Record& array, Record& factors) {
  return scale_along(array, factors, style == Style::c ? 1 : 0);
}

// GA's norms are those of all elements as one vector, for matrices too.
Status norm1(Record& array, double* norm) {
  return on_parts(std::array{part_of(array)}, [&]<class T>(Tag<T>, const auto& of) -> Status {
    TESSERA_ASSIGN_OR_RETURN(*norm, arrays::reduce(
                                        0.0, rma::Reduction::sum,
                                        [](double sum, const T& element) {
                                          if constexpr (rma::IntegerElement<T>) {
                                            return sum + std::abs(static_cast<double>(element));
                                          } else {
                                            return sum + static_cast<double>(std::abs(element));
                                          }
                                        },
                                        of.template part<T>(0)));
    return {};
  });
}

Status norm_infinity(Record& array, double* norm) {
  return on_parts(std::array{part_of(array)}, [&]<class T>(Tag<T>, const auto& of) -> Status {
    TESSERA_ASSIGN_OR_RETURN(*norm, arrays::norm_max(of.template part<T>(0)));
    return {};
  });
}

Status select_elem(Record& array, std::string_view which, void* value, const PlaceOut& place) {
  const bool is_max = which.starts_with("max");
  if (!is_max && !which.starts_with("min")) {
    return Status::error(Code::invalid_argument,
                         fmt::format("select_elem: the operator '{}' is unknown", which))
        .hint("give 'min' or 'max'");
  }
  return on_parts(std::array{part_of(array)}, [&]<class T>(Tag<T>, const auto& of) -> Status {
    const arrays::Subarray<T> whole = of.template part<T>(0);
    TESSERA_ASSIGN_OR_RETURN(const arrays::Selected<T> found,
                             is_max ? arrays::select_max(whole) : arrays::select_min(whole));
    std::memcpy(value, &found.value, sizeof found.value);
    place.set(found.at);
    return {};
  });
}

}  // namespace tessera::ga
