// SPDX-License-Identifier: BSD-3-Clause
#include "bench/baselines/mpi.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "bench/baselines/baseline.hpp"
#include "bench/baselines/memory_baseline.hpp"
#include "bench/baselines/mpi_api.hpp"
#include "bench/baselines/shmem.hpp"
#include "bench/support/candidate.hpp"

namespace tessera::bench {
namespace {

bool is_initialized() {
  int flag = 0;
  MPI_Initialized(&flag);
  return flag != 0;
}

/// Whether Open MPI's, MPICH's or Slurm's launcher started this process.
bool was_launched() {
  constexpr std::array variables = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK", "PMI_RANK"};
  return std::any_of(variables.begin(), variables.end(),
                     [](const char* name) { return std::getenv(name) != nullptr; });
}

/// Completes `request`. MPI's own wait keeps a core busy, which another rank or job may need. This
/// one sleeps, but calls MPI every 50 µs for progress: the target of a one-sided operation waits
/// here, and some MPIs need its calls.
void wait_asleep(MPI_Request& request) {
  constexpr int busy_looks = 1000;
  constexpr std::chrono::microseconds nap{50};
  int done = 0;
  for (int looks = 0; done == 0; ++looks) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done == 0 && looks > busy_looks) {
      std::this_thread::sleep_for(nap);
    }
  }
}

class MpiWorldGroup : public RankGroup {
 public:
  MpiWorldGroup() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
  }
  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }
  void barrier() override { MPI_Barrier(MPI_COMM_WORLD); }
  void broadcast(std::span<std::byte> bytes, int root) override {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Ibcast(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, root, MPI_COMM_WORLD,
               &request);
    wait_asleep(request);
  }
  double maximum(double value) override {
    double result = value;
    MPI_Allreduce(&value, &result, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return result;
  }

 private:
  int rank_ = 0;
  int size_ = 1;
};

class World : public MpiSession {
 public:
  explicit World(bool finalizes) : finalizes_(finalizes) {}
  ~World() override {
    end_shmem();
    int is_finalized = 0;
    MPI_Finalized(&is_finalized);
    if (finalizes_ && is_finalized == 0) {
      MPI_Finalize();
    }
  }
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  [[nodiscard]] RankGroup& group() override { return group_; }
  [[nodiscard]] std::string version() const override {
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text = {};
    int length = 0;
    MPI_Get_library_version(text.data(), &length);
    return text.data();
  }

 private:
  bool finalizes_;
  MpiWorldGroup group_;
};

}  // namespace

std::unique_ptr<MpiSession> start_mpi(MpiCallers callers) {
  if (is_initialized()) {
    return std::make_unique<World>(false);
  }
  if (!was_launched()) {
    return nullptr;
  }
  int wanted = MPI_THREAD_FUNNELED;
  if (callers == MpiCallers::all_threads) {
    constexpr int keep = 0;
    wanted = MPI_THREAD_MULTIPLE;
    // as rma/bootstrap/mpi.cpp does, for the same reason
    setenv("OMPI_MCA_osc_rdma_priority", "90", keep);
  }
  int provided = 0;
  MPI_Init_thread(nullptr, nullptr, wanted, &provided);
  return std::make_unique<World>(true);
}

namespace mpi {

bool is_running(int ranks) {
  if (!is_initialized()) {
    return false;
  }
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size == ranks;
}

bool makes_windows() {
  MPI_Errhandler before = MPI_ERRHANDLER_NULL;
  MPI_Comm_get_errhandler(MPI_COMM_WORLD, &before);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  void* base = nullptr;
  MPI_Win window = MPI_WIN_NULL;
  int made = MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window) == MPI_SUCCESS;
  const bool has_window = made != 0;
  MPI_Allreduce(MPI_IN_PLACE, &made, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (has_window && made != 0) {
    MPI_Win_free(&window);
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, before);
  MPI_Errhandler_free(&before);
  return made != 0;
}

std::string missing_ranks(int ranks) {
  if (!is_running(ranks)) {
    return "these ranks were not started by mpirun or srun";
  }
  return ranks < 2 ? "needs two ranks" : "";
}

std::string missing_windows(int ranks) {
  if (std::string reason = missing_ranks(ranks); !reason.empty()) {
    return reason;
  }
  return makes_windows() ? ""
                         : "MPI can't create windows among these ranks; try OMPI_MCA_osc=sm,pt2pt";
}

Window::Window(std::size_t bytes, bool lock_all, bool creates)
    : own_(creates ? bytes : 0), lock_all_(lock_all) {
  if (creates) {
    base_ = own_.data();
    MPI_Win_create(base_, static_cast<MPI_Aint>(bytes), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window_);
  } else {
    MPI_Win_allocate(static_cast<MPI_Aint>(bytes), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base_,
                     &window_);
  }
  std::memset(base_, 0, bytes);
  MPI_Barrier(MPI_COMM_WORLD);
  if (lock_all_) {
    MPI_Win_lock_all(0, window_);
  }
}

Window::~Window() {
  if (lock_all_) {
    MPI_Win_unlock_all(window_);
  }
  MPI_Win_free(&window_);
}

}  // namespace mpi

