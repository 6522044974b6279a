// SPDX-License-Identifier: BSD-3-Clause
#include "linalg/svd.hpp"

#include <algorithm>
#include <optional>
#include <span>
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
using rma::Code;
using rma::Result;
using rma::Status;
using rma::Team;

namespace {

namespace library = variants::scalapack;

struct Vectors {
  MatrixMap u;
  MatrixMap vh;
};

struct SvdProblem {
  std::string_view attempt;
  MatrixMap a;
  std::optional<Vectors> vectors;
  EigenOptions options;

  [[nodiscard]] arrays::ArrayBase& target() const { return vectors ? *vectors->u.array : *a.array; }
  [[nodiscard]] std::int64_t count() const { return std::min(a.rows(), a.columns()); }
};

std::vector<Named> operands_of(const SvdProblem& problem) {
  std::vector<Named> operands{{"A", problem.a}};
  if (problem.vectors) {
    operands.push_back(detail::written("U", problem.vectors->u));
    operands.push_back(detail::written("VH", problem.vectors->vh));
  }
  return operands;
}

Status check_vectors(const SvdProblem& problem) {
  const Named a{"A", problem.a};
  const Named u{"U", problem.vectors->u};
  const Named vh{"VH", problem.vectors->vh};
  const std::string_view rule = "A is m x n, U is m x k and VH is k x n, with k = min(m, n)";
  TESSERA_RETURN_IF_ERROR(detail::check_extents_match(a, a.map.rows(), u, u.map.rows(), rule));
  TESSERA_RETURN_IF_ERROR(
      detail::check_extents_match(a, problem.count(), u, u.map.columns(), rule));
  TESSERA_RETURN_IF_ERROR(detail::check_extents_match(a, problem.count(), vh, vh.map.rows(), rule));
  TESSERA_RETURN_IF_ERROR(
      detail::check_extents_match(a, a.map.columns(), vh, vh.map.columns(), rule));
  const auto of_u = u.map.array->team().members();
  const auto of_vh = vh.map.array->team().members();
  if (!std::equal(of_u.begin(), of_u.end(), of_vh.begin(), of_vh.end())) {
    return Status::error(Code::invalid_argument, "U and VH are on different teams")
        .hint("make both on one team");
  }
  return {};
}

Status check_problem(const SvdProblem& problem) {
  TESSERA_RETURN_IF_ERROR(detail::check_operands(operands_of(problem)));
  return problem.vectors ? check_vectors(problem) : Status();
}

template <Scalar T>
Result<RealValues<T>> decompose_distributed(const SvdProblem& problem) {
  const Team& team = problem.target().team();
  TESSERA_ASSIGN_OR_RETURN(
      WorkMatrix a, library::at(problem.a, team, problem.options.how.block, WorkMatrix::Use::copy));
  if (!problem.vectors) {
    return library::Routines<T>::svd(a, nullptr, nullptr);
  }
  TESSERA_ASSIGN_OR_RETURN(WorkMatrix u, library::zeros_like(a, problem.a.rows(), problem.count()));
  TESSERA_ASSIGN_OR_RETURN(WorkMatrix vh,
                           library::zeros_like(a, problem.count(), problem.a.columns()));
  TESSERA_ASSIGN_OR_RETURN(RealValues<T> values, library::Routines<T>::svd(a, &u, &vh));
  TESSERA_RETURN_IF_ERROR(u.store(problem.vectors->u));
  TESSERA_RETURN_IF_ERROR(vh.store(problem.vectors->vh));
  return values;
}

// Local. Solves the problem on this rank.
template <Scalar T>
Status decompose_on_root(const SvdProblem& problem, std::span<RealOf<T>> values) {
  Gathered<T> a;
  Gathered<T> u;
  Gathered<T> vh;
  TESSERA_RETURN_IF_ERROR(a.fetch(problem.a));
  if (problem.vectors) {
    TESSERA_RETURN_IF_ERROR(u.reserve(problem.a.rows(), problem.count()));
    TESSERA_RETURN_IF_ERROR(vh.reserve(problem.count(), problem.a.columns()));
  }
  TESSERA_RETURN_IF_ERROR(lapack::svd<T>(a.matrix(), values, u.matrix(), vh.matrix()));
  if (problem.vectors) {
    TESSERA_RETURN_IF_ERROR(u.put(problem.vectors->u));
    TESSERA_RETURN_IF_ERROR(vh.put(problem.vectors->vh));
  }
  return {};
}

template <Scalar T>
Result<RealValues<T>> decompose_gathered(const SvdProblem& problem) {
  const auto m = static_cast<double>(problem.a.rows());
  const auto n = static_cast<double>(problem.a.columns());
  const auto k = static_cast<double>(problem.count());
  TESSERA_RETURN_IF_ERROR(
      detail::check_gathered(problem.a, m * n + (problem.vectors ? (m + n) * k + 5 * k * k : 0),
                             problem.options.max_bytes));
  Team& team = problem.target().team();
  const rma::TeamRank solver{0};
  RealValues<T> values;
  const auto solve = [&]() -> Status {
    values.resize(static_cast<std::size_t>(problem.count()));
    if (team.rank() == solver) {
      TESSERA_RETURN_IF_ERROR(decompose_on_root<T>(problem, values));
      return problem.vectors ? problem.vectors->vh.array->fence() : Status();
    }
    return {};
  };
  TESSERA_RETURN_IF_ERROR(problem.target().sync(solve));
  if (!values.empty()) {
    TESSERA_RETURN_IF_ERROR(team.broadcast(std::as_writable_bytes(std::span(values)), solver));
  }
  return values;
}

template <Scalar T>
Result<RealValues<T>> decompose(const SvdProblem& problem) {
  // Without the target there is no team to agree with.
  TESSERA_RETURN_IF_ERROR(problem.target().check_open().context(problem.attempt));
  const arrays::detail::CallScope scope(problem.attempt, problem.target());
  detail::CallSignature signature(problem.attempt);
  signature.add(problem.options.max_bytes);
  const auto uses_scalapack =
      detail::begin_dense(problem.target(), operands_of(problem), problem.options.how,
                          check_problem(problem), signature, detail::spectral_work_per_element);
  TESSERA_RETURN_IF_ERROR(Status(uses_scalapack.status()).context(problem.attempt));
  auto values =
      *uses_scalapack ? decompose_distributed<T>(problem) : decompose_gathered<T>(problem);
  TESSERA_RETURN_IF_ERROR(Status(values.status()).context(problem.attempt));
  return values;
}

}  // namespace

