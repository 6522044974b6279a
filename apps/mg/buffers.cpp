// SPDX-License-Identifier: BSD-3-Clause
#include "apps/mg/buffers.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>

#include "rma/base/memory.hpp"

namespace tessera::apps::mg {
namespace {

constexpr std::size_t line_bytes = 64;
constexpr std::size_t huge_page_bytes = std::size_t{2} << 20;

}  // namespace

rma::Result<LineBuffer> LineBuffer::create(std::int64_t count) {
  const std::size_t wanted = static_cast<std::size_t>(count) * sizeof(double);
  const std::size_t alignment = wanted >= huge_page_bytes ? huge_page_bytes : line_bytes;
  const std::size_t bytes = std::max(alignment, (wanted + alignment - 1) / alignment * alignment);
  void* memory = std::aligned_alloc(alignment, bytes);
  if (memory == nullptr) {
    return rma::Status::error(rma::Code::no_memory,
                              fmt::format("a buffer of {} is needed, but the system has no "
                                          "such memory",
                                          rma::human_bytes(bytes)));
  }
  if (alignment == huge_page_bytes) {
    // A sweep reads about twenty rows at once, in as many pages. Advice only: without huge pages
    // nothing changes.
    static_cast<void>(madvise(memory, bytes, MADV_HUGEPAGE));
  }
  LineBuffer buffer(static_cast<double*>(memory), count);
  std::fill_n(buffer.data(), count, 0.0);
  return buffer;
}

void LineBuffer::Free::operator()(double* data) const {
  std::free(data);
}

}  // namespace tessera::apps::mg
