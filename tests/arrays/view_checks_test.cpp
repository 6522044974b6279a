// SPDX-License-Identifier: BSD-3-Clause
//
// The error of a wrong index in a program that is compiled with TESSERA_CHECK_VIEWS=1, as debug
// builds are; valid indices work as in other programs.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "arrays/array.hpp"
#include "arrays/view.hpp"

namespace tessera::arrays {
namespace {

class ViewChecks : public testing::Test {
 protected:
  ViewChecks() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(ViewChecks, LetIndicesInsideThrough) {
  std::vector<int> memory(12, 7);
  const LocalView<int> view(memory.data(), {3, 4});
  const GlobalView<int> global(view, {10, 20});
  EXPECT_EQ(view(2, 3), 7);
  EXPECT_EQ((view[Index{0, 0}]), 7);
  EXPECT_EQ(global(12, 23), 7);
  EXPECT_EQ((global[Index{10, 20}]), 7);
  EXPECT_EQ(view.sub(Box({1, 1}, {3, 4}))(1, 2), 7);
}

TEST_F(ViewChecks, EndAtAnIndexOutside) {
  std::vector<int> memory(12);
  const LocalView<int> view(memory.data(), {3, 4});
  EXPECT_DEATH(view(3, 0),
               "\\(3, 0\\) of a view of local memory, which covers \\[0,3\\) x \\[0,4\\): "
               "index 3 of dimension 0 is outside of \\[0,3\\)");
  EXPECT_DEATH(view(0, -1), "index -1 of dimension 1 is outside of \\[0,4\\)");
  EXPECT_DEATH((view[Index{0, 4}]), "index 4 of dimension 1 is outside of \\[0,4\\)");
  EXPECT_DEATH(static_cast<void>(view.sub(Box({0, 2}, {3, 5}))),
               "\\[2,5\\) of dimension 1 is outside of \\[0,4\\)");
}

TEST_F(ViewChecks, EndAtAnotherNumberOfIndices) {
  std::vector<int> memory(12);
  const LocalView<int> view(memory.data(), {3, 4});
  EXPECT_DEATH(view(1), "1 index is given for 2 dimensions");
  EXPECT_DEATH(view(1, 1, 1), "3 indices are given for 2 dimensions");
}

TEST_F(ViewChecks, NameTheArray) {
  auto job = rma::Job::start().value();
  auto array = Array<double>::create(job, {10, 10}, {.name = "A", .ghosts = {1, 1}}).value();
  const auto access = array.local().value();
  const auto view = access.view();
  view(-1, 10) = 2;  // a ghost cell
  EXPECT_EQ(view(-1, 10), 2);
  EXPECT_DEATH(view(11, 0),
               "\\(11, 0\\) of a view of array 'A', which covers \\[-1,11\\) x "
               "\\[-1,11\\): index 11 of dimension 0 is outside of \\[-1,11\\)");
  const auto blocks = array.local_blocks().value();
  EXPECT_DEATH(blocks[0](0, 10), "view of array 'A', which covers \\[0,10\\) x \\[0,10\\)");
}

TEST_F(ViewChecks, EndAtAnArrayThatWasFreed) {
  auto job = rma::Job::start().value();
  auto array = Array<double>::create(job, {10}, {.name = "A"}).value();
  const auto access = array.local().value();
  const auto view = access.view();
  view(3) = 1;
  EXPECT_TRUE(array.free().ok());
  EXPECT_DEATH(view(3),
               "\\(3\\) of a view of array 'A', which covers \\[0,10\\): the array was freed");
}

TEST_F(ViewChecks, FollowAnArrayThatMoves) {
  auto job = rma::Job::start().value();
  auto array = Array<double>::create(job, {10}, {.name = "A"}).value();
  const auto access = array.local().value();
  const auto view = access.view();
  {
    const auto moved = std::move(array);
    view(3) = 1;
    EXPECT_EQ(view(3), 1);
  }
  EXPECT_DEATH(view(3), "the array was freed");
}

}  // namespace
}  // namespace tessera::arrays
