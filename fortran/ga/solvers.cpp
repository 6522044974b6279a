// SPDX-License-Identifier: BSD-3-Clause
//
// Systems of equations with matrices of doubles, as GA has them. Functions that factor by Cholesky
// return 0 or the order of the first leading part that is not positive definite.
#include "linalg/solve.hpp"

#include <fmt/format.h>

#include <limits>
#include <string_view>
#include <utility>

#include "arrays/elementwise.hpp"
#include "arrays/matrix.hpp"
#include "arrays/transform.hpp"
#include "fortran/ga/matrices.hpp"
#include "fortran/ga/operations.hpp"
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

// Calls `act`, which takes options; its failure for a matrix that is not positive definite is a
// result.
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
Result<std::int64_t> find_zero(const Record& a) {
  constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
  std::int64_t first = none;
  TESSERA_RETURN_IF_ERROR(for_each(a, [&](std::int64_t row, std::int64_t column, double element) {
    first = row == column && element == 0 ? std::min(first, row + 1) : first;
  }));
  TESSERA_ASSIGN_OR_RETURN(first, a.array().team().allreduce(first, rma::Reduction::min));
  return first == none ? 0 : first;
}

// GA keeps factors in its memory between calls under such a number.
Status check_kept(std::int64_t kept) {
  return kept == -1
             ? Status()
             : Status::error(Code::unsupported,
                             fmt::format("a factor that GA keeps in its memory, number {}", kept))
                   .hint("give -1: the factor is in the array");
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

Result<std::int64_t> llt_f(char letter, Record& a, std::int64_t kept) {
  TESSERA_RETURN_IF_ERROR(check_kept(kept));
  return cholesky(letter, a);
}

Status llt_s(char letter, Record& a, Record& b, std::int64_t kept) {
  TESSERA_RETURN_IF_ERROR(check_kept(kept));
  TESSERA_RETURN_IF_ERROR(check_system(a, b));
  TESSERA_ASSIGN_OR_RETURN(const Triangle triangle, triangle_of(letter));
  return linalg::solve_cholesky(matrix_of<double>(a), matrix_of<double>(b), {.triangle = triangle});
}

Result<std::int64_t> llt_i(char letter, Record& a, std::int64_t kept) {
  TESSERA_RETURN_IF_ERROR(check_kept(kept));
  TESSERA_RETURN_IF_ERROR(check_square<double>(a));
  TESSERA_ASSIGN_OR_RETURN(const Triangle triangle, triangle_of(letter));
  TESSERA_ASSIGN_OR_RETURN(const std::int64_t zero, find_zero(a));
  if (zero > 0) {
    return zero;
  }
  auto& factor = array_of<double>(a);
  TESSERA_ASSIGN_OR_RETURN(auto inverse, factor.duplicate(a.plan.name + " (inverse)"));
  TESSERA_RETURN_IF_ERROR(arrays::fill_diagonal(inverse, 1.0));
  TESSERA_RETURN_IF_ERROR(linalg::solve_cholesky(
      matrix_of<double>(a), {inverse, inverse.box(), fortran_view}, {.triangle = triangle}));
  TESSERA_RETURN_IF_ERROR(arrays::copy(inverse, factor));
  TESSERA_RETURN_IF_ERROR(inverse.free());
  return 0;
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
