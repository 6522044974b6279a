// SPDX-License-Identifier: BSD-3-Clause
#include "rma/protocol/direct.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>

#include "rma/base/rounding.hpp"
#include "rma/kernels/accumulate.hpp"
#include "rma/kernels/walk.hpp"

namespace tessera::rma::detail {
namespace {

constexpr std::uint64_t stripe_bytes = StripeLocks::stripe_bytes;

// The bytes from `offset` on whose elements begin in the same stripe, at most `bytes`.
std::uint64_t bytes_in_stripe(std::uint64_t offset, std::uint64_t bytes, std::size_t element) {
  const std::uint64_t to_boundary = stripe_bytes - offset % stripe_bytes;
  const std::uint64_t whole = round_up(to_boundary, element);
  return std::min(whole, bytes);
}

// Holds the lock of one stripe at a time, as long as the stripe stays the same.
class StripeGuard {
 public:
  explicit StripeGuard(const StripeLocks::Slice& stripes) noexcept : stripes_(stripes) {}
  ~StripeGuard() { release(); }
  StripeGuard(const StripeGuard&) = delete;
  StripeGuard& operator=(const StripeGuard&) = delete;

  void retarget(std::uint64_t offset) noexcept {
    const std::uint64_t stripe = offset / stripe_bytes;
    if (lock_ != nullptr && stripe == stripe_) {
      return;
    }
    release();
    lock_ = &stripes_.of(offset);
    lock_->lock(stripes_.context());
    stripe_ = stripe;
  }
  void release() noexcept {
    if (lock_ != nullptr) {
      lock_->unlock();
      lock_ = nullptr;
    }
  }

 private:
  const StripeLocks::Slice& stripes_;
  RobustLock* lock_ = nullptr;
  std::uint64_t stripe_ = 0;
};

// Shorter lists are added in list order.
constexpr std::size_t min_fragments_to_sort = 256;
// Releases the lock after that many, since others wait for it.
constexpr std::size_t max_per_lock = 1024;

void accumulate_in_order(std::byte* slice, std::uint64_t offset, Fragments fragments,
                         const Scale& scale, const StripeLocks::Slice& stripes) {
  StripeGuard held(stripes);
  std::size_t left = max_per_lock;
  for (const Fragment& each : fragments) {
    if (--left == 0) {
      held.release();
      left = max_per_lock;
    }
    const std::uint64_t at = offset + each.remote_offset;
    const auto* const source = static_cast<const std::byte*>(each.local);
    if (at % stripe_bytes + each.bytes > stripe_bytes) {
      held.release();
      accumulate_long_run(slice, at, source, each.bytes, scale, stripes);
    } else if (each.bytes > 0) {
      held.retarget(at);
      kernels::accumulate_small(slice + at, source, each.bytes, scale);
    }
  }
}

// Sorts the indices of some fragments by lock, and for each lock by list order: a counting sort
// that allocates nothing.
class StripeSort {
 public:
  static constexpr std::size_t max_fragments = 4096;

  // False if a fragment reaches into another stripe.
  bool run(std::uint64_t offset, Fragments fragments, const StripeLocks::Slice& stripes) noexcept {
    ends_.fill(0);
    for (std::size_t i = 0; i < fragments.size(); ++i) {
      const std::uint64_t at = offset + fragments[i].remote_offset;
      if (at % stripe_bytes + fragments[i].bytes > stripe_bytes) {
        return false;
      }
      locks_[i] = static_cast<std::uint16_t>(stripes.number(at));
      ++ends_[locks_[i]];
    }
    std::uint16_t begin = 0;
    for (std::uint16_t& end : ends_) {
      begin = static_cast<std::uint16_t>(begin + std::exchange(end, begin));
    }
    for (std::size_t i = 0; i < fragments.size(); ++i) {
      numbers_[ends_[locks_[i]]++] = static_cast<std::uint16_t>(i);
    }
    return true;
  }

  // Calls `work(lock, numbers)` for each lock that has fragments.
  template <class Work>
  void for_each_lock(Work&& work) const {
    std::size_t begin = 0;
    for (std::size_t lock = 0; lock < stripe_count; ++lock) {
      if (ends_[lock] > begin) {
        work(lock, std::span(numbers_.data() + begin, ends_[lock] - begin));
        begin = ends_[lock];
      }
    }
  }

