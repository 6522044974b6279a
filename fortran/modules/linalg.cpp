// SPDX-License-Identifier: BSD-3-Clause
#include "fortran/c/linalg.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "fortran/detail/cells.hpp"
#include "fortran/detail/fortran_operands.hpp"
#include "fortran/detail/scalars.hpp"

namespace tessera::fapi {
namespace {

using rma::Code;
using rma::Status;

/// Options of solvers; the module has the same structure.
struct SolverOptions {
  std::int64_t block = 0;
  int method = 0;
  int triangle = 0;
  int side = 0;
  int op = 0;
  int diagonal = 0;
};

tessera_solver_options options_of(const SolverOptions& choice, const void* alpha) {
  tessera_solver_options options;
  tessera_solver_options_init(&options);
  options.alpha = alpha;
  options.block = choice.block;
  options.method = choice.method;
  options.triangle = choice.triangle;
  options.side = choice.side;
  options.op = choice.op;
  options.diagonal = choice.diagonal;
  return options;
}

tessera_product_options product_options(std::int64_t buffer_bytes) {
  tessera_product_options options;
  tessera_product_options_init(&options);
  options.buffer_bytes = buffer_bytes;
  return options;
}

/// Operations whose only results are matrices; the module has the same numbers.
enum class MatrixOperation {
  cholesky,
  solve,
  solve_positive_definite,
  solve_cholesky,
  solve_triangular,
  invert_positive_definite,
  least_squares
};

constexpr std::array<const char*, 7> solving_names = {"tessera_cholesky",
                                                      "tessera_solve",
                                                      "tessera_solve_positive_definite",
                                                      "tessera_solve_cholesky",
                                                      "tessera_solve_triangular",
                                                      "tessera_invert_positive_definite",
                                                      "tessera_least_squares"};

int solve(MatrixOperation what, const FortranOperands<3>& given,
          const tessera_solver_options& options) {
  switch (what) {
    case MatrixOperation::cholesky:
      return tessera_matrix_cholesky(given.matrix(0), &options);
    case MatrixOperation::solve:
      return tessera_matrix_solve(given.matrix(0), given.matrix(1), &options);
    case MatrixOperation::solve_positive_definite:
      return tessera_matrix_solve_positive_definite(given.matrix(0), given.matrix(1), &options);
    case MatrixOperation::solve_cholesky:
      return tessera_matrix_solve_cholesky(given.matrix(0), given.matrix(1), &options);
    case MatrixOperation::solve_triangular:
      return tessera_matrix_solve_triangular(given.matrix(0), given.matrix(1), &options);
    case MatrixOperation::invert_positive_definite:
      return tessera_matrix_invert_positive_definite(given.matrix(0), &options);
    case MatrixOperation::least_squares:
      break;
  }
  return tessera_matrix_least_squares(given.matrix(0), given.matrix(1), &options, given.matrix(2));
}

/// Operations that also return a list of values.
enum class ValueOperation {
  eigenvalues,
  eigen,
  eigenvalues_generalised,
  eigen_generalised,
  singular_values,
  svd
};

constexpr std::array<const char*, 6> values_names = {
    "tessera_eigenvalues",       "tessera_eigen",           "tessera_eigenvalues_generalised",
    "tessera_eigen_generalised", "tessera_singular_values", "tessera_svd"};

/// The operand whose team does the work: the vectors, if there are any.
std::size_t leader_of(ValueOperation what) {
  const bool has_second_first = what == ValueOperation::eigen || what == ValueOperation::svd;
  return what == ValueOperation::eigen_generalised ? 2 : has_second_first ? 1 : 0;
}

int find_values(ValueOperation what, const FortranOperands<3>& given,
                const tessera_solver_options& options, void* values) {
  switch (what) {
    case ValueOperation::eigenvalues:
      return tessera_matrix_eigenvalues(given.matrix(0), &options, values);
    case ValueOperation::eigen:
      return tessera_matrix_eigen(given.matrix(0), &options, given.matrix(1), values);
    case ValueOperation::eigenvalues_generalised:
      return tessera_matrix_eigenvalues_generalised(given.matrix(0), given.matrix(1), &options,
                                                    values);
    case ValueOperation::eigen_generalised:
      return tessera_matrix_eigen_generalised(given.matrix(0), given.matrix(1), &options,
                                              given.matrix(2), values);
    case ValueOperation::singular_values:
      return tessera_matrix_singular_values(given.matrix(0), &options, values);
    case ValueOperation::svd:
      break;
  }
  return tessera_matrix_svd(given.matrix(0), &options, given.matrix(1), given.matrix(2), values);
}

/// The number of eigenvalues, pivots and so on of a matrix.
std::int64_t shorter_side(const FortranOperands<3>& given) {
  const auto [rows, columns] = given.matrix_shape(0);
  return std::max<std::int64_t>(std::min(rows, columns), 0);
}

Status check_list(const Descriptor* list, std::int64_t wanted, CFI_type_t type,
                  std::string_view what) {
  TESSERA_RETURN_IF_ERROR(check_allocated(list, what));
  if (list->rank != 1 || list->dim[0].extent != wanted) {
    return Status::error(Code::invalid_argument,
                         fmt::format("{} must be a list of {} numbers", what, wanted));
  }
  if (list->type != type) {
    CFI_cdesc_t right = *list;
    right.type = type;
    return Status::error(Code::invalid_argument, fmt::format("{} is {}; it must be {}", what,
                                                             type_text(*list), type_text(right)));
  }
  return {};
}

/// The type of eigenvalues and of the factors of reflectors.
CFI_type_t real_type(const arrays::ElementKind& kind) {
  const bool is_single = kind.type == rma::ElementType::f32 || kind.type == rma::ElementType::c64;
  return is_single ? CFI_type_float : CFI_type_double;
}
CFI_type_t own_type(const arrays::ElementKind& kind) {
  if (kind.type == rma::ElementType::c64 || kind.type == rma::ElementType::c128) {
    return kind.type == rma::ElementType::c64 ? CFI_type_float_Complex : CFI_type_double_Complex;
  }
  return real_type(kind);
}

/// `act` fills a list with the length of the matrix's shorter side and the type type(kind).
template <class Type, class Act, class CheckMore>
int with_list(const char* name, FortranOperands<3>& given, Descriptor* list, const Type& type,
              const Act& act, const CheckMore& check_more) {
  std::optional<Dense> dense;
  const auto look = [&](const arrays::ArrayBase& array) -> Status {
    TESSERA_RETURN_IF_ERROR(check_more());
    TESSERA_RETURN_IF_ERROR(
        check_list(list, shorter_side(given), type(array.element()), "the list"));
    dense.emplace(*list);
    return {};
  };
  const int code = given.run(
      name, {}, [&] { return act(dense->data()); }, look);
  if (code == TESSERA_OK) {
    dense->give_back();
  }
  return code;
}

std::string turned(const char* letters) {
  const std::string_view given(letters);
  return std::string(given.rbegin(), given.rend());
}

}  // namespace

extern "C" {

int tessera_f_gemm(const Operand* a, const Operand* b, const Operand* c, const Descriptor* alpha,
                   const Descriptor* beta, int op_a, int op_b, const Descriptor* buffer_bytes) {
  FortranOperands<3> given({a, b, c}, 2);
  std::int64_t bytes = 0;
  const auto look = [&](const arrays::ArrayBase&) -> Status {
    TESSERA_ASSIGN_OR_RETURN(bytes, integer_of(buffer_bytes, "buffer_bytes"));
    return {};
  };
  const auto act = [&] {
    tessera_product_options options = product_options(bytes);
    options.alpha = given.number(0);
    options.beta = given.number(1);
    options.op_a = op_a;
    options.op_b = op_b;
    return tessera_matrix_gemm(given.matrix(0), given.matrix(1), &options, given.matrix(2));
  };
  return given.run("tessera_gemm", {{"alpha", alpha}, {"beta", beta}}, act, look);
}

int tessera_f_contract(const char* a_letters, const Operand* a, const char* b_letters,
                       const Operand* b, const char* c_letters, const Operand* c,
                       const Descriptor* alpha, const Descriptor* beta,
                       const Descriptor* buffer_bytes) {
  FortranOperands<3> given({a, b, c}, 2);
  std::int64_t bytes = 0;
  const auto look = [&](const arrays::ArrayBase&) -> Status {
    TESSERA_ASSIGN_OR_RETURN(bytes, integer_of(buffer_bytes, "buffer_bytes"));
    for (const std::size_t number : {0U, 1U, 2U}) {
      if (given.is_part(number)) {
        return Status::error(Code::invalid_argument, fmt::format("the argument is a part of {}",
                                                                 given.array(number).describe()))
            .hint("copy the part to an array, and contract that");
      }
    }
    return {};
  };
  const auto act = [&] {
    tessera_product_options options = product_options(bytes);
    options.alpha = given.number(0);
    options.beta = given.number(1);
    return tessera_array_contract(turned(a_letters).c_str(), given[0].array,
                                  turned(b_letters).c_str(), given[1].array, &options,
                                  turned(c_letters).c_str(), given[2].array);
  };
  return given.run("tessera_contract", {{"alpha", alpha}, {"beta", beta}}, act, look);
}

int tessera_f_permute(const Operand* from, const Descriptor* order, const Operand* to,
                      const Descriptor* buffer_bytes) {
  FortranOperands<2> given({from, to}, 1);
  Numbers dims;
  std::int64_t bytes = 0;
  const auto look = [&](const arrays::ArrayBase& array) -> Status {
    TESSERA_ASSIGN_OR_RETURN(bytes, integer_of(buffer_bytes, "buffer_bytes"));
    TESSERA_ASSIGN_OR_RETURN(dims, integers_of(order, array.ndims(), "order", describe(array)));
    // Dimension d of C is dimension n + 1 - d of Fortran.
    std::reverse(dims.begin(), dims.end());
    const std::int64_t source_dims = given.array(0).ndims();
    for (std::int64_t& dim : dims) {
      if (dim < 0 || dim > source_dims) {
        return Status::error(Code::invalid_argument, fmt::format("there is no dimension {}", dim));
      }
      dim = dim == 0 ? std::int64_t{TESSERA_NO_DIM} : source_dims - dim;
    }
    return {};
  };
  const auto act = [&] {
    const tessera_product_options options = product_options(bytes);
    return tessera_part_permute(given[0], dims.data(), &options, given[1]);
  };
  return given.run("tessera_permute", {}, act, look);
}

/// FortranOperands that are not needed are null.
int tessera_f_solve(int op, const Operand* a, const Operand* b, const Operand* x,
                    const SolverOptions* choice, const Descriptor* alpha) {
  FortranOperands<3> given({a, b, x}, x != nullptr ? 2 : b != nullptr ? 1 : 0);
  return given.run(solving_names[static_cast<std::size_t>(op)], {{"alpha", alpha}}, [&] {
    return solve(MatrixOperation{op}, given, options_of(*choice, given.number(0)));
  });
}

/// Pivots count from 1, as in LAPACK.
int tessera_f_lu(const Operand* a, const SolverOptions* choice, Descriptor* pivots) {
  FortranOperands<3> given({a, nullptr, nullptr}, 0);
  Numbers rows;
  const auto look = [&](const arrays::ArrayBase&) -> Status {
    rows.reserve(1);  // C needs an address also for an empty list
    rows.assign(static_cast<std::size_t>(shorter_side(given)), 0);
    return write_integers(rows, pivots, "pivots");
  };
  const int code = given.run(
      "tessera_lu", {},
      [&] {
        const auto options = options_of(*choice, nullptr);
        return tessera_matrix_lu(given.matrix(0), &options, rows.data());
      },
      look);
  if (code != TESSERA_OK) {
    return code;
  }
  return capi::call("tessera_lu", [&] {
    for (std::int64_t& row : rows) {
      ++row;
    }
    return write_integers(rows, pivots, "pivots");
  });
}

int tessera_f_solve_lu(const Operand* a, const Descriptor* pivots, const Operand* b,
                       const SolverOptions* choice) {
  FortranOperands<2> given({a, b}, 1);
  Numbers rows;
  const auto look = [&](const arrays::ArrayBase&) -> Status {
    TESSERA_ASSIGN_OR_RETURN(rows, integers(pivots, "pivots"));
    for (std::int64_t& row : rows) {
      --row;
    }
    return {};
  };
  return given.run(
      "tessera_solve_lu", {},
      [&] {
        const auto options = options_of(*choice, nullptr);
        return tessera_matrix_solve_lu(given.matrix(0), std::ssize(rows), rows.data(),
                                       given.matrix(1), &options);
      },
      look);
}

int tessera_f_qr(const Operand* a, const SolverOptions* choice, Descriptor* tau) {
  FortranOperands<3> given({a, nullptr, nullptr}, 0);
  const auto act = [&](void* list) {
    const auto options = options_of(*choice, nullptr);
    return tessera_matrix_qr(given.matrix(0), &options, list);
  };
  return with_list("tessera_qr", given, tau, own_type, act, [] { return Status(); });
}

int tessera_f_values(int op, const Operand* a, const Operand* second, const Operand* third,
                     const SolverOptions* choice, const Descriptor* max_bytes, Descriptor* values) {
  FortranOperands<3> given({a, second, third}, leader_of(ValueOperation{op}));
  tessera_solver_options options = options_of(*choice, nullptr);
  const auto look = [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(options.max_bytes,
                             integer_of(max_bytes, "max_bytes", options.max_bytes));
    return {};
  };
  return with_list(
      values_names[static_cast<std::size_t>(op)], given, values, real_type,
      [&](void* list) { return find_values(ValueOperation{op}, given, options, list); }, look);
}

}  // extern "C"

}  // namespace tessera::fapi
