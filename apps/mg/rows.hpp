// SPDX-License-Identifier: BSD-3-Clause
//
// Row kernels: the operations of kernels.cpp and sweep.cpp on a row, or on the same row of two
// neighbouring planes at once. Private to apps/mg.
//
// All pointers of one call point to the same x. Indices [first, last) count from there, and may
// begin below 0. A row is processed in blocks of one SIMD register. Its last block overlaps the one
// before it instead of leaving a scalar remainder, so no block may read what another has written.
// Only elements that the operator needs are accessed.
//
// The 27-point stencils. With t0 the row itself, t1 the sum of its four neighbours in the y–z
// plane that share a face with it, and t2 that of the four diagonal ones,
//
//   (S u)(x) = s0 t0 + s1 t1 + s2 t2  +  w(x-1) + w(x+1),   w = s1 t0 + s2 t1 + s3 t2.
//
// The partial sums over planes and rows are NPB's idea. Applying the weights before the shift in x
// leaves one shifted quantity, w, instead of two. w is shifted within registers: if it were written
// to a scratch row and read back one element off, every load would wait for two stores. Processing
// two planes at once reads 12 rows instead of 18.
//
// The code uses the vector types of GCC and Clang, as wide as the compiler's target has registers;
// plain x86-64 works too.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <experimental/simd>
#include <utility>

#include "apps/mg/grid.hpp"

namespace tessera::apps::mg::detail {

/// Doubles in the target's widest register. std::experimental::simd provides only this number: it
/// cannot shift elements from one register to the next.
inline constexpr std::size_t pack_size = std::experimental::native_simd<double>::size();
inline constexpr auto pack_width = static_cast<std::int64_t>(pack_size);

using Pack [[gnu::vector_size(pack_size * sizeof(double))]] = double;

/// Elements in a 64-byte cache line. Buffers are aligned to it and their rows padded.
inline constexpr std::int64_t line_elements = 8;

/// An unaligned load of a Pack, or of one double.
template <typename V>
[[nodiscard]] inline V load(const double* from) {
  V value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <typename V>
inline void store(double* to, const V& value) {
  std::memcpy(to, &value, sizeof value);
}

/// Elements Offset, Offset + Step, … of the sequence of 2 · pack_size elements that `low` and
/// `high` form.
template <std::size_t Offset, std::size_t Step = 1>
[[nodiscard]] inline Pack pick(const Pack& low, const Pack& high) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return __builtin_shufflevector(low, high, static_cast<int>(Offset + Step * I)...);
  }
  (std::make_index_sequence<pack_size>{});
}

/// The lower (Half = 0) or upper (Half = 1) pack of the interleaved sequence a0 b0 a1 b1 ….
template <std::size_t Half>
[[nodiscard]] inline Pack interleave(const Pack& a, const Pack& b) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return __builtin_shufflevector(
        a, b, static_cast<int>((Half * pack_size + I) / 2 + (I % 2) * pack_size)...);
  }
  (std::make_index_sequence<pack_size>{});
}

/// Calls body.template operator()<V>(i) for blocks that cover [first, last), where V is Pack, or
/// double if the row is shorter than a pack. The last block may overlap the one before it.
template <typename Body>
inline void for_each_block(std::int64_t first, std::int64_t last, Body body) {
  if (last - first < pack_width) {
    for (std::int64_t i = first; i < last; ++i) {
      body.template operator()<double>(i);
    }
    return;
  }
  for (std::int64_t i = first; i + pack_width <= last; i += pack_width) {
    body.template operator()<Pack>(i);
  }
  if ((last - first) % pack_width != 0) {
    body.template operator()<Pack>(last - pack_width);
  }
}

/// The arguments of out = base + S source for row j of `Planes` neighbouring planes.
template <std::size_t Planes>
struct StencilRows {
  std::array<const double*, Planes + 2> source;  ///< row j of planes k - 1 … k + Planes
  std::int64_t source_stride = 0;                ///< from row j to row j + 1 of `source`
  std::array<const double*, Planes> base;
  std::array<double*, Planes> out;  ///< distinct from `source`; may be `base`
  /// Rows that a later call will read, prefetched a line at a time during the work.
  std::array<const double*, 4> ahead{};
};

