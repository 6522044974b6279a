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

// Planes, and rows, by which a stage is behind stage 1.
constexpr std::int64_t first_lag = 1;
constexpr std::int64_t smooth_lag = 2;
constexpr std::int64_t second_lag = 3;
constexpr std::int64_t coarse_lag = 4;  // rows only

// A strip of the four planes of each ring, and of as many of u and v, is to stay in a core's
// second-level cache between steps. Half of 1 MiB leaves room for what streams through.
constexpr std::int64_t strip_bytes = std::int64_t{512} << 10;
constexpr std::int64_t strip_planes = 20;
constexpr std::int64_t least_strip = 4;
constexpr std::int64_t ahead_rows = 3;
constexpr std::int64_t column_lag = 8;
constexpr std::int64_t wanted_tile = 10000;

constexpr Stencil minus_a{-laplacian.centre, -laplacian.face, -laplacian.edge, -laplacian.corner};
static_assert(laplacian.face == 0.0);

std::int64_t padded(std::int64_t count) {
  return (count + line_elements - 1) & ~(line_elements - 1);
}

/// The least box that holds both; an empty one holds nothing.
Box hull(const Box& a, const Box& b) {
  if (a.is_empty() || b.is_empty()) {
    return a.is_empty() ? b : a;
  }
  return {{std::min(a.lo.z, b.lo.z), std::min(a.lo.y, b.lo.y), std::min(a.lo.x, b.lo.x)},
          {std::max(a.hi.z, b.hi.z), std::max(a.hi.y, b.hi.y), std::max(a.hi.x, b.hi.x)}};
}

Box grown_unless_empty(const Box& box, std::int64_t width) {
  return box.is_empty() ? Box{} : grown(box, width);
}

/// What restriction to `coarse` reads of the fine level.
Box refined(const Box& coarse) {
  return coarse.is_empty() ? Box{}
                           : Box{{2 * coarse.lo.z, 2 * coarse.lo.y, 2 * coarse.lo.x},
                                 {2 * coarse.hi.z + 1, 2 * coarse.hi.y + 1, 2 * coarse.hi.x + 1}};
}

/// What prolongation to `fine` reads of the coarse level.
Box prolongation_source(const Box& fine) {
  const auto lo = [](std::int64_t i) { return (i - 1) >> 1; };
  const auto hi = [](std::int64_t i) { return ((i - 1) >> 1) + 1; };
  return fine.is_empty() ? Box{}
                         : Box{{lo(fine.lo.z), lo(fine.lo.y), lo(fine.lo.x)},
                               {hi(fine.hi.z), hi(fine.hi.y), hi(fine.hi.x)}};
}

/// The boxes that the stages compute; empty where a stage is not asked for.
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
  boxes.second = hull(refined(boxes.coarse), task.norm_box);
  if (task.correction) {
    boxes.smoothed = hull(task.correction->box, grown_unless_empty(boxes.second, 1));
    boxes.first = grown_unless_empty(boxes.smoothed, 1);
    boxes.prolongated = grown_unless_empty(boxes.first, 1);
  }
  return boxes;
}

struct Range {
  std::int64_t lo = 0;
  std::int64_t hi = 0;

  [[nodiscard]] Range moved(std::int64_t by) const { return {lo + by, hi + by}; }
  [[nodiscard]] Range within(const Range& other) const {
    return {std::max(lo, other.lo), std::min(hi, other.hi)};
  }

  [[nodiscard]] bool holds(std::int64_t i) const { return lo <= i && i < hi; }
  [[nodiscard]] bool is_empty() const { return hi <= lo; }
};

Range planes(const Box& box) { return box.is_empty() ? Range{} : Range{box.lo.z, box.hi.z}; }
Range columns(const Box& box) { return box.is_empty() ? Range{} : Range{box.lo.x, box.hi.x}; }
Range rows(const Box& box) { return box.is_empty() ? Range{} : Range{box.lo.y, box.hi.y}; }

/// One or two of the planes first, first + 1.
Range pair_in(const Box& box, std::int64_t first) {
  const Range range = planes(box);
  return {std::max(first, range.lo), std::min(first + 2, range.hi)};
}

/// The rows that one stage makes and the next ones read: a strip of rows in four consecutive
/// planes, plane k in slot k mod 4. The two rows before the strip come first; they were the last
/// two of the strip before, and wait for this one in `carry`, which has room for all planes.
class Ring {
 public:
  Ring() = default;
  /// `lag` is how many rows the stage is behind stage 1.
  Ring(double* data, double* carry, std::int64_t strip, std::int64_t row, std::int64_t lag,
       std::int64_t first_plane)
      : data_(data), carry_(carry), strip_(strip), row_(row), lag_(lag), first_plane_(first_plane) {}

