// SPDX-License-Identifier: BSD-3-Clause
//
// MpiSession: MPI for the baselines, and a rank group of its ranks. This header does not include
// <mpi.h>.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/support/candidate.hpp"
#include "bench/support/measure.hpp"
#include "bench/support/options.hpp"

namespace tessera::bench {

class MpiSession {
 public:
  /// Collective. Ends MPI if start_mpi() began it. All users of MPI, such as baselines, must be
  /// destroyed before.
  virtual ~MpiSession() = default;

  /// All ranks of MPI_COMM_WORLD.
  [[nodiscard]] virtual RankGroup& group() = 0;
  /// "Open MPI v4.1.4, …"
  [[nodiscard]] virtual std::string version() const = 0;
};

/// Which threads of a process call MPI.
enum class MpiCallers : std::uint8_t {
  one_thread,   ///< the baselines
  all_threads,  ///< Tessera's threads, too: its transport mpi
};

/// Collective. Starts MPI, or uses it if the program has started it. Null if this build has no MPI,
/// or if MPI isn't running and no MPI launcher started this process: each process would then be its
/// own world. With `all_threads`, starts MPI as Tessera itself would.
std::unique_ptr<MpiSession> start_mpi(MpiCallers callers = MpiCallers::one_thread);

// Two-sided MPI, in addition to the one-sided baseline of make_mpi_baseline(), and the transport
// that both use. This header does not include <mpi.h>.
//
// All candidates are cooperative: measure them with together(). Empty if MPI doesn't run with these
// ranks, or has only one.

/// Collective when run. A message of `bytes` from rank 0 to rank 1 and back. One repetition is a
/// round trip, twice the time that OSU prints.
std::optional<Candidate> mpi_ping_pong_candidate(RankGroup& group, std::size_t bytes);

/// Collective when run. `messages` of `bytes` each from rank 0 to rank 1, all outstanding, and 8
/// bytes back, as OSU's bandwidth test.
std::optional<Candidate> mpi_stream_candidate(RankGroup& group, std::size_t bytes,
                                              std::int64_t messages);

/// Collective when run. Rank 0 requests `bytes` by a message of 8 bytes for which rank 1 waits, and
/// receives them with MPI_Irecv: a get by messages, with a target that does nothing else.
std::optional<Started> mpi_started_get(RankGroup& group, std::size_t bytes);

/// Collective when run and checked. Rank 0 alone runs `candidate`, while rank 1 waits inside MPI.
/// This is the best case for one-sided operations if MPI has no thread of its own that answers
/// them. Requires: MPI runs with the ranks of this group.
Candidate mpi_helped_by_target(RankGroup& group, Candidate candidate);

/// Collective. The transport that MPI uses between ranks 0 and 1, derived from their locations and
/// from the settings of Open MPI, UCX and MPICH.
MpiPath mpi_path(RankGroup& group);

/// Collective. Why MPI_Compare_and_swap is not measured here; empty if it is, or if MPI doesn't
/// run. In it, Open MPI 4's one-sided component "rdma" ends the target with a segmentation fault if
/// ranks share a host and may not read each other's memory.
std::string mpi_compare_swap_problem(RankGroup& group);

// MPI's collectives, and a ghost exchange by messages. This header includes no <mpi.h>.

/// Collective when run. MPI_Barrier, MPI_Bcast from rank 0, MPI_Allreduce in place, MPI_Reduce to
/// rank 0, or MPI_Allgather. Empty if MPI doesn't run with these ranks.
std::optional<Candidate> mpi_collective_candidate(RankGroup& group, const Collective& collective);

/// Collective, also when run. MPI_Barrier of the first `ranks` ranks, on their own communicator.
/// Empty if MPI doesn't run with the ranks of this group.
std::optional<Candidate> mpi_barrier_candidate(RankGroup& group, int ranks);

/// The part of a periodic grid that one rank holds, row-major, last index fastest.
struct GhostBlock {
  std::vector<std::int64_t> points;  ///< in each dimension, without ghost cells
  std::int64_t width = 1;            ///< ghost layers at each end
  bool corners = true;               ///< false: only cells outside in exactly one dimension
  /// World ranks of the neighbours below and above in each dimension.
  std::vector<std::array<int, 2>> neighbours;
};

/// Collective when run. Fills the ghost cells of `block` in `memory` (doubles, with ghost cells):
/// for one dimension after the other, two MPI_Sendrecv of subarray types. With corners, these
/// include the ghost cells of the earlier dimensions. Empty if MPI doesn't run with these ranks.
/// Requires: `memory` outlives the candidate.
std::optional<Candidate> mpi_ghost_candidate(RankGroup& group, const GhostBlock& block,
                                             double* memory);

// MpiMemory: MPI's window with a slice on every rank, for parts in which all ranks act. It has the
// same functions as OwnMemory (bench/rma/memories.hpp). This header does not include <mpi.h>.

class MpiMemory {
 public:
  static constexpr std::string_view name = "mpi";

  /// Collective. Empty if MPI doesn't run with these ranks, or can't create windows.
  static std::unique_ptr<MpiMemory> create(RankGroup& group, std::size_t bytes_each);
  /// Collective.
  ~MpiMemory();
  MpiMemory(const MpiMemory&) = delete;
  MpiMemory& operator=(const MpiMemory&) = delete;

  /// Starts a put; it is complete, also at the target, after complete().
  void put(int rank, std::size_t at, const void* from, std::size_t bytes);
  void start_get(int rank, std::size_t at, void* to, std::size_t bytes);
  /// Starts an addition to one word, or to `values.size()` words at the offsets `at`.
  void add(int rank, std::size_t at, std::int64_t value);
  void add(int rank, std::span<const std::size_t> at, std::span<const std::int64_t> values);
  void wait(int rank) { complete(rank); }
  void complete(int rank) const;
  void complete_all();
  std::int64_t fetch_add(int rank, std::size_t at, std::int64_t increment);

  /// A put, get or accumulate of a box of doubles. It is locally complete on return, as Tessera's
  /// and Global Arrays' are, and complete at the target after complete(). It uses a subarray type
  /// that is made once. The slice of `rank` begins with a dense row-major block.
  struct Box {
    std::vector<std::int64_t> block;  ///< extents of the block
    std::vector<std::int64_t> lo;     ///< start of the box in the block
    std::vector<std::int64_t> extents;
  };
  [[nodiscard]] std::function<void()> box_mover(Operation operation, int rank, const Box& box,
                                                double* local) const;

 private:
  struct Window;
  explicit MpiMemory(std::unique_ptr<Window> window);
  std::unique_ptr<Window> window_;
};

}  // namespace tessera::bench