/// Sums of one block in the first plane (a) and the second (b): shifted is w, and partial is base +
/// s0 t0 + s1 t1 + s2 t2. They are members, because compilers keep an array of packs in memory.
template <typename V>
struct StencilSums {
  V shifted_a{};
  V partial_a{};
  V shifted_b{};
  V partial_b{};
};

template <typename V, std::size_t Planes, bool Face, bool Corner>
[[gnu::always_inline]] inline StencilSums<V> stencil_sums(const StencilRows<Planes>& rows,
                                                          const Stencil& s, std::int64_t i) {
  const std::int64_t stride = rows.source_stride;
  std::array<V, Planes + 2> middle;
  std::array<V, Planes + 2> sides;
  for (std::size_t p = 0; p < Planes + 2; ++p) {
    const double* row = rows.source[p] + i;
    middle[p] = load<V>(row);
    sides[p] = load<V>(row - stride) + load<V>(row + stride);
  }
  const auto sum = [&](std::size_t p, V & shifted, V & partial) __attribute__((always_inline)) {
    const V t1 = sides[p + 1] + (middle[p] + middle[p + 2]);
    const V t2 = sides[p] + sides[p + 2];
    shifted = s.edge * t1;
    partial = load<V>(rows.base[p] + i) + s.centre * middle[p + 1] + s.edge * t2;
    if constexpr (Face) {
      shifted += s.face * middle[p + 1];
      partial += s.face * t1;
    }
    if constexpr (Corner) {
      shifted += s.corner * t2;
    }
  };
  StencilSums<V> sums;
  sum(0, sums.shifted_a, sums.partial_a);
  if constexpr (Planes == 2) {
    sum(1, sums.shifted_b, sums.partial_b);
  }
  return sums;
}

/// Only w of one plane at one point.
template <std::size_t Planes, bool Face, bool Corner>
[[nodiscard]] inline double shifted_point(const StencilRows<Planes>& rows, const Stencil& s,
                                          std::size_t p, std::int64_t i) {
  const std::int64_t stride = rows.source_stride;
  const double* below = rows.source[p] + i;
  const double* middle = rows.source[p + 1] + i;
  const double* above = rows.source[p + 2] + i;
  double w = s.edge * ((below[0] + above[0]) + (middle[-stride] + middle[stride]));
  if constexpr (Face) {
    w += s.face * middle[0];
  }
  if constexpr (Corner) {
    w += s.corner * ((below[-stride] + below[stride]) + (above[-stride] + above[stride]));
  }
  return w;
}

/// out = base + S source on [first, last), point by point, for rows shorter than a pack.
template <std::size_t Planes, bool Face, bool Corner>
[[gnu::always_inline]] inline void stencil_points(const StencilRows<Planes>& rows, const Stencil& s,
                                                  std::int64_t first, std::int64_t last) {
  const auto w = [&](std::size_t p, std::int64_t i) {
    return shifted_point<Planes, Face, Corner>(rows, s, p, i);
  };
  for (std::int64_t i = first; i < last; ++i) {
    const auto sums = stencil_sums<double, Planes, Face, Corner>(rows, s, i);
    rows.out[0][i] = sums.partial_a + (w(0, i - 1) + w(0, i + 1));
    if constexpr (Planes == 2) {
      rows.out[1][i] = sums.partial_b + (w(1, i - 1) + w(1, i + 1));
    }
  }
}

/// w of a block in the first and the second plane.
struct ShiftedPacks {
  Pack a{};
  Pack b{};
};

/// w at point i, copied to all elements of the packs.
template <std::size_t Planes, bool Face, bool Corner>
[[gnu::always_inline]] inline ShiftedPacks shifted_packs(const StencilRows<Planes>& rows,
                                                         const Stencil& s, std::int64_t i) {
  return {Pack{} + shifted_point<Planes, Face, Corner>(rows, s, 0, i),
          Pack{} + shifted_point<Planes, Face, Corner>(rows, s, Planes - 1, i)};
}