  static constexpr std::int64_t planes = 4;
  static constexpr std::int64_t carried_rows = 2;

  /// Begins a strip in which stage 1 makes the rows from y on.
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
    return carry_ + (z - first_plane_) * carried_rows * row_;
  }

  double* data_ = nullptr;
  double* carry_ = nullptr;
  std::int64_t strip_ = 0;
  std::int64_t row_ = 0;
  std::int64_t lag_ = 0;
  std::int64_t first_plane_ = 0;
  std::int64_t y_ = 0;
};

/// How the rows of a sweep lie in memory: the common x that all row pointers stand on, and the
/// rows of the rings, padded on either side.
struct RowLayout {
  std::int64_t x = 0;       ///< even, so that it is also a coarse x
  std::int64_t offset = 0;  ///< from the start of a ring's row to x
  std::int64_t stride = 0;

  RowLayout(const SweepTask& task, const Box& window) {
    // Where the caller aligned his interior, vectors at multiples of the width are aligned.
    x = task.u.box.lo.x + padded(window.lo.x - task.u.box.lo.x);
    if (x >= window.hi.x) {
      x = window.lo.x;
    }
    x += x & 1;
    offset = padded(x - window.lo.x);
    stride = offset + padded(window.hi.x - x);
  }
};

/// Requests row y of the planes first and first + 1 of `grid`, where they lie in `box`.
void touch_rows(const Grid& grid, const Box& box, std::int64_t first, std::int64_t y) {
  if (!rows(box).holds(y)) {
    return;
  }
  const Range z = pair_in(box, first);
  if (z.is_empty()) return;
  const volatile double* a = grid.at(z.lo, y, box.lo.x);
  const volatile double* b = grid.at(z.hi-1, y, box.lo.x);
  const std::int64_t count = box.hi.x - box.lo.x;
  for (std::int64_t i = 0; i < count; i += line_elements) {
    static_cast<void>(a[i]);
    static_cast<void>(b[i]);
  }
}

/// One run of sweep(). The boxes must outlive it.
class Sweep {
 public:
  Sweep(const SweepTask& task, const StageBoxes& boxes, const Box& window, SweepBuffers& buffers);

  Norms run();

 private:
  void step(std::int64_t t, const Range& strip);
  // Stages 1 to 5 of step t, for the row y.
  void prolongate(std::int64_t t, std::int64_t y);
  void first_residual(std::int64_t t, std::int64_t y);
  void smooth(std::int64_t t, std::int64_t y);
  void second_residual(std::int64_t t, std::int64_t y);
  void restrict_row(std::int64_t t, std::int64_t y);
  void touch_u(std::int64_t t, std::int64_t y) const;
  void touch_v(std::int64_t t, std::int64_t y) const;
  void wrap_planes(std::int64_t t);

  /// Calls body(ring, z) for the planes z that the stages of step t add to their rings.
  template <typename Body>
  void for_each_new_plane(std::int64_t t, Body body);

  template <bool Face, bool Corner, std::size_t Ahead, typename Source, typename Base, typename Out>
  void stencil(const Range& z, std::int64_t y, const Range& x, const Stencil& weights,
               const Source& source, std::int64_t source_stride, const Base& base, const Out& out,
               const std::array<const double*, 4>& ahead);

  [[nodiscard]] Range stage_columns(const Box& box, std::int64_t lag) const {
    return tile_.moved(-lag * column_lag).within(columns(box)).moved(-layout_.x);
  }
  [[nodiscard]] const double* ahead_row(const Grid& g, const Box& box, std::int64_t z, std::int64_t y) const {
    return planes(box).holds(z) && rows(box).holds(y) ? row_of(g, z, y) : row_of(g,g.box.lo.z,g.box.lo.y);
  }
  [[nodiscard]] const double* ahead_u(std::int64_t p) const {
    return boxes_.prolongated.is_empty() ? ahead_row(task_.u,boxes_.second,2*ahead_t_-2+p,ahead_y_-2) : ahead_row(task_.u,boxes_.prolongated,2*ahead_t_+p,ahead_y_);
  }
  [[nodiscard]] const double* ahead_v(std::int64_t p) const {
    return boxes_.prolongated.is_empty() ? ahead_row(task_.v,boxes_.second,2*ahead_t_-3+p,ahead_y_-3) : ahead_row(task_.v,boxes_.first,2*ahead_t_-1+p,ahead_y_-1);
  }
  // Where the common x lies in a row.
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
  Range pipeline_x_;
  Range tile_;
  std::int64_t ahead_t_ = 0;
  std::int64_t ahead_y_ = 0;
  std::int64_t tile_width_;
  Range pipeline_;      ///< rows y for which the stages run, each on its row y - lag
  std::int64_t strip_;  ///< rows in a strip
  Ring u1_;
  Ring r1_;
  Ring r2_;
  detail::NormPacks norms_;
};

