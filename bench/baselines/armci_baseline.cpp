// SPDX-License-Identifier: BSD-3-Clause
//
// ARMCI-MPI through its own interface, as a Global Arrays program calls it today.
//
// Tessera has functions of the same names (rma/armci/), and the linker would take those of the
// first library. The build therefore links this file and ARMCI-MPI's archive into one object whose
// ARMCI names are local to it (bench/CMakeLists.txt, "sealed").
#include <algorithm>
#include <array>
#include <vector>

#include "bench/baselines/baseline.hpp"
#include "bench/baselines/mapping.hpp"
#include "bench/baselines/mpi_api.hpp"
#include "bench/support/fetch_add.hpp"
#include "bench/support/transfer.hpp"

extern "C" {
#include <armci.h>  // has no extern "C" of its own; after <mpi.h>, which it includes
}

namespace tessera::bench {
namespace {

/// The target rank; rank 0 is the origin.
constexpr int target = 1;

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

/// ARMCI's I/O vector of a case; the addresses are made once, as in a user's program.
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

class ArmciBaseline : public Baseline {
 public:
  ArmciBaseline(RankGroup& group, const BaselineOptions& options)
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
    group.barrier();  // until then the target is inside MPI, which moves data only there
  }

  ~ArmciBaseline() override {
    ARMCI_Barrier();
    ARMCI_Destroy_mutexes();
    ARMCI_Free(own_);
    ARMCI_Finalize();
  }

  ArmciBaseline(const ArmciBaseline&) = delete;
  ArmciBaseline& operator=(const ArmciBaseline&) = delete;

  [[nodiscard]] std::string_view name() const override { return "armci-mpi"; }

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
    if (!fits(c, workspace()) || !mpi::fits_int(c)) {
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
        return std::nullopt;
    }
    return std::nullopt;
  }

 private:
  /// Enters all of the remote buffer into this process's page tables.
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
      return transfer_candidate("armci-mpi", c, workspace(), verifies, once);
    }
    return transfer_candidate("armci-mpi", c, workspace(), verifies,
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
    switch (c.operation) {
      case Operation::get:
        return make(c, [=](std::size_t local, std::size_t remote) {
          ARMCI_Get(there + remote, here + local, bytes, target);
        });
      case Operation::accumulate:
        return make(c, [=](std::size_t local, std::size_t remote) {
          double scale = c.scale;
          ARMCI_Acc(ARMCI_ACC_DBL, &scale, here + local, there + remote, bytes, target);
        });
      default:
        return make(c, [=](std::size_t local, std::size_t remote) {
          ARMCI_Put(here + local, there + remote, bytes, target);
        });
    }
  }

  [[nodiscard]] Candidate strided(const Case& c) const {
    std::byte* here = local_->bytes().data();
    std::byte* there = there_;
    const Strides strides(c);
    switch (c.operation) {
      case Operation::get:
        return make(c, [=](std::size_t local, std::size_t remote) {
          Strides s = strides;
          ARMCI_GetS(there + remote, s.remote.data(), here + local, s.local.data(), s.count.data(),
                     1, target);
        });
      case Operation::accumulate:
        return make(c, [=](std::size_t local, std::size_t remote) {
          Strides s = strides;
          double scale = c.scale;
          ARMCI_AccS(ARMCI_ACC_DBL, &scale, here + local, s.local.data(), there + remote,
                     s.remote.data(), s.count.data(), 1, target);
        });
      default:
        return make(c, [=](std::size_t local, std::size_t remote) {
          Strides s = strides;
          ARMCI_PutS(here + local, s.local.data(), there + remote, s.remote.data(), s.count.data(),
                     1, target);
        });
    }
  }

  [[nodiscard]] Candidate list(const Case& c) const {
    const auto at = std::make_shared<AddressList>(c, local_->bytes().data(), there_);
    switch (c.operation) {
      case Operation::get:
        return make(c, [=](std::size_t, std::size_t) { ARMCI_GetV(&at->vector, 1, target); });
      case Operation::accumulate:
        return make(c, [=](std::size_t, std::size_t) {
          double scale = c.scale;
          ARMCI_AccV(ARMCI_ACC_DBL, &scale, &at->vector, 1, target);
        });
      default:
        return make(c, [=](std::size_t, std::size_t) { ARMCI_PutV(&at->vector, 1, target); });
    }
  }

  /// One non-blocking call without a handle for each run, and one wait.
  [[nodiscard]] Candidate separate(const Case& c) const {
    const auto bytes = static_cast<int>(c.run_bytes);
    switch (c.operation) {
      case Operation::get:
        return each_run(c, [bytes](std::byte* mine, std::byte* theirs) {
          ARMCI_NbGet(theirs, mine, bytes, target, nullptr);
        });
      case Operation::accumulate:
        return each_run(c, [bytes, scale = c.scale](std::byte* mine, std::byte* theirs) {
          double factor = scale;
          ARMCI_NbAcc(ARMCI_ACC_DBL, &factor, mine, theirs, bytes, target, nullptr);
        });
      default:
        return each_run(c, [bytes](std::byte* mine, std::byte* theirs) {
          ARMCI_NbPut(mine, theirs, bytes, target, nullptr);
        });
    }
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

  [[nodiscard]] Candidate swap() const {
    Candidate candidate;
    candidate.name = "armci-mpi";
    candidate.bytes = sizeof(long);
    candidate.run = [this](std::int64_t repetitions) {
      for (std::int64_t i = 0; i < repetitions; ++i) {
        long value = i;
        ARMCI_Rmw(ARMCI_SWAP_LONG, &value, there_, 0, target);
      }
    };
    return candidate;
  }

  [[nodiscard]] long add(int increment) const {
    long before = 0;
    ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &before, there_, increment, target);
    return before;
  }

  [[nodiscard]] Candidate fetch_add() const {
    return fetch_add_candidate("armci-mpi", group_.rank() == 0,
                               [this](int increment) { return add(increment); });
  }

  [[nodiscard]] Candidate lock_unlock() const {
    Candidate candidate;
    candidate.name = "armci-mpi";
    // At the origin itself, its fastest case: at another rank it takes 7 to 20 µs here.
    candidate.run = [here = group_.rank()](std::int64_t repetitions) {
      for (std::int64_t i = 0; i < repetitions; ++i) {
        ARMCI_Lock(0, here);
        ARMCI_Unlock(0, here);
      }
    };
    return candidate;
  }

  RankGroup& group_;
  bool rotate_;
  std::size_t remote_bytes_;
  std::unique_ptr<Mapping> local_;
  void* own_ = nullptr;
  std::byte* there_ = nullptr;
};

}  // namespace

std::unique_ptr<Baseline> make_armci_baseline(RankGroup& group, const BaselineOptions& options,
                                              std::string& missing) {
  const std::string reason =
      options.attaches ? own_memory_only : mpi::missing_windows(group.size());
  if (!reason.empty()) {
    missing = "armci-mpi: " + reason;
    return nullptr;
  }
  return std::make_unique<ArmciBaseline>(group, options);
}

}  // namespace tessera::bench
