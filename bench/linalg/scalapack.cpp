// SPDX-License-Identifier: BSD-3-Clause
#include "bench/linalg/scalapack.hpp"

#include <array>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/floors/mpi_api.hpp"

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
}

namespace tessera::bench {
namespace {

/// A grid of processes and this one's parts of the matrices.
class Product {
 public:
  explicit Product(const ScalapackProblem& problem) : n_(static_cast<int>(problem.edge)) {
    Cblacs_get(-1, 0, &context_);
    Cblacs_gridinit(&context_, "Row", static_cast<int>(problem.grid_rows),
                    static_cast<int>(problem.grid_columns));
    int rows = 0;
    int columns = 0;
    int my_row = 0;
    int my_column = 0;
    Cblacs_gridinfo(context_, &rows, &columns, &my_row, &my_column);
    const int zero = 0;
    const auto block = static_cast<int>(problem.block);
    const int height = numroc_(&n_, &block, &my_row, &zero, &rows);
    const int width = numroc_(&n_, &block, &my_column, &zero, &columns);
    const int leading = height > 0 ? height : 1;
    int info = 0;
    descinit_(descriptor_.data(), &n_, &n_, &block, &block, &zero, &zero, &context_, &leading,
              &info);
    const auto elements = static_cast<std::size_t>(leading) * static_cast<std::size_t>(width);
    a_.assign(elements, 1.5);
    b_.assign(elements, 2.5);
    c_.assign(elements, 0);
  }
  ~Product() { Cblacs_gridexit(context_); }
  Product(const Product&) = delete;
  Product& operator=(const Product&) = delete;

  void multiply() {
    const double alpha = 1;
    const double beta = 0;
    const int one = 1;
    pdgemm_("N", "N", &n_, &n_, &n_, &alpha, a_.data(), &one, &one, descriptor_.data(), b_.data(),
            &one, &one, descriptor_.data(), &beta, c_.data(), &one, &one, descriptor_.data());
  }
  /// What is wrong with C, or an empty string.
  [[nodiscard]] std::string verify() const {
    for (const double value : c_) {
      if (value != 3.75 * n_) {
        return fmt::format("an element of C is {}, not {}", value, 3.75 * n_);
      }
    }
    return "";
  }

 private:
  int n_;
  int context_ = 0;
  std::array<int, 9> descriptor_ = {};
  std::vector<double> a_;
  std::vector<double> b_;
  std::vector<double> c_;
};

}  // namespace

std::optional<Candidate> scalapack_candidate(Crew& crew, std::string name,
                                             const ScalapackProblem& problem) {
  if (!mpi::is_running(crew.size())) {
    return std::nullopt;
  }
  const auto product = std::make_shared<Product>(problem);
  Candidate candidate;
  candidate.name = std::move(name);
  candidate.cooperative = true;
  candidate.run = [product](std::int64_t repetitions) {
    for (std::int64_t i = 0; i < repetitions; ++i) {
      product->multiply();
    }
  };
  candidate.verify = [product] {
    product->multiply();
    return product->verify();
  };
  return candidate;
}

}  // namespace tessera::bench
