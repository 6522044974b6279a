// SPDX-License-Identifier: BSD-3-Clause
#include "bench/support/case.hpp"

#include <fmt/format.h>

namespace tessera::bench {
namespace {

/// A prime, so that its multiples modulo the number of runs visit each run once.
constexpr std::int64_t scatter_step = 7919;

const char* operation_name(Operation operation) {
  switch (operation) {
    case Operation::put:
      return "put";
    case Operation::get:
      return "get";
    case Operation::accumulate:
      return "accumulate";
    case Operation::fetch_add:
      return "fetch_add";
    case Operation::swap:
      return "swap";
    case Operation::compare_swap:
      return "compare_swap";
    case Operation::lock_unlock:
      return "lock_unlock";
  }
  return "unknown";
}

const char* layout_name(Layout layout) {
  switch (layout) {
    case Layout::contiguous:
      return "";
    case Layout::strided:
      return "_strided";
    case Layout::vector:
      return "_vector";
    case Layout::separate:
      return "_separate";
    case Layout::aggregate:
      return "_aggregate";
    case Layout::window:
      return "_window";
  }
  return "_unknown";
}

}  // namespace

Case Case::contiguous(Operation operation, std::size_t bytes) {
  Case result;
  result.operation = operation;
  result.run_bytes = bytes;
  result.local_stride = bytes;
  result.remote_stride = bytes;
  return result;
}

Case Case::strided(Operation operation, std::size_t row_bytes, std::int64_t rows) {
  Case result = contiguous(operation, row_bytes);
  result.layout = Layout::strided;
  result.runs = rows;
  result.remote_stride = 2 * row_bytes;
  return result;
}

Case Case::patch(Operation operation, std::int64_t n, std::int64_t leading) {
  Case result = strided(operation, static_cast<std::size_t>(n) * sizeof(double), n);
  result.remote_stride = static_cast<std::size_t>(leading) * sizeof(double);
  return result;
}

Case Case::local_patch(Operation operation, std::int64_t n, std::int64_t local_leading) {
  Case result = strided(operation, static_cast<std::size_t>(n) * sizeof(double), n);
  result.local_stride = static_cast<std::size_t>(local_leading) * sizeof(double);
  result.remote_stride = result.run_bytes;
  return result;
}

Case Case::vector(Operation operation, std::size_t run_bytes, std::int64_t runs) {
  Case result = strided(operation, run_bytes, runs);
  result.layout = Layout::vector;
  return result;
}

Case Case::separate(Operation operation, std::size_t run_bytes, std::int64_t runs) {
  Case result = vector(operation, run_bytes, runs);
  result.layout = Layout::separate;
  return result;
}

Case Case::aggregate(Operation operation, std::size_t run_bytes, std::int64_t runs) {
  Case result = vector(operation, run_bytes, runs);
  result.layout = Layout::aggregate;
  return result;
}

Case Case::window(Operation operation, std::size_t run_bytes, std::int64_t messages) {
  Case result = contiguous(operation, run_bytes);
  result.layout = Layout::window;
  result.runs = messages;
  return result;
}

Case Case::completing(Completes where) const {
  Case result = *this;
  result.completes = where;
  return result;
}

std::size_t Case::remote_offset(std::int64_t index) const {
  const std::int64_t place = is_scattered() ? index * scatter_step % runs : index;
  return static_cast<std::size_t>(place) * remote_stride;
}

std::string Case::name() const {
  return std::string(operation_name(operation)) + layout_name(layout);
}

std::string Case::shape() const {
  return layout == Layout::contiguous ? "" : fmt::format("{} x {} B", runs, run_bytes);
}

}  // namespace tessera::bench
