// SPDX-License-Identifier: BSD-3-Clause
//
// Complex matrix times vector, for code that calls BLAS in a sanitized program. OpenBLAS (issue
// 4013) reads one element past the end of the vector if the number of rows is 2 more than a
// multiple of 4. The program crashes if the allocator's memory ends there, which is likely under a
// sanitizer.
#include <complex>
#include <cstdint>

namespace tessera::test {
namespace {

// Element i of a vector of n, as BLAS places it: from the end if the stride is negative.
template <class T>
T& element(T* vector, std::int64_t stride, std::int64_t n, std::int64_t i) {
  return vector[stride > 0 ? i * stride : (i - n + 1) * stride];
}

// y = alpha op(a) x + beta y; a has m rows and n columns.
template <class T>
void gemv(char op, std::int64_t m, std::int64_t n, T alpha, const T* a, std::int64_t lead,
          const T* x, std::int64_t x_stride, T beta, T* y, std::int64_t y_stride) {
  const bool plain = op == 'N' || op == 'n';
  const bool conjugate = op == 'C' || op == 'c';
  const std::int64_t rows = plain ? m : n;
  const std::int64_t terms = plain ? n : m;
  for (std::int64_t row = 0; row < rows; ++row) {
    T sum = 0;
    for (std::int64_t term = 0; term < terms; ++term) {
      const T factor = plain ? a[row + term * lead] : a[term + row * lead];
      sum += (conjugate ? std::conj(factor) : factor) * element(x, x_stride, terms, term);
    }
    T& into = element(y, y_stride, rows, row);
    // an uninitialised element may be a NaN
    into = alpha * sum + (beta == T(0) ? T(0) : beta * into);
  }
}

}  // namespace
}  // namespace tessera::test

extern "C" {

void cgemv_(const char* op, const int* m, const int* n, const std::complex<float>* alpha,
            const std::complex<float>* a, const int* lead, const std::complex<float>* x,
            const int* x_stride, const std::complex<float>* beta, std::complex<float>* y,
            const int* y_stride) {
  tessera::test::gemv(*op, *m, *n, *alpha, a, *lead, x, *x_stride, *beta, y, *y_stride);
}

void zgemv_(const char* op, const int* m, const int* n, const std::complex<double>* alpha,
            const std::complex<double>* a, const int* lead, const std::complex<double>* x,
            const int* x_stride, const std::complex<double>* beta, std::complex<double>* y,
            const int* y_stride) {
  tessera::test::gemv(*op, *m, *n, *alpha, a, *lead, x, *x_stride, *beta, y, *y_stride);
}
}
