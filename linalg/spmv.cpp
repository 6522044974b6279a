// SPDX-License-Identifier: BSD-3-Clause
#include "linalg/spmv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "arrays/array_base.hpp"
#include "arrays/elementwise.hpp"
#include "linalg/detail/agreement.hpp"
#include "linalg/detail/dense_panel.hpp"
#include "linalg/detail/row_kernels.hpp"
#include "linalg/detail/vector_gather.hpp"
#include "rma/base/catch_bad_alloc.hpp"
#include "rma/transfer.hpp"

namespace tessera::linalg {

using arrays::Array;
using arrays::Box;
using arrays::Distribution;
using detail::RowRange;
using rma::Code;
using rma::Result;
using rma::Status;
using rma::detail::catch_bad_alloc;

namespace {

// The location of an entry's element of x: in this rank's slice for rows that need only own
// elements, else in the buffer.
struct ColumnPositions {
  std::vector<std::int32_t> narrow;
  std::vector<std::int64_t> wide;
  bool is_narrow = true;

  void reset(std::size_t entries, std::int64_t greatest, bool may_be_narrow) {
    is_narrow = may_be_narrow && greatest <= std::numeric_limits<std::int32_t>::max();
    is_narrow ? narrow.resize(entries) : wide.resize(entries);
  }
  void set(std::size_t entry, std::int64_t position) {
    if (is_narrow) {
      narrow[entry] = static_cast<std::int32_t>(position);
    } else {
      wide[entry] = position;
    }
  }
};

RowRange own_rows_of(const SparsePattern& pattern) {
  return {pattern.first_row(), pattern.first_row() + pattern.row_count()};
}

// The offset of the vector elements for these rows in this rank's slice, if they are contiguous
// there.
std::optional<std::int64_t> offset_in_slice(const Distribution& vector, RowRange rows,
                                            rma::TeamRank self) {
  if (rows.size() == 0) {
    return 0;
  }
  auto patches = vector.patches(Box({rows.lo}, {rows.hi}));
  const arrays::Patch& first = *patches.begin();
  if (patches.remaining() == 1 && first.owner == self) {
    return first.offset;
  }
  return std::nullopt;
}

Status moved_from() {
  return Status::error(Code::closed, "the plan was moved from");
}

// Adds the duration of its scope.
class Stopwatch {
 public:
  explicit Stopwatch(double& seconds) : seconds_(seconds) {}
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;
  ~Stopwatch() { seconds_ += std::chrono::duration<double>(Clock::now() - start_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  double& seconds_;
  Clock::time_point start_ = Clock::now();
};

void append(std::vector<RowRange>& ranges, std::int64_t row) {
  if (!ranges.empty() && ranges.back().hi == row) {
    ++ranges.back().hi;
  } else {
    ranges.push_back({row, row + 1});
  }
}

}  // namespace

template <SparseElement T>
struct SpmvPlan<T>::Parts {
  Parts(SparseMatrix<T>& matrix, Array<T>& like_x, Array<T>& like_y, const SpmvOptions& given)
      : options(given),
        pattern(matrix.pattern()),
        x(like_x.distribution()),
        y(like_y.distribution()),
        own_rows(own_rows_of(*pattern)),
        y_offset(offset_in_slice(y, own_rows, matrix.team().rank())) {}

  void lay_out(const LocalRows<T>& own, Array<T>& like);
  void find_column_positions(const LocalRows<T>& own);
  Status prepare_push(Array<T>& like);
  /// Checks the operands of a product that writes `target`, one of the two vectors.
  [[nodiscard]] Status check(const SparseMatrix<T>& matrix, Array<T>& in_x, Array<T>& in_y,
                             const Array<T>& target) const;
  template <class Body>
  void with_rows(const LocalRows<T>& own, Body&& body) const;
  void multiply_ranges(const LocalRows<T>& own, std::span<const RowRange> ranges, const T* from,
                       T* to) const;
  Status start_reading(Array<T>& from);
  Status copy_mapped(Array<T>& from);
  Status wait_for(std::size_t stage);
  Status multiply_own(const LocalRows<T>& own, Array<T>& from, T* to);
  Status multiply(SparseMatrix<T>& matrix, Array<T>& from, Array<T>& to);
  Status multiply_with_neighbours(SparseMatrix<T>& matrix, Array<T>& from, Array<T>& to);
  Status multiply_transposed(SparseMatrix<T>& matrix, Array<T>& from, Array<T>& to);