template <Scalar T>
Result<RealValues<T>> singular_values(const MatrixPatch<T>& a, const EigenOptions& options) {
  return decompose<T>({"singular_values", detail::map_of(a), {}, options});
}
template <Scalar T>
Result<RealValues<T>> svd(const MatrixPatch<T>& a, const MatrixPatch<T>& u,
                          const MatrixPatch<T>& vh, const EigenOptions& options) {
  return decompose<T>(
      {"svd", detail::map_of(a), Vectors{detail::map_of(u), detail::map_of(vh)}, options});
}

template Result<RealValues<float>> singular_values(const MatrixPatch<float>&, const EigenOptions&);
template Result<RealValues<float>> svd(const MatrixPatch<float>&, const MatrixPatch<float>&,
                                       const MatrixPatch<float>&, const EigenOptions&);
template Result<RealValues<double>> singular_values(const MatrixPatch<double>&,
                                                    const EigenOptions&);
template Result<RealValues<double>> svd(const MatrixPatch<double>&, const MatrixPatch<double>&,
                                        const MatrixPatch<double>&, const EigenOptions&);
template Result<RealValues<std::complex<float>>> singular_values(
    const MatrixPatch<std::complex<float>>&, const EigenOptions&);
template Result<RealValues<std::complex<float>>> svd(const MatrixPatch<std::complex<float>>&,
                                                     const MatrixPatch<std::complex<float>>&,
                                                     const MatrixPatch<std::complex<float>>&,
                                                     const EigenOptions&);
template Result<RealValues<std::complex<double>>> singular_values(
    const MatrixPatch<std::complex<double>>&, const EigenOptions&);
template Result<RealValues<std::complex<double>>> svd(const MatrixPatch<std::complex<double>>&,
                                                      const MatrixPatch<std::complex<double>>&,
                                                      const MatrixPatch<std::complex<double>>&,
                                                      const EigenOptions&);

}  // namespace tessera::linalg
