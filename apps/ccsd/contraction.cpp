// SPDX-License-Identifier: BSD-3-Clause
#include "apps/ccsd/contraction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "apps/common/clock.hpp"
#include "linalg/blas.hpp"
#include "linalg/blas_threads.hpp"

namespace tessera::apps::ccsd {
namespace {

using arrays::Box;
using linalg::LocalMatrix;
using rma::Result;
using rma::Status;

// Fewer tasks leave ranks idle at the end of a product; more tasks cost accumulates.
constexpr std::int64_t tasks_per_rank = 6;

std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

/// The address of the box's elements if they lie in this node's memory in one block; otherwise
/// null.
const double* find_in_place(RowMatrix& matrix, const Box& box) {
  auto patches = matrix.distribution().patches(box);
  if (patches.remaining() != 1) {
    return nullptr;
  }
  const arrays::Patch patch = *patches.begin();
  const std::byte* const slice = matrix.region().direct(patch.owner);
  return slice == nullptr ? nullptr : reinterpret_cast<const double*>(slice) + patch.offset;
}

}  // namespace

Factor Factor::columns(RowMatrix& matrix, std::int64_t first, std::int64_t last) {
  Factor factor = of(matrix);
  factor.box.set(1, first, last);
  return factor;
}

Box Factor::part(std::int64_t row, std::int64_t row_count, std::int64_t column,
                 std::int64_t column_count) const {
  const int row_dim = is_transposed ? 1 : 0;
  Box result = box;
  result.set(row_dim, box.lo(row_dim) + row, box.lo(row_dim) + row + row_count);
  result.set(1 - row_dim, box.lo(1 - row_dim) + column,
             box.lo(1 - row_dim) + column + column_count);
  return result;
}

void ContractionEngine::Panel::start(const Factor& factor, const Box& box) {
  const std::int64_t rows = box.extent(0);
  const std::int64_t columns = box.extent(1);
  const double* data = find_in_place(*factor.matrix, box);
  std::int64_t row_stride = factor.matrix->extents()[1];
  if (data == nullptr) {
    buffer_.resize(std::max(buffer_.size(), static_cast<std::size_t>(box.volume())));
    fetching_ = factor.matrix->get_async(box, std::span<double>(buffer_));
    data = buffer_.data();
    row_stride = columns;
  }
  matrix_ = {data, rows, columns, row_stride, 1};
  if (factor.is_transposed) {
    matrix_ = matrix_.transposed();
  }
}

/// Supplies the steps of the tasks that this rank draws.
class ContractionEngine::Steps {
 public:
  Steps(ContractionEngine& engine, std::span<const Product> products)
      : engine_(engine), products_(products), plans_(engine.plan(products)) {}

  /// Local. Empty if no task is left.
  Result<std::optional<Step>> next() {
    if (k_ == task_.k_last) {
      TESSERA_ASSIGN_OR_RETURN(const std::int64_t task, engine_.counter_.next());
      while (product_ < products_.size() && task >= end_of(product_)) {
        ++product_;
      }
      if (product_ == products_.size()) {
        return std::optional<Step>();
      }
      begin_task(task);
    }
    Step step = task_;
    step.k_first = k_;
    step.k_last = std::min(k_ + engine_.tile_, task_.k_last);
    step.begins_task = k_ == task_.k_first;
    step.ends_task = step.k_last == task_.k_last;
    k_ = step.k_last;
    return std::optional<Step>(step);
  }

 private:
  [[nodiscard]] std::int64_t end_of(std::size_t product) const {
    const Plan& plan = plans_[product];
    return plan.first_task + plan.row_tiles * plan.column_tiles * plan.stretches;
  }
  void begin_task(std::int64_t task) {
    const Plan& plan = plans_[product_];
    const Product& product = products_[product_];
    const std::int64_t tile = engine_.tile_;
    const std::int64_t index = task - plan.first_task;
    const std::int64_t row = index / plan.stretches / plan.column_tiles * tile;
    const std::int64_t column = index / plan.stretches % plan.column_tiles * tile;
    task_.product = product_;
    task_.c = product.c.part(row, std::min(tile, product.c.rows() - row), column,
                             std::min(tile, product.c.columns() - column));
    task_.k_first = index % plan.stretches * plan.stretch_length;
    task_.k_last = std::min(task_.k_first + plan.stretch_length, product.a.columns());
    k_ = task_.k_first;
  }

