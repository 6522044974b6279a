// SPDX-License-Identifier: BSD-3-Clause
#include "bench/baselines/mpi_session.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "bench/baselines/mpi_api.hpp"
#include "bench/baselines/shmem_memory.hpp"

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
}  // namespace tessera::bench
