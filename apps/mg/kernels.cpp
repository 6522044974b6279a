// SPDX-License-Identifier: BSD-3-Clause
#include "apps/mg/kernels.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "apps/mg/rows.hpp"

namespace tessera::apps::mg {
namespace {

/// out = base + S source on rows [box.lo.y, box.hi.y) of `Planes` planes from z on.
template <std::size_t Planes, bool Face, bool Corner>
void stencil_planes(const Grid& out, const Grid& base, const Grid& source, const Stencil& s,
                    const Box& box, std::int64_t z) {
  for (std::int64_t y = box.lo.y; y < box.hi.y; ++y) {
    detail::StencilRows<Planes> rows{};
    rows.source_stride = source.row_stride;
    for (std::size_t p = 0; p < Planes + 2; ++p) {
      rows.source[p] = source.at(z - 1 + static_cast<std::int64_t>(p), y, box.lo.x);
    }
    for (std::size_t p = 0; p < Planes; ++p) {
      rows.base[p] = base.at(z + static_cast<std::int64_t>(p), y, box.lo.x);
      rows.out[p] = out.at(z + static_cast<std::int64_t>(p), y, box.lo.x);
    }
    detail::stencil_rows<Planes, Face, Corner>(rows, s, 0, box.hi.x - box.lo.x);
  }
}

template <bool Face, bool Corner>
void stencil_box(const Grid& out, const Grid& base, const Grid& source, const Stencil& s,
                 const Box& box) {
  if (box.is_empty()) {
    return;
  }
  std::int64_t z = box.lo.z;
  for (; z + 2 <= box.hi.z; z += 2) {
    stencil_planes<2, Face, Corner>(out, base, source, s, box, z);
  }
  if (z < box.hi.z) {
    stencil_planes<1, Face, Corner>(out, base, source, s, box, z);
  }
}

}  // namespace

void residual(const Grid& r, const Grid& v, const Grid& u, const Stencil& a, const Box& box) {
  const Stencil minus_a{-a.centre, -a.face, -a.edge, -a.corner};
  if (a.face == 0.0) {
    stencil_box<false, true>(r, v, u, minus_a, box);
  } else {
    stencil_box<true, true>(r, v, u, minus_a, box);
  }
}

void smooth(const Grid& u, const Grid& r, const Stencil& s, const Box& box) {
  if (s.corner == 0.0) {
    stencil_box<true, false>(u, u, r, s, box);
  } else {
    stencil_box<true, true>(u, u, r, s, box);
  }
}

void restrict_to(const Grid& coarse, const Grid& fine, const Box& coarse_box, const Wrap& wrap,
                 std::int64_t wrap_width) {
  if (coarse_box.is_empty()) {
    return;
  }
  const std::int64_t count = coarse_box.hi.x - coarse_box.lo.x;
  const std::int64_t x = 2 * coarse_box.lo.x;
  for (std::int64_t cz = coarse_box.lo.z; cz < coarse_box.hi.z; ++cz) {
    for (std::int64_t cy = coarse_box.lo.y; cy < coarse_box.hi.y; ++cy) {
      const std::array<const double*, 3> planes{fine.at(2 * cz, 2 * cy + 1, x),
                                                fine.at(2 * cz + 1, 2 * cy + 1, x),
                                                fine.at(2 * cz + 2, 2 * cy + 1, x)};
      double* const row = coarse.at(cz, cy, coarse_box.lo.x);
      detail::restrict_row(row, planes, fine.row_stride, 0, count);
      if (wrap.x) {
        detail::wrap_row(row, count, wrap_width);
      }
    }
    if (wrap.y) {
      detail::wrap_rows(coarse, cz, wrap_width);
    }
  }
}

Box restricted_alone(const Box& coarse_box, const Box& fine_box, const Wrap& wrap) {
  Box inner = coarse_box;
  // A coarse point c reads the fine ones from 2c to 2c + 2. Shifts round down.
  const auto shrink = [&](std::int64_t Index3::*dim, bool wraps) {
    if (!wraps) {
      inner.lo.*dim = std::max(inner.lo.*dim, (fine_box.lo.*dim + 1) >> 1);
      inner.hi.*dim = std::min(inner.hi.*dim, (fine_box.hi.*dim - 1) >> 1);
    }
  };
  shrink(&Index3::z, wrap.z);
  shrink(&Index3::y, wrap.y);
  shrink(&Index3::x, wrap.x);
  return inner;
}

void prolongate_add(const Grid& u, const Grid& coarse, const Box& box) {
  if (box.is_empty()) {
    return;
  }
  // All pointers are to the even fine x at or before the box.
  const std::int64_t x = box.lo.x & ~std::int64_t{1};
  const std::int64_t first = box.lo.x - x;
  const std::int64_t last = box.hi.x - x;
  std::vector<double> sum(
      static_cast<std::size_t>(last));  // interpolate_row() does not work in place
  for (std::int64_t z = box.lo.z; z < box.hi.z; ++z) {
    for (std::int64_t y = box.lo.y; y < box.hi.y; ++y) {
      const auto row = [&](std::int64_t fine_z, std::int64_t fine_y) {
        return coarse.at(fine_z >> 1, fine_y >> 1, x >> 1);
      };
      double* target = u.at(z, y, x);
      detail::interpolate_row<false>(sum.data(), target,
                                     {row(z - 1, y - 1), row(z - 1, y), row(z, y - 1), row(z, y)},
                                     first, last);
      std::copy(sum.begin() + first, sum.begin() + last, target + first);
    }
  }
}

Norms norms(const Grid& r, const Box& box) {
  if (box.is_empty()) {
    return {};
  }
  detail::NormPacks packs;
  for (std::int64_t z = box.lo.z; z < box.hi.z; ++z) {
    for (std::int64_t y = box.lo.y; y < box.hi.y; ++y) {
      packs.add(r.at(z, y, box.lo.x), 0, box.hi.x - box.lo.x);
    }
  }
  return {packs.sum_squares(), packs.max_abs()};
}

void zero(const Grid& u, const Box& box) {
  if (box.is_empty()) {
    return;
  }
  for (std::int64_t z = box.lo.z; z < box.hi.z; ++z) {
    for (std::int64_t y = box.lo.y; y < box.hi.y; ++y) {
      std::fill_n(u.at(z, y, box.lo.x), box.hi.x - box.lo.x, 0.0);
    }
  }
}

void fill_periodic(const Grid& u, std::int64_t width, Wrap wrap) {
  const Box& box = u.box;
  if (box.is_empty()) {
    return;
  }
  const Index3 n = box.extents();
  const std::int64_t y_first = box.lo.y - (wrap.y ? 0 : width);
  const std::int64_t y_last = box.hi.y + (wrap.y ? 0 : width);
  const std::int64_t z_first = box.lo.z - (wrap.z ? 0 : width);
  const std::int64_t z_last = box.hi.z + (wrap.z ? 0 : width);
  for (std::int64_t z = z_first; z < z_last; ++z) {
    for (std::int64_t y = y_first; wrap.x && y < y_last; ++y) {
      detail::wrap_row(u.at(z, y, box.lo.x), n.x, width);
    }
    if (wrap.y) {
      detail::wrap_rows(u, z, width);
    }
  }
  if (!wrap.z) {
    return;
  }
  // In increasing distance from the box, so that a level thinner than `width` copies from ghosts
  // that are already set.
  const std::int64_t length = n.x + 2 * width;
  for (std::int64_t g = 0; g < width; ++g) {
    for (std::int64_t y = box.lo.y - width; y < box.hi.y + width; ++y) {
      const std::int64_t x = box.lo.x - width;
      std::copy_n(u.at(box.hi.z - 1 - g, y, x), length, u.at(box.lo.z - 1 - g, y, x));
      std::copy_n(u.at(box.lo.z + g, y, x), length, u.at(box.hi.z + g, y, x));
    }
  }
}

}  // namespace tessera::apps::mg