  ContractionEngine& engine_;
  std::span<const Product> products_;
  std::vector<Plan> plans_;
  std::size_t product_ = 0;
  Step task_;
  std::int64_t k_ = 0;
};

Result<ContractionEngine> ContractionEngine::create(rma::Job& job, std::int64_t tile) {
  linalg::limit_blas_threads(job);
  TESSERA_ASSIGN_OR_RETURN(auto counter, arrays::Counter::create(job, job.world()));
  return ContractionEngine(job, std::move(counter), tile);
}

std::int64_t ContractionEngine::buffer_bytes(std::int64_t elements) noexcept {
  constexpr std::int64_t tiles = 6;
  return tiles * elements * static_cast<std::int64_t>(sizeof(double));
}

std::vector<ContractionEngine::Plan> ContractionEngine::plan(
    std::span<const Product> products) const {
  std::vector<Plan> plans;
  std::int64_t first_task = 0;
  for (const Product& product : products) {
    Plan plan{first_task, ceil_div(product.c.rows(), tile_), ceil_div(product.c.columns(), tile_)};
    const std::int64_t k = product.a.columns();
    const std::int64_t tiles = plan.row_tiles * plan.column_tiles;
    // A stretch is at least as long as a tile, so that its work is worth the accumulate.
    const std::int64_t wanted =
        ceil_div(tasks_per_rank * job_.size(), std::max<std::int64_t>(tiles, 1));
    const std::int64_t stretches =
        std::clamp<std::int64_t>(wanted, 1, std::max<std::int64_t>(k / tile_, 1));
    plan.stretch_length = std::max<std::int64_t>(ceil_div(k, stretches), 1);
    plan.stretches = ceil_div(k, plan.stretch_length);
    first_task += tiles * plan.stretches;
    plans.push_back(plan);
  }
  return plans;
}

Status ContractionEngine::multiply(const Product& product, const Step& step, std::size_t side) {
  const std::int64_t rows = step.c.extent(0);
  const std::int64_t columns = step.c.extent(1);
  if (step.begins_task) {
    c_side_ = 1 - c_side_;
    TESSERA_RETURN_IF_ERROR(buffers_.writing[c_side_].wait());
    auto& buffer = buffers_.c[c_side_];
    buffer.resize(std::max(buffer.size(), static_cast<std::size_t>(step.c.volume())));
  }
  double* const c = buffers_.c[c_side_].data();
  const auto start = Clock::now();
  TESSERA_RETURN_IF_ERROR(linalg::blas::gemm<double>(
      product.alpha, {buffers_.a[side].matrix()}, {buffers_.b[side].matrix()},
      step.begins_task ? 0.0 : 1.0, LocalMatrix<double>{c, rows, columns, columns, 1}));
  statistics_.multiply_seconds += seconds_since(start);
  if (step.ends_task) {
    buffers_.writing[c_side_] = product.c.matrix->accumulate_async(
        step.c, std::span<const double>(c, static_cast<std::size_t>(step.c.volume())));
  }
  return {};
}

Status ContractionEngine::run_tasks(std::span<const Product> products) {
  Steps steps(*this, products);
  const auto start = [&](const Step& step, std::size_t side) {
    const Product& product = products[step.product];
    const std::int64_t row = step.c.lo(0) - product.c.box.lo(0);
    const std::int64_t column = step.c.lo(1) - product.c.box.lo(1);
    const std::int64_t k_count = step.k_last - step.k_first;
    buffers_.a[side].start(product.a, product.a.part(row, step.c.extent(0), step.k_first, k_count));
    buffers_.b[side].start(product.b,
                           product.b.part(step.k_first, k_count, column, step.c.extent(1)));
  };
  std::size_t side = 0;
  TESSERA_ASSIGN_OR_RETURN(auto step, steps.next());
  if (step) {
    start(*step, side);
  }
  while (step) {
    TESSERA_ASSIGN_OR_RETURN(auto next, steps.next());
    if (next) {
      start(*next, 1 - side);
    }
    TESSERA_RETURN_IF_ERROR(buffers_.a[side].wait());
    TESSERA_RETURN_IF_ERROR(buffers_.b[side].wait());
    TESSERA_RETURN_IF_ERROR(multiply(products[step->product], *step, side));
    step = next;
    side = 1 - side;
  }
  TESSERA_RETURN_IF_ERROR(buffers_.writing[0].wait());
  return buffers_.writing[1].wait();
}

Status ContractionEngine::run_together(std::span<const Product> products) {
  TESSERA_RETURN_IF_ERROR(counter_.reset());
  const Status done = run_tasks(products);
  Status fenced = job_.fence_all();
  return job_.world().agree(done.ok() ? fenced : done);
}

Status ContractionEngine::run(std::span<const Product> products) {
  const auto start = Clock::now();
  Status done = run_together(products);
  if (!done.ok()) {
    std::string names;
    for (const Product& product : products) {
      names += fmt::format("{}'{}'", names.empty() ? "" : ", ", product.c.matrix->name());
    }
    return std::move(done).context("contracting into " + names);
  }
  statistics_.seconds += seconds_since(start);
  for (const Product& product : products) {
    statistics_.operations += 2.0 * static_cast<double>(product.c.box.volume()) *
                              static_cast<double>(product.a.columns());
  }
  return {};
}

}  // namespace tessera::apps::ccsd
