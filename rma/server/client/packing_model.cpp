// SPDX-License-Identifier: BSD-3-Clause
#include "rma/server/client/packing_model.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace tessera::rma::server {
namespace {

constexpr double kib = 1024;
// Times within this factor of the minimum count as equal to it.
constexpr double about = 1.05;

}  // namespace

// The library also walks through the list of pieces, which takes about as long again. Rows below
// 256 bytes are excluded because a system call takes at most 1024 rows, too few bytes then.
std::size_t PackingModel::min_direct_row() const noexcept {
  constexpr std::size_t least = 256;
  constexpr std::size_t most = std::size_t{32} * 1024;
  std::size_t row = least;
  while (row < most && static_cast<double>(row) / kib * times_.copied_kib < 2 * times_.piece) {
    row *= 2;
  }
  return row;
}

double PackingModel::time_ns(std::size_t bytes, const Parts& parts) const noexcept {
  double sent = 0;
  double arrived = 0;
  double done = 0;
  std::size_t part = parts.first;
  for (std::size_t left = bytes; left > 0; part = parts.each) {
    part = std::min(part, left);
    left -= part;
    const double size = static_cast<double>(part) / kib;
    sent += times_.send + size * (times_.copied_kib + times_.sent_kib);
    arrived = std::max(arrived, sent) + size * times_.wire_kib;
    done =
        std::max(done, arrived) + times_.receive + size * (times_.received_kib + times_.copied_kib);
  }
  return done;
}

// Among the nearly fastest choices takes the longest parts: each part costs both ends some work,
// even if the network hides it.
Parts PackingModel::best_parts(std::size_t bytes) const noexcept {
  double least = std::numeric_limits<double>::max();
  const auto for_each = [&](auto&& candidate) {
    if (bytes <= max_part_bytes) {
      candidate(Parts{bytes, bytes});
    }
    for (std::size_t each = max_part_bytes; each >= min_part_bytes; each /= 2) {
      if (each < bytes) {
        candidate(Parts{each, each});
        candidate(Parts{each / 2, each});
      }
    }
  };
  for_each([&](const Parts& parts) { least = std::min(least, time_ns(bytes, parts)); });
  Parts best{};
  for_each([&](const Parts& parts) {
    if (best.first == 0 && time_ns(bytes, parts) <= about * least) {
      best = parts;
    }
  });
  return best;
}

PartSizes::PartSizes() noexcept {
  constexpr std::size_t least = std::size_t{32} * 1024;
  constexpr std::size_t wanted = 8;
  for (unsigned i = 0; i < classes; ++i) {
    const std::size_t each = std::clamp(class_bytes(i) / wanted, least, max_part_bytes);
    of_class_[i] = {each / 2, each};
  }
  min_pipelined_ = least + 1;
}

PartSizes::PartSizes(const PackingModel& model) noexcept {
  for (unsigned i = 0; i < classes; ++i) {
    const Parts best = model.best_parts(class_bytes(i));
    of_class_[i] = best.first < class_bytes(i) ? best : Parts{};
  }
}

PartSizes PartSizes::equal(std::size_t bytes) noexcept {
  PartSizes sizes;
  sizes.of_class_.fill({bytes, bytes});
  sizes.min_pipelined_ = (std::size_t{16} << 10U) + 1;
  return sizes;
}

void PartSizes::pipeline_from(std::size_t bytes) noexcept {
  min_pipelined_ = bytes;
  for (unsigned i = 0; i < classes; ++i) {
    Parts& parts = of_class_[i];
    if (2 * class_bytes(i) > bytes && parts.first == 0) {
      parts = {class_bytes(i) / 2, class_bytes(i) / 2};
    }
  }
}

Parts PartSizes::of(std::size_t bytes) const noexcept {
  const auto width = static_cast<unsigned>(std::bit_width(bytes));
  if (width <= first_class || bytes < min_pipelined_) {
    return {bytes, bytes};
  }
  const Parts parts = of_class_[std::min(width - 1 - first_class, classes - 1)];
  return parts.first == 0 ? Parts{bytes, bytes} : parts;
}

std::size_t PartSizes::min_pipelined() const noexcept {
  const auto* const first = std::find_if(of_class_.begin(), of_class_.end(),
                                         [](const Parts& parts) { return parts.first > 0; });
  const auto number = static_cast<unsigned>(first - of_class_.begin());
  return std::max(class_bytes(number), min_pipelined_);
}

}  // namespace tessera::rma::server