/// The same for columns.
Range pipeline_columns(const StageBoxes& boxes) {
  Range range = columns(boxes.prolongated);
  if (!boxes.smoothed.is_empty()) {
    range.hi = boxes.smoothed.hi.x + smooth_lag * column_lag;
  }
  if (!boxes.second.is_empty()) {
    range.lo = boxes.smoothed.is_empty() ? boxes.second.lo.x + second_lag * column_lag : range.lo;
    range.hi = std::max(range.hi, boxes.second.hi.x + coarse_lag * column_lag);
  }
  return range;
}

/// The rows of stage 1 from the first to the one at which the last stage has made its last.
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
             SweepBuffers& buffers)
    : task_(task), boxes_(boxes), layout_(task, window), pipeline_(pipeline_rows(boxes)) {
  pipeline_x_ = pipeline_columns(boxes);
  const std::int64_t tiles = std::max<std::int64_t>(1, (pipeline_x_.hi - pipeline_x_.lo + wanted_tile/2) / wanted_tile);
  tile_width_ = padded((pipeline_x_.hi - pipeline_x_.lo + tiles - 1) / tiles);
  // The first tile ends where aligned ones begin.
  pipeline_x_.lo = (pipeline_x_.lo - layout_.x & ~(line_elements - 1)) + layout_.x;
  const std::int64_t row_bytes = layout_.stride * static_cast<std::int64_t>(sizeof(double));
  const std::int64_t row_count = pipeline_.hi - pipeline_.lo;
  const std::int64_t fitting = strip_bytes / (strip_planes * row_bytes) - Ring::carried_rows;
  strip_ = std::min(std::max(fitting, least_strip), row_count);

  const std::int64_t ring = Ring::planes * (strip_ + Ring::carried_rows) * layout_.stride;
  const std::int64_t carry = (window.hi.z - window.lo.z) * Ring::carried_rows * layout_.stride;
  double* data = buffers.reserve(rings * (ring + carry));
  double* carries = data + rings * ring;
  u1_ = Ring(data, carries, strip_, layout_.stride, 0, window.lo.z);
  r1_ = Ring(data + ring, carries + carry, strip_, layout_.stride, first_lag, window.lo.z);
  r2_ = Ring(data + 2 * ring, carries + 2 * carry, strip_, layout_.stride, second_lag,
             window.lo.z);
}

Norms Sweep::run() {
  // Stage 1 begins with planes 2t; stage 4 is three planes behind, stage 5 two steps.
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
  return {norms_.sum_squares(), norms_.greatest()};
}

/// Asks for the rows of u that step t is the first to read, while the step before computes.
void Sweep::touch_u(std::int64_t t, std::int64_t y) const {
  if (boxes_.prolongated.is_empty()) {
    // Stage 4 reads a plane and a row further than it computes.
    touch_rows(task_.u, boxes_.second, 2 * t - second_lag + 1, y - second_lag + 1);
  } else if (!task_.correction->from_zero) {
    touch_rows(task_.u, boxes_.prolongated, 2 * t, y);
  }
}

/// The same for v.
void Sweep::touch_v(std::int64_t t, std::int64_t y) const {
  if (boxes_.prolongated.is_empty()) {
    touch_rows(task_.v, boxes_.second, 2 * t - second_lag, y - second_lag);
  } else {
    touch_rows(task_.v, boxes_.first, 2 * t - first_lag, y - first_lag);
  }
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

void Sweep::step(std::int64_t t, const Range& strip) {
  if (strip.lo > pipeline_.lo) {
    for_each_new_plane(t, [](const Ring& ring, std::int64_t z) { ring.fetch_carried(z); });
  }
  for (std::int64_t y = strip.lo; y < strip.hi; ++y) {
    touch_u(t, y);
    touch_v(t, y);
  }
  for (tile_.lo = pipeline_x_.lo; tile_.lo < pipeline_x_.hi; tile_.lo += tile_width_) {
    tile_.hi = tile_.lo + tile_width_;
    for (std::int64_t y = strip.lo; y < strip.hi; ++y) {
      ahead_t_ = t;
      ahead_y_ = y + ahead_rows;
      if (ahead_y_ >= strip.hi) {
        ahead_t_ = t + 1;
        ahead_y_ -= strip.hi - strip.lo;
      }
      prolongate(t, y);
      first_residual(t, y - first_lag);
      smooth(t, y - smooth_lag);
      second_residual(t, y - second_lag);
      restrict_row(t, y - coarse_lag);
    }
  }
  if (strip.hi < pipeline_.hi) {
    for_each_new_plane(t, [](const Ring& ring, std::int64_t z) { ring.carry_over(z); });
  } else {
    wrap_planes(t);
  }
}

void Sweep::prolongate(std::int64_t t, std::int64_t y) {
  const Box& box = boxes_.prolongated;
  const Range z = pair_in(box, 2 * t);
  if (!rows(box).holds(y) || z.is_empty()) {
    return;
  }
  const Range x = tile_.within(columns(box)).moved(-layout_.x);
  if (x.is_empty()) {
    return;
  }
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
  }
}

