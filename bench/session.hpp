// SPDX-License-Identifier: BSD-3-Clause
//
// Session: what all suites of one run share. Suite: what tessera-bench runs by name.
//
// A suite is a list of parts. Each part is a function that all ranks call together. To add a suite,
// add a folder and one line in bench/suites.cpp. `tessera-bench rma` runs all parts of a suite and
// `tessera-bench rma.strided` one of them.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "apps/common/memory_check.hpp"
#include "bench/baselines/baseline.hpp"
#include "bench/support/job_group.hpp"
#include "bench/support/measure.hpp"
#include "bench/support/options.hpp"
#include "bench/support/record.hpp"
#include "bench/support/table.hpp"
#include "rma/job.hpp"

namespace tessera::bench {

/// What Tessera is compared with, in tables that support it; --compare chooses.
enum class Peer : std::uint8_t {
  memory,     ///< memcpy, plain loops, single atomic instructions
  mpi,        ///< windows, messages, collectives
  armci,      ///< ARMCI-MPI
  ga,         ///< Global Arrays
  tcp,        ///< bare sockets
  scalapack,  ///< pdgemm, pdgemr2d, pdtran
  shmem,      ///< OpenSHMEM; only if --compare names it
};

/// An error message for a list such as "memory,mpi"; empty if the list is right.
std::string check_peers(const std::string& names);

/// The command line of tessera-bench.
struct BenchOptions : SuiteOptions {
  std::vector<std::string> suites;     ///< "rma", or one part: "rma.strided"
  int threads = 0;                     ///< ranks as threads of one process; 0: one rank per process
  std::string peers = "all";           ///< --compare: names, "all" (without OpenSHMEM), or "none"
  std::int64_t gups_bytes = 32 << 20;  ///< suite gups: each rank's part of the table
  std::string mg_classes = "A";        ///< suite mg
  std::string folder = ".";            ///< folder for the files of suite checkpoint
  std::vector<std::int64_t> gemm_edges = {1000, 2000, 4000};  ///< suite gemm
  std::string matrix = "stencil27:64";  ///< part spmv.cg: a generator's name or a file

  /// See SuiteOptions.
  [[nodiscard]] std::map<std::string, std::string> distinguishing() const;
  /// Targets are stated for the modes that tables use by default, not for those that options
  /// choose.
  [[nodiscard]] bool has_default_modes() const { return sync.empty() && !attaches; }
};

/// A measurement, stated once: the names of its records, and a table with a line for each size. The
/// first line creates the table. The last candidate is the one that the table is about.
struct Topic {
  std::string bench;  ///< the suite, in the records
  std::string op;     ///< the operation, in the records
  std::string title;
  Quantity quantity = Quantity::latency;
  std::string size_name = "Size";
  bool sleeps = false;  ///< ranks that only wait sleep, also in MPI's group
  std::optional<std::chrono::nanoseconds> limit{};  ///< of a line's samples, if not the usual one
  std::string sync{};                               ///< see Heading
  std::optional<Table> table{};
};

/// A line of a topic: its number in the table, and its shape and payload in the records.
struct Line {
  std::int64_t number = 0;
  std::string shape;
  std::int64_t size = 0;

  Line(std::int64_t bytes) : number(bytes), size(bytes) {}  // NOLINT: a size is a line
  Line(std::int64_t of, std::string with_shape, std::int64_t bytes)
      : number(of), shape(std::move(with_shape)), size(bytes) {}
  Line(std::int64_t of, const Case& c)
      : Line(of, c.shape(), static_cast<std::int64_t>(c.bytes())) {}
};

/// The candidate of that name, or null.
const Measured* find(const std::vector<Measured>& measured, std::string_view name);

/// Input that a suite can't work on, for example a damaged file. All ranks throw it together.
class BadInput : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Session {
 public:
  /// Collective. All arguments must outlive the session. Prints which of the alternatives exchange
  /// data between nodes through shared memory.
  Session(rma::Job& job, RankGroup& group, const BenchOptions& options, Report& report,
          Targets& targets);

  [[nodiscard]] rma::Job& job() const { return job_; }
  [[nodiscard]] RankGroup& group() const { return group_; }
  /// The same ranks; ranks that wait in this group sleep. In MPI's rank group, waiting ranks poll
  /// for messages every 50 µs, which disturbs an agent on the same core.
  [[nodiscard]] RankGroup& sleeping_group() { return sleeping_group_; }
  [[nodiscard]] const BenchOptions& options() const { return options_; }
  [[nodiscard]] Targets& targets() const { return targets_; }
  [[nodiscard]] bool is_leader() const { return group_.rank() == 0; }
  /// Whether --compare names `peer`. The reference of a part's own ratios is always measured.
  [[nodiscard]] bool compares_with(Peer peer) const;

