// SPDX-License-Identifier: BSD-3-Clause
//
// Armci: the baseline that calls armci.h, as Global Arrays does. This file is compiled twice: with
// ARMCI-MPI's header, and with Tessera's (TESSERA_BENCH_OWN_ARMCI).
//
// Both libraries define the same names, of which the linker would use the first. So the build links
// ARMCI-MPI's object and archive into one object that hides its ARMCI names (bench/CMakeLists.txt,
// "sealed").
#include "bench/baselines/baseline.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <vector>

#include <fmt/format.h>

#include "bench/baselines/memory_baseline.hpp"
#include "bench/support/candidate.hpp"
#ifndef TESSERA_BENCH_OWN_ARMCI
#include "bench/baselines/mpi_api.hpp"
#endif

extern "C" {
#include <armci.h>  // ARMCI-MPI's has no extern "C" of its own; after <mpi.h>, which it includes
}

namespace tessera::bench {
namespace {

#ifdef TESSERA_BENCH_OWN_ARMCI
constexpr const char* library = "tessera armci";
#else
constexpr const char* library = "armci-mpi";
#endif

/// The target rank; rank 0 is the origin.
constexpr int target = 1;

/// Offset, in bytes, of the int that atomics of ints use; other atomics use offset 0.
constexpr std::size_t int_offset = 64;

/// The allocations of allocate(). Each has one word, on a cache line that changes from allocation
/// to allocation: words at the starts of pages would compete for few sets of the caches.
constexpr std::size_t allocation_bytes = 4096;
constexpr std::int64_t lines_in_allocation = 64;
constexpr std::int64_t stride = 1597;  // from one visited allocation to the next; a prime
constexpr auto allocation_limit = std::chrono::seconds(20);

/// ARMCI's stride descriptor of a case.
struct Strides {
  explicit Strides(const Case& c)
      : count{static_cast<int>(c.run_bytes), static_cast<int>(c.runs)},
        local{static_cast<int>(c.local_stride)},
        remote{static_cast<int>(c.remote_stride)} {}
  std::array<int, 2> count;
  std::array<int, 1> local;
  std::array<int, 1> remote;
};

/// ARMCI's I/O vector of a case. Addresses are computed once, not for each transfer.
struct AddressList {
  AddressList(const Case& c, std::byte* here, std::byte* there) {
    for (std::int64_t run = 0; run < c.runs; ++run) {
      local.push_back(here + c.local_offset(run));
      remote.push_back(there + c.remote_offset(run));
    }
    const bool gets = c.operation == Operation::get;
    vector.src_ptr_array = gets ? remote.data() : local.data();
    vector.dst_ptr_array = gets ? local.data() : remote.data();
    vector.bytes = static_cast<int>(c.run_bytes);
    vector.ptr_array_len = static_cast<int>(c.runs);
  }
  ~AddressList() = default;
  AddressList(const AddressList&) = delete;
  AddressList& operator=(const AddressList&) = delete;
  std::vector<void*> local;
  std::vector<void*> remote;
  armci_giov_t vector = {};
};

class Armci final : public ArmciBaseline {
 public:
  Armci(RankGroup& group, const BaselineOptions& options)
      : group_(group), rotate_(options.cold), remote_bytes_(options.buffer_bytes()) {
    ARMCI_Init();
    std::vector<void*> slices(static_cast<std::size_t>(group.size()));
    ARMCI_Malloc(slices.data(), static_cast<armci_size_t>(remote_bytes_));
    own_ = slices[static_cast<std::size_t>(group.rank())];
    there_ = static_cast<std::byte*>(slices[static_cast<std::size_t>(target)]);
    local_ = std::make_unique<Mapping>(remote_bytes_, Sharing::own,
                                       group.share(line_offset(own_), target));
    ARMCI_Create_mutexes(1);
    if (group.rank() == 0) {
      touch();
    }
    group.barrier();  // so the target stays inside MPI, without which some libraries move no data
  }

  ~Armci() override {
    ARMCI_Barrier();
    ARMCI_Destroy_mutexes();
    ARMCI_Free(own_);
    ARMCI_Finalize();
  }

  Armci(const Armci&) = delete;
  Armci& operator=(const Armci&) = delete;

  [[nodiscard]] std::string_view name() const override { return library; }

