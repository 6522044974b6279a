// SPDX-License-Identifier: BSD-3-Clause
// A Fourier transform in three dimensions: two of them are complete on each rank, then copy()
// redistributes the array so that the third one is. python/fft.py is the same program.
//     build/bin/tessera-run -n 4 build/docs/examples/fft
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <numbers>
#include <vector>

#include <tessera/arrays/elementwise.hpp>
#include <tessera/arrays/reductions.hpp>
#include <tessera/arrays/transform.hpp>

using namespace tessera::arrays;
using tessera::rma::require;
using Complex = std::complex<double>;
using Cube = Array<Complex>;

constexpr std::int64_t n = 16;  // a power of two

// Of n numbers at distances of `stride`.
void transform_line(Complex* values, std::int64_t stride) {
  std::vector<Complex> result(n);
  for (std::int64_t k = 0; k < n; ++k) {
    for (std::int64_t j = 0; j < n; ++j) {
      const double angle = -2 * std::numbers::pi * static_cast<double>(j * k % n) / n;
      result[static_cast<std::size_t>(k)] += values[j * stride] * std::polar(1.0, angle);
    }
  }
  for (std::int64_t k = 0; k < n; ++k) {
    values[k * stride] = result[static_cast<std::size_t>(k)];
  }
}

// Along one dimension, which is complete on each rank.
void transform_dim(Cube& cube, int dim) {
  const auto access = cube.local().value();
  const Box own = access.own();
  const auto view = access.view();
  if (own.volume() == 0) {
    return;
  }
  const int one = dim == 0 ? 1 : 0, two = dim == 2 ? 1 : 2;
  Index at = own.lo();
  for (at[one] = own.lo(one); at[one] < own.hi(one); ++at[one]) {
    for (at[two] = own.lo(two); at[two] < own.hi(two); ++at[two]) {
      at[dim] = 1;
      const Complex* const second = &view[at];
      at[dim] = 0;
      Complex* const first = &view[at];
      transform_line(first, second - first);
    }
  }
}

int main() {
  auto job = tessera::rma::Job::start().value();
  auto planes = Cube::create(job, {n, n, n}, {.name = "planes", .process_grid = {0, 1, 1}}).value();
  auto columns =
      Cube::create(job, {n, n, n}, {.name = "columns", .process_grid = {1, 0, 1}}).value();
  require(for_each_element(planes, [](const Index& at, Complex& value) {
    const auto number = static_cast<double>(at[0] * 256 + at[1] * 16 + at[2]);
    value = {std::cos(0.01 * number * number), std::sin(0.3 * number)};
  }));
  const double before = norm2(planes, {.reproducible = true}).value();
  transform_dim(planes, 2);
  transform_dim(planes, 1);
  require(copy(planes, columns));  // all communication
  transform_dim(columns, 0);
  const double after = norm2(columns, {.reproducible = true}).value() / std::sqrt(n * n * n);
  const Complex mean = columns.get_element({0, 0, 0}).value();
  const Complex other = columns.get_element({3, 5, 7}).value();
  if (job.rank().value == 0) {
    std::printf("norm: %.10f\nelement 0 0 0: %.8f %.8f\nelement 3 5 7: %.8f %.8f\n", after,
                mean.real(), mean.imag(), other.real(), other.imag());
  }
  return std::abs(after - before) < 1e-9 ? 0 : 1;
}