/// Stores a block: adds w(x-1) + w(x+1) to its partial sums. `previous` and `next` are w of the
/// blocks before and after it, of which only the last and the first element are used.
template <std::size_t Planes>
[[gnu::always_inline]] inline void store_block(const StencilRows<Planes>& rows, std::int64_t i,
                                               const ShiftedPacks& previous,
                                               const StencilSums<Pack>& sums,
                                               const ShiftedPacks& next) {
  store(rows.out[0] + i, sums.partial_a + (pick<pack_size - 1>(previous.a, sums.shifted_a) +
                                           pick<1>(sums.shifted_a, next.a)));
  if constexpr (Planes == 2) {
    store(rows.out[1] + i, sums.partial_b + (pick<pack_size - 1>(previous.b, sums.shifted_b) +
                                             pick<1>(sums.shifted_b, next.b)));
  }
}

/// The same, but computes w at the two points beside the block.
template <std::size_t Planes, bool Face, bool Corner>
[[gnu::always_inline]] inline void store_block_alone(const StencilRows<Planes>& rows,
                                                     const Stencil& s, std::int64_t i,
                                                     const StencilSums<Pack>& sums) {
  store_block(rows, i, shifted_packs<Planes, Face, Corner>(rows, s, i - 1), sums,
              shifted_packs<Planes, Face, Corner>(rows, s, i + pack_width));
}

/// Computes and stores all blocks from the aligned one at `i`, whose sums are `current`, to `last`.
template <std::size_t Planes, bool Face, bool Corner, std::size_t Ahead>
[[gnu::always_inline]] inline void stencil_blocks(const StencilRows<Planes>& rows, const Stencil& s,
                                                  std::int64_t i, std::int64_t last,
                                                  StencilSums<Pack> current) {
  const std::int64_t tail = last - pack_width;
  ShiftedPacks previous = shifted_packs<Planes, Face, Corner>(rows, s, i - 1);
  for (; i + 2 * pack_width <= last; i += pack_width) {
    const auto next = stencil_sums<Pack, Planes, Face, Corner>(rows, s, i + pack_width);
    if constexpr (Ahead > 0) {
      for (std::size_t a = 0; a < Ahead; ++a) {
        __builtin_prefetch(rows.ahead[a] + i, 0, 3);
      }
    }
    store_block(rows, i, previous, current, {next.shifted_a, next.shifted_b});
    previous.a = current.shifted_a;
    previous.b = current.shifted_b;
    current.shifted_a = next.shifted_a;
    current.shifted_b = next.shifted_b;
    current.partial_a = next.partial_a;
    current.partial_b = next.partial_b;
  }
  const auto tail_sums =
      i == tail ? current : stencil_sums<Pack, Planes, Face, Corner>(rows, s, tail);
  store_block(rows, i, previous, current,
              shifted_packs<Planes, Face, Corner>(rows, s, i + pack_width));
  if (i != tail) {
    store_block_alone<Planes, Face, Corner>(rows, s, tail, tail_sums);
  }
}

/// out = base + S source on [first, last). A false Face or Corner means that this weight is zero.
/// Head and tail are separate blocks that overlap the aligned ones between them. `out` may be
/// `base`, so the sums of overlapping blocks are computed before either is stored.
template <std::size_t Planes, bool Face, bool Corner, std::size_t Ahead = 0>
[[gnu::always_inline]] inline void stencil_rows(const StencilRows<Planes>& rows, const Stencil& s,
                                                std::int64_t first, std::int64_t last) {
  static_assert(Planes == 1 || Planes == 2);
  if (last - first < pack_width) {
    stencil_points<Planes, Face, Corner>(rows, s, first, last);
    return;
  }
  const std::int64_t aligned = (first + pack_width - 1) & ~(pack_width - 1);
  const std::int64_t tail = last - pack_width;
  const auto head_sums = stencil_sums<Pack, Planes, Face, Corner>(rows, s, first);
  if (tail < aligned) {
    const auto tail_sums = stencil_sums<Pack, Planes, Face, Corner>(rows, s, tail);
    store_block_alone<Planes, Face, Corner>(rows, s, first, head_sums);
    store_block_alone<Planes, Face, Corner>(rows, s, tail, tail_sums);
    return;
  }
  const auto aligned_sums = stencil_sums<Pack, Planes, Face, Corner>(rows, s, aligned);
  if (first != aligned) {
    store_block_alone<Planes, Face, Corner>(rows, s, first, head_sums);
  }
  stencil_blocks<Planes, Face, Corner, Ahead>(rows, s, aligned, last, aligned_sums);
}

