// SPDX-License-Identifier: BSD-3-Clause
#include "linalg/variants/contract_stationary_c.hpp"

#include <algorithm>
#include <array>
#include <complex>
#include <cstddef>
#include <utility>

#include "linalg/blas.hpp"
#include "linalg/detail/box_panel.hpp"
#include "linalg/detail/strided_loop.hpp"

namespace tessera::linalg::variants {

using arrays::Box;
using arrays::Extents;
using arrays::Patch;
using detail::as_matrix;
using detail::BoxPanel;
using detail::DimPairs;
using detail::extent_of;
using detail::for_each_part;
using detail::matrix_strides;
using detail::Scratch;
using rma::Status;

namespace {

// With this many terms at a time, kernels run at full speed.
constexpr std::int64_t full_inner = 256;

// A part of an own block of C.
struct Part {
  Patch block;
  Box box;
};

// The terms that are added to a part together.
struct Step {
  Part part;
  bool is_first = false;
  bool is_last = false;
};

// Boxes of A and B, and the step that needs them.
struct Pending {
  Step step;
  BoxPanel a;
  BoxPanel b;
  bool is_started = false;
};

// Copies the bounds of some dimensions of one box to dimensions of another.
void set_bounds(Box& to, const std::vector<int>& to_dims, const Box& from,
                const std::vector<int>& from_dims) {
  for (std::size_t i = 0; i < to_dims.size(); ++i) {
    to.set(to_dims[i], from.lo(from_dims[i]), from.hi(from_dims[i]));
  }
}

template <Scalar T>
class OwnContraction {
 public:
  OwnContraction(const ContractTask<T>& task, T* slice)
      : task_(task),
        slice_(slice),
        inner_(inner_box(task)),
        inner_volume_(inner_.volume()),
        quarter_(std::max<std::int64_t>(
            task.buffer_bytes / 4 / static_cast<std::int64_t>(sizeof(T)), 1)) {}

  Status run() {
    for (const Patch& block : task_.c.distribution().blocks(task_.c.team().rank())) {
      if (!block.box.is_empty()) {
        cut_part({.block = block, .box = block.box});
      }
    }
    finish(pending_[1 - next_]);
    return std::move(status_);
  }

 private:
  // The dimensions that are summed over, as a box.
  static Box inner_box(const ContractTask<T>& task) {
    const DimPairs& inner = task.dims.inner;
    Box box = Box::none(static_cast<int>(inner.left.size()));
    for (int i = 0; i < box.ndims(); ++i) {
      box.set(i, 0, task.a.extents()[inner.left[static_cast<std::size_t>(i)]]);
    }
    return box;
  }

  // Halves a part until its matrices fit the buffers.
  void cut_part(const Part& part) {
    const Extents extents = part.box.extents();
    const std::int64_t rows = extent_of(extents, task_.dims.rows.left);
    const std::int64_t columns = extent_of(extents, task_.dims.columns.left);
    const std::int64_t lines = rows + columns;
    const bool fits =
        rows * columns <= quarter_ && lines * std::min(inner_volume_, full_inner) <= quarter_;
    if (fits || rows * columns == 1) {
      start_part(part, std::max<std::int64_t>(quarter_ / lines, 1));
      return;
    }
    const auto& dims = rows > columns ? task_.dims.rows.left : task_.dims.columns.left;
    const int longest = *std::max_element(dims.begin(), dims.end(),
                                          [&](int x, int y) { return extents[x] < extents[y]; });
    const std::int64_t middle = part.box.lo(longest) + extents[longest] / 2;
    Part half = part;
    half.box.set(longest, part.box.lo(longest), middle);
    cut_part(half);
    half.box.set(longest, middle, part.box.hi(longest));
    cut_part(half);
  }

  // Each rank begins with another box of the summed dimensions, so that ranks don't all read from
  // one owner.
  void start_part(const Part& part, std::int64_t max_inner) {
    std::int64_t count = 0;
    for_each_part(inner_, max_inner, [&](const Box&) { ++count; });
    const std::int64_t first = task_.c.team().rank().value * count / task_.c.team().size();
    std::int64_t started = 0;
    for (const bool is_after : {true, false}) {
      std::int64_t number = 0;
      for_each_part(inner_, max_inner, [&](const Box& inner) {
        if ((number++ >= first) == is_after) {
          ++started;
          start({.part = part, .is_first = started == 1, .is_last = started == count}, inner);
        }
      });
    }
  }

  void start(const Step& step, const Box& inner) {
    Pending& pending = pending_[next_];
    std::vector<int> all(task_.dims.inner.left.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i] = static_cast<int>(i);
    }
    Box a = Box::none(task_.a.ndims());
    set_bounds(a, task_.dims.rows.right, step.part.box, task_.dims.rows.left);
    set_bounds(a, task_.dims.inner.left, inner, all);
    Box b = Box::none(task_.b.ndims());
    set_bounds(b, task_.dims.columns.right, step.part.box, task_.dims.columns.left);
    set_bounds(b, task_.dims.inner.right, inner, all);
    pending.a.start(task_.a, a);
    pending.b.start(task_.b, b);
    pending.step = step;
    pending.is_started = true;
    next_ = 1 - next_;
    finish(pending_[next_]);
  }

  void finish(Pending& pending) {
    if (!std::exchange(pending.is_started, false)) {
      return;
    }
    Status a = pending.a.wait();
    Status b = pending.b.wait();
    for (Status* const arrived : {&a, &b}) {
      if (status_.ok() && !arrived->ok()) {
        status_ = std::move(*arrived);
      }
    }
    if (status_.ok()) {
      status_ = add_product(pending);
    }
  }

