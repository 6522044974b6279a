// SPDX-License-Identifier: BSD-3-Clause
#include "bench/linalg/scalapack.hpp"

#include <array>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/baselines/mpi_api.hpp"

// ScaLAPACK and BLACS have no headers; these are their documented Fortran and C interfaces.
extern "C" {
void Cblacs_get(int context, int what, int* value);
void Cblacs_gridinit(int* context, const char* order, int rows, int columns);
void Cblacs_gridinfo(int context, int* rows, int* columns, int* my_row, int* my_column);
void Cblacs_gridexit(int context);
int numroc_(const int* extent, const int* block, const int* my_place, const int* first,
            const int* places);
void descinit_(int* descriptor, const int* rows, const int* columns, const int* row_block,
               const int* column_block, const int* first_row, const int* first_column,
               const int* context, const int* leading, int* info);
void pdgemm_(const char* op_a, const char* op_b, const int* m, const int* n, const int* k,
             const double* alpha, const double* a, const int* a_row, const int* a_column,
             const int* a_descriptor, const double* b, const int* b_row, const int* b_column,
             const int* b_descriptor, const double* beta, double* c, const int* c_row,
             const int* c_column, const int* c_descriptor);
void pdgemr2d_(const int* m, const int* n, const double* a, const int* a_row, const int* a_column,
               const int* a_descriptor, double* b, const int* b_row, const int* b_column,
               const int* b_descriptor, const int* context);
void pdtran_(const int* m, const int* n, const double* alpha, const double* a, const int* a_row,
             const int* a_column, const int* a_descriptor, const double* beta, double* c,
             const int* c_row, const int* c_column, const int* c_descriptor);
}

namespace tessera::bench {
namespace {

/// A grid of processes.
class ProcessGrid {
 public:
  explicit ProcessGrid(const ScalapackProblem& problem) {
    Cblacs_get(-1, 0, &context_);
    Cblacs_gridinit(&context_, "Row", static_cast<int>(problem.grid_rows),
                    static_cast<int>(problem.grid_columns));
    Cblacs_gridinfo(context_, &rows_, &columns_, &my_row_, &my_column_);
  }
  ~ProcessGrid() { Cblacs_gridexit(context_); }
  ProcessGrid(const ProcessGrid&) = delete;
  ProcessGrid& operator=(const ProcessGrid&) = delete;

  [[nodiscard]] int context() const { return context_; }
  [[nodiscard]] int rows() const { return rows_; }
  [[nodiscard]] int columns() const { return columns_; }
  [[nodiscard]] int my_row() const { return my_row_; }
  [[nodiscard]] int my_column() const { return my_column_; }

 private:
  int context_ = 0;
  int rows_ = 0;
  int columns_ = 0;
  int my_row_ = 0;
  int my_column_ = 0;
};

/// A square matrix, of which this process has a part.
class Matrix {
 public:
  Matrix(const ProcessGrid& grid, const ScalapackProblem& problem, double value)
      : grid_(grid),
        row_block_(static_cast<int>(problem.block)),
        column_block_(problem.block_columns > 0 ? static_cast<int>(problem.block_columns)
                                                : row_block_) {
    const auto n = static_cast<int>(problem.edge);
    const int zero = 0;
    const int my_row = grid.my_row();
    const int my_column = grid.my_column();
    const int rows = grid.rows();
    const int columns = grid.columns();
    const int context = grid.context();
    height_ = numroc_(&n, &row_block_, &my_row, &zero, &rows);
    width_ = numroc_(&n, &column_block_, &my_column, &zero, &columns);
    leading_ = height_ > 0 ? height_ : 1;
    int info = 0;
    descinit_(descriptor_.data(), &n, &n, &row_block_, &column_block_, &zero, &zero, &context,
              &leading_, &info);
    elements_.assign(static_cast<std::size_t>(leading_) * static_cast<std::size_t>(width_), value);
  }

  [[nodiscard]] double* data() { return elements_.data(); }
  [[nodiscard]] const int* descriptor() const { return descriptor_.data(); }

  /// Calls `action(row, column, element)` for each element of this process.
  template <class Action>
  void for_each(Action action) {
    for (int column = 0; column < width_; ++column) {
      for (int row = 0; row < height_; ++row) {
        action(global(row, row_block_, grid_.my_row(), grid_.rows()),
               global(column, column_block_, grid_.my_column(), grid_.columns()),
               elements_[static_cast<std::size_t>(column) * static_cast<std::size_t>(leading_) +
                         static_cast<std::size_t>(row)]);
      }
    }
  }

