// SPDX-License-Identifier: BSD-3-Clause
// One matrix in two distributions: blocks of rows, and the block-cyclic layout that ScaLAPACK's
// routines take. copy() moves it from one to the other.
//     build/bin/tessera-run -n 4 build/docs/examples/redistribute
#include <cstdint>
#include <cstdio>
#include <iostream>

#include <tessera/arrays/print.hpp>
#include <tessera/arrays/reductions.hpp>
#include <tessera/arrays/transform.hpp>

using namespace tessera::arrays;
using tessera::rma::require;

constexpr std::int64_t rows = 12, columns = 10, block = 3;

int main() {
  auto job = tessera::rma::Job::start().value();
  const std::int64_t ranks = job.size();

  // Each rank has whole rows: the second dimension of the grid of ranks is 1.
  auto by_rows =
      Array<double>::create(job, {rows, columns}, {.name = "by rows", .process_grid = {0, 1}})
          .value();
  require(for_each_element(by_rows, [](const Index& at, double& value) {
    value = static_cast<double>(100 * at[0] + at[1]);
  }));

  // Blocks of 3 x 3, dealt cyclically to 2 x (ranks / 2) ranks; column-major local matrices.
  const std::int64_t grid_rows = ranks % 2 == 0 ? 2 : 1;
  const std::int64_t grid_columns = ranks / grid_rows;
  const auto layout =
      Distribution::scalapack({rows, columns}, {block, block}, {grid_rows, grid_columns}, ranks)
          .value();
  auto cyclic = Array<double>::create(job, layout, {.name = "cyclic"}).value();
  require(copy(by_rows, cyclic));

  if (job.rank().value == 0) {
    print_distribution(by_rows.distribution(), std::cout);
    print_distribution(layout, std::cout);
  }

  // This rank's memory is ScaLAPACK's local matrix: check each of its elements.
  const auto blocks = cyclic.local_blocks().value();
  const double* const local = blocks.data();
  const auto me = job.world().rank();
  const Extents shape = layout.local_extents(me);
  const Index at = layout.block_map().coordinates(me);  // this rank's coordinates in the grid
  bool is_right = true;
  for (std::int64_t j = 0; j < shape[1]; ++j) {
    for (std::int64_t i = 0; i < shape[0]; ++i) {
      const std::int64_t row = (i / block * grid_rows + at[0]) * block + i % block;
      const std::int64_t column = (j / block * grid_columns + at[1]) * block + j % block;
      is_right = is_right && local[i + j * shape[0]] == static_cast<double>(100 * row + column);
    }
  }

  // And back: the element-wise difference of the two arrays is zero.
  require(add(1.0, by_rows, -1.0, cyclic, by_rows));
  return is_right && norm_max(by_rows).value() == 0 ? 0 : 1;
}
