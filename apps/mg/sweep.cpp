// SPDX-License-Identifier: BSD-3-Clause
#include "apps/mg/sweep.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "apps/mg/problem.hpp"
#include "apps/mg/rows.hpp"

namespace tessera::apps::mg {
namespace {

using detail::line_elements;

constexpr std::int64_t rings = 3;

// Planes, and rows, by which a stage follows stage 1.
constexpr std::int64_t first_lag = 1;
constexpr std::int64_t smooth_lag = 2;
constexpr std::int64_t second_lag = 3;
constexpr std::int64_t coarse_lag = 4;  // rows only

// Planes of a strip: four of each ring, of u and of v.
constexpr std::int64_t strip_planes = 20;
constexpr std::int64_t min_strip = 4;

// How far ahead rows of u and v are prefetched.
constexpr std::int64_t rows_ahead = 8;

constexpr Stencil minus_a{-laplacian.centre, -laplacian.face, -laplacian.edge, -laplacian.corner};
static_assert(laplacian.face == 0.0);

std::int64_t padded(std::int64_t count) {
  return (count + line_elements - 1) & ~(line_elements - 1);
}

/// The smallest box that contains both; an empty one contains nothing.
Box bounding_box(const Box& a, const Box& b) {
  if (a.is_empty() || b.is_empty()) {
    return a.is_empty() ? b : a;
  }
  return {{std::min(a.lo.z, b.lo.z), std::min(a.lo.y, b.lo.y), std::min(a.lo.x, b.lo.x)},
          {std::max(a.hi.z, b.hi.z), std::max(a.hi.y, b.hi.y), std::max(a.hi.x, b.hi.x)}};
}

Box grown_unless_empty(const Box& box, std::int64_t width) {
  return box.is_empty() ? Box{} : grown(box, width);
}

/// `box` with the x of `other`.
Box with_columns(Box box, const Box& other) {
  box.lo.x = other.lo.x;
  box.hi.x = other.hi.x;
  return box;
}

/// The fine points that restriction to `coarse` reads.
Box refined(const Box& coarse) {
  return coarse.is_empty() ? Box{}
                           : Box{{2 * coarse.lo.z, 2 * coarse.lo.y, 2 * coarse.lo.x},
                                 {2 * coarse.hi.z + 1, 2 * coarse.hi.y + 1, 2 * coarse.hi.x + 1}};
}

/// The coarse points that prolongation to `fine` reads.
Box prolongation_source(const Box& fine) {
  const auto lo = [](std::int64_t i) { return (i - 1) >> 1; };
  const auto hi = [](std::int64_t i) { return ((i - 1) >> 1) + 1; };
  return fine.is_empty() ? Box{}
                         : Box{{lo(fine.lo.z), lo(fine.lo.y), lo(fine.lo.x)},
                               {hi(fine.hi.z), hi(fine.hi.y), hi(fine.hi.x)}};
}

/// The boxes that the stages compute; empty for a stage that is not needed.
struct StageBoxes {
  Box prolongated;  // 1
  Box first;        // 2: r1
  Box smoothed;     // 3
  Box second;       // 4: r2
  Box coarse;       // 5
};

StageBoxes stage_boxes(const SweepTask& task) {
  StageBoxes boxes;
  if (task.restriction) {
    boxes.coarse = task.restriction->box;
  }
  boxes.second = bounding_box(refined(boxes.coarse), task.norm_box);
  if (task.correction) {
    boxes.smoothed = bounding_box(task.correction->box, grown_unless_empty(boxes.second, 1));
    boxes.first = grown_unless_empty(boxes.smoothed, 1);
    boxes.prolongated = grown_unless_empty(boxes.first, 1);
  }
  if (task.wrap.x) {
    // Rows are computed from end to end; what a stage reads beyond is copied from the other end.
    for (Box* box : {&boxes.prolongated, &boxes.first, &boxes.smoothed, &boxes.second}) {
      *box = box->is_empty() ? Box{} : with_columns(*box, task.u.box);
    }
  }
  return boxes;
}

struct Range {
  std::int64_t lo = 0;
  std::int64_t hi = 0;

  [[nodiscard]] Range moved(std::int64_t by) const { return {lo + by, hi + by}; }