  [[nodiscard]] std::optional<Candidate> candidate(const Case& c) override {
    if (c.operation == Operation::fetch_add) {
      return fetch_add();
    }
    if (c.operation == Operation::swap) {
      return swap();
    }
    if (c.operation == Operation::lock_unlock) {
      return lock_unlock();
    }
    if (is_atomic(c.operation)) {
      return std::nullopt;  // ARMCI has no compare-and-swap
    }
    if (!fits(c, workspace()) || !c.fits_int()) {
      return std::nullopt;
    }
    switch (c.layout) {
      case Layout::contiguous:
        return contiguous(c);
      case Layout::strided:
        return strided(c);
      case Layout::vector:
        return list(c);
      case Layout::separate:
      case Layout::window:
        return separate(c);
      case Layout::aggregate:
        return c.operation == Operation::get ? std::optional(aggregate(c)) : std::nullopt;
    }
    return std::nullopt;
  }

  [[nodiscard]] Candidate add_int() override {
    return fetch_add_candidate(
        library, group_.rank() == 0,
        [word = there_ + int_offset](int increment) {
          int before = 0;
          ARMCI_Rmw(ARMCI_FETCH_AND_ADD, &before, word, increment, target);
          return before;
        },
        sizeof(int));
  }

  [[nodiscard]] Candidate swap_int() override { return swap_of<int>(ARMCI_SWAP, int_offset); }

  [[nodiscard]] Candidate lock_at_target() override { return locks(target); }

  [[nodiscard]] Candidate barrier() override {
    return by_all(library, [] { ARMCI_Barrier(); });
  }

  [[nodiscard]] Started started_get(std::size_t bytes) override {
    const auto handle = std::make_shared<armci_hdl_t>();
    Started get;
    get.name = library;
    get.bytes = bytes;
    get.start = [=, here = local_->bytes().data(), there = there_] {
      ARMCI_INIT_HANDLE(handle.get());
      ARMCI_NbGet(there, here, static_cast<int>(bytes), target, handle.get());
    };
    get.wait = [handle] { ARMCI_Wait(handle.get()); };
    get.verify = candidate(Case::contiguous(Operation::get, bytes))->verify;
    return get;
  }

  void wait_for_all() override { ARMCI_Barrier(); }

  std::int64_t allocate(std::int64_t count) override {
    const auto end = std::chrono::steady_clock::now() + allocation_limit;
    while (std::ssize(own_allocations_) < count &&
           group_.share(std::chrono::steady_clock::now() < end)) {
      constexpr std::int64_t between_clock_readings = 100;
      for (std::int64_t i = 0; i < between_clock_readings && std::ssize(own_allocations_) < count;
           ++i) {
        add_allocation();
      }
    }
    ARMCI_Barrier();
    return std::ssize(own_allocations_);
  }

  [[nodiscard]] Candidate get_from(std::int64_t first, std::int64_t count) override {
    const auto get = [word = reinterpret_cast<double*>(local_->bytes().data()),
                      words = their_words_.data() + first](std::int64_t at) {
      ARMCI_Get(words[at], word, sizeof *word, target);
      return static_cast<std::int64_t>(*word);
    };
    Candidate candidate;
    candidate.name = library;
    candidate.bytes = sizeof(double);
    candidate.run = [=](std::int64_t repetitions) {
      std::int64_t at = 0;
      for (std::int64_t i = 0; i < repetitions; ++i) {
        at = (get(at) - first + stride) % count;
      }
    };
    if (group_.rank() == 0) {
      candidate.verify = [=]() -> std::string {
        for (std::int64_t i = 0; i < count; ++i) {
          if (const std::int64_t found = get(i); found != first + i) {
            return fmt::format("allocation {} holds {}", first + i, found);
          }
        }
        return "";
      };
    }
    return candidate;
  }

  void free_allocations() override {
    ARMCI_Barrier();
    for (; !own_allocations_.empty(); own_allocations_.pop_back()) {
      ARMCI_Free(own_allocations_.back());
    }
    their_words_.clear();
  }

 private:
  /// Writes zeros to the whole remote buffer, so that later transfers cause no page faults.
  void touch() const {
    const std::span<std::byte> zeros = local_->bytes();
    for (std::size_t from = 0; from < zeros.size(); from += touch_bytes) {
      const std::size_t bytes = std::min(touch_bytes, zeros.size() - from);
      ARMCI_Put(zeros.data() + from, there_ + from, static_cast<int>(bytes), target);
    }
    ARMCI_Fence(target);
  }

