// SPDX-License-Identifier: BSD-3-Clause
#include "bench/baselines/shmem.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/baselines/baseline.hpp"
#include "bench/baselines/memory_baseline.hpp"
#include "bench/baselines/mpi_api.hpp"
#include "bench/support/candidate.hpp"

extern "C" {
#include <shmem.h>
}

namespace tessera::bench {

namespace shmem {

// shmem_long_… functions work on the words with which all baselines count.
static_assert(sizeof(long) == sizeof(std::int64_t));

/// Collective. Why OpenSHMEM can't be used among `ranks`; empty if it can, and then it is started.
/// A failed start ends the job; OpenSHMEM offers no other way.
std::string missing(int ranks);

/// Collective. Memory of the same size on every rank. The local address also identifies it on all
/// other ranks.
class Symmetric {
 public:
  /// All bytes are zero.
  explicit Symmetric(std::size_t bytes);
  ~Symmetric();
  Symmetric(const Symmetric&) = delete;
  Symmetric& operator=(const Symmetric&) = delete;

  /// Null on all ranks if OpenSHMEM's heap is too small.
  [[nodiscard]] std::byte* get() const { return bytes_; }
  [[nodiscard]] long* words() const { return reinterpret_cast<long*>(bytes_); }

 private:
  std::byte* bytes_;
};

/// The error message for a heap that is too small, with a remedy.
std::string no_room(std::size_t bytes);

}  // namespace shmem

namespace {

bool& is_started() {
  static bool started = false;
  return started;
}

int record_object(dl_phdr_info* info, std::size_t /*size*/, void* parts) {
  if (std::string_view(info->dlpi_name).find("mca_spml_") != std::string_view::npos) {
    static_cast<std::vector<std::string>*>(parts)->emplace_back(info->dlpi_name);
  }
  return 0;
}

// Open MPI 4.1 unloads this part of OpenSHMEM while free() still calls a function in it.
void keep_loaded() {
  std::vector<std::string> parts;
  dl_iterate_phdr(record_object, &parts);
  for (const std::string& part : parts) {
    dlopen(part.c_str(), RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
  }
}

void start() {
  shmem_init();
  keep_loaded();
  is_started() = true;
}

}  // namespace

void end_shmem() {
  if (is_started()) {
    shmem_finalize();
  }
}

namespace shmem {

std::string missing(int ranks) {
  if (std::string reason = mpi::missing_ranks(ranks); !reason.empty()) {
    return reason;
  }
  if (!is_started()) {
    start();
  }
  return "";
}

// Page-aligned, as the windows and slices that it is compared with.
Symmetric::Symmetric(std::size_t bytes)
    : bytes_(static_cast<std::byte*>(shmem_align(4096, bytes))) {
  if (bytes_ != nullptr) {
    std::memset(bytes_, 0, bytes);
    shmem_barrier_all();
  }
}

Symmetric::~Symmetric() {
  shmem_free(bytes_);
}

std::string no_room(std::size_t bytes) {
  return fmt::format(
      "its heap has no room for {} MiB; to enlarge it, set SHMEM_SYMMETRIC_HEAP_SIZE",
      bytes >> 20U);
}

}  // namespace shmem

// OpenSHMEM as its users write it: shmem_putmem and shmem_quiet (without it if the case needs only
// local completion), or shmem_getmem. Several runs take one non-blocking call each, then
// shmem_quiet. It has no accumulate, and no call for a list.

namespace {

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
               group.share(line_offset(remote_.get()), peer_rank)) {
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
                   std::min(touch_bytes, zeros.size() - from), peer_rank);
    }
    shmem_quiet();
  }

  [[nodiscard]] Workspace workspace() const {
    Workspace workspace;
    workspace.local = local_.bytes();
    workspace.remote_bytes = remote_bytes_;
    workspace.rotate = rotate_;
    workspace.write_remote = [there = remote_.get()](auto bytes) {
      shmem_putmem(there, bytes.data(), bytes.size(), peer_rank);
      shmem_quiet();
    };
    workspace.read_remote = [there = remote_.get()](auto bytes) {
      shmem_quiet();
      shmem_getmem(bytes.data(), there, bytes.size(), peer_rank);
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
        shmem_getmem(here + local, there + remote, bytes, peer_rank);
      });
    }
    return make(c, [=, bytes = c.run_bytes, waits = c.needs_fence()](std::size_t local,
                                                                     std::size_t remote) {
      shmem_putmem(there + remote, here + local, bytes, peer_rank);
      if (waits) {
        shmem_quiet();
      }
    });
  }

  [[nodiscard]] Candidate runs(const Case& c) const {
    if (c.operation == Operation::get) {
      return each_run(c, [](std::byte* mine, std::byte* theirs, std::size_t bytes) {
        shmem_getmem_nbi(mine, theirs, bytes, peer_rank);
      });
    }
    return each_run(c, [](std::byte* mine, std::byte* theirs, std::size_t bytes) {
      shmem_putmem_nbi(theirs, mine, bytes, peer_rank);
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

  [[nodiscard]] Candidate fetch_add() const {
    return fetch_add_candidate(std::string(ShmemMemory::name), is_origin_,
                               [there = remote_.words()](std::int64_t increment) -> std::int64_t {
                                 return shmem_long_atomic_fetch_add(there, increment, peer_rank);
                               });
  }

  [[nodiscard]] Candidate swap() const {
    return swap_candidate(ShmemMemory::name, is_origin_,
                          [there = remote_.words()](std::int64_t value) {
                            return shmem_long_atomic_swap(there, value, peer_rank);
                          });
  }

  [[nodiscard]] Candidate compare_swap() const {
    return compare_swap_candidate(
        std::string(ShmemMemory::name), is_origin_,
        [there = remote_.words()](std::int64_t expected, std::int64_t desired) -> std::int64_t {
          return shmem_long_atomic_compare_swap(there, expected, desired, peer_rank);
        });
  }

  [[nodiscard]] Candidate lock_unlock() const {
    return by_one(ShmemMemory::name, [lock = lock_.words()] {
      shmem_set_lock(lock);
      shmem_clear_lock(lock);
    });
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

struct ShmemMemory::Heap {
  explicit Heap(std::size_t bytes) : memory(bytes) {}
  [[nodiscard]] std::byte* at(std::size_t place) const { return memory.get() + place; }
  [[nodiscard]] long* word(std::size_t place) const { return reinterpret_cast<long*>(at(place)); }
  shmem::Symmetric memory;
};

std::unique_ptr<ShmemMemory> ShmemMemory::create(RankGroup& group, std::size_t bytes_each,
                                                 std::string& missing) {
  missing = shmem::missing(group.size());
  if (missing.empty()) {
    if (auto heap = std::make_unique<Heap>(bytes_each); heap->memory.get() != nullptr) {
      return std::unique_ptr<ShmemMemory>(new ShmemMemory(std::move(heap)));
    }
    missing = shmem::no_room(bytes_each);
  }
  missing = "openshmem: " + missing;
  return nullptr;
}

ShmemMemory::ShmemMemory(std::unique_ptr<Heap> heap) : heap_(std::move(heap)) {}
ShmemMemory::~ShmemMemory() = default;

void ShmemMemory::put(int rank, std::size_t at, const void* from, std::size_t bytes) {
  shmem_putmem_nbi(heap_->at(at), from, bytes, rank);
}

void ShmemMemory::start_get(int rank, std::size_t at, void* to, std::size_t bytes) {
  shmem_getmem_nbi(to, heap_->at(at), bytes, rank);
}

void ShmemMemory::add(int rank, std::size_t at, std::int64_t value) {
  shmem_long_atomic_add(heap_->word(at), value, rank);
}

void ShmemMemory::add(int rank, std::span<const std::size_t> at,
                      std::span<const std::int64_t> values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    add(rank, at[i], values[i]);
  }
}

void ShmemMemory::complete_all() {
  shmem_quiet();
}

std::int64_t ShmemMemory::fetch_add(int rank, std::size_t at, std::int64_t increment) {
  return shmem_long_atomic_fetch_add(heap_->word(at), increment, rank);
}

bool shmem_shares_memory(RankGroup& group) {
  if (!shmem::missing(group.size()).empty()) {
    return false;
  }
  const shmem::Symmetric word(sizeof(long));
  return group.share(word.get() != nullptr && shmem_ptr(word.get(), 1) != nullptr);
}

std::optional<Candidate> shmem_barrier_candidate(RankGroup& group, int ranks) {
  if (!shmem::missing(group.size()).empty()) {
    return std::nullopt;
  }
  const auto words = std::make_shared<shmem::Symmetric>(SHMEM_BARRIER_SYNC_SIZE * sizeof(long));
  if (words->get() == nullptr) {
    return std::nullopt;
  }
  for (int i = 0; i < SHMEM_BARRIER_SYNC_SIZE; ++i) {
    words->words()[i] = SHMEM_SYNC_VALUE;
  }
  group.barrier();
  Candidate candidate;
  candidate.name = ShmemMemory::name;
  candidate.cooperative = true;
  candidate.run = [words, ranks, acts = group.rank() < ranks](std::int64_t repetitions) {
    for (std::int64_t i = 0; i < repetitions && acts; ++i) {
      shmem_barrier(0, 0, ranks, words->words());
    }
  };
  return candidate;
}

}  // namespace tessera::bench