 private:
  static int global(int local, int block, int mine, int places) {
    return (local / block * places + mine) * block + local % block;
  }

  const ProcessGrid& grid_;
  int row_block_;
  int column_block_;
  int height_ = 0;
  int width_ = 0;
  int leading_ = 1;
  std::array<int, 9> descriptor_ = {};
  std::vector<double> elements_;
};

class ScalapackProduct {
 public:
  explicit ScalapackProduct(const ScalapackProblem& problem)
      : n_(static_cast<int>(problem.edge)),
        grid_(problem),
        a_(grid_, problem, 1.5),
        b_(grid_, problem, 2.5),
        c_(grid_, problem, 0) {}

  void run() {
    const double alpha = 1;
    const double beta = 0;
    const int one = 1;
    pdgemm_("N", "N", &n_, &n_, &n_, &alpha, a_.data(), &one, &one, a_.descriptor(), b_.data(),
            &one, &one, b_.descriptor(), &beta, c_.data(), &one, &one, c_.descriptor());
  }
  /// An error message if C is wrong, or an empty string.
  [[nodiscard]] std::string verify() {
    std::string wrong;
    c_.for_each([&](int, int, double value) {
      if (value != 3.75 * n_) {
        wrong = fmt::format("an element of C is {}, not {}", value, 3.75 * n_);
      }
    });
    return wrong;
  }

 private:
  int n_;
  ProcessGrid grid_;
  Matrix a_;
  Matrix b_;
  Matrix c_;
};

/// A matrix whose elements are their numbers, to be moved into another one.
class ScalapackMovement {
 public:
  ScalapackMovement(const ScalapackProblem& before, const ScalapackProblem& after, bool transposes)
      : n_(static_cast<int>(before.edge)),
        transposes_(transposes),
        grid_(before),
        from_(grid_, before, 0),
        to_(grid_, after, -1) {
    from_.for_each([this](int row, int column, double& value) { value = number(row, column); });
  }

  void run() {
    const int one = 1;
    if (transposes_) {
      const double alpha = 1;
      const double beta = 0;
      pdtran_(&n_, &n_, &alpha, from_.data(), &one, &one, from_.descriptor(), &beta, to_.data(),
              &one, &one, to_.descriptor());
    } else {
      const int context = grid_.context();
      pdgemr2d_(&n_, &n_, from_.data(), &one, &one, from_.descriptor(), to_.data(), &one, &one,
                to_.descriptor(), &context);
    }
  }

  [[nodiscard]] std::string verify() {
    std::string wrong;
    to_.for_each([&](int row, int column, double value) {
      const double wanted = transposes_ ? number(column, row) : number(row, column);
      if (value != wanted) {
        wrong = fmt::format("element ({}, {}) is {}, not {}", row, column, value, wanted);
      }
    });
    return wrong;
  }

 private:
  [[nodiscard]] double number(int row, int column) const {
    return static_cast<double>(row) * n_ + column;
  }

  int n_;
  bool transposes_;
  ProcessGrid grid_;
  Matrix from_;
  Matrix to_;
};

template <class Work>
Candidate candidate_of(std::string name, const std::shared_ptr<Work>& work) {
  Candidate candidate = by_all(std::move(name), [work] { work->run(); });
  candidate.verify = [work] {
    work->run();
    return work->verify();
  };
  return candidate;
}

}  // namespace

std::optional<Candidate> scalapack_candidate(RankGroup& group, std::string name,
                                             const ScalapackProblem& problem) {
  if (!mpi::is_running(group.size())) {
    return std::nullopt;
  }
  return candidate_of(std::move(name), std::make_shared<ScalapackProduct>(problem));
}

std::optional<Candidate> scalapack_redistribution(RankGroup& group, const ScalapackProblem& from,
                                                  const ScalapackProblem& to) {
  if (!mpi::is_running(group.size())) {
    return std::nullopt;
  }
  return candidate_of("pdgemr2d", std::make_shared<ScalapackMovement>(from, to, false));
}

std::optional<Candidate> scalapack_transposition(RankGroup& group,
                                                 const ScalapackProblem& problem) {
  if (!mpi::is_running(group.size())) {
    return std::nullopt;
  }
  return candidate_of("pdtran", std::make_shared<ScalapackMovement>(problem, problem, true));
}

}  // namespace tessera::bench
