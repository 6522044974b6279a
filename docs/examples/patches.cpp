// SPDX-License-Identifier: BSD-3-Clause
// Parts of an array, read and written by global indices: boxes, sections with steps, and boxes that
// reach over the ends of a periodic array.
//     build/bin/tessera-run -n 4 build/docs/examples/patches
#include <cstdio>
#include <vector>

#include <tessera/arrays/array.hpp>

using tessera::arrays::Array;
using tessera::arrays::Box;
using tessera::arrays::LocalView;
using tessera::arrays::Section;
using tessera::arrays::Strides;
using tessera::rma::require;

int main() {
  auto job = tessera::rma::Job::start().value();
  auto a = Array<double>::create(job, {8, 8}, {.name = "A"}).value();

  // One rank writes the whole array, a(i, j) = 10 i + j, without knowing the owners.
  if (job.rank().value == 0) {
    std::vector<double> values;
    for (int i = 0; i < 8; ++i) {
      for (int j = 0; j < 8; ++j) {
        values.push_back(10 * i + j);
      }
    }
    require(a.put(a.box(), values));
  }
  require(a.sync());

  // All ranks add 100 to the same four elements. No addition is lost.
  const Box middle({3, 3}, {5, 5});  // rows 3 and 4, columns 3 and 4: bounds are half-open
  require(a.accumulate(middle, std::vector<double>(4, 1.0), 100.0));
  require(a.sync());

  // A box into the middle of a larger local matrix: a view says where its elements lie.
  std::vector<double> frame(16, -1.0);  // 4 x 4
  require(a.get(middle, LocalView<double>(&frame[5], {2, 2}, Strides{4, 1})));

  // Every fourth row and every third column.
  const Section coarse(a.box(), {4, 3});  // rows 0 4, columns 0 3 6
  std::vector<double> picked(6);
  require(a.get(coarse, picked));

  // The eight neighbours of (0, 0), and itself, where the array closes on itself.
  std::vector<double> around(9);
  require(a.get(periodic(Box({-1, -1}, {2, 2})), around));

  const double added = 100.0 * job.size();
  const bool is_right = frame[4] == -1 && frame[5] == 33 + added && frame[6] == 34 + added &&
                        frame[7] == -1 && frame[8] == -1 && frame[9] == 43 + added &&
                        frame[10] == 44 + added && frame[11] == -1 &&
                        picked == std::vector<double>{0, 3, 6, 40, 43 + added, 46} &&
                        around == std::vector<double>{77, 70, 71, 7, 0, 1, 17, 10, 11};
  if (job.rank().value == 0) {
    std::printf("the middle: %g %g %g %g\n", frame[5], frame[6], frame[9], frame[10]);
    std::printf("around (0, 0): %g %g %g, %g %g %g, %g %g %g\n", around[0], around[1], around[2],
                around[3], around[4], around[5], around[6], around[7], around[8]);
  }
  return is_right ? 0 : 1;
}