  /// `c`, complete where -s says; without -s, where its layout usually is with this number of
  /// nodes.
  [[nodiscard]] Case with_requested_completion(const Case& c) const;
  /// Whether an operation that always gets a reply, as a message over a socket does, is comparable
  /// with `c`. On one node it always is: what is complete locally has also arrived.
  [[nodiscard]] bool has_comparable_replies(const Case& c) const {
    return c.operation == Operation::get || c.needs_fence() || job_.node_count() == 1;
  }
  /// Prints that `those` are left out of the comparison with `c`, if they are.
  void remark_on_replies(const std::string& those, const Case& c) const;

  /// Collective. Whether rank 0 reaches rank 1 by transport mpi.
  [[nodiscard]] bool goes_over_windows() const;

  /// Options for baselines: the buffers that a transfer of the largest size of -m needs.
  [[nodiscard]] BaselineOptions baseline_options() const;
  /// Collective. The baselines that are libraries, if available. The first call creates them, once
  /// for the whole run, because some libraries can't be started twice.
  const std::vector<std::unique_ptr<Baseline>>& library_baselines();
  /// Collective. Global Arrays, started by the first call; null if unavailable.
  GlobalArrays* global_arrays();

  /// A table about candidate number `subject`.
  [[nodiscard]] Table table(std::string title, std::size_t subject,
                            Quantity quantity = Quantity::latency, std::string size_name = "Size",
                            std::string sync = "") const;

  /// The name of a backend in tables, records and remarks; see bench/support/options.hpp.
  [[nodiscard]] std::string shown(const std::string& backend) const {
    return name_by_path(backend, paths_);
  }
  /// Reports the ratio to `backend` to a target. If `backend` goes through shared memory between
  /// nodes, reports only that the target's reference was missing.
  void observe_ratio_to(const std::string& backend, std::string_view target,
                        const std::string& where, const Ratio& ratio) const;
  /// On rank 0: reports time of `over` / time of `under` to a target, or that one of them, which
  /// may be null, is missing.
  void observe(std::string_view target, const std::string& where, const Measured* over,
               const Measured* under) const;

  /// Collective. Measures the candidates, records them, and adds a line to the topic's table.
  /// Without options, samples are as long as candidates need that meet, if some do.
  std::vector<Measured> measure(Topic& topic, const Line& line,
                                const std::vector<Candidate>& candidates);
  std::vector<Measured> measure(Topic& topic, const Line& line,
                                const std::vector<Candidate>& candidates, MeasureOptions options);
  /// Adds a line of results of measure_interleaved(), as measure() does. `line` may be a word of at
  /// most 9 letters.
  void add(Table& table, const Subject& subject, const std::string& line,
           const std::vector<Measured>& measured) const;

  /// Adds a number that was not measured as a candidate, on rank 0.
  void record(Record record) const;
  void record(const Subject& subject, const std::string& backend, const std::string& unit,
              const Stats& stats) const;
  void record(MatrixPattern pattern) const;

  /// Records what an application reached, in one number; it is printed at the end of the run.
  void rate(Rating rating) const;

  /// Prints a line that begins with `#`, on rank 0.
  void remark(const std::string& text) const;
  /// "TEXT: 0.951 [0.940,0.962]"
  void remark(const std::string& text, const Ratio& ratio) const;

 private:
  [[nodiscard]] PathsInMemory paths_between_nodes();
  void remark_on_paths() const;

  rma::Job& job_;
  RankGroup& group_;
  JobRankGroup sleeping_group_;
  const BenchOptions& options_;
  Report& report_;
  Targets& targets_;
  PathsInMemory paths_;
  bool has_baselines_ = false;
  std::vector<std::unique_ptr<Baseline>> library_baselines_;
  bool has_started_global_arrays_ = false;
  std::unique_ptr<GlobalArrays> global_arrays_;
};

/// Collective. Throws BadInput if a machine has less memory than its ranks need.
void require_memory(Session& session, const apps::MemoryNeed& need);

/// Options for candidates in which ranks meet in each repetition: samples are long enough that the
/// few hundred nanoseconds between two ranks' starts don't matter.
MeasureOptions together(MeasureOptions options);
/// Options for candidates in which ranks work at the same time but never meet. Samples are long
/// enough that the time to wake a rank doesn't matter; in short ones, ranks would work one after
/// the other. Also for work that a program repeats many times, as a solver's products: caches and
/// alternating buffers are then as in such a row.
MeasureOptions concurrent(MeasureOptions options);

struct SuitePart {
  std::string name;
  std::function<void(Session&)> run;
};

struct Suite {
  std::string name;
  std::string description;
  std::vector<SuitePart> parts;
  std::vector<Target> targets;
};

/// All suites, in the order in which they are listed and run.
const std::vector<Suite>& suites();

}  // namespace tessera::bench
