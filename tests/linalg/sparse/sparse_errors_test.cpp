// SPDX-License-Identifier: BSD-3-Clause
//
// All members refuse invalid calls, with messages that name the cause, and nothing is changed.
#include "arrays/reductions.hpp"
#include "linalg/count_sketch.hpp"
#include "linalg/sparse_convert.hpp"
#include "linalg/sparse_dense.hpp"
#include "linalg/sparse_diagonal.hpp"
#include "linalg/sparse_product.hpp"
#include "linalg/spmv.hpp"
#include "tests/linalg/sparse/sparse_model.hpp"

namespace tessera::linalg {
namespace {

using arrays::Array;
using arrays::Box;
using rma::Code;
using rma::test::fails;
using rma::test::on_ranks;
using test::Job;
using test::ok;
using test::Team;

std::string last_rank(const Job& job) {
  return std::to_string(job.size() - 1);
}
bool is_last(const Job& job) {
  return job.rank().value == job.size() - 1;
}

// The identity with n rows.
SparseMatrix<double> identity(Job& job, std::int64_t n, const std::string& name = "A") {
  auto builder = SparseBuilder<double>::create(job, n, n, {.name = name}).value();
  for (std::int64_t i = job.rank().value; i < n; i += job.size()) {
    EXPECT_TRUE(ok(builder.add(i, i, 1.0)));
  }
  return builder.assemble().value();
}

TEST(SparseErrors, EntriesOutsideAreNamedAndNothingIsAdded) {
  on_ranks([](Job& job) {
    auto builder = SparseBuilder<double>::create(job, 4, 5, {.name = "A"}).value();
    const std::string rank = "rank " + std::to_string(job.rank().value);
    EXPECT_TRUE(fails(builder.add(4, 0, 1.0), Code::out_of_range,
                      {rank + " added entry (4, 0) to sparse matrix 'A', which is 4 x 5"}));
    EXPECT_TRUE(fails(builder.add(0, -1, 1.0), Code::out_of_range, {"entry (0, -1)"}));
    const std::vector<Triplet<double>> list{{0, 0, 1.0}, {3, 5, 1.0}};
    EXPECT_TRUE(fails(builder.add(list), Code::out_of_range, {"entry (3, 5)"}));
    EXPECT_EQ(builder.added(), 0);
    auto matrix = builder.assemble().value();
    EXPECT_EQ(matrix.entries(), 0);
    EXPECT_TRUE(fails(builder.add(0, 0, 1.0), Code::closed,
                      {"sparse matrix 'A' was assembled already", "hint:"}));
    EXPECT_TRUE(fails(builder.assemble(), Code::closed, {"was assembled already"}));
  });
}

TEST(SparseErrors, MembersMustAskForTheSameMatrix) {
  on_ranks([](Job& job) {
    EXPECT_TRUE(fails(SparseBuilder<double>::create(job, 4, -5, {.name = "A"}),
                      Code::invalid_argument, {"building sparse matrix 'A' 4 x -5"}));
    EXPECT_TRUE(
        fails(SparseBuilder<double>::create(job, 4, 4, {.name = "A", .row_starts = {0, 3, 2}}),
              Code::invalid_argument, {"building sparse matrix 'A' 4 x 4"}));
    if (job.size() == 1) {
      return;
    }
    const auto balance = is_last(job) ? RowBalance::rows : RowBalance::entries;
    EXPECT_TRUE(fails(SparseBuilder<double>::create(job, 4, is_last(job) ? 5 : 4,
                                                    {.name = "A", .balance = balance}),
                      Code::invalid_argument));
    EXPECT_TRUE(fails(SparseBuilder<double>::create(job, 4, is_last(job) ? 5 : 4, {.name = "A"}),
                      Code::invalid_argument,
                      {"rank " + last_rank(job) + " gave another sparse matrix than rank 0",
                       "the same element type, extents and options"}));
    LocalCsr<double> rows{.rows = 0, .columns = is_last(job) ? 5 : 4};
    EXPECT_TRUE(fails(SparseMatrix<double>::create(job, rows, {.name = "A"}),
                      Code::invalid_argument,
                      {"creating sparse matrix 'A'", "another number of columns than rank 0"}));
  });
}

TEST(SparseErrors, MembersMustGiveTheSameScalars) {
  on_ranks([](Job& job) {
    if (job.size() == 1) {
      return;
    }
    auto matrix = identity(job, 6);
    auto column = Array<double>::create(job, {6}, {.name = "column"}).value();
    const double mine = is_last(job) ? 2 : 3;
    const std::string differs = "with other arguments than rank 0";
    EXPECT_TRUE(
        fails(scale(matrix, mine), Code::invalid_argument, {"scaling sparse matrix 'A'", differs}));
    EXPECT_TRUE(fails(shift_diagonal(matrix, mine), Code::invalid_argument,
                      {"shifting the diagonal of sparse matrix 'A'", differs}));
    EXPECT_TRUE(fails(get_column(matrix, is_last(job) ? 2 : 3, column), Code::invalid_argument,
                      {"getting a column of sparse matrix 'A'", differs}));
    EXPECT_TRUE(fails(is_last(job) ? scale(matrix, 1.0) : get_diagonal(matrix, column),
                      Code::invalid_argument,
                      {"rank " + last_rank(job) +
                       " called scale of a sparse matrix where rank 0 "
                       "called get_diagonal of a sparse matrix"}));
    ASSERT_TRUE(ok(get_diagonal(matrix, column)));
    EXPECT_EQ(arrays::sum(column).value(), 6) << "nothing was written";
  });
}

TEST(SparseErrors, RowsThatBreakTheInvariantsAreRefusedOnAllMembers) {
  on_ranks([](Job& job) {
    const LocalCsr<double> good{.rows = 2,
                                .columns = 4,
                                .row_starts = {0, 1, 3},
                                .column = {3, 0, 1},
                                .value = {1.0, 2.0, 3.0}};
    const auto refused = [&](auto&& change, std::initializer_list<std::string_view> words) {
      LocalCsr<double> rows = good;
      if (is_last(job)) {
        change(rows);
      }
      EXPECT_TRUE(fails(SparseMatrix<double>::create(job, rows, {.name = "A"}),
                        Code::invalid_argument, words));
    };
    refused([](auto& rows) { rows.column[2] = 4; },
            {"entry 2, in row 1, has column 4, which is not in 0 … 3"});
    refused([](auto& rows) { rows.column[1] = 1; },
            {"in row 1 column 1 comes after column 1", "hint:"});
    refused([](auto& rows) { rows.row_starts[1] = 4; }, {"row 1 starts at entry 4 and ends at 3"});
    refused([](auto& rows) { rows.row_starts.pop_back(); }, {"2 rows and 3 entries need 3"});
    refused([](auto& rows) { rows.value.pop_back(); }, {"values for", "columns of entries"});
    EXPECT_TRUE(ok(SparseMatrix<double>::create(job, good, {.name = "A"})));
  });
}

TEST(SparseErrors, FreedMatricesAreClosed) {
  on_ranks([](Job& job) {
    auto matrix = identity(job, 6);
    auto x = Array<double>::create(job, {6}, {.name = "x"}).value();
    auto y = Array<double>::create(job, {6}, {.name = "y"}).value();
    auto plan = SpmvPlan<double>::create(matrix, x, y).value();
    EXPECT_TRUE(ok(matrix.free()));
    EXPECT_TRUE(ok(matrix.free()));
    constexpr std::string_view what = "sparse matrix 'A' was freed";
    EXPECT_TRUE(fails(matrix.get(Box({0, 0}, {1, 1})), Code::closed, {what}));
    EXPECT_TRUE(fails(matrix.local(), Code::closed, {what}));
    EXPECT_TRUE(fails(matrix.duplicate("B"), Code::closed, {what}));
    EXPECT_TRUE(fails(matrix.sync(), Code::closed, {what}));
    EXPECT_TRUE(fails(scale(matrix, 2.0), Code::closed, {what}));
    EXPECT_TRUE(fails(transpose(matrix), Code::closed, {what}));
    EXPECT_TRUE(fails(count_sketch(matrix, 3), Code::closed, {what}));
    EXPECT_TRUE(fails(multiply(matrix, matrix, "C"), Code::closed, {what}));
    EXPECT_TRUE(fails(plan.multiply(matrix, x, y), Code::closed, {what}));
    EXPECT_TRUE(fails(SpmvPlan<double>::create(matrix, x, y), Code::closed, {what}));
    EXPECT_NE(matrix.describe().find("freed"), std::string::npos);
  });
}

TEST(SparseErrors, BoxesAndColumnsOutsideAreNamed) {
  on_ranks([](Job& job) {
    auto matrix = identity(job, 6);
    EXPECT_TRUE(fails(matrix.get(Box({0, 0}, {7, 1})), Code::out_of_range,
                      {"get of [0,7) x [0,1) of sparse matrix 'A' (float64, 6 x 6, 6 entries)"}));
    EXPECT_TRUE(fails(matrix.get(Box({0}, {1})), Code::invalid_argument, {"1 dimension"}));
    auto column = Array<double>::create(job, {6}, {.name = "c"}).value();
    EXPECT_TRUE(fails(get_column(matrix, 6, column), Code::out_of_range,
                      {"getting a column of sparse matrix 'A'", "there is no column 6"}));
  });
}

TEST(SparseErrors, ArraysOfOtherExtentsAreRefused) {
  on_ranks([](Job& job) {
    auto matrix = identity(job, 6);
    auto five = Array<double>::create(job, {5}, {.name = "five"}).value();
    auto six = Array<double>::create(job, {6}, {.name = "six"}).value();
    const auto refused = [](const auto& result) {
      return fails(result, Code::invalid_argument,
                   {"array 'five' (float64, 5), does not have the extents 6", "matrix 'A'"});
    };
    EXPECT_TRUE(refused(get_diagonal(matrix, five)));
    EXPECT_TRUE(refused(get_column(matrix, 0, five)));
    EXPECT_TRUE(refused(scale_rows(matrix, five)));
    EXPECT_TRUE(refused(scale_columns(matrix, five)));
    EXPECT_TRUE(refused(SpmvPlan<double>::create(matrix, five, six)));
    EXPECT_TRUE(refused(SpmvPlan<double>::create(matrix, six, five)));
    EXPECT_EQ(matrix.get(matrix.box()).value().value, std::vector<double>(6, 1.0));
    auto dense = Array<double>::create(job, {6, 5}, {.name = "D"}).value();
    auto other = Array<double>::create(job, {5, 6}, {.name = "E"}).value();
    EXPECT_TRUE(fails(to_dense(matrix, dense), Code::invalid_argument,
                      {"array 'D' (float64, 6 x 5), does not have the extents 6 x 6"}));
    EXPECT_TRUE(
        fails(multiply(matrix, other, dense), Code::invalid_argument,
              {"the dense factor, array 'E' (float64, 5 x 6), does not have the extents 6 x 6"}));
    EXPECT_TRUE(fails(multiply(matrix, dense, dense), Code::invalid_argument,
                      {"array 'D' (float64, 6 x 5) is both factor and result"}));
    EXPECT_TRUE(
        fails(multiply(dense, matrix, other), Code::invalid_argument,
              {"the dense factor, array 'D' (float64, 6 x 5), does not have the extents 6 x 6"}));
    EXPECT_TRUE(fails(multiply(six, matrix, other), Code::invalid_argument,
                      {"dense factor has", "not two"}));
    EXPECT_TRUE(fails(from_dense(six), Code::invalid_argument, {"1 dimensions"}));
    EXPECT_TRUE(fails(from_dense(dense, {}, -1.0), Code::invalid_argument, {"threshold -1"}));
    EXPECT_TRUE(fails(count_sketch(matrix, 0), Code::invalid_argument,
                      {"0 buckets: a sketch must have at least one"}));
    auto small = identity(job, 5, "B");
    EXPECT_TRUE(fails(multiply(matrix, small, "C"), Code::invalid_argument,
                      {"the first factor has 6 columns, but the second has 5 rows"}));
    EXPECT_TRUE(ok(job.barrier()));
  });
}

TEST(SparseErrors, ArraysOnOtherTeamsAreRefused) {
  on_ranks([](Job& job) {
    if (job.size() == 1) {
      return;
    }
    Team backwards = job.world().split(0, -job.rank().value).value();
    auto matrix = identity(job, 6);
    auto x = Array<double>::create(job, {6}, {.name = "x", .team = backwards}).value();
    auto y = Array<double>::create(job, {6}, {.name = "y"}).value();
    EXPECT_TRUE(fails(SpmvPlan<double>::create(matrix, x, y), Code::invalid_argument,
                      {"array 'x' (float64, 6), is on another team than the matrix", "hint:"}));
    auto dense = Array<double>::create(job, {6, 6}, {.name = "D", .team = backwards}).value();
    auto other = from_dense(dense, {.name = "B"}).value();
    EXPECT_TRUE(
        fails(multiply(matrix, other, "C"), Code::invalid_argument, {"on different teams"}));
  });
}

TEST(SparseErrors, PlansRefuseWhatTheyAreNotFor) {
  on_ranks([](Job& job) {
    auto matrix = identity(job, 6);
    auto other = identity(job, 6, "B");
    auto x = Array<double>::create(job, {6}, {.name = "x"}).value();
    auto y = Array<double>::create(job, {6}, {.name = "y"}).value();
    auto plan = SpmvPlan<double>::create(matrix, x, y).value();
    EXPECT_TRUE(fails(plan.multiply(other, x, y), Code::invalid_argument,
                      {"the plan is for another matrix than sparse matrix 'B'", "hint:"}));
    EXPECT_TRUE(fails(plan.multiply(matrix, x, x), Code::invalid_argument,
                      {"array 'x' (float64, 6) is both x and y"}));
    const auto cyclic = test::vector_distributions(6, job.size())[1];
    auto z = Array<double>::create(job, cyclic, {.name = "z"}).value();
    if (!(cyclic == x.distribution())) {
      EXPECT_TRUE(fails(plan.multiply(matrix, z, y), Code::invalid_argument,
                        {"array 'z' (float64, 6) has another distribution than the vector x"}));
      EXPECT_TRUE(fails(plan.multiply_transposed(matrix, z, x), Code::invalid_argument,
                        {"array 'z' (float64, 6) has another distribution than the vector y"}));
    }
    EXPECT_TRUE(ok(y.set_access_mode(rma::AccessMode::read_only)));
    EXPECT_TRUE(fails(plan.multiply(matrix, x, y), Code::invalid_argument,
                      {"y = A x", "array 'y' (float64, 6)", "read_only now"}));
    EXPECT_TRUE(ok(plan.multiply_transposed(matrix, y, x))) << "it only reads y";
    EXPECT_TRUE(ok(y.set_access_mode(rma::AccessMode::any)));
    EXPECT_TRUE(ok(y.free()));
    EXPECT_TRUE(fails(plan.multiply(matrix, x, y), Code::closed, {"array 'y'"}));
  });
}

TEST(SparseErrors, TheFirstMissingDiagonalEntryIsNamed) {
  on_ranks([](Job& job) {
    auto builder = SparseBuilder<double>::create(job, 6, 6, {.name = "A"}).value();
    if (job.rank().value == 0) {
      for (const std::int64_t i : {0, 1, 2, 4}) {
        EXPECT_TRUE(ok(builder.add(i, i, 1.0)));
      }
    }
    auto matrix = builder.assemble().value();
    EXPECT_TRUE(fails(shift_diagonal(matrix, 1.0), Code::invalid_argument,
                      {"shifting the diagonal of sparse matrix 'A'", "(3, 3) is not an entry",
                       "hint: add zeros on the diagonal"}));
    EXPECT_EQ(matrix.get(matrix.box()).value().value, std::vector<double>(4, 1.0));
    EXPECT_TRUE(ok(matrix.sync()));
  });
}

}  // namespace
}  // namespace tessera::linalg
