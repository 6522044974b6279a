// SPDX-License-Identifier: BSD-3-Clause
#include "bench/baselines/memory_baseline.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <system_error>

#include "bench/support/candidate.hpp"

namespace tessera::bench {
namespace {

[[noreturn]] void fail(int cause, const char* what) {
  throw std::system_error(cause, std::generic_category(), what);
}

void* map_own(std::size_t bytes) {
  return mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

void* map_shared(std::size_t bytes) {
  const int file = memfd_create("tessera-bench-baseline", MFD_CLOEXEC);
  if (file < 0) {
    fail(errno, "cannot create a shared-memory file for a baseline's buffer (memfd_create)");
  }
  // Allocate now: a later lack of memory would be a SIGBUS.
  if (const int cause = posix_fallocate(file, 0, static_cast<off_t>(bytes)); cause != 0) {
    close(file);
    fail(cause, "cannot allocate shared memory for a baseline's buffer (posix_fallocate)");
  }
  void* address = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  return address;
}

}  // namespace

Mapping::Mapping(std::size_t bytes, Sharing sharing, std::size_t offset_bytes) {
  const std::size_t all = bytes + offset_bytes;
  void* address = sharing == Sharing::shared ? map_shared(all) : map_own(all);
  if (address == MAP_FAILED) {
    fail(errno, "cannot map memory for a baseline's buffer (mmap)");
  }
  mapped_ = {static_cast<std::byte*>(address), all};
  bytes_ = mapped_.subspan(offset_bytes);
  std::memset(address, 0, all);
}

Mapping::~Mapping() {
  munmap(mapped_.data(), mapped_.size());
}

std::size_t line_offset(const void* address) {
  constexpr std::uintptr_t line = 64;
  return reinterpret_cast<std::uintptr_t>(address) % line;
}

namespace kernels {
namespace {

// Only the operation determines the buffers' type: accumulate uses doubles.
double* doubles(std::byte* bytes) {
  return reinterpret_cast<double*>(bytes);
}
const double* doubles(const std::byte* bytes) {
  return reinterpret_cast<const double*>(bytes);
}

}  // namespace

void copy_rows(std::byte* to, std::size_t to_stride, const std::byte* from, std::size_t from_stride,
               std::size_t row_bytes, std::int64_t rows) {
  for (std::int64_t row = 0; row < rows; ++row) {
    std::memcpy(to, from, row_bytes);
    to += to_stride;
    from += from_stride;
  }
}

void copy_list(std::byte* const* to, const std::byte* const* from, std::size_t run_bytes,
               std::int64_t runs) {
  for (std::int64_t run = 0; run < runs; ++run) {
    std::memcpy(to[run], from[run], run_bytes);
  }
}

void axpy(double* y, const double* x, double a, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    y[i] += a * x[i];
  }
}

void axpy_rows(std::byte* y, std::size_t y_stride, const std::byte* x, std::size_t x_stride,
               double a, std::size_t row_bytes, std::int64_t rows) {
  for (std::int64_t row = 0; row < rows; ++row) {
    axpy(doubles(y), doubles(x), a, row_bytes / sizeof(double));
    y += y_stride;
    x += x_stride;
  }
}

void axpy_list(std::byte* const* y, const std::byte* const* x, double a, std::size_t run_bytes,
               std::int64_t runs) {
  for (std::int64_t run = 0; run < runs; ++run) {
    axpy(doubles(y[run]), doubles(x[run]), a, run_bytes / sizeof(double));
  }
}

std::int64_t fetch_add(std::int64_t& word, std::int64_t increment) {
  return std::atomic_ref<std::int64_t>(word).fetch_add(increment);
}

std::int64_t swap(std::int64_t& word, std::int64_t desired) {
  return std::atomic_ref<std::int64_t>(word).exchange(desired);
}

std::int64_t compare_swap(std::int64_t& word, std::int64_t expected, std::int64_t desired) {
  std::atomic_ref<std::int64_t>(word).compare_exchange_strong(expected, desired);
  return expected;
}

void lock_unlock(std::int64_t& word) {
  std::atomic_ref<std::int64_t> lock(word);
  std::int64_t free = 0;
  lock.compare_exchange_strong(free, 1, std::memory_order_acquire);
  lock.exchange(0, std::memory_order_release);
}

void triad(double* a, const double* b, const double* c, double scale, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    a[i] = b[i] + scale * c[i];
  }
}

}  // namespace kernels