// One-sided MPI as its users write it: MPI_Win_allocate, one passive epoch (lock_all), the
// operation, MPI_Win_flush (MPI_Win_flush_local if the case needs only local completion). Rows are
// subarray types and lists hindexed-block types, made once.

namespace {

/// The local buffer: ordinary memory, or memory of MPI_Alloc_mem.
class LocalBuffer {
 public:
  /// `beyond_line` bytes after the start of a cache line and a page.
  LocalBuffer(std::size_t bytes, bool is_mpis, std::size_t beyond_line) {
    if (!is_mpis) {
      ordinary_.emplace(bytes, Sharing::own, beyond_line);
      bytes_ = ordinary_->bytes();
      return;
    }
    constexpr std::size_t page = 4096;
    MPI_Alloc_mem(static_cast<MPI_Aint>(bytes + 2 * page), MPI_INFO_NULL, &mpis_);
    const std::size_t beyond_page = reinterpret_cast<std::uintptr_t>(mpis_) % page;
    bytes_ = {static_cast<std::byte*>(mpis_) + (page - beyond_page) + beyond_line, bytes};
    std::memset(bytes_.data(), 0, bytes);
  }
  ~LocalBuffer() {
    if (mpis_ != nullptr) {
      MPI_Free_mem(mpis_);
    }
  }
  LocalBuffer(const LocalBuffer&) = delete;
  LocalBuffer& operator=(const LocalBuffer&) = delete;
  [[nodiscard]] std::span<std::byte> bytes() const { return bytes_; }

 private:
  std::optional<Mapping> ordinary_;
  void* mpis_ = nullptr;
  std::span<std::byte> bytes_;
};

/// One end of a transfer: a datatype, and a count.
struct Layer {
  std::shared_ptr<const mpi::Datatype> owner;
  MPI_Datatype type = MPI_BYTE;
  int count = 0;
};

/// The call that completes an operation as its case requires.
using Flush = int (*)(int rank, MPI_Win window);
Flush flush_of(const Case& c) {
  return c.completes == Completes::at_target ? MPI_Win_flush : MPI_Win_flush_local;
}

/// The element type for MPI: accumulate adds doubles, other operations move bytes.
struct Unit {
  explicit Unit(const Case& c)
      : type(c.operation == Operation::accumulate ? MPI_DOUBLE : MPI_BYTE),
        bytes(c.operation == Operation::accumulate ? sizeof(double) : 1) {}
  MPI_Datatype type;
  std::size_t bytes;
};

Layer contiguous_layer(const Case& c) {
  const Unit unit(c);
  return {nullptr, unit.type, static_cast<int>(c.run_bytes / unit.bytes)};
}

/// The first columns of a matrix of `runs` rows.
Layer subarray_layer(const Case& c, std::size_t stride) {
  const Unit unit(c);
  const auto rows = static_cast<int>(c.runs);
  const std::array<int, 2> sizes = {rows, static_cast<int>(stride / unit.bytes)};
  const std::array<int, 2> part = {rows, static_cast<int>(c.run_bytes / unit.bytes)};
  const std::array<int, 2> start = {0, 0};
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_subarray(2, sizes.data(), part.data(), start.data(), MPI_ORDER_C, unit.type,
                           &type);
  const auto owner = std::make_shared<const mpi::Datatype>(type);
  return {owner, owner->get(), 1};
}

Layer list_layer(const Case& c, bool remote) {
  const Unit unit(c);
  std::vector<MPI_Aint> places;
  for (std::int64_t run = 0; run < c.runs; ++run) {
    places.push_back(static_cast<MPI_Aint>(remote ? c.remote_offset(run) : c.local_offset(run)));
  }
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_hindexed_block(static_cast<int>(c.runs),
                                 static_cast<int>(c.run_bytes / unit.bytes), places.data(),
                                 unit.type, &type);
  const auto owner = std::make_shared<const mpi::Datatype>(type);
  return {owner, owner->get(), 1};
}

Layer layer(const Case& c, bool remote) {
  switch (c.layout) {
    case Layout::contiguous:
      return contiguous_layer(c);
    case Layout::strided:
      return subarray_layer(c, remote ? c.remote_stride : c.local_stride);
    case Layout::vector:
    case Layout::separate:
    case Layout::aggregate:
    case Layout::window:
      return list_layer(c, remote);
  }
  return contiguous_layer(c);
}

class MpiBaseline : public Baseline {
 public:
  MpiBaseline(RankGroup& group, const BaselineOptions& options)
      : is_origin_(group.rank() == 0),
        has_compare_swap_(mpi_compare_swap_problem(group).empty()),
        rotate_(options.cold),
        remote_bytes_(options.buffer_bytes()),
        window_(options.buffer_bytes(), true, options.attaches),
        local_(options.buffer_bytes(), options.local_is_mpis,
               group.share(line_offset(window_.base()), peer_rank)),
        lock_window_(sizeof(std::int64_t), false) {
    if (is_origin_) {
      touch();
    }
    group.barrier();  // Open MPI also moves puts while their target is in a call
  }

