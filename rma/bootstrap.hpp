// SPDX-License-Identifier: BSD-3-Clause
//
// Bootstrap: how the ranks of a job find each other before they can communicate.
//
// A bootstrap knows this rank's number and can gather a few bytes from all ranks. It is used only
// while a Job starts; later communication uses shared memory and transports. There are four kinds:
// a single process, ranks that are threads of one process, processes started by tessera-run, and
// processes started by an MPI launcher.
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

#include "rma/base/rank.hpp"
#include "rma/base/result.hpp"
#include "rma/tuning.hpp"

namespace tessera::rma {

class Bootstrap {
 public:
  virtual ~Bootstrap() = default;

  /// "alone", "threads", "fork" or "mpi".
  [[nodiscard]] virtual std::string_view name() const noexcept = 0;
  [[nodiscard]] virtual WorldRank rank() const noexcept = 0;
  [[nodiscard]] virtual std::int32_t size() const noexcept = 0;

  /// True if all ranks are threads of this process, so that a pointer is valid on all of them.
  [[nodiscard]] virtual bool is_one_process() const noexcept { return false; }

  /// True if the ranks are the processes of MPI_COMM_WORLD with the same numbers, so that libraries
  /// which use MPI may be called on all of them.
  [[nodiscard]] virtual bool is_mpi_world() const noexcept { return false; }

  /// The communicator of the job's ranks, as MPI_Comm_c2f returns it; none without MPI.
  [[nodiscard]] virtual std::optional<int> mpi_communicator() const noexcept {
    return std::nullopt;
  }

  /// Collective. Returns the bytes of all ranks, concatenated in rank order. Every rank gives the
  /// same number of bytes.
  /// Errors: timed_out, peer_lost, unreachable.
  virtual Result<std::vector<std::byte>> allgather(std::span<const std::byte> own,
                                                   std::chrono::milliseconds timeout) = 0;

  /// Local. A rank that is known to be lost, so that a rank that waits for all can stop before the
  /// timeout; none if the bootstrap can't know.
  [[nodiscard]] virtual std::optional<WorldRank> first_lost() const noexcept {
    return std::nullopt;
  }

  /// Local. Ends what the bootstrap started (MPI, if it was started here). Idempotent.
  virtual void leave() noexcept {}
};

/// Local. The bootstrap of a job that consists of this process only.
std::shared_ptr<Bootstrap> alone_bootstrap();

/// The rendezvous of ranks that are threads of one process.
class ThreadGroup {
 public:
  /// For `ranks` threads, at least one.
  explicit ThreadGroup(std::int32_t ranks);
  ~ThreadGroup();
  ThreadGroup(const ThreadGroup&) = delete;
  ThreadGroup& operator=(const ThreadGroup&) = delete;

  [[nodiscard]] std::int32_t size() const noexcept;
  /// The bootstrap of one of the threads. Requires: called at most once for each rank, and the
  /// group outlives all of them.
  std::shared_ptr<Bootstrap> member(WorldRank rank);

  class Rendezvous;

