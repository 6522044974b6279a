// SPDX-License-Identifier: BSD-3-Clause
// C = A B by tiles: each rank draws tiles of C, and fetches the next tiles of A and B while it
// multiplies the previous ones. (For real products use linalg/gemm.hpp: see gemm_eigen.cpp.)
//     build/bin/tessera-run -n 4 build/docs/examples/tiled_product
#include <cstdio>
#include <vector>

#include <tessera/arrays/counter.hpp>
#include <tessera/arrays/reductions.hpp>
#include <tessera/arrays/transform.hpp>

using namespace tessera::arrays;
using tessera::rma::Handle;
using tessera::rma::require;

constexpr std::int64_t n = 384, tile = 64, tiles = n / tile;
using Matrix = Array<std::int64_t>;  // whole numbers, so that the result can be compared
using Tile = std::vector<std::int64_t>;

Box tile_box(std::int64_t row, std::int64_t column) {
  return Box({row * tile, column * tile}, {(row + 1) * tile, (column + 1) * tile});
}

// A tile of A and one of B, and the handle of the transfers.
struct Pair {
  Tile a = Tile(tile * tile), b = Tile(tile * tile);
  Handle arrival;
  void fetch(const Matrix& from_a, const Matrix& from_b, std::int64_t i, std::int64_t j,
             std::int64_t k) {
    arrival = from_a.get_async(tile_box(i, k), a);
    arrival.collect(from_b.get_async(tile_box(k, j), b));
  }
};

void multiply_add(const Tile& a, const Tile& b, Tile& c) {
  for (std::size_t i = 0; i < tile; ++i) {
    for (std::size_t k = 0; k < tile; ++k) {
      for (std::size_t j = 0; j < tile; ++j) {
        c[i * tile + j] += a[i * tile + k] * b[k * tile + j];
      }
    }
  }
}

int main() {
  auto job = tessera::rma::Job::start().value();
  auto a = Matrix::create(job, {n, n}, {.name = "A"}).value();
  auto b = a.duplicate("B").value(), c = a.duplicate("C").value();
  require(for_each_element(a, [](const Index& at, std::int64_t& x) { x = at[0] + at[1]; }));
  require(for_each_element(b, [](const Index& at, std::int64_t& x) { x = at[0] - at[1]; }));

  auto counter = Counter::create(job, job.world()).value();
  Pair now, next;
  for (auto task = counter.next().value(); task < tiles * tiles; task = counter.next().value()) {
    const std::int64_t i = task / tiles, j = task % tiles;
    Tile sum(tile * tile);
    now.fetch(a, b, i, j, 0);
    for (std::int64_t k = 0; k < tiles; ++k) {
      if (k + 1 < tiles) {
        next.fetch(a, b, i, j, k + 1);
      }
      require(now.arrival.wait());
      multiply_add(now.a, now.b, sum);
      std::swap(now, next);  // swaps pointers only: transfers under way still find their memory
    }
    require(c.put(tile_box(i, j), sum));
  }
  require(c.sync());

  // Σ (i + k)(k − j) over k.
  const std::int64_t sum1 = n * (n - 1) / 2, sum2 = sum1 * (2 * n - 1) / 3;
  require(for_each_element(c, [&](const Index& at, std::int64_t& x) {
    x -= (at[0] - at[1]) * sum1 + sum2 - at[0] * at[1] * n;
  }));
  const double error = norm_max(c).value();
  if (job.rank().value == 0) {
    std::printf("%d x %d tiles by %d ranks: error %g\n", int{tiles}, int{tiles}, job.size(), error);
  }
  return error == 0 ? 0 : 1;
}
