// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. Converts the operands of an operation, parts in Fortran, to those of the C interface,
// and scalars to their element type.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

#include "fortran/c/linalg.h"
#include "fortran/c/types.h"
#include "fortran/detail/cells.hpp"
#include "fortran/detail/collective.hpp"
#include "fortran/detail/descriptors.hpp"
#include "fortran/detail/scalars.hpp"

namespace tessera::fapi {

/// A part; the module has the same structure.
struct Operand {
  const Cell* cell;
  std::int64_t lo_count;  ///< of numbers in `lo`, or whole_array, or not_integers
  std::int64_t hi_count;
  std::int64_t lo[TESSERA_MAX_DIMS];
  std::int64_t hi[TESSERA_MAX_DIMS];
};
inline constexpr std::int64_t whole_array = -1;
inline constexpr std::int64_t not_integers = -2;

/// Copies as many bounds as fit, and stores their number.
inline void keep_bounds(const Descriptor* given, std::int64_t& count, std::int64_t* kept) {
  const auto numbers = integers(given, "bounds");
  count = numbers.ok() ? std::ssize(*numbers) : not_integers;
  for (std::int64_t i = 0; i < std::min<std::int64_t>(count, TESSERA_MAX_DIMS); ++i) {
    kept[i] = (*numbers)[static_cast<std::size_t>(i)];
  }
}

/// Errors: bounds that are not integers, or not one for each dimension.
inline rma::Result<Numbers> bounds_list(const arrays::ArrayBase& array, std::int64_t count,
                                        const std::int64_t* kept, std::string_view what) {
  if (count == not_integers) {
    return rma::Status::error(rma::Code::invalid_argument,
                              fmt::format("{} is not a list of integers", what));
  }
  if (count != array.ndims()) {
    return rma::Status::error(rma::Code::invalid_argument,
                              fmt::format("{} has {} numbers, but the array has {} dimensions",
                                          what, count, array.ndims()));
  }
  return Numbers(kept, kept + count);
}

/// The bounds of a part, as C counts; not used for the whole array.
inline rma::Result<Bounds> bounds_of(const arrays::ArrayBase& array, const Operand& part) {
  if (part.lo_count == whole_array) {
    return Bounds();
  }
  TESSERA_ASSIGN_OR_RETURN(const Numbers lo, bounds_list(array, part.lo_count, part.lo, "lo"));
  TESSERA_ASSIGN_OR_RETURN(const Numbers hi, bounds_list(array, part.hi_count, part.hi, "hi"));
  return bounds_of(array, lo, hi);
}
/// The part for the C interface.
inline tessera_part c_part(const Operand& part, const tessera_array* array, const Bounds& box) {
  return part.lo_count == whole_array ? tessera_part_whole(array)
                                      : tessera_part_box(array, box.lo.data(), box.hi.data());
}

/// Which of C's dimensions are the rows and columns of a matrix in Fortran: the two with extents
/// above 1. If there are fewer, the first of Fortran's other dimensions complete them. If there are
/// more, the part is not a matrix, and the C interface reports that.
inline std::array<int, 2> matrix_dims(const Numbers& extents) {
  const int ndims = static_cast<int>(extents.size());
  std::vector<int> chosen;
  for (const bool wants_long : {true, false}) {
    for (int dim = ndims - 1; dim >= 0; --dim) {
      const bool is_long = extents[static_cast<std::size_t>(dim)] != 1;
      if (is_long == wants_long && (wants_long || chosen.size() < 2)) {
        chosen.push_back(dim);
      }
    }
  }
  if (chosen.size() < 2) {
    return {1, 0};  // of a vector, which is not a matrix either
  }
  return {std::max(chosen[0], chosen[1]), std::min(chosen[0], chosen[1])};
}

template <std::size_t count>
class FortranOperands {
 public:
  struct Number {
    const char* what;
    const Descriptor* given;
    bool is_result = false;  ///< if so, it has the elements' own type
  };

  /// `leader` is the number of the operand whose team does the work, and whose element type the
  /// scalars have. Null operands end the list.
  FortranOperands(const std::array<const Operand*, count>& given, std::size_t leader)
      : given_(given), leader_(leader) {}