  Status add_product(const Pending& pending) {
    const Step& step = pending.step;
    TESSERA_ASSIGN_OR_RETURN(const auto a, matrix_of(pending.a, task_.dims.rows.right,
                                                     task_.dims.inner.left, matrix_a_));
    TESSERA_ASSIGN_OR_RETURN(const auto b, matrix_of(pending.b, task_.dims.inner.right,
                                                     task_.dims.columns.right, matrix_b_));
    if (step.is_first) {
      TESSERA_RETURN_IF_ERROR(begin_part(step.part));
    }
    const T factor = !step.is_first ? T{1} : is_in_place_ ? task_.beta : T{0};
    TESSERA_RETURN_IF_ERROR(blas::gemm<T>(task_.alpha, {a}, {b}, factor, matrix_c_));
    if (step.is_last && !is_in_place_) {
      add_to_part(step.part);
    }
    return {};
  }

  // A fetched box as a matrix; it is permuted into `scratch` if necessary.
  static rma::Result<LocalMatrix<const T>> matrix_of(const BoxPanel& panel,
                                                     const std::vector<int>& row_dims,
                                                     const std::vector<int>& column_dims,
                                                     Scratch& scratch) {
    const auto* const data = static_cast<const T*>(panel.data());
    const Extents& extents = panel.extents();
    if (const auto matrix = as_matrix(data, extents, panel.strides(), row_dims, column_dims)) {
      return *matrix;
    }
    TESSERA_RETURN_IF_ERROR(scratch.reserve(static_cast<std::size_t>(volume(extents)) * sizeof(T)));
    auto* const to = static_cast<T*>(scratch.data());
    detail::for_each_line(extents, matrix_strides(extents, row_dims, column_dims), panel.strides(),
                          [&](const detail::LinePiece& line) {
                            for (std::int64_t i = 0; i < line.count; ++i) {
                              to[line.to + i * line.to_stride] =
                                  data[line.from + i * line.from_stride];
                            }
                          });
    const std::int64_t columns = extent_of(extents, column_dims);
    return LocalMatrix<const T>{to, extent_of(extents, row_dims), columns, columns, 1};
  }

  T* address_of(const Part& part) const {
    return slice_ + part.block.offset +
           distance(part.block.box.lo(), part.box.lo(), part.block.strides);
  }

  Status begin_part(const Part& part) {
    const Extents extents = part.box.extents();
    const auto& rows = task_.dims.rows.left;
    const auto& columns = task_.dims.columns.left;
    const auto matrix = as_matrix(address_of(part), extents, part.block.strides, rows, columns);
    is_in_place_ = matrix.has_value();
    if (is_in_place_) {
      matrix_c_ = *matrix;
      return {};
    }
    TESSERA_RETURN_IF_ERROR(sum_.reserve(static_cast<std::size_t>(volume(extents)) * sizeof(T)));
    const std::int64_t width = extent_of(extents, columns);
    matrix_c_ = {static_cast<T*>(sum_.data()), extent_of(extents, rows), width, width, 1};
    return {};
  }

  // part = sum + beta part.
  void add_to_part(const Part& part) {
    const Extents extents = part.box.extents();
    T* const to = address_of(part);
    const T* const sum = matrix_c_.data;
    const T beta = task_.beta;
    detail::for_each_line(extents, part.block.strides,
                          matrix_strides(extents, task_.dims.rows.left, task_.dims.columns.left),
                          [&](const detail::LinePiece& line) {
                            for (std::int64_t i = 0; i < line.count; ++i) {
                              T& element = to[line.to + i * line.to_stride];
                              const T added = sum[line.from + i * line.from_stride];
                              element = beta == T{0} ? added : added + beta * element;
                            }
                          });
  }

  const ContractTask<T>& task_;
  T* slice_;
  Box inner_;
  std::int64_t inner_volume_;
  std::int64_t quarter_;  ///< elements: for the sum, and for the boxes of a step
  std::array<Pending, 2> pending_;
  std::size_t next_ = 0;
  Scratch matrix_a_;
  Scratch matrix_b_;
  Scratch sum_;
  LocalMatrix<T> matrix_c_;
  bool is_in_place_ = false;
  Status status_;
};

// part = beta part, for all own blocks.
template <Scalar T>
void scale_own(const ContractTask<T>& task, T* slice) {
  for (const Patch& block : task.c.distribution().blocks(task.c.team().rank())) {
    T* const corner = slice + block.offset;
    detail::for_each_line(block.box.extents(), block.strides, block.strides,
                          [&](const detail::LinePiece& line) {
                            for (std::int64_t i = 0; i < line.count; ++i) {
                              T& element = corner[line.to + i * line.to_stride];
                              element = task.beta == T{0} ? T{0} : task.beta * element;
                            }
                          });
  }
}

}  // namespace

template <Scalar T>
Status contract_stationary_c(const ContractTask<T>& task) {
  TESSERA_ASSIGN_OR_RETURN(auto access, rma::LocalAccess::begin(task.c.region()));
  auto* const slice = reinterpret_cast<T*>(access.data());
  if (task.alpha == T{0} || extent_of(task.a.extents(), task.dims.inner.left) == 0) {
    scale_own(task, slice);
  } else {
    TESSERA_RETURN_IF_ERROR(OwnContraction<T>(task, slice).run());
  }
  return access.end();
}

template Status contract_stationary_c(const ContractTask<float>&);
template Status contract_stationary_c(const ContractTask<double>&);
template Status contract_stationary_c(const ContractTask<std::complex<float>>&);
template Status contract_stationary_c(const ContractTask<std::complex<double>>&);

}  // namespace tessera::linalg::variants
