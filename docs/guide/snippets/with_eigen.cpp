// SPDX-License-Identifier: BSD-3-Clause
// The Eigen code of docs/guide/14-with-other-libraries.md.
#include <Eigen/Core>
#include <Eigen/LU>

#include <tessera/arrays/array.hpp>
#include <tessera/arrays/reductions.hpp>
#include "docs/guide/snippets/expect.hpp"

using namespace tessera::arrays;
using guide::expect;
using tessera::rma::Job;
using tessera::rma::require;

int main() {
  Job job = Job::start({}).value();
  auto a = Array<double>::create(job, {30, 20}, {.name = "A"}).value();
  require(fill(a, 3.0));
  // [map]
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  {
    const auto access = a.local().value();
    const LocalView<double> block = access.view().local();
    Eigen::Map<RowMajor, 0, Eigen::OuterStride<>> own(block.data_handle(), block.extent(0),
                                                      block.extent(1),
                                                      Eigen::OuterStride<>(block.stride(0)));
    own = own.cwiseAbs2();  // in the array's memory
  }
  require(a.sync());
  RowMajor corner(5, 5);  // a copy of any box
  require(a.get(Box({0, 0}, {5, 5}), LocalView<double>(corner.data(), {5, 5})));
  const double determinant = corner.determinant();
  // [/map]
  expect(sum(a).value() == 9.0 * 600, "Eigen wrote into the array");
  expect(determinant == 0.0, "all rows are equal");
}
