// SPDX-License-Identifier: BSD-3-Clause
//
// Systems of equations with matrices of doubles, as GA has them. Functions that factor by Cholesky
// return 0 or the order of the first leading part that is not positive definite.
//
// llt_f puts the factor in the array if its number is -1. With any other number the array keeps its
// values: the factor is kept apart, and the number becomes that of the kept factor. One llt_s or
// llt_i uses it and frees it. Numbers are those of this process; the session's end frees the rest.
#include "linalg/solve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "arrays/elementwise.hpp"
#include "arrays/matrix.hpp"
#include "arrays/transform.hpp"
#include "fortran/ga/matrices.hpp"
#include "fortran/ga/operations.hpp"
#include "fortran/ga/session.hpp"
#include "linalg/factor.hpp"

namespace tessera::ga {

namespace {

using linalg::CholeskyOptions;
using linalg::Method;
using linalg::Triangle;

Status check_system(const Record& a, const Record& b) {
  TESSERA_RETURN_IF_ERROR(check_square<double>(a));
  TESSERA_RETURN_IF_ERROR(check_plane(b));
  return check_elements<double>(b);
}

Status solve_by_lu(bool is_transposed, const Record& a, const Record& b, Method method) {
  TESSERA_RETURN_IF_ERROR(check_system(a, b));
  const linalg::MatrixDims transposed{.rows = fortran_view.columns, .columns = fortran_view.rows};
  return linalg::solve({array_of<double>(a), a.box(), is_transposed ? transposed : fortran_view},
                       matrix_of<double>(b), {.method = method});
}

// Calls act(options). Returns 0, or LAPACK's info if the matrix is not positive definite, which is
// not an error here.
template <class Act>
Result<std::int64_t> info_of(Triangle triangle, const Act& act) {
  std::int64_t info = 0;
  const Status status = act(
      CholeskyOptions{.triangle = triangle, .how = {.method = Method::automatic, .info = &info}});
  if (info > 0) {
    return info;
  }
  TESSERA_RETURN_IF_ERROR(status);
  return 0;
}

bool is_stored(Triangle triangle, std::int64_t row, std::int64_t column) {
  return triangle == Triangle::lower ? row >= column : row <= column;
}

// Collective. Calls act(row, column, element) for each element.
template <class Act>
Status for_each(const Record& a, const Act& act) {
  return arrays::for_each_element(array_of<double>(a), [&](const Index& at, double& element) {
    act(at[fortran_view.rows], at[fortran_view.columns], element);
  });
}

// Collective. The first row with a zero on the diagonal, from 1; 0 if there is none.
Result<std::int64_t> find_zero(arrays::Array<double>& factor) {
  constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
  std::int64_t first = none;
  TESSERA_RETURN_IF_ERROR(
      arrays::for_each_element(factor, [&](const Index& at, const double& element) {
        const bool is_zero = at[0] == at[1] && element == 0;
        first = is_zero ? std::min(first, at[0] + 1) : first;
      }));
  TESSERA_ASSIGN_OR_RETURN(first, factor.team().allreduce(first, rma::Reduction::min));
  return first == none ? 0 : first;
}

using Factor = std::shared_ptr<arrays::ArrayBase>;
constexpr std::int64_t in_array = -1;

linalg::MatrixPatch<double> matrix_of_factor(const Factor& factor) {
  auto& array = static_cast<arrays::Array<double>&>(*factor);
  return {array, array.box(), fortran_view};
}

// Local. A number above all others: the session frees factors in the order of their creation.
std::int64_t keep_factor(Factor factor) {
  auto& all = Session::current()->factors;
  const std::int64_t number = all.empty() ? 1 : all.rbegin()->first + 1;
  all.emplace(number, std::move(factor));
  return number;
}

// Local. The factor of `a` with this number: the array itself or a kept one.
Result<Factor> find_factor(const Record& a, std::int64_t number) {
  if (number == in_array) {
    return a.shared_array();
  }
  const auto& all = Session::current()->factors;
  const auto found = all.find(number);
  if (found == all.end()) {
    return Status::error(Code::invalid_argument,
                         fmt::format("there is no kept factor with the number {}", number))
        .hint("one ga_llt_s or ga_llt_i uses the factor that ga_llt_f kept; -1: the array has it");
  }
  if (found->second->extents() != a.extents()) {
    return Status::error(Code::invalid_argument,
                         fmt::format("the kept factor {} is {}, but {} is {}", number,
                                     arrays::to_string(found->second->extents()), a.describe(),
                                     arrays::to_string(a.extents())));
  }
  return found->second;
}

// Collective. Frees the factor if it is a kept one.
Status end_factor(const Factor& factor, std::int64_t number) {
  if (number == in_array) {
    return {};
  }
  Session::current()->factors.erase(number);
  return factor->free();
}

// Collective. `a` becomes the inverse of the matrix with this factor.
Status invert_by_factor(Record& a, const Factor& factor, Triangle triangle) {
  auto& array = array_of<double>(a);
  TESSERA_ASSIGN_OR_RETURN(auto inverse, array.duplicate(a.plan.name + " (inverse)"));
  TESSERA_RETURN_IF_ERROR(arrays::fill_diagonal(inverse, 1.0));
  TESSERA_RETURN_IF_ERROR(linalg::solve_cholesky(
      matrix_of_factor(factor), {inverse, inverse.box(), fortran_view}, {.triangle = triangle}));
  TESSERA_RETURN_IF_ERROR(arrays::copy(inverse, array));
  return inverse.free();
}

}  // namespace

Status lu_solve(char trans, Record& a, Record& b) {
  return solve_by_lu(trans != 'n' && trans != 'N', a, b, Method::automatic);
}

Status lu_solve_alt(std::int64_t trans, Record& a, Record& b) {
  return solve_by_lu(trans != 0, a, b, Method::automatic);
}

Status lu_solve_seq(char trans, Record& a, Record& b) {
  return solve_by_lu(trans != 'n' && trans != 'N', a, b, Method::own);
}

Result<std::int64_t> llt_solve(Record& a, Record& b) {
  TESSERA_RETURN_IF_ERROR(check_system(a, b));
  return info_of(Triangle::lower, [&](const CholeskyOptions& options) {
    return linalg::solve_positive_definite(matrix_of<double>(a), matrix_of<double>(b), options);
  });
}

Result<std::int64_t> solve(Record& a, Record& b) {
  TESSERA_ASSIGN_OR_RETURN(const std::int64_t info, llt_solve(a, b));
  if (info > 0) {
    TESSERA_RETURN_IF_ERROR(solve_by_lu(false, a, b, Method::automatic));
  }
  return info;
}

Result<std::int64_t> spd_invert(Record& a) {
  TESSERA_RETURN_IF_ERROR(check_square<double>(a));
  return info_of(Triangle::lower, [&](const CholeskyOptions& options) {
    return linalg::invert_positive_definite(matrix_of<double>(a), options);
  });
}

Result<std::int64_t> cholesky(char letter, Record& a) {
  TESSERA_RETURN_IF_ERROR(check_square<double>(a));
  TESSERA_ASSIGN_OR_RETURN(const Triangle triangle, triangle_of(letter));
  TESSERA_ASSIGN_OR_RETURN(const std::int64_t info,
                           info_of(triangle, [&](const CholeskyOptions& options) {
                             return linalg::cholesky(matrix_of<double>(a), options);
                           }));
  if (info == 0) {
    TESSERA_RETURN_IF_ERROR(zeroul(letter, a));
  }
  return info;
}

Result<std::int64_t> llt_f(char letter, Record& a, const IntOut& number) {
  if (number.get() == in_array) {
    return cholesky(letter, a);
  }
  TESSERA_RETURN_IF_ERROR(check_square<double>(a));
  TESSERA_ASSIGN_OR_RETURN(const Triangle triangle, triangle_of(letter));
  auto& array = array_of<double>(a);
  TESSERA_ASSIGN_OR_RETURN(auto copied, array.duplicate(a.plan.name + " (factor)"));
  TESSERA_RETURN_IF_ERROR(arrays::copy(array, copied));
  const Factor factor = std::make_shared<arrays::Array<double>>(std::move(copied));
  TESSERA_ASSIGN_OR_RETURN(const std::int64_t info,
                           info_of(triangle, [&](const CholeskyOptions& options) {
                             return linalg::cholesky(matrix_of_factor(factor), options);
                           }));
  if (info > 0) {
    TESSERA_RETURN_IF_ERROR(factor->free());
    return info;
  }
  number.set(keep_factor(factor));
  return 0;
}

Status llt_s(char letter, Record& a, Record& b, std::int64_t number) {
  TESSERA_RETURN_IF_ERROR(check_system(a, b));
  TESSERA_ASSIGN_OR_RETURN(const Triangle triangle, triangle_of(letter));
  TESSERA_ASSIGN_OR_RETURN(const Factor factor, find_factor(a, number));
  TESSERA_RETURN_IF_ERROR(linalg::solve_cholesky(matrix_of_factor(factor), matrix_of<double>(b),
                                                 {.triangle = triangle}));
  return end_factor(factor, number);
}

Result<std::int64_t> llt_i(char letter, Record& a, std::int64_t number) {
  TESSERA_RETURN_IF_ERROR(check_square<double>(a));
  TESSERA_ASSIGN_OR_RETURN(const Triangle triangle, triangle_of(letter));
  TESSERA_ASSIGN_OR_RETURN(const Factor factor, find_factor(a, number));
  TESSERA_ASSIGN_OR_RETURN(const std::int64_t zero,
                           find_zero(static_cast<arrays::Array<double>&>(*factor)));
  if (zero == 0) {
    TESSERA_RETURN_IF_ERROR(invert_by_factor(a, factor, triangle));
  }
  TESSERA_RETURN_IF_ERROR(end_factor(factor, number));
  return zero;
}

Status zeroul(char letter, Record& a) {
  TESSERA_RETURN_IF_ERROR(check_square<double>(a));
  TESSERA_ASSIGN_OR_RETURN(const Triangle triangle, triangle_of(letter));
  return for_each(a, [&](std::int64_t row, std::int64_t column, double& element) {
    element = is_stored(triangle, row, column) ? element : 0;
  });
}

// The other triangle becomes zero and this one twice as large, so that the mean is what it was.
Status symul(char letter, Record& a) {
  TESSERA_RETURN_IF_ERROR(check_square<double>(a));
  TESSERA_ASSIGN_OR_RETURN(const Triangle triangle, triangle_of(letter));
  TESSERA_RETURN_IF_ERROR(for_each(a, [&](std::int64_t row, std::int64_t column, double& element) {
    const double factor = row == column ? 1 : 2;
    element = is_stored(triangle, row, column) ? factor * element : 0;
  }));
  return arrays::symmetrize(array_of<double>(a));
}

}  // namespace tessera::ga

// Programs call them around GA's functions that use ScaLAPACK. Here each call makes its own grid.
extern "C" {
void slinit_() {}
void slinit2_(const void*) {}
void slinit3_(const void*) {}
void slinit4_(const void*) {}
void slexit_() {}
void slexit2_() {}
void slexit3_() {}
void slexit4_() {}
}
