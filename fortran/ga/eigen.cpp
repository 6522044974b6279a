// SPDX-License-Identifier: BSD-3-Clause
//
// Eigenvalues of symmetric matrices of doubles, and of Hermitian ones that programs keep as two
// arrays. As in GA the eigenvalues are ascending and on all processes, the vectors are columns as
// Fortran sees them, and matrices keep their values. Block sizes that programs give are not used.
#include "linalg/eigen.hpp"

#include <algorithm>
#include <complex>
#include <limits>
#include <optional>
#include <vector>

#include "arrays/elementwise.hpp"
#include "arrays/subarray.hpp"
#include "arrays/transform.hpp"
#include "fortran/ga/matrices.hpp"
#include "fortran/ga/operations.hpp"

namespace tessera::ga {

namespace {

using linalg::EigenOptions;
using linalg::Method;
using Complex = std::complex<double>;

// GA has no limit for problems that one process solves.
EigenOptions options_for(Method method) {
  return {.how = {.method = method}, .max_bytes = std::numeric_limits<std::int64_t>::max()};
}

Status check_vectors(const Record& a, const Record& vectors) {
  TESSERA_RETURN_IF_ERROR(check_square<double>(a));
  TESSERA_RETURN_IF_ERROR(check_plane(vectors));
  return check_elements<double>(vectors);
}

void give(const std::vector<double>& values, std::int64_t count, double* to) {
  std::copy_n(values.begin(), count, to);
}

// The number of eigenvalues that a program asks for, of n.
std::int64_t wanted(const IntOut& given, std::int64_t n) {
  const std::int64_t count = given.get();
  return count < 1 || count > n ? n : count;
}

// The first columns, as Fortran sees them.
Box columns(std::int64_t n, std::int64_t count) {
  return {{0, 0}, {count, n}};
}

// Collective. The first `count` eigenvalues and vectors.
Status solve_some(const Record& a, const Record& vectors, double* values, std::int64_t count,
                  Method method) {
  TESSERA_RETURN_IF_ERROR(check_vectors(a, vectors));
  const std::int64_t n = a.extents()[0];
  auto& matrix = array_of<double>(a);
  if (count == n && &a != &vectors) {
    TESSERA_ASSIGN_OR_RETURN(
        const auto found,
        linalg::eigen(matrix_of<double>(a), matrix_of<double>(vectors), options_for(method)));
    give(found, n, values);
    return {};
  }
  TESSERA_ASSIGN_OR_RETURN(auto all, matrix.duplicate(vectors.plan.name + " (all vectors)"));
  TESSERA_ASSIGN_OR_RETURN(
      const auto found,
      linalg::eigen(matrix_of<double>(a), {all, all.box(), fortran_view}, options_for(method)));
  const Box box = columns(n, count);
  TESSERA_RETURN_IF_ERROR(
      arrays::copy(arrays::part(all, box), arrays::part(array_of<double>(vectors), box)));
  give(found, count, values);
  return all.free();
}

Status solve_all(const Record& a, const Record& vectors, double* values, Method method) {
  return solve_some(a, vectors, values, a.extents()[0], method);
}

Status solve_generalised(const Record& a, const Record& metric, const Record& vectors,
                         double* values, Method method) {
  TESSERA_RETURN_IF_ERROR(check_vectors(a, vectors));
  TESSERA_RETURN_IF_ERROR(check_square<double>(metric));
  TESSERA_ASSIGN_OR_RETURN(
      const auto found, linalg::eigen_generalised(matrix_of<double>(a), matrix_of<double>(metric),
                                                  matrix_of<double>(vectors), options_for(method)));
  give(found, a.extents()[0], values);
  return {};
}

// ---- Hermitian matrices: real and imaginary parts in two arrays

struct Pair {
  Record* real = nullptr;
  Record* imaginary = nullptr;

  [[nodiscard]] Status find(const IntOut& handles) {
    TESSERA_RETURN_IF_ERROR(find_array(handles.get(0), real));
    TESSERA_RETURN_IF_ERROR(find_array(handles.get(1), imaginary));
    TESSERA_RETURN_IF_ERROR(check_square<double>(*real));
    return check_square<double>(*imaginary);
  }
};

// Collective. Solves for a complex copy of the matrix.
Status solve_hermitian(const IntOut& of_a, const IntOut& of_vectors, double* values,
                       const std::optional<IntOut>& count) {
  Pair a;
  Pair vectors;
  TESSERA_RETURN_IF_ERROR(a.find(of_a));
  TESSERA_RETURN_IF_ERROR(vectors.find(of_vectors));
  auto& real = array_of<double>(*a.real);
  const std::int64_t n = a.real->extents()[0];
  const std::int64_t first = count ? wanted(*count, n) : n;
  arrays::ArrayOptions options;
  options.name = a.real->plan.name + " (complex)";
  options.team = real.team();
  TESSERA_ASSIGN_OR_RETURN(
      auto matrix, arrays::Array<Complex>::create(real.job(), real.distribution(), options));
  TESSERA_ASSIGN_OR_RETURN(auto all, matrix.duplicate(options.name));
  TESSERA_RETURN_IF_ERROR(arrays::transform(
      matrix, [](double re, double im) { return Complex(re, im); }, real,
      array_of<double>(*a.imaginary)));
  TESSERA_ASSIGN_OR_RETURN(
      const auto found,
      linalg::eigen<Complex>({matrix, matrix.box(), fortran_view}, {all, all.box(), fortran_view},
                             options_for(Method::automatic)));
  const Box box = columns(n, first);
  TESSERA_RETURN_IF_ERROR(arrays::transform(
      arrays::part(array_of<double>(*vectors.real), box), [](Complex x) { return x.real(); },
      arrays::part(all, box)));
  TESSERA_RETURN_IF_ERROR(arrays::transform(
      arrays::part(array_of<double>(*vectors.imaginary), box), [](Complex x) { return x.imag(); },
      arrays::part(all, box)));
  give(found, first, values);
  if (count) {
    count->set(first);
  }
  TESSERA_RETURN_IF_ERROR(all.free());
  return matrix.free();
}

}  // namespace

Status diag(Record& a, Record& metric, Record& vectors, double* values) {
  return solve_generalised(a, metric, vectors, values, Method::automatic);
}

// GA would keep the factor of the metric; a negative number frees it.
Status diag_reuse(std::int64_t reuse, Record& a, Record& metric, Record& vectors, double* values) {
  return reuse < 0 ? Status() : diag(a, metric, vectors, values);
}

Status diag_seq(Record& a, Record& metric, Record& vectors, double* values) {
  return solve_generalised(a, metric, vectors, values, Method::own);
}

Status diag_std(Record& a, Record& vectors, double* values) {
  return solve_all(a, vectors, values, Method::automatic);
}

Status diag_std_seq(Record& a, Record& vectors, double* values) {
  return solve_all(a, vectors, values, Method::own);
}

Status pdsyevr(Record& a, Record& vectors, double* values, const IntOut& count) {
  const std::int64_t first = wanted(count, a.extents()[0]);
  TESSERA_RETURN_IF_ERROR(solve_some(a, vectors, values, first, Method::automatic));
  count.set(first);
  return {};
}

Status pzheevd(const IntOut& a, const IntOut& vectors, double* values) {
  return solve_hermitian(a, vectors, values, {});
}

Status pzheevr(const IntOut& a, const IntOut& vectors, double* values, const IntOut& count) {
  return solve_hermitian(a, vectors, values, count);
}

}  // namespace tessera::ga
