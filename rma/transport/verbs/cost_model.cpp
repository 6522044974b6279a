// SPDX-License-Identifier: BSD-3-Clause
#include "rma/transport/verbs/cost_model.hpp"

#include <algorithm>

namespace tessera::rma::verbs {
namespace {

// The time for a sleeping agent to receive a request, and the ratio that counts as a difference.
constexpr double wake_up_ns = 10'000;
constexpr double clearly = 1.1;

double in_kib(std::size_t bytes) noexcept {
  return static_cast<double>(bytes) / 1024;
}

}  // namespace

// A row by itself costs a request; a packed row is copied at both ends, and costs its share of a
// message.
std::size_t CostModel::min_row() const noexcept {
  constexpr std::size_t min_row = 64;
  constexpr std::size_t max_row = std::size_t{32} * 1024;
  const double packed_kib = 2 * times_.copied_kib + times_.request / in_kib(message_bytes_);
  std::size_t row = min_row;
  while (row < max_row && in_kib(row) * packed_kib < times_.request) {
    row *= 2;
  }
  return row;
}

bool CostModel::prefers_assisted(std::size_t bytes) const noexcept {
  const double by_reading = times_.read_wait + in_kib(bytes) * times_.read_kib;
  const double by_assisted =
      2 * times_.write_wait + wake_up_ns + in_kib(bytes) * times_.written_kib;
  return by_reading > clearly * by_assisted;
}

bool CostModel::prefers_copy(std::size_t bytes) const noexcept {
  const std::size_t messages = 1 + bytes / message_bytes_;
  const double by_copying =
      in_kib(bytes) * times_.copied_kib + static_cast<double>(messages) * times_.request;
  return by_copying < times_.registration + in_kib(bytes) * times_.registered_kib;
}

// Packing copies at both ends, and uses messages; otherwise each row is a request.
double CostModel::packing_loss(std::size_t bytes, std::size_t rows) const noexcept {
  const std::size_t messages = 1 + bytes / message_bytes_;
  return 2 * in_kib(bytes) * times_.copied_kib +
         (static_cast<double>(messages) - static_cast<double>(rows)) * times_.request;
}

double CostModel::registration_cost(std::size_t bytes, std::size_t pieces) const noexcept {
  return static_cast<double>(pieces) * times_.registration + in_kib(bytes) * times_.registered_kib;
}

std::size_t CostModel::max_gap() const noexcept {
  constexpr double min_kib = 64;
  constexpr double max_kib = 64 * 1024;
  const double gap_kib = times_.registration / std::max(times_.registered_kib, 0.001);
  return static_cast<std::size_t>(std::clamp(gap_kib, min_kib, max_kib)) * 1024;
}

}  // namespace tessera::rma::verbs