 private:
  std::array<std::uint16_t, stripe_count> ends_;  // where each lock's numbers end
  std::array<std::uint16_t, max_fragments> locks_;
  std::array<std::uint16_t, max_fragments> numbers_;
};

void accumulate_sorted(std::byte* target, Fragments fragments, const StripeSort& sort,
                       const Scale& scale, const StripeLocks::Slice& stripes) {
  sort.for_each_lock([&](std::size_t lock, std::span<const std::uint16_t> numbers) {
    while (!numbers.empty()) {
      const std::size_t count = std::min(numbers.size(), max_per_lock);
      const RobustGuard guard(stripes.at(lock), stripes.context());
      kernels::accumulate_listed(target, fragments.data(), numbers.first(count), scale);
      numbers = numbers.subspan(count);
    }
  });
}

// How many of `count` runs, the first at `offset`, lie entirely in its stripe, one after the other.
std::int64_t runs_in_stripe(std::uint64_t offset, std::uint64_t run_bytes, std::int64_t stride,
                            std::int64_t count) {
  const std::uint64_t in_stripe = offset % stripe_bytes;
  if (in_stripe + run_bytes > stripe_bytes) {
    return 0;
  }
  if (count == 1 || stride == 0) {
    return count;
  }
  const std::uint64_t room = stride > 0 ? stripe_bytes - run_bytes - in_stripe : in_stripe;
  const std::uint64_t step = stride > 0 ? static_cast<std::uint64_t>(stride)
                                        : std::uint64_t{0} - static_cast<std::uint64_t>(stride);
  return std::min(static_cast<std::int64_t>(room / step) + 1, count);
}

// Lines of runs that are shorter than a stripe: takes as many runs at a time as lie in one stripe.
void accumulate_short_runs(std::byte* slice, std::uint64_t offset, const std::byte* source,
                           const CopyShape& shape, const Scale& scale,
                           const StripeLocks::Slice& stripes) {
  const std::uint64_t run_bytes = shape.run_bytes;
  const kernels::AccumulateLine add = kernels::accumulate_line_kernel(run_bytes, scale);
  StripeGuard held(stripes);
  kernels::for_each_line(shape, [&](std::int64_t local, std::int64_t remote) {
    CopyShape::Level part = kernels::line_of(shape);
    std::uint64_t at = offset + static_cast<std::uint64_t>(remote);
    const std::byte* from = source + local;
    for (std::int64_t left = part.count;;) {
      part.count = runs_in_stripe(at, run_bytes, part.remote_stride, left);
      if (part.count > 0) {
        held.retarget(at);
        add(slice + at, from, part, run_bytes, scale);
      } else {
        // One run that begins in this stripe and ends in the next one.
        part.count = 1;
        const std::uint64_t here = bytes_in_stripe(at, run_bytes, size_of(scale.type()));
        held.retarget(at);
        kernels::accumulate_run(slice + at, from, here, scale);
        if (here < run_bytes) {
          held.retarget(at + here);
          kernels::accumulate_run(slice + at + here, from + here, run_bytes - here, scale);
        }
      }
      left -= part.count;
      if (left == 0) {
        break;  // one further stride might leave the slice
      }
      at += static_cast<std::uint64_t>(part.count * part.remote_stride);
      from += part.count * part.local_stride;
    }
  });
}

// Stores `operand` if is_wanted(operand, word), and returns the word from before.
template <class T, class IsWanted>
T change_if(const std::atomic_ref<T>& word, T operand, const IsWanted& is_wanted) noexcept {
  T seen = word.load();
  while (is_wanted(operand, seen) && !word.compare_exchange_weak(seen, operand)) {
  }
  return seen;
}

template <class T>
std::int64_t atomic_typed(std::byte* address, const AtomicRequest& request) noexcept {
  const std::atomic_ref<T> word(*reinterpret_cast<T*>(address));
  switch (request.kind) {
    case AtomicRequest::Kind::fetch_add:
      return word.fetch_add(static_cast<T>(request.operand));
    case AtomicRequest::Kind::swap:
      return word.exchange(static_cast<T>(request.operand));
    case AtomicRequest::Kind::fetch_or:
      return word.fetch_or(static_cast<T>(request.operand));
    case AtomicRequest::Kind::fetch_and:
      return word.fetch_and(static_cast<T>(request.operand));
    case AtomicRequest::Kind::fetch_xor:
      return word.fetch_xor(static_cast<T>(request.operand));
    case AtomicRequest::Kind::fetch_min:
      return change_if(word, static_cast<T>(request.operand), std::less<T>());
    case AtomicRequest::Kind::fetch_max:
      return change_if(word, static_cast<T>(request.operand), std::greater<T>());
    case AtomicRequest::Kind::compare_swap:
      break;
  }
  auto seen = static_cast<T>(request.expected);
  word.compare_exchange_strong(seen, static_cast<T>(request.operand));
  return seen;
}

}  // namespace

// Stripes that another rank holds are deferred once, and each rank starts at a different stripe. So
// ranks that add to the same target do not queue for its first stripe.
void accumulate_long_run(std::byte* slice, std::uint64_t offset, const std::byte* source,
                         std::uint64_t bytes, const Scale& scale,
                         const StripeLocks::Slice& stripes) {
  if (!stripes.has_locks()) {
    kernels::accumulate_run(slice + offset, source, bytes, scale);
    return;
  }
  constexpr std::uint64_t batch = 64;  // number of bits in `deferred`
  const std::size_t element = size_of(scale.type());
  const std::uint64_t head = bytes_in_stripe(offset, bytes, element);
  // Piece 0 ends at the first stripe boundary; the others are a stripe long (the last may be
  // shorter).
  const std::uint64_t pieces = 1 + (bytes - head + stripe_bytes - 1) / stripe_bytes;
  const auto piece_start = [&](std::uint64_t piece) {
    return piece == 0 ? 0 : std::min(head + (piece - 1) * stripe_bytes, bytes);
  };
  const auto add = [&](std::uint64_t piece) {
    const std::uint64_t start = piece_start(piece);
    kernels::accumulate_run(slice + offset + start, source + start, piece_start(piece + 1) - start,
                            scale);
  };
  const auto lock_of = [&](std::uint64_t piece) -> RobustLock& {
    return stripes.of(offset + piece_start(piece));
  };
  for (std::uint64_t first = 0; first < pieces; first += batch) {
    const std::uint64_t count = std::min(batch, pieces - first);
    const std::uint64_t rotation = static_cast<std::uint64_t>(stripes.context().place) * count / 2;
    std::uint64_t deferred = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t at = (i + rotation) % count;
      RobustLock& lock = lock_of(first + at);
      if (!lock.try_lock(stripes.context())) {
        deferred |= std::uint64_t{1} << at;
        continue;
      }
      add(first + at);
      lock.unlock();
    }
    for (; deferred != 0; deferred &= deferred - 1) {
      const auto at = static_cast<std::uint64_t>(__builtin_ctzll(deferred));
      const RobustGuard guard(lock_of(first + at), stripes.context());
      add(first + at);
    }
  }
}