/// The four coarse rows around a fine row, of planes c - 1 and c and rows c - 1 and c. If the fine
/// row coincides with a coarse one, both are that one. All pointers point to coarse x = 0.
struct CoarseRows {
  const double* near_near = nullptr;
  const double* near_far = nullptr;
  const double* far_near = nullptr;
  const double* far_far = nullptr;

  /// The mean of the four at coarse m.
  template <typename V>
  [[nodiscard]] V mean(std::int64_t m) const {
    return 0.25 * ((load<V>(near_near + m) + load<V>(near_far + m)) +
                   (load<V>(far_near + m) + load<V>(far_far + m)));
  }
};

/// Interpolates the mean of the four coarse rows to fine points [first, last) and adds it to
/// `base`, or to zero if FromZero. Fine point 2m + 1 is at coarse m; 2m is between m - 1 and m.
/// Requires: `out` is distinct from `base`.
template <bool FromZero>
inline void interpolate_row(double* out, const double* base, const CoarseRows& coarse,
                            std::int64_t first, std::int64_t last) {
  const CoarseRows rows = coarse;
  const auto put = [&]<typename V>(std::int64_t i, V value) {
    if constexpr (!FromZero) {
      value += load<V>(base + i);
    }
    store(out + i, value);
  };
  const auto point = [&](std::int64_t i) {
    put(i, 0.5 * (rows.mean<double>((i - 1) >> 1) + rows.mean<double>(i >> 1)));
  };
  const std::int64_t m_first = (first + 1) >> 1;
  const std::int64_t m_last = last >> 1;
  if (m_last - m_first < pack_width) {
    for (std::int64_t i = first; i < last; ++i) {
      point(i);
    }
    return;
  }
  if ((first & 1) != 0) {
    point(first);
  }
  const auto block = [&](std::int64_t m, const Pack& previous, const Pack& current) {
    const Pack between = 0.5 * (pick<pack_size - 1>(previous, current) + current);
    put(2 * m, interleave<0>(between, current));
    put(2 * m + pack_width, interleave<1>(between, current));
  };
  Pack previous = Pack{} + rows.mean<double>(m_first - 1);
  std::int64_t m = m_first;
  for (; m + pack_width <= m_last; m += pack_width) {
    const Pack current = rows.mean<Pack>(m);
    block(m, previous, current);
    previous = current;
  }
  if (m < m_last) {
    m = m_last - pack_width;
    block(m, Pack{} + rows.mean<double>(m - 1), rows.mean<Pack>(m));
  }
  if ((last & 1) != 0) {
    point(last - 1);
  }
}

/// Restricts three rows of three planes by full weighting. Computes to[m] for coarse m in [first,
/// last), which is at fine 2m + 1. `planes` point to the middle rows.
inline void restrict_row(double* to, const std::array<const double*, 3>& planes,
                         std::int64_t stride, std::int64_t first, std::int64_t last) {
  // The weights are the product of (1/4, 1/2, 1/4) in each dimension, times 4. The 3 × 3 rows are
  // summed first, then the points in x.
  const std::array<const double*, 3> p = planes;
  const auto mixed = [&]<typename V>(std::int64_t i) {
    const V faces = (load<V>(p[1] + i - stride) + load<V>(p[1] + i + stride)) +
                    (load<V>(p[0] + i) + load<V>(p[2] + i));
    const V edges = (load<V>(p[0] + i - stride) + load<V>(p[0] + i + stride)) +
                    (load<V>(p[2] + i - stride) + load<V>(p[2] + i + stride));
    return V(0.5 * load<V>(p[1] + i) + 0.25 * faces + 0.125 * edges);
  };
  const auto mixed_point = [&](std::int64_t i) { return mixed.template operator()<double>(i); };
  const auto mixed_pack = [&](std::int64_t i) { return mixed.template operator()<Pack>(i); };
  if (last - first < pack_width) {
    for (std::int64_t m = first; m < last; ++m) {
      to[m] = mixed_point(2 * m + 1) + 0.5 * (mixed_point(2 * m) + mixed_point(2 * m + 2));
    }
    return;
  }
  // Two packs of fine points make a pack of coarse ones; the even point after them is the first of
  // the next two.
  const auto finish = [&](std::int64_t m, const Pack& low, const Pack& high, const Pack& next) {
    const Pack even = pick<0, 2>(low, high);
    const Pack odd = pick<1, 2>(low, high);
    store(to + m, odd + 0.5 * (even + pick<1>(even, next)));
  };
  Pack low = mixed_pack(2 * first);
  std::int64_t m = first;
  for (; m + 2 * pack_width <= last; m += pack_width) {
    const Pack high = mixed_pack(2 * m + pack_width);
    const Pack next = mixed_pack(2 * (m + pack_width));
    finish(m, low, high, next);
    low = next;
  }
  finish(m, low, mixed_pack(2 * m + pack_width), Pack{} + mixed_point(2 * (m + pack_width)));
  if (m + pack_width < last) {
    m = last - pack_width;
    finish(m, mixed_pack(2 * m), mixed_pack(2 * m + pack_width), Pack{} + mixed_point(2 * last));
  }
}