  [[nodiscard]] std::string_view name() const override { return "mpi"; }

  [[nodiscard]] std::optional<Candidate> candidate(const Case& c) override {
    if (c.operation == Operation::fetch_add) {
      return fetch_add();
    }
    if (c.operation == Operation::swap) {
      return swap();
    }
    if (c.operation == Operation::compare_swap) {
      return has_compare_swap_ ? std::optional(compare_swap()) : std::nullopt;
    }
    if (c.operation == Operation::lock_unlock) {
      return lock_unlock();
    }
    const bool scales = c.operation == Operation::accumulate && c.scale != 1.0;
    if (scales || !fits(c, workspace()) || !c.fits_int()) {
      return std::nullopt;  // MPI_Accumulate has no scale
    }
    return c.layout == Layout::separate || c.layout == Layout::window ? separate(c) : transfer(c);
  }

 private:
  /// Enters all of the remote buffer into this process's page tables.
  void touch() const {
    const std::span<std::byte> zeros = local_.bytes();
    for (std::size_t from = 0; from < zeros.size(); from += touch_bytes) {
      const auto count = static_cast<int>(std::min(touch_bytes, zeros.size() - from));
      MPI_Put(zeros.data() + from, count, MPI_BYTE, peer_rank, static_cast<MPI_Aint>(from), count,
              MPI_BYTE, window_.get());
    }
    MPI_Win_flush(peer_rank, window_.get());
  }

  [[nodiscard]] Workspace workspace() const {
    Workspace workspace;
    workspace.local = local_.bytes();
    workspace.remote_bytes = remote_bytes_;
    workspace.rotate = rotate_;
    workspace.write_remote = [window = window_.get()](auto bytes) {
      const auto count = static_cast<int>(bytes.size());
      MPI_Put(bytes.data(), count, MPI_BYTE, peer_rank, 0, count, MPI_BYTE, window);
      MPI_Win_flush(peer_rank, window);
    };
    workspace.read_remote = [window = window_.get()](auto bytes) {
      const auto count = static_cast<int>(bytes.size());
      MPI_Win_flush(peer_rank, window);
      MPI_Get(bytes.data(), count, MPI_BYTE, peer_rank, 0, count, MPI_BYTE, window);
      MPI_Win_flush(peer_rank, window);
    };
    return workspace;
  }

