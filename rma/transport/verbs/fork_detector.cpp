// SPDX-License-Identifier: BSD-3-Clause
#include "rma/transport/verbs/fork_detector.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <new>

#include "rma/base/memory.hpp"
#include "rma/transport/verbs/page_range.hpp"

namespace tessera::rma::verbs {

Result<ForkDetector> ForkDetector::create() {
  void* const page =
      mmap(nullptr, page_bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) {
    return Status::error(Code::no_memory,
                         fmt::format("cannot map a page: {}", describe_system_error(ENOMEM)))
        .hint(remedy_for_system_error(ENOMEM));
  }
  if (madvise(page, page_bytes(), MADV_WIPEONFORK) != 0) {
    const int error = errno;
    munmap(page, page_bytes());
    return Status::error(Code::unsupported, fmt::format("the kernel cannot mark memory for forks "
                                                        "(MADV_WIPEONFORK): {}",
                                                        std::strerror(error)))
        .hint("use Linux 4.14 or newer");
  }
  return ForkDetector(new (page) std::atomic<int>(1));
}

ForkDetector::~ForkDetector() {
  if (flag_ != nullptr) {
    munmap(flag_, page_bytes());
  }
}

}  // namespace tessera::rma::verbs