/// Sets the `width` ghosts before and after a row of n elements to their periodic images, nearest
/// first: in rows shorter than `width`, the others copy from ghosts.
inline void wrap_row(double* row, std::int64_t n, std::int64_t width) {
  for (std::int64_t g = 0; g < width; ++g) {
    row[-1 - g] = row[n - 1 - g];
    row[n + g] = row[g];
  }
}

/// The same for whole rows of plane z of `u`: sets those before and after the box in y, including
/// their ghosts in x.
inline void wrap_rows(const Grid& u, std::int64_t z, std::int64_t width) {
  const std::int64_t x = u.box.lo.x - width;
  const std::int64_t length = u.box.hi.x - u.box.lo.x + 2 * width;
  for (std::int64_t g = 0; g < width; ++g) {
    std::copy_n(u.at(z, u.box.hi.y - 1 - g, x), length, u.at(z, u.box.lo.y - 1 - g, x));
    std::copy_n(u.at(z, u.box.lo.y + g, x), length, u.at(z, u.box.hi.y + g, x));
  }
}

/// Accumulates the sum of squares and the largest absolute value of rows. It uses several
/// independent packs, because each addition to a single pack would wait for the one before it.
class NormPacks {
 public:
  void add(const double* row, std::int64_t first, std::int64_t last) {
    constexpr std::int64_t stride = chains * pack_width;
    std::int64_t i = first;
    for (; i + stride <= last; i += stride) {
      for (std::size_t c = 0; c < chains; ++c) {
        add_pack(c, load<Pack>(row + i + static_cast<std::int64_t>(c) * pack_width));
      }
    }
    for (; i < last; ++i) {
      rest_ += row[i] * row[i];
      rest_max_abs_ = std::max(rest_max_abs_, std::abs(row[i]));
    }
  }

  [[nodiscard]] double sum_squares() const {
    double sum = rest_;
    for (std::size_t c = 0; c < chains; ++c) {
      for (std::size_t l = 0; l < pack_size; ++l) {
        sum += squares_[c][l];
      }
    }
    return sum;
  }

  [[nodiscard]] double max_abs() const {
    double max_abs = rest_max_abs_;
    for (std::size_t c = 0; c < chains; ++c) {
      for (std::size_t l = 0; l < pack_size; ++l) {
        max_abs = std::max(max_abs, max_abs_[c][l]);
      }
    }
    return max_abs;
  }

 private:
  static constexpr std::int64_t chains = 4;

  void add_pack(std::size_t c, const Pack& value) {
    squares_[c] += value * value;
    const Pack absolute = value < 0.0 ? -value : value;
    max_abs_[c] = absolute > max_abs_[c] ? absolute : max_abs_[c];
  }

  std::array<Pack, chains> squares_{};
  std::array<Pack, chains> max_abs_{};
  double rest_ = 0.0;
  double rest_max_abs_ = 0.0;
};

}  // namespace tessera::apps::mg::detail