void accumulate_direct(std::byte* slice, std::uint64_t offset, const std::byte* source,
                       const CopyShape& shape, const Scale& scale,
                       const StripeLocks::Slice& stripes) {
  if (shape.levels == 0) {
    accumulate_run_direct(slice, offset, source, shape.run_bytes, scale, stripes);
  } else if (!stripes.has_locks()) {
    kernels::accumulate_shape(slice + offset, source, shape, scale);
  } else if (shape.run_bytes < stripe_bytes) {
    accumulate_short_runs(slice, offset, source, shape, scale, stripes);
  } else {
    kernels::for_each_run(shape, [&](std::int64_t local, std::int64_t remote) {
      accumulate_long_run(slice, offset + static_cast<std::uint64_t>(remote), source + local,
                          shape.run_bytes, scale, stripes);
    });
  }
}

void accumulate_fragments_direct(std::byte* slice, std::uint64_t offset, Fragments fragments,
                                 const Scale& scale, const StripeLocks::Slice& stripes) {
  if (!stripes.has_locks()) {
    for (const Fragment& each : fragments) {
      kernels::accumulate_small(slice + offset + each.remote_offset, each.local, each.bytes, scale);
    }
    return;
  }
  if (fragments.size() < min_fragments_to_sort) {
    accumulate_in_order(slice, offset, fragments, scale, stripes);
    return;
  }
  for (std::size_t first = 0; first < fragments.size(); first += StripeSort::max_fragments) {
    const Fragments some =
        fragments.subspan(first, std::min(StripeSort::max_fragments, fragments.size() - first));
    StripeSort sort;
    if (sort.run(offset, some, stripes)) {
      accumulate_sorted(slice + offset, some, sort, scale, stripes);
    } else {
      accumulate_in_order(slice, offset, some, scale, stripes);
    }
  }
}

std::int64_t atomic_direct(std::byte* word, const AtomicRequest& request) noexcept {
  return request.bytes == 4 ? atomic_typed<std::int32_t>(word, request)
                            : atomic_typed<std::int64_t>(word, request);
}

}  // namespace tessera::rma::detail