  [[nodiscard]] bool holds(std::int64_t i) const { return lo <= i && i < hi; }
  [[nodiscard]] bool is_empty() const { return hi <= lo; }
};

Range planes(const Box& box) {
  return box.is_empty() ? Range{} : Range{box.lo.z, box.hi.z};
}
Range columns(const Box& box) {
  return box.is_empty() ? Range{} : Range{box.lo.x, box.hi.x};
}
Range rows(const Box& box) {
  return box.is_empty() ? Range{} : Range{box.lo.y, box.hi.y};
}

/// One or two of the planes first, first + 1.
Range pair_in(const Box& box, std::int64_t first) {
  const Range range = planes(box);
  return {std::max(first, range.lo), std::min(first + 2, range.hi)};
}

/// The rows that one stage makes and the next ones read: a strip of rows in four consecutive
/// planes, plane k in slot k mod 4. The two rows before the strip come first. They were the last
/// two of the strip before, and were kept for this one in `carry`, which has room for all planes.
class Ring {
 public:
  Ring() = default;
  /// `lag` is the number of rows by which the stage follows stage 1.
  Ring(double* data, double* carry, std::int64_t strip, std::int64_t row, std::int64_t lag,
       std::int64_t first_plane)
      : data_(data),
        saved_rows_(carry),
        strip_(strip),
        row_(row),
        lag_(lag),
        first_plane_(first_plane) {}

  static constexpr std::int64_t planes = 4;
  static constexpr std::int64_t carried_rows = 2;

  /// Begins a strip in which stage 1 makes the rows from y.
  void start_strip(std::int64_t y) { y_ = y - lag_ - carried_rows; }

  /// The start of row y of plane z.
  [[nodiscard]] double* at(std::int64_t z, std::int64_t y) const {
    return data_ + ((z & (planes - 1)) * (strip_ + carried_rows) + (y - y_)) * row_;
  }

  void fetch_carried(std::int64_t z) const {
    std::copy_n(carried(z), carried_rows * row_, at(z, y_));
  }
  void carry_over(std::int64_t z) const {
    std::copy_n(at(z, y_ + strip_), carried_rows * row_, carried(z));
  }

 private:
  [[nodiscard]] double* carried(std::int64_t z) const {
    return saved_rows_ + (z - first_plane_) * carried_rows * row_;
  }

  double* data_ = nullptr;
  double* saved_rows_ = nullptr;
  std::int64_t strip_ = 0;
  std::int64_t row_ = 0;
  std::int64_t lag_ = 0;
  std::int64_t first_plane_ = 0;
  std::int64_t y_ = 0;
};

/// The layout of a sweep's rows in memory: the common x of all row pointers, and the rows of the
/// rings, padded on either side.
struct RowLayout {
  std::int64_t x = 0;       ///< even, so that it is also a coarse x
  std::int64_t offset = 0;  ///< from the start of a ring's row to x
  std::int64_t stride = 0;

  // If the caller aligned the interior, vectors at multiples of the width are aligned.
  RowLayout(const SweepTask& task, const Box& window)
      : x(task.u.box.lo.x + padded(window.lo.x - task.u.box.lo.x)) {
    if (x >= window.hi.x) {
      x = window.lo.x;
    }
    x += x & 1;
    offset = padded(x - window.lo.x);
    stride = offset + padded(window.hi.x - x);
  }
};

/// The rows of u and v, two planes of each, that the pipeline reaches a few rows later: they are
/// prefetched.
struct Ahead {
  std::array<const double*, 2> u{};
  std::array<const double*, 2> v{};
};

/// One run of sweep(). The boxes must outlive it.
class Sweep {
 public:
  Sweep(const SweepTask& task, const StageBoxes& boxes, const Box& window,
        std::int64_t strip_bytes);

  /// The memory that the rings need. Pass memory of that size, then call run().
  [[nodiscard]] std::int64_t needed_doubles() const { return rings * (ring_size_ + carry_size_); }
  void lay_out(double* memory);
  Norms run();