/// out = base + weights · source on row y of the planes z of `box`; the last three give row
/// pointers for (z, y).
template <bool Face, bool Corner, std::size_t Ahead, typename Source, typename Base, typename Out>
void Sweep::stencil(const Range& z, std::int64_t y, const Range& x, const Stencil& weights,
                    const Source& source, std::int64_t source_stride, const Base& base,
                    const Out& out, const std::array<const double*, 4>& ahead) {
  if (x.is_empty()) {
    return;
  }
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
    detail::stencil_rows<Planes, Face, Corner, Planes == 2 ? Ahead : 0>(
        io, weights, x.lo, x.hi);
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
  stencil<false, true, 1>(z, y, stage_columns(box, first_lag), minus_a, u1, layout_.stride, v, r1, {ahead_v(0)});
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
  stencil<true, false, 2>(z, y, stage_columns(box, smooth_lag), task_.correction->smoother, r1, layout_.stride, u1, u, {ahead_v(1), ahead_u(0)});
  if (task_.wrap.x && tile_.hi >= pipeline_x_.hi) {
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
  if (boxes_.first.is_empty()) {
  stencil<false, true,4>(z, y, stage_columns(box, second_lag), minus_a, u, task_.u.row_stride, v, r2, {ahead_u(0), ahead_u(1), ahead_v(0), ahead_v(1)});
  } else {
  stencil<false, true,1>(z, y, stage_columns(box, second_lag), minus_a, u, task_.u.row_stride, v, r2, {ahead_u(1)});
  }
  for (std::int64_t k = z.lo; k < z.hi; ++k) {
    if (planes(task_.norm_box).holds(k) && rows(task_.norm_box).holds(y)) {
      const Range x = stage_columns(task_.norm_box, second_lag);
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
  // Coarse m reads fine up to 2m + 2; tiles begin at even x.
  const Range fine = tile_.moved(-coarse_lag * column_lag);
  const Range x = Range{fine.lo >> 1, fine.hi >> 1}.within(columns(box)).moved(-(layout_.x >> 1));
  if (x.is_empty()) {
    return;
  }
  detail::restrict_row(coarse_row_of(task_.restriction->coarse, cz, cy),
                       {row_of(r2_, 2 * cz, y), row_of(r2_, 2 * cz + 1, y),
                        row_of(r2_, 2 * cz + 2, y)},
                       layout_.stride, x.lo, x.hi);
}

/// Sets the ghost rows of the planes that stage 3 of step t has finished. Stage 1 has read the old
/// ones two planes before, and stage 4 gets the values that redundant computation gave.
void Sweep::wrap_planes(std::int64_t t) {
  const Range z = pair_in(boxes_.smoothed, 2 * t - smooth_lag);
  for (std::int64_t k = z.lo; task_.wrap.y && k < z.hi; ++k) {
    detail::wrap_rows(task_.u, k, task_.wrap_width);
  }
}

}  // namespace

double* SweepBuffers::reserve(std::int64_t count) {
  if (count > buffer_.size()) {
    buffer_ = LineBuffer(count);
  }
  return buffer_.data();
}

SweepBoxes needed(const SweepTask& task) {
  const StageBoxes boxes = stage_boxes(task);
  SweepBoxes result;
  result.v_read = hull(boxes.first, boxes.second);
  if (task.correction) {
    result.u_read = task.correction->from_zero ? Box{} : boxes.prolongated;
    result.coarse_read = prolongation_source(boxes.prolongated);
    result.u_written = boxes.smoothed;
  } else {
    result.u_read = grown_unless_empty(boxes.second, 1);
  }
  return result;
}

Norms sweep(const SweepTask& task, SweepBuffers& buffers) {
  const StageBoxes boxes = stage_boxes(task);
  const Box window = hull(grown_unless_empty(boxes.first, 1), grown_unless_empty(boxes.second, 1));
  if (window.is_empty()) {
    return {};
  }
  return Sweep(task, boxes, window, buffers).run();
}

}  // namespace tessera::apps::mg
