// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <vector>

#include "fortran/python/operands.hpp"
#include "linalg/contract.hpp"
#include "linalg/eigen.hpp"
#include "linalg/factor.hpp"
#include "linalg/gemm.hpp"
#include "linalg/least_squares.hpp"
#include "linalg/solve.hpp"
#include "linalg/svd.hpp"

namespace tessera::python {
namespace {

using linalg::MatrixOp;
using linalg::Method;
using linalg::MethodOptions;

MatrixOp op_of(const std::string& name) {
  if (name == "none") {
    return MatrixOp::none;
  }
  if (name == "transpose") {
    return MatrixOp::transpose;
  }
  if (name == "conjugate_transpose") {
    return MatrixOp::conjugate_transpose;
  }
  refuse(fmt::format("there is no matrix operation '{}'", name),
         "'none', 'transpose' or 'conjugate_transpose'");
}

MethodOptions method_of(const std::string& name) {
  for (const Method method : {Method::automatic, Method::own, Method::scalapack}) {
    if (linalg::to_string(method) == name) {
      return {.method = method};
    }
  }
  refuse(fmt::format("there is no method '{}'", name), "'automatic', 'own' or 'scalapack'");
}

linalg::Triangle triangle_of(bool lower) {
  return lower ? linalg::Triangle::lower : linalg::Triangle::upper;
}

void gemm(const py::object& alpha, const Array& a, const std::string& op_a, const Array& b,
          const std::string& op_b, const py::object& beta, const Array& c) {
  check_same_type("gemm", {&a, &b, &c});
  const MatrixOp a_op = op_of(op_a);
  const MatrixOp b_op = op_of(op_b);
  dispatch_matrix(a, "gemm", [&]<class T>(arrays::Array<T>& first) {
    const linalg::GemmOptions<T> options{
        .alpha = number<T>(alpha), .beta = number<T>(beta), .op_a = a_op, .op_b = b_op};
    checked_without_gil([&] { return linalg::gemm(first, typed<T>(b), typed<T>(c), options); });
  });
}

void contract(const std::string& a_letters, const Array& a, const std::string& b_letters,
              const Array& b, const std::string& c_letters, const Array& c) {
  check_same_type("contract", {&a, &b, &c});
  dispatch_matrix(a, "contract", [&]<class T>(arrays::Array<T>& first) {
    checked_without_gil([&] {
      return linalg::contract(a_letters, first, b_letters, typed<T>(b), c_letters, typed<T>(c));
    });
  });
}

void solve(const Array& a, const Array& b, bool positive_definite, bool lower,
           const std::string& method) {
  check_same_type("solve", {&a, &b});
  const MethodOptions how = method_of(method);
  dispatch_matrix(a, "solve", [&]<class T>(arrays::Array<T>& first) {
    checked_without_gil([&] {
      return positive_definite
                 ? linalg::solve_positive_definite(first, typed<T>(b), {triangle_of(lower), how})
                 : linalg::solve(first, typed<T>(b), how);
    });
  });
}

void solve_triangular(const Array& a, const Array& b, bool lower, const std::string& op,
                      bool unit_diagonal, const std::string& method) {
  check_same_type("solve_triangular", {&a, &b});
  const MatrixOp matrix_op = op_of(op);
  const MethodOptions how = method_of(method);
  dispatch_matrix(a, "solve_triangular", [&]<class T>(arrays::Array<T>& first) {
    const linalg::TriangularOptions<T> options{
        .triangle = triangle_of(lower),
        .op = matrix_op,
        .diagonal = unit_diagonal ? linalg::Diagonal::unit : linalg::Diagonal::stored,
        .how = how};
    checked_without_gil([&] { return linalg::solve_triangular(first, typed<T>(b), options); });
  });
}

void cholesky(const Array& a, bool lower, const std::string& method) {
  const MethodOptions how = method_of(method);
  dispatch_matrix(a, "cholesky", [&](auto& first) {
    checked_without_gil([&] { return linalg::cholesky(first, {triangle_of(lower), how}); });
  });
}

void solve_cholesky(const Array& a, const Array& b, bool lower, const std::string& method) {
  check_same_type("solve_cholesky", {&a, &b});
  const MethodOptions how = method_of(method);
  dispatch_matrix(a, "solve_cholesky", [&]<class T>(arrays::Array<T>& first) {
    checked_without_gil([&] {
      return linalg::solve_cholesky(first, typed<T>(b), {triangle_of(lower), how});
    });
  });
}

void invert(const Array& a, bool lower, const std::string& method) {
  const MethodOptions how = method_of(method);
  dispatch_matrix(a, "invert", [&](auto& first) {
    checked_without_gil([&] {
      return linalg::invert_positive_definite(first, {triangle_of(lower), how});
    });
  });
}

py::array lu(const Array& a, const std::string& method) {
  const MethodOptions how = method_of(method);
  return dispatch_matrix(a, "lu", [&](auto& first) -> py::array {
    return to_numpy(checked_without_gil([&] { return linalg::lu(first, how); }));
  });
}

void solve_lu(const Array& a, const std::vector<std::int64_t>& pivots, const Array& b,
              const std::string& op, const std::string& method) {
  check_same_type("solve_lu", {&a, &b});
  const linalg::LuSolveOptions options{op_of(op), method_of(method)};
  dispatch_matrix(a, "solve_lu", [&]<class T>(arrays::Array<T>& first) {
    checked_without_gil([&] { return linalg::solve_lu(first, pivots, typed<T>(b), options); });
  });
}

py::array qr(const Array& a, const std::string& method) {
  const MethodOptions how = method_of(method);
  return dispatch_matrix(a, "qr", [&](auto& first) -> py::array {
    return to_numpy(checked_without_gil([&] { return linalg::qr(first, how); }));
  });
}

void define_solvers(py::module_& m) {
  m.def("_gemm", &gemm);
  m.def("_contract", &contract);
  m.def("_solve", &solve);
  m.def("_solve_triangular", &solve_triangular);
  m.def("_cholesky", &cholesky);
  m.def("_solve_cholesky", &solve_cholesky);
  m.def("_invert", &invert);
  m.def("_lu", &lu);
  m.def("_solve_lu", &solve_lu);
  m.def("_qr", &qr);
}

/// Eigenvalues, and the vectors if there is an array for them; of A v = λ B v if there is a B.
py::array eigen(const Array& a, const Array* b, const Array* vectors, const std::string& method) {
  check_same_type("eigen", {&a, b != nullptr ? b : &a, vectors != nullptr ? vectors : &a});
  const linalg::EigenOptions options{.how = method_of(method)};
  return dispatch_matrix(a, "eigen", [&]<class T>(arrays::Array<T>& first) -> py::array {
    return to_numpy(checked_without_gil([&] {
      if (b == nullptr) {
        return vectors == nullptr ? linalg::eigenvalues(first, options)
                                  : linalg::eigen(first, typed<T>(*vectors), options);
      }
      return vectors == nullptr
                 ? linalg::eigenvalues_generalised(first, typed<T>(*b), options)
                 : linalg::eigen_generalised(first, typed<T>(*b), typed<T>(*vectors), options);
    }));
  });
}

py::array singular_values(const Array& a, const std::string& method) {
  const linalg::EigenOptions options{.how = method_of(method)};
  return dispatch_matrix(a, "svd", [&](auto& first) -> py::array {
    return to_numpy(checked_without_gil([&] { return linalg::singular_values(first, options); }));
  });
}

py::array svd(const Array& a, const Array& u, const Array& vh, const std::string& method) {
  check_same_type("svd", {&a, &u, &vh});
  const linalg::EigenOptions options{.how = method_of(method)};
  return dispatch_matrix(a, "svd", [&]<class T>(arrays::Array<T>& first) -> py::array {
    return to_numpy(checked_without_gil(
        [&] { return linalg::svd(first, typed<T>(u), typed<T>(vh), options); }));
  });
}

void least_squares(const Array& a, const Array& b, const Array& x, const std::string& method) {
  check_same_type("least_squares", {&a, &b, &x});
  const MethodOptions how = method_of(method);
  dispatch_matrix(a, "least_squares", [&]<class T>(arrays::Array<T>& first) {
    checked_without_gil(
        [&] { return linalg::least_squares(first, typed<T>(b), typed<T>(x), how); });
  });
}

}  // namespace

void define_linear_algebra(py::module_& module) {
  define_solvers(module);
  module.def("_eigen", &eigen);
  module.def("_singular_values", &singular_values);
  module.def("_svd", &svd);
  module.def("_least_squares", &least_squares);
}

}  // namespace tessera::python