 private:
  [[nodiscard]] std::int64_t rows_of_strip(std::int64_t strip_bytes) const;
  void step(std::int64_t t, const Range& strip);
  void prefetch_rows(std::int64_t t, std::int64_t y, const Range& strip);
  // Stages 1 to 5 of step t, for the row y.
  void prolongate(std::int64_t t, std::int64_t y);
  void first_residual(std::int64_t t, std::int64_t y);
  void smooth(std::int64_t t, std::int64_t y);
  void second_residual(std::int64_t t, std::int64_t y);
  void restrict_row(std::int64_t t, std::int64_t y);
  void wrap_planes(std::int64_t t);
  void wrap_ring_row(const Ring& ring, std::int64_t z, std::int64_t y) const;

  /// Calls body(ring, z) for the planes z that the stages of step t add to their rings.
  template <typename Body>
  void for_each_new_plane(std::int64_t t, Body body);

  template <bool Face, bool Corner, std::size_t Ahead, typename Source, typename Base, typename Out>
  void stencil(const Range& z, std::int64_t y, const Box& box, const Stencil& weights,
               const Source& source, std::int64_t source_stride, const Base& base, const Out& out,
               const std::array<const double*, 4>& ahead);

  // Address of the common x in a row.
  [[nodiscard]] double* row_of(const Grid& grid, std::int64_t z, std::int64_t y) const {
    return grid.at(z, y, layout_.x);
  }
  [[nodiscard]] double* row_of(const Ring& ring, std::int64_t z, std::int64_t y) const {
    return ring.at(z, y) + layout_.offset;
  }
  [[nodiscard]] double* coarse_row_of(const Grid& grid, std::int64_t z, std::int64_t y) const {
    return grid.at(z, y, layout_.x >> 1);
  }

