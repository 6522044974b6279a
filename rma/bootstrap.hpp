// SPDX-License-Identifier: BSD-3-Clause
//
// Bootstrap: how the ranks of a job find each other before they can communicate.
//
// A bootstrap knows this rank's number and can gather a few bytes from all ranks. It is used while
// a Job starts and never after: what processes send each other later goes through shared memory and
// transports. There are four: a process that runs alone, ranks that are threads of one process,
// processes started by tessera-run, and processes started by an MPI launcher.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rma/rank.hpp"
#include "rma/result.hpp"
#include "rma/tuning.hpp"

namespace tessera::rma {

class Bootstrap {
 public:
  virtual ~Bootstrap() = default;

  /// "alone", "threads", "fork" or "mpi".
  [[nodiscard]] virtual std::string_view name() const noexcept = 0;
  [[nodiscard]] virtual WorldRank rank() const noexcept = 0;
  [[nodiscard]] virtual std::int32_t size() const noexcept = 0;

  /// True when all ranks are threads of this process, so that a pointer means the same to all.
  [[nodiscard]] virtual bool is_one_process() const noexcept { return false; }

  /// True when the ranks are the processes of MPI_COMM_WORLD with the same numbers, so that
  /// libraries which speak MPI may be called on all of them.
  [[nodiscard]] virtual bool is_mpi_world() const noexcept { return false; }

  /// The communicator of the job's ranks, as MPI_Comm_c2f gives it; none where MPI is not used.
  [[nodiscard]] virtual std::optional<int> mpi_communicator() const noexcept {
    return std::nullopt;
  }

  /// Collective. Returns the bytes of all ranks, one after the other in rank order; every rank
  /// gives equally many. Errors: timed_out, peer_lost, unreachable.
  virtual Result<std::vector<std::byte>> allgather(std::span<const std::byte> mine,
                                                   std::chrono::milliseconds timeout) = 0;

  /// Local. A rank that is known to be gone, so that whoever waits for all need not wait out the
  /// time; none where the bootstrap can't know.
  [[nodiscard]] virtual std::optional<WorldRank> first_lost() const noexcept {
    return std::nullopt;
  }

  /// Local. Ends what the bootstrap began (MPI, when it was started here). Idempotent.
  virtual void leave() noexcept {}
};

/// Local. This process is the whole job.
std::shared_ptr<Bootstrap> alone_bootstrap();

/// The meeting place of ranks that are threads of one process.
class ThreadGroup {
 public:
  /// For `ranks` threads, at least one.
  explicit ThreadGroup(std::int32_t ranks);
  ~ThreadGroup();
  ThreadGroup(const ThreadGroup&) = delete;
  ThreadGroup& operator=(const ThreadGroup&) = delete;

  [[nodiscard]] std::int32_t size() const noexcept;
  /// The bootstrap of one of the threads. Requires: each rank is asked for once, and the group
  /// outlives all of them.
  std::shared_ptr<Bootstrap> member(WorldRank rank);

  class Meeting;

 private:
  std::unique_ptr<Meeting> meeting_;
};

/// Local. For a process that tessera-run (rma/launch.hpp) started, or one that this one starts.
/// With its first exchange a process becomes the rank, and notes that in its environment
/// (TESSERA_LAUNCH): programs that it starts later are jobs of their own. It needs no descriptor
/// of the launcher's: what a wrapper closed is opened again by /proc. Errors: invalid_argument if
/// this process was not started so, or by a rank, and at the first exchange if another process is
/// the rank; protocol for a TESSERA_LAUNCH that describes no job; unreachable if a wrapper closed
/// the descriptor and the launcher can't be found by /proc (another user, another container).
Result<std::shared_ptr<Bootstrap>> fork_bootstrap();

/// Collective over the communicator. For MPI processes; `fortran_communicator` is what
/// MPI_Comm_c2f returns, so that this header needs no mpi.h. MPI must be initialised, at any thread
/// level. Errors: invalid_argument when it is not, or the number stands for no communicator;
/// unsupported when the library was built without MPI, unreachable for MPI errors.
Result<std::shared_ptr<Bootstrap>> mpi_bootstrap(int fortran_communicator);

/// Whether threads of the library's own are to call MPI.
enum class MpiThreads : std::uint8_t { none, several };
/// Local. Which of them it is in a job of these settings.
MpiThreads mpi_threads_of(const Settings& settings);

/// Local. Initialises MPI for such a job. Requires: nobody has. Errors: closed when MPI was ended
/// already, unreachable for MPI errors, unsupported when the library was built without MPI.
Status start_mpi(MpiThreads threads, int* argc = nullptr, char*** argv = nullptr);

/// Collective. As mpi_bootstrap over all processes; initialises MPI with MPI_THREAD_FUNNELED, or
/// MPI_THREAD_MULTIPLE for `several`, unless the program did, and finalises it at leave() in that
/// case.
/// Errors: as mpi_bootstrap; unreachable when a launcher's variables tell of more processes than
/// MPI knows (srun or mpirun of another MPI, or tessera-run, which silently start single
/// processes); closed when MPI was ended already, for instance with an earlier job that started it.
Result<std::shared_ptr<Bootstrap>> mpi_world_bootstrap(MpiThreads threads = MpiThreads::none);

/// Collective. As Bootstrap::allgather, for texts of any length, each rank's its own; what the
/// ranks have said, in rank order. Cost: two exchanges, the second of `size` times the longest
/// text. Errors: those of Bootstrap::allgather.
Result<std::vector<std::string>> allgather_texts(Bootstrap& bootstrap, std::string_view mine,
                                                 std::chrono::milliseconds timeout);

/// The MPI library that starts jobs under mpirun and srun.
struct MpiLibrary {
  bool is_built_in = false;  ///< false: Tessera was built without MPI, and the rest is empty
  std::string version;       ///< what the library says of itself, its first line
  std::string thread_level;  ///< "MPI_THREAD_FUNNELED", say; empty while MPI isn't running
};
/// Local. Whether MPI was started or not, here or by the program.
MpiLibrary mpi_library();

/// What can be told about the launcher from a process's environment. Nothing of one that a rank of
/// tessera-run's has started.
struct LauncherTrace {
  std::string_view launcher;  ///< "", "tessera-run", "mpirun", "srun"
  std::int64_t ranks = 0;     ///< that the launcher says it started; 0: it doesn't say
  std::int64_t rank = -1;     ///< that it gave this process; −1: it doesn't say
};
LauncherTrace detect_launcher();

/// Collective. The bootstrap that fits: `settings.bootstrap` when it names one, else MPI if the
/// program initialised it, else what the launcher's variables tell, else alone. A program that a
/// rank of tessera-run's starts is alone.
Result<std::shared_ptr<Bootstrap>> choose_bootstrap(const Settings& settings);

/// Local. Whether a rank made this process by fork() while its job ran: it is no rank then, and the
/// job is its parent's.
bool is_child_of_rank() noexcept;

/// Local; does not return. Ends this process with `code` (1 where the system would tell 0 of it, as
/// of 256), and all others of its job: by tessera-run where it started this process, and by
/// MPI_Abort where MPI runs. Under other launchers, and for threads, only this process ends, and
/// the others are told by their own waits. A child of a rank ends alone. C's standard output and
/// standard error are flushed, and so are its other streams, for a second at most: a stream that
/// another thread has locked, as while it waits for input, can't be flushed, nor can those that the
/// system would flush behind it. No handlers of exit() run, which would wait for processes that are
/// about to end. Nothing is left behind: a node's memory has no name and goes with its last
/// process.
[[noreturn]] void end_job(int code);

}  // namespace tessera::rma