  template <class Once>
  [[nodiscard]] Candidate make(const Case& c, Once once) const {
    const bool verifies = group_.rank() == 0;
    if (!c.needs_fence()) {
      return transfer_candidate(library, c, workspace(), verifies, once);
    }
    return transfer_candidate(library, c, workspace(), verifies,
                              [once](std::size_t local, std::size_t remote) {
                                once(local, remote);
                                ARMCI_Fence(target);
                              });
  }

  [[nodiscard]] Workspace workspace() const {
    Workspace workspace;
    workspace.local = local_->bytes();
    workspace.remote_bytes = remote_bytes_;
    workspace.rotate = rotate_;
    workspace.write_remote = [there = there_](std::span<const std::byte> bytes) {
      ARMCI_Put(const_cast<std::byte*>(bytes.data()), there, static_cast<int>(bytes.size()),
                target);
      ARMCI_Fence(target);
    };
    workspace.read_remote = [there = there_](std::span<std::byte> bytes) {
      ARMCI_Fence(target);
      ARMCI_Get(there, bytes.data(), static_cast<int>(bytes.size()), target);
    };
    return workspace;
  }

  [[nodiscard]] Candidate contiguous(const Case& c) const {
    std::byte* here = local_->bytes().data();
    std::byte* there = there_;
    const auto bytes = static_cast<int>(c.run_bytes);
    return by_operation(
        c, [&](auto once) { return make(c, once); },
        [=](std::size_t local, std::size_t remote) {
          ARMCI_Get(there + remote, here + local, bytes, target);
        },
        [=](std::size_t local, std::size_t remote) {
          double scale = c.scale;
          ARMCI_Acc(ARMCI_ACC_DBL, &scale, here + local, there + remote, bytes, target);
        },
        [=](std::size_t local, std::size_t remote) {
          ARMCI_Put(here + local, there + remote, bytes, target);
        });
  }

  [[nodiscard]] Candidate strided(const Case& c) const {
    std::byte* here = local_->bytes().data();
    std::byte* there = there_;
    const Strides strides(c);
    return by_operation(
        c, [&](auto once) { return make(c, once); },
        [=](std::size_t local, std::size_t remote) {
          Strides s = strides;
          ARMCI_GetS(there + remote, s.remote.data(), here + local, s.local.data(), s.count.data(),
                     1, target);
        },
        [=](std::size_t local, std::size_t remote) {
          Strides s = strides;
          double scale = c.scale;
          ARMCI_AccS(ARMCI_ACC_DBL, &scale, here + local, s.local.data(), there + remote,
                     s.remote.data(), s.count.data(), 1, target);
        },
        [=](std::size_t local, std::size_t remote) {
          Strides s = strides;
          ARMCI_PutS(here + local, s.local.data(), there + remote, s.remote.data(), s.count.data(),
                     1, target);
        });
  }

  [[nodiscard]] Candidate list(const Case& c) const {
    const auto at = std::make_shared<AddressList>(c, local_->bytes().data(), there_);
    return by_operation(
        c, [&](auto once) { return make(c, once); },
        [=](std::size_t, std::size_t) { ARMCI_GetV(&at->vector, 1, target); },
        [=](std::size_t, std::size_t) {
          double scale = c.scale;
          ARMCI_AccV(ARMCI_ACC_DBL, &scale, &at->vector, 1, target);
        },
        [=](std::size_t, std::size_t) { ARMCI_PutV(&at->vector, 1, target); });
  }

  /// One non-blocking call without a handle for each run, and one wait.
  [[nodiscard]] Candidate separate(const Case& c) const {
    const auto bytes = static_cast<int>(c.run_bytes);
    return by_operation(
        c, [&](auto once) { return each_run(c, once); },
        [bytes](std::byte* mine, std::byte* theirs) {
          ARMCI_NbGet(theirs, mine, bytes, target, nullptr);
        },
        [bytes, scale = c.scale](std::byte* mine, std::byte* theirs) {
          double factor = scale;
          ARMCI_NbAcc(ARMCI_ACC_DBL, &factor, mine, theirs, bytes, target, nullptr);
        },
        [bytes](std::byte* mine, std::byte* theirs) {
          ARMCI_NbPut(mine, theirs, bytes, target, nullptr);
        });
  }

