// SPDX-License-Identifier: BSD-3-Clause
#include "linalg/eigen.hpp"

#include <optional>
#include <string_view>
#include <utility>

#include "arrays/call_signature.hpp"
#include "linalg/detail/dense_task.hpp"
#include "linalg/detail/gathered.hpp"
#include "linalg/detail/matrix_checks.hpp"
#include "linalg/variants/scalapack.hpp"

namespace tessera::linalg {

using detail::Gathered;
using detail::MatrixMap;
using detail::Named;
using detail::WorkMatrix;
using rma::Result;
using rma::Status;
using rma::Team;

namespace {

namespace library = variants::scalapack;

// A v = λ v or, if B is set, A v = λ B v.
struct Problem {
  std::string_view attempt;
  MatrixMap a;
  std::optional<MatrixMap> b;
  std::optional<MatrixMap> vectors;
  EigenOptions options;

  [[nodiscard]] arrays::ArrayBase& target() const { return vectors ? *vectors->array : *a.array; }
  [[nodiscard]] Team& team() const { return target().team(); }
};

std::vector<Named> operands_of(const Problem& problem) {
  std::vector<Named> operands{{"A", problem.a}};
  if (problem.b) {
    operands.push_back({"B", *problem.b});
  }
  if (problem.vectors) {
    operands.push_back(detail::written("the vectors", *problem.vectors));
  }
  return operands;
}

Status check_problem(const std::vector<Named>& operands) {
  TESSERA_RETURN_IF_ERROR(detail::check_operands(operands));
  for (const Named& operand : operands) {
    TESSERA_RETURN_IF_ERROR(detail::check_square(operand.map).context(operand.name));
    TESSERA_RETURN_IF_ERROR(
        detail::check_extents_match(operands.front(), operands.front().map.rows(), operand,
                                    operand.map.rows(), "A, B and the vectors are n x n"));
  }
  return {};
}

// ---- ScaLAPACK

template <Scalar T>
Result<RealValues<T>> solve_distributed(const Problem& problem) {
  const Team& team = problem.team();
  TESSERA_ASSIGN_OR_RETURN(
      WorkMatrix a, library::at(problem.a, team, problem.options.how.block, WorkMatrix::Use::copy));
  std::optional<WorkMatrix> factor;
  if (problem.b) {
    TESSERA_ASSIGN_OR_RETURN(WorkMatrix b, library::beside(a, *problem.b, WorkMatrix::Use::copy));
    TESSERA_ASSIGN_OR_RETURN(const std::int64_t minor,
                             library::Routines<T>::cholesky(b, Triangle::lower));
    TESSERA_RETURN_IF_ERROR(detail::check_minor(minor, {"B", *problem.b}, problem.options.how));
    TESSERA_RETURN_IF_ERROR(library::Routines<T>::to_standard(a, b));
    factor = std::move(b);
  }
  if (!problem.vectors) {
    return library::Routines<T>::eigen(a, nullptr);
  }
  TESSERA_ASSIGN_OR_RETURN(WorkMatrix vectors,
                           library::zeros_like(a, problem.a.rows(), problem.a.rows()));
  TESSERA_ASSIGN_OR_RETURN(RealValues<T> values, library::Routines<T>::eigen(a, &vectors));
  if (factor) {
    TESSERA_RETURN_IF_ERROR(library::Routines<T>::solve_triangular({.op = 'C'}, *factor, vectors));
  }
  TESSERA_RETURN_IF_ERROR(vectors.store(*problem.vectors));
  return values;
}

// ---- One rank for all

// Local. Solves the problem on this rank. Returns the result of eigen_generalised().
template <Scalar T>
Result<std::int64_t> solve_on_root(const Problem& problem, std::span<RealOf<T>> values) {
  Gathered<T> a;
  Gathered<T> b;
  TESSERA_RETURN_IF_ERROR(a.fetch(problem.a));
  std::int64_t minor = 0;
  if (problem.b) {
    TESSERA_RETURN_IF_ERROR(b.fetch(*problem.b));
    TESSERA_ASSIGN_OR_RETURN(minor, lapack::eigen_generalised<T>(problem.vectors.has_value(),
                                                                 a.matrix(), b.matrix(), values));
  } else {
    TESSERA_RETURN_IF_ERROR(lapack::eigen<T>(problem.vectors.has_value(), a.matrix(), values));
  }
  if (minor == 0 && problem.vectors) {
    TESSERA_RETURN_IF_ERROR(a.put(*problem.vectors));
  }
  return minor;
}

template <Scalar T>
Result<RealValues<T>> solve_gathered(const Problem& problem) {
  Team& team = problem.team();
  const rma::TeamRank solver{0};
  RealValues<T> values;
  std::int64_t minor = 0;
  TESSERA_RETURN_IF_ERROR(problem.target().sync([&]() -> Status {
    values.resize(static_cast<std::size_t>(problem.a.rows()));
    if (team.rank() == solver) {
      TESSERA_ASSIGN_OR_RETURN(minor, solve_on_root<T>(problem, values));
    }
    return {};
  }));
  TESSERA_RETURN_IF_ERROR(team.broadcast_value(minor, solver));
  if (minor != 0) {
    return detail::check_minor(minor, {"B", *problem.b}, problem.options.how);
  }
  if (!values.empty()) {
    TESSERA_RETURN_IF_ERROR(team.broadcast(std::as_writable_bytes(std::span(values)), solver));
  }
  return values;
}

// ---- Both

template <Scalar T>
Result<RealValues<T>> solve_agreed(const Problem& problem, bool uses_scalapack) {
  if (uses_scalapack) {
    return solve_distributed<T>(problem);
  }
  const auto n = static_cast<double>(problem.a.rows());
  const double matrices = (problem.vectors ? 3 : 1) + (problem.b ? 1 : 0);
  TESSERA_RETURN_IF_ERROR(
      detail::check_gathered(problem.a, matrices * n * n, problem.options.max_bytes));
  return solve_gathered<T>(problem);
}

template <Scalar T>
Result<RealValues<T>> solve(const Problem& problem) {
  // Without the target there is no team to agree with.
  TESSERA_RETURN_IF_ERROR(problem.target().check_open().context(problem.attempt));
  const arrays::detail::CallScope scope(problem.attempt, problem.target());
  detail::CallSignature signature(problem.attempt);
  signature.add(problem.options.max_bytes);
  const std::vector<Named> operands = operands_of(problem);
  const auto uses_scalapack =
      detail::begin_dense(problem.target(), operands, problem.options.how, check_problem(operands),
                          signature, detail::spectral_work_per_element);
  TESSERA_RETURN_IF_ERROR(Status(uses_scalapack.status()).context(problem.attempt));
  auto values = solve_agreed<T>(problem, *uses_scalapack);
  TESSERA_RETURN_IF_ERROR(Status(values.status()).context(problem.attempt));
  return values;
}

}  // namespace

template <Scalar T>
Result<RealValues<T>> eigenvalues(const MatrixPatch<T>& a, const EigenOptions& options) {
  return solve<T>({"eigenvalues", detail::map_of(a), {}, {}, options});
}
template <Scalar T>
Result<RealValues<T>> eigen(const MatrixPatch<T>& a, const MatrixPatch<T>& vectors,
                            const EigenOptions& options) {
  return solve<T>({"eigen", detail::map_of(a), {}, detail::map_of(vectors), options});
}
template <Scalar T>
Result<RealValues<T>> eigenvalues_generalised(const MatrixPatch<T>& a, const MatrixPatch<T>& b,
                                              const EigenOptions& options) {
  return solve<T>({"eigenvalues_generalised", detail::map_of(a), detail::map_of(b), {}, options});
}
template <Scalar T>
Result<RealValues<T>> eigen_generalised(const MatrixPatch<T>& a, const MatrixPatch<T>& b,
                                        const MatrixPatch<T>& vectors,
                                        const EigenOptions& options) {
  return solve<T>({"eigen_generalised", detail::map_of(a), detail::map_of(b),
                   detail::map_of(vectors), options});
}

template Result<RealValues<float>> eigenvalues(const MatrixPatch<float>&, const EigenOptions&);
template Result<RealValues<float>> eigen(const MatrixPatch<float>&, const MatrixPatch<float>&,
                                         const EigenOptions&);
template Result<RealValues<float>> eigenvalues_generalised(const MatrixPatch<float>&,
                                                           const MatrixPatch<float>&,
                                                           const EigenOptions&);
template Result<RealValues<float>> eigen_generalised(const MatrixPatch<float>&,
                                                     const MatrixPatch<float>&,
                                                     const MatrixPatch<float>&,
                                                     const EigenOptions&);
template Result<RealValues<double>> eigenvalues(const MatrixPatch<double>&, const EigenOptions&);
template Result<RealValues<double>> eigen(const MatrixPatch<double>&, const MatrixPatch<double>&,
                                          const EigenOptions&);
template Result<RealValues<double>> eigenvalues_generalised(const MatrixPatch<double>&,
                                                            const MatrixPatch<double>&,
                                                            const EigenOptions&);
template Result<RealValues<double>> eigen_generalised(const MatrixPatch<double>&,
                                                      const MatrixPatch<double>&,
                                                      const MatrixPatch<double>&,
                                                      const EigenOptions&);
template Result<RealValues<std::complex<float>>> eigenvalues(
    const MatrixPatch<std::complex<float>>&, const EigenOptions&);
template Result<RealValues<std::complex<float>>> eigen(const MatrixPatch<std::complex<float>>&,
                                                       const MatrixPatch<std::complex<float>>&,
                                                       const EigenOptions&);
template Result<RealValues<std::complex<float>>> eigenvalues_generalised(
    const MatrixPatch<std::complex<float>>&, const MatrixPatch<std::complex<float>>&,
    const EigenOptions&);
template Result<RealValues<std::complex<float>>> eigen_generalised(
    const MatrixPatch<std::complex<float>>&, const MatrixPatch<std::complex<float>>&,
    const MatrixPatch<std::complex<float>>&, const EigenOptions&);
template Result<RealValues<std::complex<double>>> eigenvalues(
    const MatrixPatch<std::complex<double>>&, const EigenOptions&);
template Result<RealValues<std::complex<double>>> eigen(const MatrixPatch<std::complex<double>>&,
                                                        const MatrixPatch<std::complex<double>>&,
                                                        const EigenOptions&);
template Result<RealValues<std::complex<double>>> eigenvalues_generalised(
    const MatrixPatch<std::complex<double>>&, const MatrixPatch<std::complex<double>>&,
    const EigenOptions&);
template Result<RealValues<std::complex<double>>> eigen_generalised(
    const MatrixPatch<std::complex<double>>&, const MatrixPatch<std::complex<double>>&,
    const MatrixPatch<std::complex<double>>&, const EigenOptions&);

}  // namespace tessera::linalg
