// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <memory>
#include <utility>

#include "rma/base/floating_point_guard.hpp"
#include "rma/bootstrap.hpp"
#include "rma/bootstrap/detect.hpp"
#include "rma/tuning.hpp"

#ifdef TESSERA_HAVE_MPI
#include <mpi.h>
#endif

namespace tessera::rma {

#ifndef TESSERA_HAVE_MPI

bool detail::mpi_is_running() {
  return false;
}
void detail::abort_mpi(int) {}

MpiLibrary mpi_library() {
  return {};
}
Result<std::shared_ptr<Bootstrap>> mpi_bootstrap(int) {
  return Status::error(Code::unsupported, "this library was built without MPI")
      .hint("configure with -DTESSERA_MPI=ON, or start the program with tessera-run");
}
Result<std::shared_ptr<Bootstrap>> mpi_world_bootstrap(MpiThreads) {
  return mpi_bootstrap(0);
}
Status start_mpi(MpiThreads, int*, char***) {
  return mpi_bootstrap(0).status();
}

#else

namespace {

Status mpi_error(std::string_view call, int code) {
  std::string text(MPI_MAX_ERROR_STRING, '\0');
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  text.resize(static_cast<std::size_t>(length));
  return Status::error(Code::unreachable, fmt::format("{}: {}", call, text));
}

std::string_view thread_level_name(int level) {
  switch (level) {
    case MPI_THREAD_SINGLE:
      return "MPI_THREAD_SINGLE";
    case MPI_THREAD_FUNNELED:
      return "MPI_THREAD_FUNNELED";
    case MPI_THREAD_SERIALIZED:
      return "MPI_THREAD_SERIALIZED";
    default:
      return "MPI_THREAD_MULTIPLE";
  }
}

class Mpi final : public Bootstrap {
 public:
  Mpi(MPI_Comm communicator, WorldRank rank, std::int32_t size, bool finalize)
      : communicator_(communicator), rank_(rank), size_(size), finalize_(finalize) {}
  ~Mpi() override { end(); }
  Mpi(const Mpi&) = delete;
  Mpi& operator=(const Mpi&) = delete;

  [[nodiscard]] std::string_view name() const noexcept override { return "mpi"; }
  [[nodiscard]] WorldRank rank() const noexcept override { return rank_; }
  [[nodiscard]] std::int32_t size() const noexcept override { return size_; }

  [[nodiscard]] bool is_mpi_world() const noexcept override {
    int relation = MPI_UNEQUAL;
    return detail::mpi_is_running() && communicator_ != MPI_COMM_NULL &&
           MPI_Comm_compare(communicator_, MPI_COMM_WORLD, &relation) == MPI_SUCCESS &&
           (relation == MPI_IDENT || relation == MPI_CONGRUENT);
  }

  [[nodiscard]] std::optional<int> mpi_communicator() const noexcept override {
    return communicator_ == MPI_COMM_NULL ? std::nullopt
                                          : std::optional<int>(MPI_Comm_c2f(communicator_));
  }

  // MPI has no timeouts: its launcher ends the job if a process dies.
  Result<std::vector<std::byte>> allgather(std::span<const std::byte> own,
                                           std::chrono::milliseconds) override {
    const FloatingPointGuard guard;
    std::vector<std::byte> all(own.size() * static_cast<std::size_t>(size_));
    const int bytes = static_cast<int>(own.size());
    const int code =
        MPI_Allgather(own.data(), bytes, MPI_BYTE, all.data(), bytes, MPI_BYTE, communicator_);
    if (code != MPI_SUCCESS) {
      return mpi_error("MPI_Allgather", code);
    }
    return all;
  }

  void leave() noexcept override { end(); }

 private:
  void end() noexcept {
    const FloatingPointGuard guard;
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (finalized == 0 && communicator_ != MPI_COMM_NULL) {
      MPI_Comm_free(&communicator_);
      if (finalize_) {
        MPI_Finalize();
      }
    }
    communicator_ = MPI_COMM_NULL;
  }

