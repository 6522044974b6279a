// SPDX-License-Identifier: BSD-3-Clause
//
// ContractionEngine: sums of products of distributed matrices, C += alpha A B, as tasks that ranks
// draw from a shared counter.
//
//              n
//         +---+---+          A task is one tile of C and a stretch of k. Its rank fetches the
//       k | B |   |          panels of A and B along that stretch in turn, multiplies them
//         +---+---+          by the local dgemm, and accumulates the tile into C. Meanwhile it
//     k                      fetches the panels of the next step. It reads panels in place if they
//   +---+ +---+---+          lie in one piece of this node's memory.
// m | A | | C |   |
//   +---+ +---+---+          There are several tasks for each rank, so that fast ranks do more.
//
// It does not depend on the meaning of the matrices: this is NWChem's way of contracting tensors,
// with tiles of matrices in place of tiles of tensors ([ARMCIMPI12], §VII).
//
// Cost: 2 m n k operations for each product, over all ranks. Memory: six tiles on each rank, for
// any product; for smaller matrices at most their size.
// Threads: run() by one. Ownership: move-only; freed collectively.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "apps/ccsd/row_matrix.hpp"
#include "arrays/box.hpp"
#include "arrays/counter.hpp"
#include "linalg/local_matrix.hpp"
#include "rma/job.hpp"

namespace tessera::apps::ccsd {

/// A part of a matrix, or its transpose, as an operand.
struct Factor {
  RowMatrix* matrix = nullptr;
  arrays::Box box;
  bool is_transposed = false;

  /// The whole matrix.
  static Factor of(RowMatrix& matrix) { return {&matrix, matrix.box(), false}; }
  /// The columns from `first` up to and excluding `last`.
  static Factor columns(RowMatrix& matrix, std::int64_t first, std::int64_t last);
  [[nodiscard]] Factor transposed() const { return {matrix, box, !is_transposed}; }

  [[nodiscard]] std::int64_t rows() const { return box.extent(is_transposed ? 1 : 0); }
  [[nodiscard]] std::int64_t columns() const { return box.extent(is_transposed ? 0 : 1); }
  /// A part of the operand, as a box of the matrix.
  [[nodiscard]] arrays::Box part(std::int64_t row, std::int64_t row_count, std::int64_t column,
                                 std::int64_t column_count) const;
};

/// C += alpha A B. Requires: matching extents; C is not part of another operand.
struct Product {
  Factor c;  ///< not transposed
  double alpha = 1.0;
  Factor a;
  Factor b;
};

struct ContractionStatistics {
  double operations = 0.0;        ///< floating-point operations of all ranks
  double seconds = 0.0;           ///< time of this rank in run()
  double multiply_seconds = 0.0;  ///< the part of it in the local dgemm
};

class ContractionEngine {
 public:
  /// Collective. Tiles have at most `tile` rows and columns.
  static rma::Result<ContractionEngine> create(rma::Job& job, std::int64_t tile);

  /// An upper limit for a rank's buffers, with tiles of at most `elements` elements.
  static std::int64_t buffer_bytes(std::int64_t elements) noexcept;

  /// Collective. Computes all products; none may read what another writes. Requires: operands are
  /// complete, as after sync(). Complete: at return all results are, on all ranks. Errors: those of
  /// any rank, on all; then the results are unspecified.
  rma::Status run(std::span<const Product> products);

  /// Local. Summed over all calls of run().
  [[nodiscard]] const ContractionStatistics& statistics() const noexcept { return statistics_; }

 private:
  /// Operands of one local multiplication.
  class Panel {
   public:
    /// Starts to fetch the box, unless it can be read in place.
    void start(const Factor& factor, const arrays::Box& box);
    rma::Status wait() { return fetching_.wait(); }
    [[nodiscard]] const linalg::LocalMatrix<const double>& matrix() const noexcept {
      return matrix_;
    }

   private:
    std::vector<double> buffer_;
    rma::Handle fetching_;
    linalg::LocalMatrix<const double> matrix_;
  };
  /// One local multiplication.
  struct Step {
    std::size_t product = 0;
    arrays::Box c;
    std::int64_t k_first = 0;
    std::int64_t k_last = 0;
    bool begins_task = false;
    bool ends_task = false;
  };
  /// How a product is divided into tasks.
  struct Plan {
    std::int64_t first_task = 0;
    std::int64_t row_tiles = 0;
    std::int64_t column_tiles = 0;
    std::int64_t stretches = 0;  ///< of k
    std::int64_t stretch_length = 0;
  };
  class Steps;
  struct Buffers {
    std::array<Panel, 2> a;
    std::array<Panel, 2> b;
    std::array<std::vector<double>, 2> c;
    std::array<rma::Handle, 2> writing;
  };

  ContractionEngine(rma::Job& job, arrays::Counter counter, std::int64_t tile)
      : job_(job), counter_(std::move(counter)), tile_(tile) {}
  [[nodiscard]] std::vector<Plan> plan(std::span<const Product> products) const;
  rma::Status run_together(std::span<const Product> products);
  rma::Status run_tasks(std::span<const Product> products);
  rma::Status multiply(const Product& product, const Step& step, std::size_t side);

  rma::Job job_;
  arrays::Counter counter_;
  std::int64_t tile_;
  Buffers buffers_;
  std::size_t c_side_ = 0;
  ContractionStatistics statistics_;
};

}  // namespace tessera::apps::ccsd
