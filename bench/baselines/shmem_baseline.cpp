// SPDX-License-Identifier: BSD-3-Clause
//
// OpenSHMEM as its users write it: shmem_putmem and shmem_quiet (without it if the case needs only
// local completion), or shmem_getmem. Several runs take one non-blocking call each, then
// shmem_quiet. It has no accumulate, and no call for a list.
#include <algorithm>
#include <memory>

#include "bench/baselines/baseline.hpp"
#include "bench/baselines/mapping.hpp"
#include "bench/baselines/shmem_api.hpp"
#include "bench/baselines/shmem_memory.hpp"
#include "bench/support/fetch_add.hpp"
#include "bench/support/transfer.hpp"

namespace tessera::bench {
namespace {

/// The target rank; rank 0 is the origin.
constexpr int target = 1;

class ShmemBaseline : public Baseline {
 public:
  /// Collective. Requires: OpenSHMEM runs. See has_room().
  ShmemBaseline(RankGroup& group, const BaselineOptions& options)
      : is_origin_(group.rank() == 0),
        rotate_(options.cold),
        remote_bytes_(options.buffer_bytes()),
        remote_(options.buffer_bytes()),
        lock_(sizeof(long)),
        local_(options.buffer_bytes(), Sharing::own,
               group.share(line_offset(remote_.get()), target)) {
    if (is_origin_ && has_room()) {
      touch();
    }
    group.barrier();  // until then the target is inside OpenSHMEM, where it helps
  }

  [[nodiscard]] bool has_room() const { return remote_.get() != nullptr && lock_.get() != nullptr; }

  [[nodiscard]] std::string_view name() const override { return ShmemMemory::name; }

  [[nodiscard]] std::optional<Candidate> candidate(const Case& c) override {
    switch (c.operation) {
      case Operation::accumulate:
        return std::nullopt;
      case Operation::fetch_add:
        return fetch_add();
      case Operation::swap:
        return swap();
      case Operation::compare_swap:
        return compare_swap();
      case Operation::lock_unlock:
        return lock_unlock();
      case Operation::put:
      case Operation::get:
        break;
    }
    if (c.layout == Layout::aggregate || !fits(c, workspace())) {
      return std::nullopt;
    }
    return c.layout == Layout::contiguous ? contiguous(c) : runs(c);
  }

 private:
  /// Enters all of the remote buffer into this process's page tables.
  void touch() const {
    const std::span<std::byte> zeros = local_.bytes();
    for (std::size_t from = 0; from < zeros.size(); from += touch_bytes) {
      shmem_putmem(remote_.get() + from, zeros.data() + from,
                   std::min(touch_bytes, zeros.size() - from), target);
    }
    shmem_quiet();
  }

  [[nodiscard]] Workspace workspace() const {
    Workspace workspace;
    workspace.local = local_.bytes();
    workspace.remote_bytes = remote_bytes_;
    workspace.rotate = rotate_;
    workspace.write_remote = [there = remote_.get()](auto bytes) {
      shmem_putmem(there, bytes.data(), bytes.size(), target);
      shmem_quiet();
    };
    workspace.read_remote = [there = remote_.get()](auto bytes) {
      shmem_quiet();
      shmem_getmem(bytes.data(), there, bytes.size(), target);
    };
    return workspace;
  }

  template <class Once>
  [[nodiscard]] Candidate make(const Case& c, Once once) const {
    return transfer_candidate(std::string(ShmemMemory::name), c, workspace(), is_origin_, once);
  }

  [[nodiscard]] Candidate contiguous(const Case& c) const {
    std::byte* const here = local_.bytes().data();
    std::byte* const there = remote_.get();
    if (c.operation == Operation::get) {
      return make(c, [=, bytes = c.run_bytes](std::size_t local, std::size_t remote) {
        shmem_getmem(here + local, there + remote, bytes, target);
      });
    }
    return make(c, [=, bytes = c.run_bytes, waits = c.needs_fence()](std::size_t local,
                                                                     std::size_t remote) {
      shmem_putmem(there + remote, here + local, bytes, target);
      if (waits) {
        shmem_quiet();
      }
    });
  }

  [[nodiscard]] Candidate runs(const Case& c) const {
    if (c.operation == Operation::get) {
      return each_run(c, [](std::byte* mine, std::byte* theirs, std::size_t bytes) {
        shmem_getmem_nbi(mine, theirs, bytes, target);
      });
    }
    return each_run(c, [](std::byte* mine, std::byte* theirs, std::size_t bytes) {
      shmem_putmem_nbi(theirs, mine, bytes, target);
    });
  }

  template <class Call>
  [[nodiscard]] Candidate each_run(const Case& c, Call call) const {
    std::byte* const here = local_.bytes().data();
    std::byte* const there = remote_.get();
    return make(c, [=](std::size_t local, std::size_t remote) {
      for (std::int64_t run = 0; run < c.runs; ++run) {
        call(here + local + c.local_offset(run), there + remote + c.remote_offset(run),
             c.run_bytes);
      }
      shmem_quiet();
    });
  }

  /// One word of the target, in each repetition.
  template <class Once>
  [[nodiscard]] static Candidate word(Once once) {
    Candidate candidate;
    candidate.name = ShmemMemory::name;
    candidate.bytes = sizeof(long);
    candidate.run = [once](std::int64_t repetitions) {
      for (std::int64_t i = 0; i < repetitions; ++i) {
        once(i);
      }
    };
    return candidate;
  }

  [[nodiscard]] Candidate fetch_add() const {
    return fetch_add_candidate(std::string(ShmemMemory::name), is_origin_,
                               [there = remote_.words()](std::int64_t increment) -> std::int64_t {
                                 return shmem_long_atomic_fetch_add(there, increment, target);
                               });
  }

  [[nodiscard]] Candidate swap() const {
    return word([there = remote_.words()](std::int64_t value) {
      (void)shmem_long_atomic_swap(there, value, target);
    });
  }

  [[nodiscard]] Candidate compare_swap() const {
    return compare_swap_candidate(
        std::string(ShmemMemory::name), is_origin_,
        [there = remote_.words()](std::int64_t expected, std::int64_t desired) -> std::int64_t {
          return shmem_long_atomic_compare_swap(there, expected, desired, target);
        });
  }

  [[nodiscard]] Candidate lock_unlock() const {
    Candidate candidate = word([lock = lock_.words()](std::int64_t) {
      shmem_set_lock(lock);
      shmem_clear_lock(lock);
    });
    candidate.bytes = 0;
    return candidate;
  }

  bool is_origin_;
  bool rotate_;
  std::size_t remote_bytes_;
  shmem::Symmetric remote_;
  shmem::Symmetric lock_;
  Mapping local_;
};

}  // namespace

std::unique_ptr<Baseline> make_shmem_baseline(RankGroup& group, const BaselineOptions& options,
                                              std::string& missing) {
  missing = options.attaches ? own_memory_only : shmem::missing(group.size());
  if (missing.empty()) {
    if (auto baseline = std::make_unique<ShmemBaseline>(group, options); baseline->has_room()) {
      return baseline;
    }
    missing = shmem::no_room(options.buffer_bytes());
  }
  missing = "openshmem: " + missing;
  return nullptr;
}

}  // namespace tessera::bench