  /// The part for the C interface.
  tessera_part operator[](std::size_t number) const {
    return c_part(*given_[number], handles_[number], boxes_[number]);
  }
  /// The same as a matrix: Fortran's rows are along the later of C's two dimensions.
  [[nodiscard]] tessera_matrix matrix(std::size_t number) const {
    const tessera_part part = (*this)[number];
    const auto [rows, columns] = matrix_dims(extents(number));
    return tessera_matrix_plane(part.array, part.lo, part.hi, rows, columns);
  }
  /// Its rows and columns; empty if it cannot be a matrix.
  [[nodiscard]] std::array<std::int64_t, 2> matrix_shape(std::size_t number) const {
    const Numbers all = extents(number);
    if (all.size() < 2) {
      return {};
    }
    const auto [rows, columns] = matrix_dims(all);
    return {all[static_cast<std::size_t>(rows)], all[static_cast<std::size_t>(columns)]};
  }
  [[nodiscard]] bool is_part(std::size_t number) const {
    return given_[number]->lo_count != whole_array;
  }
  [[nodiscard]] const void* number(std::size_t which) const { return numbers_[which].address(); }
  [[nodiscard]] void* result(std::size_t which) const { return results_[which]; }
  [[nodiscard]] const arrays::ArrayBase& array(std::size_t which) const {
    return capi::array_of(handles_[which]);
  }

  /// Checks all arguments, more of them by check_more(array of the leader), and then calls `act`.
  /// Collective over the leader's team if there is an error.
  template <class Act, class CheckMore>
  int run(const char* name, std::initializer_list<Number> numbers, const Act& act,
          const CheckMore& check_more) {
    const auto prepare = [&]() -> rma::Status {
      TESSERA_ASSIGN_OR_RETURN(handles_[leader_], open<tessera_array>(given_[leader_]->cell));
      rma::Status first_error = check_arguments(numbers);
      if (first_error.ok()) {
        first_error = check_more(array(leader_));
      }
      return capi::report_to_team(array(leader_).team(), std::move(first_error));
    };
    return fapi::run(name, prepare, act);
  }
  template <class Act>
  int run(const char* name, std::initializer_list<Number> numbers, const Act& act) {
    return run(name, numbers, act, [](const arrays::ArrayBase&) { return rma::Status(); });
  }

 private:
  /// In C's order.
  [[nodiscard]] Numbers extents(std::size_t number) const {
    Numbers all;
    for (int dim = 0; dim < array(number).ndims(); ++dim) {
      const auto at = static_cast<std::size_t>(dim);
      all.push_back(is_part(number) ? boxes_[number].hi[at] - boxes_[number].lo[at]
                                    : array(number).extents()[dim]);
    }
    return all;
  }

  rma::Status check_arguments(std::initializer_list<Number> numbers) {
    for (std::size_t i = 0; i < count && given_[i] != nullptr; ++i) {
      TESSERA_ASSIGN_OR_RETURN(handles_[i], open<tessera_array>(given_[i]->cell));
      auto box = bounds_of(array(i), *given_[i]);
      TESSERA_RETURN_IF_ERROR(rma::Status(box.status()).context("part of " + describe(array(i))));
      boxes_[i] = *box;
    }
    std::size_t which = 0;
    for (const Number& number : numbers) {
      const auto& kind = array(leader_).element();
      if (number.is_result) {
        TESSERA_ASSIGN_OR_RETURN(results_[which], number_of(kind, number.given, number.what));
      } else {
        TESSERA_ASSIGN_OR_RETURN(numbers_[which], scalar_of(kind, number.given, number.what));
      }
      ++which;
    }
    return {};
  }

  std::array<const Operand*, count> given_;
  std::size_t leader_;
  std::array<tessera_array*, count> handles_ = {};
  std::array<Bounds, count> boxes_ = {};
  std::array<Scalar, 2> numbers_ = {};
  std::array<void*, 2> results_ = {};
};

}  // namespace tessera::fapi