  SpmvOptions options;
  std::shared_ptr<SparsePattern> pattern;
  Distribution x;
  Distribution y;
  RowRange own_rows;
  std::optional<std::int64_t> y_offset;  // offset of own_rows in this rank's slice of y
  std::optional<detail::VectorGather<T>> gather;
  ColumnPositions column_positions;
  std::vector<RowRange> interior;              // rows that need only own elements, by local number
  std::vector<std::vector<RowRange>> waiting;  // by the stage of the gather that they wait for
  double communication_seconds = 0;
};

// Finds the elements that each row needs. `like` has the distribution of x.
template <SparseElement T>
void SpmvPlan<T>::Parts::lay_out(const LocalRows<T>& own, Array<T>& like) {
  const rma::TeamRank self = like.team().rank();
  std::vector<std::int64_t> needed;
  for (std::int64_t i = 0; i < own.rows(); ++i) {
    const auto columns = own.columns_of(i);
    const bool is_interior = std::all_of(columns.begin(), columns.end(), [&](std::int64_t column) {
      return x.owner({column}) == self;
    });
    if (is_interior) {
      append(interior, i);
    } else {
      needed.insert(needed.end(), columns.begin(), columns.end());
    }
  }
  gather.emplace(like, detail::sorted_unique(needed), options);
  const auto elements = static_cast<std::int64_t>(gather->buffer_elements());
  const std::int64_t greatest = std::max(x.local_elements(self), elements);
  column_positions.reset(own.columns().size(), greatest, options.narrow_indices);
  find_column_positions(own);
}

template <SparseElement T>
void SpmvPlan<T>::Parts::find_column_positions(const LocalRows<T>& own) {
  const auto columns = own.columns();
  waiting.resize(gather->stages());
  auto inner = interior.begin();
  for (std::int64_t i = 0; i < own.rows(); ++i) {
    while (inner != interior.end() && inner->hi <= i) {
      ++inner;
    }
    const bool is_interior = inner != interior.end() && inner->lo <= i;
    std::size_t stage = 0;
    for (std::int64_t k = own.row_start(i); k < own.row_start(i + 1); ++k) {
      const auto entry = static_cast<std::size_t>(k);
      if (is_interior) {
        column_positions.set(entry, x.locate({columns[entry]}).offset);
      } else {
        const std::size_t position = gather->position_of(columns[entry]);
        column_positions.set(entry, static_cast<std::int64_t>(position));
        stage = std::max(stage, gather->stage_of(position));
      }
    }
    if (!is_interior) {
      append(waiting[stage], i);
    }
  }
}

// Collective.
template <SparseElement T>
Status SpmvPlan<T>::Parts::prepare_push(Array<T>& like) {
  const bool pushes = options.mode == SpmvMode::push;
  TESSERA_RETURN_IF_ERROR(
      detail::check_same_on_all(like.team(), pushes ? 1 : 0, "choice of SpmvMode::push"));
  TESSERA_RETURN_IF_ERROR(detail::check_same_on_all(like.team(), options.neighbours_only ? 1 : 0,
                                                    "SpmvOptions::neighbours_only"));
  if (options.neighbours_only && !pushes) {
    return like.name_rank(
        Status::error(Code::invalid_argument, "SpmvOptions::neighbours_only needs SpmvMode::push"));
  }
  return pushes ? gather->prepare_push(like) : Status();
}

template <SparseElement T>
Status SpmvPlan<T>::Parts::check(const SparseMatrix<T>& matrix, Array<T>& in_x, Array<T>& in_y,
                                 const Array<T>& target) const {
  TESSERA_RETURN_IF_ERROR(matrix.check_open());
  if (matrix.pattern() != pattern) {
    return Status::error(Code::invalid_argument,
                         fmt::format("the plan is for another matrix than {}", matrix.describe()))
        .hint("plans are for the matrix that they were created with, and its duplicates");
  }
  TESSERA_RETURN_IF_ERROR(
      detail::prepare_array(in_x, {matrix.columns()}, matrix.team(), "vector x"));
  TESSERA_RETURN_IF_ERROR(detail::prepare_array(in_y, {matrix.rows()}, matrix.team(), "vector y"));
  const bool fits_x = in_x.distribution() == x;
  if (!fits_x || !(in_y.distribution() == y)) {
    return Status::error(
               Code::invalid_argument,
               fmt::format("{} has another distribution than the vector {} of the plan",
                           fits_x ? in_y.describe() : in_x.describe(), fits_x ? "y" : "x"))
        .hint("create a plan with these vectors");
  }
  if (arrays::share_memory(in_x, in_x.box(), in_y, in_y.box())) {
    return Status::error(Code::invalid_argument,
                         fmt::format("{} is both x and y, or they share memory", in_x.describe()));
  }
  const Array<T>& source = &target == &in_x ? in_y : in_x;
  const auto named = [](Status status, const Array<T>& array) {
    return status.ok() ? Status() : std::move(status).context(array.describe());
  };
  TESSERA_RETURN_IF_ERROR(named(source.check_readable(), source));
  return named(target.check_writable(), target);
}

// Calls `body(rows)` with the type of indices that the plan uses.
template <SparseElement T>
template <class Body>
void SpmvPlan<T>::Parts::with_rows(const LocalRows<T>& own, Body&& body) const {
  if (column_positions.is_narrow) {
    body(detail::RowsView<T, std::int32_t>{own.row_starts(), column_positions.narrow.data(),
                                           own.values().data()});
  } else {
    body(detail::RowsView<T, std::int64_t>{own.row_starts(), column_positions.wide.data(),
                                           own.values().data()});
  }
}

template <SparseElement T>
void SpmvPlan<T>::Parts::multiply_ranges(const LocalRows<T>& own, std::span<const RowRange> ranges,
                                         const T* from, T* to) const {
  with_rows(own, [&](const auto& rows) { detail::multiply_rows(rows, ranges, from, to); });
}

template <SparseElement T>
Status SpmvPlan<T>::Parts::start_reading(Array<T>& from) {
  const Stopwatch watch(communication_seconds);
  return gather->start(from);
}

template <SparseElement T>
Status SpmvPlan<T>::Parts::copy_mapped(Array<T>& from) {
  const Stopwatch watch(communication_seconds);
  return gather->copy_mapped(from);
}

template <SparseElement T>
Status SpmvPlan<T>::Parts::wait_for(std::size_t stage) {
  const Stopwatch watch(communication_seconds);
  return gather->wait(stage);
}

// Local, except for reads in progress; the header describes the order.
template <SparseElement T>
Status SpmvPlan<T>::Parts::multiply_own(const LocalRows<T>& own, Array<T>& from, T* to) {
  multiply_ranges(own, interior, reinterpret_cast<const T*>(from.region().local()), to);
  Status status = copy_mapped(from);
  const T* const buffer = gather->arrived().data();
  multiply_ranges(own, waiting[0], buffer, to);
  for (std::size_t stage = 1; stage < gather->stages(); ++stage) {
    Status arrived = wait_for(stage);
    status = status.ok() ? std::move(arrived) : std::move(status);
    if (status.ok()) {
      multiply_ranges(own, waiting[stage], buffer, to);
    }
  }
  return status;
}

template <SparseElement T>
Status SpmvPlan<T>::Parts::multiply(SparseMatrix<T>& matrix, Array<T>& from, Array<T>& to) {
  // Starts before anything that may fail on this rank alone: other ranks wait for pushed elements.
  TESSERA_RETURN_IF_ERROR(start_reading(from));
  TESSERA_ASSIGN_OR_RETURN(auto own, matrix.local());
  TESSERA_ASSIGN_OR_RETURN(auto from_access, rma::LocalAccess::begin(from.region()));
  if (y_offset) {
    TESSERA_ASSIGN_OR_RETURN(auto access, rma::LocalAccess::begin(to.region()));
    TESSERA_RETURN_IF_ERROR(
        multiply_own(own, from, reinterpret_cast<T*>(access.data()) + *y_offset));
    TESSERA_RETURN_IF_ERROR(access.end());
  } else {
    std::vector<T> part(static_cast<std::size_t>(own.rows()));
    TESSERA_RETURN_IF_ERROR(multiply_own(own, from, part.data()));
    TESSERA_RETURN_IF_ERROR(to.put(Box({own_rows.lo}, {own_rows.hi}), part));
    if (options.neighbours_only) {
      TESSERA_RETURN_IF_ERROR(to.fence());
    }
  }
  TESSERA_RETURN_IF_ERROR(from_access.end());
  return own.end();
}

// A rank that can't take part notifies its neighbours, which wait for it. It synchronises with them
// nevertheless, so that no rank is more than one product ahead.
template <SparseElement T>
Status SpmvPlan<T>::Parts::multiply_with_neighbours(SparseMatrix<T>& matrix, Array<T>& from,
                                                    Array<T>& to) {
  Status own_status = check(matrix, from, to, to);
  own_status = own_status.ok() ? catch_bad_alloc([&] { return multiply(matrix, from, to); })
                               : gather->refuse(std::move(own_status));
  const Stopwatch watch(communication_seconds);
  Status met = gather->synchronise_neighbours();
  return own_status.ok() ? std::move(met) : std::move(own_status);
}

// One-sided. Adds this rank's part of the transposed product to `to`, which was zero.
template <SparseElement T>
Status SpmvPlan<T>::Parts::multiply_transposed(SparseMatrix<T>& matrix, Array<T>& from,
                                               Array<T>& to) {
  TESSERA_ASSIGN_OR_RETURN(auto own, matrix.local());
  std::vector<T> part(static_cast<std::size_t>(own.rows()));
  if (!part.empty()) {
    TESSERA_RETURN_IF_ERROR(from.get(Box({own_rows.lo}, {own_rows.hi}), part));
  }
  const std::span<T> buffer = gather->buffer();
  std::fill(buffer.begin(), buffer.end(), T{});
  for (const std::vector<RowRange>& ranges : waiting) {
    with_rows(own, [&](const auto& rows) {
      detail::multiply_rows_transposed(rows, ranges, part.data(), buffer.data());
    });
  }
  Status added = gather->accumulate(to);
  if (!added.ok() || interior.empty()) {
    return added;
  }
  std::vector<T> slice(static_cast<std::size_t>(x.local_elements(to.team().rank())));
  with_rows(own, [&](const auto& rows) {
    detail::multiply_rows_transposed(rows, interior, part.data(), slice.data());
  });
  if (!slice.empty()) {
    added = rma::accumulate(to.job(), to.region().at(to.team().rank()), slice.data(),
                            slice.size() * sizeof(T), rma::Scale::of(T{1}));
  }
  Status ended = own.end();
  return added.ok() ? std::move(ended) : std::move(added);
}

template <SparseElement T>
SpmvPlan<T>::SpmvPlan(std::unique_ptr<Parts> parts) noexcept : parts_(std::move(parts)) {}
template <SparseElement T>
SpmvPlan<T>::SpmvPlan(SpmvPlan&&) noexcept = default;
template <SparseElement T>
SpmvPlan<T>& SpmvPlan<T>::operator=(SpmvPlan&&) noexcept = default;
template <SparseElement T>
SpmvPlan<T>::~SpmvPlan() = default;

template <SparseElement T>
Result<SpmvPlan<T>> SpmvPlan<T>::create(SparseMatrix<T>& matrix, Array<T>& x, Array<T>& y,
                                        const SpmvOptions& options) {
  const auto attempt = [&](Status status) {
    return status.ok() ? Status()
                       : std::move(status).context("planning products with " + matrix.describe());
  };
  TESSERA_RETURN_IF_ERROR(matrix.check_open().context("planning products"));
  Status fits = detail::prepare_array(x, {matrix.columns()}, matrix.team(), "vector x");
  if (fits.ok()) {
    fits = detail::prepare_array(y, {matrix.rows()}, matrix.team(), "vector y");
  }
  TESSERA_RETURN_IF_ERROR(attempt(matrix.sync(fits)));
  std::unique_ptr<Parts> parts;
  TESSERA_RETURN_IF_ERROR(attempt(matrix.team().agree([&]() -> Status {
    parts = std::make_unique<Parts>(matrix, x, y, options);
    TESSERA_ASSIGN_OR_RETURN(auto own, matrix.local());
    parts->lay_out(own, x);
    return own.end();
  })));
  TESSERA_RETURN_IF_ERROR(attempt(parts->prepare_push(x)));
  return SpmvPlan(std::move(parts));
}

template <SparseElement T>
Status SpmvPlan<T>::multiply(SparseMatrix<T>& matrix, Array<T>& x, Array<T>& y) {
  if (!parts_) {
    return moved_from();
  }
  if (parts_->options.neighbours_only) {
    return parts_->multiply_with_neighbours(matrix, x, y).context("y = A x");
  }
  TESSERA_RETURN_IF_ERROR(x.check_open());
  TESSERA_RETURN_IF_ERROR(y.check_open());
  TESSERA_RETURN_IF_ERROR(x.sync(parts_->check(matrix, x, y, y)).context("y = A x"));
  Status done = y.sync([&] { return parts_->multiply(matrix, x, y); });
  return done.ok() ? Status() : std::move(done).context("y = A x with " + matrix.describe());
}

template <SparseElement T>
Status SpmvPlan<T>::multiply_transposed(SparseMatrix<T>& matrix, Array<T>& y, Array<T>& x) {
  if (!parts_) {
    return moved_from();
  }
  TESSERA_RETURN_IF_ERROR(x.check_open());
  TESSERA_RETURN_IF_ERROR(y.check_open());
  TESSERA_RETURN_IF_ERROR(y.sync(parts_->check(matrix, x, y, x)).context("x = transpose(A) y"));
  TESSERA_RETURN_IF_ERROR(arrays::fill(x, T{}));
  Status done = x.sync([&] { return parts_->multiply_transposed(matrix, y, x); });
  return done.ok() ? Status()
                   : std::move(done).context("x = transpose(A) y with " + matrix.describe());
}

template <SparseElement T>
std::int64_t SpmvPlan<T>::elements_from_others() const noexcept {
  return parts_->gather->from_others();
}

template <SparseElement T>
std::int64_t SpmvPlan<T>::elements_shared() const noexcept {
  return parts_->gather->shared();
}

template <SparseElement T>
double SpmvPlan<T>::communication_seconds() const noexcept {
  return parts_->communication_seconds;
}

template <SparseElement T>
std::int64_t SpmvPlan<T>::rows_without_others() const noexcept {
  std::int64_t rows = 0;
  for (const RowRange& range : parts_->interior) {
    rows += range.size();
  }
  return rows;
}

template class SpmvPlan<std::int32_t>;
template class SpmvPlan<std::int64_t>;
template class SpmvPlan<float>;
template class SpmvPlan<double>;
template class SpmvPlan<std::complex<float>>;
template class SpmvPlan<std::complex<double>>;

}  // namespace tessera::linalg
