// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "fortran/c/linalg.h"
#include "fortran/detail/arguments.hpp"
#include "fortran/detail/call.hpp"
#include "fortran/detail/matrices.hpp"
#include "fortran/detail/solver_options.hpp"
#include "linalg/eigen.hpp"
#include "linalg/factor.hpp"
#include "linalg/least_squares.hpp"
#include "linalg/solve.hpp"
#include "linalg/svd.hpp"
#include "rma/base/result.hpp"

namespace tessera::capi {
namespace {

using rma::Result;
using rma::Status;

/// Calls `act` with the element type, the matrices and the options. `lists` are the addresses of
/// lists of numbers, which must not be null.
template <std::size_t count, class Act>
int solve_on(const char* function, const std::array<tessera_matrix, count>& given,
             const tessera_solver_options* options, std::initializer_list<const void*> lists,
             const Act& act) {
  return call(function, [&] {
    const auto chosen = checked(options);
    Status mine = chosen.status();
    for (const void* const list : lists) {
      if (mine.ok()) {
        mine = required(list, "list of numbers");
      }
    }
    return on_matrices(given, mine, [&]<class T>(Tag<T> tag, const auto& matrices) {
      return act(tag, matrices, *chosen);
    });
  });
}

template <class Number>
Status give_list(const Result<std::vector<Number>>& list, void* to) {
  if (list.ok()) {
    std::copy(list->begin(), list->end(), static_cast<Number*>(to));
  }
  return list.status();
}

}  // namespace

extern "C" {

int tessera_matrix_cholesky(tessera_matrix a, const tessera_solver_options* options) {
  return solve_on(__func__, std::array{a}, options, {},
                  []<class T>(Tag<T>, const auto& of, const auto& chosen) {
                    return linalg::cholesky(of.template patch<T>(0), cholesky_options(chosen));
                  });
}

int tessera_matrix_lu(tessera_matrix a, const tessera_solver_options* options, int64_t pivots[]) {
  return solve_on(__func__, std::array{a}, options, {pivots},
                  [&]<class T>(Tag<T>, const auto& of, const auto& chosen) {
                    return give_list(linalg::lu(of.template patch<T>(0), method_options(chosen)),
                                     pivots);
                  });
}

int tessera_matrix_qr(tessera_matrix a, const tessera_solver_options* options, void* tau) {
  return solve_on(__func__, std::array{a}, options, {tau},
                  [&]<class T>(Tag<T>, const auto& of, const auto& chosen) {
                    return give_list(linalg::qr(of.template patch<T>(0), method_options(chosen)),
                                     tau);
                  });
}

int tessera_matrix_solve_triangular(tessera_matrix a, tessera_matrix b,
                                    const tessera_solver_options* options) {
  return solve_on(__func__, std::array{b, a}, options, {},
                  []<class T>(Tag<T>, const auto& of, const auto& chosen) {
                    return linalg::solve_triangular(of.template patch<T>(1),
                                                    of.template patch<T>(0),
                                                    triangular_options<T>(chosen));
                  });
}

int tessera_matrix_solve_lu(tessera_matrix a, int64_t count, const int64_t pivots[],
                            tessera_matrix b, const tessera_solver_options* options) {
  const void* const list = count == 0 ? &count : static_cast<const void*>(pivots);  // null if none
  return solve_on(__func__, std::array{b, a}, options, {list},
                  [&]<class T>(Tag<T>, const auto& of, const auto& chosen) {
                    const auto given = static_cast<std::size_t>(std::max<std::int64_t>(count, 0));
                    return linalg::solve_lu(of.template patch<T>(1), std::span(pivots, given),
                                            of.template patch<T>(0), lu_options(chosen));
                  });
}

int tessera_matrix_solve_cholesky(tessera_matrix a, tessera_matrix b,
                                  const tessera_solver_options* options) {
  return solve_on(__func__, std::array{b, a}, options, {},
                  []<class T>(Tag<T>, const auto& of, const auto& chosen) {
                    return linalg::solve_cholesky(of.template patch<T>(1), of.template patch<T>(0),
                                                  cholesky_options(chosen));
                  });
}

int tessera_matrix_solve(tessera_matrix a, tessera_matrix b,
                         const tessera_solver_options* options) {
  return solve_on(__func__, std::array{b, a}, options, {},
                  []<class T>(Tag<T>, const auto& of, const auto& chosen) {
                    return linalg::solve(of.template patch<T>(1), of.template patch<T>(0),
                                         method_options(chosen));
                  });
}

int tessera_matrix_solve_positive_definite(tessera_matrix a, tessera_matrix b,
                                           const tessera_solver_options* options) {
  return solve_on(__func__, std::array{b, a}, options, {},
                  []<class T>(Tag<T>, const auto& of, const auto& chosen) {
                    return linalg::solve_positive_definite(
                        of.template patch<T>(1), of.template patch<T>(0), cholesky_options(chosen));
                  });
}

int tessera_matrix_invert_positive_definite(tessera_matrix a,
                                            const tessera_solver_options* options) {
  return solve_on(__func__, std::array{a}, options, {},
                  []<class T>(Tag<T>, const auto& of, const auto& chosen) {
                    return linalg::invert_positive_definite(of.template patch<T>(0),
                                                            cholesky_options(chosen));
                  });
}

int tessera_matrix_least_squares(tessera_matrix a, tessera_matrix b,
                                 const tessera_solver_options* options, tessera_matrix x) {
  return solve_on(__func__, std::array{x, a, b}, options, {},
                  []<class T>(Tag<T>, const auto& of, const auto& chosen) {
                    return linalg::least_squares(of.template patch<T>(1), of.template patch<T>(2),
                                                 of.template patch<T>(0), method_options(chosen));
                  });
}

int tessera_matrix_eigenvalues(tessera_matrix a, const tessera_solver_options* options,
                               void* values) {
  return solve_on(__func__, std::array{a}, options, {values},
                  [&]<class T>(Tag<T>, const auto& of, const auto& chosen) {
                    return give_list(
                        linalg::eigenvalues(of.template patch<T>(0), eigen_options(chosen)),
                        values);
                  });
}

int tessera_matrix_eigen(tessera_matrix a, const tessera_solver_options* options,
                         tessera_matrix vectors, void* values) {
  return solve_on(__func__, std::array{vectors, a}, options, {values},
                  [&]<class T>(Tag<T>, const auto& of, const auto& chosen) {
                    return give_list(linalg::eigen(of.template patch<T>(1), of.template patch<T>(0),
                                                   eigen_options(chosen)),
                                     values);
                  });
}

int tessera_matrix_eigenvalues_generalised(tessera_matrix a, tessera_matrix b,
                                           const tessera_solver_options* options, void* values) {
  return solve_on(__func__, std::array{a, b}, options, {values},
                  [&]<class T>(Tag<T>, const auto& of, const auto& chosen) {
                    return give_list(linalg::eigenvalues_generalised(of.template patch<T>(0),
                                                                     of.template patch<T>(1),
                                                                     eigen_options(chosen)),
                                     values);
                  });
}

int tessera_matrix_eigen_generalised(tessera_matrix a, tessera_matrix b,
                                     const tessera_solver_options* options, tessera_matrix vectors,
                                     void* values) {
  return solve_on(__func__, std::array{vectors, a, b}, options, {values},
                  [&]<class T>(Tag<T>, const auto& of, const auto& chosen) {
                    return give_list(
                        linalg::eigen_generalised(of.template patch<T>(1), of.template patch<T>(2),
                                                  of.template patch<T>(0), eigen_options(chosen)),
                        values);
                  });
}

int tessera_matrix_singular_values(tessera_matrix a, const tessera_solver_options* options,
                                   void* values) {
  return solve_on(__func__, std::array{a}, options, {values},
                  [&]<class T>(Tag<T>, const auto& of, const auto& chosen) {
                    return give_list(
                        linalg::singular_values(of.template patch<T>(0), eigen_options(chosen)),
                        values);
                  });
}

int tessera_matrix_svd(tessera_matrix a, const tessera_solver_options* options, tessera_matrix u,
                       tessera_matrix vh, void* values) {
  return solve_on(__func__, std::array{u, a, vh}, options, {values},
                  [&]<class T>(Tag<T>, const auto& of, const auto& chosen) {
                    return give_list(linalg::svd(of.template patch<T>(1), of.template patch<T>(0),
                                                 of.template patch<T>(2), eigen_options(chosen)),
                                     values);
                  });
}

}  // extern "C"

}  // namespace tessera::capi
