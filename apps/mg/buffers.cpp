// SPDX-License-Identifier: BSD-3-Clause
#include "apps/mg/buffers.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <new>

namespace tessera::apps::mg {
namespace {

constexpr std::size_t line_bytes = 64;
constexpr std::size_t huge_page_bytes = std::size_t{2} << 20;

}  // namespace

LineBuffer::LineBuffer(std::int64_t count) : size_(count) {
  const std::size_t wanted = static_cast<std::size_t>(count) * sizeof(double);
  const std::size_t alignment = wanted >= huge_page_bytes ? huge_page_bytes : line_bytes;
  const std::size_t bytes = std::max(alignment, (wanted + alignment - 1) / alignment * alignment);
  void* memory = std::aligned_alloc(alignment, bytes);
  if (memory == nullptr) {
    throw std::bad_alloc();
  }
  if (alignment == huge_page_bytes) {
    // A sweep walks along some twenty rows at once, in as many pages. Advice only: where the
    // kernel has no huge pages to give, nothing changes.
    static_cast<void>(madvise(memory, bytes, MADV_HUGEPAGE));
  }
  data_.reset(static_cast<double*>(memory));
  std::fill_n(data_.get(), count, 0.0);
}

void LineBuffer::Free::operator()(double* data) const {
  std::free(data);
}

}  // namespace tessera::apps::mg