  MPI_Comm communicator_;
  WorldRank rank_;
  std::int32_t size_;
  bool finalize_;
};

// Open MPI 4 puts windows of one machine into osc/rdma. It is slower there than osc/sm, and its
// MPI_Compare_and_swap ends the target. Settings of the user are kept.
void prefer_shared_windows() {
  constexpr int keep = 0;
  setenv("OMPI_MCA_osc_rdma_priority", "90", keep);
}

// Runs when the library is loaded, before the program starts MPI. If the user chose the transport,
// sets what it needs, unless the user has set that as well.
[[gnu::constructor]] void prepare_for_windows() {
  const char* const transports = std::getenv("TESSERA_TRANSPORT");
  if (transports == nullptr || !names_transport(transports, "mpi")) {
    return;
  }
  constexpr int keep = 0;
  setenv("OMPI_MPI_THREAD_LEVEL", "3", keep);  // MPI_THREAD_MULTIPLE
  setenv("MPIR_CVAR_DEFAULT_THREAD_LEVEL", "MPI_THREAD_MULTIPLE", keep);
  prefer_shared_windows();
}

Status report_single_process(const LauncherInfo& launcher) {
  const char* const remedy =
      launcher.launcher == "tessera-run"
          ? "start a program that calls MPI_Init itself with mpirun, not with tessera-run"
          : "start it with the launcher of the MPI it was built with; under Slurm try srun "
            "--mpi=pmix, or mpirun inside the allocation";
  return Status::error(Code::unreachable,
                       fmt::format("{} says that it started {} processes, but this program's MPI "
                                   "sees only itself",
                                   launcher.launcher, launcher.ranks))
      .hint(remedy);
}

Result<std::shared_ptr<Bootstrap>> make(MPI_Comm user, bool finalize) {
  const FloatingPointGuard guard;
  MPI_Comm own = MPI_COMM_NULL;
  if (const int code = MPI_Comm_dup(user, &own); code != MPI_SUCCESS) {
    return mpi_error("MPI_Comm_dup", code);
  }
  MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(own, &rank);
  MPI_Comm_size(own, &size);
  return std::shared_ptr<Bootstrap>(std::make_shared<Mpi>(own, WorldRank{rank}, size, finalize));
}

}  // namespace

// MPI starts once in a process. After it was finalised, also by an earlier job, it cannot start
// again.
Status start_mpi(MpiThreads threads, int* argc, char*** argv) {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized != 0) {
    return Status::error(Code::closed, "MPI was finalised in this process and cannot start again")
        .hint(
            "a job that starts MPI also finalises it: keep that job, or call MPI_Init before the "
            "first "
            "job and MPI_Finalize after the last");
  }
  const FloatingPointGuard guard;  // MPI inspects the machine, and may compute with zeros
  int wanted = MPI_THREAD_FUNNELED;
  if (threads == MpiThreads::several) {
    wanted = MPI_THREAD_MULTIPLE;
    prefer_shared_windows();
  }
  int provided = 0;
  const int code = MPI_Init_thread(argc, argv, wanted, &provided);
  return code == MPI_SUCCESS ? Status() : mpi_error("MPI_Init_thread", code);
}

bool detail::mpi_is_running() {
  int initialized = 0;
  int finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  return initialized != 0 && finalized == 0;
}

void detail::abort_mpi(int code) {
  if (mpi_is_running()) {
    MPI_Abort(MPI_COMM_WORLD, code);
  }
}

MpiLibrary mpi_library() {
  MpiLibrary found{.is_built_in = true, .version = {}, .thread_level = {}};
  std::string text(MPI_MAX_LIBRARY_VERSION_STRING, '\0');
  int length = 0;
  if (MPI_Get_library_version(text.data(), &length) == MPI_SUCCESS) {
    text.resize(static_cast<std::size_t>(length));
    // MPICH continues with the options of its build; Open MPI ends with a zero byte.
    found.version = text.substr(0, text.find_first_of(std::string_view("\n\0", 2)));
    std::replace(found.version.begin(), found.version.end(), '\t', ' ');
  }
  if (detail::mpi_is_running()) {
    int level = MPI_THREAD_SINGLE;
    MPI_Query_thread(&level);
    found.thread_level = thread_level_name(level);
  }
  return found;
}

Result<std::shared_ptr<Bootstrap>> mpi_bootstrap(int fortran_communicator) {
  if (!detail::mpi_is_running()) {
    return Status::error(Code::invalid_argument,
                         "MPI is not running: MPI_Init was not called, or MPI_Finalize was");
  }
  const MPI_Comm user = MPI_Comm_f2c(fortran_communicator);
  // For numbers that MPI never returned, an MPI whose handles are pointers returns a null pointer.
  if (user == MPI_COMM_NULL || user == MPI_Comm()) {
    return Status::error(
               Code::invalid_argument,
               fmt::format("{} is not the handle of a communicator", fortran_communicator))
        .hint(
            "give a communicator that contains this rank; a rank with MPI_COMM_NULL, as "
            "MPI_Comm_split "
            "returns for MPI_UNDEFINED, cannot be in the job");
  }
  return make(user, false);
}

Result<std::shared_ptr<Bootstrap>> mpi_world_bootstrap(MpiThreads threads) {
  // Read before MPI starts: MPI alone in a process sets variables as mpirun -n 1 does.
  const LauncherInfo launcher = detect_launcher();
  const bool is_own = !detail::mpi_is_running();
  if (is_own) {
    TESSERA_RETURN_IF_ERROR(start_mpi(threads));
  }
  auto bootstrap = make(MPI_COMM_WORLD, is_own);
  if (bootstrap.ok() && launcher.ranks > 1 && (*bootstrap)->size() == 1) {
    return report_single_process(launcher);
  }
  return bootstrap;
}

#endif

}  // namespace tessera::rma