 private:
  std::unique_ptr<Rendezvous> rendezvous_;
};

/// Local. For a process that tessera-run (rma/launch.hpp) started, or that such a process started.
/// With its first exchange a process becomes the rank and records that in its environment
/// (TESSERA_LAUNCH): programs that it starts later are separate jobs. A wrapper may have closed the
/// launcher's file descriptor; it is then reopened through /proc.
/// Errors: invalid_argument if this process was not started in this way, or was started by a rank;
/// at the first exchange, invalid_argument if another process is the rank already; protocol for a
/// TESSERA_LAUNCH that describes no job; unreachable if a wrapper closed the descriptor and /proc
/// does not give the launcher (another user, another container).
Result<std::shared_ptr<Bootstrap>> fork_bootstrap();

/// Collective over the communicator. For MPI processes. `fortran_communicator` is the result of
/// MPI_Comm_c2f, so that this header needs no mpi.h. MPI must be initialised, at any thread level.
/// Errors: invalid_argument if it is not, or if the number is not a communicator; unsupported if
/// the library was built without MPI; unreachable for MPI errors.
Result<std::shared_ptr<Bootstrap>> mpi_bootstrap(int fortran_communicator);

/// Whether threads of the library call MPI.
enum class MpiThreads : std::uint8_t { none, several };
/// Local. The value for a job with these settings.
MpiThreads mpi_threads_of(const Settings& settings);

/// Local. Initialises MPI for such a job. Requires: MPI was not initialised before.
/// Errors: closed if MPI was finalised already, unreachable for MPI errors, unsupported if the
/// library was built without MPI.
Status start_mpi(MpiThreads threads, int* argc = nullptr, char*** argv = nullptr);

/// Collective. As mpi_bootstrap over all processes. If the program has not initialised MPI, it
/// initialises it with MPI_THREAD_FUNNELED, or MPI_THREAD_MULTIPLE for `several`, and finalises it
/// at leave().
/// Errors: as mpi_bootstrap; unreachable if the launcher's variables announce more processes than
/// MPI has (srun, mpirun of another MPI, or tessera-run, which silently start single processes);
/// closed if MPI was finalised already, for example by an earlier job that started it.
Result<std::shared_ptr<Bootstrap>> mpi_world_bootstrap(MpiThreads threads = MpiThreads::none);

/// Collective. As Bootstrap::allgather, for texts whose lengths may differ. Returns the texts of
/// all ranks in rank order.
/// Cost: two exchanges, the second with `size` times the longest text.
/// Errors: those of Bootstrap::allgather.
Result<std::vector<std::string>> allgather_texts(Bootstrap& bootstrap, std::string_view own,
                                                 std::chrono::milliseconds timeout);

/// The MPI library that starts jobs under mpirun and srun.
struct MpiLibrary {
  bool is_built_in = false;  ///< false: Tessera was built without MPI, and the rest is empty
  std::string version;       ///< the first line of the library's version text
  std::string thread_level;  ///< for example "MPI_THREAD_FUNNELED"; empty while MPI is not running
};
/// Local. May be called before, while and after MPI runs.
MpiLibrary mpi_library();

/// What the environment of a process says about its launcher. Empty for a program that a rank of
/// tessera-run started.
struct LauncherInfo {
  std::string_view launcher;  ///< "", "tessera-run", "mpirun", "srun"
  std::int64_t ranks = 0;     ///< number of ranks that the launcher announces; 0: not announced
  std::int64_t rank = -1;     ///< rank that it gave this process; −1: not announced
};
/// Local. Reads the environment of this process.
LauncherInfo detect_launcher();

/// Collective. Chooses the bootstrap: the one that `settings.bootstrap` names, else MPI if the
/// program initialised it, else the one that the launcher's variables indicate, else a job of one
/// process. A program that a rank of tessera-run starts is a job of one process.
Result<std::shared_ptr<Bootstrap>> choose_bootstrap(const Settings& settings);

/// Local. True if a rank made this process by fork() while its job ran. Such a process is not a
/// rank; the job belongs to its parent.
bool is_child_of_rank() noexcept;

/// Local; does not return. Ends this process with `code`, and all other processes of its job:
/// through tessera-run if it started this process, through MPI_Abort if MPI runs. The exit code is
/// 1 if the system would report `code` as 0, as for 256. Under other launchers, and for ranks that
/// are threads, only this process ends, and the others get errors from their own waits. A child of
/// a rank ends alone.
///
/// Flushes C's standard output and standard error. Flushes the other C streams for at most one
/// second: a stream that another thread has locked, for example while it waits for input, can't be
/// flushed, nor can the streams that the system flushes after it. Runs no exit() handlers; these
/// would wait for processes that are about to end. Leaves no shared memory: a node's memory has no
/// name and disappears with the node's last process.
[[noreturn]] void end_job(int code);

}  // namespace tessera::rma