  const SweepTask& task_;
  const StageBoxes& boxes_;
  RowLayout layout_;
  Ahead ahead_;
  Range pipeline_;  ///< rows y for which the stages run, each on its row y - lag
  std::int64_t first_plane_;
  std::int64_t strip_;       ///< rows in a strip
  std::int64_t ring_size_;   ///< doubles
  std::int64_t carry_size_;  ///< doubles kept between the strips of a ring
  Ring u1_;
  Ring r1_;
  Ring r2_;
  detail::NormPacks norms_;
};

/// The rows of stage 1 from the first to the one at which the last stage has made its last row.
Range pipeline_rows(const StageBoxes& boxes) {
  Range range = rows(boxes.prolongated);
  if (!boxes.smoothed.is_empty()) {
    range.hi = boxes.smoothed.hi.y + smooth_lag;
  }
  if (!boxes.second.is_empty()) {
    range.lo = boxes.smoothed.is_empty() ? boxes.second.lo.y + second_lag : range.lo;
    range.hi = std::max(range.hi, boxes.second.hi.y + second_lag);
  }
  return range;
}

Sweep::Sweep(const SweepTask& task, const StageBoxes& boxes, const Box& window,
             std::int64_t strip_bytes)
    : task_(task),
      boxes_(boxes),
      layout_(task, window),
      pipeline_(pipeline_rows(boxes)),
      first_plane_(window.lo.z),
      strip_(rows_of_strip(strip_bytes)),
      ring_size_(Ring::planes * (strip_ + Ring::carried_rows) * layout_.stride),
      carry_size_((window.hi.z - window.lo.z) * Ring::carried_rows * layout_.stride) {}

std::int64_t Sweep::rows_of_strip(std::int64_t strip_bytes) const {
  const std::int64_t row_bytes = layout_.stride * static_cast<std::int64_t>(sizeof(double));
  const std::int64_t row_count = pipeline_.hi - pipeline_.lo;
  const std::int64_t fitting = strip_bytes / (strip_planes * row_bytes) - Ring::carried_rows;
  return std::min(std::max(fitting, min_strip), row_count);
}

void Sweep::lay_out(double* memory) {
  double* const carries = memory + rings * ring_size_;
  const auto ring = [&](std::int64_t number, std::int64_t lag) {
    return Ring(memory + number * ring_size_, carries + number * carry_size_, strip_,
                layout_.stride, lag, first_plane_);
  };
  u1_ = ring(0, 0);
  r1_ = ring(1, first_lag);
  r2_ = ring(2, second_lag);
}

Norms Sweep::run() {
  // Stage 1 begins with planes 2t; stage 4 follows by three planes, stage 5 by two steps.
  const bool corrects = !boxes_.prolongated.is_empty();
  const std::int64_t first = corrects ? boxes_.prolongated.lo.z : boxes_.second.lo.z + 2;
  const std::int64_t smoothed_end = planes(boxes_.smoothed).hi + smooth_lag;
  const std::int64_t second_end = planes(boxes_.second).hi + second_lag;
  const bool restricts = !boxes_.second.is_empty();
  for (std::int64_t y = pipeline_.lo; y < pipeline_.hi; y += strip_) {
    for (Ring* ring : {&u1_, &r1_, &r2_}) {
      ring->start_strip(y);
    }
    for (std::int64_t t = first >> 1;
         (corrects && 2 * t < smoothed_end) || (restricts && 2 * t < second_end); ++t) {
      step(t, {y, std::min(y + strip_, pipeline_.hi)});
    }
  }
  return {norms_.sum_squares(), norms_.max_abs()};
}

template <typename Body>
void Sweep::for_each_new_plane(std::int64_t t, Body body) {
  const auto each = [&](const Ring& ring, const Box& box, std::int64_t first) {
    const Range z = pair_in(box, first);
    for (std::int64_t k = z.lo; k < z.hi; ++k) {
      body(ring, k);
    }
  };
  each(u1_, boxes_.prolongated, 2 * t);
  each(r1_, boxes_.first, 2 * t - first_lag);
  each(r2_, boxes_.second, 2 * t - second_lag);
}

void Sweep::prefetch_rows(std::int64_t t, std::int64_t y, const Range& strip) {
  y += rows_ahead;
  if (y >= strip.hi) {
    y -= strip.hi - strip.lo;
    ++t;
  }
  // If nothing follows, a row that is in cache anyway.
  const auto row = [&](const Grid& grid, const Box& box, std::int64_t k, std::int64_t j) {
    return planes(box).holds(k) && rows(box).holds(j) ? row_of(grid, k, j)
                                                      : row_of(grid, grid.box.lo.z, grid.box.lo.y);
  };
  for (std::size_t p = 0; p < 2; ++p) {
    const std::int64_t k = 2 * t + static_cast<std::int64_t>(p);
    if (task_.correction) {
      ahead_.u[p] = row(task_.u, boxes_.prolongated, k, y);
      ahead_.v[p] = row(task_.v, boxes_.first, k - first_lag, y - first_lag);
    } else {
      // Stage 4 reads u one plane and one row further than it computes.
      ahead_.u[p] = row(task_.u, boxes_.second, k - second_lag + 1, y - second_lag + 1);
      ahead_.v[p] = row(task_.v, boxes_.second, k - second_lag, y - second_lag);
    }
  }
}

void Sweep::step(std::int64_t t, const Range& strip) {
  if (strip.lo > pipeline_.lo) {
    for_each_new_plane(t, [](const Ring& ring, std::int64_t z) { ring.fetch_carried(z); });
  }
  for (std::int64_t y = strip.lo; y < strip.hi; ++y) {
    prefetch_rows(t, y, strip);
    prolongate(t, y);
    first_residual(t, y - first_lag);
    smooth(t, y - smooth_lag);
    second_residual(t, y - second_lag);
    restrict_row(t, y - coarse_lag);
  }
  if (strip.hi < pipeline_.hi) {
    for_each_new_plane(t, [](const Ring& ring, std::int64_t z) { ring.carry_over(z); });
  } else {
    wrap_planes(t);
  }
}

/// Sets the periodic neighbours of a row that is a whole line of the level: one on each side, as
/// far as the next stage reads.
void Sweep::wrap_ring_row(const Ring& ring, std::int64_t z, std::int64_t y) const {
  if (task_.wrap.x) {
    detail::wrap_row(row_of(ring, z, y) + (task_.u.box.lo.x - layout_.x), task_.u.box.extents().x,
                     1);
  }
}

void Sweep::prolongate(std::int64_t t, std::int64_t y) {
  const Box& box = boxes_.prolongated;
  const Range z = pair_in(box, 2 * t);
  if (!rows(box).holds(y) || z.is_empty()) {
    return;
  }
  const Range x = columns(box).moved(-layout_.x);
  for (std::int64_t k = z.lo; k < z.hi; ++k) {
    const auto coarse = [&](std::int64_t fine_z, std::int64_t fine_y) {
      return coarse_row_of(task_.correction->coarse, fine_z >> 1, fine_y >> 1);
    };
    const detail::CoarseRows around{coarse(k - 1, y - 1), coarse(k - 1, y), coarse(k, y - 1),
                                    coarse(k, y)};
    if (task_.correction->from_zero) {
      detail::interpolate_row<true>(row_of(u1_, k, y), nullptr, around, x.lo, x.hi);
    } else {
      detail::interpolate_row<false>(row_of(u1_, k, y), row_of(task_.u, k, y), around, x.lo, x.hi);
    }
    wrap_ring_row(u1_, k, y);
  }
}

/// out = base + weights · source on row y of the planes z of `box`; the last three return row
/// pointers for (z, y).
template <bool Face, bool Corner, std::size_t Ahead, typename Source, typename Base, typename Out>
void Sweep::stencil(const Range& z, std::int64_t y, const Box& box, const Stencil& weights,
                    const Source& source, std::int64_t source_stride, const Base& base,
                    const Out& out, const std::array<const double*, 4>& ahead) {
  const Range x = columns(box).moved(-layout_.x);
  const auto apply = [&]<std::size_t Planes>() {
    detail::StencilRows<Planes> io{};
    io.source_stride = source_stride;
    io.ahead = ahead;
    for (std::size_t p = 0; p < Planes + 2; ++p) {
      io.source[p] = source(z.lo - 1 + static_cast<std::int64_t>(p), y);
    }
    for (std::size_t p = 0; p < Planes; ++p) {
      io.base[p] = base(z.lo + static_cast<std::int64_t>(p), y);
      io.out[p] = out(z.lo + static_cast<std::int64_t>(p), y);
    }
    detail::stencil_rows<Planes, Face, Corner, Planes == 2 ? Ahead : 0>(io, weights, x.lo, x.hi);
  };
  if (z.hi - z.lo == 2) {
    apply.template operator()<2>();
  } else {
    apply.template operator()<1>();
  }
}

void Sweep::first_residual(std::int64_t t, std::int64_t y) {
  const Box& box = boxes_.first;
  const Range z = pair_in(box, 2 * t - first_lag);
  if (!rows(box).holds(y) || z.is_empty()) {
    return;
  }
  const auto u1 = [&](std::int64_t k, std::int64_t j) { return row_of(u1_, k, j); };
  const auto v = [&](std::int64_t k, std::int64_t j) { return row_of(task_.v, k, j); };
  const auto r1 = [&](std::int64_t k, std::int64_t j) { return row_of(r1_, k, j); };
  stencil<false, true, 1>(z, y, box, minus_a, u1, layout_.stride, v, r1, {ahead_.v[0]});
  for (std::int64_t k = z.lo; k < z.hi; ++k) {
    wrap_ring_row(r1_, k, y);
  }
}

void Sweep::smooth(std::int64_t t, std::int64_t y) {
  const Box& box = boxes_.smoothed;
  const Range z = pair_in(box, 2 * t - smooth_lag);
  if (!rows(box).holds(y) || z.is_empty()) {
    return;
  }
  const auto r1 = [&](std::int64_t k, std::int64_t j) { return row_of(r1_, k, j); };
  const auto u1 = [&](std::int64_t k, std::int64_t j) { return row_of(u1_, k, j); };
  const auto u = [&](std::int64_t k, std::int64_t j) { return row_of(task_.u, k, j); };
  stencil<true, false, 2>(z, y, box, task_.correction->smoother, r1, layout_.stride, u1, u,
                          {ahead_.v[1], ahead_.u[0]});
  if (task_.wrap.x) {
    for (std::int64_t k = z.lo; k < z.hi; ++k) {
      detail::wrap_row(task_.u.at(k, y, task_.u.box.lo.x), task_.u.box.extents().x,
                       task_.wrap_width);
    }
  }
}

void Sweep::second_residual(std::int64_t t, std::int64_t y) {
  const Box& box = boxes_.second;
  const Range z = pair_in(box, 2 * t - second_lag);
  if (!rows(box).holds(y) || z.is_empty()) {
    return;
  }
  const auto u = [&](std::int64_t k, std::int64_t j) { return row_of(task_.u, k, j); };
  const auto v = [&](std::int64_t k, std::int64_t j) { return row_of(task_.v, k, j); };
  const auto r2 = [&](std::int64_t k, std::int64_t j) { return row_of(r2_, k, j); };
  if (task_.correction) {
    stencil<false, true, 1>(z, y, box, minus_a, u, task_.u.row_stride, v, r2, {ahead_.u[1]});
  } else {
    stencil<false, true, 4>(z, y, box, minus_a, u, task_.u.row_stride, v, r2,
                            {ahead_.u[0], ahead_.u[1], ahead_.v[0], ahead_.v[1]});
  }
  for (std::int64_t k = z.lo; k < z.hi; ++k) {
    wrap_ring_row(r2_, k, y);
    if (planes(task_.norm_box).holds(k) && rows(task_.norm_box).holds(y)) {
      const Range x = columns(task_.norm_box).moved(-layout_.x);
      norms_.add(row_of(r2_, k, y), x.lo, x.hi);
    }
  }
}

void Sweep::restrict_row(std::int64_t t, std::int64_t y) {
  const Box& box = boxes_.coarse;
  const std::int64_t cz = t - 2;
  const std::int64_t cy = y >> 1;
  if ((y & 1) == 0 || !planes(box).holds(cz) || !rows(box).holds(cy)) {
    return;
  }
  const Range x = columns(box).moved(-(layout_.x >> 1));
  detail::restrict_row(
      coarse_row_of(task_.restriction->coarse, cz, cy),
      {row_of(r2_, 2 * cz, y), row_of(r2_, 2 * cz + 1, y), row_of(r2_, 2 * cz + 2, y)},
      layout_.stride, x.lo, x.hi);
  if (task_.wrap.x) {
    const Grid& coarse = task_.restriction->coarse;
    detail::wrap_row(coarse.at(cz, cy, coarse.box.lo.x), coarse.box.extents().x,
                     task_.restriction->wrap_width);
  }
}

/// Sets the ghost rows of the planes that stages 3 and 5 of step t have finished. Stage 1 has read
/// the old ones of u two planes before, and stage 4 gets the values of the redundant computation.
void Sweep::wrap_planes(std::int64_t t) {
  if (!task_.wrap.y) {
    return;
  }
  const Range z = pair_in(boxes_.smoothed, 2 * t - smooth_lag);
  for (std::int64_t k = z.lo; k < z.hi; ++k) {
    detail::wrap_rows(task_.u, k, task_.wrap_width);
  }
  if (planes(boxes_.coarse).holds(t - 2)) {
    detail::wrap_rows(task_.restriction->coarse, t - 2, task_.restriction->wrap_width);
  }
}

}  // namespace

rma::Result<double*> SweepBuffers::reserve(std::int64_t count) {
  if (count > buffer_.size()) {
    TESSERA_ASSIGN_OR_RETURN(buffer_, LineBuffer::create(count));
  }
  return buffer_.data();
}

SweepBoxes needed(const SweepTask& task) {
  const StageBoxes boxes = stage_boxes(task);
  SweepBoxes result;
  result.v_read = bounding_box(boxes.first, boxes.second);
  if (task.correction) {
    result.u_read = task.correction->from_zero ? Box{} : boxes.prolongated;
    result.coarse_read = prolongation_source(boxes.prolongated);
    result.u_written = boxes.smoothed;
  } else {
    result.u_read = grown_unless_empty(boxes.second, 1);
  }
  return result;
}

rma::Result<Norms> sweep(const SweepTask& task, SweepBuffers& buffers) {
  const StageBoxes boxes = stage_boxes(task);
  // One layer around stages 2 and 4, also in x if rows wrap around.
  const Box window =
      bounding_box(grown_unless_empty(boxes.first, 1), grown_unless_empty(boxes.second, 1));
  if (window.is_empty()) {
    return Norms{};
  }
  Sweep run(task, boxes, window, buffers.strip_bytes());
  TESSERA_ASSIGN_OR_RETURN(double* const memory, buffers.reserve(run.needed_doubles()));
  run.lay_out(memory);
  return run.run();
}

}  // namespace tessera::apps::mg