  template <class Call>
  [[nodiscard]] Candidate each_run(const Case& c, Call call) const {
    std::byte* here = local_->bytes().data();
    std::byte* there = there_;
    return make(c, [=](std::size_t local, std::size_t remote) {
      for (std::int64_t run = 0; run < c.runs; ++run) {
        call(here + local + c.local_offset(run), there + remote + c.remote_offset(run));
      }
      ARMCI_WaitProc(target);
    });
  }

  /// An aggregate handle that collects one non-blocking get for each run.
  [[nodiscard]] Candidate aggregate(const Case& c) const {
    const auto at = std::make_shared<AddressList>(c, local_->bytes().data(), there_);
    return make(c, [=](std::size_t, std::size_t) {
      armci_hdl_t handle;
      ARMCI_INIT_HANDLE(&handle);
      ARMCI_SET_AGGREGATE_HANDLE(&handle);
      for (std::size_t run = 0; run < at->local.size(); ++run) {
        ARMCI_NbGet(at->remote[run], at->local[run], at->vector.bytes, target, &handle);
      }
      ARMCI_Wait(&handle);
      ARMCI_UNSET_AGGREGATE_HANDLE(&handle);
    });
  }

  void add_allocation() {
    const auto number = static_cast<double>(own_allocations_.size());
    const std::int64_t line = std::ssize(own_allocations_) % lines_in_allocation;
    const auto offset = static_cast<std::size_t>(line) * allocation_bytes / lines_in_allocation;
    std::vector<void*> slices(static_cast<std::size_t>(group_.size()));
    ARMCI_Malloc(slices.data(), static_cast<armci_size_t>(allocation_bytes));
    own_allocations_.push_back(slices[static_cast<std::size_t>(group_.rank())]);
    std::memcpy(static_cast<std::byte*>(own_allocations_.back()) + offset, &number, sizeof number);
    their_words_.push_back(static_cast<std::byte*>(slices[target]) + offset);
  }

  [[nodiscard]] Candidate swap() const { return swap_of<long>(ARMCI_SWAP_LONG, 0); }

  template <class Word>
  [[nodiscard]] Candidate swap_of(int operation, std::size_t offset) const {
    return swap_candidate(
        library, group_.rank() == 0,
        [operation, word = there_ + offset](std::int64_t value) {
          auto word_value = static_cast<Word>(value);
          ARMCI_Rmw(operation, &word_value, word, 0, target);
          return word_value;
        },
        sizeof(Word));
  }

  [[nodiscard]] long add(int increment) const {
    long before = 0;
    ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &before, there_, increment, target);
    return before;
  }

  [[nodiscard]] Candidate fetch_add() const {
    return fetch_add_candidate(library, group_.rank() == 0,
                               [this](int increment) { return add(increment); });
  }

  /// Uses the origin's own lock, ARMCI-MPI's fastest case: another rank's takes 7 to 20 µs here.
  [[nodiscard]] Candidate lock_unlock() const { return locks(group_.rank()); }

  [[nodiscard]] static Candidate locks(int owner) {
    return by_one(library, [owner] {
      ARMCI_Lock(0, owner);
      ARMCI_Unlock(0, owner);
    });
  }

  RankGroup& group_;
  bool rotate_;
  std::size_t remote_bytes_;
  std::unique_ptr<Mapping> local_;
  void* own_ = nullptr;
  std::byte* there_ = nullptr;
  std::vector<void*> own_allocations_;   ///< this rank's, in the order of allocate()
  std::vector<std::byte*> their_words_;  ///< the target's words, one for each allocation
};

}  // namespace

#ifdef TESSERA_BENCH_OWN_ARMCI

std::unique_ptr<ArmciBaseline> make_tessera_armci(RankGroup& group, const BaselineOptions& options,
                                                  std::string& missing) {
  if (options.attaches || group.size() < 2) {
    missing = std::string("tessera armci: ") +
              (options.attaches ? own_memory_only : "it is measured between two ranks");
    return nullptr;
  }
  return std::make_unique<Armci>(group, options);
}

#else

std::unique_ptr<Baseline> make_armci_baseline(RankGroup& group, const BaselineOptions& options,
                                              std::string& missing) {
  const std::string reason =
      options.attaches ? own_memory_only : mpi::missing_windows(group.size());
  if (!reason.empty()) {
    missing = "armci-mpi: " + reason;
    return nullptr;
  }
  return std::make_unique<Armci>(group, options);
}

#endif

}  // namespace tessera::bench
