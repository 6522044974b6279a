// SPDX-License-Identifier: BSD-3-Clause
#include "apps/ccsd/triples_fetch.hpp"

#include <span>

namespace tessera::apps::ccsd {
namespace {

using arrays::Box;

/// Elements of one piece of each kind, and of all pieces of a kind.
struct Sizes {
  std::int64_t amplitudes;
  std::int64_t ooov;
  std::int64_t ovvv;
  std::int64_t oovv;
  std::int64_t all_amplitudes;
  std::int64_t all_ooov;
  std::int64_t all_ovvv;
  std::int64_t all_oovv;
};

Sizes sizes_of(const OrbitalSpace& space, std::int64_t tile) {
  const std::int64_t o = space.occupied;
  const std::int64_t v = space.virtuals;
  const std::int64_t amplitudes = tile * o * v;
  const std::int64_t of_occupied = tile * o * o;
  const std::int64_t ovvv = tile * tile * v;
  return {amplitudes,         of_occupied,         ovvv,         of_occupied,
          3 * o * amplitudes, 3 * o * of_occupied, 6 * o * ovvv, 3 * tile * of_occupied};
}

}  // namespace

TriplesFetch::TriplesFetch(const OrbitalSpace& space, Integrals& integrals, Amplitudes& amplitudes,
                           std::int64_t tile)
    : space_(space),
      integrals_(integrals),
      amplitudes_(amplitudes),
      tile_(tile),
      data_(static_cast<std::size_t>(elements(space, tile))) {}

std::int64_t TriplesFetch::elements(const OrbitalSpace& space, std::int64_t tile) noexcept {
  const Sizes sizes = sizes_of(space, tile);
  return sizes.all_amplitudes + sizes.all_ooov + sizes.all_ovvv + sizes.all_oovv;
}

std::size_t TriplesFetch::amplitude_offset(std::size_t slot, std::int64_t k) const noexcept {
  const auto piece = static_cast<std::int64_t>(slot) * space_.occupied + k;
  return static_cast<std::size_t>(piece * sizes_of(space_, tile_).amplitudes);
}

std::size_t TriplesFetch::ooov_offset(std::size_t slot, std::int64_t l) const noexcept {
  const Sizes sizes = sizes_of(space_, tile_);
  const auto piece = static_cast<std::int64_t>(slot) * space_.occupied + l;
  return static_cast<std::size_t>(sizes.all_amplitudes + piece * sizes.ooov);
}

std::size_t TriplesFetch::ovvv_offset(std::size_t x, std::size_t y, std::int64_t i) const noexcept {
  const Sizes sizes = sizes_of(space_, tile_);
  const auto piece = static_cast<std::int64_t>(ordered_pair(x, y)) * space_.occupied + i;
  return static_cast<std::size_t>(sizes.all_amplitudes + sizes.all_ooov + piece * sizes.ovvv);
}

std::size_t TriplesFetch::oovv_offset(std::size_t x, std::size_t y, std::int64_t a) const noexcept {
  const Sizes sizes = sizes_of(space_, tile_);
  const auto piece = static_cast<std::int64_t>(unordered_pair(x, y)) * tile_ + a;
  return static_cast<std::size_t>(sizes.all_amplitudes + sizes.all_ooov + sizes.all_ovvv +
                                  piece * sizes.oovv);
}

void TriplesFetch::fetch(RowMatrix& matrix, const Box& box, std::size_t offset) {
  fetching_.collect(matrix.get_async(box, std::span<double>(data_).subspan(offset)));
}

void TriplesFetch::start(const TripleRanges& ranges) {
  ranges_ = ranges;
  const std::int64_t o = space_.occupied;
  const std::int64_t v = space_.virtuals;
  for (std::size_t slot = 0; slot < ranges.size(); ++slot) {
    const auto [first, last] = ranges[slot];
    for (std::int64_t k = 0; k < o; ++k) {
      fetch(amplitudes_.t2, Box({k * v + first, 0}, {k * v + last, o * v}),
            amplitude_offset(slot, k));
      fetch(integrals_.ooov, Box({0, k * v + first}, {o * o, k * v + last}), ooov_offset(slot, k));
    }
  }
  for (std::size_t x = 0; x < ranges.size(); ++x) {
    for (std::size_t y = 0; y < ranges.size(); ++y) {
      for (std::int64_t i = 0; i < o && x != y; ++i) {
        fetch(integrals_.ovvv,
              Box({i * v + ranges[y].first, ranges[x].first * v},
                  {i * v + ranges[y].last, ranges[x].last * v}),
              ovvv_offset(x, y, i));
      }
      for (std::int64_t a = 0; a < ranges[x].size() && x < y; ++a) {
        const std::int64_t column = (ranges[x].first + a) * v;
        fetch(integrals_.oovv, Box({0, column + ranges[y].first}, {o * o, column + ranges[y].last}),
              oovv_offset(x, y, a));
      }
    }
  }
}

}  // namespace tessera::apps::ccsd