namespace {

double* doubles(std::byte* bytes) {
  return reinterpret_cast<double*>(bytes);
}

/// A memcpy that the compiler can't merge with the next: a length known at run time only turns it
/// into a call of the C library, and the fence makes its result needed.
inline void copy_run(std::byte* to, const std::byte* from, std::size_t bytes) {
  std::memcpy(to, from, bytes);
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

/// The addresses of the runs of a vector case, at both ends.
struct Addresses {
  std::vector<std::byte*> local;
  std::vector<std::byte*> remote;

  Addresses(const Case& c, std::byte* here, std::byte* there) {
    for (std::int64_t run = 0; run < c.runs; ++run) {
      local.push_back(here + c.local_offset(run));
      remote.push_back(there + c.remote_offset(run));
    }
  }
};

}  // namespace

MemoryBaseline::MemoryBaseline(const BaselineOptions& options)
    : own_local_(std::make_unique<Mapping>(options.buffer_bytes(), Sharing::own)),
      own_remote_(std::make_unique<Mapping>(options.buffer_bytes(), Sharing::shared)),
      local_(own_local_->bytes()),
      remote_(own_remote_->bytes()),
      cold_(options.cold) {}

MemoryBaseline::MemoryBaseline(std::span<std::byte> local, std::span<std::byte> remote, bool cold,
                               bool verifies)
    : local_(local), remote_(remote), cold_(cold), verifies_(verifies) {}

Workspace MemoryBaseline::workspace() const {
  Workspace workspace;
  workspace.local = local_;
  workspace.remote_bytes = remote_.size();
  workspace.write_remote = [remote = remote_](std::span<const std::byte> bytes) {
    std::memcpy(remote.data(), bytes.data(), bytes.size());
  };
  workspace.read_remote = [remote = remote_](std::span<std::byte> bytes) {
    std::memcpy(bytes.data(), remote.data(), bytes.size());
  };
  workspace.rotate = cold_;
  return workspace;
}

std::optional<Candidate> MemoryBaseline::candidate(const Case& c) {
  if (is_atomic(c.operation)) {
    return atomic(c);
  }
  if (!fits(c, workspace())) {
    return std::nullopt;
  }
  switch (c.layout) {
    case Layout::contiguous:
      return contiguous(c);
    case Layout::strided:
    case Layout::window:
      return rows(c);
    case Layout::vector:
    case Layout::separate:
    case Layout::aggregate:
      return list(c);
  }
  return std::nullopt;
}

template <class Once>
Candidate MemoryBaseline::candidate_of(const Case& c, Once once) const {
  return transfer_candidate(c.operation == Operation::accumulate ? "axpy" : "memcpy", c,
                            workspace(), verifies_, once);
}

Candidate MemoryBaseline::contiguous(const Case& c) const {
  std::byte* here = local_.data();
  std::byte* there = remote_.data();
  const auto make = [&](auto once) { return candidate_of(c, once); };
  return by_operation(
      c, make,
      [=](std::size_t local, std::size_t remote) {
        copy_run(here + local, there + remote, c.run_bytes);
      },
      [=](std::size_t local, std::size_t remote) {
        kernels::axpy(doubles(there + remote), doubles(here + local), c.scale,
                      c.run_bytes / sizeof(double));
      },
      [=](std::size_t local, std::size_t remote) {
        copy_run(there + remote, here + local, c.run_bytes);
      });
}

Candidate MemoryBaseline::rows(const Case& c) const {
  std::byte* here = local_.data();
  std::byte* there = remote_.data();
  const auto make = [&](auto once) { return candidate_of(c, once); };
  return by_operation(
      c, make,
      [=](std::size_t local, std::size_t remote) {
        kernels::copy_rows(here + local, c.local_stride, there + remote, c.remote_stride,
                           c.run_bytes, c.runs);
      },
      [=](std::size_t local, std::size_t remote) {
        kernels::axpy_rows(there + remote, c.remote_stride, here + local, c.local_stride, c.scale,
                           c.run_bytes, c.runs);
      },
      [=](std::size_t local, std::size_t remote) {
        kernels::copy_rows(there + remote, c.remote_stride, here + local, c.local_stride,
                           c.run_bytes, c.runs);
      });
}

Candidate MemoryBaseline::list(const Case& c) const {
  const auto make = [&](auto once) { return candidate_of(c, once); };
  const Addresses at(c, local_.data(), remote_.data());
  return by_operation(
      c, make,
      [=](std::size_t, std::size_t) {
        kernels::copy_list(at.local.data(), at.remote.data(), c.run_bytes, c.runs);
      },
      [=](std::size_t, std::size_t) {
        kernels::axpy_list(at.remote.data(), at.local.data(), c.scale, c.run_bytes, c.runs);
      },
      [=](std::size_t, std::size_t) {
        kernels::copy_list(at.remote.data(), at.local.data(), c.run_bytes, c.runs);
      });
}

Candidate MemoryBaseline::atomic(const Case& c) const {
  auto& word = *reinterpret_cast<std::int64_t*>(remote_.data());
  Candidate candidate;
  switch (c.operation) {
    case Operation::lock_unlock:
      candidate = by_one("two atomics", [&word] { kernels::lock_unlock(word); });
      break;
    case Operation::swap:
      candidate = swap_candidate(
          "xchg", verifies_, [&word](std::int64_t value) { return kernels::swap(word, value); });
      break;
    case Operation::compare_swap:
      candidate = compare_swap_candidate("lock cmpxchg", verifies_,
                                         [&word](std::int64_t expected, std::int64_t desired) {
                                           return kernels::compare_swap(word, expected, desired);
                                         });
      break;
    default:
      candidate = fetch_add_candidate("lock xadd", verifies_, [&word](std::int64_t increment) {
        return kernels::fetch_add(word, increment);
      });
  }
  if (verifies_) {
    candidate.prepare = [&word] { word = 0; };
  }
  return candidate;
}

Candidate triad_candidate(RankGroup& group, std::size_t elements) {
  struct Arrays {
    std::vector<double> a, b, c;
  };
  const auto arrays = std::make_shared<Arrays>();
  Candidate candidate = by_all(
      "triad",
      [arrays] {
        kernels::triad(arrays->a.data(), arrays->b.data(), arrays->c.data(), 3.0, arrays->a.size());
      },
      3 * sizeof(double) * elements * static_cast<std::size_t>(group.size()));
  candidate.prepare = [arrays, elements] {
    arrays->a.assign(elements, 0.0);
    arrays->b.assign(elements, 1.0);
    arrays->c.assign(elements, 2.0);
  };
  candidate.verify = [arrays, run = candidate.run]() -> std::string {
    run(1);
    return arrays->a.empty() || arrays->a.back() == 7.0 ? "" : "1 + 3 * 2 isn't 7";
  };
  return candidate;
}

}  // namespace tessera::bench