  [[nodiscard]] Candidate transfer(const Case& c) const {
    const auto make = [&](auto once) {
      return transfer_candidate("mpi", c, workspace(), is_origin_, once);
    };
    std::byte* here = local_.bytes().data();
    const MPI_Win window = window_.get();
    const Flush flush = flush_of(c);
    const Layer l = layer(c, false);
    const Layer r = layer(c, true);
    return by_operation(
        c, make,
        [=](std::size_t local, std::size_t remote) {
          MPI_Get(here + local, l.count, l.type, peer_rank, static_cast<MPI_Aint>(remote), r.count,
                  r.type, window);
          flush(peer_rank, window);
        },
        [=](std::size_t local, std::size_t remote) {
          MPI_Accumulate(here + local, l.count, l.type, peer_rank, static_cast<MPI_Aint>(remote),
                         r.count, r.type, MPI_SUM, window);
          flush(peer_rank, window);
        },
        [=](std::size_t local, std::size_t remote) {
          MPI_Put(here + local, l.count, l.type, peer_rank, static_cast<MPI_Aint>(remote), r.count,
                  r.type, window);
          flush(peer_rank, window);
        });
  }

  /// One call a run, and one flush.
  [[nodiscard]] Candidate separate(const Case& c) const {
    return by_operation(
        c, [&](auto once) { return each_run(c, once); },
        [](std::byte* mine, const Layer& part, MPI_Aint at, MPI_Win window) {
          MPI_Get(mine, part.count, part.type, peer_rank, at, part.count, part.type, window);
        },
        [](std::byte* mine, const Layer& part, MPI_Aint at, MPI_Win window) {
          MPI_Accumulate(mine, part.count, part.type, peer_rank, at, part.count, part.type, MPI_SUM,
                         window);
        },
        [](std::byte* mine, const Layer& part, MPI_Aint at, MPI_Win window) {
          MPI_Put(mine, part.count, part.type, peer_rank, at, part.count, part.type, window);
        });
  }

  template <class Call>
  [[nodiscard]] Candidate each_run(const Case& c, Call call) const {
    std::byte* here = local_.bytes().data();
    const MPI_Win window = window_.get();
    const Layer part = contiguous_layer(c);
    return transfer_candidate("mpi", c, workspace(), is_origin_,
                              [=, flush = flush_of(c)](std::size_t local, std::size_t remote) {
                                for (std::int64_t run = 0; run < c.runs; ++run) {
                                  call(here + local + c.local_offset(run), part,
                                       static_cast<MPI_Aint>(remote + c.remote_offset(run)),
                                       window);
                                }
                                flush(peer_rank, window);
                              });
  }

  [[nodiscard]] std::int64_t add(std::int64_t increment) const {
    std::int64_t before = 0;
    MPI_Fetch_and_op(&increment, &before, MPI_INT64_T, peer_rank, 0, MPI_SUM, window_.get());
    MPI_Win_flush(peer_rank, window_.get());
    return before;
  }

  [[nodiscard]] Candidate fetch_add() const {
    return fetch_add_candidate("mpi", is_origin_,
                               [this](std::int64_t increment) { return add(increment); });
  }

  [[nodiscard]] Candidate swap() const {
    return swap_candidate("mpi", is_origin_, [window = window_.get()](std::int64_t value) {
      std::int64_t before = 0;
      MPI_Fetch_and_op(&value, &before, MPI_INT64_T, peer_rank, 0, MPI_REPLACE, window);
      MPI_Win_flush(peer_rank, window);
      return before;
    });
  }

  [[nodiscard]] Candidate compare_swap() const {
    return compare_swap_candidate(
        "mpi", is_origin_, [window = window_.get()](std::int64_t expected, std::int64_t desired) {
          std::int64_t before = 0;
          MPI_Compare_and_swap(&desired, &expected, &before, MPI_INT64_T, peer_rank, 0, window);
          MPI_Win_flush(peer_rank, window);
          return before;
        });
  }

  [[nodiscard]] Candidate lock_unlock() const {
    return by_one("mpi", [window = lock_window_.get()] {
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, peer_rank, 0, window);
      MPI_Win_unlock(peer_rank, window);
    });
  }

  bool is_origin_;
  bool has_compare_swap_;
  bool rotate_;
  std::size_t remote_bytes_;
  mpi::Window window_;
  LocalBuffer local_;
  mpi::Window lock_window_;
};

}  // namespace

std::unique_ptr<Baseline> make_mpi_baseline(RankGroup& group, const BaselineOptions& options,
                                            std::string& missing) {
  if (const std::string reason = mpi::missing_windows(group.size()); !reason.empty()) {
    missing = "mpi: " + reason;
    return nullptr;
  }
  return std::make_unique<MpiBaseline>(group, options);
}

}  // namespace tessera::bench
